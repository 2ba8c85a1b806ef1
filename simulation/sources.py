"""Sources: when items come, as if they had been coming for ever."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, cast

from simpy import Environment

from qps.simulation.items import Go, Item
from qps.simulation.simulated_model import StreamSource, burst_cycles
from qps.simulation.stations import NORMAL, Happening, Schedule, gaps

_MANY = 2_000
"""Of more customers than these nobody keeps who thinks."""


def schedule_of(clock: Environment) -> Schedule:
    """Return what lets things happen on a clock."""
    return cast("Schedule", clock.schedule)


def at_random(source: StreamSource, go: Go, clock: Environment, random: Random) -> None:
    """Let items come at random."""
    schedule, gap, rate = schedule_of(clock), random.expovariate, source.rate
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


def unevenly(source: StreamSource, go: Go, clock: Environment, random: Random) -> None:
    """Let each flow send with times of its own between two items."""
    schedule, priority = schedule_of(clock), source.priority
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


def by_clock(source: StreamSource, go: Go, clock: Environment, random: Random) -> None:
    """Let each flow send an item a period, at a phase of its own."""
    schedule = schedule_of(clock)
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


def customers(
    source: StreamSource,
    path: Callable[[Callable[[], None]], Go],
    clock: Environment,
    random: Random,
) -> None:
    """Let customers think, send requests and wait; at first all of them think.

    `path` makes theirs of what is to be done when it is over.
    """
    schedule, gap, think = schedule_of(clock), random.expovariate, source.think
    again: tuple[Go, ...] = ()
    if source.customers > _MANY and think > 0:
        _many_customers(source, path, clock, random)
        return

    def rest() -> None:
        time = gap(1 / think) if think > 0 else 0.0
        schedule(Happening(again, None), NORMAL, time)

    def start_request(_: Any) -> None:
        go(Item(clock.now, source.priority))

    go = path(rest)
    again = (start_request,)
    for _ in range(source.customers):
        rest()


def _many_customers(
    source: StreamSource,
    path: Callable[[Callable[[], None]], Go],
    clock: Environment,
    random: Random,
) -> None:
    """Let customers think, send requests and wait, without storing who thinks: the next is known.

    Times to think are exponential: of n who think one sends a request as if it were n times as
    hasty.
    """
    schedule, gap = schedule_of(clock), random.expovariate
    thinking, planned = source.customers, 0
    again: tuple[Go, ...] = ()

    def plan() -> None:
        nonlocal planned
        planned += 1
        if thinking:
            schedule(Happening(again, planned), NORMAL, gap(thinking / source.think))

    def rest() -> None:
        nonlocal thinking
        thinking += 1
        plan()

    def start_request(happening: Any) -> None:
        nonlocal thinking
        if happening.item == planned:
            thinking -= 1
            plan()
            go(Item(clock.now, source.priority))

    go = path(rest)
    again = (start_request,)
    plan()


class OnOffFlows:
    """Which flows are on: each for itself, by turns, for exponential times; in equilibrium."""

    def __init__(self, share: float, lasting: float, clock: Environment, random: Random) -> None:
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
