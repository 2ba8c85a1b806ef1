"""Arithmetic on exact values: fractions and infinities, and what refuses the others."""

from __future__ import annotations

from fractions import Fraction
from math import ceil as rounded_up
from math import floor as rounded_down
from math import inf

from qps.engine.exact_algebra.exact_powers import exact_power
from qps.engine.exact_algebra.exact_values import Exact, InexactError, NoValueError

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)


def finite(value: Exact) -> Fraction:
    """Return a fraction; InexactError for an infinity."""
    if isinstance(value, float):
        raise InexactError
    return value


def _known(value: float) -> float:
    """Return an infinity; NoValueError for not-a-number."""
    if value != value:  # noqa: PLR0124 - not-a-number is the only one that is not itself
        raise NoValueError
    return value


def _sign(value: Exact) -> float:
    return float((value > 0) - (value < 0))


def refuse(is_outside: bool, *why: str) -> None:  # noqa: FBT001 - states the condition
    """Raise NoValueError where operands lie outside of what there is a value for."""
    if is_outside:
        raise NoValueError(*why)


def only_at(value: Exact, at: Fraction, found: Fraction) -> Fraction:
    """Return a value that is a fraction at one place alone; InexactError elsewhere."""
    if value != at:
        raise InexactError
    return found


def total(*parts: Exact) -> Exact:
    """Return a sum."""
    by_divisor: dict[int, int] = {}
    for part in parts:
        if isinstance(part, float):
            return _known(sum(one for one in parts if isinstance(one, float)))
        below = part.denominator
        by_divisor[below] = by_divisor.get(below, 0) + part.numerator
    if len(by_divisor) == len(parts):
        return sum(parts, ZERO)
    # What has one divisor is summed up first: it is brought to its lowest terms once.
    return sum((Fraction(above, below) for below, above in by_divisor.items()), ZERO)


def product(*parts: Exact) -> Exact:
    """Return a product; nothing times infinity has no value."""
    above = below = 1
    for part in parts:
        if isinstance(part, float):
            return _without_end(parts)
        above *= part.numerator
        below *= part.denominator
    return Fraction(above, below)  # brought to its lowest terms once, not at each factor


def _without_end(parts: tuple[Exact, ...]) -> float:
    """Return a product in which there are infinities."""
    sign = 1.0
    for part in parts:
        sign *= part if isinstance(part, float) else _sign(part)
    return _known(sign)


def raised(base: Exact, exponent: Exact) -> Exact:
    """Return a power; TooLongError where it has too many digits."""
    if isinstance(exponent, float):
        return _raised_without_end(base, exponent)
    if isinstance(base, float):
        refuse(base < 0 and exponent.denominator != 1)
        if exponent <= 0:
            return ONE if exponent == 0 else ZERO
        return base if exponent.numerator % 2 else inf
    refuse(base == 0 and exponent < 0, "divides by zero")
    refuse(base < 0 and exponent.denominator != 1, "is a root of a negative number")
    found = exact_power(base, exponent)
    if found is None:
        raise InexactError
    assert isinstance(found, Fraction)
    return found


def _raised_without_end(base: Exact, exponent: float) -> Exact:
    """Return a power whose exponent is infinite."""
    if base == 1:
        return ONE
    refuse(base < 0 or (base == 0 and exponent < 0))
    return inf if (base > 1) == (exponent > 0) else ZERO


def ratio(above: Exact, below: Exact) -> Exact:
    """Return a quotient that is infinite where its divisor vanishes."""
    if below == 0:
        return inf
    if isinstance(below, float):
        refuse(isinstance(above, float))
        return ZERO
    return above / below if isinstance(above, Fraction) else above * _sign(below)


def mean(above: Exact, below: Exact) -> Exact:
    """Return a quotient that is 0 where its divisor vanishes."""
    return ratio(above, below) if below != 0 else ZERO


def waiting(work: Exact, load: Exact) -> Exact:
    """Return work/(1 - load), infinite from load 1 on."""
    return inf if load >= 1 else ratio(work, total(ONE, product(Fraction(-1), load)))


def maximum(*parts: Exact) -> Exact:
    """Return the largest."""
    return max(parts)


def minimum(*parts: Exact) -> Exact:
    """Return the smallest."""
    return min(parts)


def absolute(value: Exact) -> Exact:
    """Return a size without its sign."""
    return max(value, -value)


def floor(value: Exact) -> Exact:
    """Return a value rounded down."""
    return value if isinstance(value, float) else Fraction(rounded_down(value))


def ceiling(value: Exact) -> Exact:
    """Return a value rounded up."""
    return value if isinstance(value, float) else Fraction(rounded_up(value))
