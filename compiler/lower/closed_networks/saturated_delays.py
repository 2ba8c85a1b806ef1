"""Resources without a queue that users fill, as delays of the networks that these are classes of.

What has no queue serves no more than it can: where users demand more, each visit waits until they
demand no more than that. So long they are nowhere else: a class that is held back in this way comes
less often to the stations that it shares with others, and keeps the places of pools for longer. How
long that is, all classes that meet at stations, pools or resources have together: it is settled
with the numbers of their network (`multiclass_load_dependent_numbers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.closed_networks.closed_stations import ClosedStation, CyclePool
from qps.compiler.lower.closed_networks.cycle import Cycle
from qps.compiler.lower.closed_networks.load_dependent_stations import nested
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, number, total
from qps.engine.queueing_networks.multiclass_load_dependent_operands import LIMIT

_LEAST = number(Fraction(1, 10**9))
"""So much of a resource is left to users at least: else they wait forever, and nothing is known."""


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
        component = _Component(
            {name: networks[name] for name in names},
            {name: cycles[name] for name in names},
            of_them,
        )
        found |= component.networks
        blocked |= {name: component.blocked(name) for name in names}
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
        self._names, self._networks, self._cycles = tuple(networks), networks, cycles
        self._resources = resources
        each = [networks[name] for name in self._names]
        at = [one.names.index(name) for name, one in networks.items()]
        self._jobs = tuple(one.jobs[k] for one, k in zip(each, at, strict=True))
        pools = [one.pools_by_class[k] for one, k in zip(each, at, strict=True)]
        whole = nested(list(self._stations()), pools, as_several=True)
        self._places = whole.places
        self._limits: dict[str, Formula] = {}
        delays = tuple(one.delays[k] for one, k in zip(each, at, strict=True))
        self._operands = (*delays, *whole.operands)
        size = len(whole.operands) // (4 + 2 * len(self._names))
        for resource in resources:
            self._limits[resource.name] = number(size)
            groups = list(self._groups(resource))
            self._operands += tuple(one for group in groups for one in group)
            size += len(groups)

    def _stations(self) -> Iterator[ClosedStation]:
        """Yield the stations of all networks as those of all classes; each rank has its own."""
        for network in {one.names: one for one in self._networks.values()}.values():
            places = [
                network.names.index(name) if name in network.names else None for name in self._names
            ]
            for one in network.stations:
                yield replace(
                    one,
                    resource=one.resource if one.rank is None else f"{one.resource} {one.rank}",
                    demands=tuple(ZERO if k is None else one.demands[k] for k in places),
                    weights=tuple(ZERO if k is None else one.weights[k] for k in places),
                )

    def _groups(self, resource: SaturableResource) -> Iterator[tuple[Formula, ...]]:
        """Yield the groups of a resource: one for each pool that is held while it is visited."""
        nothing = (ZERO,) * len(self._names)
        work = [
            resource.work[name] / self._cycles[name].flows if name in resource.work else ZERO
            for name in self._names
        ]
        pools = dict.fromkeys(pool for each in resource.visits.values() for pool in each)
        for at, pool in enumerate(pools):
            is_first = at == 0
            yield (
                number(LIMIT),
                resource.left,
                ZERO if pool is None else self._places[pool] + 1,
                ONE if is_first else ZERO,
                *(resource.visits.get(name, {}).get(pool, ZERO) for name in self._names),
                *(work if is_first else nothing),
            )

    def blocked(self, name: str) -> dict[str, Formula]:
        """Return how long a cycle of a class waits at each resource."""
        visited = (one for one in self._resources if name in one.work)
        return {one.name: self._time(name, one) for one in visited}

    def _time(self, name: str, at: SaturableResource) -> Formula:
        of = self._names.index(name) + 1
        return apply(
            "shared_time", len(self._names), of, self._limits[at.name], *self._jobs, *self._operands
        )

    @property
    def networks(self) -> dict[str, ClosedNetwork]:
        """The networks in which visits wait so long at resources."""
        every = {one.names: one for one in self._networks.values()}
        found = {}
        for names, network in every.items():
            added = [self._added(name) for name in names]
            delays = (
                delay + each.get(None, ZERO)
                for delay, each in zip(network.delays, added, strict=True)
            )
            pools = (
                tuple(_longer(pool, each) for pool in own)
                for own, each in zip(network.pools_by_class, added, strict=True)
            )
            is_all = names == self._names and not network.is_of_one
            found[names] = replace(
                network,
                delays=tuple(delays),
                pools_by_class=tuple(pools),
                unblocked=network.unblocked_delays,
                with_limits=self._operands if is_all else None,
                # Users who were moved are others where they are blocked.
                unlike={} if network.moved else network.unlike,
                moved=None,
            )
        return {name: found[one.names] for name, one in self._networks.items()}

    def _added(self, name: str) -> dict[str | None, Formula]:
        """Return how long a cycle of a class is blocked while it holds each pool, and none."""
        found: dict[str | None, Formula] = {}
        for one in self._resources:
            each = one.visits.get(name, {})
            for pool, visits in each.items():
                part = visits / one.visits_of(name) if len(each) > 1 else ONE
                found[pool] = found.get(pool, ZERO) + part * self._time(name, one)
        return found


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
