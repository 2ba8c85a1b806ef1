"""What can be measured in a lowered model: loads, shares, what users see, what it costs."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.label_doubts import NO_GATE, ClassDoubts, Gate, at_station
from qps.compiler.lower.load_graph import LoadGraph, Price
from qps.compiler.lower.queues.visits import longest
from qps.compiler.lower.requirements.serial_losses import (
    InSeries,
    in_series_anywhere,
    late_known,
    loss_known,
)
from qps.compiler.lower.requirements.waiting_measures import (
    AtEnds,
    StationWaits,
    stations_in,
    wait_at,
    wait_at_known,
    wait_of_stream,
    wait_of_stream_known,
)
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.lower.unmodeled_waits import UnmodeledQueue
from qps.compiler.quantities.certainty import Certainty, of_another, together
from qps.engine.expressions.formulas import ZERO, Formula, maximum, total

_LOSS_KINDS = {
    ir.MeasureKind.VOLUNTARY_LOSS: LossKind.VOLUNTARY,
    ir.MeasureKind.SATURATION_LOSS: LossKind.SATURATION,
    ir.MeasureKind.TRANSMISSION_LOSS: LossKind.TRANSMISSION,
}

_TIMES = ir.WAITS | {ir.MeasureKind.LATENCY, ir.MeasureKind.QUANTILE}


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
    at_ends: AtEnds = lambda _: ()
    """What a formula comes to where populations end; nothing where that is not known."""

    @classmethod
    def of_graph(cls, graph: LoadGraph, series: InSeries | None = None) -> Measures:
        """Return the measures of a lowered model."""
        return cls(
            resources=graph.resources,
            streams=graph.streams,
            prices=graph.stated.prices,
            series=series or {},
            absent=graph.stated.absent,
            gate=Gate(checks=graph.analysis.checks),
            at_ends=graph.at_ends,
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
        if kind in ir.WAITS:
            return self._waiting(measured)
        if kind is ir.MeasureKind.LATENCY and measured.component is not None:
            return self._of_calls(measured.subject, measured.component)
        return _of_stream(self.streams[measured.subject], kind)

    def known(self, measured: ir.Measured | ir.Changed) -> Certainty:
        """Return how a measure is known. Prices follow from the model, and most loads do."""
        assert isinstance(measured, ir.Measured)
        if measured.subject in self.absent:
            raise not_there(measured.subject)
        kind, stream = measured.kind, self.streams.get(measured.subject)
        if kind in ir.WAITS:
            return self._waiting_known(measured)
        if stream is None or kind is ir.MeasureKind.LOAD:
            return together(*(resource.known for resource in self._loads_of(measured.subject)))
        if kind is ir.MeasureKind.LATENCY:
            node = measured.component
            known = stream.latency_certainty if node is None else stream.calls_certainty(node)
            return together(known, late_known(stream, self.series))
        if kind is ir.MeasureKind.QUANTILE:
            assert measured.level is not None
            known = stream.quantile_certainty(measured.level)
            return together(known, late_known(stream, self.series))
        if kind is ir.MeasureKind.JITTER:
            return stream.jitter_certainty
        if kind is ir.MeasureKind.BUFFER:
            return stream.buffer_certainty
        if kind is ir.MeasureKind.MAX_WAIT:
            return stream.elastic_known
        return loss_known(kind, stream, self.series)

    def _waiting(self, measured: ir.Measured) -> Formula:
        """Return a wait, a number that waits or a share of items by their time; QpsError if none.

        Of several resources of a place, as of a link, the longest counts.
        """
        stream = self.streams.get(measured.subject)
        if stream is not None:
            return wait_of_stream(stream, measured)
        stations, times = self._stations_of(measured.subject), measured.times
        if times is None or times.is_longer:
            return longest([wait_at(one, measured) for one in stations])
        return 1 - self._waiting(replace(measured, times=replace(times, is_longer=True)))

    def _waiting_known(self, measured: ir.Measured) -> Certainty:
        stream = self.streams.get(measured.subject)
        if stream is not None:
            late = late_known(stream, self.series)
            known = wait_of_stream_known(stream, measured, self.at_ends)
            return together(known, of_another(late))
        each = ((one, self._doubts_at(one)) for one in self._stations_of(measured.subject))
        return together(
            *(wait_at_known(one, measured, doubts, self.at_ends) for one, doubts in each)
        )

    def _doubts_at(self, station: StationWaits) -> ClassDoubts:
        """Return the doubts of the waits at a station: of all streams whose numbers rest on it."""
        name = station.queue.resource
        each = (one.doubts for one in self.streams.values() if name in one.doubts.rests_on)
        return at_station(self.gate.checks, tuple(each))

    def _stations_of(self, name: str) -> list[StationWaits]:
        """Return the queues of a resource, or of all of a place; QpsError where it has none."""
        names = [one.name for one in self._loads_of(name)] or [name]
        found = stations_in(self.streams.values(), (*names, name))
        if found:
            return found
        raise QpsError.single(
            codes.NO_ANSWER,
            None,
            f"no waiting time is modeled at `{name}`",
            hint="declare a queueing discipline, such as `cpu 4 core, queueing mmc`",
        )

    def unmodeled_queues(self, quantity: ir.Quantity) -> tuple[UnmodeledQueue, ...]:
        """Return the resources on which a value rests, with no word on how they are waited for."""
        measures = [part for part in parts_of(quantity.expr) if isinstance(part, ir.Measured)]
        found = [
            one
            for part in measures
            if part.subject in self.streams
            for one in _unmodeled_queues(self.streams[part.subject], part)
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
        what, price, example = (
            ("running cost", "running price", "$/hour") if is_running else ("cost", "price", "$")
        )
        raise QpsError.single(
            codes.NO_ANSWER,
            None,
            f"{what} is unknown: no machine or network in use has a {price}",
            hint=f"add a price to a machine or network: `price 100 {example}`",
        )


def _unmodeled_queues(stream: StreamMeasures, measured: ir.Measured) -> list[UnmodeledQueue]:
    """Return of which resources nothing says how they are waited for, where a measure needs it.

    A latency and its quantiles do, of a call in what that passes. Jitter does where no law says how
    much a resource varies.
    """
    node = measured.component
    if measured.kind is ir.MeasureKind.JITTER:
        laws = [part.resource for part in stream.jitter]
        return [
            one
            for one in stream.unmodeled_queues
            if not any(f"{one.resource}.".startswith(f"{law}.") for law in laws)
        ]
    if measured.kind not in _TIMES:
        return []
    return [
        one
        for one in stream.unmodeled_queues
        if node is None or stream.is_in_calls(one.resource, node)
    ]


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
        case ir.MeasureKind.MAX_WAIT:
            return stream.max_wait
        case ir.MeasureKind.LOSS:
            return stream.loss
        case ir.MeasureKind.RATE:
            return stream.rate
        case ir.MeasureKind.THROUGHPUT:
            return stream.throughput
        case _:
            raise AssertionError(kind)


def not_there(stream: str) -> QpsError:
    """Return that a requested stream is not there."""
    return QpsError.single(
        codes.NO_ANSWER,
        None,
        f"stream `{stream}` does not exist here: its condition is false",
        hint="set the option that enables it, or add the same condition",
    )
