"""Resources without a queue that users fill, as delays of the networks that these are classes of.

What has no queue serves no more than it can: where users demand more, each visit waits until they
demand no more than that. So long they are nowhere else: a class that is held back in this way comes
less often to the stations that it shares with others. The wait at each resource is that at which
the rates of a network, which has it as a delay, fill the resource. Without pools around it a cycle
is as much longer, but for what it waits less elsewhere, so that a few steps find it; within a pool
it keeps the places, too, and the inverse of the load is followed along its chords.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.closed_networks.closed_stations import CyclePool
from qps.compiler.lower.closed_networks.cycle import Cycle
from qps.engine.expressions.formulas import ONE, ZERO, Formula, maximum, minimum, number, total

_LEAST = number(Fraction(1, 10**9))
"""So much of a resource is left to users at least: else they wait forever, and nothing is known."""
_STEPS = 2
"""Newton's steps to the wait of several classes, whose load falls nearly as a line."""
_MOST_TIMES = 20
"""A wait is at most so many times that of a first step, which begins without any."""


class SaturableResource(Struct, frozen=True, kw_only=True):
    """A resource without a queue on the cycles of closed classes, by their names.

    A cycle a second of each makes a load of `work`, open traffic the `open_load`. A cycle `visits`
    it so often while each pool is held, by the names of the innermost ones; None is no pool.
    """

    name: str
    open_load: Formula
    work: Mapping[str, Formula]
    visits: Mapping[str, Mapping[str | None, Formula]]

    @property
    def left(self) -> Formula:
        """What open traffic leaves of it."""
        return ONE if self.open_load is ZERO else maximum(_LEAST, 1 - self.open_load)

    @property
    def is_within_a_pool(self) -> bool:
        """True where some class visits it while a pool is held."""
        return any(pool is not None for each in self.visits.values() for pool in each)

    def visits_of(self, name: str) -> Formula:
        """Return how often a cycle of a class visits it in all."""
        return total(self.visits[name].values())


class BlockedNetworks(Struct, frozen=True, kw_only=True):
    """Networks by their classes, and how long a cycle of each is `blocked` at each resource."""

    networks: Mapping[str, ClosedNetwork]
    blocked: Mapping[str, Mapping[str, Formula]]

    def rate(self, name: str) -> Formula:
        """Return how many cycles all of a class make."""
        return self.networks[name].rate(name)

    def free(self, name: str) -> Formula:
        """Return how many cycles all of a class would make where it were not blocked."""
        network, rate = self.networks[name], self.rate(name)
        blocked = total(self.blocked.get(name, {}).values())
        if blocked is ZERO:
            return rate
        jobs = network.jobs[network.names.index(name)]
        return jobs / maximum(_LEAST, jobs / rate - blocked)


def blocked_networks(
    networks: Mapping[str, ClosedNetwork],
    cycles: Mapping[str, Cycle],
    resources: Sequence[SaturableResource],
) -> BlockedNetworks:
    """Return networks in which users wait at resources without a queue that are full."""
    found, blocked = dict(networks), dict[str, Mapping[str, Formula]]()
    for names, of_them in _components(networks, resources):
        own = {name: networks[name] for name in names}
        component = _Component(own, {name: cycles[name] for name in names}, of_them)
        waits = component.waits()
        found |= component.networks_with(waits)
        for name in names:
            visited = (one for one in of_them if name in one.work)
            blocked[name] = {one.name: one.visits_of(name) * waits[one.name] for one in visited}
    return BlockedNetworks(networks=found, blocked=blocked)


def _components(
    networks: Mapping[str, ClosedNetwork], resources: Sequence[SaturableResource]
) -> Iterator[tuple[list[str], list[SaturableResource]]]:
    """Yield the classes that networks and resources join, with these resources."""
    left = list(resources)
    while left:
        of_them, names = [left.pop(0)], dict[str, None]()
        while True:
            met = (each for one in of_them for name in one.work for each in networks[name].names)
            names |= dict.fromkeys(met)
            more = [one for one in left if not names.keys().isdisjoint(one.work)]
            if not more:
                break
            of_them += more
            left = [one for one in left if one not in more]
        yield list(names), of_them


class _Component:
    """Classes that meet at stations or at resources without a queue."""

    def __init__(
        self,
        networks: Mapping[str, ClosedNetwork],
        cycles: Mapping[str, Cycle],
        resources: Sequence[SaturableResource],
    ) -> None:
        self._networks, self._cycles, self._resources = networks, cycles, resources

    def waits(self) -> dict[str, Formula]:
        """Return how long each visit waits at each resource."""
        waits = dict.fromkeys((one.name for one in self._resources), ZERO)
        if any(one.is_within_a_pool for one in self._resources):
            return self._in_pools(waits)
        least, wait = self._next(waits), self._next(self._next(self._longest()))
        return {name: minimum(wait[name], _MOST_TIMES * least[name]) for name in waits}

    def _longest(self) -> dict[str, Formula]:
        """Return how long each visit would wait if users waited nowhere else."""
        return self._filling(
            {
                name: network.delays[at] + total(one.demands[at] for one in network.stations)
                for name, network in self._networks.items()
                for at in [network.names.index(name)]
            }
        )

    def _next(self, waits: Mapping[str, Formula]) -> dict[str, Formula]:
        """Return waits that fill what is full where a cycle is else as long as with some waits."""
        networks = self.networks_with(waits)
        besides = {
            name: self._jobs(name) / networks[name].rate(name) - self.blocked(name, waits)
            for name in self._networks
        }
        return self._filling(besides)

    def _filling(self, besides: Mapping[str, Formula]) -> dict[str, Formula]:
        """Return waits that fill what is full where cycles take so long besides."""
        found = {one.name: ZERO for one in self._resources}
        for one in self._resources:
            cycles = {name: besides[name] + self.blocked(name, found) for name in one.work}
            found[one.name] = self._wait(one, cycles)
        return found

    def _wait(self, at: SaturableResource, cycles: Mapping[str, Formula]) -> Formula:
        """Return how long each visit waits where cycles take so long besides (Newton)."""
        wait: Formula = ZERO
        for _ in range(1 if len(cycles) == 1 else _STEPS):
            load, falls = [], []
            for name, besides in cycles.items():
                visits, cycle = at.visits_of(name), besides + at.visits_of(name) * wait
                part = self._work(at, name) / cycle
                load.append(part)
                falls.append(part * visits / cycle)
            demand = total(load)
            # The inverse of the load is nearly a line: of one class it is one.
            wait = maximum(ZERO, wait + (demand / at.left - 1) * demand / total(falls))
        return wait

    def _in_pools(self, none: Mapping[str, Formula]) -> dict[str, Formula]:
        """Return the waits at which full pools let through what fills the fullest resource.

        What a resource has over what is demanded of it grows ever more with the waits. Of a pool
        that is full each place lets through one cycle for each time that it is held: so it is in
        proportion with that, which leads to waits that are too long; a chord leads to too short
        ones. In the end they lie midway.
        """
        holding = {one.name: self._holding_time(one) for one in self._resources}
        idle, waits = self._spare(none), self._next(none)
        waits = _in_proportion(waits, holding, self._spare(waits))
        spare = self._spare(waits)
        longest = _in_proportion(waits, holding, spare)
        part = maximum(ZERO, 1 - idle) / maximum(_LEAST, spare - idle)
        return {name: (minimum(ONE, part) * waits[name] + longest[name]) / 2 for name in waits}

    def _holding_time(self, at: SaturableResource) -> Formula:
        """Return how long places are held besides, for each visit of a resource."""
        parts, visited = [], []
        for name, work in at.work.items():
            pools = {one.resource: one for one in self._cycles[name].pools}
            around = [pools[pool].alone for pool in at.visits[name] if pool is not None]
            parts.append(work * total(around))
            visited.append(work * at.visits_of(name))
        return total(parts) / total(visited)

    def _spare(self, waits: Mapping[str, Formula]) -> Formula:
        """Return the least capacity over demand of all resources: 1 where one is just full."""
        networks = self.networks_with(waits)
        loads = [
            total(
                work * networks[name].rate(name) / self._cycles[name].flows
                for name, work in one.work.items()
            )
            / one.left
            for one in self._resources
        ]
        return 1 / maximum(_LEAST, *loads)

    def networks_with(self, waits: Mapping[str, Formula]) -> dict[str, ClosedNetwork]:
        """Return the networks in which visits wait so long at resources."""
        if all(wait is ZERO for wait in waits.values()):
            return dict(self._networks)
        every = {one.names: one for one in self._networks.values()}
        found = {}
        for names, network in every.items():
            added = [self._added(name, waits) for name in names]
            delays = (
                delay + each.get(None, ZERO)
                for delay, each in zip(network.delays, added, strict=True)
            )
            pools = (
                tuple(_longer(pool, each) for pool in own)
                for own, each in zip(network.pools_by_class, added, strict=True)
            )
            found[names] = replace(
                network,
                delays=tuple(delays),
                pools_by_class=tuple(pools),
                unblocked=network.unblocked_delays,
            )
        return {name: found[one.names] for name, one in self._networks.items()}

    def _added(self, name: str, waits: Mapping[str, Formula]) -> dict[str | None, Formula]:
        """Return how long a cycle of a class is blocked while it holds each pool, and none."""
        found: dict[str | None, Formula] = {}
        for one in self._resources:
            for pool, visits in one.visits.get(name, {}).items():
                found[pool] = found.get(pool, ZERO) + visits * waits[one.name]
        return found

    def blocked(self, name: str, waits: Mapping[str, Formula]) -> Formula:
        """Return how long a cycle of a class is blocked in all."""
        return total(self._added(name, waits).values())

    def _work(self, at: SaturableResource, name: str) -> Formula:
        """Return the load of all of a class, if each made a cycle a second."""
        return at.work[name] * self._jobs(name) / self._cycles[name].flows

    def _jobs(self, name: str) -> Formula:
        return self._cycles[name].jobs


def _in_proportion(
    waits: Mapping[str, Formula], holding: Mapping[str, Formula], spare: Formula
) -> dict[str, Formula]:
    """Return waits by which so little is spared that a resource is just full."""
    less = minimum(ONE, 1 / spare)
    return {
        name: maximum(ZERO, (wait + holding[name]) * less - holding[name])
        for name, wait in waits.items()
    }


def _longer(pool: CyclePool, added: Mapping[str | None, Formula]) -> CyclePool:
    """Return a pool that is held longer, as are those within it."""
    inner = tuple(_longer(one, added) for one in pool.pools)
    longer = added.get(pool.resource, ZERO)
    deeper = total(
        now.alone - one.alone for now, one in zip(inner, pool.pools, strict=True) if now is not one
    )
    if longer is ZERO and deeper is ZERO:
        return pool
    alone = pool.alone + longer + deeper
    # What is waited is nearly the same each time: it varies no more than the services did.
    varied = pool.variation * (pool.alone / alone) ** 2
    return replace(pool, alone=alone, delay=pool.delay + longer, pools=inner, variation=varied)
