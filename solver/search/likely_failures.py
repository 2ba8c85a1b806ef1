"""Where a function is likely to be above zero first at whole numbers, by its values in floats.

Nothing is proved here: a search that knows where to cut its range proves the rest in few boxes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite

from qps.engine.numerics.bisection import halfway

_FAR = 4
"""Between numbers of which one is so many times the other, lines say little."""


def likely_failure(value: Callable[[float], float], low: int, high: int) -> int | None:
    """Return a whole number at which a function is above zero, or has no value, and not before.

    None where it is so at both ends, or at none. Between ends that have values it is sought by
    false position, the end that stays counting half (the Illinois method; Dowell and Jarratt 1971).
    """
    least, most = _value_at(value, low), _value_at(value, high)
    if least > 0 or not most > 0:
        return None
    stayed, widths = 0, [inf, inf, inf]
    while high - low > 1:
        is_slow = high - low > widths[0] / 2
        middle = _halved(low, high) if is_slow else _between(low, high, least, most)
        widths = [*widths[1:], high - low]
        here = _value_at(value, middle)
        if here > 0:
            high, most = middle, here
            least, stayed = least / 2 if stayed > 0 else least, 1
        else:
            low, least = middle, here
            most, stayed = most / 2 if stayed < 0 else most, -1
    return high


def _value_at(value: Callable[[float], float], at: int) -> float:
    """Return a value; what has none counts as above zero."""
    found = value(float(at))
    return inf if found != found else found  # noqa: PLR0124 - not-a-number is not itself


def _between(low: int, high: int, least: float, most: float) -> int:
    """Return where a line between two numbers vanishes; half way where that says little."""
    if high > _FAR * max(low, 1) or not (isfinite(least) and isfinite(most)):
        return _halved(low, high)
    found = round(low - least / (most - least) * (high - low))
    return min(max(found, low + 1), high - 1)


def _halved(low: int, high: int) -> int:
    return min(max(int(halfway(float(low), float(high))), low + 1), high - 1)
