"""The state of one run: its clock, its stations and what is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol

import simpy
from msgspec import Struct, field

from qps.simulation.items import Go, Item, StationCounts, StreamCounts
from qps.simulation.sharing_and_priorities import StationMachine
from qps.simulation.simulated_model import SimulatedNetwork
from qps.simulation.stations import InRoom, InTurn, Lock, Places, QueuelessResource, Schedule


class LossRecovery(Struct, frozen=True):
    """Behind some steps a share of what is lost in them is there again."""

    share: float
    then: Go


class StreamHandlers(Struct, frozen=True):
    """A stream, and what to do when an item of it arrives or is lost."""

    stream: str
    over: Callable[[], None] | None = None
    recoveries: tuple[LossRecovery, ...] = ()


class SharedServers(Protocol):
    """Servers with one queue, of all machines of a station."""

    def entrance(self, then: Go, draw: Callable[[], float], *, overlaps: bool) -> Go:
        """Return what lets an item be served for a time that is drawn, and go on.

        It goes on when its service begins where that `overlaps` with what is behind.
        """
        ...


def _no_clock(*_: object) -> None:
    """Schedule nothing: there is no clock yet."""


class SimulationState(Struct, kw_only=True):
    """The state of a run, on one clock; machines are created at their first visit."""

    network: SimulatedNetwork
    clock: simpy.Environment
    name: str
    counts: dict[str, StreamCounts]
    busy: list[float]
    observed: dict[int, StationCounts] = field(default_factory=dict)
    """The stations of which waits are counted, by their places in the network."""
    queues: list[dict[int, InTurn]] = field(default_factory=list)
    rooms: dict[tuple[int, int], InRoom] = field(default_factory=dict)
    locks: list[dict[int, Lock]] = field(default_factory=list)
    limits: dict[int, QueuelessResource] = field(default_factory=dict)
    """Of what nobody waits for: only users who wait for their answers can be held up by it."""
    places: list[dict[int, Places]] = field(default_factory=list)
    machines: dict[tuple[int, ...], StationMachine] = field(default_factory=dict)
    random: Random = field(default_factory=Random)
    schedule: Schedule = field(default_factory=lambda: _no_clock)
    shared: Sequence[SharedServers] = ()
    """The servers of all machines of each station, where their number changes over time."""
    several: frozenset[str] = frozenset()

    def note_wait(self, station: int) -> Callable[[Item, float], None]:
        """Return what counts how long an item has waited at a station, at its visit."""
        counts, clock = self.observed.get(station), self.clock

        def of_stream(item: Item, wait: float) -> None:
            item.wait_time += wait

        def of_both(item: Item, wait: float) -> None:
            item.wait_time += wait
            if counts is not None:
                counts.begins.append(clock.now)
                counts.waits.append(wait)

        return of_stream if counts is None else of_both

    def left(self) -> list[float]:
        """Return, of each station, the work that is counted as busy and still to be done."""
        found = [sum(queue.left for queue in at.values()) for at in self.queues]
        for (station, _), room in self.rooms.items():
            found[station] += room.left
        for (station, *_), machine in self.machines.items():
            found[station] += machine.left
        return found
