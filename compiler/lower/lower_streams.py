"""Streams lowered: each is walked from its source to its end; what is idle is charged, too."""

from __future__ import annotations

from dataclasses import dataclass, field

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.flows import Demand, Flow, StreamResult, word
from qps.compiler.lower.load_graph import (
    Calibration,
    LatencyPart,
)
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.lower_groups import flows_in_each
from qps.compiler.lower.walk import Walk
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME_BASE
from qps.engine.formulas import ZERO, Formula


@dataclass(kw_only=True)
class StreamLowering:
    """Lowers the streams of a model in one configuration."""

    model: ir.Model
    configuration: Configuration
    expressions: ExpressionLowering
    demands: dict[str, Demand]
    calibrations: dict[tuple[str, str], Calibration] = field(default_factory=dict)

    def lower(self, stream: ir.Stream) -> StreamResult:
        """Walk a stream from its source to its end."""
        flow = self._source(stream)
        result = StreamResult(name=stream.name)
        self._packetisation(stream, flow, result)
        walk = Walk(self, stream, result, flow)
        for index, leg in enumerate(stream.legs):
            if isinstance(leg, ir.Visit):
                walk.visit(leg)
            else:
                walk.cross(leg, last=isinstance(stream.legs[index + 1], ir.Visit))
        walk.end()
        end = walk.flow
        result.rate = end.rates[end.primary or INFORMATION_BASE]
        result.throughput = end.rates.get(INFORMATION_BASE, ZERO)
        return result

    def _source(self, stream: ir.Stream) -> Flow:
        emission = stream.emission
        first, *sizes = emission.values
        base = next(b for b, _ in first.dimension.exponents if b != TIME_BASE)
        rates = {base: self.expressions.symbol(f"{stream.name}.source", first)}
        known_sizes: dict[str, Formula] = {}
        for size in sizes:
            above = next(b for b, power in size.dimension.exponents if power == 1)
            below = next(b for b, power in size.dimension.exponents if power == -1)
            name = f"{stream.name}.{word(above)}_per_{below}"
            value = self.expressions.symbol(name, size)
            if above == INFORMATION_BASE:
                known_sizes[below] = value
            if below in rates:
                rates[above] = rates[below] * value
            else:
                rates[below] = rates[above] / value
        return Flow(self._flows(stream), rates, known_sizes, emission.primary)

    def _flows(self, stream: ir.Stream) -> Formula:
        """Return how many flows a stream has."""
        if isinstance(stream.flows_from, ir.InEachGroup):
            return flows_in_each(stream.name, stream.flows_from, self.expressions)
        return self.expressions.count(stream.flows_from)

    def _packetisation(self, stream: ir.Stream, flow: Flow, result: StreamResult) -> None:
        """A source of bytes waits until its packet is full."""
        if stream.emission.framed_bytes and flow.primary is not None:
            result.latency.append(
                LatencyPart(stage="packetisation", value=1 / flow.rates[flow.primary])
            )

    def demand(self, resource: str, span: Span) -> Demand:
        """Return the demand on a resource in place, empty at first."""
        if resource not in self.demands:
            self.demands[resource] = Demand(span=span)
        return self.demands[resource]

    def idle(self) -> None:
        """Charge every resource that is loaded with its idle load."""
        for node in self.configuration.nodes.values():
            machine = self.model.machines[node.machine]
            for resource in machine.resources:
                if resource.idle is not None:
                    name = f"{node.name}.{resource.name}"
                    load = self.expressions.symbol(f"{name}.idle", resource.idle)
                    demand = self.demand(name, resource.span)
                    demand.add("idle", load)
                    demand.background.append(load)
                    if resource.carries_bits:
                        demand.carried.append(load * self.capacity(name, resource))
                        demand.count = self.expressions.count(node.name)

    def capacity(self, name: str, resource: ir.Resource) -> Formula:
        """Return the capacity of a resource in its place that is no processor."""
        return self.expressions.symbol(f"{name}.capacity", resource.capacity, is_capacity=True)
