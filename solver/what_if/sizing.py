"""What it takes to carry a population: the capacity that each resource must have.

Each capacity is turned by itself, all else as it stands; the load of a resource rests on no other
capacity but where an elastic parameter takes what is left. Then all that is too small is made as
large as told, and the whole is judged anew: the answer says whether that carries them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    in_each_mode,
    in_force,
    uncertain_in_any_mode,
)
from qps.compiler.configure.fold import Folder
from qps.compiler.configure.numbers_in_place import with_own_kinds
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.certainty_requirements import refuse_certainty_asked
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, opposite, together
from qps.compiler.quantities.dimension import CORE
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import Formula, symbol
from qps.engine.expressions.formulas import number as number_of
from qps.engine.expressions.substitution import substituted
from qps.solver.answers.answer_certainty import least_known, verdict_known
from qps.solver.answers.answering import all_criteria, largest_acceptable, value_at
from qps.solver.answers.capacity import excess
from qps.solver.search.boxes import UndecidedError
from qps.solver.search.whole_multiples import least_whole
from qps.solver.search.whole_populations import fails
from qps.solver.what_if.boundaries import Excess, Failure, boundaries_of, excess_of
from qps.solver.what_if.growth import Countable, Counts, Growth, MoreMachines, grown
from qps.solver.what_if.scaled_capacities import ScaledCapacities, scaled_capacities, with_value
from qps.solver.what_if.sized import Capacity, FailingThere, Machines, Mend, Needed, Sizing
from qps.solver.what_if.unknown import refuse_outside

_LEAST = Fraction(1, 10**6)
MOST = Fraction(10**6)
_ENOUGH = Fraction(10**4)
"""So many times what there is counts as any capacity whatever."""

NOT_ALL_TRIED = known_by("smaller-numbers-untried")

_HAIR = Fraction(1, 10**9)
"""A part by which a root that is no fraction is passed, to be on the side that holds."""


def size(model: ir.Model, configuration: Configuration, population: int) -> Sizing:
    """Return what each resource must have to carry a population, in the mode that takes most.

    QpsError where the population lies outside its range.
    """
    refuse_certainty_asked(model, configuration)
    refuse_outside(model, configuration, population)
    outside = replace(configuration, mode=None, mode_changes=())
    every_mode = in_each_mode(model, configuration)
    modes = [_Mode(model, each, outside, population) for each in every_mode]
    needed: dict[str, Needed] = {}
    raised: dict[str, Fraction] = {}
    for mode in modes:
        for one, number, times in mode.needed():
            before = needed.get(one.resource)
            needed[one.resource] = one if before is None else _worse(before, one)
            if number is not None and times is not None:
                raised[number] = max(times, raised.get(number, Fraction(1)))
    whatever = [f for mode in modes for f in mode.failing(dict.fromkeys(mode.numbers, _ENOUGH))]
    hopeless = {(f.criterion.name, f.mode) for f in whatever}
    still = [
        failing
        for mode in modes
        for failing in mode.failing(raised)
        if (failing.criterion.name, failing.mode) not in hopeless
    ]
    is_carried = not whatever and not still and all(mode.carries(raised) for mode in modes)
    growth = None if is_carried else _growth(modes, raised, needed.values())
    is_possible = is_carried or (growth is not None and bool(growth.machines))
    every = [criterion for mode in modes for criterion in mode.judged(raised)]
    mends, mends_known = _mends(modes, raised, hopeless) if still else ((), EXACT)
    return Sizing(
        population=model.population.name,
        at=population,
        needed=tuple(_for_all(one, mends, growth) for one in needed.values()),
        fails_whatever=tuple(whatever),
        fails_still=tuple(still),
        mends=mends,
        mends_known=mends_known,
        is_carried=is_carried,
        growth=growth,
        known=verdict_known([*whatever, *still], every, is_possible=is_possible),
        ports=modes[0].ports,
        nominal_inputs=tuple(uncertain_in_any_mode(model, configuration)),
    )


def _growth(
    modes: list[_Mode], raised: dict[str, Fraction], needed: Iterable[Needed]
) -> Growth | None:
    """Return how many machines carry the population, in all modes; links as they are, or larger."""
    countables = _countables(modes)
    looked_at = tuple(place for one in countables for place in one.places)
    if not countables:
        return None
    now = {one.number: one.now for one in countables}
    wires = {number for mode in modes for number in mode.link_numbers}
    larger = {n: times for n, times in raised.items() if n in wires and times > 1}
    for links in ({}, larger) if larger else ({},):

        def times(counts: Counts, links: dict[str, Fraction] = links) -> dict[str, Fraction]:
            turned = {n: Fraction(count, now[n]) for n, count in counts.items() if count != now[n]}
            return links | turned

        found = grown(countables, lambda c: not any(mode.failing(times(c)) for mode in modes))
        if found is None or not all(mode.carries(times(found.counts)) for mode in modes):
            continue
        machines = tuple(
            MoreMachines(places, has, takes)
            for one in countables
            if found.counts[one.number] > one.now
            for (has, takes), places in _built(modes[0], one, found.counts[one.number]).items()
        )
        names = [one.resource for one in needed if links and one.is_link and not one.suffices]
        fewer = [found.counts | {n: c - 1} for n, c in found.counts.items() if c > now[n]]
        known = least_known(
            [[one for mode in modes for one in mode.failing(times(counts))] for counts in fewer],
            [one for mode in modes for one in mode.judged(times(found.counts))],
        )
        known = known if found.are_least else together(known, NOT_ALL_TRIED)
        return Growth(
            machines=machines,
            links=tuple(names),
            are_least=found.are_least,
            looked_at=looked_at,
            known=known,
        )
    return Growth(machines=(), links=(), are_least=False, looked_at=looked_at)


def _built(mode: _Mode, one: Countable, count: int) -> dict[tuple[int, int], tuple[str, ...]]:
    """Return how many machines there are and will be, with the nodes of which that is so."""
    found: dict[tuple[int, int], tuple[str, ...]] = {}
    for place in one.places:
        both = mode.built(place, one.now), mode.built(place, count)
        found[both] = (*found.get(both, ()), place)
    return found


def _countables(modes: list[_Mode]) -> list[Countable]:
    """Return the numbers of machines that can be chosen, where all modes begin with the same."""
    found: dict[str, Countable] = {}
    differing: set[str] = set()
    for mode in modes:
        for one in mode.countables():
            if found.setdefault(one.number, one) != one:
                differing.add(one.number)
    return [one for number, one in found.items() if number not in differing]


def _mends(
    modes: list[_Mode], raised: dict[str, Fraction], hopeless: set[tuple[str, str | None]]
) -> tuple[tuple[Mend, ...], Certainty]:
    """Return the capacities each of which mends what still fails, in all modes.

    And how it is known that no other does.
    """
    found: list[Mend] = []
    others: list[Certainty] = []
    for number in dict.fromkeys(number for mode in modes for number in mode.numbers):
        tried = [mode.mending(number, raised, hopeless) for mode in modes]
        resources = {n: c for mode in modes for n, c in mode.turned_by(number).items()}
        least = [one for one in tried if one is not None]
        times = [one.times for one in least if one.times is not None]
        if resources and len(times) == len(tried):
            most = max(times)
            below = [over for one in least if one.times == most for over in one.below]
            there = raised | {number: most * raised.get(number, 1)}
            every = [criterion for mode in modes for criterion in mode.judged(there)]
            known = together(least_known([below], every), *(one.seen for one in least))
            capacity = next(iter(resources.values()))
            found.append(Mend(tuple(resources), capacity, float(most) * capacity.has, known))
        else:
            others += [one.seen for one in least if one.times is None]
    untold = together(*others).because
    return tuple(found), approximation(*untold) if untold else EXACT


def _for_all(one: Needed, mends: Sequence[Mend], growth: Growth | None) -> Needed:
    """Return what a resource takes for all that is required, where more than for its own load.

    Where any of several capacities would mend what fails, each keeps what its load takes.
    """
    mend = mends[0] if len(mends) == 1 and one.resource in mends[0].resources else None
    if mend is not None and mend.takes > (one.exact or 0):
        takes = float(ceil(mend.takes - float(_HAIR))) if one.capacity.is_whole else mend.takes
        load = replace(one, for_load=None)
        one = replace(one, takes=takes, exact=mend.takes, known=mend.known, for_load=load)
    more = [more for more in growth.machines if one.place in more.nodes] if growth else []
    if one.machines is None or not more or more[0].takes <= one.machines.takes:
        return one
    (grown_to, *_), price = more, one.machines.price
    price = None if price is None else price * grown_to.takes / one.machines.takes
    machines = Machines(one.machines.now, grown_to.takes, price, one.machines.unit)
    known = EXACT if growth is None else growth.known
    return replace(one, machines=machines, machines_mode=None, machines_known=known)


def _worse(one: Needed, other: Needed) -> Needed:
    """Return what takes more of two modes, with the machines of that which takes more of these."""
    worse = other if _rank(other) > _rank(one) else one
    most = max((one, other), key=_machines_rank)
    return replace(worse, machines=most.machines, machines_mode=most.machines_mode)


def _machines_rank(one: Needed) -> tuple[int, bool]:
    return one.machines.takes if one.machines else 0, one.machines_mode is not None


def _rank(one: Needed) -> tuple[float, float]:
    takes = float("inf") if one.takes is None else one.takes / one.capacity.has
    return takes, one.load / one.target


class _Least(Struct, frozen=True):
    """From how many times what there is nothing fails, what does just below, what was seen.

    0 where any does, None where none does.
    """

    times: Fraction | None
    below: tuple[Excess, ...]
    seen: Certainty


class _Mode:
    """One mode of a model, with its capacities to turn."""

    def __init__(
        self,
        model: ir.Model,
        configuration: Configuration,
        outside: Configuration,
        population: int,
    ) -> None:
        self._outside = outside
        self._model, self._settled = with_own_kinds(model, in_force(configuration))
        self._population = population
        self._scaled: ScaledCapacities = scaled_capacities(self._model, self._settled)
        self._graph = lower(self._scaled.model, self._scaled.configuration)
        self._folder = Folder(configuration=self._settled, population=Fraction(population))
        self._turned: dict[frozenset[str], ScaledCapacities] = {}
        self._last: tuple[object, LoadGraph] | None = None

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers that turn the capacities of this mode."""
        return tuple(dict.fromkeys(self._scaled.capacities.values()))

    @property
    def ports(self) -> dict[str, str]:
        """The ports of switches, with the link that each is a port of."""
        return self._graph.ports

    @property
    def link_numbers(self) -> frozenset[str]:
        """The numbers that turn the capacities of networks."""
        networks = {link.network for link in self._settled.links.values()}
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
        return self._folder.fold(self._counted(place, self._settled))

    def _counted(self, place: str, configuration: Configuration) -> ir.Expr:
        name = self._scaled.counted_by.get(self._scaled.counts[place])
        return configuration.nodes[place].count if name is None else ir.ParameterValue(name)

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
        found = Folder(configuration=there, population=Fraction(self._population)).fold(node.count)
        return count if found is None else ceil(found)

    def needed(self) -> Iterator[tuple[Needed, str | None, Fraction | None]]:
        """Yield what each resource needs, the number that turns it, and by how much it must."""
        graph = self._graph
        for name, resource in graph.resources.items():
            target = self._target(resource)
            number, capacity = self._capacity(name)
            least = self._least(number, resource, target)
            times = least.times
            takes = exact = None
            if times is not None:
                exact = float(times) * capacity.has
                takes = float(ceil(exact - float(_HAIR))) if capacity.is_whole else exact
                if takes and capacity.is_whole:
                    times = Fraction(takes) / Fraction(capacity.has)
            machines = self._machines(name, resource, target)
            place = graph.network.place_of(name)
            is_own = not (machines is None or self._is_as_outside(place))
            yield (
                Needed(
                    resource=name,
                    place=place,
                    load=value_at(graph, resource.load, self._population),
                    target=value_at(graph, target, self._population),
                    capacity=capacity,
                    takes=takes,
                    exact=exact,
                    machines=machines,
                    machines_mode=graph.mode if is_own else None,
                    mode=graph.mode,
                    is_link=number in self.link_numbers,
                    is_searched=times is None and number in graph.assumptions,
                    known=least.seen,
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

    def _capacity(self, name: str) -> tuple[str, Capacity]:
        """Return the number that turns the capacity of a resource in its place, and what it is."""
        place = self._graph.network.place_of(name)
        node = self._settled.nodes.get(place)
        if node is None:
            network = self._model.networks[self._settled.links[place].network]
            is_cap = network.cap is not None and any(
                name.endswith(f".{base}s") for base in network.cap.dimension.bases
            )
            stated = network.cap if is_cap and network.cap is not None else network.rate
            assert stated is not None
            number = self._scaled.capacities[network.name, "cap" if is_cap else "rate"]
            return number, Capacity(self._folded(stated.expr), stated.dimension, is_whole=False)
        machine = self._model.machines[node.machine]
        resource = machine.resource(name[len(place) + 1 :].partition(".")[0])
        assert resource is not None
        return self._scaled.capacities[machine.name, resource.name], self._stated(resource)

    def _stated(self, resource: ir.Resource) -> Capacity:
        stated = resource.capacity
        if resource.kind is not ir.ResourceKind.PROCESSOR:
            return Capacity(self._folded(stated.expr), stated.dimension, is_whole=False)
        has = self._folded(stated.expr)
        if resource.speed is not None and has == 1:
            speed = resource.speed
            return Capacity(self._folded(speed.expr), speed.dimension, is_whole=False)
        # Cores of an efficiency below 1 do less than their number together.
        is_whole = not any(isinstance(p, ir.Apply | ir.Power) for p in parts_of(stated.expr))
        return Capacity(has, CORE, is_whole)

    def _folded(self, expr: ir.Expr) -> float:
        value = self._folder.fold(expr)
        return float("nan") if value is None else float(value)

    def _least(self, number: str, resource: ResourceLoad, target: Formula) -> _Least:
        """Return the least part of a number from which on the load keeps to its target."""
        judged, unknown = self._turning(number, resource, target)
        return _least_of([judged], unknown)

    def _turning(
        self, number: str, resource: ResourceLoad, target: Formula
    ) -> tuple[Excess, Formula]:
        """Return by what a load is above its target as a function of a number, and its symbol."""
        known = self._graph.assumptions.get(number)
        values = self._graph.values | {self._graph.population: number_of(self._population)}
        if known is not None:
            del values[known.symbol]
        unknown = symbol("none") if known is None else known.symbol
        over = substituted(resource.asked_at(target)[0] - target, values)
        judged = Excess(
            failure=Failure(resource.name, None), value=over, strict=self._waits(resource)
        )
        return judged, unknown

    def _waits(self, resource: ResourceLoad) -> bool:
        """Return whether a full resource fails: what waits for it waits without end."""
        name = utilization_of(resource.name)
        return any(c.name == name and c.strict for c in self._graph.criteria)

    def _machines(self, name: str, resource: ResourceLoad, target: Formula) -> Machines | None:
        """Return how many machines of its node would do, where their number can be chosen."""
        place = self._graph.network.place_of(name)
        number = self._scaled.counts.get(place)
        if number is None:
            return None
        now = self._count(place)
        there = self._folder.fold(self._settled.nodes[place].count)
        if not now or not there:
            return None
        judged, unknown = self._turning(number, resource, target)
        takes: int | None
        try:
            takes = least_whole(judged.value, unknown, now, int(MOST * now), strict=judged.strict)
        except UndecidedError:
            least = _least_of([judged], unknown)
            takes = None if least.times is None else max(1, ceil(now * least.times - _HAIR))
        if takes is None:
            return None
        price = next((p for p in self._graph.stated.prices if p.place == place), None)
        cost = None
        if price is not None:
            cost = value_at(self._graph, price.value, self._population) / float(there)
            cost *= self.built(place, takes)
        unit = "$/s" if price is not None and price.is_running else "$"
        return Machines(self.built(place, int(now)), self.built(place, takes), cost, unit)

    def turned_by(self, number: str) -> dict[str, Capacity]:
        """Return the resources whose capacity a number turns."""
        capacities = {name: self._capacity(name) for name in self._graph.resources}
        return {name: capacity for name, (own, capacity) in capacities.items() if own == number}

    # -- the whole, judged anew ------------------------------------------------------------

    def _sized(self, times: dict[str, Fraction], turning: str | None = None) -> LoadGraph:
        """Return the graph with such capacities, of which one is still to turn.

        What is as large as it was stays as it is written, and is known as well as without the
        question.
        """
        all_numbers = {*self.numbers, *self._scaled.counts.values()}
        own = {name: value for name, value in times.items() if name in all_numbers and value != 1}
        asked = own, turning
        if self._last is None or self._last[0] != asked:
            only = frozenset(own if turning is None else (*own, turning))
            if only not in self._turned:
                self._turned[only] = scaled_capacities(self._model, self._settled, only)
            scaled = self._turned[only]
            self._last = asked, lower(scaled.model, scaled.at(own))
        return self._last[1]

    def judged(self, times: dict[str, Fraction]) -> list[Criterion]:
        """Return all criteria as they are known at the population, with such capacities."""
        graph = self._sized(times)
        return [
            replace(each, known=known_at(graph, each, self._population))
            for each in all_criteria(graph)
        ]

    def failing(self, times: dict[str, Fraction]) -> list[FailingThere]:
        """Return what fails at the population with capacities so many times what they are."""
        graph = self._sized(times)
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

    def mending(
        self, number: str, times: dict[str, Fraction], hopeless: set[tuple[str, str | None]]
    ) -> _Least | None:
        """Return how much of one capacity makes all hold at the population but what is hopeless.

        None where nothing rests on it.
        """
        graph = self._sized(times, number)
        known = graph.assumptions.get(number)
        if known is None:
            return None
        values = graph.values | {graph.population: number_of(self._population)}
        del values[known.symbol]
        excesses = [
            excess_of(c, graph, values)
            for c in all_criteria(graph)
            if (c.name, graph.mode) not in hopeless
        ]
        # With what there is something fails, in some mode: less of it need not be looked at.
        return _least_of(excesses, known.symbol, times.get(number, Fraction(1)))

    def carries(self, times: dict[str, Fraction]) -> bool:
        """Return whether all populations up to this one are acceptable."""
        graph = self._sized(times).up_to(self._population)
        return (largest_acceptable(graph) or 0) >= self._population


def _least_of(excesses: Sequence[Excess], symbol: Formula, low: Fraction = _LEAST) -> _Least:
    """Return the least value from which on nothing fails, 0 where that is all from `low` on."""
    boundaries = boundaries_of(excesses, symbol, (low, MOST), unit="times")
    ends, seen = [low, *boundaries.points, MOST], opposite(boundaries.known)
    found: Fraction | None = None
    below: list[Excess] = []
    for start, end in reversed(list(pairwise(ends))):
        below = [o for o in boundaries.excesses if o.fails(symbol, (start + end) / 2)]
        if below:
            break
        found = start
    if found is None:
        return _Least(None, tuple(below), seen)
    is_open = any(over.fails(symbol, found) for over in excesses)
    if found == low and not is_open:
        return _Least(Fraction(0), tuple(below), seen)
    return _Least(found * (1 + _HAIR) if is_open else found, tuple(below), seen)
