"""The cheapest of the options that are left: branch and bound over boxes of options.

A box has some options of each choice. Bounds of the cost say how cheap a configuration in it can
be, those of the requirements whether any can hold. Boxes are divided, those that may be cheapest
first, so that the first configuration found to hold is the cheapest (Land and Doig 1960; with
bounds by interval arithmetic, which are proofs: Moore, Kearfott and Cloud 2009, chapter 5).

A requirement of several choices can be slow to bound, and most of them exclude nothing. So boxes
are only bounded by those with which some single configuration has failed before.

Options that are only in what costs more than some limit are left out while nothing that costs so
much can be the cheapest; where that comes to nothing, the limit is raised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from heapq import heappop, heappush
from math import inf

import numpy as np

from qps.engine.evaluators.row_bounds import Bounds
from qps.solver.cheapest.merged_fronts import merged_fronts
from qps.solver.cheapest.option_values import PartRequirement, SearchProblem
from qps.solver.cheapest.part_values import Bools, BoundedFormulas, Floats, Ints, LeastBetween
from qps.solver.cheapest.priced_limits import PricedLimit, priced_limit
from qps.solver.cheapest.sampled_requirements import SampledBoxes

_TOGETHER = 32
"""Boxes that are divided together, and configurations whose requirements are."""
_RAISED, _RAISES = 4.0, 4
"""By what the distance of the limit from what is least grows where it is raised, and how often."""
_SPARE = 1e-9
"""Part of a limit that is added to it, so that what costs as much is not left out."""

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
    _candidate: tuple[float, Chosen] | None = None

    def __post_init__(self) -> None:
        self._every = _by_cost(self.problem)
        self._others = [
            one for one in self._every.requirements if len(self._every.axes_of(one.over)) > 1
        ]
        self._bounding: list[PartRequirement] = []
        self._prices: list[PricedLimit] = []
        self._limit, self._raises = inf, 0
        self._floor = -inf
        self._found: set[Chosen] = set()
        if not self._price(self._others):
            self._begin(self._every, [])

    def _begin(self, problem: SearchProblem, priced: list[PricedLimit]) -> None:
        """Begin with all configurations of a problem, of which some limits have a price."""
        self.problem, self._priced = problem, priced
        self._cost = problem.bounded(problem.cost)
        self._tables = {
            one.symbol: (LeastBetween(one.low), LeastBetween(-one.high)) for one in problem.parts
        }
        self._sampled = [SampledBoxes(one, problem.options) for one in problem.sampled]
        self._heap = []
        sizes = np.array([one.size for one in problem.options])
        self._add(np.zeros((1, sizes.size), dtype=np.int64), sizes[None, :] - 1)

    @property
    def least_cost(self) -> float:
        """What any configuration that is left costs at least; infinite where none is left."""
        if self._candidate is not None:
            return max(self._floor, self._candidate[0])
        left = self._heap[0][0] if self._heap else inf
        return max(self._floor, min(self._limit, left))

    def step(self) -> Chosen | None:
        """Return the configuration that costs least, if no requirement surely fails with it.

        None where boxes had to be divided or bounded first: then they were.
        """
        if self._candidate is not None:
            (_, chosen), self._candidate = self._candidate, None
            self._found.add(chosen)
            return chosen
        if not self._heap or self._heap[0][0] > self._limit:
            self._raise_limit()
            return None
        first = self._heap[0]
        if not self._is_single(first):
            self._divide_boxes()
            return None
        if self._others and not first[-1]:
            self._bound_configurations()
            return None
        _, _, _, low, _, _ = heappop(self._heap)
        chosen = self._options(low)
        if chosen in self._found or any(one.fails(low) for one in self._sampled):
            return None
        self._found.add(chosen)
        return chosen

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
        self._bounding += [one for one in failed if one not in self._bounding]

    def _price(self, requirements: Sequence[PartRequirement]) -> bool:
        """Return whether some requirements have a price; begin with what holds with these."""
        for one in requirements:
            priced = priced_limit(self._every, one.over)
            if priced is not None:
                self._bounding.append(one)
                self._prices.append(priced)
                self._limit = min(self._limit, _a_little_more(priced.holding))
        if self._prices:
            self._within_limit()
            self._merge_fronts()
        return bool(self._prices)

    def _within_limit(self) -> None:
        """Begin again with the options that can be in what costs no more than the limit."""
        own = [one.places_within(self._limit) for one in self._prices]
        places = [reduce(np.intersect1d, each) for each in zip(*own, strict=True)]
        if not all(each.size for each in places):
            self._heap = []  # nothing costs so little
            return
        problem = self._every
        for axis, each in enumerate(places):
            problem = problem.with_options(axis, each)
        self._begin(problem, [one.of_options(places) for one in self._prices])

    def _merge_fronts(self) -> None:
        """Look for what costs least with the dearest limit that has a price, all others apart.

        Nothing that is left costs less; it is the next configuration to be returned.
        """
        if not self._heap:
            return
        dearest = max(self._priced, key=lambda one: one.lowest)
        found = merged_fronts(dearest.limited, self._limit)
        if found is None or found.least <= self._floor:
            return
        self._floor = found.least
        if found.places is not None:
            places = np.array([found.places])
            (cost,) = self._bounds(self._cost, places, places)
            self._candidate = float(cost.low[0]), self._options(found.places)

    def _raise_limit(self) -> None:
        """Begin again with a larger limit, at last with none: nothing costs less than that one."""
        least = max((one.lowest for one in self._prices), default=-inf)
        self._raises += 1
        self._limit += (_RAISED - 1) * (self._limit - least) if self._raises < _RAISES else inf
        self._within_limit()

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


def _a_little_more(cost: float) -> float:
    return cost + abs(cost) * _SPARE
