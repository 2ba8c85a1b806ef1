"""The first population at which something fails, by values at all populations before it.

Bounds over a range take apart what moves together, so that they may prove nothing of a quantile
behind a pool. Here a population that fails next to one that holds is looked for first. Then what
quantiles rest on is computed at each whole population before it, and its extremes in a stretch of
these bound the quantiles there: stretches that do not surely hold are halved, down to single ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf

import numpy as np

from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.execution.programs import StraightLineProgram
from qps.engine.forks.answer_arrays import has_transform
from qps.engine.operations import OPERATIONS
from qps.solver.matrix.limits.failure_brackets import Excess
from qps.solver.matrix.limits.late_shares import QUANTILES, LateShare
from qps.solver.matrix.limits.neighboring_rows import first_failing
from qps.solver.matrix.limits.row_preparation import (
    Bools,
    CompiledCriterion,
    Floats,
    Ints,
    Rows,
    sides_of,
)

_MOST, _MOST_OF_NETWORKS = 1 << 16, 1 << 13
"""Populations before the one that fails; where networks are computed for each."""
_DOUBT = 1e-9
_TOGETHER, _FEW = 1 << 18, 4
"""Values that are computed together; populations that are no longer halved."""
_SLOW = frozenset(word for word, row in OPERATIONS.items() if row.by_order)
"""Words of which some are summed over a law: bounds of pieces would take long."""
_OF_CALLS = QUANTILES & _SLOW
"""Those of them that have a transform where each call takes an exponential time."""
_LAWS = QUANTILES | _SLOW
"""Words of what is made of the law of a time: bounded over stretches, not computed at each."""
_UNKNOWN = Bounds(-inf, inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorPopulations:
    """Criteria that rest on quantiles; `inner` is what is computed at each population.

    `guards` may only lower a quantile: they are bounded where the quantile does not decide.
    `orders` are what may be summed over a law.
    """

    criteria: Sequence[CompiledCriterion]
    inner: frozenset[int]
    most: int
    guards: frozenset[int] = frozenset()
    orders: frozenset[int] = frozenset()

    @staticmethod
    def of(
        program: StraightLineProgram, criteria: Sequence[CompiledCriterion]
    ) -> PriorPopulations | None:
        """Return those of a program, None where no quantile is bounded."""
        sides, steps = sides_of(criteria), program.steps
        needed = [number for number in program.needed(sides) if program.varies[number]]
        outer: set[int] = set()
        for number in needed:
            step = steps[number]
            if step.word in _LAWS or not outer.isdisjoint(step.operands):
                outer.add(number)
        if not outer:
            return None
        operands = sides.union(*(steps[number].operands for number in outer))
        inner = frozenset(n for n in operands - outer if program.varies[n])
        known = (OPERATIONS.get(steps[number].word) for number in needed if number not in outer)
        is_of_networks = any(row is not None and row.row_by_row for row in known)
        most = _MOST_OF_NETWORKS if is_of_networks else _MOST
        late = (LateShare.of(program, criterion) for criterion in criteria)
        guards = frozenset(chain.from_iterable(one.guards for one in late if one is not None))
        orders = frozenset(number for number in outer if steps[number].word in _SLOW)
        return PriorPopulations(
            criteria=criteria,
            inner=inner,
            most=most,
            guards=guards - inner,
            orders=orders,
        )

    def is_slow(self, rows: Rows, population: Floats) -> bool:
        """Return whether a law is summed for rows, as the first of them has it at a population.

        Such are rather computed at single populations than bounded over pieces.
        """
        steps = rows.runner.program.steps
        for number in self.orders:
            operands = steps[number].operands[1:]  # behind the level
            if steps[number].word not in _OF_CALLS:
                return True
            values = rows.take(np.zeros(1, dtype=np.int64)).at(set(operands), population[:1])
            if not has_transform(*(values[one] for one in operands)):
                return True
        return False

    def first(self, rows: Rows, excess: Excess, low: Floats, end: Floats) -> tuple[Floats, Bools]:
        """Return the first population of each row that may fail, infinite for none.

        From `low` to `end`, both among them. Rows with too many before it are left open.
        """
        at_low, at_end = excess(rows, low), excess(rows, end)
        stop = np.where(at_low > 0, low, end + 1)
        crosses = np.flatnonzero(~(at_low > 0) & (at_end > 0))
        if crosses.size:
            ends, values = (low[crosses], end[crosses]), (at_low[crosses], at_end[crosses])
            stop[crosses] = first_failing(rows.take(crosses), excess, ends, values)
        is_open = ~(stop - low <= self.most)
        index = np.flatnonzero(~is_open & (stop > low))
        for some in _groups(index, (stop - low)[index]):
            own = rows.take(some)
            stop[some] = _Stretches(self, own, low[some], stop[some]).first_open()
        return np.where(stop <= end, stop, np.inf), is_open

    def hold(self, bounds: dict[int, Bounds]) -> Bools:
        """Return where all criteria surely hold."""
        found = np.ones((), dtype=bool)
        for criterion in self.criteria:
            measure, limit = bounds[criterion.measure], bounds[criterion.limit]
            one, other = (measure, limit) if criterion.at_most else (limit, measure)
            scale = np.maximum(np.abs(limit.low), np.abs(limit.high))
            found = found & (one.high - other.low <= -_DOUBT * np.where(scale > 0, scale, 1.0))
        return found


def _groups(index: Ints, counts: Floats) -> Iterable[Ints]:
    """Yield rows that are looked at together: with so many populations in all."""
    if index.size:
        group = np.cumsum(counts) // _TOGETHER
        yield from np.split(index, np.flatnonzero(np.diff(group)) + 1)


class _Stretches:
    """Populations of rows one after the other, and what quantiles rest on at each of them."""

    def __init__(self, prior: PriorPopulations, rows: Rows, low: Floats, stop: Floats) -> None:
        self._prior, self._rows, self._low = prior, rows, low
        self._sides = sides_of(prior.criteria)
        self._counts = (stop - low).astype(np.int64)
        self._starts = np.cumsum(self._counts) - self._counts
        row = np.repeat(np.arange(rows.count), self._counts)
        at = low[row] + (np.arange(row.size) - self._starts[row])
        values = rows.take(row).at(prior.inner, at)
        # One more, so that every stretch has an end.
        self._values = {
            number: np.append(np.broadcast_to(value, row.shape), 0.0)
            for number, value in values.items()
        }

    def first_open(self) -> Floats:
        """Return the first population of each row that does not surely hold, else its end."""
        found = self._counts.copy()
        every = np.arange(found.size)
        row, start, stop = self._towards_ends(every[~self._hold(every, 0 * found, found)])
        while row.size:
            holds = self._hold(row, start, stop)
            is_one = stop - start == 1
            np.minimum.at(found, row[~holds & is_one], start[~holds & is_one])
            left = ~holds & ~is_one & (start < found[row])
            row, start, stop = _halved(row[left], start[left], stop[left])
        return np.asarray(self._low + found)

    def _towards_ends(self, left: Ints) -> tuple[Ints, Ints, Ints]:
        """Return stretches of some rows, half as long each towards the end of a row."""
        parts = [(left[:0], left[:0], left[:0])]
        stop = self._counts.copy()
        long = np.ones_like(stop)
        while left.size:
            start = np.maximum(stop[left] - long[left], 0)
            parts.append((left, start, stop[left].copy()))
            stop[left] = start
            long *= 2
            left = left[start > 0]
        row, start, end = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.lexsort((start, row))
        return row[order], start[order], end[order]

    def _hold(self, row: Ints, start: Ints, stop: Ints) -> Bools:
        """Return in which stretches all criteria surely hold, by the extremes in them."""
        found = self._hold_by(row, start, stop, self._prior.guards)
        left = np.flatnonzero(~found)
        if left.size and self._prior.guards:
            found[left] = self._hold_by(row[left], start[left], stop[left], frozenset())
        return found

    def _hold_by(self, row: Ints, start: Ints, stop: Ints, without: frozenset[int]) -> Bools:
        """Return the same, without the bounds of some operations."""
        places = np.stack((start, stop), axis=1) + self._starts[row][:, None]
        each = self._rows.take(row)
        known = {number: Bounds(value, value) for number, value in each.known.items()}
        for number, values in self._values.items():
            least, most = (
                of.reduceat(values, places.ravel())[::2] for of in (np.minimum, np.maximum)
            )
            known[number] = Bounds(least, most, -np.inf, np.inf)
        known |= dict.fromkeys(without, _UNKNOWN)
        bounds = each.runner.bounds(self._sides, known, {}, (0.0, 0.0))
        return np.broadcast_to(self._prior.hold(bounds), row.shape).copy()


def _halved(row: Ints, start: Ints, stop: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the halves of stretches, and single ones of those that are short."""
    is_short = stop - start <= _FEW
    middle = (start + stop) // 2
    long = ~is_short
    rows = [row[long], row[long]]
    starts, stops = [start[long], middle[long]], [middle[long], stop[long]]
    for more in range(_FEW):
        has = is_short & (start + more < stop)
        rows.append(row[has])
        starts.append(start[has] + more)
        stops.append(start[has] + more + 1)
    row, start, stop = np.concatenate(rows), np.concatenate(starts), np.concatenate(stops)
    order = np.lexsort((start, row))
    return row[order], start[order], stop[order]
