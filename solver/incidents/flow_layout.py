"""What flows alike: the keys of requests, and the ways of keys through stations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from qps.solver.incidents.incident_system import IncidentSystem, RequestStream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Amounts = NDArray[np.float64]
else:
    Amounts = Any

DONE = -1
"""Where requests go that are answered."""


class FlowKey(Struct, frozen=True, kw_only=True):
    """Requests that flow alike: of a stream, on one of its routes, in their n-th attempt."""

    stream: int
    route: int
    attempt: int


class FlowLayout(Struct, frozen=True, kw_only=True):
    """The keys of a system in order; masks are 1 for the keys that go somewhere, else 0.

    `works` is the work of a request of each key at each station, `order` the stations in the order
    in which requests come to them. `entry` and `after` say where keys go first, and after a
    station.
    """

    streams: tuple[RequestStream, ...]
    keys: tuple[FlowKey, ...]
    works: tuple[Amounts, ...]
    order: tuple[int, ...]
    entry: tuple[tuple[int, Amounts], ...]
    after: tuple[tuple[tuple[int, Amounts], ...], ...]
    of_stream: tuple[tuple[slice, ...], ...]
    """The keys of each attempt of each stream, one for each of its routes."""

    def owned(self, place: int) -> slice:
        """Return the keys of a stream."""
        slices = self.of_stream[place]
        return slice(slices[0].start, slices[-1].stop)


class Parcel(Struct):
    """Requests that were sent in one step, by their keys, with the work that they are here."""

    origin: int
    amounts: Amounts
    work: float


def flow_layout(system: IncidentSystem) -> FlowLayout:
    """Return the keys of a system, and where they go."""
    import numpy as np  # noqa: PLC0415 - of incidents alone

    keys: list[FlowKey] = []
    slices: list[tuple[slice, ...]] = []
    for number, stream in enumerate(system.streams):
        own: list[slice] = []
        for attempt in range(1 + (stream.retry.retries if stream.retry else 0)):
            own.append(slice(len(keys), len(keys) + len(stream.routes)))
            keys += [
                FlowKey(stream=number, route=route, attempt=attempt)
                for route in range(len(stream.routes))
            ]
        slices.append(tuple(own))
    count = len(system.stations)
    works = [np.zeros(len(keys)) for _ in range(count)]
    masks: dict[int, dict[int, Amounts]] = {place: {} for place in range(DONE, count)}
    ranks = [0.0] * count
    for column, key in enumerate(keys):
        visits = system.streams[key.stream].routes[key.route].visits
        here = DONE  # before the first station
        for rank, (station, work) in enumerate(visits):
            works[station][column] = work
            ranks[station] = max(ranks[station], rank)
            masks[here].setdefault(station, np.zeros(len(keys)))[column] = 1
            here = station
        masks[here].setdefault(DONE, np.zeros(len(keys)))[column] = 1
    return FlowLayout(
        streams=system.streams,
        keys=tuple(keys),
        works=tuple(works),
        order=tuple(sorted(range(count), key=lambda station: ranks[station])),
        entry=tuple(masks[DONE].items()),
        after=tuple(tuple(masks[station].items()) for station in range(count)),
        of_stream=tuple(slices),
    )
