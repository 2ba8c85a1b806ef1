"""What the users of all streams see: response times, jitter, losses and rates."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.ir.parts import subjects
from qps.compiler.lower.all_pools import Pools
from qps.compiler.lower.closed_networks.closed_stream_solution import ClosedStream
from qps.compiler.lower.closed_streams.class_averages import put_together
from qps.compiler.lower.closed_streams.elastic_labels import LabeledSolution
from qps.compiler.lower.expressions.label_propagation import certainty_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.labels.labeled_network import NumberFacts
from qps.compiler.lower.load_labels import LoadLabels
from qps.compiler.lower.queues.queue_certainty import loss_certainty
from qps.compiler.lower.requirements.lower_measures import Measures
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.lower.response_time.parallel_stages import in_line
from qps.compiler.lower.response_time.response_parts import JitterPart, LossKind, LossPart
from qps.compiler.lower.response_time.response_stages import LatencyPart, TimeSpent, wait_for
from qps.compiler.lower.traffic.build_network import SpecNetwork
from qps.compiler.lower.traffic.station_queues import PlacedQueue, stages_of
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic
from qps.compiler.lower.unmodeled_waits import endless
from qps.compiler.quantities.certainty import EXACT, Certainty, of_another, together
from qps.engine.expressions.formulas import ONE, ZERO, Formula, maximum, product, total

TOO_LATE = "too late for the buffer"
"""The stage at which a playout buffer drops."""


def response_times(
    spec: SpecNetwork,
    pools: Pools,
    known: LabeledSolution,
    labels: LoadLabels,
    measures: Measures,
    expressions: ExpressionLowering,
) -> dict[str, StreamMeasures]:
    """Return what the users of each stream see, of all their kinds together."""
    found, traffic, closed = dict[str, StreamMeasures](), pools.traffic, known.closed

    def seen(
        stream: ir.Stream, one: ClassTraffic, of: ClosedStream | None = None
    ) -> StreamMeasures:
        return _ClassView(
            stream=stream,
            traffic=one,
            measures=measures,
            expressions=expressions,
            queues=pools.queues,
            closed=of,
        ).seen()

    for stream in (one.stream for one in spec.classes):
        if stream.emission.think is None:
            of_all = seen(stream, traffic.classes[stream.name])
        else:
            users = [one for one in traffic.closed if one.stream == stream.name]
            each = [(closed.streams[one.name], one) for one in users]
            of_all = put_together(
                stream.name,
                [(of, seen(stream, one, of)) for of, one in each],
                known.rates[stream.name],
                measures.gate.of(stream.name),
            )
        found[stream.name] = labels.points.put_on(of_all)
    return found


class _ClassView(Struct, frozen=True, kw_only=True):
    """What the users of a class of a stream see; of `closed` ones, what they come to."""

    stream: ir.Stream
    traffic: ClassTraffic
    measures: Measures
    expressions: ExpressionLowering
    queues: Mapping[str, PlacedQueue]
    closed: ClosedStream | None

    def seen(self) -> StreamMeasures:
        """Return what the users see.

        Variances of independent resources add up (Claypool 1997, table 5.4); beyond saturation a
        resource serves 1/load of what is demanded of it, and independent stages of loss multiply
        (section 5.6.4, "Predicting Data Loss"). The playout buffer comes last: it knows the jitter.
        """
        result, closed, playout = self.traffic, self.closed, self.stream.playout
        jitter = tuple(self._jitter(name, law) for name, law in result.jitter.items())
        late, latency = self._beyond_capacity(), self._stages(result)
        buffer: Formula = ZERO
        if playout is not None:
            buffer, dropped = self._playout(playout, jitter)
            latency.append(LatencyPart(stage="playout buffer", value=buffer, spent=TimeSpent.WAIT))
            late += dropped
        arriving = product(1 - part.value for part in late)  # of what all else has left of the flow
        open_known = (self.measures.resources[name].open_known for name in result.unbounded)
        measured = StreamMeasures(
            name=result.name,
            latency=in_line(latency),
            jitter=jitter,
            buffer=buffer,
            losses=(*(self._with_known(part) for part in result.losses), *late),
            rate=result.rate * arriving,
            throughput=result.throughput * arriving,
            playout=None if playout is None else playout.delay.span,
            queues=tuple(result.queues),
            item=self.stream.emission.primary or "bit",
            rests_on=(
                *result.passes,
                *(() if playout is None else subjects(playout.delay, playout.dropping)),
            ),
            uncounted=tuple(result.uncounted),
            unmodeled_queues=tuple(result.unmodeled_queues.values()),
            endless=self._endless() if closed is None else (),
            cycle_certainty=EXACT if closed is None else closed.known,
            rate_known=result.rate_known,
            doubts=self.measures.gate.of(result.name),
            elastic_known=together(result.known, *open_known),
        )
        if playout is None:
            return self._with_kinds(measured)
        return self._with_playout_known(measured, playout)

    def _stages(self, one: ClassTraffic) -> list[LatencyPart]:
        """Return the stages of a latency; what has no queue and is full holds back who waits."""
        full = {} if self.closed is None else self.closed.blocking_times
        return [
            *stages_of(one, self.queues),
            *(wait_for(name, value) for name, value in full.items()),
        ]

    def _with_kinds(self, measured: StreamMeasures) -> StreamMeasures:
        """Return what the users of a class see with what its kinds do, if all have a law."""
        of_kinds = [self.traffic.of_kind(kind) for kind in self.traffic.kinds]
        kinds = tuple(replace(measured, latency=in_line(self._stages(one))) for one in of_kinds)
        weights = tuple(kind.weight for kind in self.traffic.kinds)
        found = replace(measured, kinds=kinds, weights=weights)
        return measured if found.mixture is None else found

    # -- jitter --------------------------------------------------------------------------

    def _jitter(self, name: str, law: ir.Quantity) -> JitterPart:
        """Return the jitter of a resource: its law may name its stated rate, or its load."""
        resource = self.measures.resources[name]

        def own(measured: ir.Measured | ir.Changed) -> Formula:
            assert isinstance(measured, ir.Measured)
            assert measured.subject == ir.OWN
            return self.traffic.rates[name] if _is_stated(measured) else resource.load

        def known(measured: ir.Measured | ir.Changed) -> Certainty:
            return EXACT if _is_stated(measured) else resource.known

        value = self.expressions.symbol(f"{name}.jitter", law, measure=own)
        return JitterPart(
            name,
            self.traffic.passes[name] * value,
            law.span,
            certainty_of(law.expr, self.expressions, known),
        )

    # -- losses --------------------------------------------------------------------------

    def _beyond_capacity(self) -> list[LossPart]:
        """Return what is lost as demand exceeds the capacity of resources."""
        if self.closed is not None:
            return []  # who waits for an answer demands no more than is served
        return [
            LossPart(
                stage=f"{name} saturated",
                kind=LossKind.SATURATION,
                value=share * self._lost(name),
                span=self.measures.resources[name].span,
                resource=name,
                known=self._beyond_known(name),
            )
            for name, share in self.traffic.passes.items()
            if not (name in self.queues and self.queues[name].queue.traits.loses)
        ]

    def _lost(self, name: str) -> Formula:
        """Return which share of the stream is beyond what a resource can do."""
        own = next((one for one in self.traffic.visits.values() if one.resource == name), None)
        if own is None or name not in self.queues or not self.queues[name].queue.traits.has_ranks:
            return 1 - 1 / maximum(1, self.measures.resources[name].load)
        return self.queues[name].lost(own)

    def _beyond_known(self, name: str) -> Certainty:
        """Return how it is known which share is beyond what a resource can do.

        It is nothing where the load is surely below 1, however large its error; else as the load.
        """
        load, known = self.measures.resources[name].demand_at(ONE)
        most = 1 / (1 + Fraction(known.error or 0))
        if known.is_exact or NumberFacts(self.expressions).is_always_below(load, most):
            return EXACT
        return of_another(known)

    def _with_known(self, part: LossPart) -> LossPart:
        """Return a loss with how it is known: as the queue says where some find no room."""
        if part.at is None or part.at not in self.queues:
            return part
        known = loss_certainty(self.queues[part.at].queue)
        return replace(part, known=self.measures.gate.checks.known(known))

    def _endless(self) -> tuple[LatencyPart, ...]:
        """Return what is infinite where the stream passes an overloaded resource without a queue.

        The least and the largest values are those of single items: a load made of them does not
        last.
        """
        if self.expressions.configuration.case is not ir.Case.AVERAGE:
            return ()
        loads = ((name, self.measures.resources[name].load) for name in self.traffic.unbounded)
        return tuple(wait_for(name, endless(load)) for name, load in loads)

    # -- the playout buffer --------------------------------------------------------------

    def _playout(
        self, playout: ir.Playout, jitter: tuple[JitterPart, ...]
    ) -> tuple[Formula, list[LossPart]]:
        """Return how long a playout buffer holds items, and what comes too late for it."""
        known = {
            ir.MeasureKind.JITTER: total(part.value for part in jitter),
            ir.MeasureKind.MAX_WAIT: total(part.value for part in self.traffic.queues),
            ir.MeasureKind.BUFFER: ZERO,
        }

        def of(measured: ir.Measured | ir.Changed) -> Formula:
            assert isinstance(measured, ir.Measured)
            own = known.get(measured.kind)
            return self.measures.of(measured) if own is None else own

        name, dropping = self.stream.name, playout.dropping
        buffer = self.expressions.symbol(f"{name}.playout", playout.delay, measure=of)
        if dropping is None:
            return buffer, []
        known[ir.MeasureKind.BUFFER] = buffer
        late = self.expressions.symbol(f"{name}.dropping", dropping, measure=of)
        lost = LossPart(stage=TOO_LATE, kind=LossKind.VOLUNTARY, value=late, span=dropping.span)
        return buffer, [lost]

    def _with_playout_known(self, seen: StreamMeasures, playout: ir.Playout) -> StreamMeasures:
        """Return a stream with how its playout buffer is known: by the jitter that it rests on."""
        own = {
            ir.MeasureKind.JITTER: seen.jitter_certainty,
            ir.MeasureKind.MAX_WAIT: seen.elastic_known,
            ir.MeasureKind.BUFFER: EXACT,
        }

        def known(measured: ir.Measured | ir.Changed) -> Certainty:
            assert isinstance(measured, ir.Measured)
            found = own.get(measured.kind)
            return self.measures.known(measured) if found is None else found

        buffer = certainty_of(playout.delay.expr, self.expressions, known)
        own[ir.MeasureKind.BUFFER] = buffer
        late = EXACT
        if playout.dropping is not None:
            late = certainty_of(playout.dropping.expr, self.expressions, known)
        return replace(seen, buffer_certainty=buffer, late_certainty=late)


def _is_stated(measured: ir.Measured | ir.Changed) -> bool:
    """Return whether what a jitter law names is the rate that is stated, not the load."""
    return isinstance(measured, ir.Measured) and measured.kind is ir.MeasureKind.RATE
