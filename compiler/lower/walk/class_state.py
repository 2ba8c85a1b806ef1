"""What is built of a class of items at a point of its itinerary."""

from __future__ import annotations

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.expressions.item_flows import Flow
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.lower.walk.network_builder import NetworkBuilder
from qps.compiler.network.itinerary import Lose, Node
from qps.compiler.network.itinerary_builder import ItineraryBuilder
from qps.compiler.network.station_runs import goes_on
from qps.engine.expressions.formulas import Formula


class ClassState(Struct, kw_only=True):
    """The flows as they are now, as if nothing were lost, and the itinerary so far.

    `visiting` are the stations that an item is in a visit of.
    """

    network: NetworkBuilder
    flow: Flow
    itinerary: ItineraryBuilder = field(default_factory=ItineraryBuilder)
    visiting: set[str] = field(default_factory=set)

    def add(self, node: Node) -> None:
        """Add to the itinerary what happens to an item."""
        self.itinerary.add(node)
        is_store = self.network.is_store
        self.visiting = {name for name in self.visiting if goes_on(name, node, is_store)}

    def admit(self, station: str, queueing: ir.Queueing | None) -> None:
        """Lose what finds no room at a station, once for each visit."""
        if queueing is None or not queueing.traits.loses or station in self.visiting:
            return
        if self.flow.primary is not None:
            self.add(
                Lose(
                    why=f"full queue at {station}",
                    kind=LossKind.BLOCKED.value,
                    span=queueing.span,
                    station=station,
                )
            )

    def lose(
        self, why: str, kind: LossKind, chance: Formula, span: Span, link: str | None = None
    ) -> None:
        """Lose an item by chance."""
        self.add(Lose(why=why, kind=kind.value, span=span, chance=chance, link=link))
