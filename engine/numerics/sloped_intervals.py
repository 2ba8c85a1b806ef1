"""Intervals with slopes: sums, products, quotients, powers, the largest and the smallest.

Ends are rounded outwards where an operation is not exact, so that no bound is ever too narrow.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import inf, nextafter
from math import pow as float_power

from msgspec import Struct

from qps.engine.exact_algebra.exact_values import as_float

_EXACT_INTEGERS = 2.0**53
_UNITS = (1.0, -1.0)
_LARGEST = nextafter(inf, 0.0)

LIBRARY = 2.0**-50
"""A function of the mathematical library is off by less, as a part of its value."""

_FEW_FACTORS = 3
"""So many are multiplied; of more the library's power is the narrower one, and found sooner."""

ROUNDED_OFF = 1e-9
"""The number of a queue is off by less, as a part of its value."""


class SlopedInterval(Struct, frozen=True, gc=False):
    """Bounds of a value, and of its slope in the population."""

    low: float
    high: float
    slow: float = 0.0
    steep: float = 0.0

    @property
    def is_below(self) -> bool:
        """True where the value is below zero throughout."""
        return self.high < 0

    @property
    def is_above(self) -> bool:
        """True where the value is above zero throughout."""
        return self.low > 0

    @property
    def has_slope(self) -> bool:
        """True where its slope has bounds."""
        return -inf < self.slow and self.steep < inf

    @property
    def is_fixed(self) -> bool:
        """True where it does not change with the population."""
        return self.slow == 0 == self.steep

    def sound(self) -> SlopedInterval:
        """Return it without ends that are not-a-number: they bound nothing."""
        has_value, has_slope = self.low <= self.high, self.slow <= self.steep
        if has_value and has_slope:
            return self
        low, high = (self.low, self.high) if has_value else (-inf, inf)
        slow, steep = (self.slow, self.steep) if has_slope else (-inf, inf)
        return SlopedInterval(low, high, slow, steep)


NOTHING_KNOWN = SlopedInterval(-inf, inf, -inf, inf)


def below(value: float) -> float:
    """Return the next float below."""
    return nextafter(value, -inf)


def above(value: float) -> float:
    """Return the next float above."""
    return nextafter(value, inf)


def around(number: Fraction) -> SlopedInterval:
    """Return a number as itself where it is a float, else as the floats next to it."""
    near = as_float(number)
    return (
        SlopedInterval(near, near) if near == number else SlopedInterval(below(near), above(near))
    )


def negative(one: SlopedInterval) -> SlopedInterval:
    """Return an interval turned round."""
    return SlopedInterval(-one.high, -one.low, -one.steep, -one.slow)


def total(*parts: SlopedInterval) -> SlopedInterval:
    """Return the bounds of a sum."""
    low = high = slow = steep = 0.0
    for part in parts:
        low, high = _sum(low, part.low)[0], _sum(high, part.high)[1]
        if part.slow or part.steep:
            slow, steep = _sum(slow, part.slow)[0], _sum(steep, part.steep)[1]
    return SlopedInterval(low, high, slow, steep)


def _sum(one: float, other: float) -> tuple[float, float]:
    """Return the floats that a sum lies between: one and the same where it is exact."""
    found = one + other
    back = found - one
    error = (one - (found - back)) + (other - back)
    if error == 0 or found in (inf, -inf):
        return found, found
    return (below(found), found) if error < 0 else (found, above(found))


def product(*parts: SlopedInterval) -> SlopedInterval:
    """Return the bounds of a product."""
    return reduce(times, parts)


def times(one: SlopedInterval, other: SlopedInterval) -> SlopedInterval:
    """Return the bounds of a product of two."""
    low, high = span(one.low, one.high, other.low, other.high)
    is_fixed = one.is_fixed
    if other.is_fixed:
        if is_fixed:
            return SlopedInterval(low, high)
        return SlopedInterval(low, high, *span(other.low, other.high, one.slow, one.steep))
    slow, steep = span(one.low, one.high, other.slow, other.steep)
    if not is_fixed:
        least, most = span(other.low, other.high, one.slow, one.steep)
        slow, steep = _sum(slow, least)[0], _sum(steep, most)[1]
    return SlopedInterval(low, high, slow, steep)


def span(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """Return the bounds of a product of something in [a, b] and something in [c, d].

    Their signs determine which ends make the least and the greatest, but where both lie around
    zero.
    """
    if a == b and c == d:
        return _product(a, c)
    if a < 0 < b and c < 0 < d:
        ends = [_product(one, other) for one in (a, b) for other in (c, d)]
        return min(end[0] for end in ends), max(end[1] for end in ends)
    if a >= 0:
        least = _product(a if c >= 0 else b, c)
        most = _product(a if d <= 0 else b, d)
    elif b <= 0:
        least = _product(b if d <= 0 else a, d)
        most = _product(b if c >= 0 else a, c)
    elif c >= 0:
        least, most = _product(a, d), _product(b, d)
    else:
        least, most = _product(b, c), _product(a, c)
    return least[0], most[1]


def _product(one: float, other: float) -> tuple[float, float]:
    """Return the floats that a product lies between."""
    if one == 0 or other == 0:
        return 0.0, 0.0  # also of infinity: what is nothing stays nothing
    found = one * other
    if one in _UNITS or other in _UNITS:
        return found, found
    if one.is_integer() and other.is_integer() and abs(found) < _EXACT_INTEGERS:
        return found, found
    return nextafter(found, -inf), nextafter(found, inf)


def power(base: SlopedInterval, exponent: int) -> SlopedInterval:
    """Return the bounds of a whole power."""
    if exponent == 1:
        return base
    if exponent == 0:
        return SlopedInterval(1.0, 1.0)
    if exponent < 0:
        return quotient(SlopedInterval(1.0, 1.0), power(base, -exponent))
    low, high = _powers(base.low, base.high, exponent)
    if base.is_fixed:
        return SlopedInterval(low, high)
    least, most = _powers(base.low, base.high, exponent - 1)
    rate = span(least, most, float(exponent), float(exponent))
    return SlopedInterval(low, high, *span(rate[0], rate[1], base.slow, base.steep))


def _powers(low: float, high: float, exponent: int) -> tuple[float, float]:
    """Return the bounds of a whole power of what lies between two floats."""
    if exponent % 2 == 0:
        if low >= 0:
            return _raised(low, exponent)[0], _raised(high, exponent)[1]
        if high <= 0:
            return _raised(high, exponent)[0], _raised(low, exponent)[1]
        return 0.0, max(_raised(low, exponent)[1], _raised(high, exponent)[1])
    return _raised(low, exponent)[0], _raised(high, exponent)[1]


def _raised(value: float, exponent: int) -> tuple[float, float]:
    """Return the floats that a whole power of a float lies between."""
    size = abs(value)
    if exponent <= _FEW_FACTORS:
        least = most = size
        for _ in range(exponent - 1):
            least, most = _product(least, size)[0], _product(most, size)[1]
    else:
        least, most = _power_of_size(size, exponent)
    return (least, most) if value >= 0 or exponent % 2 == 0 else (-most, -least)


def _power_of_size(size: float, exponent: int) -> tuple[float, float]:
    """Return the floats that a high power of what is no less than zero lies between."""
    try:
        near = float_power(size, exponent)
    except OverflowError:
        near = inf
    if near == inf:
        return _LARGEST * (1 - LIBRARY), inf
    if size.is_integer() and near < _EXACT_INTEGERS:
        exact = float(int(size) ** exponent)
        return exact, exact
    return max(below(near - near * LIBRARY), 0.0), above(near + near * LIBRARY)


def quotient(one: SlopedInterval, other: SlopedInterval) -> SlopedInterval:
    """Return the bounds of a quotient; where the divisor may vanish, it may be anything."""
    if other.low <= 0 <= other.high:
        return _by_what_may_vanish(one, other)
    low, high = below(1 / other.high), above(1 / other.low)
    if other.low == other.high and abs(other.low) == 1:
        low = high = other.low
    value = span(one.low, one.high, low, high)
    # (f/g)' = (f' - (f/g) g') / g
    bend = (0.0, 0.0) if other.is_fixed else span(*value, other.slow, other.steep)
    slow, steep = _sum(one.slow, -bend[1])[0], _sum(one.steep, -bend[0])[1]
    return SlopedInterval(*value, *span(slow, steep, low, high))


def _by_what_may_vanish(one: SlopedInterval, other: SlopedInterval) -> SlopedInterval:
    if one.low >= 0 and other.low >= 0 and other.high > 0:
        return SlopedInterval(span(one.low, one.low, below(1 / other.high), 1 / other.high)[0], inf,
                        -inf, inf)  # fmt: skip
    return NOTHING_KNOWN


def maximum(*parts: SlopedInterval) -> SlopedInterval:
    """Return the bounds of the largest: its slope is that of one that can be the largest."""
    low = max(part.low for part in parts)
    high = max(part.high for part in parts)
    chosen = [part for part in parts if part.high >= low]
    slow, steep = min(part.slow for part in chosen), max(part.steep for part in chosen)
    return SlopedInterval(low, high, slow, steep)


def minimum(*parts: SlopedInterval) -> SlopedInterval:
    """Return the bounds of the smallest."""
    return negative(maximum(*map(negative, parts)))
