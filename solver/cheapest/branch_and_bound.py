"""The cheapest of the options that are left: branch and bound over boxes of options.

A box has some options of each choice. Bounds of the cost say how cheap a configuration in it can
be, those of the requirements whether any can hold. Boxes are halved, those that may be cheapest
first, so that the first configuration found to hold is the cheapest (Land and Doig 1960; with
bounds by interval arithmetic, which are proofs: Moore, Kearfott and Cloud 2009, chapter 5).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

import numpy as np

from qps.engine.evaluators.row_bounds import Bounds
from qps.solver.cheapest.option_values import SearchProblem
from qps.solver.cheapest.part_values import BoundedFormula, Floats, Ints, LeastBetween
from qps.solver.cheapest.sampled_requirements import SampledBoxes

_TOGETHER = 256
"""Boxes that are halved together."""

Chosen = tuple[int, ...]
"""For each axis the option of the design space."""


@dataclass(kw_only=True)
class BranchAndBound:
    """The configurations of a search, the cheapest first."""

    problem: SearchProblem
    boxes: int = 0
    """How many boxes have been bounded."""
    _heap: list[tuple[float, int, int, Chosen, Chosen]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.problem = _by_cost(self.problem)
        parts = self.problem.parts
        self._cost = self.problem.bounded(self.problem.cost)
        self._requirements = [
            (self.problem.bounded(one.over), one.strict) for one in self.problem.requirements
        ]
        self._requirements = [one for one in self._requirements if len(one[0].axes) > 1]
        self._tables = {
            one.symbol: (LeastBetween(one.low), LeastBetween(-one.high)) for one in parts
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

        None where boxes had to be halved first: then they were.
        """
        if self._is_single(self._heap[0]):
            _, _, _, low, _ = heappop(self._heap)
            if any(one.fails(low) for one in self._sampled):
                return None
            return self._options(low)
        boxes: list[tuple[float, int, int, Chosen, Chosen]] = []
        while self._heap and len(boxes) < _TOGETHER and not self._is_single(self._heap[0]):
            boxes.append(heappop(self._heap))
        self._halve(np.array([box[3] for box in boxes]), np.array([box[4] for box in boxes]))
        return None

    @staticmethod
    def _is_single(box: tuple[float, int, int, Chosen, Chosen]) -> bool:
        return box[3] == box[4]

    def _options(self, places: Chosen) -> Chosen:
        both = zip(self.problem.options, places, strict=True)
        return tuple(int(options[place]) for options, place in both)

    def _halve(self, low: Ints, high: Ints) -> None:
        """Halve boxes along the axis in which their cost varies most, and add what may hold."""
        axis = np.argmax(self._spread(low, high), axis=1)
        rows = np.arange(axis.size)
        middle = (low[rows, axis] + high[rows, axis]) // 2
        cheap, dear = high.copy(), low.copy()
        cheap[rows, axis], dear[rows, axis] = middle, middle + 1
        self._add(np.concatenate((low, dear)), np.concatenate((cheap, high)))

    def _spread(self, low: Ints, high: Ints) -> Floats:
        """Return by how much the cost varies along each axis, at least by how many options."""
        spread = (high - low) * 1e-9
        for one in self._cost.parts:
            at = one.axis
            spread[:, at] += np.abs(one.low[high[:, at]] - one.low[low[:, at]])
        return np.where(high > low, spread, -1.0)

    def _add(self, low: Ints, high: Ints) -> None:
        self.boxes += low.shape[0]
        for formula, strict in self._requirements:
            found = self._bounds(formula, low, high)
            left = ~(found.low >= 0 if strict else found.low > 0)
            low, high = low[left], high[left]
            if not low.shape[0]:
                return
        for sampled in self._sampled:
            left = ~sampled.always_fails(low, high)
            low, high = low[left], high[left]
            if not low.shape[0]:
                return
        cost = self._bounds(self._cost, low, high)
        lows, highs = low.tolist(), high.tolist()
        for at, least in enumerate(np.nan_to_num(cost.low, nan=-inf).tolist()):
            first, last = tuple(lows[at]), tuple(highs[at])
            width = sum(b - a for a, b in zip(first, last, strict=True))
            heappush(self._heap, (least, width, self.boxes + at, first, last))

    def _bounds(self, formula: BoundedFormula, low: Ints, high: Ints) -> Bounds:
        ends = []
        for one in formula.parts:
            least, most = self._tables[one.symbol]
            start, end = low[:, one.axis], high[:, one.axis]
            ends.append((least.between(start, end), -most.between(start, end)))
        return formula.bounds(ends)


def _by_cost(problem: SearchProblem) -> SearchProblem:
    """Return a search with the options of each axis by what they cost, the cheapest first."""
    costs: dict[int, Floats] = {}
    for one in problem.bounded(problem.cost).parts:
        costs[one.axis] = costs.get(one.axis, 0.0) + one.low
    for axis, cost in costs.items():
        problem = problem.with_options(axis, np.argsort(cost, kind="stable"))
    return problem
