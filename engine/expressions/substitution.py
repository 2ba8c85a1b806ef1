"""Values put in for symbols, in each part of a formula once, however often it occurs."""

from __future__ import annotations

from collections.abc import Mapping

from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula, apply


class Substitution:
    """Puts formulas in for parts of formulas; it remembers its results."""

    def __init__(self, values: Mapping[Formula, Formula]) -> None:
        self._known: dict[Formula, Formula] = dict(values)

    def __call__(self, formula: Formula) -> Formula:
        """Return a formula with the values put in."""
        known = self._known
        if formula in known:
            return known[formula]
        for part in parts_first(formula, known=known):
            operands = tuple(known[operand] for operand in part.operands)
            known[part] = remade(part, operands) if operands else part
        return known[formula]


def substituted(formula: Formula, values: Mapping[Formula, Formula]) -> Formula:
    """Return a formula with values put in for some of its parts."""
    return Substitution(values)(formula)


def remade(part: Formula, operands: tuple[Formula, ...]) -> Formula:
    """Return the operation of a formula on other operands."""
    return part if operands == part.operands else apply(part.word, *operands)
