"""The cheapest configuration that supports a population, over all structures of a design space.

Bounds leave out what cannot be cheapest; what is left is tried in the order of its cost, as
`qps solve` would: with the machines as they stand, in all modes, for all populations up to the one
that is planned for. So the first configuration that passes is the cheapest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from math import inf

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import in_each_mode
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.capacity import fails_at
from qps.solver.answers.graph_criteria import deciding_criteria, when_it_fails
from qps.solver.cheapest.branch_and_bound import BranchAndBound, Chosen
from qps.solver.cheapest.design_conditions import axes_of_conditions, is_excluded
from qps.solver.cheapest.design_formulas import with_relaxed
from qps.solver.cheapest.design_space import DesignSpace
from qps.solver.cheapest.fewer_options import with_fewer_options, with_possible_options
from qps.solver.cheapest.lowered_space import LoweredSpace
from qps.solver.cheapest.option_values import SearchProblem
from qps.solver.cheapest.search_record import CheapestSearch, DesignOutcome

MOST_BOXES = 4_000_000
MOST_TRIED = 500
"""Boxes that are bounded, and configurations that are tried one by one, before a search ends."""
_FEW_BOXES, _FEW_TRIED = 20_000, 60
"""The same before options are compared with each other, which takes longer than most searches."""
_ALIKE = 1e-9
"""Part of a cost by which others may be larger and are compared with it."""


class DesignRequest(Struct, frozen=True, kw_only=True):
    """What is searched: the cheapest of some configurations that supports a population.

    `relaxed` are factors of numbers, such as limits, by their names; of an axis only the `allowed`
    options may be chosen, all without an entry. What is found is any configuration `besides` one,
    and costs less than `below`. Its capacity is looked for if the result `is_solved` after that.
    No more than `most_boxes` are bounded.
    """

    lowered: LoweredSpace
    choices: ir.DesignChoices
    users: int
    relaxed: tuple[tuple[str, Formula], ...] = ()
    allowed: tuple[tuple[int, frozenset[int]], ...] = ()
    besides: Chosen | None = None
    below: float = inf
    is_solved: bool = False
    most_boxes: int = MOST_BOXES

    @property
    def space(self) -> DesignSpace:
        """All configurations to choose from."""
        return self.lowered.space

    @property
    def evaluation_question(self) -> str:
        """What decides about the outcome of a configuration, in a text for a record."""
        relaxed = [f"{name} * {factor}" for name, factor in self.relaxed]
        return f"{self.users} users, relaxed {relaxed}, solved {self.is_solved}"

    @property
    def question(self) -> str:
        """What decides about the outcome of the search, in a text for a record."""
        allowed = [(axis, sorted(options)) for axis, options in self.allowed]
        limits = f"besides {self.besides}, below {self.below!r}, boxes {self.most_boxes}"
        return f"{self.evaluation_question}, allowed {allowed}, {limits}"


class _Effort(Enum):
    """What a search does: a few boxes; options compared with each other before; all it can."""

    QUICK = "quick"
    PREFERRING = "preferring"
    COMPLETE = "complete"


def cheapest(request: DesignRequest) -> CheapestSearch:
    """Return the cheapest configuration."""
    found: CheapestSearch | None = None
    for effort in _Effort:
        found = _cheapest(request, effort)
        if found is not None:
            return found
    raise AssertionError("a complete search has an outcome")


def next_cheapest(request: DesignRequest, best: Chosen) -> list[Chosen]:
    """Return configurations of which one is the cheapest besides the `best`; none for none.

    Where these are too many to be compared one by one, it differs from the best in some choice: for
    each, the cheapest without that option of the best.
    """
    besides = _cheapest(replace(request, besides=best), _Effort.QUICK)
    if besides is not None:
        return [] if besides.found is None else [besides.found]
    others: list[Chosen] = []
    below = request.below
    for axis, option in enumerate(best):
        every = frozenset(range(len(request.space.axes[axis].options)))
        found = cheapest(replace(request, allowed=((axis, every - {option}),), below=below))
        if found.found is not None:
            others.append(found.found)
            below = min(below, found.cost + abs(found.cost) * _ALIKE)
    return list(dict.fromkeys(others))


def _cheapest(request: DesignRequest, effort: _Effort) -> CheapestSearch | None:
    """Return the cheapest configuration, searched once; None where that takes another effort."""
    return request.lowered.record.search(
        f"{request.question}, {effort.value} search",
        tuple(len(axis.options) for axis in request.space.axes),
        request.lowered.dimension,
        lambda: _searched(request, effort),
    )


def _searched(request: DesignRequest, effort: _Effort) -> CheapestSearch | None:
    """Search the cheapest configuration; None where that takes another effort.

    What is no worse at the population may still fail for fewer users, or not fit its machines:
    then no option may be preferred to another.
    """
    is_quick, prefers = effort is _Effort.QUICK, effort is _Effort.PREFERRING
    most_boxes, most_tried = (
        (_FEW_BOXES, _FEW_TRIED) if is_quick else (request.most_boxes, MOST_TRIED)
    )
    searches = _Searches(list(_searches(request, effort)), most_boxes, request.below)
    found, cost = None, inf
    tried = 0
    for chosen, least in searches.in_order():
        configuration = request.space.configured(chosen)
        if chosen == request.besides or is_excluded(request.choices.excluded, configuration):
            continue
        if tried == most_tried:
            break
        tried += 1
        evaluate = partial(outcome_of, request, chosen)
        outcome = request.lowered.record.outcome(
            request.evaluation_question, chosen, least, evaluate
        )
        if outcome is DesignOutcome.FAILS_OTHERWISE and prefers:
            return None
        if outcome is DesignOutcome.SUPPORTS:
            found, cost = chosen, least
            break
    is_complete = searches.is_complete and (found is not None or tried < most_tried)
    if is_quick and not is_complete:
        return None
    return CheapestSearch(
        found=found,
        cost=cost,
        is_complete=is_complete,
        dimension=request.lowered.dimension,
        boxes=searches.boxes,
        tried=tried,
    )


def outcome_of(request: DesignRequest, chosen: Chosen) -> DesignOutcome:
    """Return whether a configuration supports the population, as it would be solved by itself."""
    sink, model = Sink(), request.space.model
    configuration = request.space.configured(chosen)
    for each in (configuration, *in_each_mode(model, configuration)):
        check_placement(model, each, sink)
    if sink.has_errors:
        return DesignOutcome.FAILS_OTHERWISE
    stated = request.lowered.graphs.as_stated(chosen)
    if stated is not None:
        outcome = _outcome_with(request, stated)
        if outcome is not DesignOutcome.SUPPORTS:
            return outcome
    if request.is_solved and not request.relaxed:
        outcome = _outcome_by_capacity(request, chosen)
    else:
        outcome = _outcome_with(request, request.lowered.graphs.of(chosen))
    if stated is None or outcome is DesignOutcome.SUPPORTS:
        return outcome
    # What surely fails there in too many samples was left out before.
    return DesignOutcome.FAILS_OTHERWISE


def _outcome_with(request: DesignRequest, graphs: Iterable[LoadGraph]) -> DesignOutcome:
    """Return whether the graphs of all modes support the population, and fewer users as well."""
    relaxed = dict(request.relaxed)
    is_earlier = False
    for each in graphs:
        graph = with_relaxed(each, relaxed)
        for criterion in deciding_criteria(graph):
            failure = when_it_fails(graph, criterion, until=request.users)
            if failure is None or failure > request.users:
                continue
            if fails_at(graph, criterion, request.users):
                return DesignOutcome.FAILS_THERE
            is_earlier = True
    return DesignOutcome.FAILS_OTHERWISE if is_earlier else DesignOutcome.SUPPORTS


def _outcome_by_capacity(request: DesignRequest, chosen: Chosen) -> DesignOutcome:
    """Return the same by the capacity of a configuration, which its solution needs."""
    for graph in request.lowered.graphs.of(chosen):
        if any(fails_at(graph, criterion, request.users) for criterion in deciding_criteria(graph)):
            return DesignOutcome.FAILS_THERE
    first = request.lowered.graphs.weakest(chosen).first
    is_supported = first is None or first > request.users
    return DesignOutcome.SUPPORTS if is_supported else DesignOutcome.FAILS_OTHERWISE


class _Searches:
    """The searches of all structures, as one: the cheapest of all comes first."""

    def __init__(self, searches: Sequence[BranchAndBound], most_boxes: int, below: float) -> None:
        self._searches = searches
        self._most_boxes = most_boxes
        self._below = below
        self.is_complete = True

    @property
    def boxes(self) -> int:
        """How many boxes have been bounded."""
        return sum(one.boxes for one in self._searches)

    def in_order(self) -> Iterator[tuple[Chosen, float]]:
        """Yield configurations that may hold, in the order of what they cost at least."""
        while True:
            search = min(self._searches, key=lambda one: one.least_cost, default=None)
            if search is None or search.least_cost >= self._below:
                return
            if self.boxes > self._most_boxes:
                self.is_complete = False
                return
            cost, found = search.least_cost, search.step()
            if found is not None:
                yield found, cost


def _searches(request: DesignRequest, effort: _Effort) -> Iterator[BranchAndBound]:
    """Yield a search for each structure in which something may hold.

    Where options are preferred, those to which others are preferred are left out, but for choices
    that conditions name: the preferred ones may be excluded.
    """
    space = request.space
    conditioned = axes_of_conditions(request.choices.excluded, space)
    is_preferring = effort is _Effort.PREFERRING
    compared = set(range(len(space.axes))) - conditioned if is_preferring else set[int]()
    lowered = request.lowered
    for structure in lowered.structures:
        problem = lowered.problems.of(structure, request.users, request.relaxed)
        for axis, allowed in request.allowed:
            problem = None if problem is None else _with_allowed(problem, axis, allowed)
        if problem is not None:
            is_quick = effort is _Effort.QUICK
            problem = (
                with_possible_options(problem)
                if is_quick
                else with_fewer_options(problem, compared)
            )
        if problem is not None:
            yield BranchAndBound(problem=problem)


def _with_allowed(
    problem: SearchProblem, axis: int, allowed: frozenset[int]
) -> SearchProblem | None:
    """Return a search with some options of an axis alone; None where none of them is left."""
    places = np.flatnonzero([option in allowed for option in problem.options[axis].tolist()])
    return problem.with_options(axis, places) if places.size else None
