"""How near a value is to its limit: one scale for utilizations and requirements, one word for each.

The scripts of pages have the same in `scripts/live/limit_states.js`.
"""

from __future__ import annotations

from enum import StrEnum
from math import isnan

_CLOSE = 0.8
"""The part of its limit from which on a value is near it."""
_FULL = 1 + 1e-9
"""What counts as no more than the limit: floats do not distinguish them."""


class LimitState(StrEnum):
    """How near a value is to its limit; `LIMIT` is that of what sets the capacity."""

    WITHIN = "within"
    CLOSE = "near"
    LIMIT = "limit"
    OVER = "over"
    UNKNOWN = "unknown"


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
