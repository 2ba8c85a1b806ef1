"""The way of a stream: what its walk noted, as steps in plain numbers."""

from __future__ import annotations

from math import inf, sqrt
from typing import NoReturn, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.lower import notes as noted
from qps.compiler.lower.lower_measures import TOO_LATE
from qps.compiler.lower.stream_measures import LossKind
from qps.simulation.kinds import Numbers
from qps.simulation.played import (
    Call,
    Copy,
    Delay,
    Fork,
    Gather,
    Give,
    Lose,
    Pick,
    Reach,
    Recovery,
    Serve,
    Shake,
    Step,
    Take,
    Thin,
    Use,
)
from qps.simulation.stations_in_play import Stations, refused

_Change: TypeAlias = (
    noted.Thinned | noted.Gone | noted.Restored | noted.Copied | noted.Merged | noted.Resized
)
_GATHERED = Serve | Use | Delay


class _Frame(Struct, kw_only=True):
    """A call that is being made, or the whole way."""

    steps: list[Step] = field(default_factory=list)
    call: noted.CallBegun | None = None
    node: str | None = None
    copies: float = 1.0
    begun: int = 0
    """How many steps there were when it came to the node."""
    works: list[tuple[int, float]] = field(default_factory=list)
    """Which of the steps since are work that nobody waits for, and how many cores share it."""


class Way(Struct, kw_only=True):
    """Makes the steps of a way of what was noted.

    `flows` are as many for each that began. An item played stands for `weight` noted ones: bare
    bytes are played in pieces.
    """

    stations: Stations
    stream: str
    numbers: Numbers
    flows: float = 1.0
    weight: float = 1.0
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
                self._add(Give(self.stations.index[note.pool]))
            case noted.Started():
                raise AssertionError(note)
            case _:
                self._change(note)

    def _change(self, note: _Change) -> None:
        """Add what changes how many items there are."""
        match note:
            case noted.Thinned():
                self._thin(note)
            case noted.Gone(kind=LossKind.BLOCKED.value):
                pass  # whoever finds no room is lost where that happens
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
            case noted.Merged():
                self._merge(note)
            case noted.Resized():
                self.weight *= self.numbers(note.share)

    def play_out(self) -> None:
        """Let what arrives wait in the playout buffer; what is too late for it is as stated."""
        stream = self.stations.graph.streams[self.stream]
        if stream.playout is None:
            variance = sum(self.numbers(part.value) for part in stream.jitter)
            if variance > 0:
                self._split()
                self._add(Shake(sqrt(variance)))
            return
        self._split()
        self._add(Delay(self.numbers(stream.buffer)))
        for part in stream.losses:
            if part.stage == TOO_LATE:
                self._add(Lose(kind=part.kind.value, share=self.numbers(part.value)))
                self.stations.remarks.append(
                    f"items late for the playout buffer of {self.stream} are lost at the "
                    "predicted rate"
                )

    @property
    def _frame(self) -> _Frame:
        return self.frames[-1]

    def _add(self, step: Step) -> None:
        self._frame.steps.append(step)

    def _refuse(self, what: str) -> NoReturn:
        raise refused(f"the simulation does not support {what}, on the path of `{self.stream}`")

    # -- nodes ---------------------------------------------------------------------------

    def _at(self, note: noted.AtNode) -> None:
        count = self.numbers(note.count)
        self._split()
        self.run = None
        self._frame.node, self._frame.copies = note.node, count
        self._add(Pick(note.node, round(count)))
        self._frame.begun, self._frame.works = len(self._frame.steps), []

    def _work(self, note: noted.Worked) -> None:
        frame = self._frame
        assert frame.node is not None
        service = self.numbers(note.service)
        piece = service * self.weight
        copies, cores = frame.copies, self.numbers(note.capacity)
        station = self.stations.number(note.resource, copies, cores, self.numbers)
        known = self.stations.known[station]
        threaded = None
        if note.thread is not None:
            threaded = self.stations.number(note.thread, copies, 1, self.numbers)
        run = note.resource, note.thread
        if not known.waits:
            self.run = run
            if service > 0:
                together = 1.0 if threaded is not None else cores
                frame.works.append((len(frame.steps), together))
                self._add(Delay(service))
                self._add(Use(station, piece))
                if threaded is not None:
                    self._add(Use(threaded, piece))
            return
        if known.room < inf and threaded is not None:
            self._refuse(f"a single thread at `{known.name}`, which has a bounded queue")
        last = frame.steps[-1] if frame.steps else None
        if self.run == run and isinstance(last, Serve):
            frame.steps[-1] = replace(last, parts=(*last.parts, (piece, None)))
        elif service > 0:
            visit = Serve(station=station, parts=((piece, None),), node=frame.node, thread=threaded)
            self._add(visit)
        self.run = run

    def _take(self, note: noted.PoolTaken) -> None:
        pool, copies = self.stations.graph.notes.stations[note.pool], self.numbers(note.count)
        station = self.stations.number(note.pool, copies, 1, self.numbers)
        whole = self.numbers(pool.servers)
        known = replace(self.stations.known[station], servers=whole, copies=copies)
        self.stations.known[station] = known
        amount = self.numbers(note.amount)
        self._add(Pick(note.node, round(copies)))
        self._add(
            Take(
                station=station,
                amount=amount,
                capacity=self.numbers(pool.room),
                node=note.node,
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
            self.stations.remarks.append(
                f"{self.stream} is active part of the time, with no duration given: simulated "
                "as random thinning"
            )
        self._lot(Thin(share, lasting))

    def _restore(self, note: noted.Restored) -> None:
        """Let what was lost before be restored: all since the first loss is under its shelter."""
        steps = self._frame.steps
        if len(self.frames) > 1 or any(isinstance(step, Copy) for step in steps):
            self._refuse(f"recovery ({note.stage}) after copies or within a call")
        self.run = None
        self._frame.steps = [Recovery(tuple(steps), self.numbers(note.share))]

    def _merge(self, note: noted.Merged) -> None:
        """Let one item of so many flows be there with the others: all are served, one goes on."""
        frame, flows = self._frame, self.numbers(note.flows)
        if flows <= 1:
            return
        self.run = None
        before = frame.steps[frame.begun :]
        if self.copied is not None or not all(isinstance(step, _GATHERED) for step in before):
            self._refuse(f"merging by {note.by} after copies, losses or calls at the same node")
        for index, cores in frame.works:
            work = before[index - frame.begun]
            assert isinstance(work, Delay)
            # The machine does all of them, on all its cores, before one goes on.
            before[index - frame.begun] = Delay(work.time * max(1.0, flows / cores))
        frame.steps[frame.begun :] = [Thin(1 / flows), Gather(flows, tuple(before))]
        frame.works = []
        self.flows /= flows

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
        station = self.stations.number(port.resource, copies, 1, self.numbers)
        known = self.stations.known[station]
        if port.capped is not None:
            name, amount = port.capped
            cap = self.stations.number(name, copies, 1, self.numbers)
            self._add(Use(cap, self.numbers(amount) * self.weight))
        if known.waits:
            key = port.resource if port.node is None else port.node
            step = Reach if is_own else Pick
            self._add(step(key, round(copies)))
            parts = ((service * self.weight, None),)
            self._add(Serve(station=station, parts=parts, node=key, overlaps=overlaps))
            return
        self._add(Use(station, service * self.weight))
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


def with_worth(steps: tuple[Step, ...], behind: float = 1.0) -> tuple[Step, ...]:
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
                found.append(replace(step, parts=tuple(reversed(parts)), worth=behind))
            case Call():
                found.append(Call(step.times, with_worth(step.steps, behind)))
            case Gather():
                found.append(Gather(step.number, with_worth(step.steps, behind)))
            case Recovery():
                found.append(Recovery(with_worth(step.steps, behind), step.share))
            case Fork():
                branches = tuple(with_worth(branch, behind) for branch in step.branches)
                found.append(Fork(branches))
            case _:
                found.append(step)
    return tuple(reversed(found))
