"""What is on the way of a stream at a point of its walk."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.bursts import Burst
from qps.compiler.lower.flows import Flow, Spent, StreamResult
from qps.compiler.lower.latency_parts import LatencyPart
from qps.compiler.lower.queueing import Visit
from qps.compiler.lower.stream_measures import LossKind, LossPart
from qps.compiler.network.itinerary import Lose, Node
from qps.engine.formulas import ONE, Formula


class UnderWay(Struct, kw_only=True):
    """The flows as they are now, and what they came to so far: grows while a stream is walked.

    The last sender puts `copies` of the flows on the network, of which `batch` leave together.
    `spreads` tells whether copies went different ways, `meets` whether such may come together,
    `is_bursty` whether the flows are active only at times; `burst` has for how long, where it is
    known. `waited` are the visits of queues before this point, the last of them last. An item that
    has begun comes here so often on average, `reached`: calls are made by chance, items get lost.
    """

    flow: Flow
    result: StreamResult
    copies: Formula
    batch: Formula = ONE
    spreads: bool = False
    meets: bool = False
    is_bursty: bool = False
    burst: Burst | None = None
    waited: tuple[Visit, ...] = ()
    reached: Formula = ONE

    def takes(self, part: LatencyPart, *resources: str) -> None:
        """Add a stage to the latency: some resources are busy with it, or none.

        By Little's law it holds as many items of a flow as pass it in that time.
        """
        self.append(part)
        if self.flow.primary is not None:
            held = part.value * self.flow.rates[self.flow.primary]
            self.result.spent.append(Spent(resources, held, len(self.result.latency) - 1))

    def append(self, part: LatencyPart) -> None:
        """Add a stage to the latency, which an item comes to as often as it comes here."""
        self.result.latency.append(replace(part, reached=self.reached))

    def lose(
        self,
        stage: str,
        kind: LossKind,
        share: Formula,
        span: Span,
        at: str | None = None,
        link: str | None = None,
    ) -> None:
        """Lose a share of the items; what is lost loads nothing that comes after."""
        lost = LossPart(stage=stage, kind=kind, value=share, span=span, at=at)
        self.result.losses.append(lost)
        self.flow, self.reached = self.flow.scaled(1 - share), self.reached * (1 - share)
        chance = share if at is None else None
        lose = Lose(why=stage, kind=kind.value, span=span, chance=chance, station=at, link=link)
        self.add(lose)

    def add(self, node: Node) -> None:
        """Add to the itinerary what happens to an item."""
        self.result.itinerary.add(node)
