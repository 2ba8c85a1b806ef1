"""From what walks note to what is played: numbers at one population, and ways as steps.

What cannot be played is refused by name. What is played otherwise than it may be meant is remarked.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower import notes as noted
from qps.compiler.lower.load_graph import LoadGraph
from qps.simulation.kinds import Numbers, apart, kinds_of, mixtures_in
from qps.simulation.lengths import episode_of, lead_of
from qps.simulation.played import Choose, Pick, Played, Serve, Source, Step, served
from qps.simulation.played_ways import Way, with_worth
from qps.simulation.shifting import shifted
from qps.simulation.stations_in_play import NEARLY, Stations, refused

_FULL = 1 - 1e-9
_BITS = 8
_MOST = 100_000
_NEAR = 1000
_PIECE = 1000.0
"""So many bytes are played as one, where nothing says in what pieces they come."""


def played(graph: LoadGraph, at: int) -> Played:
    """Return what is to be played of a load graph at a population; QpsError where it cannot be."""
    _refuse_overload(graph, at)
    playing = _Playing(stations=Stations(graph=graph, at=at))
    for name in graph.notes.streams:
        playing.stream(name)
    playing.add_background()
    found = Played(
        population=at,
        stations=tuple(playing.stations.known),
        sources=tuple(playing.sources),
        flows=playing.flows,
        remarks=tuple(dict.fromkeys(playing.stations.remarks)),
    )
    return replace(found, episode=episode_of(found), lead=lead_of(found))


def _refuse_overload(graph: LoadGraph, at: int) -> None:
    point = graph.at(at)
    # Users who wait for their answers never ask for more than there is.
    has_closed = any(_started(notes).think is not None for notes in graph.notes.streams.values())
    for name, resource in graph.resources.items():
        load = point.number(resource.load)
        known = graph.notes.stations[name].queueing
        waits = known is not None and known.that_waits is not None and not has_closed
        # Where nobody waits, a full resource serves all that comes.
        if load >= (_FULL if waits else 1 + NEARLY):
            raise refused(
                f"utilization of `{name}` is {load:.4g} at {graph.population} = {at}: its queue "
                "grows "
                "without bound, so there is no steady state to simulate",
                "simulate fewer users (`--at`), or give it more capacity",
            )


def _steps(started: noted.Started, way: Way) -> tuple[Step, ...]:
    """Return the steps of a way; of what nobody waits for, times are added without an event."""
    steps = with_worth(way.ended())
    return steps if started.think is not None else shifted(steps)


def _started(notes: Sequence[noted.Note]) -> noted.Started:
    assert isinstance(notes[0], noted.Started)
    return notes[0]


class _Playing(Struct, kw_only=True):
    """Gathers what is played."""

    stations: Stations
    sources: list[Source] = field(default_factory=list)
    flows: dict[str, float] = field(default_factory=dict)

    def stream(self, name: str) -> None:
        """Add a stream, each kind of its users as a source of its own.

        So are kinds of items that come at random, or of which each flow sends its own by a clock;
        else each item draws its kind when it comes.
        """
        graph = self.stations.graph
        notes = graph.notes.streams[name]
        started = _started(notes)
        of_users, of_items = apart(mixtures_in(notes, graph.notes.mixtures))
        is_drawn = started.think is not None or started.variation is not None
        for share, kind in kinds_of(of_users):
            ways = [
                (part, self._way(name, Numbers(graph, self.stations.at, kind | own)))
                for part, own in kinds_of(of_items)
            ]
            if not is_drawn or len(ways) == 1:
                for part, way in ways:
                    self._source(name, started, share * part, way, _steps(started, way))
                continue
            _, first = ways[0]
            chosen = tuple((part, with_worth(way.ended())) for part, way in ways)
            self._source(name, started, share, first, (Choose(chosen),))

    def _way(self, name: str, numbers: Numbers) -> Way:
        """Return the way of one kind, to its end."""
        started, *notes = self.stations.graph.notes.streams[name]
        assert isinstance(started, noted.Started)
        piece = 1.0 if started.item is not None else _PIECE
        way = Way(stations=self.stations, stream=name, numbers=numbers, weight=piece)
        for note in notes:
            way.take(note)
        way.play_out()
        return way

    def _source(
        self, name: str, started: noted.Started, share: float, way: Way, steps: tuple[Step, ...]
    ) -> None:
        """Add a source: a share of all flows of a stream, with the numbers of its way."""
        graph, numbers = self.stations.graph, way.numbers
        piece = 1.0 if started.item is not None else _PIECE
        flows = numbers(started.flows)
        # Of bare bytes the rate is told in bits.
        bits = 1.0 if started.item is not None else _BITS * way.weight
        arriving = share * flows * way.flows / bits
        customers, think = 0, 0.0
        if started.think is None or started.amount is None:
            sent = 1.0 if started.item is not None else _BITS * piece
            rate = share * flows * numbers(started.rate) / sent
        else:
            customers = self._customers(name, share * flows * numbers(started.amount))
            think = numbers(started.think)
            rate = share * flows * graph.at(self.stations.at).number(graph.streams[name].rate)
        if rate <= 0:
            return
        self.flows[name] = self.flows.get(name, 0.0) + arriving
        source = Source(
            stream=name,
            rate=rate,
            flows=share * flows,
            steps=steps,
            is_periodic=not customers and self._is_periodic(steps),
            customers=customers,
            think=think,
            variation=None if started.variation is None else numbers(started.variation),
            priority=inf if started.priority is None else numbers(started.priority),
        )
        self._refuse_many(source)
        self.sources.append(source)

    def _refuse_many(self, source: Source) -> None:
        """Refuse what would take more memory than there is: each run keeps all of these."""
        has_own = source.is_periodic or source.variation is not None
        if source.customers:
            count, what = source.customers - source.rate * source.think, "items in flight"
        else:
            count, what = source.flows if has_own else 0.0, "flows with their own timing"
        if count > _MOST:
            raise refused(
                f"`{source.stream}` has {count:,.0f} {what} at once at "
                f"{self.stations.graph.population} = {self.stations.at}: the "
                f"simulation supports at most {_MOST:,} per stream",
                "simulate fewer users (`--at`)",
            )

    def _customers(self, stream: str, count: float) -> int:
        if abs(count - round(count)) > NEARLY * max(1.0, count):
            raise refused(
                f"`{stream}` has {count:.4g} items in flight at {self.stations.graph.population} = "
                f"{self.stations.at}: the simulation needs a whole number",
                self._where_whole(count),
            )
        return round(count)

    def _where_whole(self, count: float) -> str:
        """Return a number of users near the one asked for at which a share of them is whole."""
        graph, at = self.stations.graph, self.stations.at
        for n in sorted(
            range(max(graph.low, at - _NEAR), min(graph.high, at + _NEAR) + 1),
            key=lambda n: abs(n - at),
        ):
            whole = count / at * n
            if round(whole) and abs(whole - round(whole)) <= NEARLY * max(1.0, whole):
                return f"use a population that divides into whole numbers: `--at {n}`"
        return "use shares that give whole numbers"

    def _is_periodic(self, steps: tuple[Step, ...]) -> bool:
        """Return whether items come by a clock: where they first wait, that is said."""
        waits = [self.stations.known[visit.station] for visit, _ in served(steps)]
        return bool(waits) and waits[0].discipline == ir.Discipline.PERIODIC.value

    def add_background(self) -> None:
        """Let load that no item causes come as visits of mean size, where it is waited for."""
        for number, station in enumerate(self.stations.known):
            if not station.waits or station.background <= 0:
                continue
            visits = [
                (visit, often * source.rate)
                for source in self.sources
                for visit, often in served(source.steps)
                if number in (visit.station, visit.thread)
            ]
            rate = sum(often for _, often in visits)
            mean = sum(visit.mean * often for visit, often in visits) / rate
            node = visits[0][0].node
            asked = station.background * station.fastest * station.copies
            visit = Serve(station=number, parts=((mean, None),), node=node)
            pick = (Pick(node, round(station.copies)),) if node is not None else ()
            self.sources.append(
                Source(stream="", rate=asked / mean, flows=1.0, steps=(*pick, visit))
            )
            self.stations.remarks.append(
                f"utilization of {station.name} that no item causes is simulated as visits of "
                "mean size"
            )
