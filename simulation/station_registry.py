"""The stations that are played, each known from the first visit on."""

from __future__ import annotations

from math import inf

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.network import stations_and_pools as parts
from qps.compiler.network.network import Network
from qps.compiler.quantities.disciplines import Service
from qps.simulation.class_values import ClassValues
from qps.simulation.operating_point import OperatingPoint
from qps.simulation.simulated_model import Station

NEARLY = 1e-9


def refused(message: str, hint: str | None = None) -> QpsError:
    """Return that something is not played."""
    return QpsError.single(codes.NO_ANSWER, None, message, hint=hint)


class Stations(Struct, kw_only=True):
    """The stations so far, in the order in which they were met, and what is to be remarked."""

    network: Network
    point: OperatingPoint
    known: list[Station] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def number(self, name: str, numbers: ClassValues) -> int:
        """Return the number of a station, known from now on."""
        if name not in self.index:
            station = self.network.stations[name]
            copies, servers = numbers(station.place.copies), numbers(station.servers)
            self._add(
                Station(
                    name=name,
                    copies=self._whole(name, copies, "copies") if station.waits else copies,
                    servers=self._servers(station, servers),
                    waits=station.waits,
                    service=_service(station.queueing),
                    is_preemptive=station.queueing is not None and station.queueing.is_preemptive,
                    variation=numbers(station.variation),
                    background=numbers(self.point.background[name]),
                    speeds=tuple(numbers(speed) for speed in station.speeds),
                    room=self._room(station, servers, numbers),
                    period=None if station.period is None else numbers(station.period),
                    host_cores=self._whole(name, numbers(station.host_cores), "cores"),
                )
            )
        return self.index[name]

    def pool(self, name: str, numbers: ClassValues) -> int:
        """Return the number of a pool: of its units, one is kept by what holds it."""
        if name not in self.index:
            room = self.point.rooms[name]
            self._add(
                Station(
                    name=name,
                    copies=numbers(self.network.pools[name].place.copies),
                    servers=numbers(1 / room.unit),
                    background=numbers(room.permanent),
                )
            )
        return self.index[name]

    def _add(self, station: Station) -> None:
        self.index[station.name] = len(self.known)
        self.known.append(station)

    def _servers(self, station: parts.Station, servers: float) -> float:
        """Return how many servers there are: a whole number, but under a CPU limit."""
        if not station.waits or station.period is not None:
            return servers
        return self._whole(station.name, servers, "servers")

    def _room(self, station: parts.Station, servers: float, numbers: ClassValues) -> float:
        """Return for how many there is room: where nobody may wait, for those being served."""
        if station.room is not None:
            return self._whole(station.name, numbers(station.room), "places")
        loses = station.queueing is not None and station.queueing.traits.loses
        return round(servers) if loses else inf

    def _whole(self, name: str, count: float, what: str) -> int:
        """Return a count as a whole number above zero; QpsError where it is none."""
        if abs(count - round(count)) > NEARLY * max(1.0, count) or count < 1:
            raise refused(
                f"`{name}` has {count:.4g} {what} at {self.network.population} = "
                f"{self.point.users}: the simulation needs a whole number",
                "choose another population, `--at`",
            )
        return round(count)


def _service(queueing: ir.Queueing | None) -> Service:
    return Service.IN_TURN if queueing is None else queueing.traits.service
