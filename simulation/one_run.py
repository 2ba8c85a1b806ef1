"""One run: a way becomes a chain of functions, each of which lets an item do a step and go on."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, cast

import numpy as np
import simpy
from msgspec import Struct, field

from qps.compiler.lower.stream_measures import LossKind
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
    Step,
    Take,
    Thin,
    Use,
    burst_cycles,
    stood,
)
from qps.simulation.sharing_and_ranks import IN_TURN, Machine, Visitor, machine_of
from qps.simulation.stations import (
    NORMAL,
    Happening,
    InTurn,
    Lock,
    Places,
    Schedule,
    draws,
    gaps,
)

Go = Callable[[Any], None]
LEVELS = (0.5, 0.95, 0.99, 0.999)
_ROUNDING = 1e-9
_BEYOND = 10
"""So many items must be later than a quantile, for it to be told of one run."""


_NONE_PICKED: dict[str, int] = {}
_Held = tuple[int, float, float, Places]
"""What an item holds of a pool: which one, how much, since when, and where."""


class Item:
    """An item on its way: its picks of machines, its open calls, and which copy it is.

    Picks and open calls are shared with copies: they are made anew, never changed.
    """

    __slots__ = ("born", "flow", "held", "is_ghost", "open", "picks", "priority", "spread")

    def __init__(self, born: float, priority: float = 0.0, flow: int = -1) -> None:
        self.born = born
        self.priority = priority
        self.flow = flow
        self.picks: dict[str, int] = _NONE_PICKED
        self.open: tuple[Any, ...] = ()
        self.held: tuple[_Held, ...] = ()
        self.spread: tuple[float, int] | None = None
        self.is_ghost = False

    def copied(self) -> Item:
        """Return another one that is where this one is."""
        twin = Item(self.born, self.priority, self.flow)
        twin.picks = self.picks
        twin.open = self.open
        twin.is_ghost = self.is_ghost
        return twin


class _Told:
    """What a run counts of a stream."""

    __slots__ = ("done", "ends", "latency", "lost", "sum")

    def __init__(self) -> None:
        self.ends = array("d")
        self.latency = array("d")
        self.done = 0
        self.sum = 0.0
        self.lost: dict[str, float] = {kind.value: 0.0 for kind in LossKind}


class Mark(Struct, frozen=True, kw_only=True):
    """The counters of a run at a time."""

    time: float
    busy: tuple[float, ...]
    done: tuple[int, ...]
    sums: tuple[float, ...]
    lost: tuple[tuple[float, ...], ...]


class StreamRun(Struct, frozen=True, kw_only=True):
    """What one run tells of a stream; quantiles by their levels, where enough items came."""

    items: int
    mean: float
    quantiles: dict[float, float]
    lost: dict[str, float]
    """The share that is lost, by its kind; `any` for all of them."""
    rate: float
    """Items a second that arrive, of all flows."""


class RunResult(Struct, frozen=True, kw_only=True):
    """What one run tells behind the cut."""

    streams: dict[str, StreamRun]
    loads: dict[str, float]


Stopped = Callable[[], bool]
"""Says whether a run is to be broken off."""


class Run:
    """One run, which can be made longer. The same seed and number make the same run."""

    def __init__(self, played: Played, seed: int, number: int, levels: Sequence[float]) -> None:
        self._played = played
        self._name = f"{seed}/{number}"
        self._levels = tuple(levels)
        self._told = {name: _Told() for name in (*played.flows, "")}
        self._busy = [0.0] * len(played.stations)
        self._marks: list[Mark] = []
        self._episodes = 0
        self._ended = 0.0
        self._kept = [0] * len(self._told)
        self._clock = simpy.Environment()
        if played.episode is None:
            self._begin()
            if played.lead > 0:
                self._clock.run(played.lead)
            self._forget()

    # -- time --------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Begin anew, with other phases; what is counted goes on."""
        self._clock = simpy.Environment()
        name = f"{self._name}/{self._episodes}"
        _Played(
            played=self._played,
            clock=self._clock,
            name=name,
            told=self._told,
            busy=self._busy,
        ).begin()

    def advance(self, until: float, parts: int, stopped: Stopped) -> bool:
        """Play on to a time, in parts; False where it was broken off."""
        if self._played.episode is not None:
            return self._more_episodes(until, stopped)
        lead = self._played.lead
        begin, until = self._clock.now, until + lead
        for part in range(1, parts + 1):
            self._clock.run(begin + (until - begin) * part / parts)
            self._mark(self._clock.now - lead)
            if stopped():
                return False
        return True

    def _more_episodes(self, until: float, stopped: Stopped) -> bool:
        """Play episodes, each with phases of its own: a cycle never forgets them."""
        assert self._played.episode is not None
        warm, length = self._played.episode
        while self._ended < until:
            self._begin()
            self._clock.run(warm)
            self._forget()
            self._clock.run(warm + length)
            self._episodes += 1
            self._ended += length
            self._mark(self._ended)
            self._kept = [len(told.ends) for told in self._told.values()]
            if stopped():
                return False
        return True

    def _forget(self) -> None:
        """Take the counters back to where the last episode ended."""
        last = self._marks[-1] if self._marks else self._nothing
        self._busy[:] = last.busy
        for index, told in enumerate(self._told.values()):
            del told.ends[self._kept[index] :], told.latency[self._kept[index] :]
            told.done, told.sum = last.done[index], last.sums[index]
            told.lost.update(zip(told.lost, last.lost[index], strict=True))

    @property
    def _nothing(self) -> Mark:
        """What is counted before anything happens."""
        count = len(self._told)
        none = (0.0,) * len(LossKind)
        return Mark(
            time=0.0,
            busy=(0.0,) * len(self._busy),
            done=(0,) * count,
            sums=(0.0,) * count,
            lost=(none,) * count,
        )

    def _mark(self, time: float) -> None:
        told = self._told.values()
        self._marks.append(
            Mark(
                time=time,
                busy=tuple(self._busy),
                done=tuple(one.done for one in told),
                sums=tuple(one.sum for one in told),
                lost=tuple(tuple(one.lost.values()) for one in told),
            )
        )

    # -- answers -----------------------------------------------------------------------------

    def series(self, parts: int) -> dict[str, list[float]]:
        """Return the mean latency of each stream in each of equal parts of the run."""
        marks = self._marks
        step = max(1, len(marks) // parts)
        chosen = marks[step - 1 :: step]
        found: dict[str, list[float]] = {}
        for index, name in enumerate(self._told):
            means, done, total = [], 0, 0.0
            for mark in chosen:
                more = mark.done[index] - done
                means.append((mark.sums[index] - total) / more if more else 0.0)
                done, total = mark.done[index], mark.sums[index]
            found[name] = means
        return found

    def result(self, cut: float) -> RunResult:
        """Return what the run tells behind a share of it."""
        last = self._marks[-1]
        first = self._nothing
        if cut > 0:
            first = next(mark for mark in self._marks if mark.time >= cut * last.time * (1 - 1e-9))
        length = last.time - first.time
        loads = {
            station.name: (now - before) / (length * station.fastest * station.copies)
            for station, now, before in zip(
                self._played.stations, last.busy, first.busy, strict=True
            )
        }
        streams = {
            name: self._stream(index, told, first, last)
            for index, (name, told) in enumerate(self._told.items())
            if name
        }
        return RunResult(streams=streams, loads=loads)

    def _stream(self, index: int, told: _Told, first: Mark, last: Mark) -> StreamRun:
        begin = 0
        if told.ends and not self._played.episode:
            counted = first.time + self._played.lead
            begin = int(np.searchsorted(np.frombuffer(told.ends), counted))
        times = np.frombuffer(told.latency)[begin:] if told.latency else np.empty(0)
        done = last.done[index] - first.done[index]
        lost = {
            kind: now - before
            for kind, now, before in zip(
                told.lost, last.lost[index], first.lost[index], strict=True
            )
        }
        return StreamRun(
            items=len(times),
            mean=float(times.mean()) if len(times) else 0.0,
            quantiles=_quantiles(times, self._levels),
            lost=_shares(lost, done),
            rate=done / (last.time - first.time),
        )


def _shares(lost: dict[str, float], done: int) -> dict[str, float]:
    """Return the shares lost, in all, and for each kind by itself, as stages that multiply."""
    together = sum(lost.values())
    came = done + together
    found = {"any": together / came if came else 0.0}
    for kind, value in lost.items():
        found[kind] = value / came if came else 0.0
    return found


def _quantiles(times: Any, levels: Sequence[float]) -> dict[float, float]:
    count = len(times)
    told = [level for level in levels if count * (1 - level) >= _BEYOND]
    at = [max(0, int(np.ceil(count * level - 1e-9)) - 1) for level in told]
    if not at:
        return {}
    placed = np.partition(times, at)
    return {level: float(placed[index]) for level, index in zip(told, at, strict=True)}


class _Joined:
    """Calls that are made together: how many are under way, and whether one was lost."""

    __slots__ = ("is_lost", "item", "left")

    def __init__(self, item: Item, left: int) -> None:
        self.item = item
        self.left = left
        self.is_lost = False


class _Shelter(Struct, frozen=True):
    """Behind some steps a share of what is lost in them is there again."""

    share: float
    then: Go


class _Of(Struct, frozen=True):
    """Whose way it is: the stream, and what is to be done when an item has arrived or is lost."""

    stream: str
    over: Callable[[], None] | None = None


class _Played(Struct, kw_only=True):
    """What is played, on one clock: sources, stations and the chains of steps between them."""

    played: Played
    clock: simpy.Environment
    name: str
    told: dict[str, _Told]
    busy: list[float]
    queues: list[dict[int, InTurn]] = field(default_factory=list)
    locks: list[dict[int, Lock]] = field(default_factory=list)
    places: list[dict[int, Places]] = field(default_factory=list)
    machines: dict[tuple[int, ...], Machine] = field(default_factory=dict)
    random: Random = field(default_factory=Random)
    schedule: Schedule = field(default_factory=lambda: _no_clock)
    several: frozenset[str] = frozenset()

    def begin(self) -> None:
        """Let all sources begin, as if they had been sending for ever."""
        self.random = Random(f"{self.name}/stations")  # noqa: S311 - no secret
        self.schedule = cast("Schedule", self.clock.schedule)
        self.queues = [{} for _ in self.played.stations]
        self.locks = [{} for _ in self.played.stations]
        self.several = frozenset(
            node
            for source in self.played.sources
            for node, station in stood(source.steps)
            if node is not None and self.played.stations[station].copies > 1
        )
        self.places = [{} for _ in self.played.stations]
        self.machines = {}
        for number, source in enumerate(self.played.sources):
            random = Random(f"{self.name}/{source.stream}/{number}")  # noqa: S311
            if source.customers:
                self._customers(source, random)
                continue
            of = _Of(source.stream)
            go = self._chain(source.steps, self._finish(of), of, ())
            if source.variation is not None:
                self._unevenly(source, go, random)
            elif source.is_periodic:
                self._by_clock(source, go, random)
            else:
                self._at_random(source, go, random)

    # -- sources -----------------------------------------------------------------------------

    def _at_random(self, source: Source, go: Go, random: Random) -> None:
        clock, schedule, gap, rate = self.clock, self.schedule, random.expovariate, source.rate
        priority, flows = source.priority, max(1, round(source.flows))
        again: tuple[Go, ...] = ()

        def send(_: Any) -> None:
            schedule(Happening(again, None), NORMAL, gap(rate))
            go(Item(clock.now, priority))

        def send_of_a_flow(_: Any) -> None:
            schedule(Happening(again, None), NORMAL, gap(rate))
            go(Item(clock.now, priority, int(random.random() * flows)))

        # Bursts are of a flow: where there are some, an item knows its own.
        again = (send_of_a_flow if burst_cycles(source.steps) else send,)
        schedule(Happening(again, None), NORMAL, gap(rate))

    def _unevenly(self, source: Source, go: Go, random: Random) -> None:
        """Let each flow send with times of its own between two items."""
        clock, schedule, priority = self.clock, self.schedule, source.priority
        flows = max(1, round(source.flows))
        assert source.variation is not None
        draw = gaps(source.variation, flows / source.rate, random)

        def flow(number: int) -> None:
            def send(_: Any) -> None:
                schedule(Happening(again, None), NORMAL, draw())
                go(Item(clock.now, priority, number))

            again = (send,)
            # A flow that has been sending for ever is in the midst of a gap, of a long one rather.
            schedule(Happening(again, None), NORMAL, random.random() * draw())

        for number in range(flows):
            flow(number)

    def _by_clock(self, source: Source, go: Go, random: Random) -> None:
        clock, schedule = self.clock, self.schedule
        flows = max(1, round(source.flows))
        period = flows / source.rate

        def flow(number: int) -> None:
            phase = random.random() * period
            sent = 0

            def send(_: Any) -> None:
                nonlocal sent
                sent += 1
                schedule(Happening(again, None), NORMAL, phase + sent * period - clock.now)
                go(Item(clock.now, source.priority, number))

            again = (send,)
            schedule(Happening(again, None), NORMAL, phase)

        for number in range(flows):
            flow(number)

    def _customers(self, source: Source, random: Random) -> None:
        """Let customers think, ask and wait; at first all of them think."""
        clock, schedule, gap, think = self.clock, self.schedule, random.expovariate, source.think
        again: tuple[Go, ...] = ()

        def rest() -> None:
            time = gap(1 / think) if think > 0 else 0.0
            schedule(Happening(again, None), NORMAL, time)

        def ask(_: Any) -> None:
            go(Item(clock.now, source.priority))

        of = _Of(source.stream, rest)
        go = self._chain(source.steps, self._finish(of), of, ())
        again = (ask,)
        for _ in range(source.customers):
            rest()

    # -- ends --------------------------------------------------------------------------------

    def _finish(self, of: _Of) -> Go:
        clock, told, over = self.clock, self.told[of.stream], of.over
        ends, latency = told.ends.append, told.latency.append

        def finish(item: Item) -> None:
            told.done += 1
            if not item.is_ghost:
                now = clock.now
                took = now - item.born
                told.sum += took
                ends(now)
                latency(took)
            if over is not None:
                over()

        return finish

    # -- steps -------------------------------------------------------------------------------

    def _chain(
        self, steps: Sequence[Step], then: Go, of: _Of, shelters: tuple[_Shelter, ...]
    ) -> Go:
        for step in reversed(steps):
            then = self._step(step, then, of, shelters)
        return then

    def _step(self, step: Step, then: Go, of: _Of, shelters: tuple[_Shelter, ...]) -> Go:
        match step:
            case Serve():
                return self._serve(step, then, of, shelters)
            case Use():
                return self._use(step, then)
            case Delay():
                return self._delay(step.time, then)
            case Thin() | Lose():
                return self._lot(step, then, of, shelters)
            case Pick() | Reach():
                return self._pick(step, then) if step.node in self.several else then
            case Take():
                return self._take(step, then)
            case Give():
                return self._give(step, then)
            case Copy():
                return self._copy(step.number, then)
            case Call():
                return self._call(step, then, of, shelters)
            case Fork():
                return self._fork(step, then, of, shelters)
            case Recovery():
                inner = (*shelters, _Shelter(step.share, then))
                return self._chain(step.steps, then, of, inner)

    def _delay(self, time: float, then: Go) -> Go:
        if time <= 0:
            return then
        schedule, after = self.schedule, (_of_item(then),)

        def wait(item: Item) -> None:
            schedule(Happening(after, item), NORMAL, time)

        return wait

    def _use(self, step: Use, then: Go) -> Go:
        busy, station, amount = self.busy, step.station, step.amount

        def use(item: Item) -> None:
            busy[station] += amount
            then(item)

        return use

    def _serve(self, step: Serve, then: Go, of: _Of, shelters: tuple[_Shelter, ...]) -> Go:
        known = self.played.stations[step.station]
        draw = draws(known.variation, self.random)
        servers, number, busy = int(known.servers), step.station, self.busy
        clock, schedule, overlaps = self.clock, self.schedule, step.overlaps
        at = self.queues[number]
        node = step.node if step.node in self.several else None
        if node is None and 0 not in at:
            at[0] = InTurn(clock, servers)
        if any(lot is not None for _, lot in step.parts[:-1]):
            return self._serve_partly(step, then, of, shelters)
        mean = step.mean
        last = step.parts[-1][1]
        if last is not None:
            then = self._lot(last, then, of, shelters)
        if step.thread is not None:
            return self._serve_threaded(step, mean, then)
        if known.discipline not in IN_TURN:
            return self._serve_otherwise(step, mean, then)
        after = (_of_item(then),)

        def enter(item: Item) -> None:
            key = 0 if node is None else item.picks[node]
            queue = at.get(key)
            if queue is None:
                queue = at[key] = InTurn(clock, servers)
            service = draw(mean)
            busy[number] += service
            wait = queue.begins(service)
            schedule(Happening(after, item), NORMAL, wait if overlaps else wait + service)

        return enter

    def _serve_otherwise(self, step: Serve, mean: float, then: Go) -> Go:
        """Serve by another discipline than in turn."""
        known, number, busy = self.played.stations[step.station], step.station, self.busy
        draw, overlaps, machines = draws(known.variation, self.random), step.overlaps, self.machines
        node = step.node if step.node in self.several else None
        key_of = (number,) if node is None else None
        clock, schedule = self.clock, self.schedule

        def enter(item: Item) -> None:
            key = key_of or (number, item.picks[node or ""])
            machine = machines.get(key)
            if machine is None:
                machine = machines[key] = machine_of(known, clock, schedule)
            service = draw(mean)
            busy[number] += service
            machine.enter(Visitor(item, service, item.priority, then, overlaps=overlaps))

        return enter

    def _serve_partly(self, step: Serve, then: Go, of: _Of, shelters: tuple[_Shelter, ...]) -> Go:
        """Serve what is lost in the midst as long as it is there."""
        random = self.random.random
        done = 0.0
        lots: list[tuple[float, Go]] = []
        for mean, lot in step.parts:
            done += mean
            if lot is None:
                continue
            share = lot.share if isinstance(lot, Thin) else 1 - lot.share
            gone = self._gone(lot, of, shelters)
            short = Serve(
                station=step.station,
                parts=((done, None),),
                node=step.node,
                overlaps=step.overlaps,
                thread=step.thread,
            )
            lots.append((share, self._serve(short, gone, of, shelters)))
        whole = Serve(
            station=step.station,
            parts=((step.mean, None),),
            node=step.node,
            overlaps=step.overlaps,
            thread=step.thread,
        )
        full = self._serve(whole, then, of, shelters)

        def enter(item: Item) -> None:
            for share, gone in lots:
                if random() >= share:
                    gone(item)
                    return
            full(item)

        return enter

    def _serve_threaded(self, step: Serve, mean: float, then: Go) -> Go:
        """Let an item have its thread first, then a core, and give both back together."""
        known = self.played.stations[step.station]
        assert step.thread is not None
        thread, number, busy = step.thread, step.station, self.busy
        draw, servers = draws(known.variation, self.random), int(known.servers)
        clock, schedule = self.clock, self.schedule
        cores, locks = self.queues[number], self.locks[thread]
        node = step.node if step.node in self.several else None

        def enter(item: Item) -> None:
            key = 0 if node is None else item.picks[node]
            if key not in locks:
                locks[key] = Lock()
            if key not in cores:
                cores[key] = InTurn(clock, servers)
            locks[key].take(begin, (item, key))

        def begin(pair: tuple[Item, int]) -> None:
            service = draw(mean)
            busy[number] += service
            busy[thread] += service
            wait = cores[pair[1]].begins(service)
            schedule(Happening((end,), pair), NORMAL, wait + service)

        def end(happening: Happening) -> None:
            item, key = happening.item
            locks[key].give()
            then(item)

        return enter

    # -- lots --------------------------------------------------------------------------------

    def _lot(self, step: Lose | Thin, then: Go, of: _Of, shelters: tuple[_Shelter, ...]) -> Go:
        share = step.share if isinstance(step, Thin) else 1 - step.share
        if share >= 1:
            return then
        random, gone = self.random.random, self._gone(step, of, shelters)
        if isinstance(step, Thin) and step.lasting is not None:
            is_on = _Bursts(step.share, step.lasting, self.clock, self.random).is_on

            def burst(item: Item) -> None:
                if is_on(item.flow):
                    then(item)
                else:
                    gone(item)

            return burst

        def lot(item: Item) -> None:
            if random() < share:
                then(item)
            else:
                gone(item)

        return lot

    def _gone(self, step: Lose | Thin, of: _Of, shelters: tuple[_Shelter, ...]) -> Go:
        """Return what becomes of an item that is lost, or that nobody misses."""
        over, give_all = of.over, self._give_all
        if isinstance(step, Thin):

            def missed(item: Item) -> None:
                give_all(item)
                if over is not None:
                    over()

            return missed
        lost, kind, worth, random = self.told[of.stream].lost, step.kind, step.worth, self.random
        safe = shelters if step.kind == LossKind.TRANSMISSION.value else ()

        def gone(item: Item) -> None:
            for shelter in reversed(safe):
                if random.random() < shelter.share:
                    item.is_ghost = True
                    shelter.then(item)
                    return
            give_all(item)
            joined = [one for one in item.open if isinstance(one, _Joined)]
            if not any(one.is_lost for one in joined):
                lost[kind] += worth
                if over is not None:
                    over()
            for one in joined:
                one.is_lost = True

        return gone

    # -- pools -------------------------------------------------------------------------------

    def _take(self, step: Take, then: Go) -> Go:
        clock, pools, station, amount = (
            self.clock,
            self.places[step.station],
            step.station,
            step.amount,
        )
        node = step.node if step.node in self.several else None
        capacity = step.capacity if step.waits else math.inf

        def take(item: Item) -> None:
            key = 0 if node is None else item.picks[node]
            pool = pools.get(key)
            if pool is None:
                pool = pools[key] = Places(capacity)
            pool.take(amount, taken, (item, pool))

        def taken(pair: tuple[Item, Places]) -> None:
            item, pool = pair
            item.held = (*item.held, (station, amount, clock.now, pool))
            then(item)

        return take

    def _give(self, step: Give, then: Go) -> Go:
        station, give_back = step.station, self._give_back

        def give(item: Item) -> None:
            for one in item.held:
                if one[0] == station:
                    item.held = tuple(other for other in item.held if other is not one)
                    give_back(one)
                    break
            then(item)

        return give

    def _give_back(self, one: _Held) -> None:
        station, amount, since, pool = one
        self.busy[station] += amount * (self.clock.now - since)
        pool.give(amount)

    def _give_all(self, item: Item) -> None:
        held, item.held = item.held, ()
        for one in held:
            self._give_back(one)

    # -- machines and copies -----------------------------------------------------------------

    def _pick(self, step: Pick | Reach, then: Go) -> Go:
        node, copies, random = step.node, step.copies, self.random.random
        reaches, is_by_clock = isinstance(step, Reach), self.played.episode is not None

        def pick(item: Item) -> None:
            picks = item.picks
            if reaches and item.spread is not None:
                base, number = item.spread
                first = picks[node] + 1 if node in picks else int(base * copies)
                item.picks = picks | {node: (first + number) % copies}
                item.spread = None
            elif node not in picks:
                has_place = is_by_clock and item.flow >= 0
                chosen = item.flow % copies if has_place else int(random() * copies)
                item.picks = picks | {node: chosen}
            then(item)

        return pick

    def _copy(self, number: float, then: Go) -> Go:
        (whole, part), random = _whole_and_part(number), self.random.random

        def copy(item: Item) -> None:
            count = whole + (part > 0 and random() < part)
            base = random()
            for index in range(count):
                twin = item.copied()
                twin.spread = base, index
                then(twin)

        return copy

    # -- calls -------------------------------------------------------------------------------

    def _call(self, step: Call, then: Go, of: _Of, shelters: tuple[_Shelter, ...]) -> Go:
        (whole, part), random = _whole_and_part(step.times), self.random.random
        schedule = self.schedule

        def back(item: Item) -> None:
            *others, (left, picks) = item.open
            item.open, item.picks = tuple(others), picks
            if left:
                item.open = (*others, (left - 1, picks))
                schedule(Happening(again, item), NORMAL, 0.0)
            else:
                then(item)

        body = self._chain(step.steps, back, of, shelters)
        again = (_of_item(body),)

        def call(item: Item) -> None:
            count = whole + (part > 0 and random() < part)
            if not count:
                then(item)
                return
            item.open = (*item.open, (count - 1, item.picks))
            body(item)

        return call

    def _fork(self, step: Fork, then: Go, of: _Of, shelters: tuple[_Shelter, ...]) -> Go:
        def back(item: Item) -> None:
            joined = item.open[-1]
            joined.left -= 1
            if not joined.left and not joined.is_lost:
                joined.item.is_ghost |= item.is_ghost
                then(joined.item)

        branches = [self._chain(branch, back, of, shelters) for branch in step.branches]

        def fork(item: Item) -> None:
            joined = _Joined(item, len(branches))
            for branch in branches:
                twin = item.copied()
                twin.open = (*twin.open, joined)
                branch(twin)

        return fork


class _Bursts:
    """Which flows are on: each for itself, by turns, for exponential times; in equilibrium."""

    def __init__(
        self, share: float, lasting: float, clock: simpy.Environment, random: Random
    ) -> None:
        self._on, self._off = lasting, lasting * (1 - share) / share
        self._share, self._clock, self._random = share, clock, random
        self._flows: dict[int, tuple[bool, float]] = {}

    def is_on(self, flow: int) -> bool:
        """Return whether a flow is on now."""
        now, random = self._clock.now, self._random
        known = self._flows.get(flow)
        if known is None:
            known = random.random() < self._share, now
            known = known[0], now + random.expovariate(1 / (self._on if known[0] else self._off))
        is_on, until = known
        while until <= now:
            is_on = not is_on
            until += random.expovariate(1 / (self._on if is_on else self._off))
        self._flows[flow] = is_on, until
        return is_on


def _whole_and_part(number: float) -> tuple[int, float]:
    """Return how often at least, and how probably once more."""
    whole = int(number + _ROUNDING)
    part = number - whole
    return whole, part if part > _ROUNDING else 0.0


def _no_clock(*_: object) -> None:
    """Schedule nothing: there is no clock yet."""


def _of_item(then: Go) -> Go:
    def happen(happening: Happening) -> None:
        then(happening.item)

    return happen
