"""What methods need of a network to be exact: each premise holds, or fails at a place for a reason.

A premise looks at the network and never at formulas of what follows from it. Numbers may only
vouch: one that is moving vouches for nothing, and no premise makes another formula. A premise may
hold up to some population: then it is a formula that is above zero where it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.network.classes import Class
from qps.compiler.network.held_places import most_within
from qps.compiler.network.itinerary import Call, Delay, Serve, Take
from qps.compiler.network.network import Network
from qps.compiler.network.passages import Passage, passages, visits_of
from qps.compiler.network.station_runs import Run, runs_of
from qps.compiler.network.stations_and_pools import Place, Station, StationKind
from qps.compiler.quantities.certainty import Reason
from qps.compiler.quantities.methods import reason_of
from qps.engine.floats import numbers_function
from qps.engine.formulas import ONE, ZERO, Formula, number, total
from qps.engine.known_ranges import Range
from qps.engine.monomials import expanded, monomials
from qps.engine.points import NoSignError, Point
from qps.engine.substitution import Substitution


class Fails(Struct, frozen=True):
    """A premise that fails: why, and where."""

    why: Reason


class From(Struct, frozen=True):
    """A premise that fails in that way at populations where `beyond` is above zero."""

    beyond: Formula
    fails: Fails


Premise: TypeAlias = Fails | From


class Numbers(Struct, frozen=True):
    """What the numbers of a spec vouch for; those that are moving vouch for nothing."""

    expressions: ExpressionLowering

    def is_whole(self, formula: Formula) -> bool:
        """Return whether a count is whole at any population."""
        if formula.is_constant:
            return _is_whole(formula)
        populations = self._populations()

        def told(formula: Formula, _: Mapping[Formula, Range]) -> bool:
            return all(_is_whole(each(formula)) for each in populations)

        return self.expressions.of_what_stays(formula, told)

    def are_equal(self, one: Formula, other: Formula) -> bool:
        """Return whether two values are equal at any population."""
        if one is other:
            return True
        population = self.expressions.population

        def told(formula: Formula, _: Mapping[Formula, Range]) -> bool:
            return expanded(formula, {population}) is ZERO

        return self.expressions.of_what_stays(one - other, told)

    def is_above_zero(self, formula: Formula) -> bool:
        """Return whether a value may be above zero at the highest population."""
        highest = self._populations()[-1]

        def told(formula: Formula, _: Mapping[Formula, Range]) -> bool:
            value = highest(formula).exact
            return value is None or value > 0

        return self.expressions.of_what_stays(formula, told)

    def is_surely_below(self, formula: Formula, limit: Fraction) -> bool:
        """Return whether a value of which no fraction is known is below a limit at any population.

        It is looked at where populations end.
        """

        def is_below(formula: Formula, _: Mapping[Formula, Range]) -> bool:
            if not formula.symbols <= {self.expressions.population}:
                return False
            return all(_is_negative(Point(one), formula - limit) for one in self._ends())

        return self.expressions.of_what_stays(formula, is_below)

    def is_never_above_zero(self, formula: Formula) -> bool:
        """Return whether a value is at most zero at any population: it is where it is at both ends.

        So it is of what grows evenly with the population, or falls; nothing else is vouched for.
        """
        population, populations = self.expressions.population, self._populations()

        def told(formula: Formula, _: Mapping[Formula, Range]) -> bool:
            by = monomials(formula, {population})
            is_even = all(len(of) < 2 and population not in one.symbols for of, one in by.items())  # noqa: PLR2004 - no square
            values = [at(formula).exact for at in (populations[0], populations[-1])]
            return is_even and all(value is not None and value <= 0 for value in values)

        return self.expressions.of_what_stays(formula, told)

    def at_ends(self, formulas: Sequence[Formula]) -> list[list[float]]:
        """Return what formulas come to where populations end; nothing where numbers move."""
        of_all = [self.expressions.averaged(one) for one in formulas]
        numbers = {one.name for formula in of_all for one in self.expressions.assumed_in(formula)}
        if not numbers.isdisjoint(self.expressions.moving):
            return []
        values = self.expressions.values_in(*of_all)
        self.expressions.weigh(of_all)
        population = self.expressions.population
        if not frozenset().union(*(one.symbols for one in of_all)) <= {population, *values}:
            return []
        configuration = self.expressions.configuration
        applied = numbers_function(population, of_all, values)
        return [applied(at) for at in sorted({configuration.low, configuration.high})]

    def _populations(self) -> list[Substitution]:
        return [Substitution(one) for one in self._ends()]

    def _ends(self) -> list[dict[Formula, Formula]]:
        low, high = self.expressions.configuration.low, self.expressions.configuration.high
        found = sorted({low, min(low + 1, high), high})
        return [{self.expressions.population: number(at)} for at in found]


def _is_negative(point: Point, formula: Formula) -> bool:
    try:
        return point.sign(formula) == -1
    except NoSignError:
        return False


def _is_whole(formula: Formula) -> bool:
    value = formula.exact
    return value is not None and Fraction(value).denominator == 1


class Walked(Struct, frozen=True, dict=True):
    """A network with the passages of its classes; nothing is looked at before it is asked for."""

    network: Network
    unfilled: frozenset[str] = frozenset()
    """The pools that are never full."""

    @cached_property
    def passages(self) -> dict[str, list[Passage]]:
        """What happens to an item of each class, in order."""
        return {name: list(passages(one)) for name, one in self.network.classes.items()}

    @cached_property
    def visits(self) -> dict[str, list[Passage]]:
        """The passages of each station, class after class."""
        return visits_of(self.passages.values())

    @cached_property
    def runs(self) -> dict[str, list[Run]]:
        """The visits of each station that is waited for."""
        found: dict[str, list[Run]] = {}
        for each in self.passages.values():
            for run in runs_of(each, self.network):
                found.setdefault(run.station, []).append(run)
        return found

    @cached_property
    def pools_before(self) -> dict[str, dict[str, str]]:
        """For each station the open classes that wait for a pool before they come, with that."""
        found: dict[str, dict[str, str]] = {}
        for name, each in self.passages.items():
            if self.network.classes[name].is_closed:
                continue
            pool = ""
            for passage in each:
                if isinstance(passage.node, Take) and self._is_waited_for(passage.node.pool):
                    pool = passage.node.pool
                for station in passage.stations if pool else ():
                    found.setdefault(station, {}).setdefault(name, pool)
        return found

    def _is_waited_for(self, pool: str) -> bool:
        return not self.network.pools[pool].is_unmodeled

    def stations_of(self, of: Class) -> list[Station]:
        """Return the stations that a class comes to, pools left out."""
        names = dict.fromkeys(name for one in self.passages[of.name] for name in one.stations)
        known = self.network.stations
        return [known[name] for name in names if name in known]

    def pools_of(self, of: Class) -> list[str]:
        """Return the pools that a class takes of."""
        taken = (one.node for one in self.passages[of.name])
        return list(dict.fromkeys(one.pool for one in taken if isinstance(one, Take)))

    def component(self, of: Class) -> list[Class]:
        """Return the closed classes that a class shares a queue or pool with, and so on."""
        return self._components[of.name]

    @cached_property
    def _components(self) -> dict[str, list[Class]]:
        return {name: self._component(one) for name, one in self.network.classes.items()}

    def _component(self, of: Class) -> list[Class]:
        closed = [one for one in self.network.classes.values() if one.is_closed]
        meets = {one.name: self._met_by(one) for one in closed}
        found, at = set[str](), self._met_by(of)
        while more := {n for n, met in meets.items() if n not in found and not at.isdisjoint(met)}:
            found |= more
            at |= {place for name in more for place in meets[name]}
        return [one for one in closed if one.name in found]

    def _met_by(self, of: Class) -> set[str]:
        waited = {one.name for one in self.stations_of(of) if one.waits}
        return waited | set(self.pools_of(of))

    def closed_at(self, station: str) -> list[Class]:
        """Return the closed classes that come to a station."""
        names = dict.fromkeys(one.of.name for one in self.visits.get(station, ()))
        found = (self.network.classes[name] for name in names)
        return [one for one in found if one.is_closed]


# -- of a station ----------------------------------------------------------------------------


def not_behind_a_pool(walked: Walked, station: Station, numbers: Numbers) -> Iterator[Premise]:  # noqa: ARG001 - of structure alone
    """Open traffic comes at random: no pool that is waited for lets it through.

    Who waits for a place comes when another one leaves.
    """
    through = walked.pools_before.get(station.name)
    if through:
        pools = list(dict.fromkeys(through.values()))
        yield Fails(reason_of("pool-lets-through-poisson", station.name, by=pools))


def random_or_room(walked: Walked, station: Station, numbers: Numbers) -> Iterator[Premise]:
    """What finds no room is known: none where all do, else of visits that come at random."""
    if not fits(walked, station, numbers):
        yield from not_behind_a_pool(walked, station, numbers)
        yield from _by_chance_at(walked, station, numbers)


def fits(walked: Walked, station: Station, numbers: Numbers) -> bool:
    """Return whether all who may be at a station find room: each holds one of fewer places."""
    visits = walked.visits.get(station.name, ())
    most = most_within(visits, station.place, walked.network.pools)
    room = station.servers if station.room is None else station.room
    return most is not None and not numbers.is_above_zero(most - room)


def whole_visits(walked: Walked, station: Station, numbers: Numbers) -> Iterator[Premise]:
    """Every visit has the law that is stated: no step in it is taken by a share of the items.

    Where all present are served at once nothing but the mean work matters, and so it is of users
    who wait for answers in product form. So it is where a visit is one step that some make and
    others do not, of an exponential time: those who make it come at random, too.
    """
    if station.queueing is not None and not station.queueing.traits.is_insensitive:
        yield from _by_chance_at(walked, station, numbers)


def _by_chance_at(walked: Walked, station: Station, numbers: Numbers) -> Iterator[Premise]:
    for run in walked.runs.get(station.name, ()):
        chances = [one for one in run.services if _is_by_chance(one, numbers)]
        is_visit = len(run.services) == 1 and _is_exponential(station)
        if run.of.is_closed or (is_visit and all(_is_share(one, numbers) for one in chances)):
            continue
        if chances:
            yield _by_chance(chances[0], station)
            return


def _is_exponential(station: Station) -> bool:
    """Return whether service times at a station are exponential, whatever the numbers are."""
    queueing = station.queueing
    if queueing is None or queueing.traits.variation != 1:
        return False
    return queueing.variation is None or queueing.variation.expr == ir.Constant(Fraction(1))


def _is_share(served: Serve, numbers: Numbers) -> bool:
    return not numbers.is_above_zero(served.times.often - 1)


def _by_chance(served: Serve, station: Station) -> Fails:
    return Fails(reason_of("step-by-chance", station.name, step=served.by))


def _is_by_chance(node: Serve | Delay, numbers: Numbers) -> bool:
    if isinstance(node, Serve) and node.work is ZERO:
        return False  # what a flow keeps for good is an amount, not a chance
    often = node.times.often
    return often is not ONE and not numbers.is_whole(often)


def product_form_station(walked: Walked, station: Station, numbers: Numbers) -> Iterator[Premise]:
    """Where users who wait for answers meet others, all are served alike: it is in product form.

    So it is of whatever law where all present are served at once, else of exponential times.
    """
    queueing = station.queueing
    if queueing is None or queueing.traits.is_insensitive or queueing.traits.has_ranks:
        return
    runs = walked.runs.get(station.name, [])
    if len({run.of.name for run in runs}) == 1 or not any(run.of.is_closed for run in runs):
        return
    first, *others = runs
    if _is_exponential(station) and all(numbers.are_equal(first.mean, one.mean) for one in others):
        return
    yield Fails(reason_of("unequal-beside-closed", station.name))


# -- of a class ------------------------------------------------------------------------------


def _chance_of(passage: Passage, numbers: Numbers) -> Call | None:
    node = passage.node
    return node if isinstance(node, Call) and _is_chance(node, numbers) else None


def at_most_one_chance(walked: Walked, of: Class, numbers: Numbers) -> Iterator[Premise]:
    """At most one call is made by chance: how several depend on each other is not said."""
    made = (_chance_of(one, numbers) for one in walked.passages[of.name])
    calls = [call for call in made if call is not None]
    if len(calls) > 1:
        yield Fails(reason_of("calls-by-chance", list(dict.fromkeys(call.node for call in calls))))


def one_path(walked: Walked, of: Class, numbers: Numbers) -> Iterator[Premise]:
    """Every item takes the same steps, each as often."""
    for passage in walked.passages[of.name]:
        node = passage.node
        if isinstance(node, Serve) and _is_by_chance(node, numbers):
            yield _by_chance(node, walked.network.stations[node.station])
            return
        if isinstance(node, Delay) and _is_by_chance(node, numbers):
            yield Fails(reason_of("delay-by-chance", node.why))
            return


def _is_chance(call: Call, numbers: Numbers) -> bool:
    return call.times is not None and not numbers.is_whole(call.times.often)


# -- of a component: closed classes that meet ------------------------------------------------


def product_form_stations(walked: Walked, of: Class, numbers: Numbers) -> Iterator[Premise]:
    """All stations are in product form at which closed classes wait that a class meets."""
    component = walked.component(of)
    stations = {one.name: one for each in component for one in walked.stations_of(each)}
    for one in stations.values():
        if one.waits:
            yield from product_form_station(walked, one, numbers)


def no_saturation(walked: Walked, of: Class, numbers: Numbers) -> Iterator[Premise]:  # noqa: ARG001 - populations decide
    """No station can be full at which no waiting is counted: it would hold up all who share.

    Of what a class meets alone its label says so already.
    """
    component = walked.component(of)
    if component == [of]:
        return
    names = {one.name for one in component}
    stations = {s.name: s for one in component for s in walked.stations_of(one)}
    for station in stations.values():
        if station.waits or station.kind is StationKind.STORE:
            continue
        users = [one for one in walked.closed_at(station.name) if one.name in names]
        fails = Fails(reason_of("saturation-of-others", station.name))
        yield From(_beyond(station, users), fails)


def _beyond(station: Station, users: Iterable[Class]) -> Formula:
    """Return how many more may come to a station at once than it has servers."""
    copies, found = station.place.copies, []
    for one in users:
        jobs = one.population
        assert jobs is not None
        is_own = is_holders(station.place, one)
        found.append(jobs / copies if is_own else jobs)
    return total(found) - station.servers


def is_holders(place: Place, of: Class) -> bool:
    """Return whether each flow of a class is at a machine of its own there.

    Elsewhere all may be at one of the equal machines; so may those of a pair, which has two.
    """
    return of.holder.kind == "node" and of.holder.name == place.name


def free_choice(walked: Walked, of: Class, numbers: Numbers) -> Iterator[Premise]:  # noqa: ARG001 - populations decide
    """Which of equal machines serves an item is chosen anew at each visit: no hold ties it.

    Of one class alone each machine counts by itself; where several meet, all of them as one. Of a
    pool that is never full a hold ties to nothing that counts: a network in product form rests on
    nothing but how often each machine is visited.
    """
    component = walked.component(of)
    for one in component if len(component) > 1 else ():
        for passage in walked.passages[one.name]:
            for name in passage.stations:
                station = walked.network.stations.get(name)
                pool = None if station is None else _tied_by(walked.network, station, passage)
                if station is None or pool is None or pool in walked.unfilled:
                    continue
                fails = Fails(
                    reason_of("any-of-the-copies", name, node=station.place.name, by=pool)
                )
                yield From(station.place.copies - 1, fails)


def _tied_by(network: Network, station: Station, passage: Passage) -> str | None:
    """Return the pool of the same machine that is held at a visit, None where there is none."""
    if station.place.copies is ONE:
        return None
    for hold in passage.holds:
        if network.pools[hold.pool].place.name == station.place.name:
            return hold.pool
    return None


# -- the premises of the table that are checked -----------------------------------------------

OF_STATIONS: Mapping[str, Callable[[Walked, Station, Numbers], Iterator[Premise]]] = {
    "not-behind-a-pool": not_behind_a_pool,
    "whole-visits": whole_visits,
    "product-form-station": product_form_station,
    "random-or-room": random_or_room,
}
"""By id, of stations that are waited for."""
OF_CLASSES: Mapping[str, Callable[[Walked, Class, Numbers], Iterator[Premise]]] = {
    "one-path": one_path,
    "at-most-one-chance": at_most_one_chance,
    "product-form-stations": product_form_stations,
    "no-saturation": no_saturation,
    "free-choice": free_choice,
}
"""By id, of classes, with the closed classes that they meet."""
HELD_UP = ("no-saturation", "free-choice")
"""Without these, no error that is stated of a class holds."""
