"""Stations at work: who is served when. One visit is one event wherever that can be."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush, heapreplace
from random import Random
from typing import Any

import simpy

NORMAL = 1
"""The priority of SimPy's own timeouts."""
_BATCH_SIZE = 100
"""After so many that come in a row nobody waits yet, where none came before."""


_NO_VARIATION = 1e-9
"""What varies less is as good as fixed: its clock has no smaller part of a time."""


class Happening:
    """Something that happens to an item at a time: the least that SimPy needs of an event."""

    __slots__ = ("_ok", "callbacks", "item")

    def __init__(self, callbacks: tuple[Callable[[Any], None], ...], item: Any) -> None:
        self.callbacks: tuple[Callable[[Any], None], ...] | None = callbacks
        self._ok = True
        self.item = item


Schedule = Callable[[Any, int, float], None]


def draws(variation: float, random: Random) -> Callable[[float], float]:
    """Return what makes a service time of its mean."""
    if variation <= _NO_VARIATION:
        return lambda mean: mean
    if variation == 1:
        exponential = random.expovariate
        return lambda mean: exponential(1.0 / mean) if mean > 0 else 0.0
    shape = variation**-2
    gamma = random.gammavariate
    return lambda mean: gamma(shape, mean / shape) if mean > 0 else 0.0


def gaps(variation: float, mean: float, random: Random) -> Callable[[], float]:
    """Return what makes times between two arrivals: of two exponential ones where they vary much.

    Of these both make up half of the time (balanced means); where they vary less than at random,
    they are gamma distributed.
    """
    if variation <= 1:
        draw = draws(variation, random)
        return lambda: draw(mean)
    square = variation**2
    often = (1 + ((square - 1) / (square + 1)) ** 0.5) / 2
    pick, exponential = random.random, random.expovariate
    fast, slow = 2 * often / mean, 2 * (1 - often) / mean
    return lambda: exponential(fast if pick() < often else slow)


class InTurn:
    """Servers that take who came first: when one who comes now begins is known at once.

    Servers of which none was needed so far are as many as they are, and take no memory.
    """

    __slots__ = ("_clock", "_free", "_servers")

    def __init__(self, clock: simpy.Environment, servers: int) -> None:
        self._clock, self._servers = clock, servers
        self._free: list[float] = []

    def begins(self, service: float) -> float:
        """Take a visit; return how long it waits."""
        now, free = self._clock.now, self._free
        if len(free) < self._servers and (not free or free[0] > now):
            heappush(free, now + service)
            return 0.0
        begin = max(free[0], now)
        heapreplace(free, begin + service)
        return begin - now

    @property
    def left(self) -> float:
        """The work that is there and not done yet, in s of one server."""
        now = self._clock.now
        return sum(free - now for free in self._free if free > now)


class InRoom:
    """Servers that take who came first, with room for so many, those that are served among them."""

    __slots__ = ("_clock", "_leaving", "_room", "_turn")

    def __init__(self, clock: simpy.Environment, servers: int, room: int) -> None:
        self._clock, self._room = clock, room
        self._turn = InTurn(clock, servers)
        self._leaving: list[float] = []

    def begins(self, service: float) -> float | None:
        """Take a visit; return how long it waits, None where it finds no room."""
        now, leaving = self._clock.now, self._leaving
        while leaving and leaving[0] <= now:
            heappop(leaving)
        if len(leaving) >= self._room:
            return None
        wait = self._turn.begins(service)
        heappush(leaving, now + wait + service)
        return wait

    @property
    def left(self) -> float:
        """The work that is there and not done yet, in s of one server."""
        return self._turn.left


class QueuelessResource:
    """What nobody waits for as long as its demand is not above its capacity, on average.

    What is too much waits. So much `slack` of time as it has been idle may be made up for later:
    none at first, and never more than it needs for many visits.
    """

    __slots__ = ("_capacity", "_clock", "_done", "_slack")

    def __init__(self, clock: simpy.Environment, capacity: float) -> None:
        self._clock, self._capacity = clock, capacity
        self._done = self._slack = 0.0

    def is_for(self, work: float) -> None:
        """Know of visits that take so much work."""
        self._slack = max(self._slack, _BATCH_SIZE * work / self._capacity)

    def waits(self, work: float) -> float:
        """Take a visit; return how long it waits."""
        now = self._clock.now
        begin = max(self._done, now - self._slack)
        self._done = begin + work / self._capacity
        return max(0.0, begin - now)


class Lock:
    """A single thread: who has it keeps it until it is given back."""

    __slots__ = ("_is_locked", "_waiting")

    def __init__(self) -> None:
        self._is_locked = False
        self._waiting: deque[tuple[Callable[[Any], None], Any]] = deque()

    def take(self, then: Callable[[Any], None], item: Any) -> None:
        """Go on as soon as the thread is free."""
        if self._is_locked:
            self._waiting.append((then, item))
            return
        self._is_locked = True
        then(item)

    def give(self) -> None:
        """Give it to who waits longest."""
        if self._waiting:
            then, item = self._waiting.popleft()
            then(item)
        else:
            self._is_locked = False


class Places:
    """What a machine has of a pool: who came first is served first, however little others take."""

    __slots__ = ("_left", "_waiting")

    def __init__(self, capacity: float) -> None:
        self._left = capacity * (1 + 1e-12)
        self._waiting: deque[tuple[float, Callable[[Any], None], Any]] = deque()

    def take(self, amount: float, then: Callable[[Any], None], item: Any) -> None:
        """Go on as soon as there is so much."""
        if self._waiting or self._left < amount:
            self._waiting.append((amount, then, item))
            return
        self._left -= amount
        then(item)

    def give(self, amount: float) -> None:
        """Give back, to those who wait longest."""
        self._left += amount
        while self._waiting and self._left >= self._waiting[0][0]:
            requested, then, item = self._waiting.popleft()
            self._left -= requested
            then(item)
