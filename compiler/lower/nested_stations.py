"""Closed networks with speeds and pools, as the operations of the engine take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from qps.compiler.lower.closed_stations import HeldPool, SharedStation
from qps.engine.formulas import ONE, ZERO, Formula, number, total
from qps.engine.networks.nested_networks import OWN, SPEED, STATION

_Group = tuple[Formula, ...]


_NOTHING: _Group = (number(STATION), ZERO, ONE, ZERO, ONE)
_SHARED_BY_ALL: _Group = (number(STATION), ONE, ZERO, ONE)
"""A station that nobody asks anything of."""


class Nested(Struct, frozen=True):
    """The operands of a network, and which group of them is that of a station or a pool."""

    operands: tuple[Formula, ...]
    places: dict[str, Formula]


def nested(stations: Sequence[SharedStation], held: Sequence[HeldPool]) -> Nested:
    """Return a network of stations, of which some are visited while pools are held."""
    by_name = {one.resource: one for one in stations}
    within = {name for pool in held for one in pool.every for name in one.stations}
    groups: list[_Group] = []
    places: dict[str, Formula] = {}
    for name, one in by_name.items():
        if name not in within:
            places[name] = number(len(groups))
            groups += _station(one, STATION)
    for pool in held:
        _add(pool, by_name, groups, places)
    return Nested(tuple(one for group in groups for one in group), places)


def shared(stations: Sequence[SharedStation], held: Sequence[Sequence[HeldPool]]) -> Nested:
    """Return a network of stations that several classes visit, while each holds such pools."""
    return _Shared(stations, held).told


class _Shared:
    """Such a network while it is put together: pools as all classes hold them."""

    def __init__(
        self, stations: Sequence[SharedStation], held: Sequence[Sequence[HeldPool]]
    ) -> None:
        self._stations = stations
        self._held = [{deep.resource: deep for one in own for deep in one.every} for own in held]
        self._known = {name: one for own in self._held for name, one in own.items()}
        pools = [one for own in self._held for one in own.values()]
        self._around = {deep.resource: one.resource for one in pools for deep in one.pools}
        self._home = {name: one.resource for one in pools for name in one.stations}
        self._own = {name for one in pools for name in one.own}
        self._groups: list[_Group] = []
        self._places: dict[str, Formula] = {}
        self._add(None)
        self.told = Nested(tuple(one for group in self._groups for one in group), self._places)

    def _add(self, within: str | None) -> None:
        """Add the stations and pools within a pool, or within none."""
        for station in self._stations:
            if self._home.get(station.resource) == within:
                self._add_station(station)
        for name in self._known:
            if self._around.get(name) == within:
                self._add_pool(name)

    def _add_station(self, one: SharedStation) -> None:
        self._places[one.resource] = number(len(self._groups))
        own = (*one.demands, *one.weights)
        for kind, _, servers, load, copies in _station(
            one, OWN if one.resource in self._own else STATION
        ):
            self._groups.append((kind, servers, load, copies, *own))
            own = (ZERO,) * len(own)

    def _add_pool(self, name: str) -> None:
        at, one = len(self._groups), self._known[name]
        self._places[name] = number(at)
        self._groups.append(())
        self._add(name)
        if len(self._groups) == at + 1:
            self._groups.append((*_SHARED_BY_ALL, *[ZERO] * (2 * len(self._held))))
        each = [own.get(name) for own in self._held]
        varied = [pool.variation for pool in each if pool is not None]
        self._groups[at] = (
            number(len(self._groups) - at - 1),
            one.places,
            total(varied) / len(varied),
            one.copies,
            *(ZERO if pool is None else pool.delay for pool in each),
            *(ZERO if pool is None else pool.taken for pool in each),
        )


def _add(
    pool: HeldPool,
    stations: dict[str, SharedStation],
    groups: list[_Group],
    places: dict[str, Formula],
) -> None:
    """Add a pool and what is within."""
    at = len(groups)
    places[pool.resource] = number(at)
    groups.append(())
    for name in pool.stations:
        places[name] = number(len(groups))
        groups += _station(stations[name], OWN if name in pool.own else STATION)
    for one in pool.pools:
        _add(one, stations, groups, places)
    if len(groups) == at + 1:  # what has nothing within would be a station
        groups.append(_NOTHING)
    count = number(len(groups) - at - 1)
    groups[at] = (count, pool.delay, pool.places, pool.variation, pool.copies)


def _station(one: SharedStation, kind: int) -> Iterator[_Group]:
    first = one.speeds[0] if one.speeds else one.servers
    yield number(kind), one.demands[0], first, one.open_load, one.copies
    for speed in one.speeds[1:]:
        yield number(SPEED), ZERO, speed, ZERO, ONE
