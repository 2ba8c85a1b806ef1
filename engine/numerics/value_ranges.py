"""Ranges: between which ends a value lies, whatever is not known."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

End = Fraction | float
"""A fraction or an infinity."""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """What lies between two ends."""

    low: End = -inf
    high: End = inf

    @property
    def below(self) -> bool:
        """Whether there may be values below zero."""
        return self.low < 0

    @property
    def above(self) -> bool:
        """Whether there may be values above zero."""
        return self.high > 0

    @property
    def whole(self) -> int | None:
        """The whole number that it surely is."""
        is_one = self.low == self.high and isinstance(self.low, Fraction)
        return int(self.low) if is_one and self.low == int(self.low) else None


ANY = ValueRange()
NOT_NEGATIVE = ValueRange(Fraction(0), inf)
NOT_POSITIVE = ValueRange(-inf, Fraction(0))
