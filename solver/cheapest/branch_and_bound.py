"""The cheapest of the options that are left: branch and bound over boxes of options.

A box has some options of each choice. Bounds of the cost say how cheap a configuration in it can
be, those of the requirements whether any can hold. Boxes are divided, those that may be cheapest
first, so that the first configuration found to hold is the cheapest (Land and Doig 1960; with
bounds by interval arithmetic, which are proofs: Moore, Kearfott and Cloud 2009, chapter 5).

A requirement of several choices can be slow to bound, and most of them exclude nothing. So boxes
are only bounded by those with which some single configuration has failed before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

import numpy as np

from qps.engine.evaluators.row_bounds import Bounds
from qps.solver.cheapest.option_values import PartRequirement, SearchProblem
from qps.solver.cheapest.part_values import Bools, BoundedFormulas, Floats, Ints, LeastBetween
from qps.solver.cheapest.priced_limits import PricedLimit, priced_limit
from qps.solver.cheapest.sampled_requirements import SampledBoxes

_TOGETHER = 32
"""Boxes that are divided together, and configurations whose requirements are."""

Chosen = tuple[int, ...]
"""For each axis the option of the design space."""

_Box = tuple[float, int, int, Chosen, Chosen, bool]
"""What is least of its cost, what orders those that cost as much, its ends, and whether all
requirements were bounded: of single configurations."""


@dataclass(kw_only=True)
class BranchAndBound:
    """The configurations of a search, the cheapest first."""

    problem: SearchProblem
    boxes: int = 0
    """How many boxes have been bounded."""
    _heap: list[_Box] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.problem = _by_cost(self.problem)
        self._cost = self.problem.bounded(self.problem.cost)
        self._others = [
            one for one in self.problem.requirements if len(self.problem.axes_of(one.over)) > 1
        ]
        self._bounding: list[PartRequirement] = []
        self._priced: list[PricedLimit] = []
        self._tables = {
            one.symbol: (LeastBetween(one.low), LeastBetween(-one.high))
            for one in self.problem.parts
        }
        self._sampled = [SampledBoxes(one, self.problem.options) for one in self.problem.sampled]
        sizes = np.array([one.size for one in self.problem.options])
        self._add(np.zeros((1, sizes.size), dtype=np.int64), sizes[None, :] - 1)

    @property
    def least_cost(self) -> float:
        """What any configuration that is left costs at least; infinite where none is left."""
        return self._heap[0][0] if self._heap else inf

    def step(self) -> Chosen | None:
        """Return the configuration that costs least, if no requirement surely fails with it.

        None where boxes had to be divided or bounded first: then they were.
        """
        first = self._heap[0]
        if not self._is_single(first):
            self._divide_boxes()
            return None
        if self._others and not first[-1]:
            self._bound_configurations()
            return None
        _, _, _, low, _, _ = heappop(self._heap)
        if any(one.fails(low) for one in self._sampled):
            return None
        return self._options(low)

    @staticmethod
    def _is_single(box: _Box) -> bool:
        return box[3] == box[4]

    def _options(self, places: Chosen) -> Chosen:
        both = zip(self.problem.options, places, strict=True)
        return tuple(int(options[place]) for options, place in both)

    def _bound_configurations(self) -> None:
        """Bound all other requirements of the cheapest configurations, and leave out what fails.

        Of each that fails, the first requirement that does bounds boxes from now on.
        """
        found: list[_Box] = []
        while self._heap and len(found) < _TOGETHER and self._is_single(self._heap[0]):
            found.append(heappop(self._heap))
        places = np.array([box[3] for box in found])
        fails = self._failing(self._others, places, places)
        fails_any: Bools = np.logical_or.reduce(fails, axis=1)
        for box, is_out in zip(found, fails_any.tolist(), strict=True):
            if not is_out:
                heappush(self._heap, (*box[:-1], True))
        which = fails.argmax(axis=1)[fails_any]
        failed = [self._others[place] for place in dict.fromkeys(which.tolist())]
        for one in failed:
            if one not in self._bounding:
                self._bounding.append(one)
                priced = priced_limit(self.problem, one.over)
                self._priced += [] if priced is None else [priced]

    def _divide_boxes(self) -> None:
        """Divide the cheapest boxes along the axis in which their cost varies most.

        The nearer options of it are to the cheapest, the fewer of them stay together: the cheapest
        with what limits cost that failed before.
        """
        boxes: list[_Box] = []
        while self._heap and len(boxes) < _TOGETHER and not self._is_single(self._heap[0]):
            boxes.append(heappop(self._heap))
        low, high = np.array([box[3] for box in boxes]), np.array([box[4] for box in boxes])
        axis = np.argmax(self._spread(low, high), axis=1)
        lows: list[Ints] = []
        highs: list[Ints] = []
        for row, at in enumerate(axis.tolist()):
            first, last = int(low[row, at]), int(high[row, at])
            cheapest = first
            if self._priced:
                cheapest += int(np.argmin(self._priced[-1].values[at][first : last + 1]))
            for start, end in _around(first, cheapest, last):
                lows.append(low[row].copy())
                highs.append(high[row].copy())
                lows[-1][at], highs[-1][at] = start, end
        self._add(np.array(lows), np.array(highs))

    def _spread(self, low: Ints, high: Ints) -> Floats:
        """Return by how much the cost varies along each axis, at least by how many options."""
        spread = (high - low) * 1e-9
        for one in self._cost.parts:
            at = one.axis
            spread[:, at] += np.abs(one.low[high[:, at]] - one.low[low[:, at]])
        return np.where(high > low, spread, -1.0)

    def _add(self, low: Ints, high: Ints) -> None:
        self.boxes += low.shape[0]
        if self._bounding:
            left = ~self._failing(self._bounding, low, high).any(axis=1)
            low, high = low[left], high[left]
        for sampled in self._sampled:
            if not low.shape[0]:
                return
            left = ~sampled.always_fails(low, high)
            low, high = low[left], high[left]
        if not low.shape[0]:
            return
        (cost,) = self._bounds(self._cost, low, high)
        costs: Floats = np.nan_to_num(cost.low, nan=-inf)
        is_box = (low < high).any(axis=1)
        for priced in self._priced:
            costs = np.where(is_box, np.maximum(costs, priced.least(low, high)), costs)
        lows, highs = low.tolist(), high.tolist()
        for at, least in enumerate(costs.tolist()):
            first, last = tuple(lows[at]), tuple(highs[at])
            width = sum(b - a for a, b in zip(first, last, strict=True))
            heappush(self._heap, (least, width, self.boxes + at, first, last, False))

    def _failing(self, requirements: Sequence[PartRequirement], low: Ints, high: Ints) -> Bools:
        """Return which requirements, a column for each, surely fail in which boxes."""
        found = self._bounds(self.problem.bounded_together(requirements), low, high)
        columns = [
            own.low >= 0 if one.strict else own.low > 0
            for one, own in zip(requirements, found, strict=True)
        ]
        return np.stack(columns, axis=1)

    def _bounds(self, formulas: BoundedFormulas, low: Ints, high: Ints) -> list[Bounds]:
        ends = []
        for one in formulas.parts:
            least, most = self._tables[one.symbol]
            start, end = low[:, one.axis], high[:, one.axis]
            ends.append((least.between(start, end), -most.between(start, end)))
        return formulas.bounds_of_each(ends, low.shape[0])


def _around(first: int, middle: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield ranges that are the longer the farther they are from the middle, which is one."""
    yield middle, middle
    start, width = middle + 1, 1
    while start <= last:
        yield start, min(last, start + width - 1)
        start, width = start + width, 2 * width
    end, width = middle - 1, 1
    while end >= first:
        yield max(first, end - width + 1), end
        end, width = end - width, 2 * width


def _by_cost(problem: SearchProblem) -> SearchProblem:
    """Return a search with the options of each axis by what they cost, the cheapest first."""
    costs: dict[int, Floats] = {}
    for one in problem.bounded(problem.cost).parts:
        costs[one.axis] = costs.get(one.axis, 0.0) + one.low
    for axis, cost in costs.items():
        problem = problem.with_options(axis, np.argsort(cost, kind="stable"))
    return problem
