"""A network while it is built: its stations and pools, in the order in which streams come there."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.bounded_value import varies
from qps.compiler.configure.conditional_paths import visited
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import Calibration
from qps.compiler.lower.unmodeled_waits import UnmodeledQueue
from qps.compiler.network.stations_and_pools import Place, Station, StationKind
from qps.engine.expressions.formulas import ONE, ZERO, Formula, minimum


class NetworkBuilder(Struct, kw_only=True):
    """The stations and pools of all streams of a model in one configuration.

    Pools are stores among the `stations`; of each, `pools` has how many machines have such a one,
    and whether nobody waits for it. `permanent_holds` is what flows take of a store for
    good, by whom.
    """

    model: ir.Model
    configuration: Configuration
    expressions: ExpressionLowering
    stations: dict[str, Station] = field(default_factory=dict)
    pools: dict[str, tuple[Formula, bool]] = field(default_factory=dict)
    permanent_holds: dict[str, list[tuple[str, Formula]]] = field(default_factory=dict)
    unmodeled_queues: dict[str, UnmodeledQueue] = field(default_factory=dict)
    calibrations: dict[tuple[str, str], Calibration] = field(default_factory=dict)

    def come_to(
        self, name: str, place: Place, kind: StationKind, span: Span, **known: object
    ) -> Station:
        """Return a station or pool, with what is known of it by now."""
        before = self.stations.get(name)
        if before is None:
            before = Station(name=name, place=place, kind=kind, span=span)
        found = self.stations[name] = replace(before, **known)
        return found

    def keep(self, name: str, by: str, load: Formula) -> None:
        """Add to the load of a station that no item causes."""
        known = self.stations[name]
        self.stations[name] = replace(known, background=(*known.background, (by, load)))

    def note_wait(
        self,
        name: str,
        queueing: ir.Queueing | None,
        stated: ir.Queueing | None,
        unmodeled: UnmodeledQueue,
    ) -> None:
        """Note how items wait at a station, None where nobody counts it, and whether it is said."""
        known = self.stations[name]
        is_unmodeled = known.is_unmodeled or stated is None
        queueing = known.queueing or queueing
        self.stations[name] = replace(known, queueing=queueing, is_unmodeled=is_unmodeled)
        if stated is None:
            self.unmodeled_queues[name] = unmodeled

    def is_store(self, name: str) -> bool:
        """Whether what has a name holds what flows keep, and serves nobody."""
        return self.stations[name].kind is StationKind.STORE

    def idle(self) -> None:
        """Let every resource that is loaded idle."""
        reached = visited(self.model, self.expressions.path_test)
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
                    self.come_to(name, place, kind_of(resource), resource.span)
                    self.keep(name, "idle", load)
                    if resource.carries_bits:
                        rate = self.capacity(name, resource)
                        self.stations[name] = replace(self.stations[name], is_bits=True, rate=rate)

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
