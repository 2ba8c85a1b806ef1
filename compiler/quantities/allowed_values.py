"""What a value may be: above zero, a share, a whole number."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from msgspec import Struct

_LARGEST_LOAD = 10


class AllowedInterval(Struct, frozen=True, kw_only=True):
    """The ends between which a value must lie, None for none; `is_…_out` where an end is not in."""

    least: Fraction | None = None
    most: Fraction | None = None
    is_least_out: bool = False
    is_most_out: bool = False
    is_whole: bool = False

    def holds(self, value: Fraction) -> bool:
        """Return whether a value is inside."""
        if self.least is not None and not value > self.least:
            return value == self.least and not self.is_least_out
        if self.most is not None and not value < self.most:
            return value == self.most and not self.is_most_out
        return not self.is_whole or value.denominator == 1


class Bound(Enum):
    """What a value may be; the text completes `… must be`."""

    ANY = "a number"
    POSITIVE = "above zero"
    NOT_NEGATIVE = "zero or more"
    SHARE = "between 0 and 100 %"
    PART = "below 100 %"
    LOAD = "below 100 % (saturation)"
    FULL = "at most 100 % (saturation)"
    TARGET = "above 0 and at most 100 %"
    COUNT = "a whole number above zero"
    NUMBER = "a whole number of zero or more"
    SEVERAL = "two or more"
    RANK = "a whole number of 1 or more"
    WHOLE = "whole and above zero"
    EFFICIENCY = "above 0 and at most 200 %"
    CALLS = "a whole number from 1 to 10,000"

    @property
    def interval(self) -> AllowedInterval:
        """The values that are in bounds."""
        return _INTERVALS[self]

    def allows(self, value: Fraction) -> bool:
        """Return whether a value is in bounds."""
        return self.interval.holds(value)

    def nearly_allows(self, value: Fraction, tolerance: Fraction) -> bool:
        """Return whether a value may be in bounds that is known up to a part of it."""
        off = abs(value) * tolerance
        around = [value - off, value + off]
        if self.interval.is_whole and abs(value - round(value)) <= off:
            around.append(Fraction(round(value)))
        return any(self.allows(number) for number in around)


_ZERO, _ONE = Fraction(0), Fraction(1)
_WHOLE = AllowedInterval(least=_ZERO, is_least_out=True, is_whole=True)
_INTERVALS = {
    Bound.ANY: AllowedInterval(),
    Bound.POSITIVE: AllowedInterval(least=_ZERO, is_least_out=True),
    Bound.NOT_NEGATIVE: AllowedInterval(least=_ZERO),
    Bound.SHARE: AllowedInterval(least=_ZERO, most=_ONE),
    Bound.PART: AllowedInterval(least=_ZERO, most=_ONE, is_most_out=True),
    Bound.LOAD: AllowedInterval(least=_ZERO, most=Fraction(_LARGEST_LOAD)),
    Bound.FULL: AllowedInterval(least=_ZERO, most=_ONE),
    Bound.TARGET: AllowedInterval(least=_ZERO, most=_ONE, is_least_out=True),
    Bound.EFFICIENCY: AllowedInterval(least=_ZERO, most=Fraction(2), is_least_out=True),
    Bound.COUNT: _WHOLE,
    Bound.SEVERAL: AllowedInterval(least=Fraction(2)),
    Bound.NUMBER: AllowedInterval(least=_ZERO, is_whole=True),
    Bound.RANK: _WHOLE,
    Bound.WHOLE: _WHOLE,
    Bound.CALLS: AllowedInterval(least=_ONE, most=Fraction(10_000), is_whole=True),
}
