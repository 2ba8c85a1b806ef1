"""Which part of its limit a value uses: one scale for utilizations and requirements."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite, isnan, nan


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


NEARNESS_DECIMALS = 9
"""To which values are compared that use parts of their limits: floats do not tell others apart."""


def nearness(used: Iterable[float]) -> float:
    """Return how near values come to the nearest limit, by the parts of their limits that they use.

    It is infinite where one is not known.

    >>> nearness([0.5, 0.75]), nearness([0.5, nan]), nearness([])
    (0.75, inf, 0.0)
    """
    found = max((inf if isnan(one) else one for one in used), default=0.0)
    return round(found, NEARNESS_DECIMALS) if isfinite(found) else found
