"""Classes of items: how many there are, how they come, and where they go."""

from __future__ import annotations

from msgspec import Struct, field

from qps.compiler.diagnostics.source import Span
from qps.compiler.network.arrivals import Arrivals
from qps.compiler.network.itinerary import Sequence
from qps.compiler.network.stations_and_pools import Open
from qps.engine.expressions.formulas import Formula

BYTE_BITS = 8


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
    their `arrivals` is a symbol. Of a smaller `rank` items go first where a station requires it.
    They are of a `stream`, or of one kind of its users, for which symbols have some `values`.
    """

    name: str
    stream: str
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
    values: dict[Formula, Formula] = field(default_factory=dict)

    @property
    def is_closed(self) -> bool:
        """Whether its users wait for their answers."""
        return self.think is not None

    @property
    def sent(self) -> Formula:
        """How many items each flow sends in a second, bytes where the class has no items."""
        rate = self.arrivals.rate
        return rate / BYTE_BITS if self.items.primary is None else rate

    @property
    def population(self) -> Formula | None:
        """How many items are under way or thought about, None of an open class."""
        return None if self.amount is None else self.flows * self.amount


class ItemKinds(Struct, frozen=True, kw_only=True):
    """Kinds of users, or of items: their names, their shares, and the values of some symbols."""

    of: str
    of_users: bool
    names: tuple[str, ...]
    shares: tuple[Formula, ...]
    values: dict[Formula, tuple[Formula, ...]]
    means: dict[Formula, Formula]
    """Of each of these symbols the mean over all kinds, as it is named in formulas."""
