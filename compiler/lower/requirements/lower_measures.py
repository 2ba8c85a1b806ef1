"""What can be measured in a lowered model: loads, shares, what users see, what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.ir.parts import parts_of, subjects
from qps.compiler.lower.closed_networks.closed_network_solution import ClosedStream
from qps.compiler.lower.expressions.label_propagation import certainty_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering, MeasureOf
from qps.compiler.lower.label_doubts import NO_GATE, Gate
from qps.compiler.lower.labels.walked_network import Numbers
from qps.compiler.lower.load_graph import LoadGraph, Price
from qps.compiler.lower.queues.queue_certainty import loss_certainty
from qps.compiler.lower.requirements.serial_losses import (
    InSeries,
    in_series_anywhere,
    late_known,
    loss_known,
)
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.response_time.class_response import (
    JitterPart,
    LossKind,
    LossPart,
    StreamMeasures,
)
from qps.compiler.lower.response_time.response_stages import LatencyPart, TimeSpent, wait_for
from qps.compiler.lower.response_time.stage_sequence import in_line
from qps.compiler.lower.traffic.station_queues import PlacedQueue, stages_of
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic
from qps.compiler.lower.unmodeled_waits import UnmodeledQueue, endless
from qps.compiler.quantities.certainty import EXACT, Certainty, of_another, together
from qps.compiler.quantities.dimension import MONEY
from qps.engine.expressions.formulas import ONE, ZERO, Formula, maximum, product, total

TOO_LATE = "too late for the buffer"
"""The stage at which a playout buffer drops."""
_LOSS_KINDS = {
    ir.MeasureKind.VOLUNTARY_LOSS: LossKind.VOLUNTARY,
    ir.MeasureKind.SATURATION_LOSS: LossKind.SATURATION,
    ir.MeasureKind.TRANSMISSION_LOSS: LossKind.TRANSMISSION,
}


class Measures(Struct, frozen=True, kw_only=True):
    """The loads, the streams, and the prices of a lowered model.

    Streams that are `absent` have no measures: their conditions do not hold.
    """

    resources: Mapping[str, ResourceLoad]
    streams: Mapping[str, StreamMeasures]
    prices: tuple[Price, ...]
    series: InSeries = field(default_factory=dict)
    """Where streams are taken to pass several resources that are loaded beyond 1."""
    absent: frozenset[str] = frozenset()
    gate: Gate = NO_GATE
    """Why labels of streams are lowered."""

    @classmethod
    def of_graph(cls, graph: LoadGraph, series: InSeries | None = None) -> Measures:
        """Return the measures of a lowered model."""
        return cls(
            resources=graph.resources,
            streams=graph.streams,
            prices=graph.stated.prices,
            series=series or {},
            absent=graph.stated.absent,
        )

    @property
    def in_series(self) -> Measures:
        """The same where every resource is overloaded: what follows another one loses less."""
        return replace(self, series=in_series_anywhere(self.streams))

    @property
    def of_what_is_served(self) -> Measures:
        """The same, without the endless waits of what an overloaded resource cannot serve.

        By these a requirement is judged, and quality: that a resource is overloaded is judged by
        its load, which says why. These themselves where there are no such waits.
        """
        if not any(stream.endless for stream in self.streams.values()):
            return self
        streams = {n: replace(s, endless=()) for n, s in self.streams.items()}
        return replace(self, streams=streams)

    def of(self, measured: ir.Measured | ir.Changed) -> Formula:
        """Return the expression of a measure; QpsError where there is none."""
        assert isinstance(measured, ir.Measured)
        kind = measured.kind
        if measured.subject in self.absent:
            raise not_there(measured.subject)
        if kind is ir.MeasureKind.LOAD:
            loads = [resource.load for resource in self._loads_of(measured.subject)]
            return maximum(*loads) if loads else ZERO
        if kind is ir.MeasureKind.SHARE:
            return self._share(measured)
        if kind is ir.MeasureKind.THROUGHPUT and measured.subject not in self.streams:
            return self._throughput(measured.subject)
        if kind in (ir.MeasureKind.COST, ir.MeasureKind.RUNNING_COST):
            return self._cost(is_running=kind is ir.MeasureKind.RUNNING_COST)
        if kind is ir.MeasureKind.QUANTILE:
            assert measured.level is not None
            return self.streams[measured.subject].latency_quantile(measured.level)
        if kind is ir.MeasureKind.LATENCY and measured.component is not None:
            return self._of_calls(measured.subject, measured.component)
        return _of_stream(self.streams[measured.subject], kind)

    def known(self, measured: ir.Measured | ir.Changed) -> Certainty:
        """Return how a measure is known. Prices follow from the model, and most loads do."""
        assert isinstance(measured, ir.Measured)
        if measured.subject in self.absent:
            raise not_there(measured.subject)
        if measured.kind is ir.MeasureKind.LATENCY:
            stream = self.streams[measured.subject]
            known = stream.latency_certainty
            if measured.component is not None:
                known = stream.calls_certainty(measured.component)
            return together(known, late_known(stream, self.series))
        if measured.kind is ir.MeasureKind.QUANTILE:
            assert measured.level is not None
            stream, level = self.streams[measured.subject], measured.level
            known = stream.quantile_certainty(level)
            return together(known, late_known(stream, self.series))
        if measured.kind is ir.MeasureKind.JITTER:
            return self.streams[measured.subject].jitter_certainty
        if measured.kind is ir.MeasureKind.BUFFER:
            return self.streams[measured.subject].buffer_certainty
        if measured.kind is ir.MeasureKind.QUEUE:
            return self.streams[measured.subject].met_known
        if measured.kind is ir.MeasureKind.LOAD:
            return together(*(resource.known for resource in self._loads_of(measured.subject)))
        if measured.subject not in self.streams:
            return together(*(resource.known for resource in self._loads_of(measured.subject)))
        return loss_known(measured.kind, self.streams[measured.subject], self.series)

    def unsaid(self, quantity: ir.Quantity) -> tuple[UnmodeledQueue, ...]:
        """Return the resources on which a value rests, with no word on how they are waited for."""
        asked = [part for part in parts_of(quantity.expr) if isinstance(part, ir.Measured)]
        found = [
            one
            for part in asked
            if part.subject in self.streams
            for one in _unsaid(self.streams[part.subject], part)
        ]
        return tuple(dict.fromkeys(found))

    def _of_calls(self, stream: str, node: str) -> Formula:
        """Return the mean time of a call of a node; QpsError where none is made as things are."""
        found = self.streams[stream].latency_of_calls(node)
        if found is not None:
            return found
        raise QpsError.single(
            codes.NO_ANSWER,
            None,
            f"`{stream}` does not call `{node}` here: the condition of the call is false",
            hint="set the option that enables it",
        )

    def _loads_of(self, name: str) -> list[ResourceLoad]:
        if name in self.resources:
            return [self.resources[name]]
        return [load for key, load in self.resources.items() if key.startswith(name + ".")]

    def _throughput(self, name: str) -> Formula:
        """Return the bit/s that a link or a network card carries; the highest, where several do."""
        resources = self._loads_of(name)
        carried = [r.throughput for r in resources if r.throughput is not None]
        if carried:
            return maximum(*carried)
        if not resources:
            return ZERO
        raise QpsError.single(
            codes.NO_ANSWER,
            None,
            f"`{name}` has no throughput in bit/s",
            hint="name a link, or a resource with a capacity such as `10 Gbit/s`",
        )

    def _share(self, measured: ir.Measured) -> Formula:
        resources = self._loads_of(measured.subject)
        parts = [r.parts.get(measured.component or "", ZERO) for r in resources]
        loads = [r.load for r in resources]
        return total(parts) / total(loads) if loads else ZERO

    def _cost(self, *, is_running: bool) -> Formula:
        found = [price.value for price in self.prices if price.is_running is is_running]
        if found:
            return total(found)
        what, example = ("running cost", "$/hour") if is_running else ("cost", "$")
        raise QpsError.single(
            codes.NO_ANSWER,
            None,
            f"{what} is unknown: no machine or network in use has a price for it",
            hint=f"add a price to a machine or network: `price 100 {example}`",
        )


def _unsaid(stream: StreamMeasures, measured: ir.Measured) -> list[UnmodeledQueue]:
    """Return of which resources nothing says how they are waited for, where a measure asks it.

    A latency and its quantiles do, of a call in what that passes. Jitter does where no law says how
    much a resource varies.
    """
    node = measured.component
    if measured.kind is ir.MeasureKind.JITTER:
        laws = [part.resource for part in stream.jitter]
        return [
            one
            for one in stream.unsaid
            if not any(f"{one.resource}.".startswith(f"{law}.") for law in laws)
        ]
    if measured.kind not in (ir.MeasureKind.LATENCY, ir.MeasureKind.QUANTILE):
        return []
    return [one for one in stream.unsaid if node is None or stream.is_in_calls(one.resource, node)]


def _of_stream(stream: StreamMeasures, kind: ir.MeasureKind) -> Formula:
    if kind in _LOSS_KINDS:
        return stream.lost_by(_LOSS_KINDS[kind])
    match kind:
        case ir.MeasureKind.LATENCY:
            return stream.mean_latency
        case ir.MeasureKind.JITTER:
            return total(part.value for part in stream.jitter)
        case ir.MeasureKind.BUFFER:
            return stream.buffer
        case ir.MeasureKind.QUEUE:
            return stream.queue
        case ir.MeasureKind.LOSS:
            return stream.loss
        case ir.MeasureKind.RATE:
            return stream.rate
        case ir.MeasureKind.THROUGHPUT:
            return stream.throughput
        case _:
            raise AssertionError(kind)


def stream_measures(
    stream: ir.Stream,
    result: ClassTraffic,
    measures: Measures,
    expressions: ExpressionLowering,
    queues: Mapping[str, PlacedQueue],
    closed: ClosedStream | None = None,
) -> StreamMeasures:
    """Return what the users of a stream see.

    Variances of independent resources add up (Claypool 1997, table 5.4); beyond saturation a
    resource serves 1/load of what is asked of it, and independent stages of loss multiply
    (section 5.6.4, "Predicting Data Loss"). The playout buffer comes last: it knows the jitter.
    """
    jitter = tuple(
        JitterPart(
            name,
            result.passes[name] * _jitter(name, law, measures, expressions, result.rates),
            law.span,
            certainty_of(law.expr, expressions, partial(_own_known, measures.resources[name])),
        )
        for name, law in result.jitter.items()
    )
    losses = [
        *(_with_known(part, queues, measures.gate) for part in result.losses),
        *(
            LossPart(
                stage=f"{name} saturated",
                kind=LossKind.SATURATION,
                value=share * _lost(name, result, measures, queues),
                span=measures.resources[name].span,
                resource=name,
                known=_beyond_known(measures.resources[name], expressions),
            )
            for name, share in result.passes.items()
            if closed is None  # who waits for an answer asks for no more than is served
            and not (name in queues and queues[name].queue.traits.loses)
        ),
    ]
    latency = [*stages_of(result, queues), *(() if closed is None else _held_back(closed))]
    buffer: Formula = ZERO
    playout = stream.playout
    if playout is not None:
        known = _BeforePlayout(
            measures,
            total(part.value for part in jitter),
            total(part.value for part in result.queues),
            buffer,
        )
        buffer = expressions.symbol(f"{stream.name}.playout", playout.delay, measure=known.of)
        latency.append(LatencyPart(stage="playout buffer", value=buffer, spent=TimeSpent.WAIT))
        if playout.dropping is not None:
            known = replace(known, buffer=buffer)
            late = expressions.symbol(f"{stream.name}.dropping", playout.dropping, measure=known.of)
            losses.append(
                LossPart(
                    stage=TOO_LATE, kind=LossKind.VOLUNTARY, value=late, span=playout.dropping.span
                )
            )
    arriving = product(
        1 - part.value
        for part in losses[len(result.losses) :]  # the walk has thinned the flow by the others
    )
    measured = StreamMeasures(
        name=result.name,
        latency=in_line(latency),
        jitter=jitter,
        buffer=buffer,
        losses=tuple(losses),
        rate=result.rate * arriving,
        throughput=result.throughput * arriving,
        playout=None if playout is None else playout.delay.span,
        queues=tuple(result.queues),
        item=stream.emission.primary or "bit",
        rests_on=(
            *result.passes,
            *(() if playout is None else subjects(playout.delay, playout.dropping)),
        ),
        uncounted=tuple(result.uncounted),
        unsaid=tuple(result.unsaid.values()),
        endless=_endless(result, measures, expressions.configuration.case)
        if closed is None
        else (),
        cycle_certainty=EXACT if closed is None else closed.known,
        rate_known=result.rate_known,
        doubts=measures.gate.of(result.name),
        met_known=together(
            result.known, *(measures.resources[n].open_known for n in result.unbounded)
        ),
    )
    return (
        measured
        if playout is None
        else _with_playout_known(measured, playout, expressions, measures)
    )


def _lost(
    name: str, result: ClassTraffic, measures: Measures, queues: Mapping[str, PlacedQueue]
) -> Formula:
    """Return which share of a stream is beyond what a resource can do."""
    own = next((visit for visit in result.visits.values() if visit.resource == name), None)
    if own is None or name not in queues or not queues[name].queue.traits.has_ranks:
        return 1 - 1 / maximum(1, measures.resources[name].load)
    return queues[name].lost(own)


def _beyond_known(resource: ResourceLoad, expressions: ExpressionLowering) -> Certainty:
    """Return how it is known which share is beyond what a resource can do.

    It is nothing where the load is surely below 1, however large its error; else as the load is.
    """
    load, known = resource.asked_at(ONE)
    most = 1 / (1 + Fraction(known.error or 0))
    if known.is_exact or Numbers(expressions).is_surely_below(load, most):
        return EXACT
    return of_another(known)


def _with_known(part: LossPart, queues: Mapping[str, PlacedQueue], gate: Gate) -> LossPart:
    """Return a loss with how it is known: what finds no room is lost as the queue there says."""
    if part.at is None or part.at not in queues:
        return part
    known = loss_certainty(queues[part.at].queue)
    return replace(part, known=gate.checks.known(known))


def _with_playout_known(
    stream: StreamMeasures,
    playout: ir.Playout,
    expressions: ExpressionLowering,
    measures: Measures,
) -> StreamMeasures:
    """Return a stream with how its playout buffer is known: by the jitter that it rests on."""

    def known(measured: ir.Measured | ir.Changed) -> Certainty:
        assert isinstance(measured, ir.Measured)
        if measured.kind is ir.MeasureKind.JITTER:
            return stream.jitter_certainty
        if measured.kind is ir.MeasureKind.QUEUE:
            return stream.met_known
        return buffer if measured.kind is ir.MeasureKind.BUFFER else measures.known(measured)

    buffer = EXACT
    buffer = certainty_of(playout.delay.expr, expressions, known)
    late = EXACT
    if playout.dropping is not None:
        late = certainty_of(playout.dropping.expr, expressions, known)
    return replace(stream, buffer_certainty=buffer, late_certainty=late)


def _endless(result: ClassTraffic, measures: Measures, case: ir.Case) -> tuple[LatencyPart, ...]:
    """Return what is infinite where a stream passes an overloaded resource that has no queue.

    The least and the largest values are those of single items: a load made of them does not last.
    """
    if case is not ir.Case.AVERAGE:
        return ()
    return tuple(
        wait_for(name, endless(measures.resources[name].load)) for name in result.unbounded
    )


def _held_back(closed: ClosedStream) -> tuple[LatencyPart, ...]:
    """Return what who waits for an answer is held back by: what has no queue and is full."""
    return tuple(wait_for(name, value) for name, value in closed.held_back.items())


def not_there(stream: str) -> QpsError:
    """Return that a stream is asked for which is not there."""
    return QpsError.single(
        codes.NO_ANSWER,
        None,
        f"stream `{stream}` does not exist here: its condition is false",
        hint="set the option that enables it, or add the same condition",
    )


class _BeforePlayout(Struct, frozen=True):
    """What a playout buffer may rest on: loads, and the jitter and queues of its own stream."""

    measures: Measures
    jitter: Formula
    queue: Formula
    buffer: Formula

    def of(self, measured: ir.Measured | ir.Changed) -> Formula:
        assert isinstance(measured, ir.Measured)
        if measured.kind is ir.MeasureKind.JITTER:
            return self.jitter
        if measured.kind is ir.MeasureKind.QUEUE:
            return self.queue
        if measured.kind is ir.MeasureKind.BUFFER:
            return self.buffer
        return self.measures.of(measured)


def _jitter(
    name: str,
    law: ir.Quantity,
    measures: Measures,
    expressions: ExpressionLowering,
    rates: Mapping[str, Formula],
) -> Formula:
    def own(measured: ir.Measured | ir.Changed) -> Formula:
        assert isinstance(measured, ir.Measured)
        assert measured.subject == ir.OWN
        return rates[name] if _is_stated(measured) else measures.resources[name].load

    of: MeasureOf = own
    return expressions.symbol(f"{name}.jitter", law, measure=of)


def _own_known(resource: ResourceLoad, measured: ir.Measured | ir.Changed) -> Certainty:
    return EXACT if _is_stated(measured) else resource.known


def _is_stated(measured: ir.Measured | ir.Changed) -> bool:
    """Return whether what a jitter law names is the rate that is stated, not the load."""
    return isinstance(measured, ir.Measured) and measured.kind is ir.MeasureKind.RATE


def priced(
    model: ir.Model, configuration: Configuration, expressions: ExpressionLowering
) -> tuple[tuple[Price, ...], tuple[str, ...]]:
    """Return what each place costs, and the places whose machine or network has no price."""
    prices: list[Price] = []
    unpriced: list[str] = []
    places = [(node.name, ir.machine_at(model, node)) for node in configuration.nodes.values()]
    networks = [(link.name, ir.network_at(model, link)) for link in configuration.links.values()]
    for name, kind in (*places, *networks):
        count = expressions.count(name)
        if count is ZERO:
            continue
        if kind is None or kind.price is None:
            unpriced.append(name)
            continue
        price = expressions.symbol(f"{name}.price", kind.price, kind.origin(kind.price))
        is_running = kind.price.dimension != MONEY
        prices.append(Price(name, count * price, is_running))
    return tuple(prices), tuple(unpriced)
