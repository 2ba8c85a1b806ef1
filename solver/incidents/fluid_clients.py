"""Clients whose requests were not answered: they send them again after a backoff, or give up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from qps.solver.incidents.course_steps import MOST_STEPS, tried_for
from qps.solver.incidents.filling_cache import FillingCache, sent_again
from qps.solver.incidents.flow_layout import FlowLayout
from qps.solver.incidents.incident_system import RetryPolicy, StreamTally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Amounts = NDArray[np.float64]
else:
    Amounts = Any

_BUDGET_SECONDS = 10.0
"""For so long a budget of retries can be saved."""
_EMPTY = 1e-9
"""Part of what is sent in a step: less is nothing."""


class FluidClients(Struct, kw_only=True):
    """The clients of all streams: `due` has what they send again at later steps, by its keys.

    `missed` has the part of the requests of each step that were misses, `tokens` the retries that
    a budget has saved.
    """

    layout: FlowLayout
    step: float
    caches: dict[str, FillingCache]
    counts: list[StreamTally]
    tokens: list[float]
    due: dict[int, Amounts] = field(default_factory=dict)
    missed: dict[int, list[float]] = field(default_factory=dict)
    lost_from: int = -1
    """The last step in which requests were sent first that are lost."""
    last_due: int = -1
    """The last step in which something is sent again."""

    def earn(self, place: int, retry: RetryPolicy | None, rate: float, many: float) -> None:
        """Have a budget save retries, for requests that are sent first."""
        if retry is None or retry.budget is None:
            return
        earned = retry.budget * many
        most = retry.budget * rate * _BUDGET_SECONDS
        self.tokens[place] = min(self.tokens[place] + earned, max(most, earned))

    def patience(self, retry: RetryPolicy | None) -> int:
        """Return after how many steps clients no longer wait for an answer."""
        return MOST_STEPS if retry is None else max(1, round(retry.timeout / self.step))

    def unanswered(self, place: int, number: int, origin: int, failed: Amounts) -> float:
        """Send requests of a stream again that were sent at a step, or lose them; return how many.

        `failed` are their amounts, by the keys of the stream.
        """
        import numpy as np  # noqa: PLC0415 - of incidents alone

        stream, slices = self.layout.streams[place], self.layout.of_stream[place]
        retry, counts = stream.retry, self.counts[place]
        if retry is None:
            gone = float(failed.sum())
            counts.lost += gone
            self.lost_from = max(self.lost_from, origin)
            return gone
        width = slices[0].stop - slices[0].start
        again = float(failed[:-width].sum()) if retry.retries else 0.0
        part = 1.0
        if retry.budget is not None and again > 0:
            part = min(1.0, self.tokens[place] / again)
            self.tokens[place] -= part * again
        gone = float(failed.sum()) - part * again
        if gone > _EMPTY * stream.rate * self.step:
            first = origin - round(tried_for(retry) / self.step) if part == 1 else origin
            self.lost_from = max(self.lost_from, first)
        for attempt in range(len(slices) - 1):
            many = part * failed[attempt * width : (attempt + 1) * width]
            if not many.any():
                continue
            wait = retry.backoff * 2**attempt
            at = number + max(1, round(wait / self.step))
            if at not in self.due:
                self.due[at] = np.zeros(len(self.layout.keys))
            if stream.cache is not None:
                missed = self.missed[place][origin]
                many = sent_again(stream, missed, self.caches[stream.cache].rate, many)
            self.due[at][slices[attempt + 1]] += many
            self.last_due = max(self.last_due, at)
        counts.retries += part * again
        counts.lost += gone
        return gone
