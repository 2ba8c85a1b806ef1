"""Plans for one choice of a spec: the cheapest configuration, and what other ones cost."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import inf, isfinite

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    changed,
    uncertain_in,
    uncertain_in_any_mode,
)
from qps.compiler.lower.certainty_requirements import with_certainty, with_factor
from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.expressions.formulas import Formula, number
from qps.solver.answers.answer_certainty import largest_known
from qps.solver.answers.answer_parts import ReliableCapacity
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.graph_solution import value_at
from qps.solver.answers.worst_mode import WorstMode
from qps.solver.cheapest.branch_and_bound import Chosen
from qps.solver.cheapest.cheapest_configuration import (
    DesignRequest,
    cheapest,
    next_cheapest,
)
from qps.solver.cheapest.design_conditions import is_excluded
from qps.solver.cheapest.design_objective import (
    everything_excluded,
    objective_of,
    objective_without_value,
    price_date,
)
from qps.solver.cheapest.design_space import DesignSpace, design_space
from qps.solver.cheapest.lowered_space import lowered_space
from qps.solver.cheapest.nearest_limits import nearest_limits
from qps.solver.cheapest.plan_result import (
    CostAtUsers,
    Plan,
    PlannedConfiguration,
    RequirementPrice,
)
from qps.solver.cheapest.search_record import CheapestSearch, SearchRecord
from qps.solver.uncertainty.interval_result import KnownSurfaces, Sampling
from qps.solver.uncertainty.reliable_capacity import capacity_of_worst, plain_worst_mode
from qps.solver.uncertainty.sampled_capacity import capacity_samples

_RELAXED = Fraction(6, 5)
_ALIKE = 1e-12
_LOADS = tuple(map(Fraction, ("0.25", "0.5", "0.75", "1", "1.25", "1.5", "2", "3", "4")))
_FEW_LOADS = tuple(map(Fraction, ("0.5", "1", "2")))
"""Parts of the population for which the front has the cheapest configuration: of many modes few."""
_FRONT_BOXES = 100_000
"""Boxes that are bounded for each of these populations; one that takes more is left out."""
_FEW_CONFIGURATIONS = 10_000
"""Configurations of which each may be looked at."""
_MANY_MODES = 8
"""Modes from which on samples are drawn for the cheapest configuration alone: each is sampled."""


class Planner:
    """Plans for one choice of a spec.

    Its searches are in a `record`, by a `name` that no other planner of the record has.
    """

    def __init__(
        self,
        model: ir.Model,
        configuration: Configuration,
        choices: ir.DesignChoices,
        *,
        record: SearchRecord | None = None,
        name: str = "plan",
    ) -> None:
        self.record = record or SearchRecord()
        self.model = model
        self.configuration = configuration
        self.choices = choices
        base = changed(configuration, choices.changes)
        self.price_date = price_date(model, base, choices)
        space = design_space(model, base, choices.axes)
        self.lowered = lowered_space(space, choices, self.record.of_space(name))
        self.space: DesignSpace = self.lowered.space
        self._solutions: dict[Chosen, WorstMode] = {}
        self._reliable: dict[tuple[tuple[str, str], ...], ReliableCapacity] = {}
        self._chosen: dict[tuple[tuple[str, str], ...], Chosen] = {}

    def search(
        self, users: int, relaxed: tuple[tuple[str, Formula], ...] = (), below: float = inf
    ) -> CheapestSearch:
        """Return the cheapest configuration for a population, among those that cost less."""
        return cheapest(self._request(users, relaxed, below))

    def of_front(self, users: int) -> CheapestSearch:
        """Return the cheapest configuration for another population, unless that takes long."""
        return cheapest(replace(self._request(users), most_boxes=_FRONT_BOXES))

    def runner_up(self, users: int, best: Chosen) -> PlannedConfiguration | None:
        """Return the cheapest configuration besides the best one; None for none."""
        others = next_cheapest(self._request(users), best)
        planned = (self.planned(one, users) for one in others)
        return min(planned, key=lambda one: one.cost, default=None)

    def _request(
        self, users: int, relaxed: tuple[tuple[str, Formula], ...] = (), below: float = inf
    ) -> DesignRequest:
        return DesignRequest(
            lowered=self.lowered,
            choices=self.choices,
            users=users,
            relaxed=relaxed,
            below=below,
            is_solved=True,
        )

    def solution(self, chosen: Chosen) -> WorstMode:
        """Return the answer of the worst mode of a configuration, which is solved once."""
        if chosen not in self._solutions:
            self._solutions[chosen] = self.lowered.graphs.worst(chosen)
        return self._solutions[chosen]

    def planned(self, chosen: Chosen, users: int) -> PlannedConfiguration:
        """Return a configuration with its cost and capacity."""
        worst = self.solution(chosen)
        configuration, graph = self.space.configured(chosen), worst.graph
        cost = objective_of(self.space.model, configuration, graph, self.choices, {})
        choices = tuple(
            (axis.name, axis.options[at].label)
            for axis, at in zip(self.space.axes, chosen, strict=True)
        )
        self._chosen[choices] = chosen
        paid = 0.0 if cost is None else value_at(graph, cost, users)
        if not isfinite(paid):
            labels = ", ".join(f"{name} {label}" for name, label in choices)
            raise objective_without_value(self.choices, labels)
        return PlannedConfiguration(
            choices=choices,
            cost=paid,
            capacity=worst.capacity,
            known=largest_known(worst.failures, graph.low),
            limited_by=worst.limited_by,
        )

    def has_many_modes(self, one: PlannedConfiguration) -> bool:
        """Return whether each configuration takes long: it is solved in every mode."""
        return len(self.solution(self._chosen[one.choices]).graphs) >= _MANY_MODES

    def as_other(self, one: PlannedConfiguration) -> PlannedConfiguration:
        """Return a configuration besides the cheapest; of many modes no samples are drawn for it.

        Then it has no reliable capacity, unless all inputs are certain.
        """
        is_long = uncertain_in(self.configuration) and self.has_many_modes(one)
        return one if is_long else self.with_reliable(one)

    def with_reliable(self, one: PlannedConfiguration) -> PlannedConfiguration:
        """Return a configuration with the capacity that can be relied on, which is solved once."""
        if one.choices not in self._reliable:
            self._reliable[one.choices] = self._reliable_capacity(self._chosen[one.choices])
        return replace(one, reliable=self._reliable[one.choices])

    def _reliable_capacity(self, chosen: Chosen) -> ReliableCapacity:
        configuration, worst = self.space.configured(chosen), self.solution(chosen)
        sampling, sampled, model = Sampling(known=KnownSurfaces()), None, self.space.model
        if uncertain_in(configuration):
            model, worst = plain_worst_mode(model, configuration, worst)
            sampled = capacity_samples(model, configuration, worst, sampling)
        return capacity_of_worst(model, configuration, worst, sampled, sampling)

    def first(
        self, users: int, relaxed: tuple[tuple[str, Formula], ...] = (), below: float = inf
    ) -> PlannedConfiguration | None:
        """Return the cheapest configuration among those that cost less; None for none."""
        found = self.search(users, relaxed, below).found
        return None if found is None else self.planned(found, users)

    def excludes_all(self) -> bool:
        """Return whether conditions exclude all configurations, as far as these are few."""
        excluded = self.choices.excluded
        if not excluded or self.space.size > _FEW_CONFIGURATIONS:
            return False
        every = product(*(range(len(axis.options)) for axis in self.space.axes))
        return all(is_excluded(excluded, self.space.configured(one)) for one in every)

    def most(self, below: float = inf) -> tuple[PlannedConfiguration | None, bool]:
        """Return the cheapest of the configurations that support most users; None for nobody.

        Of those alone that cost less; with whether it is proven that none supports more.
        """
        population = self.model.population
        low, high = population.low, population.high
        best: PlannedConfiguration | None = None
        is_proven = True
        while low <= high:
            middle = (low + high + 1) // 2 if best is not None else low
            search = self.search(middle, below=below)
            if search.found is None:
                is_proven &= search.is_complete
                high = middle - 1
            else:
                best = self.planned(search.found, middle)
                low = max(middle, best.capacity or middle) + 1
        return best, is_proven

    def any_graph(self) -> LoadGraph:
        """Return the load graph of some configuration, in one of its modes."""
        return self.lowered.graphs.of(self.lowered.structures[0].structure)[0]

    def cost_depends_on_users(self, one: PlannedConfiguration) -> bool:
        """Return whether a configuration costs more or less for another population."""
        chosen = self._chosen[one.choices]
        graph = self.solution(chosen).graph
        configuration = self.space.configured(chosen)
        cost = objective_of(self.space.model, configuration, graph, self.choices, {})
        return cost is not None and graph.population in cost.symbols


def plan(
    model: ir.Model,
    configuration: Configuration,
    choices: ir.DesignChoices,
    users: int,
    record: SearchRecord | None = None,
) -> Plan:
    """Return what to choose for a population; QpsError where nothing can be planned.

    What a `record` knows is not searched again.
    """
    return planned_for(Planner(model, configuration, choices, record=record), users)


def planned_for(planner: Planner, users: int) -> Plan:
    """Return the same with a planner."""
    model, configuration, choices = planner.model, planner.configuration, planner.choices
    search = planner.search(users)
    if search.found is None and not search.tried and planner.excludes_all():
        raise everything_excluded(choices)
    best, second = None, None
    if search.found is not None:
        best = planner.with_reliable(planner.planned(search.found, users))
        second = planner.runner_up(users, search.found)
    most = planner.most()[0] if best is None and search.is_complete else None
    omitted: list[int] = []
    front = () if best is None else tuple(_front(planner, best, users, omitted))
    return Plan(
        file=model.file,
        name=choices.name,
        population=model.population.name,
        users=users,
        high=configuration.high,
        dimension=search.dimension,
        price_date=planner.price_date,
        combinations=planner.space.size,
        is_proven=search.is_complete,
        cheapest=best,
        runner_up=None if second is None else planner.as_other(second),
        requirement_prices=()
        if best is None or search.found is None
        else tuple(_requirement_prices(planner, search.found, best, users)),
        front=front,
        omitted_populations=tuple(omitted),
        has_few_populations=best is not None and planner.has_many_modes(best),
        most=None if most is None else planner.with_reliable(most),
        nearest=()
        if best is not None or most is not None or not search.is_complete
        else nearest_limits(model.population.low, planner.any_graph(), planner.first),
        nominal_inputs=tuple(uncertain_in_any_mode(model, configuration)),
    )


def _requirement_prices(
    planner: Planner, chosen: Chosen, best: PlannedConfiguration, users: int
) -> Iterator[RequirementPrice]:
    """Yield the requirements of which a limit that is a fifth wider saves money, most first."""
    graph = planner.solution(chosen).graph
    limits = {known.symbol: name for name, known in graph.assumptions.items()}
    stated = {limits[one.limit]: one for one in all_criteria(graph) if one.limit in limits}
    found = []
    for name, criterion in stated.items():
        factor = _RELAXED if criterion.at_most else 1 / _RELAXED
        below = _less(best.cost)
        relaxed = planner.first(users, relaxed=((name, number(factor)),), below=below)
        if relaxed is None or relaxed.cost >= below:  # the same cost, rounded
            continue
        limit = value_at(graph, criterion.limit, users)
        found.append(
            RequirementPrice(
                requirement=criterion.name,
                measure=criterion.name,
                limit=limit,
                relaxed=limit * float(factor),
                dimension=criterion.dimension,
                configuration=relaxed,
            )
        )
    found += _certainty_prices(planner, best, users)
    yield from sorted(found, key=lambda one: one.configuration.cost)


def _less(cost: float) -> float:
    """Return what is less than a cost by more than rounding."""
    return cost - abs(cost) * _ALIKE


def _certainty_prices(
    planner: Planner, best: PlannedConfiguration, users: int
) -> Iterator[RequirementPrice]:
    """Yield the same of requirements with a certainty: samples are drawn and judged again."""
    if not uncertain_in(planner.configuration):
        return
    for name, one in {one.name: one for one in with_certainty(planner.model)}.items():
        stated = one.limit.expr
        if not isinstance(stated, ir.Constant):
            continue
        factor = _RELAXED if one.at_most else 1 / _RELAXED
        model = with_factor(planner.model, name, factor)
        label = f"plan with {name} * {factor}"
        other = Planner(
            model, planner.configuration, planner.choices, record=planner.record, name=label
        )
        relaxed = other.first(users, below=_less(best.cost))
        if relaxed is not None:
            yield RequirementPrice(
                requirement=name,
                measure=one.measure_name,
                certainty=None if one.certainty is None else float(one.certainty),
                limit=float(stated.value),
                relaxed=float(stated.value * factor),
                dimension=one.limit.dimension,
                configuration=relaxed,
            )


def _front(
    planner: Planner, best: PlannedConfiguration, users: int, omitted: list[int]
) -> Iterator[CostAtUsers]:
    """Yield the cheapest configurations for smaller and larger populations, each of them once.

    Populations are `omitted` of which nothing can be claimed, as their searches take too long.
    """
    population = planner.model.population
    last: PlannedConfiguration | None = None
    for part in _FEW_LOADS if planner.has_many_modes(best) else _LOADS:
        at = round(users * part)
        if not population.low <= at <= population.high:
            continue
        if last is not None and last.capacity is not None and at <= last.capacity:
            continue  # the cheapest for fewer supports these as well, and nothing cheaper does
        search = None if at == users else planner.of_front(at)
        if search is not None and not search.is_complete:
            omitted.append(at)
            continue
        chosen = None if search is None else search.found
        found = best if search is None else None if chosen is None else planner.planned(chosen, at)
        if found is None:
            yield CostAtUsers(users=at, configuration=None)
            return
        yield CostAtUsers(users=at, configuration=planner.as_other(found))
        last = found
