"""One mode of a model whose capacities are turned: what each must be, and what fails with it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.configure.place_overrides import with_own_kinds
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.quantities.certainty import together
from qps.compiler.quantities.dimension import CORE
from qps.engine.expressions.formulas import Formula, symbol
from qps.engine.expressions.formulas import number as number_of
from qps.engine.expressions.substitution import substituted
from qps.solver.answers.capacity import excess
from qps.solver.answers.graph_criteria import all_criteria, largest_acceptable
from qps.solver.answers.graph_solution import value_at
from qps.solver.search.boxes import UndecidedBoxesError
from qps.solver.search.whole_multiples import least_whole
from qps.solver.search.whole_populations import fails
from qps.solver.what_if.boundaries import Excess, Failure, excess_of
from qps.solver.what_if.growth import Countable
from qps.solver.what_if.least_multiples import (
    MOST,
    LeastMultiple,
    least_count,
    least_multiple,
    whole_above,
)
from qps.solver.what_if.scaled_capacities import ScaledCapacities, scaled_capacities, with_value
from qps.solver.what_if.sizing_result import (
    FailingThere,
    Machines,
    MachineTurn,
    ResourceCapacity,
    ResourceNeed,
)


class SizedMode:
    """One mode of a model, with its capacities to turn."""

    def __init__(
        self,
        model: ir.Model,
        configuration: Configuration,
        outside: Configuration,
        population: int,
    ) -> None:
        self._outside = outside
        self._model, self._in_force = with_own_kinds(model, in_force(configuration))
        self._population = population
        self._scaled: ScaledCapacities = scaled_capacities(self._model, self._in_force)
        self._graph = lower(self._scaled.model, self._scaled.configuration)
        self._folder = Folder(configuration=self._in_force, population=Fraction(population))
        self._turned: dict[frozenset[str], ScaledCapacities] = {}
        self._last: tuple[object, LoadGraph] | None = None

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers that turn the capacities of this mode."""
        return tuple(dict.fromkeys(self._scaled.capacities.values()))

    @property
    def name(self) -> str | None:
        """The name of the mode."""
        return self._graph.mode

    @property
    def ports(self) -> dict[str, str]:
        """The ports of switches, with the link that each is a port of."""
        return self._graph.ports

    @property
    def link_numbers(self) -> frozenset[str]:
        """The numbers that turn the capacities of networks."""
        networks = {link.network for link in self._in_force.links.values()}
        return frozenset(
            n for (owner, _), n in self._scaled.capacities.items() if owner in networks
        )

    def countables(self) -> Iterator[Countable]:
        """Yield the numbers of machines that can be chosen, with how many there are."""
        places: dict[str, list[str]] = {}
        for place, number in self._scaled.counts.items():
            places.setdefault(number, []).append(place)
        for number, names in places.items():
            counts = {self._count(place) for place in names}
            (now, *others) = counts
            if not others and now is not None and now >= 1 and now.denominator == 1:
                yield Countable(number, tuple(names), int(now))

    def _count(self, place: str) -> Fraction | None:
        """Return what turns the machines of a node: their number, or the parameter of that."""
        return self._folder.fold(self._counted(place, self._in_force))

    def _counted(self, place: str, configuration: Configuration) -> ir.Expr:
        name = self._scaled.counted_by.get(self._scaled.counts[place])
        if name is not None:
            return ir.ParameterValue(name)
        return configuration.nodes[place].stated_count

    def _is_as_outside(self, place: str) -> bool:
        """Return whether what turns the machines of a node is the same outside of modes."""
        if place not in self._outside.nodes:
            return False
        outside = Folder(configuration=self._outside, population=Fraction(self._population))
        return outside.fold(self._counted(place, self._outside)) == self._count(place)

    def built(self, place: str, count: int) -> int:
        """Return how many machines of a node there are outside of modes, for what turns them."""
        name = self._scaled.counted_by.get(self._scaled.counts[place])
        node = self._outside.nodes.get(place)
        if name is None or node is None:
            return count
        there = with_value(self._outside, name, Fraction(count))
        folder = Folder(configuration=there, population=Fraction(self._population))
        found = folder.fold(node.stated_count)
        return count if found is None else ceil(found)

    def needed(self) -> Iterator[tuple[ResourceNeed, str, Fraction | None]]:
        """Yield what each resource needs, the number that turns it, and by how much it must."""
        graph = self._graph
        for name, resource in graph.resources.items():
            target = self._target(resource)
            number, capacity = self._capacity(name)
            least = self._least(number, resource, target, capacity)
            times = least.times
            takes = exact = None
            if times is not None:
                exact = float(times) * capacity.has
                takes = float(whole_above(exact)) if capacity.is_whole else exact
                if takes and capacity.is_whole:
                    times = Fraction(takes) / Fraction(capacity.has)
            turn = self._machine_turn(name, resource, target)
            place = graph.network.place_of(name)
            machines = None if turn is None else self._machines(place, turn)
            is_own = not (machines is None or self._is_as_outside(place))
            yield (
                ResourceNeed(
                    resource=name,
                    place=place,
                    load=value_at(graph, resource.load, self._population),
                    target=value_at(graph, target, self._population),
                    capacity=capacity,
                    takes=takes,
                    exact=exact,
                    machines=machines,
                    machine_turn=turn,
                    machines_mode=graph.mode if is_own else None,
                    mode=graph.mode,
                    is_link=number in self.link_numbers,
                    is_searched=times is None and number in graph.assumptions,
                    known=together(least.seen, resource.demand_at(target)[1]),
                ),
                number,
                times,
            )

    def _target(self, resource: ResourceLoad) -> Formula:
        """Return the least load at which a resource counts as full: by plan, or by a limit."""
        place = self._graph.network.place_of(resource.name)
        names = (utilization_of(resource.name), utilization_of(place))
        limits = [c.limit for c in self._graph.criteria if c.name in names and c.at_most]
        return min((resource.target, *limits), key=self._graph.number)

    def _capacity(self, name: str) -> tuple[str, ResourceCapacity]:
        """Return the number that turns the capacity of a resource in its place, and what it is."""
        place = self._graph.network.place_of(name)
        node = self._in_force.nodes.get(place)
        if node is None:
            network = self._model.networks[self._in_force.links[place].network]
            is_cap = network.cap is not None and any(
                name.endswith(f".{base}s") for base in network.cap.dimension.bases
            )
            stated = network.cap if is_cap and network.cap is not None else network.rate
            assert stated is not None
            number = self._scaled.capacities[network.name, "cap" if is_cap else "rate"]
            return number, ResourceCapacity(
                self._folded(stated.expr), stated.dimension, is_whole=False
            )
        machine = self._model.machines[node.machine]
        resource = machine.resource(name[len(place) + 1 :].partition(".")[0])
        assert resource is not None
        return self._scaled.capacities[machine.name, resource.name], self._stated(resource)

    def _stated(self, resource: ir.Resource) -> ResourceCapacity:
        stated = resource.capacity
        if resource.kind is not ir.ResourceKind.PROCESSOR:
            is_store = resource.kind is ir.ResourceKind.STORE
            has = self._folded(stated.expr)
            return ResourceCapacity(has, stated.dimension, is_whole=False, is_store=is_store)
        has = self._folded(stated.expr)
        if resource.speed is not None and has == 1:
            speed = resource.speed
            return ResourceCapacity(self._folded(speed.expr), speed.dimension, is_whole=False)
        # Cores of an efficiency below 1 do less than their number together.
        is_whole = not any(isinstance(p, ir.Apply | ir.Power) for p in parts_of(stated.expr))
        return ResourceCapacity(has, CORE, is_whole)

    def _folded(self, expr: ir.Expr) -> float:
        value = self._folder.fold(expr)
        return float("nan") if value is None else float(value)

    def _least(
        self, number: str, resource: ResourceLoad, target: Formula, capacity: ResourceCapacity
    ) -> LeastMultiple:
        """Return the least part of a number from which on the load stays within its target."""
        judged, unknown = self._turning(number, resource, target)
        if capacity.is_count and unknown in judged.value.symbols:
            # A part of a place serves nobody, so that the waits between whole numbers mean nothing.
            least = least_count(judged, unknown, int(capacity.has))
            if least is not None:
                return least
        return least_multiple([judged], unknown)

    def _turning(
        self, number: str, resource: ResourceLoad, target: Formula
    ) -> tuple[Excess, Formula]:
        """Return by what a load is above its target as a function of a number, and its symbol."""
        known = self._graph.assumptions.get(number)
        values = self._graph.values | {self._graph.population: number_of(self._population)}
        if known is not None:
            del values[known.symbol]
        unknown = symbol("none") if known is None else known.symbol
        over = substituted(resource.demand_at(target)[0] - target, values)
        judged = Excess(
            failure=Failure(resource.name, None), value=over, strict=self._waits(resource)
        )
        return judged, unknown

    def _waits(self, resource: ResourceLoad) -> bool:
        """Return whether a full resource fails: what waits for it waits without end."""
        name = utilization_of(resource.name)
        return any(c.name == name and c.strict for c in self._graph.criteria)

    def _machine_turn(
        self, name: str, resource: ResourceLoad, target: Formula
    ) -> MachineTurn | None:
        """Return how many machines of its node would do, where their number can be chosen."""
        place = self._graph.network.place_of(name)
        number = self._scaled.counts.get(place)
        if number is None:
            return None
        now = self._count(place)
        if not now or not self._folder.fold(self._in_force.nodes[place].count):
            return None
        judged, unknown = self._turning(number, resource, target)
        takes: int | None
        try:
            takes = least_whole(judged.value, unknown, now, int(MOST * now), strict=judged.strict)
        except UndecidedBoxesError:
            least = least_multiple([judged], unknown)
            takes = None if least.times is None else max(1, whole_above(now * least.times))
        return None if takes is None else MachineTurn(number, now, takes)

    def _machines(self, place: str, turn: MachineTurn) -> Machines:
        """Return as how many machines they are built, and what these cost.

        Machines that have failed are paid for: the price is of all that are stated.
        """
        built = self.built(place, turn.takes)
        price = next((p for p in self._graph.stated.prices if p.place == place), None)
        cost = None
        if price is not None:
            stated = self._folded(self._in_force.nodes[place].stated_count)
            cost = value_at(self._graph, price.value, self._population) / stated * built
        unit = "$/s" if price is not None and price.is_running else "$"
        return Machines(self.built(place, int(turn.now)), built, cost, unit)

    def turns(self, place: str, turn: MachineTurn) -> bool:
        """Return whether a number turns the machines of a node from the same count here."""
        return self._scaled.counts.get(place) == turn.number and self._count(place) == turn.now

    def turned_by(self, number: str) -> dict[str, ResourceCapacity]:
        """Return the resources whose capacity a number turns."""
        capacities = {name: self._capacity(name) for name in self._graph.resources}
        return {name: capacity for name, (own, capacity) in capacities.items() if own == number}

    # -- the whole, judged anew ------------------------------------------------------------

    def sized(self, times: dict[str, Fraction], turning: str | None = None) -> LoadGraph:
        """Return the graph with such capacities, of which one is still to turn.

        What is as large as it was stays as it is written, and is known as well as without the
        question.
        """
        all_numbers = {*self.numbers, *self._scaled.counts.values()}
        own = {name: value for name, value in times.items() if name in all_numbers and value != 1}
        key = own, turning
        if self._last is None or self._last[0] != key:
            only = frozenset(own if turning is None else (*own, turning))
            if only not in self._turned:
                self._turned[only] = scaled_capacities(self._model, self._in_force, only)
            scaled = self._turned[only]
            self._last = key, lower(scaled.model, scaled.at(own))
        return self._last[1]

    def criteria(self, times: dict[str, Fraction]) -> list[Criterion]:
        """Return all criteria as they are known at the population, with such capacities."""
        graph = self.sized(times)
        return [
            replace(each, known=known_at(graph, each, self._population))
            for each in all_criteria(graph)
        ]

    def failing(self, times: dict[str, Fraction]) -> list[FailingThere]:
        """Return what fails at the population with capacities so many times what they are."""
        graph = self.sized(times)
        return [
            FailingThere(
                criterion=criterion,
                limit=value_at(graph, criterion.limit, self._population),
                value=value_at(graph, criterion.value, self._population),
                mode=graph.mode,
                known=known_at(graph, criterion, self._population),
            )
            for criterion in all_criteria(graph)
            if fails(
                graph.valued(excess(criterion)),
                graph.population,
                self._population,
                strict=criterion.strict,
            )
        ]

    def sufficient_multiple(
        self, number: str, times: dict[str, Fraction], unfixable: set[tuple[str, str | None]]
    ) -> LeastMultiple | None:
        """Return how much of one capacity makes all hold at the population but what is unfixable.

        None where nothing rests on it.
        """
        graph = self.sized(times, number)
        known = graph.assumptions.get(number)
        if known is None:
            return None
        values = graph.values | {graph.population: number_of(self._population)}
        del values[known.symbol]
        excesses = [
            excess_of(c, graph, values)
            for c in all_criteria(graph)
            if (c.name, graph.mode) not in unfixable
        ]
        # With what there is something fails, in some mode: less of it need not be looked at.
        return least_multiple(excesses, known.symbol, times.get(number, Fraction(1)))

    def supports(self, times: dict[str, Fraction]) -> bool:
        """Return whether all populations up to this one are acceptable."""
        graph = self.sized(times).up_to(self._population)
        return (largest_acceptable(graph) or 0) >= self._population
