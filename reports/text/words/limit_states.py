"""How near a value is to its limit: one scale for utilizations and requirements, one word for each.

The scripts of pages have the same in `scripts/live/limit_states.js`.
"""

from __future__ import annotations

from enum import StrEnum
from math import inf, isnan, nan

_CLOSE = 0.8
"""The part of its limit from which on a value is near it."""
_FULL = 1 + 1e-9
"""What counts as no more than the limit: floats do not tell them apart."""


class LimitState(StrEnum):
    """How near a value is to its limit; `LIMIT` is that of what sets the capacity."""

    WITHIN = "within"
    CLOSE = "near"
    LIMIT = "limit"
    OVER = "over"
    UNKNOWN = "unknown"


def limit_used(value: float, limit: float, *, at_most: bool = True) -> float:
    """Return which part of its limit a value uses: 1 at the limit, more beyond it.

    A lower limit is used the more the smaller the value is. NaN where the limit has no parts.

    >>> limit_used(40, 50), limit_used(20, 10, at_most=False), limit_used(1, 0)
    (0.8, 0.5, nan)
    """
    if not limit > 0 or isnan(value):
        return nan
    if at_most:
        return value / limit
    return limit / value if value > 0 else inf


def limit_state(used: float, *, limits_capacity: bool) -> LimitState:
    """Return the state of a value that uses a part of its limit.

    >>> limit_state(0.5, limits_capacity=False).value, limit_state(0.98, limits_capacity=True).value
    ('within', 'limit')
    """
    if isnan(used):
        return LimitState.UNKNOWN
    if used > _FULL:
        return LimitState.OVER
    if limits_capacity:
        return LimitState.LIMIT
    return LimitState.CLOSE if used >= _CLOSE else LimitState.WITHIN


def headroom(used: float) -> float:
    """Return which part of a limit is left, negative beyond it.

    >>> headroom(0.75), headroom(1.5)
    (0.25, -0.5)
    """
    return 1 - used
