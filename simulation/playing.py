"""From what walks note to what is played: numbers at one population, and ways as steps.

What cannot be played is refused by name. What is played otherwise than it may be meant is remarked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product as combinations
from math import inf
from typing import NoReturn

from msgspec import Struct, field
from msgspec.structs import fields, replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower import notes as noted
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lower_measures import TOO_LATE
from qps.compiler.lower.mixtures import Mixed
from qps.engine.formulas import Formula
from qps.engine.substitution import Substitution, substituted
from qps.simulation.lengths import episode_of, lead_of
from qps.simulation.played import (
    Call,
    Copy,
    Delay,
    Fork,
    Give,
    Lose,
    Pick,
    Played,
    Reach,
    Recovery,
    Serve,
    Source,
    Station,
    Step,
    Take,
    Thin,
    Use,
    served,
)

_NEARLY = 1e-9
_FULL = 1 - 1e-9


def played(graph: LoadGraph, at: int) -> Played:
    """Return what is to be played of a load graph at a population; QpsError where it cannot be."""
    _refuse_losses(graph)
    _refuse_overload(graph, at)
    playing = _Playing(graph=graph, at=at)
    for name in graph.notes.streams:
        playing.stream(name)
    playing.add_background()
    found = Played(
        population=at,
        stations=tuple(playing.stations),
        sources=tuple(playing.sources),
        flows=playing.flows,
        remarks=tuple(dict.fromkeys(playing.remarks)),
    )
    return replace(found, episode=episode_of(found), lead=lead_of(found))


def refused(message: str, hint: str | None = None) -> QpsError:
    """Return that something is not played."""
    return QpsError.single(codes.NO_ANSWER, None, message, hint=hint)


def _refuse_overload(graph: LoadGraph, at: int) -> None:
    point = graph.at(at)
    # Users who wait for their answers never ask for more than there is.
    has_closed = any(_started(notes).think is not None for notes in graph.notes.streams.values())
    for name, resource in graph.resources.items():
        load = point.number(resource.load)
        known = graph.notes.stations[name].queueing
        waits = known is not None and known.that_waits is not None and not has_closed
        # Where nobody waits, a full resource serves all that comes.
        if load >= (_FULL if waits else 1 + _NEARLY):
            raise refused(
                f"`{name}` is loaded to {load:.4g} at {graph.population} = {at}: what waits for "
                "it would wait without end, however long it is played",
                "ask for fewer users, `--at`, or for a larger one",
            )


def _refuse_losses(graph: LoadGraph) -> None:
    for name, known in graph.notes.stations.items():
        if known.queueing is not None and known.queueing.traits.loses:
            raise refused(f"`{name}` loses what finds no room: that is not played yet")


def _word(queueing: ir.Queueing) -> str:
    """Return a discipline as it is played."""
    return queueing.discipline.value + " preemptive" * queueing.is_preemptive


def _started(notes: Sequence[noted.Note]) -> noted.Started:
    assert isinstance(notes[0], noted.Started)
    return notes[0]


class _Numbers:
    """Formulas as plain numbers, for one kind of users and items."""

    def __init__(self, graph: LoadGraph, at: int, kind: Mapping[Formula, Formula]) -> None:
        self._point = graph.at(at)
        self._kind = dict(kind)
        self._put_in = Substitution({one.parameter.symbol: one.value for one in graph.elastic})

    def __call__(self, formula: Formula) -> float:
        if self._kind:
            formula = substituted(formula, self._kind)
        return self._point.number(self._put_in(formula))


class _Playing(Struct, kw_only=True):
    """Gathers what is played."""

    graph: LoadGraph
    at: int
    stations: list[Station] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    flows: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)

    def stream(self, name: str) -> None:
        """Add a stream, each kind of its users and items as a source of its own."""
        notes = self.graph.notes.streams[name]
        started = _started(notes)
        if started.item is None:
            raise refused(
                f"`{name}` is a stream of bytes: nothing says what comes in one piece",
                "give its traffic as items, such as `100 packet/s, 1 kB/packet`",
            )
        mixed = _mixtures_in(notes, self.graph.notes.mixtures)
        self.flows[name] = 0.0
        for share, kind in _kinds(mixed):
            numbers = _Numbers(self.graph, self.at, kind)
            way = _Way(playing=self, stream=name, numbers=numbers)
            for note in notes[1:]:
                way.take(note)
            way.play_out()
            steps = _with_worth(way.ended())
            flows = numbers(started.flows)
            self.flows[name] += share * flows * way.flows
            customers, think = 0, 0.0
            if started.think is None or started.amount is None:
                rate = share * flows * numbers(started.rate)
            else:
                customers = self._customers(name, share * flows * numbers(started.amount))
                think = numbers(started.think)
                rate = share * flows * self.graph.at(self.at).number(self.graph.streams[name].rate)
            if rate <= 0:
                continue
            self.sources.append(
                Source(
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
            )

    def _customers(self, stream: str, count: float) -> int:
        if abs(count - round(count)) > _NEARLY * max(1.0, count):
            raise refused(
                f"`{stream}` has {count:.4g} items under way at {self.graph.population} = "
                f"{self.at}: only whole ones are played"
            )
        return round(count)

    def _is_periodic(self, steps: tuple[Step, ...]) -> bool:
        """Return whether items come by a clock: where they first wait, that is said."""
        waits = [self.stations[visit.station] for visit, _ in served(steps)]
        return bool(waits) and waits[0].discipline == ir.Discipline.PERIODIC.value

    def station(self, name: str, count: float, cores: float, numbers: _Numbers) -> int:
        """Return the number of a resource, known from now on."""
        if name not in self.index:
            self.index[name] = len(self.stations)
            known = self.graph.notes.stations[name]
            queueing = known.queueing
            waits = queueing is not None and queueing.that_waits is not None
            if waits:
                self._refuse_parts(name, cores, "servers")
                self._refuse_parts(name, count, "copies")
            self.stations.append(
                Station(
                    name=name,
                    copies=round(count) if waits else count,
                    servers=round(cores) if waits else cores,
                    waits=waits,
                    discipline=_word(queueing) if waits and queueing else "none",
                    variation=numbers(known.variation),
                    background=numbers(known.background),
                    speeds=tuple(numbers(speed) for speed in known.speeds),
                )
            )
        return self.index[name]

    def _refuse_parts(self, name: str, count: float, what: str) -> None:
        if abs(count - round(count)) > _NEARLY * max(1.0, count) or count < 1:
            raise refused(
                f"`{name}` has {count:.4g} {what} at {self.graph.population} = {self.at}: only "
                "whole ones are played",
                "ask for another population, `--at`",
            )

    def add_background(self) -> None:
        """Let load that no item causes come as visits of mean size, where it is waited for."""
        for number, station in enumerate(self.stations):
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
            self.remarks.append(
                f"load of {station.name} that no item causes: as visits of mean size"
            )


class _Frame(Struct, kw_only=True):
    """A call that is being made, or the whole way."""

    steps: list[Step] = field(default_factory=list)
    call: noted.CallBegun | None = None
    node: str | None = None
    copies: float = 1.0


class _Way(Struct, kw_only=True):
    """Makes the steps of a way of what was noted. `flows` are as many for each that began."""

    playing: _Playing
    stream: str
    numbers: _Numbers
    flows: float = 1.0
    frames: list[_Frame] = field(default_factory=lambda: [_Frame()])
    copied: tuple[float, float] | None = None
    forks: dict[int, int] = field(default_factory=dict)
    """Where in the steps of its frame a fork stands."""
    run: tuple[str, str | None] | None = None
    """The resource and thread of the last visit, as long as nothing ends it."""

    def ended(self) -> tuple[Step, ...]:
        """Return the way."""
        self._split()
        (frame,) = self.frames
        return tuple(frame.steps)

    def take(self, note: noted.Note) -> None:
        """Add what was noted."""
        match note:
            case noted.AtNode():
                self._at(note)
            case noted.Worked():
                self._work(note)
            case noted.Delayed():
                self.run = None
                self._add(Delay(self.numbers(note.time)))
            case noted.Thinned():
                self._thin(note)
            case noted.Gone():
                self._lot(Lose(kind=note.kind, share=self.numbers(note.share)))
            case noted.Restored():
                self._restore(note)
            case noted.Copied():
                if len(self.frames) > 1:
                    self._refuse("copies within a call")
                sent, receivers = self.numbers(note.sent), self.numbers(note.receivers)
                self.flows *= receivers
                self.copied = sent, receivers / sent
            case noted.Crossed():
                self._cross(note)
            case noted.CallBegun():
                self.run = None
                self.frames.append(
                    _Frame(call=note, node=self._frame.node, copies=self._frame.copies)
                )
            case noted.CallEnded():
                self._end_call()
            case noted.PoolTaken():
                self._take(note)
            case noted.PoolGiven():
                self._add(Give(self.playing.index[note.pool]))
            case noted.Unplayed():
                self._refuse(note.what)
            case noted.Started():
                raise AssertionError(note)

    def play_out(self) -> None:
        """Let what arrives wait in the playout buffer; what is too late for it is as stated."""
        stream = self.playing.graph.streams[self.stream]
        if stream.jitter:
            self.playing.remarks.append(f"jitter laws on the way of {self.stream}: not at all")
        if stream.playout is None:
            return
        self._split()
        self._add(Delay(self.numbers(stream.buffer)))
        for part in stream.losses:
            if part.stage == TOO_LATE:
                self._add(Lose(kind=part.kind.value, share=self.numbers(part.value)))
                self.playing.remarks.append(
                    f"what is too late for the playout buffer of {self.stream}: the share stated"
                )

    @property
    def _frame(self) -> _Frame:
        return self.frames[-1]

    def _add(self, step: Step) -> None:
        self._frame.steps.append(step)

    def _refuse(self, what: str) -> NoReturn:
        raise refused(f"{what} is not played yet, on the way of `{self.stream}`")

    # -- nodes ---------------------------------------------------------------------------

    def _at(self, note: noted.AtNode) -> None:
        count = self.numbers(note.count)
        self._split()
        self.run = None
        self._frame.node, self._frame.copies = note.node, count
        self._add(Pick(note.node, round(count)))

    def _work(self, note: noted.Worked) -> None:
        frame = self._frame
        assert frame.node is not None
        service = self.numbers(note.service)
        copies, cores = frame.copies, self.numbers(note.capacity)
        station = self.playing.station(note.resource, copies, cores, self.numbers)
        known = self.playing.stations[station]
        threaded = None
        if note.thread is not None:
            threaded = self.playing.station(note.thread, copies, 1, self.numbers)
        run = note.resource, note.thread
        if not known.waits:
            self.run = run
            if service > 0:
                self._add(Delay(service))
                self._add(Use(station, service))
                if threaded is not None:
                    self._add(Use(threaded, service))
            return
        last = frame.steps[-1] if frame.steps else None
        if self.run == run and isinstance(last, Serve):
            frame.steps[-1] = replace(last, parts=(*last.parts, (service, None)))
        elif service > 0:
            visit = Serve(
                station=station, parts=((service, None),), node=frame.node, thread=threaded
            )
            self._add(visit)
        self.run = run

    def _take(self, note: noted.PoolTaken) -> None:
        frame, capacity = self._frame, self.numbers(note.capacity)
        station = self.playing.station(note.pool, frame.copies, 1, self.numbers)
        known = replace(self.playing.stations[station], servers=capacity, copies=frame.copies)
        self.playing.stations[station] = known
        amount = self.numbers(note.amount)
        self._add(
            Take(
                station=station,
                amount=amount,
                capacity=capacity,
                node=frame.node,
                waits=note.waits,
            )
        )

    def _lot(self, lot: Lose | Thin) -> None:
        """Let a share go on: within a visit, where it is in the midst of one."""
        last = self._frame.steps[-1] if self._frame.steps else None
        if self.run is not None and isinstance(last, Serve) and last.parts[-1][1] is None:
            mean, _ = last.parts[-1]
            self._frame.steps[-1] = replace(last, parts=(*last.parts[:-1], (mean, lot)))
        else:
            self._add(lot)

    def _thin(self, note: noted.Thinned) -> None:
        share = self.numbers(note.share)
        if note.is_burst:
            self.flows *= share
        lasting = None if note.lasting is None else self.numbers(note.lasting)
        if note.is_burst and lasting is None:
            self.playing.remarks.append(
                f"{self.stream} is active at times, nothing says for how long: as evenly thinned"
            )
        self._lot(Thin(share, lasting))

    def _restore(self, note: noted.Restored) -> None:
        """Let what was lost before be restored: all since the first loss is under its shelter."""
        steps = self._frame.steps
        if len(self.frames) > 1 or any(isinstance(step, Copy) for step in steps):
            self._refuse(f"what is {note.stage} behind copies or within a call")
        self.run = None
        self._frame.steps = [Recovery(tuple(steps), self.numbers(note.share))]

    # -- links ---------------------------------------------------------------------------

    def _cross(self, note: noted.Crossed) -> None:
        self.run = None
        self._copy(0)
        *_, last = note.ports
        for port in note.ports:
            is_own = port is last and len(note.ports) > 1
            if is_own and note.is_last:
                self._copy(1)
            self._port(port, overlaps=port is not last, is_own=is_own)
        if note.is_last:
            self._split()

    def _port(self, port: noted.Port, *, overlaps: bool, is_own: bool) -> None:
        """Visit a port; `is_own` that of the machine which an item goes to."""
        service, copies = self.numbers(port.service), self.numbers(port.count)
        station = self.playing.station(port.resource, copies, 1, self.numbers)
        known = self.playing.stations[station]
        if port.capped is not None:
            name, amount = port.capped
            cap = self.playing.station(name, copies, 1, self.numbers)
            self._add(Use(cap, self.numbers(amount)))
        if known.waits:
            key = port.resource if port.node is None else port.node
            step = Reach if is_own else Pick
            self._add(step(key, round(copies)))
            self._add(Serve(station=station, parts=((service, None),), node=key, overlaps=overlaps))
            return
        self._add(Use(station, service))
        if not overlaps:
            self._add(Delay(service))

    def _copy(self, side: int) -> None:
        """Make the copies that the sender (0) or the network (1) makes."""
        if self.copied is None:
            return
        number = self.copied[side]
        self.copied = (1.0, self.copied[1]) if side == 0 else (self.copied[0], 1.0)
        if number != 1:
            self._add(Copy(number))

    def _split(self) -> None:
        """Let an item become as many as there are receivers, where that is still to be done."""
        self._copy(0)
        self._copy(1)
        self.copied = None

    # -- calls ---------------------------------------------------------------------------

    def _end_call(self) -> None:
        self.run = None
        frame = self.frames.pop()
        call = frame.call
        assert call is not None
        steps = tuple(frame.steps)
        if call.times is not None:
            steps = (Call(self.numbers(call.times), steps),)
        else:
            steps = (Call(1.0, steps),)
        if call.fork is None:
            self._frame.steps += steps
            return
        if call.fork in self.forks:
            at = self.forks[call.fork]
            known = self._frame.steps[at]
            assert isinstance(known, Fork)
            self._frame.steps[at] = Fork((*known.branches, steps))
            return
        self.forks[call.fork] = len(self._frame.steps)
        self._add(Fork((steps,)))


def _with_worth(steps: tuple[Step, ...], behind: float = 1.0) -> tuple[Step, ...]:
    """Return a way on which each loss knows what it would have become."""
    found: list[Step] = []
    for step in reversed(steps):
        match step:
            case Copy():
                found.append(step)
                behind *= step.number
            case Thin():
                found.append(step)
                behind *= step.share
            case Lose():
                found.append(replace(step, worth=behind))
            case Serve():
                parts: list[tuple[float, Lose | Thin | None]] = []
                for mean, lot in reversed(step.parts):
                    if isinstance(lot, Lose):
                        parts.append((mean, replace(lot, worth=behind)))
                        continue
                    behind *= 1.0 if lot is None else lot.share
                    parts.append((mean, lot))
                found.append(replace(step, parts=tuple(reversed(parts))))
            case Call():
                found.append(Call(step.times, _with_worth(step.steps, behind)))
            case Recovery():
                found.append(Recovery(_with_worth(step.steps, behind), step.share))
            case Fork():
                branches = tuple(_with_worth(branch, behind) for branch in step.branches)
                found.append(Fork(branches))
            case _:
                found.append(step)
    return tuple(reversed(found))


# -- kinds of users and items --------------------------------------------------------------


def _mixtures_in(
    notes: Sequence[noted.Note], mixtures: Mapping[Formula, Mixed]
) -> list[list[Mixed]]:
    """Return the parameters that have values by kinds, those of the same kinds together."""
    if not mixtures:
        return []
    symbols = {symbol for note in notes for one in _formulas(note) for symbol in one.symbols}
    groups: dict[str, list[Mixed]] = {}
    for symbol in sorted(symbols & mixtures.keys(), key=lambda symbol: symbol.name):
        groups.setdefault(mixtures[symbol].of, []).append(mixtures[symbol])
    return list(groups.values())


def _formulas(value: object) -> Iterator[Formula]:
    """Yield the formulas in something that was noted."""
    if isinstance(value, Formula):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _formulas(one)
    elif isinstance(value, Struct):
        for one in fields(value):
            yield from _formulas(getattr(value, one.name))


def _kinds(mixed: Iterable[list[Mixed]]) -> Iterator[tuple[float, dict[Formula, Formula]]]:
    """Yield the share of each kind, or of each of several kinds together, and its values."""
    sides: list[list[tuple[float, dict[Formula, Formula]]]] = []
    for together in mixed:
        each = zip(*(one.each for one in together), strict=True)
        sides.append(
            [
                (
                    float(kind[0][0].exact or 0),
                    {one.symbol: value for one, (_, value) in zip(together, kind, strict=True)},
                )
                for kind in each
            ]
        )
    for chosen in combinations(*sides):
        share, values = 1.0, dict[Formula, Formula]()
        for part, own in chosen:
            share *= part
            values |= own
        if share > 0:
            yield share, values
