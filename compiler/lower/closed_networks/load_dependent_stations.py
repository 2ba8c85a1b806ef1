"""Closed networks with speeds and pools, as the operations of the engine take them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from qps.compiler.lower.closed_networks.closed_stations import ClosedStation, CyclePool
from qps.engine.expressions.formulas import ONE, ZERO, Formula, number, total
from qps.engine.queueing_networks.load_dependent_operands import OWN, SPEED, STATION


class LoadDependentOperands(Struct, frozen=True):
    """The operands of a network, and which group of them is that of a station or a pool."""

    operands: tuple[Formula, ...]
    places: dict[str, Formula]


def nested(
    stations: Sequence[ClosedStation],
    pools_by_class: Sequence[Sequence[CyclePool]],
    *,
    as_several: bool = False,
) -> LoadDependentOperands:
    """Return a network of stations that classes visit, while each holds such pools.

    One class may be described as several are.
    """
    network = _LoadDependentNetwork(stations, pools_by_class, as_several=as_several)
    return LoadDependentOperands(
        tuple(one for group in network.groups for one in group), network.places
    )


class _LoadDependentNetwork:
    """Such a network while it is put together: pools as all classes hold them.

    A group of operands has of one class first its demand, and of several last.
    """

    def __init__(
        self,
        stations: Sequence[ClosedStation],
        pools_by_class: Sequence[Sequence[CyclePool]],
        *,
        as_several: bool,
    ) -> None:
        self._is_of_one = len(pools_by_class) == 1 and not as_several
        self._stations = {one.resource: one for one in stations}
        self._pools = [
            {deep.resource: deep for one in own for deep in one.every} for own in pools_by_class
        ]
        self._known = {name: one for own in self._pools for name, one in own.items()}
        pools = [one for own in self._pools for one in own.values()]
        self._around = {deep.resource: one.resource for one in pools for deep in one.pools}
        self._home = {name: one.resource for one in pools for name in one.stations}
        self._own = {name for one in pools for name in one.own}
        self._nothing = (ZERO,) * len(pools_by_class)
        self.groups: list[tuple[Formula, ...]] = []
        self.places: dict[str, Formula] = {}
        self._add(None)

    def _add(self, within: str | None) -> None:
        """Add the stations and pools within a pool, or within none."""
        for name, station in self._stations.items():
            if self._home.get(name) == within:
                self._add_station(station)
        for name in self._known:
            if self._around.get(name) == within:
                self._add_pool(name)

    def _add_station(self, one: ClosedStation) -> None:
        self.places[one.resource] = number(len(self.groups))
        kind = number(OWN if one.resource in self._own else STATION)
        first = one.speeds[0] if one.speeds else one.servers
        operands = (kind, first, one.open_load, one.copies)
        self.groups.append(self._group(operands, one.demands, one.weights))
        for speed in one.speeds[1:]:
            self.groups.append(self._group((number(SPEED), speed, ZERO, ONE)))

    def _add_pool(self, name: str) -> None:
        at, one = len(self.groups), self._known[name]
        self.places[name] = number(at)
        self.groups.append(())
        self._add(name)
        if len(self.groups) == at + 1:  # what has nothing within would be a station
            self.groups.append(self._group((number(STATION), ONE, ZERO, ONE)))
        each = [own.get(name) for own in self._pools]
        varied = [pool.variation for pool in each if pool is not None]
        count = number(len(self.groups) - at - 1)
        self.groups[at] = self._group(
            (count, one.places, total(varied) / len(varied), one.copies),
            tuple(ZERO if pool is None else pool.delay for pool in each),
            tuple(ZERO if pool is None else pool.visits for pool in each),
        )

    def _group(
        self,
        of_all: tuple[Formula, ...],
        demands: tuple[Formula, ...] = (),
        weights: tuple[Formula, ...] = (),
    ) -> tuple[Formula, ...]:
        kind, *others = of_all
        demands = demands or self._nothing
        if self._is_of_one:
            return (kind, *demands, *others)
        return (*of_all, *demands, *(weights or self._nothing))
