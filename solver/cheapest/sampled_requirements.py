"""Requirements with a certainty, over boxes of options: in how many samples they surely fail.

A requirement holds with a certainty if few of the samples of the uncertain inputs fail. In each
sample it is a function of parts that each depend on one choice: tables have these for all options
and samples. Where a requirement fails with whatever of a box is chosen in more samples than may
fail, nothing of the box holds. Boxes are bounded in those samples that fail first; one
configuration is judged in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
_COARSE = 96
"""Groups of samples that are bounded together before each of theirs is, where that decides."""
_RANKED, _RANKED_FOR_EACH = 256, 8
"""Samples by which all are ordered: so many, and more for each number that is drawn."""
_TOGETHER = 1 << 18
"""Boxes and samples that are bounded at a time."""

Ends = Mapping[Formula, tuple[Floats, Floats]]
"""The least and the largest value of each symbol, of one sample or group after the other."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Columns:
    """Samples, or groups of samples of some sizes, with the ends of what is drawn in each."""

    ends: Ends
    sizes: Ints

    def grouped(self, count: int) -> tuple[_Columns, Ints]:
        """Return these in so many groups that lie near to each other, and the group of each."""
        values = np.array([low for low, _ in self.ends.values()])
        groups = _halved(np.arange(self.sizes.size), values, count)
        group_of = np.empty(self.sizes.size, dtype=np.int64)
        for place, group in enumerate(groups):
            group_of[group] = place
        ends = {
            symbol: (
                np.array([low[group].min() for group in groups]),
                np.array([high[group].max() for group in groups]),
            )
            for symbol, (low, high) in self.ends.items()
        }
        sizes = np.array([int(self.sizes[group].sum()) for group in groups])
        return _Columns(ends=ends, sizes=sizes), group_of


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

    @cached_property
    def _parts_together(self) -> list[_PartsTogether]:
        """The parts by their axis, apart those that rest on nothing that is drawn."""
        found: dict[tuple[int, bool], list[ChoicePart]] = {}
        for one in self.parts:
            is_drawn = any(symbol in one.part.symbols for symbol in self.draws)
            found.setdefault((one.axis, is_drawn), []).append(one)
        return [
            _PartsTogether(axis, parts, [*self.inputs[axis]], [*self.draws])
            for (axis, _), parts in found.items()
        ]

    def values(self, options: Sequence[Ints], drawn: Ends) -> dict[Formula, tuple[Floats, Floats]]:
        """Return bounds of all parts, a row for each of some options of its axis.

        A column for each sample; one column of what rests on nothing that is drawn.
        """
        found: dict[Formula, tuple[Floats, Floats]] = {}
        for one in self._parts_together:
            rows = np.searchsorted(self.options[one.axis], options[one.axis])
            found |= one.values(self.inputs[one.axis], rows, drawn)
        return found

    @cached_property
    def _coarse(self) -> tuple[_Columns, Ints]:
        """All samples in groups, and the group of each."""
        sizes = np.ones(self.count, dtype=np.int64)
        return _Columns(ends=self.every, sizes=sizes).grouped(_COARSE)

    def fails(self, chosen: Sequence[int]) -> bool:
        """Return whether the requirement surely fails with one configuration, of all samples.

        Samples are bounded one by one only where their group decides nothing.
        """
        groups, group_of = self._coarse
        failing, open_groups = _signs(self.formulas, self._at(chosen, groups.ends), groups, 1)
        count = int(groups.sizes[failing[0]].sum())
        if count > self.may_fail or not open_groups.any():
            return count > self.may_fail
        if count + int(groups.sizes[open_groups[0]].sum()) <= self.may_fail:
            return False
        which = np.flatnonzero(open_groups[0][group_of])
        drawn = self._drawn_in(which)
        ends = self._at(chosen, drawn)
        failing = np.zeros((1, which.size), dtype=bool)
        for formula in self.formulas:
            failing |= formula.fails(ends, drawn)
        return count + int(failing.sum()) > self.may_fail

    def columns(self, most: int) -> _Columns:
        """Return the samples that fail first with the last options, at most so many columns.

        With fewer columns than these, samples that lie near to each other are one.
        """
        rank = self._order()
        worst = np.argsort(-rank, kind="stable")[: _SPARE * self.may_fail + _FEWEST]
        each = _Columns(ends=self._drawn_in(worst), sizes=np.ones(worst.size, dtype=np.int64))
        return each if worst.size <= most else each.grouped(most)[0]

    def _drawn_in(self, samples: Ints) -> Ends:
        """Return what is drawn in some of the samples."""
        return {symbol: (own[samples], own[samples]) for symbol, own in self.draws.items()}

    def _at(self, chosen: Sequence[int], drawn: Ends) -> Ends:
        """Return bounds of all parts with one option of each axis."""
        return self.values([np.array([option]) for option in chosen], drawn)

    def _order(self) -> Floats:
        """Return what is larger for samples that about fail sooner with the last options.

        It is linear in what is drawn, as it fits some of the samples: any order is valid.
        """
        numbers = np.array(list(self.draws.values()))
        some = np.linspace(0, self.count - 1, min(self.count, self._ranked), dtype=np.int64)
        drawn = self._drawn_in(some)
        ends = self._at([int(options[-1]) for options in self.options], drawn)
        spread = np.maximum(numbers.std(axis=1), np.finfo(float).tiny)
        scaled = ((numbers - numbers.mean(axis=1)[:, None]) / spread[:, None]).T
        found = np.zeros(self.count)
        for formula in self.formulas:
            least = np.broadcast_to(formula.least(ends, drawn)[0], some.size)
            rank = np.argsort(np.argsort(least, kind="stable")) - (some.size - 1) / 2
            slopes = np.linalg.lstsq(scaled[some], rank, rcond=None)[0]
            found = np.maximum(found, scaled @ slopes)
        return found

    @property
    def _ranked(self) -> int:
        return max(_RANKED, _RANKED_FOR_EACH * len(self.draws))


class _PartsTogether:
    """Parts of one axis, bounded together: what they share is bounded once."""

    def __init__(
        self,
        axis: int,
        parts: Sequence[ChoicePart],
        chosen: Sequence[Formula],
        drawn: Sequence[Formula],
    ) -> None:
        self.axis = axis
        self._symbols = [one.symbol for one in parts]
        used = frozenset[Formula]().union(*(one.part.symbols for one in parts))
        self._chosen = [one for one in chosen if one in used]
        self._drawn = [one for one in drawn if one in used]
        first, *others = (one.part for one in parts)
        self._arrays = BoxArrays(first, *self._chosen, *self._drawn, others=others)

    def values(
        self, inputs: Mapping[Formula, Bounds], rows: Ints, drawn: Ends
    ) -> dict[Formula, tuple[Floats, Floats]]:
        """Return bounds of each part, a row for each option and a column for each sample."""
        columns = drawn[self._drawn[0]][0].size if self._drawn else 1
        ends = [
            Bounds(
                *(np.repeat(side[rows], columns) for side in (inputs[one].low, inputs[one].high))
            )
            for one in self._chosen
        ]
        ends += [Bounds(*(np.tile(side, rows.size) for side in drawn[one])) for one in self._drawn]
        return {
            symbol: (
                np.where(np.isnan(own.low), -np.inf, own.low).reshape(rows.size, columns),
                np.where(np.isnan(own.high), np.inf, own.high).reshape(rows.size, columns),
            )
            for symbol, own in zip(self._symbols, self._arrays.bounds_of_each(*ends), strict=True)
        }


class _SampledFormula:
    """A formula in parts of choices and in what is drawn, bounded for boxes and samples."""

    def __init__(self, over: Formula, parts: set[Formula], *, strict: bool) -> None:
        self.parts = [one for one in over.symbols if one in parts]
        self._drawn = [one for one in over.symbols if one not in parts]
        self._arrays = BoxArrays(over, *self.parts, *self._drawn)
        self._strict = strict

    def bounds(self, ends: Ends, drawn: Ends, where: Bools | None = None) -> tuple[Floats, Floats]:
        """Return bounds, a row for each box and a column for each sample; -inf to inf elsewhere."""
        own = [ends[one] for one in self.parts]
        rows = own[0][0].shape[0] if own else 1
        sides = [drawn[one] for one in self._drawn]
        columns = max([low.shape[1] for low, _ in own] + [low.size for low, _ in sides])
        shape = (rows, columns) if where is None else where.shape
        at = np.ones(shape, dtype=bool) if where is None else where
        inputs = [
            Bounds(*(np.broadcast_to(side, shape)[at] for side in both)) for both in (*own, *sides)
        ]
        found = self._arrays.bounds(*inputs)
        low, high = np.full(shape, -np.inf), np.full(shape, np.inf)
        low[at] = np.where(np.isnan(found.low), -np.inf, found.low)
        high[at] = np.where(np.isnan(found.high), np.inf, found.high)
        return low, high

    def least(self, ends: Ends, drawn: Ends) -> Floats:
        """Return the lower bounds."""
        return self.bounds(ends, drawn)[0]

    def fails(self, ends: Ends, drawn: Ends, where: Bools | None = None) -> Bools:
        """Return which boxes surely fail in which samples, of those at some places."""
        return self._fails(self.bounds(ends, drawn, where)[0])

    def signs(self, ends: Ends, drawn: Ends) -> tuple[Bools, Bools]:
        """Return which boxes surely fail in which samples, and which may."""
        low, high = self.bounds(ends, drawn)
        return self._fails(low), self._fails(high)

    def _fails(self, over: Floats) -> Bools:
        failing: Bools = over >= 0 if self._strict else over > 0
        return failing


def _signs(
    formulas: Sequence[_SampledFormula], ends: Ends, columns: _Columns, boxes: int
) -> tuple[Bools, Bools]:
    """Return which boxes fail in which samples, and in which that is open."""
    failing, may_fail = (np.zeros((boxes, columns.sizes.size), dtype=bool) for _ in range(2))
    drawn = columns.ends
    for formula in formulas:
        surely, maybe = formula.signs(ends, drawn)
        failing |= surely
        may_fail |= maybe
    return failing, may_fail & ~failing


_Tables = dict[Formula, tuple[int, LeastBetween, LeastBetween]]
"""For each part its axis, and tables of its ends for ranges of options."""


def _between(tables: _Tables, low: Ints, high: Ints) -> dict[Formula, tuple[Floats, Floats]]:
    """Return the ends of each part in boxes of options."""
    return {
        symbol: (
            least.between(low[:, axis], high[:, axis]),
            -most.between(low[:, axis], high[:, axis]),
        )
        for symbol, (axis, least, most) in tables.items()
    }


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
        self._groups, self._group_of = self._columns.grouped(_COARSE)
        self._group_tables = self._tables_of(self._groups)

    def _tables_of(self, columns: _Columns) -> _Tables:
        """Return the ends of each part for all options and samples or groups of these."""
        values = self._requirement.values(self._options, columns.ends)
        axes = {one.symbol: one.axis for one in self._requirement.parts}
        return {
            symbol: (axes[symbol], LeastBetween(low), LeastBetween(-high))
            for symbol, (low, high) in values.items()
        }

    @cached_property
    def _column_tables(self) -> _Tables:
        return self._tables_of(self._columns)

    def always_fails(self, low: Ints, high: Ints) -> Bools:
        """Return for each box whether the requirement fails with every configuration in it."""
        found = np.zeros(low.shape[0], dtype=bool)
        step = max(1, _TOGETHER // self._columns.sizes.size)
        for start in range(0, low.shape[0], step):
            block = slice(start, start + step)
            found[block] = self._block_fails(low[block], high[block])
        return found

    def _block_fails(self, low: Ints, high: Ints) -> Bools:
        """Return the same by groups of samples, and by each sample of those that are left open.

        Boxes that fail in no group are left to be divided, but for single configurations.
        """
        most = self._requirement.may_fail
        ends = _between(self._group_tables, low, high)
        failing, is_open = _signs(self._formulas, ends, self._groups, low.shape[0])
        count = failing @ self._groups.sizes
        reaches = count + is_open @ self._groups.sizes > most
        is_single = (low == high).all(axis=1)
        rows = np.flatnonzero((count <= most) & reaches & (is_single | (count > 0)))
        found: Bools = count > most
        if rows.size:
            where = is_open[rows][:, self._group_of]
            ends = _between(self._column_tables, low[rows], high[rows])
            each = np.zeros(where.shape, dtype=bool)
            for formula in self._formulas:
                each |= formula.fails(ends, self._columns.ends, where)
            found[rows] = count[rows] + (each & where) @ self._columns.sizes > most
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
