"""Stations, which serve items, and pools, of which items hold some."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.compiler.network.spread import CopySelection
from qps.engine.expressions.formulas import ONE, ZERO, Formula


class StationKind(StrEnum):
    """What a station is."""

    PROCESSOR = "processor"
    THREAD = "thread"
    """A single thread of a processor, which keeps one core busy at most."""
    RATE = "rate"
    """A card, a disk: it does so much a second."""
    STORE = "store"
    """What is held at once."""
    PORT = "port"
    """A port of a switch: its end at a machine, in one direction."""
    MEDIUM = "medium"
    """A link that is one for all, or one of its two directions."""
    CAP = "cap"
    """A limit of items a second of a port or medium."""


class Open(Struct, frozen=True):
    """A quantity that rests on what the network comes to: a load, a jitter, a buffer."""

    stated: ir.Quantity


class Place(Struct, frozen=True):
    """A node or link, of which there are so many `copies`, all alike."""

    name: str
    copies: Formula


class Station(Struct, frozen=True, kw_only=True):
    """What serves items at a place: its servers, and how what arrives is waited for.

    `queueing` is None where no waiting is counted; `is_unmodeled` where nothing says that none is
    meant. `variation` is the coefficient of variation of service times, `speeds` how fast all
    present are served, by how many they are, `room` for how many there is room, those in service
    among them. Of a CPU limit, `host_cores` serve until they have done what `servers` do in a
    `period` (s), and go on with the next one. `background` is the load that no item causes, by what
    causes it: that of idling, and what flows take for good (`Serve.per_flow`), of all of them.
    `rate` is what one server does in a second, in bits or items, None of processors; `capacity`
    what a store that flows keep some of holds. A port is `port_of` a link. What it serves `is_bits`
    where its throughput is counted in these; `rating` is that of a processor whose law of jitter
    names it.
    """

    name: str
    place: Place
    kind: StationKind
    span: Span
    queueing: ir.Queueing | None = None
    is_unmodeled: bool = False
    servers: Formula = ONE
    variation: Formula = ZERO
    speeds: tuple[Formula, ...] = ()
    room: Formula | None = None
    period: Formula | None = None
    host_cores: Formula = ONE
    spread: CopySelection = CopySelection()
    background: tuple[tuple[str, Formula], ...] = ()
    rate: Formula | None = None
    capacity: Formula | None = None
    port_of: str | None = None
    jitter: Open | None = None
    rating: Formula | None = None
    is_bits: bool = False

    @property
    def waits(self) -> bool:
        """Whether items wait here."""
        return self.queueing is not None

    @property
    def fastest(self) -> Formula:
        """How fast all present are served at most, beside one that is there alone."""
        return self.speeds[-1] if self.speeds else ONE

    def time_for(self, amount: Formula) -> Formula:
        """Return how long one server takes for so many bits or items, in s."""
        assert self.rate is not None
        return amount / self.rate


class Pool(Struct, frozen=True, kw_only=True):
    """A pool that items hold a part of for a while: its `capacity` in each copy of its place.

    `background` are the fractions of the capacity that are always in use, and by what. If it
    `is_unmodeled`, nobody waits for it.
    """

    name: str
    place: Place
    capacity: Formula
    span: Span
    background: tuple[tuple[str, Formula], ...] = ()
    is_unmodeled: bool = False
