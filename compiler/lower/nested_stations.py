"""Closed networks with speeds and pools, as the operations of the engine take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from qps.compiler.lower.closed_stations import HeldPool, SharedStation
from qps.engine.formulas import ONE, ZERO, Formula, number
from qps.engine.networks.nested_networks import OWN, SPEED, STATION

_Group = tuple[Formula, ...]


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
    count = number(len(groups) - at - 1)
    groups[at] = (count, pool.delay, pool.places, pool.variation, pool.copies)


def _station(one: SharedStation, kind: int) -> Iterator[_Group]:
    first = one.speeds[0] if one.speeds else one.servers
    yield number(kind), one.demands[0], first, one.open_load, one.copies
    for speed in one.speeds[1:]:
        yield number(SPEED), ZERO, speed, ZERO, ONE
