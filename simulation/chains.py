"""Ways as chains of functions, each of which lets an item do a step and go on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

import simpy
from msgspec import Struct, field

from qps.compiler.lower.stream_measures import LossKind
from qps.simulation.items import Go, Held, Item, Told
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
    stood,
)
from qps.simulation.sharing_and_ranks import IN_TURN, Machine, Visitor, machine_of
from qps.simulation.sources import Bursts, at_random, by_clock, customers, schedule_of, unevenly
from qps.simulation.stations import (
    NORMAL,
    Happening,
    InTurn,
    Lock,
    Places,
    Schedule,
    draws,
)

_ROUNDING = 1e-9


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


class Chains(Struct, kw_only=True):
    """What is played, on one clock: sources, stations and the chains of steps between them."""

    played: Played
    clock: simpy.Environment
    name: str
    told: dict[str, Told]
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
        self.schedule = schedule_of(self.clock)
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
            way = partial(self._way, source)
            if source.customers:
                customers(source, way, self.clock, random)
            elif source.variation is not None:
                unevenly(source, way(None), self.clock, random)
            elif source.is_periodic:
                by_clock(source, way(None), self.clock, random)
            else:
                at_random(source, way(None), self.clock, random)

    def _way(self, source: Source, over: Callable[[], None] | None) -> Go:
        """Return the way of an item of a source, and what is to be done when it is over."""
        of = _Of(source.stream, over)
        return self._chain(source.steps, self._finish(of), of, ())

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
            is_on = Bursts(step.share, step.lasting, self.clock, self.random).is_on

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

    def _give_back(self, one: Held) -> None:
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
