"""The queueing network that a spec means in one configuration: stations, pools and classes.

It says what the spec means and nothing that follows from it: nothing is solved or averaged, and no
wait is in it. Times are in s, sizes in bit, rates in 1/s, loads as parts of one server, all else in
single items. Every number is a formula in the population, the assumptions, elastic parameters,
switches and kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.compiler.network.arrivals import Arrivals
from qps.compiler.network.itinerary import Sequence
from qps.compiler.network.spread import Spread
from qps.engine.formulas import ONE, ZERO, Formula


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


class ItemKinds(Struct, frozen=True, kw_only=True):
    """Kinds of users, or of items: their names, their shares, and the values of some symbols."""

    of: str
    of_users: bool
    names: tuple[str, ...]
    shares: tuple[Formula, ...]
    values: dict[Formula, tuple[Formula, ...]]
    means: dict[Formula, Formula]
    """Of each of these symbols the mean over all kinds, as it is named in formulas."""


class Place(Struct, frozen=True):
    """A node or link, of which there are so many `copies`, all alike."""

    name: str
    copies: Formula


class Station(Struct, frozen=True, kw_only=True):
    """What serves items at a place: its servers, and how what arrives is waited for.

    `queueing` is None where no waiting is counted; `is_unmodeled` where nothing says that none is
    meant. `variation` is the coefficient of variation of service times, `speeds` how fast all
    present are served, by how many they are, `room` for how many there is room, those in service
    among them. `background` is the load that no item causes, by what causes it. `rate` is what one
    server does in a second, in bits or items, None of processors; `capacity` what a store that
    flows keep some of holds. A port is `port_of` a link.
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
    spread: Spread = Spread()
    background: tuple[tuple[str, Formula], ...] = ()
    rate: Formula | None = None
    capacity: Formula | None = None
    port_of: str | None = None
    jitter: Open | None = None

    @property
    def waits(self) -> bool:
        """Whether items wait here."""
        return self.queueing is not None

    def time_for(self, amount: Formula) -> Formula:
        """Return how long one server takes for so many bits or items, in s."""
        assert self.rate is not None
        return amount / self.rate


class Pool(Struct, frozen=True, kw_only=True):
    """What items take a part of and give back: so much `capacity` in each copy of its place.

    A part of the capacity is `kept` for good, by what keeps it. Where it `is_unmodeled` nobody
    waits for it.
    """

    name: str
    place: Place
    capacity: Formula
    span: Span
    kept: tuple[tuple[str, Formula], ...] = ()
    is_unmodeled: bool = False


class Holder(Struct, frozen=True):
    """Whose the flows of a class are: of each machine of a node, user, group or pair, or of all."""

    kind: str
    name: str | None = None


class Items(Struct, frozen=True, kw_only=True):
    """What a class sends: its `primary` item, None for bare bytes, of so many `bits`.

    Of other items, so many bits make one.
    """

    primary: str | None
    bits: Formula | None = None
    sizes: dict[str, Formula] = field(default_factory=dict)


class Playout(Struct, frozen=True):
    """A buffer that items leave so late after they were sent, and what is too late for it."""

    delay: Open
    dropping: Open | None
    span: Span


class Class(Struct, frozen=True, kw_only=True):
    """Items that go one way: `flows` of them, each open, or with an `amount` that is under way.

    Those of an amount belong to users who `think` so long between answer and request; the rate of
    their `arrivals` is a symbol. Of a smaller `rank` items go first where a station asks for it.
    """

    name: str
    flows: Formula
    arrivals: Arrivals
    items: Items
    holder: Holder
    itinerary: Sequence
    span: Span
    amount: Formula | None = None
    think: Formula | None = None
    rank: Formula | None = None
    playout: Playout | None = None

    @property
    def is_closed(self) -> bool:
        """Whether its users wait for their answers."""
        return self.think is not None

    @property
    def population(self) -> Formula | None:
        """How many items are under way or thought about, None of an open class."""
        return None if self.amount is None else self.flows * self.amount


class Elastic(Struct, frozen=True, kw_only=True):
    """A parameter that takes what loads leave, from `least` to `most`; those of low rank first."""

    symbol: Formula
    least: Formula
    most: Formula
    rank: int | None


class Link(Struct, frozen=True):
    """How a link carries, and what it joins."""

    medium: str
    ends: tuple[str, ...]


class Network(Struct, frozen=True, kw_only=True):
    """The whole network, for so many users from `low` to `high`."""

    population: Formula
    low: int
    high: int
    stations: Mapping[str, Station] = field(default_factory=dict)
    pools: Mapping[str, Pool] = field(default_factory=dict)
    classes: Mapping[str, Class] = field(default_factory=dict)
    kinds: tuple[ItemKinds, ...] = ()
    elastic: tuple[Elastic, ...] = ()
    switches: Mapping[ir.Condition, Formula] = field(default_factory=dict)
    links: Mapping[str, Link] = field(default_factory=dict)

    def is_store(self, name: str) -> bool:
        """Whether what has a name holds what flows keep, as pools do, and serves nobody."""
        return name in self.pools or self.stations[name].kind is StationKind.STORE
