"""The flows of a class at a point of its itinerary, and what they came to so far."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.queues.on_off_sources import Burst
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.response_time.response_parts import LossKind, LossPart
from qps.compiler.lower.response_time.response_stages import LatencyPart
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, Spent
from qps.compiler.network.classes import BYTE_BITS
from qps.engine.expressions.formulas import ONE, Formula


class FlowState(Struct, kw_only=True):
    """The flows as they are now, and what they came to: grows while an itinerary is followed.

    There are `total` of them, each of a `rate` of items a second, or bits where they are `is_bare`
    of items. The last sender puts `copies` of them on the network, of which `batch` leave together.
    `spreads` says whether copies went different ways, `meets` whether such may come together,
    `is_bursty` whether the flows are active only at times; `burst` has for how long, where it is
    known. `queue_visits` are the visits of queues before this point, in order; `joined` is such a
    queue in calls that were made together and have ended. An item that has begun comes here
    so often on average, `reached`: calls are made by chance, items get lost.
    """

    result: ClassTraffic
    is_bare: bool
    total: Formula
    rate: Formula
    copies: Formula
    batch: Formula = ONE
    spreads: bool = False
    meets: bool = False
    is_bursty: bool = False
    burst: Burst | None = None
    queue_visits: tuple[QueueVisit, ...] = ()
    joined: str | None = None
    reached: Formula = ONE

    def each_second(self, amount: Formula) -> Formula:
        """Return what comes with one item, or byte, as each flow has it a second."""
        return amount * (self.rate / BYTE_BITS if self.is_bare else self.rate)

    def takes(self, part: LatencyPart, *stations: str) -> None:
        """Add a stage to the latency: some stations are busy with it, or none.

        By Little's law it holds as many items of a flow as pass it in that time.
        """
        self.append(part)
        if not self.is_bare:
            held = part.value * self.rate
            self.result.spent.append(Spent(stations, held, len(self.result.latency) - 1))

    def append(self, part: LatencyPart) -> None:
        """Add a stage to the latency, which an item comes to as often as it comes here."""
        self.result.latency.append(replace(part, reached=self.reached))

    def lose(
        self, stage: str, kind: LossKind, share: Formula, span: Span, at: str | None = None
    ) -> None:
        """Lose a share of the items; what is lost loads nothing that comes after."""
        lost = LossPart(stage=stage, kind=kind, value=share, span=span, at=at)
        self.result.losses.append(lost)
        self.rate, self.reached = self.rate * (1 - share), self.reached * (1 - share)

    def go_on_as(self, before: FlowState, share: Formula = ONE) -> None:
        """Go on with a share of the flows that there were before."""
        self.total, self.copies = before.total, before.copies
        self.rate = before.rate * share
        self.reached = before.reached * share
