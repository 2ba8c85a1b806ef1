"""Stations of closed classes, and pools that these hold."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from qps.engine.expressions.formulas import Formula, total


class ClosedStation(Struct, frozen=True, kw_only=True):
    """A resource that closed classes wait for: one, or all of a network.

    A cycle of each has its part of the `demands`, in seconds of one server of it, all visits and
    all `copies` together; each copy has so many `servers`, of which other traffic keeps `open_load`
    busy. One with `speeds` has one server, faster or slower by how many are there; the demand is
    that at speed 1. Where some go before others, each `rank` has a station of its own. Of what all
    wait there a class has its part by its weight: by its demand, or by its visits, as first comes
    first.
    """

    resource: str
    demands: tuple[Formula, ...]
    weights: tuple[Formula, ...]
    servers: Formula
    open_load: Formula
    copies: Formula
    speeds: tuple[Formula, ...] = ()
    rank: int | None = None

    @property
    def demand(self) -> Formula:
        """What a cycle demands of it where it is the station of one class."""
        (demand,) = self.demands
        return demand


class UnlikeWork(Struct, frozen=True, kw_only=True):
    """What a cycle of one class finds at a station of unlike services, first come first served.

    It waits so much `longer` than in product form, all visits together, behind long services of
    which so much is `left`. As an arrival `found` finds it, it is that part of the users. So many
    `arriving` ones come for each server while it serves a visit, at most: no more visits wait.
    """

    longer: Formula
    left: Formula
    found: Formula
    arriving: Formula


class MovedUsers(Struct, frozen=True, kw_only=True):
    """Users of one class who hold pools while they wait longer for unlike services.

    All others are as in a network of so many `jobs`. A cycle `waits` so much longer for each pool,
    and no more cycles end in a second than the `most`: these end while all places of one are held.
    """

    jobs: Formula
    waits: Mapping[str, Formula]
    most: tuple[Formula, ...]


class CyclePool(Struct, frozen=True, kw_only=True):
    """A pool that a cycle holds, with what goes on meanwhile.

    Without waits that takes it `alone`; `station_demand` is the part at stations. What is neither
    at `stations` nor in other `pools` is a `delay`. Each of some `copies` has so many `places`;
    what is done varies by `variation`, the square of its coefficient. A place that is held makes a
    load of one `unit`, what is held for good the `permanent` one; a cycle takes of it `visits`
    times. The stations that are its `own` are those of the same machine. Where each cycle
    holds it once, `is_delay` is 1 if nobody waits meanwhile, whatever the numbers are, else 0.
    A `method` of its own says how waits for it are known, empty for a flow-equivalent server.
    """

    resource: str
    visits: Formula
    alone: Formula
    station_demand: Formula
    delay: Formula
    places: Formula
    copies: Formula
    variation: Formula
    unit: Formula
    permanent: Formula
    stations: tuple[str, ...]
    own: tuple[str, ...]
    pools: tuple[CyclePool, ...]
    is_delay: Formula | None = None
    method: str = ""

    def holding_time(self, times: Mapping[str, Formula]) -> Formula:
        """Return how long a cycle holds it, from how long it is at each place within."""
        within = total(times[name] for name in self.stations)
        deeper = (times[one.resource] + one.holding_time(times) for one in self.pools)
        return self.delay + within + total(deeper)

    @property
    def every(self) -> tuple[CyclePool, ...]:
        """It and all pools within."""
        return (self, *(deeper for one in self.pools for deeper in one.every))


class PrivateMachine(Struct, frozen=True, kw_only=True):
    """A machine of each holder's own: the items of a stream wait there for open traffic alone.

    `wait` is for all visits of a cycle, whose `service` takes so long on one core, `open_wait` what
    a visit of open traffic waits, in mean service times.
    """

    station: ClosedStation
    service: Formula
    wait: Formula
    open_wait: Formula
