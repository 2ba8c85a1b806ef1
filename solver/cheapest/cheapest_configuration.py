"""The cheapest configuration that supports a population, over all structures of a design space.

Bounds leave out what cannot be cheapest; what is left is tried in the order of its cost, as
`qps solve` would: with the machines as they stand, in all modes, for all populations up to the one
that is planned for. So the first configuration that passes is the cheapest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from math import inf

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.lower.certainty_requirements import as_stated
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.capacity import fails_at
from qps.solver.answers.graph_criteria import all_criteria, when_it_fails
from qps.solver.cheapest.branch_and_bound import BranchAndBound, Chosen
from qps.solver.cheapest.design_conditions import axes_of_conditions, is_excluded
from qps.solver.cheapest.design_formulas import with_relaxed
from qps.solver.cheapest.design_space import DesignSpace
from qps.solver.cheapest.fewer_options import with_fewer_options
from qps.solver.cheapest.lowered_space import LoweredSpace
from qps.solver.cheapest.option_values import SearchProblem, search_problem
from qps.solver.uncertainty.confidence_interface import model_at_confidence

MOST_BOXES = 4_000_000
MOST_TRIED = 500
"""Boxes that are bounded, and configurations that are tried one by one, before a search ends."""


class DesignRequest(Struct, frozen=True, kw_only=True):
    """What is searched: the cheapest of some configurations that supports a population.

    `relaxed` are factors of numbers, such as limits, by their names; of the axis `without` an
    option, both by number, all others are left.
    """

    lowered: LoweredSpace
    choices: ir.DesignChoices
    users: int
    relaxed: tuple[tuple[str, Formula], ...] = ()
    without: tuple[int, int] | None = None

    @property
    def space(self) -> DesignSpace:
        """All configurations to choose from."""
        return self.lowered.space


class CheapestSearch(Struct, frozen=True, kw_only=True):
    """What a search comes to: the cheapest configuration.

    Without it, none supports the population if the search `is_complete`. Costs have a
    `dimension`. `boxes` and `tried` say how much was bounded, and how many configurations were
    tried.
    """

    found: Chosen | None
    is_complete: bool
    dimension: Dimension
    boxes: int
    tried: int


def cheapest(request: DesignRequest) -> CheapestSearch:
    """Return the cheapest configuration."""
    found = _cheapest(request, prefers=True)
    if found is None:
        found = _cheapest(request, prefers=False)
    assert found is not None, "without preferences a search ends"
    return found


def next_cheapest(request: DesignRequest, best: Chosen) -> list[Chosen]:
    """Return configurations of which one is the cheapest besides the `best`; none for none.

    It differs from that in some choice: for each, the cheapest without that option of the best.
    """
    others = (
        cheapest(replace(request, without=(axis, option))).found for axis, option in enumerate(best)
    )
    return list(dict.fromkeys(one for one in others if one is not None))


def _cheapest(request: DesignRequest, *, prefers: bool) -> CheapestSearch | None:
    """Return the cheapest configuration; None where no option may be preferred to another.

    What is no worse at the population may still fail for fewer users, or not fit its machines.
    """
    searches = _Searches(list(_searches(request, prefers=prefers)))
    found: Chosen | None = None
    tried = 0
    for chosen in searches.in_order():
        configuration = request.space.configured(chosen)
        if is_excluded(request.choices.excluded, configuration):
            continue
        tried += 1
        outcome = outcome_of(request, configuration)
        if outcome is DesignOutcome.FAILS_OTHERWISE and prefers:
            return None
        if outcome is DesignOutcome.SUPPORTS:
            found = chosen
        if found is not None or tried == MOST_TRIED:
            break
    return CheapestSearch(
        found=found,
        is_complete=searches.is_complete and (found is not None or tried < MOST_TRIED),
        dimension=request.lowered.dimension,
        boxes=searches.boxes,
        tried=tried,
    )


class DesignOutcome(Enum):
    """Whether a configuration supports a population; if not, whether it fails there."""

    SUPPORTS = "supports"
    FAILS_THERE = "fails there"
    FAILS_OTHERWISE = "fails for fewer users, or cannot be built"


def outcome_of(request: DesignRequest, configuration: Configuration) -> DesignOutcome:
    """Return whether a configuration supports the population, as it would be solved by itself."""
    sink = Sink()
    check_placement(request.space.model, configuration, sink)
    if sink.has_errors:
        return DesignOutcome.FAILS_OTHERWISE
    stated = as_stated(request.space.model, configuration)
    outcome = _outcome_with(request, stated, configuration)
    if outcome is not DesignOutcome.SUPPORTS or stated is request.space.model:
        return outcome
    # What surely fails there in too many samples was left out before.
    model = model_at_confidence(request.space.model, configuration)
    outcome = _outcome_with(request, model, configuration)
    is_supported = outcome is DesignOutcome.SUPPORTS
    return outcome if is_supported else DesignOutcome.FAILS_OTHERWISE


def _outcome_with(
    request: DesignRequest, model: ir.Model, configuration: Configuration
) -> DesignOutcome:
    """Return whether a model supports the population in all modes, and for fewer users as well."""
    relaxed = dict(request.relaxed)
    is_earlier = False
    for each in in_each_mode(model, configuration):
        graph = with_relaxed(lower(model, each), relaxed)
        for criterion in all_criteria(graph):
            failure = when_it_fails(graph, criterion, until=request.users)
            if failure is None or failure > request.users:
                continue
            if fails_at(graph, criterion, request.users):
                return DesignOutcome.FAILS_THERE
            is_earlier = True
    return DesignOutcome.FAILS_OTHERWISE if is_earlier else DesignOutcome.SUPPORTS


class _Searches:
    """The searches of all structures, as one: the cheapest of all comes first."""

    def __init__(self, searches: Sequence[BranchAndBound]) -> None:
        self._searches = searches
        self.is_complete = True

    @property
    def boxes(self) -> int:
        """How many boxes have been bounded."""
        return sum(one.boxes for one in self._searches)

    def in_order(self) -> Iterator[Chosen]:
        """Yield configurations that may hold, in the order of what they cost at least."""
        while True:
            search = min(self._searches, key=lambda one: one.least_cost, default=None)
            if search is None or search.least_cost == inf:
                return
            if self.boxes > MOST_BOXES:
                self.is_complete = False
                return
            found = search.step()
            if found is not None:
                yield found


def _searches(request: DesignRequest, *, prefers: bool) -> Iterator[BranchAndBound]:
    """Yield a search for each structure in which something may hold.

    Where it `prefers` options, those to which others are preferred are left out, but for choices
    that conditions name: the preferred ones may be excluded.
    """
    space = request.space
    conditioned = axes_of_conditions(request.choices.excluded, space)
    compared = set(range(len(space.axes))) - conditioned if prefers else set[int]()
    relaxed = dict(request.relaxed)
    for structure in request.lowered.structures:
        formulas = structure.formulas(request.users, relaxed)
        problem: SearchProblem | None = search_problem(space, formulas)
        if request.without is not None and problem is not None:
            problem = _without(problem, *request.without)
        if problem is not None:
            problem = with_fewer_options(problem, compared)
        if problem is not None:
            yield BranchAndBound(problem=problem)


def _without(problem: SearchProblem, axis: int, option: int) -> SearchProblem | None:
    """Return a search without an option of an axis; None where it is the only one."""
    places = np.flatnonzero(problem.options[axis] != option)
    return problem.with_options(axis, places) if places.size else None
