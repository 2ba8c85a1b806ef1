"""Ranges of operations from those of their operands, exact at both ends.

What is not here lies anywhere where its row says. A range may be wider than the values are, never
narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from math import ceil, inf, isinf
from math import floor as rounded_down

from qps.engine.numerics.value_ranges import ANY, NOT_NEGATIVE, NOT_POSITIVE, End, ValueRange


def total(*parts: ValueRange) -> ValueRange:
    """Return the range of a sum."""
    return ValueRange(_sum([part.low for part in parts]), _sum([part.high for part in parts]))


def product(*parts: ValueRange) -> ValueRange:
    """Return the range of a product."""
    return reduce(_product, parts, ValueRange(Fraction(1), Fraction(1)))


def raised(base: ValueRange, exponent: ValueRange) -> ValueRange:
    """Return the range of a power."""
    if not base.below:
        # x^y is not negative; with y above zero not below 1 where x is not.
        is_large = exponent.low == exponent.high and exponent.low > 0 and base.low >= 1
        return ValueRange(Fraction(1), inf) if is_large else NOT_NEGATIVE
    whole = exponent.whole
    if whole is None:
        return ANY
    if whole % 2 == 0:
        return NOT_NEGATIVE
    return ANY if base.above else NOT_POSITIVE


def maximum(*parts: ValueRange) -> ValueRange:
    """Return the range of the largest."""
    return ValueRange(max(part.low for part in parts), max(part.high for part in parts))


def minimum(*parts: ValueRange) -> ValueRange:
    """Return the range of the smallest."""
    return ValueRange(min(part.low for part in parts), min(part.high for part in parts))


def ratio(above: ValueRange, below: ValueRange) -> ValueRange:
    """Return the range of a quotient that is infinite where its divisor vanishes."""
    found = mean(above, below)
    return found if below.low > 0 else ValueRange(found.low, inf)


def mean(above: ValueRange, below: ValueRange) -> ValueRange:
    """Return the range of a quotient that is 0 where its divisor vanishes."""
    return ANY if below.below else _product(above, NOT_NEGATIVE)


def waiting(work: ValueRange, _load: ValueRange) -> ValueRange:
    """Return the range of a wait."""
    return ANY if work.below else NOT_NEGATIVE


def floor(of: ValueRange) -> ValueRange:
    """Return the range of what is rounded down."""
    return _rounded(rounded_down, of)


def ceiling(of: ValueRange) -> ValueRange:
    """Return the range of what is rounded up."""
    return _rounded(ceil, of)


def exponential(of: ValueRange) -> ValueRange:
    """Return the range of e^x, which is never below 1 + x."""
    return ValueRange(of.low + 1 if of.low > -1 else Fraction(0), inf)


def logarithm(of: ValueRange) -> ValueRange:
    """Return on which side of zero a logarithm lies."""
    return ValueRange(Fraction(0) if of.low >= 1 else -inf, Fraction(0) if of.high <= 1 else inf)


def lambert(of: ValueRange) -> ValueRange:
    """Return on which side of zero Lambert's W lies: on that of its argument."""
    return ValueRange(Fraction(-1) if of.below else Fraction(0), inf if of.above else Fraction(0))


def _sum(ends: Sequence[End]) -> End:
    infinite = [end for end in ends if isinf(end)]
    return infinite[0] if infinite else sum(ends, Fraction(0))


def _product(one: ValueRange, other: ValueRange) -> ValueRange:
    ends = [_times(a, b) for a in (one.low, one.high) for b in (other.low, other.high)]
    return ValueRange(min(ends), max(ends))


def _times(one: End, other: End) -> End:
    if one == 0 or other == 0:
        return Fraction(0)
    if isinf(one) or isinf(other):
        return inf if (one > 0) == (other > 0) else -inf
    return one * other


def _rounded(rounding: Callable[[Fraction], int], of: ValueRange) -> ValueRange:
    low, high = (
        end if isinstance(end, float) else Fraction(rounding(end)) for end in (of.low, of.high)
    )
    return ValueRange(low, high)
