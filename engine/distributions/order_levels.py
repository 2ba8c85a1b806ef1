"""At which level of one of n equal times the k-th shortest of them is at a level of its own.

Of n independent times of a distribution F, k are no longer than t with the probability
I(F(t); k, n - k + 1), the regularized incomplete beta function: so the k-th shortest is at a level
p where F is at the inverse of it. Of all n answers, k = n, that is p^(1/n). (David and Nagaraja,
Order Statistics, 2003, section 2.1.)
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, isnan, lgamma, log, log1p, nan

_MOST_TERMS = 2000
_ENOUGH = 1e-16
_LEAST = 1e-300
_MOST_STEPS = 200
_NEXT_TO = 1e-14


@lru_cache(maxsize=1 << 14)
def order_level(level: float, answers: float, spare: float) -> float:
    """Return the level of one call where the first `answers` are at a `level`.

    So many more calls are made, `spare`. Not-a-number where a level is no share below 1, or
    where there is less than one answer.
    """
    if isnan(level + answers + spare) or not 0 <= level < 1:
        return nan
    if not (1 <= answers < inf and 0 <= spare < inf):
        return nan
    if not level:
        return 0.0
    if not spare:
        return exp(log(level) / answers)
    return _inverse(level, answers, spare + 1)


def share_of_orders(share: float, answers: float, spare: float) -> float:
    """Return with which probability answers are missing at a time that a `share` of calls exceeds.

    That is I(q; n - k + 1, k) of the share q.
    """
    if share <= 0:
        return 0.0
    return 1.0 if share >= 1 else regularized_beta(share, spare + 1, answers)


def log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function."""
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def regularized_beta(x: float, a: float, b: float) -> float:
    """Return I(x; a, b) for x between 0 and 1, by its continued fraction (Lentz' method)."""
    front = exp(a * log(x) + b * log1p(-x) - log_beta(a, b))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            found *= c * d
        if abs(c * d - 1) <= _ENOUGH * 2:
            break
    return found


def _away(value: float) -> float:
    return value if abs(value) > _LEAST else _LEAST


def _inverse(level: float, a: float, b: float) -> float:
    """Return where I(x; a, b) is a level: by Newton's steps, halved where they leave."""
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(_MOST_STEPS):
        excess = regularized_beta(x, a, b) - level
        if excess < 0:
            low = x
        else:
            high = x
        slope = exp((a - 1) * log(x) + (b - 1) * log1p(-x) - log_beta(a, b))
        after = x - excess / slope if slope > 0 else low
        if not low < after < high:
            after = (low + high) / 2
        if abs(after - x) <= _NEXT_TO * x or high - low <= _NEXT_TO * high:
            return after
        x = after
    return x
