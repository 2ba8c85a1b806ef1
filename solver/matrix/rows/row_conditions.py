"""Conditions on the rows of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qps.compiler import ir
from qps.solver.matrix.compilation.compiled_matrix import CompiledGroup, CompiledMatrix
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints
from qps.solver.matrix.rows.exact_decisions import Index
from qps.solver.matrix.rows.row_block import RowBlock

_ALIKE = 1e-12
"""Sides of a comparison that differ by less, as a part of them, are equal but for rounding."""


@dataclass(kw_only=True)
class ConditionRows:
    """Tells for rows of one structure whether conditions hold."""

    compiled: CompiledMatrix
    group: CompiledGroup
    block: int
    index: Index
    count: int
    sides: dict[ir.Compare, tuple[Floats, Floats]]
    words: dict[str, Ints] = field(default_factory=dict)
    texts: Sequence[str] = ()

    def of(self, condition: ir.Condition) -> Bools:
        """Return for each row whether a condition is true."""
        found: Bools = np.asarray(self._of(condition), dtype=bool)
        return found

    def _of(self, condition: ir.Condition) -> Any:
        match condition:
            case ir.Compare(operator):
                return compared(operator, *self.sides[condition])
            case ir.AllOf(parts):
                return np.logical_and.reduce([self.of(part) for part in parts])
            case ir.AnyOf(parts):
                return np.logical_or.reduce([self.of(part) for part in parts])
            case ir.Negated(inner):
                return ~self.of(inner)
            case ir.OptionIs(option, choice):
                return np.full(self.count, self.group.options[option] == choice)
            case ir.RowIs(column, value):
                return self._is(column, value)

    def _is(self, column: str, value: str) -> Any:
        """Return where a column holds a word."""
        if column in self.words and column not in self.group.places:
            return np.array([text == value for text in self.texts])[self.words[column]]
        if column == "mode":
            modes = [mode.name == value for mode in self.compiled.model.modes]
            return np.array(modes)[self.words["#mode"]]
        if column == "scenario":
            return np.full(self.count, self.group.scenario == value)
        return np.full(self.count, self.group.places[column] == value)


def compared(operator: str, left: Floats, right: Floats) -> Any:
    """Return where a comparison holds; nothing holds of what has no value."""
    known = ~(np.isnan(left) | np.isnan(right))
    with np.errstate(all="ignore"):
        # What has no end is like nothing but itself.
        alike = (left == right) | (
            np.isfinite(left - right)
            & (np.abs(left - right) <= _ALIKE * np.maximum(abs(left), abs(right)))
        )
    alike &= known
    match operator:
        case "<":
            return known & (left < right) & ~alike
        case "<=":
            return known & ((left < right) | alike)
        case ">":
            return known & (left > right) & ~alike
        case ">=":
            return known & ((left > right) | alike)
        case "==":
            return alike
    return known & ~alike


def condition_rows(rows: RowBlock, condition: ir.Condition) -> Bools:
    """Return for which rows a condition holds."""
    found = np.zeros(rows.count, dtype=bool)
    block = rows.compiled.blocks[rows.block]
    words = {"limited_by": rows.limited, "bottleneck": rows.bottleneck, "#mode": rows.mode}
    for number in np.unique(rows.group):
        chosen = np.flatnonzero(rows.group == number)
        sides = {
            compare: (left[chosen], right[chosen])
            for compare, (left, right) in zip(
                rows.compiled.question.comparisons, rows.comparisons, strict=True
            )
        }
        truth = ConditionRows(
            compiled=rows.compiled,
            group=block.groups[int(number)],
            block=rows.block,
            index=tuple(axis[chosen] for axis in rows.index),
            count=chosen.size,
            sides=sides,
            words={name: values[chosen] for name, values in words.items()},
            texts=rows.words,
        )
        found[chosen] = truth.of(condition)
    return found
