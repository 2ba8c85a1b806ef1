"""Rational functions of one variable over the fractions, exact and in lowest terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from flint import fmpq, fmpq_poly

from qps.engine.exact_algebra.real_roots import IntractableError

HIGHEST_DEGREE = 100
"""Roots of polynomials of a higher degree take long: what has it is searched by bounds."""

_ONE = fmpq_poly([1])
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class RationalFunction:
    """A quotient of polynomials in lowest terms; the divisor's first coefficient is 1.

    >>> (VARIABLE * VARIABLE + VARIABLE) / VARIABLE
    x + 1
    """

    numerator: fmpq_poly
    denominator: fmpq_poly

    @staticmethod
    def constant(value: Fraction | int) -> RationalFunction:
        """Return the function that is one number everywhere."""
        return RationalFunction(fmpq_poly([fmpq(value.numerator, value.denominator)]), _ONE)

    @property
    def degree(self) -> int:
        """The higher one of the two degrees."""
        return max(0, self.numerator.degree(), self.denominator.degree())

    @property
    def is_zero(self) -> bool:
        """Whether it is zero everywhere."""
        return not self.numerator

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RationalFunction)
            and self.numerator == other.numerator
            and self.denominator == other.denominator
        )

    def __hash__(self) -> int:
        # flint's polynomials have no hash of their own; few functions of a model agree in these.
        above, below = self.numerator.numer(), self.denominator.numer()
        return hash((len(above), len(below), int(above[0]), int(above[1]), int(below[0])))

    def __repr__(self) -> str:
        above, below = (str(part) for part in (self.numerator, self.denominator))
        return above if below == "1" else f"({above})/({below})"

    def __neg__(self) -> RationalFunction:
        return RationalFunction(-self.numerator, self.denominator)

    def __add__(self, other: RationalFunction) -> RationalFunction:
        # Divisors of sums that have nothing in common are in lowest terms as they stand: Henrici.
        one, two = self.denominator, other.denominator
        if one.degree() == 0 or two.degree() == 0:
            above = self.numerator * two + other.numerator * one
            return RationalFunction(above, one * two)
        common = one if one == two else one.gcd(two)
        if common.degree() == 0:
            above = self.numerator * two + other.numerator * one
            return RationalFunction(above, one * two)
        rest = one // common
        above = self.numerator * (two // common) + other.numerator * rest
        again = above.gcd(common)
        return RationalFunction(above // again, rest * (two // again))

    def __sub__(self, other: RationalFunction) -> RationalFunction:
        return self + -other

    def __mul__(self, other: RationalFunction) -> RationalFunction:
        first = self.numerator.gcd(other.denominator)
        second = other.numerator.gcd(self.denominator)
        return RationalFunction(
            (self.numerator // first) * (other.numerator // second),
            (self.denominator // second) * (other.denominator // first),
        )

    def __truediv__(self, other: RationalFunction) -> RationalFunction:
        """Divide; ZeroDivisionError where the other one is zero everywhere."""
        return self * other._inverse()

    def __pow__(self, exponent: int) -> RationalFunction:
        """Return a whole power; ZeroDivisionError for a negative one of zero."""
        base = self._inverse() if exponent < 0 else self
        return RationalFunction(base.numerator ** abs(exponent), base.denominator ** abs(exponent))

    def _inverse(self) -> RationalFunction:
        if self.is_zero:
            raise ZeroDivisionError
        first = self.numerator.leading_coefficient()
        return RationalFunction(self.denominator / first, self.numerator / first)

    def at(self, point: Fraction) -> Fraction | None:
        """Return the value at a point, None at a pole."""
        where = fmpq(point.numerator, point.denominator)
        below = self.denominator(where)
        if below == 0:
            return None
        value = self.numerator(where) / below
        return Fraction(int(value.p), int(value.q))


def total(functions: Iterable[RationalFunction]) -> RationalFunction:
    """Return a sum; IntractableError where its degree is too high."""
    running = RunningTotal()
    for function in functions:
        running.add(function)
    return running.value()


class RunningTotal:
    """A sum to which functions are added, and from which they are taken off again.

    What has one divisor is summed up first, the others in pairs, pairs of pairs, and so on; a sum
    of more poles than the highest degree, which differ, is not begun.
    """

    def __init__(self) -> None:
        self._by_divisor: dict[RationalFunction, RationalFunction] = {}

    def add(self, function: RationalFunction) -> None:
        """Add a function to the sum."""
        divisor = RationalFunction(function.denominator, _ONE)
        known = self._by_divisor.get(divisor)
        self._by_divisor[divisor] = function if known is None else known + function

    def value(self) -> RationalFunction:
        """Return the sum; IntractableError where its degree is too high."""
        parts = [part for part in self._by_divisor.values() if not part.is_zero]
        if sum(part.denominator.degree() == 1 for part in parts) > HIGHEST_DEGREE:
            raise IntractableError
        return in_pairs(parts, lambda one, other: _cached(one + other)) if parts else ZERO


def product(functions: Iterable[RationalFunction]) -> RationalFunction:
    """Return a product; IntractableError where its degree is too high."""
    return in_pairs([ONE, *functions], lambda one, other: _cached(one * other))


def raised(base: RationalFunction, exponent: int) -> RationalFunction:
    """Return a whole power; IntractableError where its degree is too high, or there is none."""
    if abs(exponent) * base.degree > HIGHEST_DEGREE or (exponent < 0 and base.is_zero):
        raise IntractableError
    return base**exponent


def in_pairs(parts: Sequence[_T], join: Callable[[_T, _T], _T]) -> _T:
    """Return what an operation makes of several, in pairs, pairs of pairs, and so on."""
    while len(parts) > 1:
        odd = parts[len(parts) & ~1 :]
        parts = [*map(join, parts[::2], parts[1::2]), *odd]
    return parts[0]


def _cached(function: RationalFunction) -> RationalFunction:
    if function.degree > HIGHEST_DEGREE:
        raise IntractableError
    return function


ZERO, ONE = RationalFunction.constant(0), RationalFunction.constant(1)
VARIABLE = RationalFunction(fmpq_poly([0, 1]), _ONE)
