"""Visit ratios: how often the items of each class come to each station, and what load that makes.

Flow balance alone decides them, whatever the disciplines are (Denning and Buzen 1978): flows are
followed along the itinerary of their class, through calls, losses and copies. What finds no room at
a station is a symbol, `x loses`, and so is the rate of a closed class.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.lower.stream_measures import LossKind
from qps.compiler.lower.tidy import tidy_extremes
from qps.compiler.lower.walk.lower_transport import restoring
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import (
    At,
    Call,
    Cross,
    Fork,
    Lose,
    Merge,
    Node,
    Resize,
    Restore,
    Send,
    Sequence,
    Serve,
    Thin,
)
from qps.compiler.network.network import Network
from qps.engine.formulas import ONE, Formula, minimum, product, symbol, total
from qps.engine.operations import SUM

_BYTE_BITS = 8


class StationVisit(Struct, frozen=True, kw_only=True):
    """What the items of a class ask of one copy of a station, `by` a component, or by the class.

    So many `flows` come to it, with a `rate` of items a second in all, or of bits where the class
    has no items; that makes a `load` of the copy, what flows take for good included.
    """

    of: str
    station: str
    by: str
    flows: Formula
    rate: Formula
    load: Formula


def station_visits(network: Network) -> Iterator[StationVisit]:
    """Yield the visits of all classes in order, with kinds and elastic parameters as symbols."""
    for one in network.classes.values():
        yield from _Flows(network=network, of=one).visits()


def station_loads(network: Network) -> dict[str, dict[str, list[Formula]]]:
    """Return the loads of each station and pool by what causes them, that of idling among them."""
    found: dict[str, dict[str, list[Formula]]] = {}
    for visit in station_visits(network):
        found.setdefault(visit.station, {}).setdefault(visit.by, []).append(visit.load)
    for name, station in network.stations.items():
        loads = found.setdefault(name, {})
        of_visits = frozenset(loads)
        for by, load in station.background:
            if by not in of_visits:
                loads.setdefault(by, []).append(load)
    return found


class _Loss(Struct, frozen=True):
    kind: str
    share: Formula


class _Flow(Struct, frozen=True, kw_only=True):
    """The flows at a point: `total` of them, each of so many items a second, or bits.

    The last sender puts `copies` of them on the network.
    """

    total: Formula
    rate: Formula
    copies: Formula

    def thinned(self, share: Formula) -> _Flow:
        """Return the flows with their rate multiplied."""
        return replace(self, rate=self.rate * share)


class _Stay(Struct, kw_only=True):
    """What is at a node: `held` flows at each of its `copies`."""

    held: Formula
    copies: Formula
    sent: Send | None = None
    pools: Formula = ONE
    """How many merged flows each machine makes."""


class _Flows(Struct, kw_only=True):
    """Follows the flows of one class."""

    network: Network
    of: Class
    flow: _Flow = field(default_factory=lambda: _Flow(total=ONE, rate=ONE, copies=ONE))
    stay: _Stay | None = None
    losses: list[_Loss] = field(default_factory=list)
    full: dict[str, Formula] = field(default_factory=dict)
    """What finds no room at stations that come next."""

    def visits(self) -> Iterator[StationVisit]:
        """Yield what each visit adds to the load of its station."""
        flows = self.of.flows
        self.flow = _Flow(total=flows, rate=self.of.arrivals.rate, copies=flows)
        yield from self._through(self.of.itinerary)
        self._leave()

    def _through(self, body: Sequence) -> Iterator[StationVisit]:
        for node in body.nodes:
            match node:
                case At(copies=copies):
                    self._leave()
                    self.stay = _Stay(held=self.flow.total / copies, copies=copies)
                case Serve():
                    yield from self._served(node)
                case Cross():
                    self._leave()
                    yield from self._crossed(node)
                case Call() | Fork():
                    self._leave()
                    yield from self._called(node)
                case Merge(body=inner):
                    yield from self._through(inner)
                    self._merge(node)
                case _:
                    self._change(node)

    def _leave(self) -> None:
        """Let the flows leave the node at which they are."""
        self._lose_full()
        if self.stay is None:
            return
        stay, self.stay = self.stay, None
        leaving = stay.held * stay.copies
        copies, receivers = (
            (ONE, ONE) if stay.sent is None else (stay.sent.copies, stay.sent.receivers)
        )
        self.flow = replace(self.flow, total=leaving * receivers, copies=leaving * copies)

    # -- changes -------------------------------------------------------------------------

    def _change(self, node: Node) -> None:
        """Change how many items there are."""
        match node:
            case Lose(chance=None, station=str(station)):
                self.full[station] = symbol(f"{station} loses")
            case Lose(kind=kind, chance=chance) if chance is not None:
                self._lose(kind, chance)
            case Restore(chance=chance):
                self._restore(chance)
            case Thin(share=share, bursty=True) if self.stay is not None:
                self.stay.held = self.stay.held * share
            case Thin(share=share):
                self.flow = self.flow.thinned(share)
            case Send() if self.stay is not None:
                self.stay.sent = node
            case Resize(bits=None, share=share) if self.of.items.primary is None:
                self.flow = self.flow.thinned(share)
            case _:
                pass

    def _lose(self, kind: str, share: Formula) -> None:
        self.losses.append(_Loss(kind, share))
        self.flow = self.flow.thinned(1 - share)

    def _lose_full(self, *stations: str) -> None:
        """Lose what finds no room, at some stations or wherever it is still to be lost."""
        for name in stations or tuple(self.full):
            if name in self.full:
                self._lose(LossKind.BLOCKED.value, self.full.pop(name))

    def _restore(self, chance: Formula) -> None:
        """Restore a share of what transmission has lost so far."""
        kind = LossKind.TRANSMISSION.value
        lost = (one.share for one in self.losses if one.kind == kind)
        self._lose(kind, restoring(lost, chance))

    def _merge(self, node: Merge) -> None:
        stay = self.stay
        assert stay is not None
        stay.pools = stay.held / node.flows
        least = minimum(node.flows, 1)
        stay.held = tidy_extremes(least, self.network.population, self.network.low) * stay.pools

    # -- visits --------------------------------------------------------------------------

    def _served(self, node: Serve) -> Iterator[StationVisit]:
        self._lose_full()
        assert self.stay is not None
        held = self.stay.held
        # A step that merges is done for each flow but one.
        often = (held if node.times.merged is ONE else self.stay.pools) * node.times.mean
        if self.network.is_store(node.station):
            capacity = self.network.capacity_of(node.station)
            assert capacity is not None
            yield self._visit(node.station, node.by, held, often * node.per_flow / capacity)
            return
        station = self.network.stations[node.station]
        terms = node.work.operands if node.work.word == SUM else (node.work,)
        work = total([*map(self._each_second, terms), node.per_flow / node.pace])
        busy = often * work * node.pace
        load = busy / station.servers / station.fastest
        yield self._visit(node.station, node.by, held, load)
        if node.thread is not None:
            yield self._visit(node.thread, node.by, held, busy)

    def _crossed(self, node: Cross) -> Iterator[StationVisit]:
        name = self.of.name
        for index, port in enumerate(node.ports):
            self._lose_full(port.station)
            station = self.network.stations[port.station]
            is_arriving = index > 0 and node.every_copy
            flows = (self.flow.total if is_arriving else self.flow.copies) / station.place.copies
            bits = total(map(self._each_second, (port.payload, port.header)))
            load = station.time_for(flows * bits) / station.fastest
            yield self._visit(port.station, name, flows, load)
            if port.cap is not None:
                cap, items = port.cap
                load = self.network.stations[cap].time_for(flows * self._each_second(items))
                yield self._visit(cap, name, flows, load)

    def _each_second(self, amount: Formula) -> Formula:
        """Return what comes with one item, or byte, as each flow has it a second."""
        is_bare = self.of.items.primary is None
        return amount * (self.flow.rate / _BYTE_BITS if is_bare else self.flow.rate)

    def _visit(self, station: str, by: str, flows: Formula, load: Formula) -> StationVisit:
        return StationVisit(
            of=self.of.name,
            station=station,
            by=by,
            flows=flows,
            rate=flows * self.flow.rate,
            load=load,
        )

    # -- calls ---------------------------------------------------------------------------

    def _called(self, node: Call | Fork) -> Iterator[StationVisit]:
        """Follow calls: each begins with what comes, and what all leave of it goes on."""
        calls = [node] if isinstance(node, Call) else _calls_of(node)
        before, left = self.flow, ONE
        for call in calls:
            begun, share = len(self.losses), ONE if call.times is None else call.times.often
            self.flow = before if call.times is None else before.thinned(share)
            yield from self._through(call.body)
            self._leave()
            left = left * self._left(begun, None if call.times is None else share)
        self.flow = before if left is ONE else before.thinned(left)

    def _left(self, begun: int, share: Formula | None) -> Formula:
        """Return what is left of the items; of a share of which a call was made, of all."""
        if share is None or len(self.losses) == begun:
            return product(1 - one.share for one in self.losses[begun:])
        inside: Formula = ONE
        left: Formula = ONE
        for index in range(begun, len(self.losses)):
            one = self.losses[index]
            lost = share * inside * one.share
            self.losses[index] = _Loss(one.kind, lost / left)
            inside, left = inside * (1 - one.share), left - lost
        return left


def _calls_of(fork: Fork) -> list[Call]:
    nodes = (node for branch in fork.branches for node in branch.nodes)
    return [node for node in nodes if isinstance(node, Call)]
