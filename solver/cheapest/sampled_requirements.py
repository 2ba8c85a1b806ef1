"""Requirements with a certainty, over boxes of options: in how many samples they surely fail.

A requirement holds with a certainty if few of the samples of the uncertain inputs fail. In each
sample it is a function of parts that each depend on one choice: tables have these for all options
and samples. Where a requirement fails with whatever of a box is chosen in more samples than may
fail, nothing of the box holds. Boxes are bounded in those samples that fail first; one
configuration is judged in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.expressions.formulas import Formula
from qps.solver.cheapest.part_values import Bools, Floats, Ints, LeastBetween, PartValues
from qps.solver.cheapest.separable_parts import ChoicePart
from qps.solver.search.box_arrays import BoxArrays

_SPARE, _FEWEST = 3, 192
"""How many of the samples that fail first are looked at in boxes: so many for each that may fail,
and some more."""
_GROUPS = 64
"""Groups of samples, at least, where there is no room for each of them."""
_ROOM = 1 << 22
"""Values in one table of options and samples."""
_TOGETHER = 1 << 18
"""Boxes and samples that are bounded at a time."""
_ROWS = 1_000
"""Options whose parts are kept for all samples."""

Ends = Mapping[Formula, tuple[Floats, Floats]]
"""The least and the largest value of each symbol, of one sample or group after the other."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Columns:
    """Samples, or groups of samples of some sizes, with the ends of what is drawn in each."""

    ends: Ends
    sizes: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledRequirement:
    """A requirement with a certainty: a sample fails where any of `overs` is above zero.

    With a flag it fails at zero, too. They are formulas in what is drawn and in `parts`, which may
    rest on what is drawn themselves; `inputs` are the numbers of the `options` of each axis. Of
    `count` samples some `may_fail`. `apart` are the same formulas in parts of which none rests on
    both what is chosen and what is `drawn`.
    """

    name: str
    overs: tuple[tuple[Formula, bool], ...]
    parts: tuple[ChoicePart, ...]
    options: tuple[Ints, ...]
    inputs: tuple[Mapping[Formula, Bounds], ...]
    draws: Mapping[Formula, Floats]
    count: int
    may_fail: int
    apart: tuple[Formula, ...]
    drawn: tuple[PartValues, ...]
    _rows: dict[tuple[Formula, int], tuple[Floats, Floats]] = field(default_factory=dict)

    @cached_property
    def formulas(self) -> list[_SampledFormula]:
        """The formulas that rest on anything, as arrays."""
        symbols = {one.symbol for one in self.parts}
        return [
            _SampledFormula(over, symbols, strict=strict)
            for over, strict in self.overs
            if over.symbols
        ]

    @cached_property
    def every(self) -> Ends:
        """What is drawn in each of the samples."""
        return {symbol: (own, own) for symbol, own in self.draws.items()}

    def values(self, part: ChoicePart, options: Ints, drawn: Ends) -> tuple[Floats, Floats]:
        """Return bounds of a part, a row for each option and a column for each sample."""
        rows = np.searchsorted(self.options[part.axis], options)
        inputs = self.inputs[part.axis]
        symbols = [one for one in inputs if one in part.part.symbols]
        sampled = [one for one in drawn if one in part.part.symbols]
        arrays = BoxArrays(part.part, *symbols, *sampled)
        samples = drawn[sampled[0]][0].size if sampled else 1
        ends = [
            Bounds(
                *(np.repeat(side[rows], samples) for side in (inputs[one].low, inputs[one].high))
            )
            for one in symbols
        ]
        ends += [Bounds(*(np.tile(side, rows.size) for side in drawn[one])) for one in sampled]
        found = arrays.bounds(*ends)
        low = np.where(np.isnan(found.low), -np.inf, found.low)
        high = np.where(np.isnan(found.high), np.inf, found.high)
        return low.reshape(rows.size, samples), high.reshape(rows.size, samples)

    def fails(self, chosen: Sequence[int]) -> bool:
        """Return whether the requirement surely fails with one configuration, of all samples."""
        failing = np.zeros((1, self.count), dtype=bool)
        ends = {one.symbol: self._row(one, chosen[one.axis]) for one in self.parts}
        for formula in self.formulas:
            failing |= formula.fails(ends, self.every)
        return int(failing.sum()) > self.may_fail

    def _row(self, part: ChoicePart, option: int) -> tuple[Floats, Floats]:
        key = part.symbol, option
        if key not in self._rows:
            if len(self._rows) >= _ROWS:
                self._rows.clear()
            self._rows[key] = self.values(part, np.array([option]), self.every)
        return self._rows[key]

    def columns(self, most: int) -> _Columns:
        """Return the samples that fail first with the last options, at most so many columns.

        With fewer columns than these, samples that lie near to each other are one.
        """
        last = [int(options[-1]) for options in self.options]
        ends = {one.symbol: self._row(one, last[one.axis]) for one in self.parts}
        rank = np.zeros(self.count)
        for formula in self.formulas:
            least = np.broadcast_to(formula.least(ends, self.every)[0], self.count)
            rank = np.maximum(rank, np.argsort(np.argsort(least, kind="stable")))
        worst = np.argsort(-rank, kind="stable")[: _SPARE * self.may_fail + _FEWEST]
        if worst.size <= most:
            near = {symbol: (own[worst], own[worst]) for symbol, own in self.draws.items()}
            return _Columns(ends=near, sizes=np.ones(worst.size, dtype=np.int64))
        groups = _halved(worst, np.array(list(self.draws.values())), most)
        return _Columns(
            ends={
                symbol: (
                    np.array([own[group].min() for group in groups]),
                    np.array([own[group].max() for group in groups]),
                )
                for symbol, own in self.draws.items()
            },
            sizes=np.array([group.size for group in groups]),
        )


class _SampledFormula:
    """A formula in parts of choices and in what is drawn, bounded for boxes and samples."""

    def __init__(self, over: Formula, parts: set[Formula], *, strict: bool) -> None:
        self.parts = [one for one in over.symbols if one in parts]
        self._drawn = [one for one in over.symbols if one not in parts]
        self._arrays = BoxArrays(over, *self.parts, *self._drawn)
        self._strict = strict

    def least(self, ends: Ends, drawn: Ends) -> Floats:
        """Return lower bounds, a row for each box and a column for each sample, or one for all."""
        own = [ends[one] for one in self.parts]
        rows = own[0][0].shape[0] if own else 1
        sides = [drawn[one] for one in self._drawn]
        columns = max([low.shape[1] for low, _ in own] + [low.size for low, _ in sides])
        shape = rows, columns
        inputs = [
            Bounds(*(np.broadcast_to(side, shape).ravel() for side in both))
            for both in (*own, *sides)
        ]
        found = self._arrays.bounds(*inputs).low
        return np.where(np.isnan(found), -np.inf, found).reshape(shape)

    def fails(self, ends: Ends, drawn: Ends) -> Bools:
        """Return which boxes surely fail in which samples."""
        least = self.least(ends, drawn)
        failing: Bools = least >= 0 if self._strict else least > 0
        return failing


class SampledBoxes:
    """A requirement with a certainty over boxes of some options, by their places on each axis."""

    def __init__(self, requirement: SampledRequirement, options: Sequence[Ints]) -> None:
        self._requirement = requirement
        self._options = options
        self._formulas = requirement.formulas
        longest = max(own.size for own in options)
        levels = longest.bit_length()
        most = max(_GROUPS, _ROOM // (levels * longest))
        self._columns = requirement.columns(most)
        self._tables: dict[Formula, tuple[LeastBetween, LeastBetween]] = {}
        for part in requirement.parts:
            low, high = requirement.values(part, options[part.axis], self._columns.ends)
            self._tables[part.symbol] = LeastBetween(low), LeastBetween(-high)

    def always_fails(self, low: Ints, high: Ints) -> Bools:
        """Return for each box whether the requirement fails with every configuration in it."""
        boxes, samples = low.shape[0], self._columns.sizes.size
        axes = {one.symbol: one.axis for one in self._requirement.parts}
        found = np.zeros(boxes, dtype=bool)
        step = max(1, _TOGETHER // samples)
        for start in range(0, boxes, step):
            first, last = low[start : start + step], high[start : start + step]
            failing = np.zeros((first.shape[0], samples), dtype=bool)
            for formula in self._formulas:
                ends = {}
                for symbol in formula.parts:
                    least, most = self._tables[symbol]
                    between = first[:, axes[symbol]], last[:, axes[symbol]]
                    ends[symbol] = least.between(*between), -most.between(*between)
                failing |= formula.fails(ends, self._columns.ends)
            found[start : start + step] = failing @ self._columns.sizes > self._requirement.may_fail
        return found

    def fails(self, places: Sequence[int]) -> bool:
        """Return whether the requirement surely fails with one configuration."""
        both = zip(self._options, places, strict=True)
        return self._requirement.fails([int(own[place]) for own, place in both])


def _halved(samples: Ints, values: Floats, count: int) -> list[Ints]:
    """Return so many groups of samples, halved along the value that spreads most."""
    scales = np.maximum(np.ptp(values[:, samples], axis=1), np.finfo(float).tiny)
    groups = [samples]
    while len(groups) < min(count, samples.size):
        at = max(range(len(groups)), key=lambda place: groups[place].size)
        group = groups.pop(at)
        widest = int(np.argmax(np.ptp(values[:, group], axis=1) / scales))
        along = np.argsort(values[widest, group], kind="stable")
        middle = group.size // 2
        groups += [group[along[:middle]], group[along[middle:]]]
    return groups
