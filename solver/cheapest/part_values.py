"""What each option of a choice comes to in a part of a formula, and bounds of formulas in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.expressions.formulas import Formula, symbol
from qps.solver.search.box_arrays import BoxArrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class PartValues:
    """Bounds of a part for each option that is left of its choice."""

    axis: int
    symbol: Formula
    low: Floats
    high: Floats

    def take(self, options: Ints) -> PartValues:
        """Return the values of some options."""
        return PartValues(
            axis=self.axis, symbol=self.symbol, low=self.low[options], high=self.high[options]
        )


class LeastBetween:
    """The least of the numbers between two places, from a table of powers of two.

    Of rows of numbers, the least of each column.
    """

    def __init__(self, numbers: Floats) -> None:
        levels, width = [numbers], 1
        while 2 * width <= numbers.shape[0]:
            levels.append(np.minimum(levels[-1][:-width], levels[-1][width:]))
            width *= 2
        self._table = np.full((len(levels), *numbers.shape), np.inf)
        for level, row in enumerate(levels):
            self._table[level, : row.shape[0]] = row

    def between(self, start: Ints, end: Ints) -> Floats:
        """Return the least of those from each start to its end."""
        level = np.frexp((end - start + 1).astype(float))[1] - 1
        least: Floats = np.minimum(
            self._table[level, start], self._table[level, end - (1 << level) + 1]
        )
        return least


KnownArrays = dict[tuple[Formula, ...], BoxArrays]
"""Formulas that were turned into arrays before, each always with the same parts."""

_NOTHING = symbol("no part")
"""What formulas without parts are bounded over."""
_TOGETHER = 1 << 10
"""Boxes that are bounded at a time."""


class BoundedFormulas:
    """Some formulas in parts, bounded over boxes of options: what they share is bounded once."""

    def __init__(
        self,
        formulas: Sequence[Formula],
        parts: Sequence[PartValues],
        known: KnownArrays | None = None,
    ) -> None:
        key = tuple(formulas)
        symbols = frozenset[Formula]().union(*(one.symbols for one in key))
        self.parts = [one for one in parts if one.symbol in symbols]
        found = None if known is None else known.get(key)
        if found is None:
            inputs = [one.symbol for one in self.parts] or [_NOTHING]
            found = BoxArrays(key[0], *inputs, others=key[1:])
            if known is not None:
                known[key] = found
        self._arrays = found

    @property
    def axes(self) -> set[int]:
        """The axes on which they depend."""
        return {one.axis for one in self.parts}

    def bounds_of_each(self, ends: Sequence[tuple[Floats, Floats]], count: int) -> list[Bounds]:
        """Return bounds of each formula over so many boxes, between the ends of each part."""
        if not ends:
            ends = [(np.zeros(count), np.zeros(count))]
        blocks = range(0, count, _TOGETHER)
        found = [
            self._arrays.bounds_of_each(
                *(Bounds(low[at : at + _TOGETHER], high[at : at + _TOGETHER]) for low, high in ends)
            )
            for at in blocks
        ]
        return [
            Bounds(
                np.concatenate([block[place].low for block in found]),
                np.concatenate([block[place].high for block in found]),
            )
            for place in range(len(found[0]))
        ]

    def slopes_of_each(self) -> list[Bounds]:
        """Return bounds over all values of the parts, with the slopes in one part after another."""
        moving = np.eye(len(self.parts))
        inputs = [
            Bounds(np.full(own.size, one.low.min()), np.full(own.size, one.high.max()), own, own)
            for one, own in zip(self.parts, moving, strict=True)
        ]
        return self._arrays.bounds_of_each(*inputs)


class BoundedFormula(BoundedFormulas):
    """One formula in parts."""

    def __init__(
        self, formula: Formula, parts: Sequence[PartValues], known: KnownArrays | None = None
    ) -> None:
        super().__init__((formula,), parts, known)

    def bounds(self, ends: Sequence[tuple[Floats, Floats]], count: int) -> Bounds:
        """Return bounds over so many boxes, between the ends of each of its parts."""
        return self.bounds_of_each(ends, count)[0]

    def slopes(self) -> Bounds:
        """Return bounds over all values of the parts, with the slopes in one part after another."""
        return self.slopes_of_each()[0]
