"""Every kind of diagnostic, once.

01 syntax, 02 names and files, 03 dimensions, 04 hardware, topology and streams, 05 plausibility
(warnings), 06 settings and answers. A number is never used again for another kind.
"""

from __future__ import annotations

from qps.compiler.diagnostics.diagnostic import Code, Severity

_E, _W = Severity.ERROR, Severity.WARNING

SYNTAX = Code("QPS0101", "syntax", _E, "the text does not follow the grammar")
CHARACTER = Code("QPS0102", "character", _E, "a character that starts nothing in QPS")
UNCLOSED = Code("QPS0103", "unclosed", _E, "a block, text or bracket that is not closed")
RESERVED_WORD = Code("QPS0104", "reserved-word", _E, "a name that is a word of the language")
TOO_DEEP = Code("QPS0105", "too-deep", _E, "an expression nested or grown beyond all reading")
NUMBER_SIZE = Code("QPS0106", "number-size", _E, "a number beyond what QPS computes with")
FIRST_EDITION = Code(
    "QPS0108", "first-edition", _E, "what the first edition of the language said otherwise"
)
EDITION = Code("QPS0109", "edition", _E, "an edition of the language that this QPS does not read")
TOO_MANY = Code("QPS0107", "too-many", _E, "more mistakes than anybody wants to read at once")

UNKNOWN_NAME = Code("QPS0201", "unknown-name", _E, "a name that nothing declares")
DUPLICATE_NAME = Code("QPS0202", "duplicate-name", _E, "a name that is declared twice")
SHADOWED_UNIT = Code("QPS0203", "shadowed-unit", _E, "a unit that every spec has already")
WRONG_KIND = Code("QPS0204", "wrong-kind", _E, "a name of another kind than is needed here")
IMPORT_CYCLE = Code("QPS0205", "import-cycle", _E, "modules that use each other in a circle")
UNKNOWN_MODULE = Code("QPS0206", "unknown-module", _E, "a module or file that is not there")
OUTSIDE_FOLDER = Code("QPS0207", "outside-folder", _E, "a file outside the spec's own folder")
DEFINITION_CYCLE = Code("QPS0208", "definition-cycle", _E, "definitions that need each other")
UNREADABLE = Code("QPS0209", "unreadable", _E, "a file that cannot be read as text")
MISSING_PART = Code("QPS0210", "missing-part", _E, "something that every spec needs is not there")
PROJECT_FILE = Code("QPS0212", "project-file", _E, "a project file that cannot be understood")
ALLOWANCE = Code("QPS0213", "allowance", _E, "a comment that switches off what it cannot")
MISPLACED = Code("QPS0211", "misplaced", _E, "something stated twice or where it has no meaning")

LEFT_OUT = Code("QPS0250", "left-out", _W, "a part of an instance that has no part in the spec")
OTHER_SPEC = Code("QPS0251", "other-spec", _E, "a population of an instance that is set")

DIMENSION_MISMATCH = Code(
    "QPS0301", "dimension-mismatch", _E, "quantities that cannot be added or compared"
)
WRONG_DIMENSION = Code(
    "QPS0302", "wrong-dimension", _E, "a quantity of another dimension than is needed here"
)
ITEM_NOT_CARRIED = Code(
    "QPS0303", "item-not-carried", _E, "a cost per item on a stream that has no such items"
)
NOT_A_CONDITION = Code("QPS0304", "not-a-condition", _E, "a quantity where yes or no is needed")
NOT_A_QUANTITY = Code("QPS0305", "not-a-quantity", _E, "yes or no where a quantity is needed")
BAD_EXPONENT = Code("QPS0306", "bad-exponent", _E, "a power that has no dimension")
ARGUMENT_COUNT = Code("QPS0307", "argument-count", _E, "too few or too many arguments")
VARIES = Code("QPS0308", "varies", _E, "a value that must not depend on the population")
SPREAD = Code("QPS0310", "spread", _E, "a distribution of a number that cannot be")
CERTAINTY = Code("QPS0311", "certainty", _E, "a certainty that no requirement can have")
OUT_OF_RANGE = Code("QPS0309", "out-of-range", _E, "a value outside its range")

NO_RESOURCE = Code("QPS0401", "no-resource", _E, "a cost on a resource that the machine lacks")
NO_ROUTE = Code("QPS0402", "no-route", _E, "nodes that no link joins")
AMBIGUOUS_ROUTE = Code("QPS0403", "ambiguous-route", _E, "several equally short ways")
NO_RATING = Code("QPS0404", "no-rating", _E, "machines that have no rating in common")
STREAM_ORDER = Code("QPS0405", "stream-order", _E, "the parts of a stream in an impossible order")
BAD_HARDWARE = Code("QPS0406", "bad-hardware", _E, "a machine or network that lacks a part")

UNSCALED_COST = Code(
    "QPS0501", "unscaled-cost", _W, "a cost that names no machine on a machine with a rating"
)
CLOSED_STREAM = Code(
    "QPS0408", "closed-stream", _E, "what a stream of users who wait for answers cannot have"
)
WHOSE = Code("QPS0407", "whose", _E, "a stream that does not say whose it is")
UNUSED = Code("QPS0502", "unused", _W, "something declared that nothing uses")
NO_SOURCE = Code("QPS0503", "no-source", _W, "a claim without a source")
ALSO_A_UNIT = Code("QPS0520", "also-a-unit", _W, "a unit behind a number, and a value of its name")
OPEN_BURSTS = Code(
    "QPS0512", "open-bursts", _W, "flows that are on at times, and wait: for how long"
)
QUOTIENT = Code("QPS0521", "quotient", _W, "a quotient of two numbers right before a unit")
ONCE_ONLY = Code("QPS0523", "once-only", _W, "an effect of a step that is repeated: it counts once")
PRIORITIES = Code("QPS0524", "priorities", _W, "a priority by which nothing goes, or none to go by")
GLUED_SIGNS = Code("QPS0525", "glued-signs", _W, "a sum of what is below zero that looks uncertain")
COINS = Code("QPS0526", "coins", _W, "calls by shares that sum to 1: each is made by itself")
ONE_SHARE = Code("QPS0527", "one-share", _W, "several calls by one share: each is made by itself")
PART_OF_A_STEP = Code("QPS0528", "part-of-a-step", _W, "a share of a step: every item takes it")
OPEN_TRAFFIC = Code("QPS0510", "open-traffic", _W, "a rate of one over a time, where requests wait")

POOR_FIT = Code("QPS0530", "poor-fit", _W, "a fit that misses what was measured by much")
UNSURE_COST = Code("QPS0531", "unsure-cost", _W, "a fitted cost that cannot be told from zero")
UNUSED_RATE = Code(
    "QPS0532", "unused-rate", _W, "a column that looks like a rate and is not used in a fit"
)
IDLE_DROPPED = Code("QPS0533", "idle-dropped", _W, "an idle load that was fitted and is not used")
BEYOND_MEASURED = Code(
    "QPS0534", "beyond-measured", _W, "a fitted cost asked for beyond what was measured"
)
NO_SPREAD = Code(
    "QPS0535",
    "no-spread",
    _W,
    "a fit to as many rows as numbers: nothing tells how far they are off",
)

UNUSED_EXCEPTION = Code(
    "QPS0540", "unused-exception", _W, "what is allowed or accepted, and does not happen"
)

BAD_SETTING = Code("QPS0601", "bad-setting", _E, "a setting that the model does not have")
NO_ANSWER = Code("QPS0602", "no-answer", _E, "a question that cannot be answered exactly")
BAD_DATA = Code("QPS0603", "bad-data", _E, "a row of measurements that cannot be used")
COMMAND_LINE = Code("QPS0604", "command-line", _E, "a wrong flag or argument")
RANGE_LIMITS = Code(
    "QPS0605", "range-limits", _W, "the range of the population, not the system, is the limit"
)
SATURATED_START = Code(
    "QPS0606", "saturated-at-start", _W, "a resource that is saturated at the smallest population"
)
FAR_FROM_MEASURED = Code(
    "QPS0607", "far-from-measured", _W, "a cost far from the load at which it was measured"
)
NO_USERS = Code(
    "QPS0608", "no-users", _W, "loads and requirements on which the number of users has no bearing"
)
UNSAID_WAITS = Code(
    "QPS0609",
    "unsaid-waits",
    _W,
    "a latency that counts no waiting at a resource that is nearly full",
)
NOT_SIMULATED = Code("QPS0610", "not-simulated", _E, "a claim that simulation cannot judge")
UNDECIDED = Code(
    "QPS0630", "undecided", _E, "a load or requirement so close to its limit that it is not told"
)

ALL: tuple[Code, ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, Code)
)
"""Every code, in the order of their numbers."""

WARNINGS = tuple(code for code in ALL if code.severity is Severity.WARNING)

OF_ANSWERS = (RANGE_LIMITS, SATURATED_START, FAR_FROM_MEASURED, NO_USERS, UNSAID_WAITS)
"""Warnings of an answer, not of a text: `qps check` tells none of them."""
