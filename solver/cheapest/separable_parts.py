"""Formulas of several choices, as functions of parts that each depend on one choice alone.

What a choice contributes to a cost, a utilization or a stage of a response time depends on nothing
else that is chosen. So all options of a choice are compared by a few numbers, computed once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula, apply, symbol
from qps.engine.operations import OPERATIONS


@dataclass(frozen=True, kw_only=True)
class ChoicePart:
    """A part that depends on one choice, and the symbol that stands for it."""

    axis: int
    part: Formula
    symbol: Formula


@dataclass(kw_only=True)
class SeparableParts:
    """Separates formulas; `axis_of` has the choice on which each symbol depends.

    Parts have names of their own where their `prefix` is.
    """

    axis_of: Mapping[Formula, int]
    prefix: str = "part"
    parts: dict[Formula, ChoicePart] = field(default_factory=dict)
    _separated: dict[Formula, Formula] = field(default_factory=dict)
    _axes: dict[Formula, frozenset[int]] = field(default_factory=dict)

    def separated(self, formula: Formula) -> Formula:
        """Return a formula in which parts that depend on one choice are symbols."""
        for part in parts_first(formula, known=self._axes):
            own = self.axis_of.get(part)
            found = frozenset(() if own is None else (own,))
            self._axes[part] = found.union(*(self._axes[operand] for operand in part.operands))
        for part in parts_first(formula, known=self._separated):
            if len(self._axes[part]) > 1:
                row = OPERATIONS.get(part.word)
                joins = row is not None and row.takes_more
                operands = self._grouped(part) if joins else map(self._standing, part.operands)
                self._separated[part] = apply(part.word, *operands)
        return self._standing(formula)

    def _standing(self, part: Formula) -> Formula:
        """Return what stands for a part: itself where nothing in it is chosen."""
        axes = self._axes[part]
        if not axes:
            return part
        return self._symbol_of(part, *axes) if len(axes) == 1 else self._separated[part]

    def _grouped(self, part: Formula) -> list[Formula]:
        """Return the operands of a sum, a product or an extreme, those of one choice as one."""
        together: dict[int, list[Formula]] = {}
        others = []
        for operand in part.operands:
            axes = self._axes[operand]
            if len(axes) == 1:
                (axis,) = axes
                together.setdefault(axis, []).append(operand)
            else:
                others.append(self._standing(operand))
        for axis, own in together.items():
            joined = apply(part.word, *own) if len(own) > 1 else own[0]
            others.append(self._symbol_of(joined, axis))
        return others

    def _symbol_of(self, part: Formula, axis: int) -> Formula:
        known = self.parts.get(part)
        if known is None:
            name = symbol(f"{self.prefix} {len(self.parts) + 1}")
            known = self.parts[part] = ChoicePart(axis=axis, part=part, symbol=name)
        return known.symbol
