"""What is said of a value that is out of its bounds."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.configure.bounded_value import Bounded, varies
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.quantities.allowed_values import Bound
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.quantities.scales import quantity

_HUNDRED = 100


def more_flows_than_users(stream: str, flows: Fraction, group: str, users: Fraction) -> str:
    """Return that a stream has more flows in a group than the group has users."""
    return f"`{stream}` has {shown(flows)} flows in each `{group}`, which has {shown(users)} users"


def shown(value: Fraction, dimension: Dimension = DIMENSIONLESS) -> str:
    """Return a value as messages have it."""
    try:
        number = float(value)
        return f"{number:g}" if dimension == DIMENSIONLESS else quantity(number, dimension)
    except OverflowError:
        return "infinite"


def hint_for(bounded: Bounded, value: Fraction) -> str:
    """Return how a value may be brought within its bounds."""
    if bounded.hint:
        return bounded.hint
    if bounded.bound in (Bound.COUNT, Bound.NUMBER) and value > 0:
        return "use a whole number, or round it: `ceil(…)`"
    if bounded.because is not None and value == 0:
        return "increase it, or remove it from all streams"
    if varies(bounded.expr):
        return "narrow the range of the population, or bound it with `max` or `min`"
    if bounded.bound is Bound.EFFICIENCY:
        return "specify the share of speed kept at each doubling of cores: `efficiency 95 %`"
    if bounded.bound in (Bound.SHARE, Bound.PART, Bound.LOAD, Bound.FULL, Bound.TARGET):
        is_plain = 1 <= value <= _HUNDRED and "%" not in bounded.span.text
        if not is_plain:
            return _share_hint(bounded)
        percent = f"{shown(value)} %"
        return instead(bounded.span.text, percent, words=f"for a percentage, write `{percent}`")
    if bounded.bound is Bound.RANK:
        hint = "write `priority 1` for the highest priority"
        return instead(bounded.span.text, "1", words=hint)
    if bounded.bound is Bound.CALLS:
        return "make 1 to 10,000 parallel calls; round a fraction with `ceil(…)`"
    if bounded.bound is Bound.WHOLE:
        return "use a whole number of cores, or `mm1`"
    if bounded.bound in (Bound.NOT_NEGATIVE, Bound.NUMBER):
        return "use a value of zero or more"
    return "use a value above zero, or remove it"


def _share_hint(bounded: Bounded) -> str:
    if bounded.code is codes.PROBABILITY:
        return "a probability is at most 100 %; to run a step more often, write `step * 2`"
    return "write `75 %`" if bounded.bound in (Bound.FULL, Bound.TARGET) else "write `5 %`"
