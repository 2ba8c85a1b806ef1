"""Formulas as rational functions of the population, where they are such."""

from __future__ import annotations

from functools import lru_cache
from weakref import WeakKeyDictionary

from qps.engine.erlang import erlang_c_expanded
from qps.engine.formulas import PRODUCT, SUM, Formula, parts_first, whole_exponent
from qps.engine.rational_functions import VARIABLE, RationalFunction, product, raised, total
from qps.engine.real_roots import IntractableError


def as_rational_function(expr: Formula, population: Formula) -> RationalFunction | None:
    """Return a formula in the population alone as a rational function.

    None if it is none, or one of so high a degree that it is not treated as one.

    >>> n = population("N")
    >>> as_rational_function(n * (n - 1) / 6 + 1 / n, n)
    (1/6*x^3 - 1/6*x^2 + 1)/(x)
    >>> as_rational_function(square_root(n), n) is None
    True
    """
    known = _known(population)
    for part in parts_first(expr):
        if part not in known:
            try:
                known[part] = _function(part, population, known)
            except (IntractableError, ZeroDivisionError):
                known[part] = None
        if known[part] is None:
            return None
    return known[expr]


_Functions = WeakKeyDictionary[Formula, RationalFunction | None]


@lru_cache(maxsize=8)
def _known(_population: Formula) -> _Functions:
    """Return what is known of the parts of formulas."""
    return WeakKeyDictionary()


def _function(part: Formula, population: Formula, known: _Functions) -> RationalFunction | None:
    if part is population:
        return VARIABLE
    value = part.exact
    if value is not None:
        return RationalFunction.constant(value)
    if part.word == "erlang_c":
        expanded = erlang_c_expanded(*part.operands)
        return None if expanded is None else as_rational_function(expanded, population)
    functions = [function for o in part.operands if (function := known[o]) is not None]
    exponent = whole_exponent(part)
    if exponent is not None:
        return raised(functions[0], exponent)
    if part.word == SUM:
        return total(functions)
    if part.word == PRODUCT:
        return product(functions)
    if part.word in ("ratio", "mean"):
        return product([functions[0], raised(functions[1], -1)])
    return None
