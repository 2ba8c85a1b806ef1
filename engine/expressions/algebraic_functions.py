"""Formulas as rational functions of the population, or piecewise such, where they are.

They are put together from the functions of their parts, each part once, however often it occurs:
with a load inside every latency and loss, choosing alternatives in the whole formula, one maximum
after the other, takes time that multiplies with each of them. What an operation makes of functions
stands in the table (`evaluators/on_functions`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

from qps.engine.evaluators.on_functions import Algebra, T
from qps.engine.exact_algebra import piecewise as pieces
from qps.engine.exact_algebra import rational_functions
from qps.engine.exact_algebra.piecewise import Piecewise
from qps.engine.exact_algebra.rational_functions import VARIABLE, RationalFunction
from qps.engine.exact_algebra.real_roots import IntractableError
from qps.engine.expressions.formula_parts import parts_first, whole_exponent
from qps.engine.expressions.formulas import Formula
from qps.engine.operations import OPERATIONS, POWER


def as_rational_function(expr: Formula, population: Formula) -> RationalFunction | None:
    """Return a formula in the population alone as a rational function.

    None if it is none, or one of so high a degree that it is not treated as one.

    >>> from qps.engine.expressions.formulas import population, square_root
    >>> n = population("N")
    >>> as_rational_function(n * (n + 1) / 6 + 1 / n, n)
    (1/6*x^3 + 1/6*x^2 + 1)/(x)
    >>> as_rational_function(square_root(n), n) is None
    True
    """
    return _function(expr, population, _rational(population))


def piecewise(
    expr: Formula, population: Formula, low: Fraction, high: Fraction | None
) -> Piecewise | None:
    """Return a formula in the population alone on [low, high]; `high` None means no bound.

    None where it is not made of rational functions, maxima, minima and absolute values, where
    it divides by zero on a whole stretch, or where its degree is too high.
    """
    return _function(expr, population, _in_pieces(population, low, high))


def is_algebraic(part: Formula) -> bool:
    """Return whether an operation is one on such functions, or may be: of few servers alone."""
    is_one = part.word != POWER or whole_exponent(part) is not None
    return is_one and OPERATIONS[part.word].function is not None


def _function(expr: Formula, population: Formula, algebra: Algebra[T]) -> T | None:
    known = algebra.known
    parts = parts_first(expr, known=known)
    plain = [part for part in parts if part.exact is None and part is not population]
    if not all(part.operands and is_algebraic(part) for part in plain):
        return None
    for part in parts:
        known[part] = _build(part, population, algebra)
        if known[part] is None:
            return None
    return known[expr]


def _build(part: Formula, population: Formula, algebra: Algebra[T]) -> T | None:
    if part is population:
        return algebra.variable
    value = part.exact
    if value is not None:
        return algebra.constant(value)
    operands = [one for o in part.operands if (one := algebra.known[o]) is not None]
    function = OPERATIONS[part.word].function
    if function is None or len(operands) < len(part.operands):
        return None
    try:
        found: T = function(algebra, *operands)
    except IntractableError:
        return None
    return found


def _none(*_functions: object) -> NoReturn:
    raise IntractableError


@lru_cache(maxsize=8)
def _rational(_population: Formula) -> Algebra[RationalFunction]:
    return Algebra(
        variable=VARIABLE,
        constant=RationalFunction.constant,
        value=_value,
        total=rational_functions.total,
        product=rational_functions.product,
        raised=rational_functions.raised,
        largest=_none,
        smallest=_none,
        waiting=_none,
    )


@lru_cache(maxsize=64)
def _in_pieces(_population: Formula, low: Fraction, high: Fraction | None) -> Algebra[Piecewise]:
    return Algebra(
        variable=pieces.everywhere(VARIABLE, low, high),
        constant=lambda value: pieces.everywhere(RationalFunction.constant(value), low, high),
        value=lambda whole: None if len(whole.pieces) > 1 else _value(whole.pieces[0].function),
        total=pieces.total,
        product=pieces.product,
        raised=pieces.raised,
        largest=pieces.largest,
        smallest=pieces.smallest,
        waiting=pieces.waiting,
    )


def _value(function: RationalFunction | None) -> Fraction | None:
    return None if function is None or function.degree else function.at(Fraction(0))
