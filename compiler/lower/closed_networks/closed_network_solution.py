"""Closed networks, solved: users who wait for their answer and think before the next request.

Their stations are what they wait for; all else that takes time in a cycle is a delay, as thinking.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_stations import (
    ClosedStation,
    CyclePool,
    MovedUsers,
    UnlikeWork,
)
from qps.compiler.lower.closed_networks.delay_holds import rate_of_delay_holds
from qps.compiler.lower.closed_networks.fork_join_stations import Forked, ForkJoin, forked
from qps.compiler.lower.closed_networks.load_dependent_stations import LoadDependentOperands, nested
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    total,
)

_AS_MANY_AS_EVER = number(10**6)


class ClosedNetwork(Struct, frozen=True, kw_only=True, dict=True):
    """The closed streams that meet at some station, or meet others that do: its classes.

    Each has so many `jobs` under way, and a cycle of it takes a delay besides the stations, and
    holds pools: `pools_by_class`. One class alone may have `forks`, its parallel calls. In a delay
    is what those who go first keep a cycle `behind` at a resource, how much more open work it has
    `found` there than in product form, and how much longer one class waits for `unlike` services.
    """

    names: tuple[str, ...]
    jobs: tuple[Formula, ...]
    delays: tuple[Formula, ...]
    stations: tuple[ClosedStation, ...]
    pools_by_class: tuple[tuple[CyclePool, ...], ...]
    behind: Mapping[tuple[str, str], Formula] = field(default_factory=dict)
    found: Mapping[tuple[str, str], Formula] = field(default_factory=dict)
    unlike: Mapping[str, UnlikeWork] = field(default_factory=dict)
    moved: MovedUsers | None = None
    """Users who hold pools while they wait longer for unlike services: no delay has that."""
    solves_each_time: bool = False
    """Whether each time at a place is one of the network; else one is what Little's law leaves."""
    forks: tuple[ForkJoin, ...] = ()
    often: Mapping[str, Formula] = field(default_factory=dict)
    """How often the one class visits each station; that of several is not known."""
    unblocked: tuple[Formula, ...] | None = None
    """The delays without waits at full resources that have no queue."""
    with_limits: tuple[Formula, ...] | None = None
    """The operands behind the jobs, with such resources in place of waits there."""

    @property
    def unblocked_delays(self) -> tuple[Formula, ...]:
        """The delays without what is waited at full resources that have no queue."""
        return self.delays if self.unblocked is None else self.unblocked

    @property
    def is_of_one(self) -> bool:
        """True where there is one closed stream."""
        return len(self.names) == 1

    @property
    def is_nested(self) -> bool:
        """True where there are pools, or stations with speeds."""
        return any(self.pools_by_class) or any(one.speeds for one in self.stations)

    @property
    def delay_hold(self) -> CyclePool | None:
        """The pool of one class that waits for nothing else, and holds it as if for a delay."""
        if not self.is_of_one or len(self.pools_by_class[0]) != 1:
            return None
        (pool,) = self.pools_by_class[0]
        is_all = {one.resource for one in self.stations} <= set(pool.stations)
        return pool if pool.is_delay is not None and is_all else None

    @cached_property
    def _nested(self) -> LoadDependentOperands:
        return nested(self.stations, self.pools_by_class)

    def _of_nested(self, word: str, *which: Formula | int) -> Formula:
        """Return what an operation on networks with pools and speeds comes to."""
        behind = self.with_limits or (*self.delays, *self._nested.operands)
        operands = (*which, *self.jobs, *behind)
        if self.is_of_one:
            return apply(f"nested_{word}", *operands)
        return apply(f"shared_{word}", len(self.names), *operands)

    def _class(self, name: str) -> tuple[int, ...]:
        """Return the operand of a class, where there are several."""
        return () if self.is_of_one else (self.names.index(name) + 1,)

    def nested_times(self, name: str) -> Mapping[str, Formula]:
        """Return how long a cycle of a stream is at each station, or waits for each pool.

        At the first one it is what Little's law leaves: their sum is a function of the rate. That
        is a station, if there is any at which it may wait: waits for a pool may be nothing, and no
        rounding makes them less.
        """
        if name not in self._nested_times:
            self._nested_times[name] = self._times_of(name)
        return self._nested_times[name]

    @cached_property
    def _nested_times(self) -> dict[str, Mapping[str, Formula]]:
        return {}

    @cached_property
    def _without_moved(self) -> ClosedNetwork:
        """The network of those who do not wait longer for unlike services."""
        assert self.moved is not None
        return replace(self, jobs=(self.moved.jobs,), moved=None, unlike={})

    def _moved_times(self, name: str, moved: MovedUsers) -> dict[str, Formula]:
        """Return how long a cycle is at each place, with what it waits longer there."""
        longer = {**{at: one.longer for at, one in self.unlike.items()}, **moved.waits}
        without = self._without_moved.nested_times(name)
        return {at: time + longer.get(at, ZERO) for at, time in without.items()}

    def _times_of(self, name: str) -> dict[str, Formula]:
        if self.moved is not None:
            return self._moved_times(name, self.moved)
        number = self.names.index(name)
        pools = [deeper for pool in self.pools_by_class[number] for deeper in pool.every]
        stations = [one.resource for one in self.stations if one.demands[number] is not ZERO]
        own = {*stations, *(one.resource for one in pools)}
        found = {
            place: self._of_nested("time", *self._class(name), at)
            for place, at in self._nested.places.items()
            if place in own
        }
        if self.solves_each_time:
            return found
        is_pool = self.delay_hold is not None or not stations
        first = pools[0].resource if is_pool else stations[0]
        delays = self.delays[number] + total(one.delay for one in pools)
        others = total(time for other, time in found.items() if other != first)
        left = self.jobs[number] / self.rate(name) - delays - others
        found[first] = maximum(ZERO, left) if is_pool else left
        return found

    @property
    def _forked(self) -> Forked:
        return forked(self.stations, self.forks, self.often)

    def _at(self, place: str | int) -> tuple[Formula, ...]:
        """Return the operands of a station, or of calls made together."""
        network = self._forked
        return (network.places[place], *self.jobs, *self.delays, *network.operands)

    def time_together(self, fork: int) -> Formula | None:
        """Return how long calls take that are made together; None where none of it waits."""
        return apply("forked_time", *self._at(fork)) if self.forks else None

    def rate_within(self, name: str, pool: CyclePool) -> Formula:
        """Return how many cycles of a stream end in a second while it has all places of a pool."""
        number, names = self.names.index(name), {at for one in pool.every for at in one.stations}
        within = [
            replace(one, demands=one.demands[number : number + 1])
            for one in self.stations
            if one.resource in names
        ]
        inner = nested(within, [(pool,)])
        return apply("nested_rate", _AS_MANY_AS_EVER, ZERO, *inner.operands)

    def _cycle_demand(self, name: str, resource: str) -> Formula:
        """Return what a cycle of a stream demands of a station; nothing of a pool."""
        number = self.names.index(name)
        demands = (one.demands[number] for one in self.stations if one.resource == resource)
        return next(demands, ZERO)

    def rate(self, name: str) -> Formula:
        """Return how many cycles all of a stream make in a second."""
        number = self.names.index(name)
        if self.moved is not None:
            return minimum(self._without_moved.rate(name), *self.moved.most)
        if self.delay_hold is not None:
            return rate_of_delay_holds(
                self.delay_hold,
                self.jobs[0],
                self.delays[0],
                lambda jobs: apply("nested_rate", jobs, *self.delays, *self._nested.operands),
            )
        if self.is_nested:
            return self._of_nested("rate", *self._class(name))
        if self.forks:
            return apply("forked_rate", *self.jobs, *self.delays, *self._forked.operands)
        if not any(one.demands[number] is not ZERO for one in self.stations):
            return self.jobs[number] / self.delays[number]
        operands = self._operands_of(self.stations, *self._class(name))
        return apply("closed_rate" if self.is_of_one else "class_rate", *operands)

    def wait(self, name: str, resource: str) -> Formula:
        """Return what a cycle of a stream waits at a station."""
        more = [part.get((name, resource), ZERO) for part in (self.behind, self.found)]
        unlike = self.unlike.get(resource)
        longer = ZERO if unlike is None or self.moved is not None else unlike.longer
        return self._wait(name, resource) + total((*more, longer))

    @property
    def finds_open_work(self) -> frozenset[str]:
        """The stations at which users find open work as first comes first, not in product form."""
        return frozenset(resource for _, resource in self.found)

    def _wait(self, name: str, resource: str) -> Formula:
        """Return the same but for those who go first.

        Of several classes the waits at one of them are what Little's law leaves, so that their sum
        is a function of the rate alone.
        """
        if self.is_nested:
            return self.nested_times(name)[resource] - self._cycle_demand(name, resource)
        if self.forks:
            return apply("forked_time", *self._at(resource)) - self._cycle_demand(name, resource)
        number = self.names.index(name)
        stations = self._from(resource, number)
        visited = [one for one in self.stations if one.demands[number] is not ZERO]
        if self.is_of_one or visited[0].resource != resource:
            operands = self._operands_of(stations, *self._class(name))
            return apply("closed_wait" if self.is_of_one else "class_wait", *operands)
        cycle = self.jobs[number] / self.rate(name) - self.delays[number]
        served = total(one.demands[number] for one in visited)
        elsewhere = total(self._wait(name, one.resource) for one in visited[1:])
        return cycle - served - elsewhere

    def quantile(
        self, name: str, level: Formula, visits: Mapping[str, tuple[Formula, bool]]
    ) -> Formula:
        """Return the quantile of the time that a cycle of a stream takes at all stations.

        Each is visited so often; there all are served at once, or one after the other. The stream
        visits no others.
        """
        operands = [*self.jobs, *self.delays]
        for one in self.stations:
            often, shares = visits.get(one.resource, (ZERO, False))
            operands += [*self._group(one), often, ONE if shares else ZERO]
        if self.is_of_one:
            return apply("closed_quantile", level, *operands)
        return apply("class_quantile", len(self.names), *self._class(name), level, *operands)

    def open_wait(self, resource: str) -> Formula:
        """Return what a visit of open traffic waits at a station, in mean service times."""
        if self.is_nested:
            return self._of_nested("wait", self._nested.places[resource])
        if self.forks:
            return apply("forked_wait", *self._at(resource))
        operands = self._operands_of(self._from(resource))
        return apply("mixed_wait" if self.is_of_one else "class_open_wait", *operands)

    def room(self, resource: str, limit: Formula, open_load: Formula) -> Formula:
        """Return how much more than an open load brings a station to a load in all."""
        own, *others = self._from(resource)
        now = replace(own, open_load=open_load * own.servers)
        return apply("mixed_room", limit, *self._operands((now, *others))) / own.servers

    def station_of(self, name: str, resource: str) -> ClosedStation:
        """Return a station as a class finds it: of its rank, with what goes first as open load."""
        return self._from(resource, self.names.index(name))[0]

    def _from(self, resource: str, number: int | None = None) -> tuple[ClosedStation, ...]:
        """Return the stations, that of a name first: where there are several, that of a class."""
        own = next(
            one
            for one in self.stations
            if one.resource == resource and (number is None or one.demands[number] is not ZERO)
        )
        return (own, *(one for one in self.stations if one is not own))

    def _operands_of(self, stations: Iterable[ClosedStation], *which: int) -> list[Formula | int]:
        """Return what operations on networks take: of several classes, how many, and `which`."""
        of_several = () if self.is_of_one else (len(self.names), *which)
        return [*of_several, *self._operands(stations)]

    def _operands(self, stations: Iterable[ClosedStation]) -> list[Formula]:
        """Return what operations on networks take, without which class of how many is requested."""
        return [*self.jobs, *self.delays, *chain.from_iterable(map(self._group, stations))]

    def _group(self, one: ClosedStation) -> tuple[Formula, ...]:
        """Return the operands of a station: the demand of one class comes first."""
        of_all = one.servers, one.open_load, one.copies
        return (*one.demands, *of_all) if self.is_of_one else (*of_all, *one.demands)
