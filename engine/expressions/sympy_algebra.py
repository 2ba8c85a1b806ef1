"""Algebra on demand: formulas as sympy's expressions, where nothing of ours decides.

Nothing that a plain answer needs comes here: sympy takes longer to import than most specs to solve.
"""

from __future__ import annotations

from itertools import islice

import sympy

from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import UNDEFINED, Formula
from qps.engine.operations import OPERATIONS


def to_sympy(formula: Formula) -> sympy.Expr:
    """Return a formula as sympy's: of real symbols, and a population that is a whole number."""
    known: dict[Formula, sympy.Expr] = {}
    for part in parts_first(formula):
        known[part] = (
            OPERATIONS[part.word].in_sympy(*(known[o] for o in part.operands))
            if part.operands
            else _leaf(part)
        )
    return known[formula]


def _leaf(leaf: Formula) -> sympy.Expr:
    if leaf.is_symbol:
        if leaf.is_population:
            return sympy.Symbol(leaf.name, integer=True, positive=True)
        return sympy.Symbol(leaf.name, real=True)
    value = leaf.exact
    if value is not None:
        return sympy.Rational(value.numerator, value.denominator)
    if leaf is UNDEFINED:
        return sympy.nan
    return sympy.oo if leaf.value == float("inf") else -sympy.oo


_MOST_PARTS = 64
_HIGHEST_POWER = 8
_MOST_ALGEBRAIC = 16
"""Parts, and powers, beyond which a number is not written in another form to find its sign."""
_LONG = 1 << 96
"""Whole numbers from here on take too long to be taken apart into primes."""


def _is_log_of_long(part: sympy.Basic) -> bool:
    if not (isinstance(part, sympy.log) and part.args[0].is_Rational):
        return False
    return bool(max(abs(part.args[0].p), part.args[0].q) >= _LONG)


def is_zero(constant: Formula) -> bool:
    """Return whether a formula without symbols is zero; False where that is not known."""
    number = to_sympy(constant)
    parts = list(islice(sympy.preorder_traversal(number), _MOST_PARTS + 1))
    powers = (part.exp for part in parts if part.is_Pow and part.exp.is_Integer)
    if len(parts) > _MOST_PARTS or any(abs(power) > _HIGHEST_POWER for power in powers):
        return False
    written_out = number.expand(factor=not any(map(_is_log_of_long, parts)))
    if written_out.is_zero:
        return True
    parts = list(islice(sympy.preorder_traversal(written_out), _MOST_ALGEBRAIC + 1))
    if len(parts) > _MOST_ALGEBRAIC or not written_out.is_algebraic:
        return False
    return bool(sympy.minimal_polynomial(written_out).is_Symbol)
