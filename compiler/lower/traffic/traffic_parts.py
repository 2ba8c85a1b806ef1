"""What traffic is made of: what is demanded of each station, and what each class comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.queues.offered_load import OfferedLoad
from qps.compiler.lower.queues.pool_holding import Hold
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.response_time.response_parts import LossPart, QueuePart
from qps.compiler.lower.response_time.response_stages import LatencyPart
from qps.compiler.lower.unmodeled_waits import UnmodeledQueue
from qps.compiler.network.classes import Class
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.engine.expressions.formulas import ONE, ZERO, Formula, total


class StationTraffic(Struct, kw_only=True):
    """What is demanded of a resource, as parts of its capacity, by component or stream.

    Where it is waited for, also how, by which visits, and the load that no visit causes.
    `throughputs` are in bit/s, where it serves bits; there are `count` resources of its kind.
    `port_of` is the link that it is a port of, where that is a switch. Of a pool, `holds` are what
    is held of it; of a pool and a store, `capacity` is how much there is. Where some find no room,
    `offered` are all. What finds no room at those that it is `thinned_by` is not demanded of it.
    `whose` says for each of the `parts` which stream demands it, empty for what none demands.
    """

    span: Span
    parts: dict[str, list[Formula]] = field(default_factory=dict)
    whose: dict[str, list[str]] = field(default_factory=dict)
    queueing: ir.Queueing | None = None
    servers: Formula = ONE
    visits: list[QueueVisit] = field(default_factory=list)
    background: list[Formula] = field(default_factory=list)
    throughputs: list[Formula] = field(default_factory=list)
    count: Formula = ONE
    port_of: str | None = None
    holds: list[Hold] = field(default_factory=list)
    capacity: Formula = ONE
    offered: OfferedLoad | None = None
    thinned_by: tuple[str, ...] = ()

    def add(self, by: str, load: Formula, stream: str = "") -> None:
        """Add to the demand of a component or stream what a stream requests."""
        self.parts.setdefault(by, []).append(load)
        self.whose.setdefault(by, []).append(stream)

    @property
    def load(self) -> Formula:
        """The load by all of them."""
        return total(total(loads) for loads in self.parts.values())

    def of_streams(self) -> dict[str, list[Formula]]:
        """Return what each stream requests, in the order in which they come here."""
        found: dict[str, list[Formula]] = {}
        for by, loads in self.parts.items():
            for load, stream in zip(loads, self.whose[by], strict=True):
                found.setdefault(stream, []).append(load)
        found.pop("", None)
        return found

    def changed(self, change: Callable[[Formula], Formula]) -> StationTraffic:
        """Return the same with all demands changed."""
        return replace(
            self,
            parts={by: [change(load) for load in loads] for by, loads in self.parts.items()},
            background=[change(load) for load in self.background],
            throughputs=[change(rate) for rate in self.throughputs],
            visits=[visit.changed(change) for visit in self.visits],
            holds=[hold.changed(change) for hold in self.holds],
        )


class ClosedSource(Struct, frozen=True, kw_only=True):
    """Where a closed stream comes from: `flows`, each with an `amount` of items under way.

    The rate of one flow is a `symbol` until all is walked.
    """

    symbol: Formula
    flows: Formula
    amount: Formula
    think: Formula


def closed_source(of: Class) -> ClosedSource | None:
    """Return where a closed class comes from, None for an open one."""
    if of.amount is None or of.think is None:
        return None
    return ClosedSource(symbol=of.arrivals.rate, flows=of.flows, amount=of.amount, think=of.think)


class Spent(Struct, frozen=True):
    """A stage that is no wait: the resources busy `on` it, the `flows` in it."""

    on: tuple[str, ...]
    flows: Formula
    stage: int


class KindTraffic(Struct, frozen=True, kw_only=True):
    """What one kind of users or items of a class comes to: a `weight` of those that arrive.

    The parts of its latency are those of the class, and so are its visits but for their size.
    """

    weight: Formula
    latency: list[LatencyPart]
    visits: dict[int, QueueVisit]

    def changed(self, change: Callable[[Formula], Formula]) -> KindTraffic:
        """Return the same with every formula changed but those of its visits."""
        return replace(
            self,
            weight=change(self.weight),
            latency=[part.changed(change) for part in self.latency],
        )

    def visits_changed(self, change: Callable[[Formula], Formula]) -> KindTraffic:
        """Return the same with every formula of its visits changed."""
        return replace(self, visits={at: one.changed(change) for at, one in self.visits.items()})


class ClassTraffic(Struct, kw_only=True):
    """What a class of a `stream` came to: its latency, its losses, the resources it passes.

    `passes` says which share of the items passes each of them. `jitter` holds the jitter laws of
    those that have one, by resource, `rates` what they may name of its rate or rating; `visits` is
    for each part of the latency that is a wait the visit that waits, `uncounted` the resources
    that state no queueing: the latency counts no waiting there, and `unmodeled_queues` those of
    which nothing says so. Of all of them, and of limits of items a second, what is `unbounded`
    lets a queue grow that nothing bounds.
    """

    name: str
    stream: str
    latency: list[LatencyPart] = field(default_factory=list)
    losses: list[LossPart] = field(default_factory=list)
    queues: list[QueuePart] = field(default_factory=list)
    passes: dict[str, Formula] = field(default_factory=dict)
    jitter: dict[str, ir.Quantity] = field(default_factory=dict)
    rates: dict[str, Formula] = field(default_factory=dict)
    visits: dict[int, QueueVisit] = field(default_factory=dict)
    uncounted: dict[str, None] = field(default_factory=dict)
    unmodeled_queues: dict[str, UnmodeledQueue] = field(default_factory=dict)
    unbounded: dict[str, None] = field(default_factory=dict)
    sent: Formula = ONE
    """The items a second that leave the source, of all flows."""
    rate: Formula = ZERO
    throughput: Formula = ZERO
    arriving: Formula = ONE
    """The items a second that arrive, of all flows."""
    known: Certainty = EXACT
    rate_known: Certainty = EXACT
    """How all that it met is known, and its rate, where elastic parameters stand in it."""
    closed: ClosedSource | None = None
    spent: list[Spent] = field(default_factory=list)
    """What stages come to that are no waits."""
    flows: dict[str, Formula] = field(default_factory=dict)
    """How many flows each resource on the way serves."""
    where: dict[str, str] = field(default_factory=dict)
    """The node that each of them stands at."""
    kinds: tuple[KindTraffic, ...] = ()
    """What each kind comes to, where an open class has several that differ, and they are few."""

    def changed(self, change: Callable[[Formula], Formula]) -> ClassTraffic:
        """Return the same with every formula changed but those of its visits."""
        return replace(
            self,
            latency=[part.changed(change) for part in self.latency],
            losses=[part.changed(change) for part in self.losses],
            queues=[replace(part, value=change(part.value)) for part in self.queues],
            passes={name: change(share) for name, share in self.passes.items()},
            rate=change(self.rate),
            throughput=change(self.throughput),
            kinds=tuple(kind.changed(change) for kind in self.kinds),
        )

    def visits_changed(self, change: Callable[[Formula], Formula]) -> ClassTraffic:
        """Return the same with every formula of its visits changed."""
        return replace(
            self,
            visits={at: one.changed(change) for at, one in self.visits.items()},
            kinds=tuple(kind.visits_changed(change) for kind in self.kinds),
        )

    def of_kind(self, kind: KindTraffic) -> ClassTraffic:
        """Return what one of its kinds comes to; what it waits for besides is that of all."""
        visits = {at: kind.visits.get(at, one) for at, one in self.visits.items()}
        return replace(self, latency=kind.latency, visits=visits, kinds=())


class NetworkTraffic(Struct, frozen=True, kw_only=True):
    """What all classes demand of each station and pool, and what each class comes to.

    What finds no room is a symbol, by its station: `losing`. Of fitted costs, `counted` is what is
    demanded of a station by a component, of each item, in a second.
    """

    stations: dict[str, StationTraffic] = field(default_factory=dict)
    classes: dict[str, ClassTraffic] = field(default_factory=dict)
    losing: dict[str, Formula] = field(default_factory=dict)
    counted: dict[tuple[str, str], dict[str, Formula]] = field(default_factory=dict)

    @property
    def closed(self) -> list[ClassTraffic]:
        """All classes of users who wait for their answers."""
        return [one for one in self.classes.values() if one.closed is not None]

    def with_visits(self, visits: Mapping[str, Mapping[int, QueueVisit]]) -> NetworkTraffic:
        """Return the traffic with other visits of some classes, by the stages that wait."""

        def waiting(one: ClassTraffic) -> ClassTraffic:
            return replace(one, visits={**one.visits, **visits.get(one.name, {})})

        return self.of_each(waiting) if visits else self

    def of_each(self, change: Callable[[ClassTraffic], ClassTraffic]) -> NetworkTraffic:
        """Return the traffic with all that classes come to changed."""
        return replace(self, classes={name: change(one) for name, one in self.classes.items()})
