"""Up to where limits are met, with the confidence and the model errors of a reliable capacity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.printed_capacity import printed_capacity
from qps.solver.answers.answer_certainty import largest_known
from qps.solver.answers.answer_parts import NextLimit, ReliableCapacity
from qps.solver.answers.elastic_saturation import saturated_by_elastic
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.headroom import next_limit
from qps.solver.answers.solution import QUALITY, FirstFailure, Solution

MetUpTo: TypeAlias = Mapping[tuple[str | None, str], int]
"""The largest population up to which each criterion is met, by its mode and its name."""


class ReliableAnswer(Struct, frozen=True, kw_only=True):
    """A reliable capacity, and up to where each criterion is met as reliably."""

    capacity: ReliableCapacity
    met_up_to: MetUpTo

    @property
    def is_nominal(self) -> bool:
        """Whether it is the capacity that was computed: no input or model error lowers it."""
        return self.capacity.confidence is None and not self.capacity.allowed_for


NOTHING_MET: MetUpTo = {}


def met_up_to(mode: str | None, failures: tuple[FirstFailure, ...], high: int) -> MetUpTo:
    """Return up to where the criteria of a mode are met."""
    found: dict[tuple[str | None, str], int] = {}
    for one in failures:
        key = mode, one.criterion.name
        end = high if one.first is None else one.first - 1
        found[key] = min(end, found.get(key, end))
    return found


def least_met(*parts: MetUpTo) -> MetUpTo:
    """Return the least population of each criterion."""
    found: dict[tuple[str | None, str], int] = {}
    for key, end in (pair for part in parts for pair in part.items()):
        found[key] = min(end, found.get(key, end))
    return found


class ReliableLimits(Struct, frozen=True, kw_only=True):
    """Up to where the limits of an answer are met: none before the reliable capacity."""

    solution: Solution
    reliable: ReliableAnswer
    population: int

    def of(self, name: str) -> int | None:
        """Return up to where a criterion is met in every mode; None where it is not judged."""
        ends = [end for (_, own), end in self.reliable.met_up_to.items() if own == name]
        return self._printed(min(ends)) if ends else None

    @property
    def limited_by(self) -> str | None:
        """Return what limits the reliable capacity: the first criterion that is not met beyond it.

        Elastic traffic fills a resource before it is overloaded.
        """
        solution, capacity = self.solution, self.reliable.capacity.capacity
        if self.reliable.is_nominal and capacity == solution.capacity:
            return solution.limited_by
        if capacity == solution.graph.high:
            return None
        filled = {utilization_of(name) for name in saturated_by_elastic(solution)}
        ends = [(end, name) for (_, name), end in self._limits() if name not in filled]
        first = min(ends, key=lambda one: one[0], default=None)
        return solution.limited_by if first is None else first[1]

    def _limits(self) -> Iterator[tuple[tuple[str | None, str], int]]:
        """Yield the limits; quality that requirements make up is none of its own."""
        formulas = {one.graph.mode: one.graph.metric for one in self._modes}
        for key, end in self.reliable.met_up_to.items():
            if key[1] != QUALITY or formulas[key[0]] is ir.Metric.FORMULA:
                yield key, end

    @property
    def _modes(self) -> tuple[Solution, ...]:
        return self.solution, *self.solution.others

    def next_limit(self, limited_by: str | None) -> NextLimit | None:
        """Return the next limit, if what limits the reliable capacity were lifted."""
        solution = self.solution
        if limited_by is None:
            return None
        if self.reliable.is_nominal and limited_by == solution.limited_by:
            return next_limit(solution)
        graphs = {one.graph.mode: one.graph for one in self._modes}
        ends = {key: end for key, end in self._limits() if key[1] != limited_by}
        if not ends:
            return NextLimit(None, solution.graph.high, None)
        (mode, name), end = min(ends.items(), key=lambda one: one[1])
        if end >= solution.graph.high:
            return NextLimit(None, solution.graph.high, None)
        known = self._known(graphs[mode], name, end)
        return NextLimit(name, self._printed(end), mode, known)

    def _printed(self, end: int) -> int:
        if self.reliable.is_nominal:
            return end
        return max(self.population, printed_capacity(end, high=self.solution.graph.high))

    def _known(self, graph: LoadGraph, name: str, end: int) -> Certainty:
        """Return how the end of a limit is known; an error that is allowed for does not count."""
        if any(one.name == name for one in self.reliable.capacity.allowed_for):
            return EXACT
        criterion = next(one for one in all_criteria(graph) if one.name == name)
        known = known_at(graph, criterion, min(end + 1, graph.high))
        return largest_known([FirstFailure(criterion, end + 1, known)], graph.low)
