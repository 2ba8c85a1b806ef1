"""How likely differences are by chance, where two numbers that differ are both uncertain."""

from __future__ import annotations

from math import isfinite, sqrt

from flint import arb
from msgspec import Struct

from qps.compiler.measurement.student_t import student_quantile

_NOTHING = 1e-9
_MANY = 1e6


class MeanDifference(Struct, frozen=True):
    """A difference with its variance, the degrees of freedom of that, and a size to compare with.

    Each of the two that differ has a variance that is known by degrees of its own, None for many
    (B. L. Welch, The generalization of Student's problem, Biometrika 34, 1947).
    """

    moved: float
    scale: float
    before: tuple[float, int | None]
    after: tuple[float, int | None]

    @property
    def error(self) -> float:
        """The standard deviation of it."""
        return sqrt(max(0.0, self.before[0] + self.after[0]))

    @property
    def freedom(self) -> float:
        """The degrees of freedom of that."""
        parts = [(one, freedom) for one, freedom in (self.before, self.after) if freedom]
        spent = sum(one * one / freedom for one, freedom in parts)
        return min(_MANY, max(1.0, self.error**4 / spent)) if spent > 0 else _MANY

    @property
    def by_chance(self) -> float:
        """How likely one as large is where nothing moved."""
        if self.error == 0:
            return 1.0 if abs(self.moved) <= _NOTHING * self.scale else 0.0
        return t_chance(self.moved / self.error, self.freedom)

    def half_width(self, confidence: float) -> float:
        """Return that of the interval which holds the truth so often."""
        freedom = int(self.freedom + _NOTHING)  # a whole number may have been rounded down
        return student_quantile((1 + confidence) / 2, freedom) * self.error


def t_chance(t: float, freedom: float) -> float:
    """Return how likely a value of Student's distribution is farther from zero than one.

    >>> round(t_chance(4.302653, 2), 6)
    0.05
    """
    return _beta(freedom / (freedom + t * t), freedom / 2, 0.5) if isfinite(t) else 0.0


def f_chance(value: float, above: float, below: float) -> float:
    """Return how likely a value of the F distribution is larger than one.

    >>> round(f_chance(3.708265, 3, 10), 6)
    0.05
    """
    if not isfinite(value):
        return 0.0
    return _beta(below / (below + above * max(0.0, value)), below / 2, above / 2)


def _beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function (Abramowitz and Stegun, 26.5)."""
    found = float(arb(x).beta_lower(arb(a), arb(b), regularized=True).mid())
    return min(1.0, max(0.0, found))
