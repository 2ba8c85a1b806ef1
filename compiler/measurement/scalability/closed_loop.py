"""The throughput of a closed loop of clients around one station whose speed depends on its load.

Clients send a request, wait for its response, and send the next one. The station serves all
requests that are in service together at a speed that depends on how many they are; the rest of a
cycle is a delay at which nobody waits (I/O, network, client). With processor sharing this network
has product form, so its throughput is exact for any distribution of demands (F. Baskett et al.,
Open, closed, and mixed networks of queues with different classes of customers, 1975).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw

if TYPE_CHECKING:
    from numpy.typing import NDArray


def log_throughput(law: ScalabilityLaw, clients: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the logarithm of the throughput (1/s) of so many clients each, at least 1.

    The weight of j requests at the station is the product of demand / speed(i) for i up to j, that
    of k clients in the delay is delay**k / k!; so the probability of j at the station is known, and
    the throughput is the mean of speed(j) / demand.

    >>> law = ScalabilityLaw(demand=0.5, delay=0.5, parallel=1)
    >>> np.exp(log_throughput(law, np.array([1, 2]))).round(6).tolist()
    [1.0, 1.6]
    """
    if law.delay <= 0:
        alone = [law.speed(count) / law.demand for count in clients.tolist()]
        return np.array(np.log(alone))
    present = np.arange(1.0, int(clients.max()) + 1)
    served = present if law.parallel is None else np.minimum(present, law.parallel)
    rates = np.concatenate([[0.0], law.speed_of(served, present) / law.demand])
    station = np.concatenate([[0.0], -np.cumsum(np.log(rates[1:]))])
    delay = np.concatenate([[0.0], np.cumsum(np.log(law.delay / present))])

    def mean_rate(count: int) -> float:
        logs = station[: count + 1] + delay[count::-1]
        weights = np.exp(logs - logs.max())
        return float(weights @ rates[: count + 1] / weights.sum())

    return np.array(np.log([mean_rate(count) for count in clients.tolist()]))
