"""Formulas as piecewise rational functions of the population, where they are such.

They are put together from the functions of their parts, each part once, however often it occurs:
with a load inside every latency and loss, choosing alternatives in the whole formula, one maximum
after the other, takes time that multiplies with each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from weakref import WeakKeyDictionary

from qps.engine import pieces
from qps.engine.erlang import erlang_c_expanded
from qps.engine.formulas import (
    MAXIMUM,
    MINIMUM,
    POWER,
    PRODUCT,
    SUM,
    Formula,
    parts_first,
    whole_exponent,
)
from qps.engine.pieces import Piecewise
from qps.engine.rational_functions import VARIABLE, RationalFunction
from qps.engine.real_roots import IntractableError

_RULES: dict[str, Callable[[Sequence[Piecewise]], Piecewise]] = {
    SUM: pieces.total,
    PRODUCT: pieces.product,
    MAXIMUM: pieces.largest,
    MINIMUM: pieces.smallest,
    "abs": lambda parts: pieces.absolute(*parts),
    "waiting": lambda parts: pieces.waiting(*parts),
    "ratio": lambda parts: pieces.product([parts[0], pieces.raised(parts[1], -1)]),
    "mean": lambda parts: pieces.product([parts[0], pieces.raised(parts[1], -1)]),
}


def piecewise(
    expr: Formula, population: Formula, low: Fraction, high: Fraction | None
) -> Piecewise | None:
    """Return a formula in the population alone on [low, high]; `high` None means no bound.

    None where it is not made of rational functions, maxima, minima and absolute values, where
    it divides by zero on a whole stretch, or where its degree is too high.
    """
    known = _known(population, low, high)
    parts = parts_first(expr, known=known)
    if not all(_may_be_one(part, population) for part in parts):
        return None
    for part in parts:
        if any(known[operand] is None for operand in part.operands):
            return None
        try:
            known[part] = _made(part, population, (low, high), known)
        except IntractableError:
            known[part] = None
    return known[expr]


_Known = WeakKeyDictionary[Formula, Piecewise | None]


@lru_cache(maxsize=64)
def _known(_population: Formula, _low: Fraction, _high: Fraction | None) -> _Known:
    """Return what is known on a range of the parts of formulas."""
    return WeakKeyDictionary()


def _may_be_one(part: Formula, population: Formula) -> bool:
    if part.exact is not None or part is population or part.word in _RULES:
        return True
    return whole_exponent(part) is not None or part.word == "erlang_c"


def _made(
    part: Formula, population: Formula, ends: tuple[Fraction, Fraction | None], known: _Known
) -> Piecewise | None:
    if part is population:
        return pieces.everywhere(VARIABLE, *ends)
    value = part.exact
    if value is not None:
        return pieces.everywhere(RationalFunction.constant(value), *ends)
    if part.word == "erlang_c":
        expanded = erlang_c_expanded(*part.operands)
        return None if expanded is None else piecewise(expanded, population, *ends)
    operands = [one for operand in part.operands if (one := known[operand]) is not None]
    if part.word == POWER:
        exponent = whole_exponent(part)
        return None if exponent is None else pieces.raised(operands[0], exponent)
    return _RULES[part.word](operands)
