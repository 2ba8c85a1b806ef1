"""What a number may be that is not known: its distribution, exact, in base units."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from math import exp, hypot
from statistics import NormalDist

from msgspec import Struct

from qps.compiler.measurement.student_t import student_quantile

NORMAL_SIDE = Fraction(NormalDist().inv_cdf(0.975))
"""Standard deviations on each side of a normal distribution that hold 95 % of it."""


class Distribution(Struct, frozen=True, tag=True):
    """How likely each value of a number is that nobody knows; `typical` is what answers rest on."""

    @property
    @abstractmethod
    def typical(self) -> Fraction:
        """The value where one is wanted: the median, or the likeliest of few."""

    @property
    @abstractmethod
    def ends(self) -> tuple[Fraction, Fraction]:
        """Between which two values 95 % of it lie; all of it, where it ends."""

    @property
    def dimensions(self) -> int:
        """By how many independent numbers it is drawn, each evenly between 0 and 1."""
        return 1


class Normal(Distribution, frozen=True):
    """A normal distribution: its mean and its standard deviation."""

    mean: Fraction
    deviation: Fraction

    @property
    def typical(self) -> Fraction:
        """The mean."""
        return self.mean

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """As far from the mean to both sides."""
        return self.mean - NORMAL_SIDE * self.deviation, self.mean + NORMAL_SIDE * self.deviation


class Lognormal(Distribution, frozen=True):
    """The logarithm is normal: the median, and the standard deviation of the logarithm."""

    median: Fraction
    log_deviation: Fraction

    @property
    def typical(self) -> Fraction:
        """The median."""
        return self.median

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """By as large a factor from the median to both sides."""
        factor = Fraction(exp(NORMAL_SIDE * self.log_deviation))
        return self.median / factor, self.median * factor


class Uniform(Distribution, frozen=True):
    """Any value between two is as likely."""

    low: Fraction
    high: Fraction

    @property
    def typical(self) -> Fraction:
        """The middle."""
        return (self.low + self.high) / 2

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """All of it."""
        return self.low, self.high


class Triangular(Distribution, frozen=True):
    """Between two ends, and the likeliest value."""

    low: Fraction
    likeliest: Fraction
    high: Fraction

    @property
    def typical(self) -> Fraction:
        """The likeliest value."""
        return self.likeliest

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """All of it."""
        return self.low, self.high


class Weighted(Distribution, frozen=True):
    """One of several values, in rising order, each with its probability."""

    values: tuple[Fraction, ...]
    probabilities: tuple[Fraction, ...]

    @property
    def typical(self) -> Fraction:
        """The likeliest, the least of those that are as likely."""
        likeliest = max(self.probabilities)
        return self.values[self.probabilities.index(likeliest)]

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """All of it."""
        return self.values[0], self.values[-1]


class Sampled(Distribution, frozen=True):
    """One of the values that were measured, in rising order, each as likely."""

    values: tuple[Fraction, ...]

    @property
    def typical(self) -> Fraction:
        """The median: of an even number of values, the lower of the two in the middle."""
        return self.values[(len(self.values) - 1) // 2]

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """All of it."""
        return self.values[0], self.values[-1]


class Fitted(Distribution, frozen=True, kw_only=True):
    """One of the numbers that were fitted to a table: they are drawn together.

    Together they have a multivariate t distribution: each is its `mean` and so many (`weights`) of
    numbers that are standard normal, all of these over one root of chi-squared over `freedom`.
    `table` says which are drawn together. In one more run all of them are off once more, by one
    factor: `noise` is its standard deviation. One that `is_shape` says how a cost changes, not how
    large it is: it may be below zero, and has no such factor.
    """

    mean: Fraction
    weights: tuple[float, ...]
    freedom: int
    table: str
    noise: float = 0.0
    is_shape: bool = False

    @property
    def typical(self) -> Fraction:
        """What fits best."""
        return self.mean

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """As far from what fits best to both sides."""
        half = Fraction(student_quantile(0.975, self.freedom) * hypot(*self.weights))
        return self.mean - half, self.mean + half

    @property
    def dimensions(self) -> int:
        """A normal number for each weight, and the one that all are divided by."""
        return len(self.weights) + 1
