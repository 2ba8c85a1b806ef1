"""Bounds of an expression over many boxes at once: what they leave behind needs no other look.

A search that looks at one box after another pays for each step of a formula in each of them. Where
many are open, all are bounded together in arrays, and what stays open is cut and bounded again. As
those of one box (`bounds.py`), bounds of values and of slopes are rounded outwards: what they prove
is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial, reduce
from math import inf
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from qps.engine.evaluators.on_bounds import ONE_BY_ONE, power
from qps.engine.evaluators.on_boxes import BASIC, LIBRARY, around
from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.expressions.formula_parts import parts_first, whole_exponent
from qps.engine.expressions.formulas import ONE, Formula
from qps.engine.expressions.point_values import in_floats
from qps.engine.numerics.sloped_intervals import above, below
from qps.engine.operations import OPERATIONS
from qps.solver.search.percentile_bounds import within_in_arrays

Box: TypeAlias = tuple[int, int]
Array: TypeAlias = Any

_OF_MANY_STEPS = 1e-9
"""A part of a value that may be rounded off by all that takes many steps."""
_KNOWN = 1e-14
"""Operands that are known so well are one number: a few roundings do not make a box of them."""
_DECIDED = 10 * _OF_MANY_STEPS
"""So much nearer to its limit than that a percentile is not decided by its tail."""
_HALF = 0.5 + 1e-9
"""Half of a box, and what may be rounded off."""

_CUT, _FIRST = 4, 64
"""Into so many parts a box is cut; and into how many the first ones are, together."""
_TOGETHER, _MOST = 1 << 10, 1 << 15
"""Boxes that are bounded together, and in all."""
_EACH = 1 << 12
"""So many populations are looked at one by one, together."""
_FEW, _PART, _POINTS = 1 << 11, 0.25, 256
"""After so many boxes no more than a part of very many populations may be open, and at no time so
many boxes of one population: bounds say too little there."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A part of a formula that is an operation: how it is bounded, from which places.

    `off` and `error` are still to be rounded off; all its values lie between the ends of `lies`.
    """

    bounds: Callable[..., Bounds]
    parts: tuple[int, ...]
    _: KW_ONLY
    off: float = 0.0
    error: float = 0.0
    lies: tuple[float, float] = (-inf, inf)
    takes_numbers: bool = False
    keeps_sign: bool = False


class BoxArrays:
    """An expression in some symbols alone, with its bounds over many boxes of their values.

    Mostly there is one symbol, the population. Where several expressions are bounded at the same
    boxes, `others` are those besides the first. With the `latest` times (s) that percentiles may
    take, bounds say no more of these than whether they are later (`percentile_bounds`).
    """

    def __init__(
        self,
        expr: Formula,
        *symbols: Formula,
        others: Iterable[Formula] = (),
        latest: Mapping[Formula, float] = MappingProxyType({}),
    ) -> None:
        places = {one: place for place, one in enumerate(symbols)}
        self._inputs = len(places)
        self._parts: list[_Step | Bounds] = [Bounds(-inf, inf)] * self._inputs
        every = (expr, *others)
        for part in parts_first(*every, known=frozenset(places)):
            places[part] = len(self._parts)
            self._parts.append(
                _step(part, tuple(places[operand] for operand in _operands(part)), latest.get(part))
                if part.operands
                else _of_number(part)
            )
        self._tops = [places[one] for one in every]
        self._is_quick = not any(map(_is_one_by_one, places))

    @property
    def is_quick(self) -> bool:
        """Whether arrays save anything: some operations take as long for each box of them."""
        return self._is_quick

    def over(self, start: Array, end: Array) -> Bounds:
        """Return bounds over boxes, with those of slopes; infinite where nothing is known."""
        return self.bounds(Bounds(start, end, 1.0, 1.0))

    def at(self, point: Array) -> Bounds:
        """Return bounds at points, where nothing moves."""
        return self.bounds(Bounds(point, point))

    def bounds(self, *inputs: Bounds) -> Bounds:
        """Return bounds for those of each symbol, in their order: arrays of one shape."""
        return self.bounds_of_each(*inputs)[0]

    def bounds_of_each(self, *inputs: Bounds) -> list[Bounds]:
        """Return the same of the expression and of all others: what they share is bounded once."""
        found = [*inputs]
        with np.errstate(all="ignore"):
            for part in self._parts[self._inputs :]:
                found.append(part if isinstance(part, Bounds) else _bounded(part, found))
        shape = inputs[0].low.shape
        return [_broadcast(found[top], shape) for top in self._tops]


def _broadcast(own: Bounds, shape: tuple[int, ...]) -> Bounds:
    sides = (own.low, own.high, own.slope_low, own.slope_high)
    return Bounds(*(np.broadcast_to(np.asarray(side, dtype=float), shape) for side in sides))


# -- boxes -------------------------------------------------------------------------------


def not_decided(arrays: BoxArrays, low: int, high: int, *, strict: bool) -> list[int]:
    """Return at which populations between two it is not proved that all holds, each by itself."""
    each = np.arange(low, high + 1, dtype=float)
    found = _in_blocks(arrays.at, each)
    return [int(at) for at in each[~_signs(found.low, found.high, strict=strict)[0]]]


def left_open(arrays: BoxArrays, boxes: Sequence[Box], *, strict: bool) -> list[Box]:
    """Return of some boxes of whole populations, in order, what is not proved to hold.

    It is above zero where something fails, with `strict` at zero too. What lies behind a box in
    which something surely fails is left out: the first failure is not there.
    """
    parts = max(_CUT, _FIRST // len(boxes))
    single, boxes = _each_before(arrays, boxes, strict=strict)
    if not boxes:
        return [(int(at), int(at)) for at in single]
    low, high = (np.array(side, dtype=float) for side in zip(*boxes, strict=True))
    start, end = _cut(low, high, parts)
    spent, every = 0, float(np.sum(end - start + 1))
    while start.size and spent < _MOST and single.size < _POINTS:
        if every > _MOST and spent > _FEW and np.sum(end - start + 1) > _PART * every:
            break
        spent += start.size
        holds, fails = _holding(arrays, start, end, strict=strict)
        where = np.flatnonzero(fails)
        if where.size:
            start, end, holds = (side[: where[0] + 1] for side in (start, end, holds))
            single = single[single < start[-1]]
        start, end = start[~holds], end[~holds]
        single = np.append(single, start[start == end])
        wide = start < end
        start, end = _cut(start[wide], end[wide], _CUT)
    return sorted([(int(at), int(at)) for at in single] + _joined(start, end))


def _each_before(
    arrays: BoxArrays, boxes: Sequence[Box], *, strict: bool
) -> tuple[Array, Sequence[Box]]:
    """Return which populations are open, of all up to the first box of one, and what lies behind.

    Where values say that something fails first, that is a box of one. To look at each population
    before it is one run of arrays, and boxes of them are several, if there are not too many.
    """
    first = next((at for at, box in enumerate(boxes) if at and box[0] == box[1]), -1)
    before = boxes[: first + 1]
    if not before or before[-1][1] - before[0][0] >= _EACH:
        return np.zeros(0), boxes
    each = np.concatenate([np.arange(low, high + 1, dtype=float) for low, high in before])
    holds, fails = _holding(arrays, each, each, strict=strict)
    where = np.flatnonzero(fails)
    if where.size:
        return each[: where[0] + 1][~holds[: where[0] + 1]], []
    return each[~holds], boxes[first + 1 :]


def _holding(arrays: BoxArrays, start: Array, end: Array, *, strict: bool) -> tuple[Array, Array]:
    """Return in which boxes everything holds, and in which something surely fails."""
    found = _in_blocks(arrays.over, start, end)
    holds, fails = _signs(found.low, found.high, strict=strict)
    slow, steep = found.slope_low, found.slope_high
    is_open = ~holds & ~fails & (start < end)
    rises, falls = slow >= 0, (slow < 0) & (steep <= 0)
    is_sloped = (-inf < slow) & (slow < 0) & (steep > 0) & (steep < inf)
    # What rises is highest at its end, what falls at its start; else a slope bounds it.
    with np.errstate(all="ignore"):
        reach = np.where(
            is_sloped, _HALF * (end - start) * np.maximum(np.abs(slow), np.abs(steep)), 0.0
        )
    for is_such, point in ((rises, end), (falls, start), (is_sloped, start + (end - start) / 2)):
        where = np.flatnonzero(is_such & is_open)
        if where.size:
            there = _in_blocks(arrays.at, point[where])
            low, high = there.low - reach[where], there.high + reach[where]
            holds[where], fails[where] = _signs(low, high, strict=strict)
    return holds, fails


def _signs(low: Array, high: Array, *, strict: bool) -> tuple[Array, Array]:
    holds = (high > -inf) & ((high < 0) if strict else (high <= 0))
    return holds, (low < inf) & ((low >= 0) if strict else (low > 0))


def _in_blocks(bounds: Callable[..., Bounds], *ends: Array) -> Bounds:
    blocks = range(0, ends[0].size, _TOGETHER)
    found = [bounds(*(end[at : at + _TOGETHER] for end in ends)) for at in blocks]
    sides = ("low", "high", "slope_low", "slope_high")
    return Bounds(*(np.concatenate([getattr(one, side) for one in found]) for side in sides))


def _cut(start: Array, end: Array, parts: int) -> tuple[Array, Array]:
    """Return boxes cut into so many, in order; by factors where they are far from each other."""
    share = np.arange(1, parts) / parts
    is_far = (start > 0) & (end > 4 * start)
    with np.errstate(all="ignore"):
        far = start[:, None] * np.where(is_far, end / start, 1.0)[:, None] ** share
        near = start[:, None] + (end - start)[:, None] * share
    between = np.floor(np.where(is_far[:, None], far, near))
    ends = np.column_stack((start - 1, np.clip(between, start[:, None], end[:, None]), end))
    first, last = ends[:, :-1].ravel() + 1, ends[:, 1:].ravel()
    is_box = first <= last
    return first[is_box], last[is_box]


def _joined(start: Array, end: Array) -> list[Box]:
    """Return boxes, those that touch each other as one."""
    found: list[Box] = []
    for low, high in zip(map(int, start), map(int, end), strict=True):
        if found and found[-1][1] + 1 == low:
            found[-1] = found[-1][0], high
        else:
            found.append((low, high))
    return found


# -- steps -------------------------------------------------------------------------------


def _operands(part: Formula) -> Iterable[Formula]:
    return part.operands[:1] if whole_exponent(part) is not None else part.operands


def _step(part: Formula, places: tuple[int, ...], latest: float | None) -> _Step:
    exponent = whole_exponent(part)
    if exponent is not None:
        off = BASIC * max(1, abs(exponent))
        return _Step(partial(power, exponent=exponent), places, off=off, keeps_sign=True)
    row = OPERATIONS[part.word]
    if row.boxes is not None:
        return _Step(row.boxes, places, lies=row.lies, keeps_sign=True)
    if row.chooses or row.rounds:
        return _Step(row.bounds, places)
    is_many = row.by_ends or row.is_slow
    bounds = row.bounds
    if latest is not None:
        bounds = within_in_arrays(part.word, latest, _DECIDED)
    return _Step(
        bounds,
        places,
        off=_OF_MANY_STEPS if is_many else LIBRARY,
        error=row.error,
        lies=row.lies,
        takes_numbers=is_many,
    )


def _is_one_by_one(part: Formula) -> bool:
    """Return whether an operation takes as long for each row of arrays: numbers are one row."""
    row = OPERATIONS.get(part.word) if part.operands and part.symbols else None
    if row is None or not row.row_by_row:
        return False
    if row.by_ends and row.servers is not None:  # of single servers all rows are solved together
        first, step = row.servers
        return any(one is not ONE for one in part.operands[first::step])
    return row.by_ends or row.bounds in ONE_BY_ONE


def _bounded(step: _Step, found: Sequence[Bounds]) -> Bounds:
    operands = [found[place] for place in step.parts]
    if step.takes_numbers:
        operands = [_as_number(one) for one in operands]
    own = step.bounds(*operands)
    own = around(own, step.off, step.error) if step.off else own
    least: Array = step.lies[0]
    most = step.lies[1]
    if step.keeps_sign:  # of nothing below zero comes nothing below zero
        least = np.where(reduce(np.logical_and, (one.low >= 0 for one in operands)), 0.0, -inf)
    is_known, has_slope = own.low <= own.high, own.slope_low <= own.slope_high
    low, high = np.maximum(own.low, least), np.minimum(own.high, most)
    if np.all(is_known) and np.all(has_slope):
        return Bounds(low, high, own.slope_low, own.slope_high)
    return Bounds(
        np.where(is_known, low, least),
        np.where(is_known, high, most),
        np.where(has_slope, own.slope_low, -inf),
        np.where(has_slope, own.slope_high, inf),
    )


def _as_number(one: Bounds) -> Bounds:
    """Return one number where bounds are nearly that: a whole one, if there is one."""
    is_one = np.isfinite(one.low) & (one.high - one.low <= _KNOWN * np.abs(one.high))
    if not np.any(is_one):
        return one
    whole = np.ceil(one.low)
    number = np.where(whole <= one.high, whole, one.low)
    low, high = np.where(is_one, number, one.low), np.where(is_one, number, one.high)
    return Bounds(low, high, one.slope_low, one.slope_high)


def _of_number(number: Formula) -> Bounds:
    near = in_floats(number) if number.is_constant else float("nan")
    if near != near:  # noqa: PLR0124 - not-a-number is the only one that is not itself
        return Bounds(-inf, inf)
    return Bounds(near, near) if number.exact == near else Bounds(below(near), above(near))
