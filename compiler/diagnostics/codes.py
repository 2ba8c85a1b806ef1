"""Every kind of diagnostic, once.

01 syntax, 02 names and files, 03 dimensions, 04 hardware, topology and streams, 05 plausibility
(warnings), 06 settings and answers. A number is never used again for another kind.
"""

from __future__ import annotations

from qps.compiler.diagnostics.diagnostic import Code, Severity

_E, _W = Severity.ERROR, Severity.WARNING

SYNTAX = Code("QPS0101", "syntax", _E, "syntax error")
CHARACTER = Code("QPS0102", "character", _E, "unknown character")
UNCLOSED = Code("QPS0103", "unclosed", _E, "unclosed block, text or bracket")
RESERVED_WORD = Code("QPS0104", "reserved-word", _E, "reserved word used as a name")
TOO_DEEP = Code("QPS0105", "too-deep", _E, "expression too deep or too large")
NUMBER_SIZE = Code("QPS0106", "number-size", _E, "number out of range")
FIRST_EDITION = Code("QPS0108", "first-edition", _E, "syntax of the first edition")
EDITION = Code("QPS0109", "edition", _E, "unsupported language edition")
TOO_MANY = Code("QPS0107", "too-many", _E, "too many errors")

UNKNOWN_NAME = Code("QPS0201", "unknown-name", _E, "unknown name")
DUPLICATE_NAME = Code("QPS0202", "duplicate-name", _E, "duplicate name")
SHADOWED_UNIT = Code("QPS0203", "shadowed-unit", _E, "predefined unit declared again")
WRONG_KIND = Code("QPS0204", "wrong-kind", _E, "wrong kind of name")
IMPORT_CYCLE = Code("QPS0205", "import-cycle", _E, "import cycle")
UNKNOWN_MODULE = Code("QPS0206", "unknown-module", _E, "missing module or file")
OUTSIDE_FOLDER = Code("QPS0207", "outside-folder", _E, "file outside the folder of the spec")
DEFINITION_CYCLE = Code("QPS0208", "definition-cycle", _E, "definition cycle")
UNREADABLE = Code("QPS0209", "unreadable", _E, "unreadable file")
MISSING_PART = Code("QPS0210", "missing-part", _E, "missing required part")
PROJECT_FILE = Code("QPS0212", "project-file", _E, "invalid project file")
ALLOWANCE = Code("QPS0213", "allowance", _E, "invalid `allow` comment")
MISPLACED = Code("QPS0211", "misplaced", _E, "duplicate or misplaced element")

LEFT_OUT = Code("QPS0250", "ignored-metric", _W, "ignored part of an instance")
OTHER_SPEC = Code("QPS0251", "instance-population", _E, "fixed population of an instance")

DIMENSION_MISMATCH = Code("QPS0301", "dimension-mismatch", _E, "incompatible dimensions")
WRONG_DIMENSION = Code("QPS0302", "wrong-dimension", _E, "wrong dimension")
MISSING_ITEM = Code("QPS0303", "missing-item", _E, "demand per item on a stream without such items")
NOT_A_CONDITION = Code("QPS0304", "not-a-condition", _E, "quantity instead of a condition")
NOT_A_QUANTITY = Code("QPS0305", "not-a-quantity", _E, "condition instead of a quantity")
BAD_EXPONENT = Code("QPS0306", "bad-exponent", _E, "invalid exponent")
ARGUMENT_COUNT = Code("QPS0307", "argument-count", _E, "wrong number of arguments")
VARIES = Code("QPS0308", "not-constant", _E, "value must not depend on the population or a result")
SPREAD = Code("QPS0310", "spread", _E, "invalid uncertainty or distribution")
CERTAINTY = Code("QPS0311", "certainty", _E, "invalid certainty of a requirement")
PERCENTILES = Code("QPS0312", "percentiles", _E, "invalid list of percentiles")
OUT_OF_RANGE = Code("QPS0309", "out-of-range", _E, "value out of range")

NO_RESOURCE = Code("QPS0401", "no-resource", _E, "demand on a resource that the machine lacks")
NO_ROUTE = Code("QPS0402", "no-route", _E, "no link between nodes")
AMBIGUOUS_ROUTE = Code("QPS0403", "ambiguous-route", _E, "ambiguous route")
NO_RATING = Code("QPS0404", "no-rating", _E, "machines without a common rating")
STREAM_ORDER = Code("QPS0405", "stream-order", _E, "impossible order in a stream")
BAD_HARDWARE = Code("QPS0406", "bad-hardware", _E, "incomplete machine or network")

UNSCALED_COST = Code("QPS0501", "unscaled-demand", _W, "unscaled demand on a machine with a rating")
CLOSED_STREAM = Code("QPS0408", "closed-stream", _E, "not allowed in a closed stream")
PROBABILITY = Code("QPS0409", "probability", _E, "probability above 100 %")
PROBABILITIES = Code("QPS0410", "probabilities", _E, "alternatives that add up to over 100 %")
ELSE = Code("QPS0411", "else", _E, "`else` twice, not last, or outside `one of`")
NOTHING_DONE = Code("QPS0412", "empty-alternative", _E, "nothing after a probability")
TOO_MANY_OUTCOMES = Code("QPS0413", "too-many-outcomes", _E, "too many combinations of outcomes")
FAN_OUT = Code("QPS0414", "fan-out", _E, "invalid number of parallel calls or responses")
EVENT = Code("QPS0415", "event", _E, "event that the stream does not declare")
EVENT_ALTERNATIVES = Code("QPS0416", "event-alternatives", _E, "alternatives that can both apply")
USER_EVENT = Code("QPS0417", "user-event", _E, "event with one outcome for each user")
WHOSE = Code("QPS0407", "missing-owner", _E, "traffic per machine or in total not specified")
UNUSED = Code("QPS0502", "unused", _W, "unused declaration")
NO_SOURCE = Code("QPS0503", "no-source", _W, "claim without a source")
ALSO_A_UNIT = Code("QPS0520", "ambiguous-unit", _W, "value with the name of a unit")
OPEN_BURSTS = Code("QPS0512", "open-bursts", _W, "on-off traffic without a burst duration")
QUOTIENT = Code("QPS0521", "quotient", _W, "ambiguous quotient before a unit")
SINGLE_EFFECT = Code("QPS0523", "once-only", _W, "effect of a repeated step applies only once")
PRIORITIES = Code("QPS0524", "priorities", _W, "priority without effect")
GLUED_SIGNS = Code("QPS0525", "missing-space", _W, "subtraction that looks like an interval")
COINS = Code(
    "QPS0526",
    "probabilities-sum-to-1",
    _W,
    "independent calls or steps with probabilities that sum to 1",
)
ONE_SHARE = Code(
    "QPS0527", "same-probability", _W, "independent calls or steps with the same probability"
)
ALMOST_ALL = Code(
    "QPS0529", "probabilities-below-1", _W, "alternatives that leave out a few of the items"
)
PART_OF_A_STEP = Code("QPS0528", "fraction-of-step", _E, "step with a multiplier between 0 and 1")
OPEN_TRAFFIC = Code("QPS0510", "open-traffic", _W, "open workload with a rate of 1/time")

POOR_FIT = Code("QPS0530", "poor-fit", _W, "poor fit")
UNCERTAIN_COST = Code(
    "QPS0531", "insignificant-demand", _W, "fitted demand not significantly above zero"
)
UNUSED_RATE = Code("QPS0532", "unused-rate", _W, "column of a fit that is not used")
IDLE_DROPPED = Code("QPS0533", "missing-idle", _W, "fitted idle utilization not used")
BEYOND_MEASURED = Code(
    "QPS0534", "beyond-measured", _W, "fitted demand used outside the measured range"
)
NO_SPREAD = Code(
    "QPS0535",
    "no-spread",
    _W,
    "fit without residuals: uncertainty as in other tables",
)

NO_SATURATION = Code("QPS0536", "no-saturation", _W, "closed load test without a visible limit")
SPEEDS_DROPPED = Code("QPS0537", "missing-speeds", _W, "fitted speeds not used")
DELAY_DROPPED = Code("QPS0538", "missing-delay", _W, "fitted delay not used")

CONTRADICTS_LITTLE = Code(
    "QPS0539", "contradictory-runs", _W, "throughput and response times that contradict each other"
)

UNUSED_EXCEPTION = Code("QPS0540", "unused-exception", _W, "unused `allow` or `accept`")

PAST_PEAK = Code("QPS0541", "past-peak", _W, "more requests at once than at peak throughput")
BENDING_LOAD = Code(
    "QPS0542", "bending-load", _W, "utilization that is not proportional to the rates"
)

BAD_SETTING = Code("QPS0601", "bad-setting", _E, "invalid setting")
NO_ANSWER = Code("QPS0602", "no-answer", _E, "no result")
BAD_DATA = Code("QPS0603", "bad-data", _E, "invalid measurement data")
COMMAND_LINE = Code("QPS0604", "command-line", _E, "invalid command line")
RANGE_LIMITS = Code(
    "QPS0605", "range-limits", _W, "the range of the population limits the capacity"
)
SATURATED_START = Code(
    "QPS0606", "saturated-at-start", _W, "resource saturated at the smallest population"
)
FAR_FROM_MEASURED = Code(
    "QPS0607", "extrapolated-utilization", _W, "demand measured at a very different utilization"
)
NO_USERS = Code("QPS0608", "constant-load", _W, "nothing depends on the population")
UNCOUNTED_WAITS = Code(
    "QPS0609", "queueing-excluded", _W, "latency excludes queueing delay at a busy resource"
)
NOT_SIMULATED = Code("QPS0610", "not-simulated", _E, "claim that cannot be simulated")
TIMEOUTS_BY_CHANCE = Code(
    "QPS0611", "timeouts-by-chance", _W, "retries may overload a system without an incident"
)
THROTTLED_HOLD = Code(
    "QPS0612", "throttled-hold", _W, "lock or pool held while a CPU limit pauses its holder"
)
UNDECIDED = Code("QPS0630", "undecided", _E, "undecided: too close to a limit")

ALL: tuple[Code, ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, Code)
)
"""Every code, in the order of their numbers."""

FORMER_SLUGS = {
    "left-out": LEFT_OUT,
    "other-spec": OTHER_SPEC,
    "item-not-carried": MISSING_ITEM,
    "varies": VARIES,
    "unscaled-cost": UNSCALED_COST,
    "whose": WHOSE,
    "also-a-unit": ALSO_A_UNIT,
    "glued-signs": GLUED_SIGNS,
    "coins": COINS,
    "one-share": ONE_SHARE,
    "part-of-a-step": PART_OF_A_STEP,
    "unsure-cost": UNCERTAIN_COST,
    "idle-dropped": IDLE_DROPPED,
    "far-from-measured": FAR_FROM_MEASURED,
    "no-users": NO_USERS,
    "unsaid-waits": UNCOUNTED_WAITS,
}
"""Codes by their former slugs, which `qps explain` reads for ever."""

WARNINGS = tuple(code for code in ALL if code.severity is Severity.WARNING)

OF_ANSWERS = (
    RANGE_LIMITS,
    SATURATED_START,
    FAR_FROM_MEASURED,
    NO_USERS,
    UNCOUNTED_WAITS,
    TIMEOUTS_BY_CHANCE,
    THROTTLED_HOLD,
)
"""Warnings of an answer, not of a text: `qps check` reports none of them."""
