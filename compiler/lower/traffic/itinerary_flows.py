"""The traffic of a class: its flows, followed along the itinerary.

Flow balance alone decides how often they come to each station, whatever the disciplines are
(Denning and Buzen 1978): through calls, losses and copies. What finds no room at a station is a
symbol, `x loses`, and so is the rate of a closed class.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.expressions.simplified_extremes import simplify_extremes
from qps.compiler.lower.queues.on_off_sources import Burst
from qps.compiler.lower.queues.visits import QueuePlace, QueueVisit
from qps.compiler.lower.response_time.response_parts import LossKind, QueuePart
from qps.compiler.lower.response_time.response_stages import FanOutStage, LatencyPart
from qps.compiler.lower.traffic.alike_calls import as_batch, calls_of
from qps.compiler.lower.traffic.build_network import SpecNetwork
from qps.compiler.lower.traffic.class_holds import ClassHolds
from qps.compiler.lower.traffic.class_visits import ClassVisits
from qps.compiler.lower.traffic.flow_state import FlowState
from qps.compiler.lower.traffic.station_flows import StationFlows
from qps.compiler.lower.traffic.traffic_in_calls import CallTraffic
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, NetworkTraffic, closed_source
from qps.compiler.lower.traffic.transport_recovery import recovery
from qps.compiler.lower.walk.build_classes import StreamClass
from qps.compiler.network.alternative_visits import calls_in
from qps.compiler.network.itinerary import (
    At,
    Call,
    Cross,
    Delay,
    Fork,
    Give,
    Lose,
    Merge,
    Node,
    QueueLimit,
    Resize,
    Restore,
    Send,
    Sequence,
    Serve,
    Take,
    Thin,
)
from qps.engine.expressions.formulas import ONE, ZERO, Formula, maximum, minimum


class _Stay(Struct, kw_only=True):
    """What is at a node: so many `flows` at each of its `copies`.

    Its part of the latency `begins` with a stage. A step that merges flows is `merging` until its
    work is done.
    """

    flows: Formula
    copies: Formula
    begins: int
    sent: Send | None = None
    merging: Merge | None = None


class ItineraryFlows:
    """Follows the flows of one class."""

    def __init__(
        self,
        spec: SpecNetwork,
        stream_class: StreamClass,
        expressions: ExpressionLowering,
        traffic: NetworkTraffic,
    ) -> None:
        self._network = spec.network
        self._of = of = stream_class.of
        self._traffic = traffic
        self._expressions = expressions
        rate = of.arrivals.rate
        self._result = ClassTraffic(
            name=of.name, stream=of.stream, closed=closed_source(of), sent=of.flows * rate
        )
        self._state = FlowState(
            result=self._result,
            is_bare=of.items.primary is None,
            total=of.flows,
            rate=rate,
            copies=of.flows,
        )
        made = {one.number: stream_class.calls[one.number] for one in calls_in(of.itinerary)}
        self._calls = CallTraffic(self._state, of.stream, made, self._expressions)
        self._visits = ClassVisits(
            spec,
            of,
            stream=stream_class.stream,
            state=self._state,
            expressions=expressions,
            demands=traffic.stations,
        )
        self._stations = StationFlows(
            network=spec.network, of=of, state=self._state, visits=self._visits, traffic=traffic
        )
        self._stay: _Stay | None = None
        self._bits = of.items.bits
        self._holds = ClassHolds(spec.network.pools, self._state, self._visits, traffic.stations)
        self._cores: dict[int, Formula] = {}  # those that share a part of the latency
        self._choice: tuple[int, FlowState] | None = None
        """The alternatives of which one was followed last, and the flows before all of them."""

    def result(self) -> ClassTraffic:
        """Follow the whole itinerary, and return what it came to."""
        self._through(self._of.itinerary)
        self._leave()
        self._visits.end()
        result, state = self._result, self._state
        result.rate = state.rate
        result.arriving = state.total * state.rate
        bits = ONE if state.is_bare else self._bits
        result.throughput = ZERO if bits is None else state.rate * bits
        return result

    def _through(self, body: Sequence) -> None:
        for node in body.nodes:
            self._visits.come_to(node)
            self._end_merge(node)
            match node:
                case At():
                    self._arrive(node)
                case Serve():
                    self._serve(node)
                case Delay():
                    self._delay(node)
                case Cross():
                    self._leave()
                    if node.ports:
                        self._stations.cross(node)
                case Call() | Fork():
                    self._leave()
                    self._call(node)
                case Take():
                    self._leave()
                    self._holds.take(node, self._calls.depth)
                case Give():
                    self._holds.give(node)
                case Merge():
                    self._merge(node)
                case _:
                    self._change(node)

    def _arrive(self, node: At) -> None:
        """Come to the copies of a node."""
        self._leave()
        self._visits.place = QueuePlace(node.node, node.copies)
        held, begins = self._state.total / node.copies, len(self._result.latency)
        self._stay = _Stay(flows=held, copies=node.copies, begins=begins)

    def _leave(self) -> None:
        """Let the flows leave the node at which they are."""
        self._stations.lose_full()
        self._end_merge(None)
        if self._stay is None:
            return
        stay, now, self._stay = self._stay, self._state, None
        copies, receivers = ONE, ONE
        if stay.sent is not None:
            copies, receivers = stay.sent.copies, stay.sent.receivers
        leaving = stay.flows * stay.copies
        now.total, now.copies = leaving * receivers, leaving * copies
        now.batch = self._extreme(maximum, 1, copies)
        now.meets = now.meets or now.spreads
        now.spreads = now.spreads or receivers is not ONE

    def _extreme(self, function: Callable[..., Formula], *arguments: Formula | int) -> Formula:
        """Return a maximum or minimum, decided where the population's range decides it."""
        return simplify_extremes(function(*arguments), self._network.population, self._network.low)

    # -- changes -------------------------------------------------------------------------

    def _change(self, node: Node) -> None:
        """Change how many items there are."""
        now = self._state
        match node:
            case Lose(chance=None, station=str(station)):
                self._stations.full[station] = node
            case Lose(why=why, kind=kind, chance=chance) if chance is not None:
                now.lose(why, LossKind(kind), chance, node.span)
            case Restore(why=why, chance=chance):
                part = recovery(why, self._result.losses, chance, node.span)
                self._result.losses.append(part)
                now.rate = now.rate * (1 - part.value)
            case QueueLimit():
                self._result.queues.append(self._full_queue(node))
            case Thin(share=share, bursty=True) if self._stay is not None:
                self._stay.flows = self._stay.flows * share
                lasting = None if now.is_bursty else node.on_for
                now.burst = None if lasting is None else Burst(share, lasting)
                now.is_bursty = True
            case Thin(share=share):
                now.rate = now.rate * share
            case Send() if self._stay is not None:
                self._stay.sent = node
            case Resize() if now.is_bare:
                now.rate = now.rate * node.share
            case Resize(bits=bits, share=share) if self._calls.depth == 0:
                self._bits = bits if bits is not None else self._bits and self._bits * share
            case _:
                pass

    def _full_queue(self, node: QueueLimit) -> QueuePart:
        """Return what a queue holds when it is full: the time in which so much comes, in seconds.

        A queue of n items that come at a rate r delays an item by n/r at most, and is filled by an
        interruption of n/r behind it (Jeffay, Stone and Smith 1994, section 4.2).
        """
        rate = self._state.each_second(node.per_item)
        if self._expressions.put_in(rate) is ZERO:
            raise QpsError.single(
                codes.NO_ANSWER,
                node.span,
                f"no traffic of `{self._of.stream}` reaches the queue of {node.why}",
                hint="remove it, or reduce the loss before it",
            )
        return QueuePart(node.why, node.length / rate, node.span)

    def _merge(self, node: Merge) -> None:
        """Merge flows when the last of them is there; the work of merging them comes then.

        Until then the machine has done the steps before for all of them, on all cores that these
        may use.
        """
        stay, latency = self._stay, self._result.latency
        assert stay is not None
        stay.flows = self._expressions.with_counts(stay.flows)
        self._through(node.body)
        self._end_merge(None)
        for index in range(stay.begins, len(latency)):
            part = latency[index]
            if part.is_work:
                times = self._extreme(maximum, 1, node.flows / self._cores[index])
                latency[index] = replace(part, value=part.value * times)
        stay.merging = node

    def _end_merge(self, node: Node | None) -> None:
        """End the step that merges flows, but where a node is still its own work."""
        stay = self._stay
        if stay is None or stay.merging is None:
            return
        by, flows = stay.merging.by, stay.merging.flows
        match node:
            case Serve(by=same) if same == by:
                return
            case Lose(chance=None):
                return
        stay.flows = self._extreme(minimum, flows, 1) * (stay.flows / flows)
        stay.merging = None
        self._state.burst = None  # merged flows are on by another law

    # -- nodes ---------------------------------------------------------------------------

    def _serve(self, node: Serve) -> None:
        self._stations.lose_full()
        stay = self._stay
        assert stay is not None
        # A step that merges is done for each flow but one.
        working = stay.flows if stay.merging is None else stay.flows / stay.merging.flows
        cores = self._stations.serve(node, stay.flows, working)
        if cores is not None:
            self._cores[len(self._result.latency) - 1] = cores

    def _delay(self, node: Delay) -> None:
        value, place = node.time * node.times.mean, node.link or self._visits.place.name
        if place:
            self._state.takes(LatencyPart(stage=node.why, value=value, place=place))
        else:
            self._state.append(LatencyPart(stage=node.why, value=value))

    def _call(self, node: Call | Fork) -> None:
        """Follow calls: each begins with what comes, and what all leave of it goes on."""
        if isinstance(node, Fork) and self._of.population is None:
            node = as_batch(node)
        now, before, left = self._state, replace(self._state), ONE
        waited: tuple[QueueVisit, ...] = ()
        first = self._before_alternatives(node, before)
        since = first.queue_visits
        now.queue_visits = since
        now.go_on_as(first)
        for call in [node] if isinstance(node, Call) else calls_of(node):
            if isinstance(node, Fork):
                now.go_on_as(before)
                now.batch, now.queue_visits, now.joined = before.batch, since, before.joined
                now.is_bursty, now.burst = before.is_bursty, before.burst
            fan_out = self._fan_out(node, call) if isinstance(node, Fork) else None
            often = None if call.times is None else call.times.often
            self._calls.begin(call.number, often, fan_out)
            self._through(call.body)
            self._leave()
            left = left * self._calls.end()
            waited += now.queue_visits[len(since) :]
        now.queue_visits = before.queue_visits + waited
        now.go_on_as(first, left)
        if isinstance(node, Fork) and waited:
            now.joined = waited[-1].resource
        if isinstance(node, Call) and node.choice is not None:
            self._choice = node.choice, first

    def _before_alternatives(self, node: Call | Fork, now: FlowState) -> FlowState:
        """Return the flows before a call: what it excludes has neither delayed nor lost any."""
        choice = node.choice if isinstance(node, Call) else None
        if choice is None or self._choice is None or self._choice[0] != choice:
            return now
        return self._choice[1]

    def _fan_out(self, fork: Fork, call: Call) -> FanOutStage | None:
        """Return how often a call is made at once, and on how many machines; None where once."""
        if fork.count is None:
            return None
        if self._of.population is not None:
            raise QpsError.single(
                codes.CLOSED_STREAM,
                call.span,
                f"users of `{self._of.stream}` cannot wait for a fan-out of calls",
                hint="write traffic as a rate (`traffic 10 request/s`), or write the calls one by "
                "one: `together { call a { … }; call b { … } }`",
            )
        machines = next(
            one.copies for one in call.body.nodes if isinstance(one, At) and one.node == call.node
        )
        left = self._calls.range_of(machines - fork.count)
        is_apart = fork.answers is not None or left.low >= 0
        return FanOutStage(
            count=fork.count,
            answers=fork.answers,
            machines=machines,
            batches=fork.count if is_apart else self._extreme(minimum, fork.count, machines),
            is_apart=is_apart,
            is_each=left.low == left.high == 0,
            most=float(self._calls.range_of(fork.count).high),
            span=call.span,
        )
