"""What a stream holds of a pool, from one point of its way to a later one."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.queueing import Visit
from qps.engine.formulas import Formula


class Hold(Struct, frozen=True, kw_only=True):
    """An `amount` of a pool that each visit holds through some stages of a stream's latency.

    Each of some `machines` has such a pool. The stages are those from `begins` to before `ends`;
    `stage` is that of the wait for the pool, None where no wait is counted. It stands in `depth`
    calls. It `is_lossy` where some of the items are lost meanwhile: they count as if they held it
    to the end.
    """

    pool: str
    stream: str
    visit: Visit
    amount: Formula
    machines: Formula
    stage: int | None
    begins: int
    ends: int
    depth: int
    span: Span
    is_lossy: bool = False

    def changed(self, change: Callable[[Formula], Formula]) -> Hold:
        """Return the hold with every formula changed that it is made of."""
        return replace(
            self,
            visit=self.visit.changed(change),
            amount=change(self.amount),
            machines=change(self.machines),
        )
