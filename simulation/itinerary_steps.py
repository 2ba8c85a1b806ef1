"""From the itinerary of a class to the steps of its items, in plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import inf, sqrt
from typing import NoReturn

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.network import itinerary as nodes
from qps.compiler.network.classes import Class
from qps.compiler.network.station_runs import goes_on
from qps.compiler.network.stations_and_pools import StationKind
from qps.engine.expressions.formulas import Formula
from qps.simulation.class_values import ClassValues
from qps.simulation.simulated_model import (
    BackgroundLoad,
    Call,
    Choose,
    Copy,
    Delay,
    FanOut,
    Fork,
    Gather,
    Give,
    Lose,
    NormalJitter,
    Pick,
    Reach,
    Recovery,
    Serve,
    Step,
    Take,
    Thin,
)
from qps.simulation.station_registry import Stations, refused

_ROUNDING = 1e-12
"""What is left of 1 by so little is nothing."""
_GATHERED = Serve | BackgroundLoad | Delay


class _Frame(Struct, kw_only=True):
    """The steps of a call that is being made, or of the whole itinerary."""

    steps: list[Step] = field(default_factory=list)
    node: str | None = None
    begun: int = 0
    """How many steps there were when it came to the node."""
    works: list[tuple[int, float]] = field(default_factory=list)
    """Which of the steps since are work that nobody waits for, and how many cores share it."""


class ItinerarySteps(Struct, kw_only=True):
    """Makes the steps of the items of a class, of one kind.

    `flows` are as many for each that began. An item played stands for `weight` of those of the
    network: bare bytes are played in pieces.
    """

    stations: Stations
    of: Class
    numbers: ClassValues
    flows: float = 1.0
    weight: float = 1.0
    frames: list[_Frame] = field(default_factory=lambda: [_Frame()])
    copied: tuple[float, float] | None = None
    holds: dict[int, int] = field(default_factory=dict)
    """The number of the pool that each hold is of."""
    run: tuple[str, str | None] | None = None
    """The station and thread of the last visit, as long as nothing ends it."""

    def steps(self) -> tuple[Step, ...]:
        """Return the steps of the whole itinerary, through the playout buffer."""
        self._add_all(self.of.itinerary)
        self._play_back()
        self._split()
        (frame,) = self.frames
        return tuple(frame.steps)

    def _add_all(self, body: nodes.Sequence) -> None:
        for choice, group in groupby(body.nodes, key=_choice_of):
            if choice is None:
                for node in group:
                    self._add_node(node)
            else:
                self.run = None
                self._add(self._choose([one for one in group if isinstance(one, nodes.Call)]))

    def _add_node(self, node: nodes.Node) -> None:
        is_store = self.stations.network.is_store
        if self.run is not None and not goes_on(self.run[0], node, is_store):
            self.run = None
        match node:
            case nodes.At():
                self._at(node)
            case nodes.Serve():
                if not is_store(node.station):  # what is kept keeps nobody
                    self._serve(node)
            case nodes.Delay(time=time, times=times):
                self._add(Delay(self.numbers(time * times.mean)))
            case nodes.Cross(ports=ports) if ports:
                self._cross(node)
            case nodes.Call():
                self._frame.steps += self._call(node)
            case nodes.Fork(branches=(branch,), count=count) if count is not None:
                self._add(self._fan_out(node, branch, count))
            case nodes.Fork(branches=branches):
                self._add(Fork(tuple(self._branch(branch) for branch in branches)))
            case nodes.Take():
                self._take(node)
            case nodes.Give(hold=hold):
                self._add(Give(self.holds[hold]))
            case nodes.Merge(body=body):
                self._add_all(body)
                self._merge(node)
            case _:
                self._change(node)

    def _change(self, node: nodes.Node) -> None:
        """Add what changes how many items there are."""
        match node:
            case nodes.Lose(chance=None):
                pass  # whoever finds no room is lost where that happens
            case nodes.Lose(kind=kind, chance=chance) if chance is not None:
                self._lot(Lose(kind=kind, share=self.numbers(chance)))
            case nodes.Restore():
                self._restore(node)
            case nodes.Thin():
                self._thin(node)
            case nodes.Send():
                if len(self.frames) > 1:
                    self._refuse("copies within a call")
                sent, receivers = self.numbers(node.copies), self.numbers(node.receivers)
                self.flows *= receivers
                self.copied = sent, receivers / sent
            case nodes.Resize(bits=None, share=share) if self.of.items.primary is None:
                self.weight *= self.numbers(share)
            case _:
                pass

    def _play_back(self) -> None:
        """Let what arrives wait in the playout buffer; what is too late for it is as stated."""
        point = self.stations.point
        buffer = point.buffers.get(self.of.stream)
        if buffer is None:
            variance = sum(self.numbers(one) for one in point.jitter[self.of.stream])
            if variance > 0:
                self._split()
                self._add(NormalJitter(sqrt(variance)))
            return
        self._split()
        self._add(Delay(self.numbers(buffer.delay)))
        if buffer.late is not None:
            self._add(Lose(kind=LossKind.VOLUNTARY.value, share=self.numbers(buffer.late)))
            self.stations.remarks.append(
                f"items late for the playout buffer of {self.of.stream} are lost at the "
                "predicted rate"
            )

    @property
    def _frame(self) -> _Frame:
        return self.frames[-1]

    def _add(self, step: Step) -> None:
        self._frame.steps.append(step)

    def _refuse(self, what: str) -> NoReturn:
        raise refused(f"the simulation does not support {what}, on the path of `{self.of.stream}`")

    # -- nodes ---------------------------------------------------------------------------

    def _at(self, node: nodes.At) -> None:
        count = self.numbers(node.copies)
        self._split()
        self._frame.node = node.node
        self._add(Pick(node.node, round(count)))
        self._frame.begun, self._frame.works = len(self._frame.steps), []

    def _serve(self, node: nodes.Serve) -> None:
        frame = self._frame
        assert frame.node is not None
        service = self.numbers(node.demand)
        piece = service * self.weight
        station, threaded = self.stations.number(node.station, self.numbers), None
        known = self.stations.known[station]
        if node.thread is not None:
            threaded = self.stations.number(node.thread, self.numbers)
        run = node.station, node.thread
        if not known.waits:
            self.run = run
            if service > 0:
                cores = 1.0 if threaded is not None else known.servers
                frame.works.append((len(frame.steps), cores))
                self._add(Delay(service))
                self._add(BackgroundLoad(station, piece))
                if threaded is not None:
                    self._add(BackgroundLoad(threaded, piece))
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

    def _take(self, node: nodes.Take) -> None:
        pool, room = self.stations.network.pools[node.pool], self.stations.point.rooms[node.pool]
        station = self.holds[node.hold] = self.stations.pool(node.pool, self.numbers)
        place, copies = pool.place.name, round(self.stations.known[station].copies)
        self._add(Pick(place, copies))
        self._add(
            Take(
                station=station,
                amount=self.numbers(node.amount),
                capacity=self.numbers(room.left),
                node=place,
                waits=not pool.is_unmodeled,
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

    def _thin(self, node: nodes.Thin) -> None:
        share = self.numbers(node.share)
        if node.bursty:
            self.flows *= share
        lasting = None if node.on_for is None else self.numbers(node.on_for)
        if node.bursty and lasting is None:
            self.stations.remarks.append(
                f"`{self.of.stream}` is active part of the time, without a burst duration: each "
                "item "
                "is sent or skipped independently"
            )
        self._lot(Thin(share, lasting))

    def _restore(self, node: nodes.Restore) -> None:
        """Let what was lost before be restored: all since the first loss is under its shelter."""
        steps = self._frame.steps
        if len(self.frames) > 1 or any(isinstance(step, Copy) for step in steps):
            self._refuse(f"recovery ({node.why}) after copies or within a call")
        self._frame.steps = [Recovery(tuple(steps), self.numbers(node.chance))]

    def _merge(self, node: nodes.Merge) -> None:
        """Let one item of so many flows be there with the others: all are served, one goes on."""
        frame, flows = self._frame, self.numbers(node.flows)
        if flows <= 1:
            return
        before = frame.steps[frame.begun :]
        if self.copied is not None or not all(isinstance(step, _GATHERED) for step in before):
            self._refuse(f"merging by {node.by} after copies, losses or calls at the same node")
        for index, cores in frame.works:
            work = before[index - frame.begun]
            assert isinstance(work, Delay)
            # The machine does all of them, on all its cores, before one goes on.
            before[index - frame.begun] = Delay(work.time * max(1.0, flows / cores))
        frame.steps[frame.begun :] = [Thin(1 / flows), Gather(flows, tuple(before))]
        frame.works = []
        self.flows /= flows

    # -- links ---------------------------------------------------------------------------

    def _cross(self, node: nodes.Cross) -> None:
        self._copy(0)
        *_, last = node.ports
        for port in node.ports:
            is_own = port is last and len(node.ports) > 1
            if is_own and node.every_copy:
                self._copy(1)
            self._port(port, is_own=is_own)
        if node.every_copy:
            self._split()

    def _port(self, port: nodes.PortVisit, *, is_own: bool) -> None:
        """Visit a port; `is_own` that of the machine which an item goes to."""
        of = self.stations.network.stations[port.station]
        service = self.numbers(of.time_for(port.bits))
        number = self.stations.number(port.station, self.numbers)
        station = self.stations.known[number]
        if port.cap is not None:
            name, items = port.cap
            cap = self.stations.number(name, self.numbers)
            amount = self.stations.network.stations[name].time_for(items)
            self._add(BackgroundLoad(cap, self.numbers(amount) * self.weight))
        if station.waits:
            key = of.place.name if of.kind is StationKind.PORT else of.name
            step = Reach if is_own else Pick
            self._add(step(key, round(station.copies)))
            parts = ((service * self.weight, None),)
            self._add(Serve(station=number, parts=parts, node=key, overlaps=port.overlaps))
            return
        self._add(BackgroundLoad(number, service * self.weight))
        if not port.overlaps:
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

    def _branch(self, body: nodes.Sequence) -> tuple[Step, ...]:
        """Return the steps of calls, of which each begins where all of them do."""
        steps: list[Step] = []
        for node in body.nodes:
            assert isinstance(node, nodes.Call)
            steps += self._call(node)
        return tuple(steps)

    def _fan_out(self, fork: nodes.Fork, branch: nodes.Sequence, count: Formula) -> FanOut:
        """Return the step of calls that are made many times at once."""
        (call,) = branch.nodes
        assert isinstance(call, nodes.Call)
        machines = next(
            self.numbers(one.copies)
            for one in call.body.nodes
            if isinstance(one, nodes.At) and one.node == call.node
        )
        often = round(self.numbers(count))
        return FanOut(
            steps=self._branch(branch),
            count=often,
            answers=often if fork.answers is None else round(self.numbers(fork.answers)),
            node=call.node,
            machines=round(machines),
        )

    def _call(self, node: nodes.Call) -> tuple[Step, ...]:
        """Return the steps of a call, as one that is done so often."""
        often = 1.0 if node.times is None else self.numbers(node.times.often)
        return (Call(often, self._inside(node)),)

    def _choose(self, calls: Sequence[nodes.Call]) -> Choose:
        """Return the step at which an item takes one of several ways, or none of them."""
        branches = [
            (1.0 if one.times is None else self.numbers(one.times.often), self._inside(one))
            for one in calls
        ]
        left = 1.0 - sum(share for share, _ in branches)
        if left > _ROUNDING:
            branches.append((left, ()))
        return Choose(tuple(branches))

    def _inside(self, node: nodes.Call) -> tuple[Step, ...]:
        self.frames.append(_Frame(node=self._frame.node))
        self._add_all(node.body)
        self.run = None
        return tuple(self.frames.pop().steps)


def _choice_of(node: nodes.Node) -> int | None:
    return node.choice if isinstance(node, nodes.Call) else None
