"""At how many clients the fitted throughput is largest."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from qps.compiler.measurement.scalability.closed_loop import log_throughput
from qps.compiler.measurement.scalability.station_fit import StationFit

LOSS_SHOWN = 0.05
"""Share of the peak that more clients cost, from which it is reported."""
_MOST_EXAMINED = 256
"""Numbers of clients among which the best is looked for at once."""


class Peak(Struct, frozen=True, kw_only=True):
    """Where throughput is largest within the measured range (1/s), and at its end."""

    clients: int
    throughput: float
    last: float

    @property
    def loss(self) -> float:
        """The share of the peak that is lost at the end of the range."""
        return 1 - self.last / self.throughput


def peak_of(found: StationFit) -> Peak:
    """Return where the fitted throughput is largest, within what was measured.

    Of many numbers of clients, some are looked at, then those about the best of these.
    """
    low, high = 1, found.table.most
    while True:
        counts = np.unique(np.linspace(low, high, _MOST_EXAMINED).round().astype(np.int64))
        throughputs = np.exp(log_throughput(found.law, np.append(counts, found.table.most)))
        best = int(throughputs[:-1].argmax())
        if len(counts) == high - low + 1:
            break
        low, high = int(counts[max(best - 1, 0)]), int(counts[min(best + 1, len(counts) - 1)])
    return Peak(
        clients=int(counts[best]), throughput=float(throughputs[best]), last=float(throughputs[-1])
    )
