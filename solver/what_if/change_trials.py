"""Tries single changes: what each gives, in all modes, by the graphs of the changed model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.configure.placement import check_placement
from qps.compiler.configure.settable_numbers import places_of_numbers
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.point_values import EvaluationPoint
from qps.solver.answers.answer_certainty import largest_known
from qps.solver.answers.answer_parts import Advice, ChangeKind
from qps.solver.answers.capacity import excess
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.solution import FirstFailure, Solution
from qps.solver.answers.worst_mode import weakest_modes
from qps.solver.search.certain_signs import sign_of
from qps.solver.what_if.candidates import Candidate
from qps.solver.what_if.first_users import Ladder, mildest
from qps.solver.what_if.infeasibility_screen import Outlines

MOST_OF_A_KIND = 3
NOTHING: Mapping[ChangeKind, list[Advice]] = {kind: [] for kind in ChangeKind}
"""No changes of any kind that are known to help."""
_NOTICEABLE = 0.005
"""A part of a resource's capacity; a load that rises by less has not taken over demand."""
_LESS = 1 - 1e-9
"""A load that falls to more than this part of itself has not fallen."""
_WITHOUT_END = 1000
"""So many times what there is counts as a capacity without end."""


class ChangeTrials(Struct, kw_only=True, dict=True):
    """Tries changes; what they are applied to is lowered once."""

    model: ir.Model
    configuration: Configuration
    solution: Solution
    outlines: Outlines
    _graphs: dict[object, LoadGraph] = field(default_factory=dict)

    @cached_property
    def _places(self) -> Mapping[str, str]:
        """The node or link of each resource, and of each number of what stands there."""
        graph = self.solution.graph
        of_resources = {name: graph.network.place_of(name) for name in graph.resources}
        return places_of_numbers(self.model, self.configuration) | of_resources

    def tried(self, candidate: Candidate, best: Mapping[ChangeKind, list[Advice]]) -> Advice | None:
        """Return what a change gives.

        None where it does not help, cannot be, or helps less than the best of its kind.
        """
        try:
            sink = Sink()
            check_placement(self.model, candidate.configuration, sink)
            return None if sink.has_errors else self._helping(candidate, best)
        except QpsError:
            return None  # a change that the model cannot answer is no advice

    def supports_users(self, candidate: Candidate) -> bool:
        """Return whether a change carries anybody where nobody is carried now."""
        return self.supports(candidate, self.now + 1)

    def supports(self, candidate: Candidate, population: int) -> bool:
        """Return whether a change carries a population."""
        try:
            sink = Sink()
            check_placement(self.model, candidate.configuration, sink)
            graphs = self._weakest_first(candidate)
            return not sink.has_errors and self._acceptable(graphs, population)
        except QpsError:
            return False

    def relaxed(self, ladder: Ladder) -> tuple[Candidate, Advice | None]:
        """Return the mildest step that a goal is relaxed by, and what it gives.

        That is the first that supports anybody, or all that the last one supports: beyond it,
        something else limits the capacity.
        """
        if self.solution.capacity is None:
            step = mildest(ladder, self.supports_users)
            return step or ladder[-1], None if step is None else self.tried(step, NOTHING)
        last = self.tried(ladder[-1], NOTHING)
        if last is None:
            return ladder[-1], None
        step = mildest(ladder, lambda one: self.supports(one, last.capacity))
        if step is None or step is ladder[-1]:
            return ladder[-1], last
        return step, self.tried(step, NOTHING)

    def next_limit(self, candidate: Candidate, largest: int) -> tuple[LoadGraph, Criterion] | None:
        """Return what fails first beyond the capacity with a change, and the graph of its mode."""
        return next(
            (
                (graph, criterion)
                for graph in self._graphs_of(candidate)
                for criterion in all_criteria(graph)
                if largest < graph.high and self._fails(criterion, graph, largest + 1)
            ),
            None,
        )

    def _graphs_of(self, candidate: Candidate) -> list[LoadGraph]:
        modes = in_each_mode(self.model, candidate.configuration)
        return [self._graph_of(mode, candidate) for mode in modes]

    def _weakest_first(self, candidate: Candidate) -> Iterator[LoadGraph]:
        """Yield the graphs of all modes, each as it is used: those first that support least now."""
        capacities = {one.mode: one.capacity or 0 for one in self.solution.modes}
        modes = in_each_mode(self.model, candidate.configuration)
        for mode in sorted(modes, key=lambda one: capacities.get(one.mode or "", 0)):
            yield self._graph_of(mode, candidate)

    def _graph_of(self, mode: Configuration, candidate: Candidate) -> LoadGraph:
        return _times(self._lowered(mode), candidate.factors)

    @property
    def now(self) -> int:
        """The capacity without a change; that below the range where it is none."""
        return self.solution.capacity or self.solution.graph.low - 1

    def _helping(
        self, candidate: Candidate, best: Mapping[ChangeKind, list[Advice]]
    ) -> Advice | None:
        if self._is_dominated(candidate, best):
            return None
        if not self._acceptable(self._weakest_first(candidate), self.now + 1):
            return None
        graphs = self._graphs_of(candidate)
        effect = self._competitive_effect(candidate, graphs, best)
        is_setting = candidate.kind is None
        is_choice = is_setting and not (candidate.is_capacity or candidate.is_goal)
        if effect is None or (is_choice and self._lifts_a_limit(graphs)):
            return None
        kind, to, headroom = effect
        first = weakest_modes(list(self._weakest_first(candidate))).first
        largest = graphs[0].high if first is None else first - 1
        if largest <= self.now:
            return None
        return Advice(
            kind=kind,
            name=candidate.name,
            change=candidate.text,
            set=candidate.is_setting,
            capacity=largest,
            range_limits=largest == self.solution.graph.high,
            to=to,
            headroom=headroom,
            known=self._known(graphs, largest),
            factor=None if candidate.factor is None else float(candidate.factor),
            price=self._price(candidate, graphs, is_running=False),
            running_price=self._price(candidate, graphs, is_running=True),
            rewrite=candidate.rewrite,
            together=tuple(_part(one, largest) for one in candidate.together),
        )

    def _lifts_a_limit(self, graphs: Sequence[LoadGraph]) -> bool:
        """Return whether a choice leaves a resource next to no load, but some of it.

        So it is where what is assumed has a capacity without end: that is nothing to be had.
        """
        before, graph = self.solution.graph, self._in_the_mode(graphs)
        now, there = before.at(self.solution.at), self._at(graph, self.solution.at)
        return any(
            0 < there.number(resource.load) < now.number(before.resources[name].load) / _WITHOUT_END
            for name, resource in graph.resources.items()
            if name in before.resources
        )

    def _price(
        self, candidate: Candidate, graphs: Sequence[LoadGraph], *, is_running: bool
    ) -> float | None:
        """Return what a change costs more for as many users as there are now.

        None where that is not known: of what has no price before or after, and of more capacity at
        the same one.
        """
        before, there = self.solution.graph, self._in_the_mode(graphs)
        now, after = (graph.cost(is_running=is_running) for graph in (before, there))
        if (
            now is None
            or after is None
            or set(before.stated.unpriced) != set(there.stated.unpriced)
        ):
            return None
        places = [self._places.get(one.name, one.name) for one in candidate.together]
        if any(place in before.stated.unpriced for place in places):
            return None
        at = self.solution.at
        more = there.at(at).number(after) - before.at(at).number(now)
        place = self._places.get(candidate.name, candidate.name)
        is_free = candidate.is_capacity and (
            candidate.factor is not None or place in before.stated.unpriced
        )
        return None if is_free and more == 0 else more

    def _is_dominated(self, candidate: Candidate, best: Mapping[ChangeKind, list[Advice]]) -> bool:
        """Return whether a change is sure to help less than others, before it is lowered."""
        graphs = [
            _times(graph, candidate.factors) for graph in self.outlines.of(candidate.configuration)
        ]
        if not graphs:
            return False
        if self.outlines.still_fails(graphs, self.now + 1):
            return True
        kind = ChangeKind.GOAL if candidate.is_goal else ChangeKind.CAPACITY
        if not (candidate.is_capacity or candidate.is_goal):
            graph = self._in_the_mode(graphs)
            kind = self._moved(graph, self.outlines.at(graph, self.solution.at))[0]
        least = self._least(candidate, kind, best)
        return least is not None and self.outlines.still_fails(graphs, least)

    def _in_the_mode(self, graphs: Sequence[LoadGraph]) -> LoadGraph:
        """Return the graph of the mode that limits; where hours have changed, there may be none."""
        mode = self.solution.graph.mode
        return next((graph for graph in graphs if graph.mode == mode), graphs[0])

    @staticmethod
    def _least(
        candidate: Candidate, kind: ChangeKind, best: Mapping[ChangeKind, list[Advice]]
    ) -> int | None:
        """Return what a change must give to be among the best; None where there are few."""
        if len(best[kind]) < MOST_OF_A_KIND:
            return None
        last = best[kind][-1]
        return last.capacity + (candidate.text > last.change)

    def _competitive_effect(
        self,
        candidate: Candidate,
        graphs: Sequence[LoadGraph],
        best: Mapping[ChangeKind, list[Advice]],
    ) -> tuple[ChangeKind, str | None, float | None] | None:
        """Return how a change helps, to where demand moves and what is left there.

        None where it helps less than the best of its kind. To be acceptable at one population is
        reported sooner than its end.
        """
        kind = ChangeKind.GOAL if candidate.is_goal else ChangeKind.CAPACITY
        effect: tuple[ChangeKind, str | None, float | None] = kind, None, None
        if candidate.kind is not None:
            effect = candidate.kind, candidate.to, self._headroom(candidate.to, graphs)
        elif not (candidate.is_capacity or candidate.is_goal):
            graph = self._in_the_mode(graphs)
            effect = self._moved(graph, self._at(graph, self.solution.at))
        least = self._least(candidate, effect[0], best)
        return effect if least is None or self._acceptable(graphs, least) else None

    def _headroom(self, to: str | None, graphs: Sequence[LoadGraph]) -> float | None:
        """Return what a resource has left at the population of the answer so far."""
        graph = self._in_the_mode(graphs)
        if to is None or to not in graph.resources:
            return None
        there, resource = self._at(graph, self.solution.at), graph.resources[to]
        return there.number(resource.target) - there.number(resource.load)

    def _at(self, graph: LoadGraph, population: int) -> EvaluationPoint:
        """Return a graph at a population: where its numbers are those of now, most is known there.

        All numbers at once: a formula in the population alone takes much longer to make.
        """
        now = self.solution.graph
        has_same_numbers = graph.values.items() <= now.values.items()
        return (now if has_same_numbers else graph).at(population)

    def _fails(self, criterion: Criterion, graph: LoadGraph, population: int) -> bool:
        sign = sign_of(excess(criterion), self._at(graph, population))
        return sign is None or sign > 0 or (criterion.strict and sign == 0)

    def _acceptable(self, graphs: Iterable[LoadGraph], population: int) -> bool:
        """Return whether a population is acceptable in all modes."""
        return not any(
            self._fails(criterion, graph, population)
            for graph in graphs
            for criterion in all_criteria(graph)
        )

    def _known(self, graphs: Sequence[LoadGraph], largest: int) -> Certainty:
        """Return how the largest acceptable population of all modes is known."""
        judged = [(graph, criterion) for graph in graphs for criterion in all_criteria(graph)]
        if all(one.known.is_exact and one.known_in_series.is_exact for _, one in judged):
            return EXACT
        beyond = largest + 1
        failures = [
            FirstFailure(one, beyond, known_at(graph, one, beyond))
            if beyond <= graph.high and self._fails(one, graph, beyond)
            else FirstFailure(one, None)
            for graph, one in judged
        ]
        return largest_known(failures, graphs[0].low)

    def _moved(
        self, after: LoadGraph, there: EvaluationPoint
    ) -> tuple[ChangeKind, str | None, float | None]:
        """Tell whether demand was taken away, moved, or neither: to where, and what is left there.

        `there` is the graph at the population of the answer so far.
        """
        before, at = self.solution.graph, self.solution.at
        # Elastic parameters take what is freed: at the rates of before, what was moved shows.
        held = {
            one.parameter.symbol: before.at(at).constant(one.value)
            for one in (*after.elastic, *before.elastic)
        }
        loads, old = self._loads(after, held, there), self._loads(before, held, before.at(at))
        rises = {
            name: load - old.get(name, 0.0)
            for name, load in loads.items()
            if load - old.get(name, 0.0) > _NOTICEABLE
        }
        if not any(loads.get(name, 0.0) < load * _LESS for name, load in old.items()):
            return ChangeKind.OTHER, None, None
        if not rises:
            return ChangeKind.DEMAND, None, None
        to = max(rises, key=lambda name: rises[name])
        return ChangeKind.SHIFT, to, there.number(after.resources[to].target) - loads[to]

    def _loads(
        self, graph: LoadGraph, loads: Mapping[Formula, Formula], point: EvaluationPoint
    ) -> dict[str, float]:
        """Return the loads at the answer so far, with elastic parameters as they are held."""
        if loads:
            users = {graph.population: number(self.solution.at)}
            point = EvaluationPoint({**graph.values, **loads, **users})
        return {name: point.number(r.unresolved) for name, r in graph.resources.items()}

    def _lowered(self, configuration: Configuration) -> LoadGraph:
        key = configuration.key(self.configuration)
        if key not in self._graphs:
            self._graphs[key] = lower(self.model, configuration, by_points=False)
        return self._graphs[key]


def _part(candidate: Candidate, capacity: int) -> Advice:
    """Return one of several changes that are made together."""
    return Advice(
        kind=ChangeKind.CAPACITY,
        name=candidate.name,
        change=candidate.text,
        set=candidate.is_setting,
        capacity=capacity,
        range_limits=False,
        factor=None if candidate.factor is None else float(candidate.factor),
    )


def _times(graph: LoadGraph, factors: Mapping[str, Fraction]) -> LoadGraph:
    """Return a graph with some of its numbers multiplied."""
    known = graph.assumptions
    return graph.with_values({n: known[n].value * by for n, by in factors.items() if n in known})
