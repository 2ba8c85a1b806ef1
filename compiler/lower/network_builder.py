"""A network while it is built: its stations and pools, in the order in which streams come there."""

from __future__ import annotations

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.configure.bounded import varies
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.ways import visited
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.load_graph import Calibration
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.unwaited import Unwaited
from qps.compiler.network.stations_and_pools import Place, StationKind
from qps.engine.formulas import ONE, ZERO, Formula, minimum


class StationBuilder(Struct, kw_only=True):
    """A station or pool, with what is known of it so far.

    `kept` is what flows take of a store for good, with who takes it, `background` what they take of
    a server, and what idles. `machines` are those that have such a pool, None of what is no pool.
    """

    place: Place
    kind: StationKind
    span: Span
    queueing: ir.Queueing | None = None
    unwaited: Unwaited | None = None
    servers: Formula = ONE
    speeds: tuple[Formula, ...] = ()
    rate: Formula | None = None
    capacity: Formula | None = None
    is_bits: bool = False
    port_of: str | None = None
    jitter: ir.Quantity | None = None
    rating: Formula | None = None
    background: list[tuple[str, Formula]] = field(default_factory=list)
    kept: list[tuple[str, Formula]] = field(default_factory=list)
    machines: Formula | None = None
    is_unmodeled: bool = False

    @property
    def fastest(self) -> Formula:
        """How fast all present are served at most, beside one that is there alone."""
        return self.speeds[-1] if self.speeds else ONE

    def note_wait(
        self, queueing: ir.Queueing | None, stated: ir.Queueing | None, unwaited: Unwaited
    ) -> None:
        """Note how items wait here, None where no waiting is counted, and whether that is said."""
        self.queueing = self.queueing or queueing
        if stated is None:
            self.unwaited = unwaited


class NetworkBuilder(Struct, kw_only=True):
    """The stations and pools of all streams of a model in one configuration."""

    model: ir.Model
    configuration: Configuration
    expressions: ExpressionLowering
    stations: dict[str, StationBuilder] = field(default_factory=dict)
    calibrations: dict[tuple[str, str], Calibration] = field(default_factory=dict)

    def station(self, name: str, place: Place, kind: StationKind, span: Span) -> StationBuilder:
        """Return a station or pool; one that nobody came to before has nothing but its place."""
        found = self.stations.get(name)
        if found is None:
            found = self.stations[name] = StationBuilder(place=place, kind=kind, span=span)
        return found

    def is_store(self, name: str) -> bool:
        """Whether what has a name holds what flows keep, and serves nobody."""
        return self.stations[name].kind is StationKind.STORE

    def idle(self) -> None:
        """Let every resource that is loaded idle."""
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
                    place = Place(node.name, self.expressions.count(node.name))
                    station = self.station(name, place, kind_of(resource), resource.span)
                    station.background.append(("idle", load))
                    if resource.carries_bits:
                        station.is_bits, station.rate = True, self.capacity(name, resource)

    def speeds(self, name: str, queueing: ir.Queueing | None) -> tuple[Formula, ...]:
        """Return how fast all who are at a resource are served, by how many they are."""
        stated = () if queueing is None else queueing.speeds
        return tuple(
            self.expressions.symbol(f"{name}.speed{n}", speed) for n, speed in enumerate(stated, 1)
        )

    def capacity(self, name: str, resource: ir.Resource) -> Formula:
        """Return the capacity of a resource in its place that is no processor."""
        return self.expressions.symbol(f"{name}.capacity", resource.capacity, is_capacity=True)


def kind_of(resource: ir.Resource) -> StationKind:
    """Return what kind of station a resource of a machine is."""
    return StationKind(resource.kind.value)
