"""The stations that are played, each known from the first visit on."""

from __future__ import annotations

from math import inf

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.notes import NotedStation
from qps.simulation.kinds import Numbers
from qps.simulation.played import Station

NEARLY = 1e-9


def refused(message: str, hint: str | None = None) -> QpsError:
    """Return that something is not played."""
    return QpsError.single(codes.NO_ANSWER, None, message, hint=hint)


class Stations(Struct, kw_only=True):
    """The stations so far, in the order in which they were met, and what is to be remarked."""

    graph: LoadGraph
    at: int
    known: list[Station] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def number(self, name: str, count: float, cores: float, numbers: Numbers) -> int:
        """Return the number of a resource, known from now on."""
        if name not in self.index:
            self.index[name] = len(self.known)
            noted = self.graph.notes.stations[name]
            queueing = noted.queueing
            waits = queueing is not None and queueing.that_waits is not None
            if waits:
                self._refuse_parts(name, cores, "servers")
                self._refuse_parts(name, count, "copies")
            self.known.append(
                Station(
                    name=name,
                    copies=round(count) if waits else count,
                    servers=round(cores) if waits else cores,
                    waits=waits,
                    discipline=_word(queueing) if waits and queueing else "none",
                    variation=numbers(noted.variation),
                    background=numbers(noted.background),
                    speeds=tuple(numbers(speed) for speed in noted.speeds),
                    room=self._room(name, noted, cores, numbers),
                )
            )
        return self.index[name]

    def _room(self, name: str, noted: NotedStation, cores: float, numbers: Numbers) -> float:
        """Return for how many there is room: where nobody may wait, for those being served."""
        if noted.places is not None:
            room = numbers(noted.places)
            self._refuse_parts(name, room, "places")
            return round(room)
        loses = noted.queueing is not None and noted.queueing.traits.loses
        return round(cores) if loses else inf

    def _refuse_parts(self, name: str, count: float, what: str) -> None:
        if abs(count - round(count)) > NEARLY * max(1.0, count) or count < 1:
            raise refused(
                f"`{name}` has {count:.4g} {what} at {self.graph.population} = {self.at}: the "
                "simulation needs a whole number",
                "choose another population, `--at`",
            )


def _word(queueing: ir.Queueing) -> str:
    """Return a discipline as it is played."""
    return queueing.discipline.value + " preemptive" * queueing.is_preemptive
