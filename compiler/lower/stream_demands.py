"""What streams demand of resources in place, gathered as they are walked; the idle load, too."""

from __future__ import annotations

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.configure.bounded import varies
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.ways import visited
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.flows import Demand
from qps.compiler.lower.load_graph import Calibration
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.network.stations_and_pools import StationKind
from qps.engine.formulas import ONE, ZERO, Formula, minimum, symbol


class StreamDemands(Struct, kw_only=True):
    """The demands of all streams of a model in one configuration."""

    model: ir.Model
    configuration: Configuration
    expressions: ExpressionLowering
    demands: dict[str, Demand]
    losing: dict[str, Formula] = field(default_factory=dict)
    calibrations: dict[tuple[str, str], Calibration] = field(default_factory=dict)

    def demand(
        self, resource: str, span: Span, count: Formula = ONE, *, at: str, kind: StationKind
    ) -> Demand:
        """Return the demand on a resource in place, of which there are so many; empty at first."""
        if resource not in self.demands:
            self.demands[resource] = Demand(span=span, count=count, kind=kind, place=at)
        return self.demands[resource]

    def idle(self) -> None:
        """Charge every resource that is loaded with its idle load."""
        reached = visited(self.model, self.expressions.holds)
        for node in self.configuration.nodes.values():
            machine = ir.machine_at(self.model, node)
            assert machine is not None
            # Where no stream is there may be no machine, and nothing that idles.
            is_free = node.name not in reached and not varies(node.count)
            some = minimum(ONE, self.expressions.count(node.name)) if is_free else ONE
            for resource in machine.resources:
                if resource.idle is not None and some is not ZERO:
                    name = f"{node.name}.{resource.name}"
                    load = some * self.expressions.symbol(f"{name}.idle", resource.idle)
                    count, kind = self.expressions.count(node.name), kind_of(resource)
                    demand = self.demand(name, resource.span, count, at=node.name, kind=kind)
                    demand.add("idle", load)
                    demand.keep("idle", load)
                    if resource.carries_bits:
                        demand.carried.append(load * self.capacity(name, resource))

    def lost(self, name: str) -> Formula:
        """Return the share that finds no room at a resource: a symbol until all is walked."""
        return self.losing.setdefault(name, symbol(f"{name} loses"))

    def fastest(self, name: str, queueing: ir.Queueing | None) -> Formula:
        """Return how fast a resource is at most, beside one that is there alone."""
        if queueing is None or not queueing.speeds:
            return ONE
        speeds = queueing.speeds
        return self.expressions.symbol(f"{name}.speed{len(speeds)}", speeds[-1])

    def capacity(self, name: str, resource: ir.Resource) -> Formula:
        """Return the capacity of a resource in its place that is no processor."""
        return self.expressions.symbol(f"{name}.capacity", resource.capacity, is_capacity=True)


def kind_of(resource: ir.Resource) -> StationKind:
    """Return what kind of station a resource of a machine is."""
    return StationKind(resource.kind.value)
