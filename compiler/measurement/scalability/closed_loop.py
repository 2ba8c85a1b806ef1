"""The throughput of a closed loop of clients around one station whose speed depends on its load.

Clients send a request, wait for its response, and send the next one. The station serves all
requests that are in service together at a speed that depends on how many they are; the rest of a
cycle is a delay at which nobody waits (I/O, network, client, think time). With processor sharing
this network has product form, so its throughput is exact for any distribution of demands (F.
Baskett et al., Open, closed, and mixed networks of queues with different classes of customers,
1975).
"""

from __future__ import annotations

from functools import cached_property
from math import log
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMBERS = ("demand", "delay", "parallel", "bonus", "contention", "coherency")
"""The numbers of a law, in the order of the slopes."""


def log_throughput(law: ScalabilityLaw, clients: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the logarithm of the throughput (1/s) of so many clients each, at least 1.

    >>> law = ScalabilityLaw(demand=0.5, delay=0.5, parallel=1)
    >>> np.exp(log_throughput(law, np.array([1, 2]))).round(6).tolist()
    [1.0, 1.6]
    """
    return ClosedLoops(clients).throughputs(law)[0]


class ClosedLoops(Struct, frozen=True, eq=False, dict=True):
    """Closed loops with so many clients each, for which several laws are computed."""

    clients: NDArray[np.int64]

    @cached_property
    def present(self) -> NDArray[np.float64]:
        """How many clients may be at the station, from 1."""
        return np.arange(1.0, int(self.clients.max()) + 1)

    @cached_property
    def absent(self) -> NDArray[np.float64]:
        """How many clients of each loop are not at the station where so many are, from none."""
        return self.clients[:, None] - np.arange(float(len(self.present) + 1))[None, :]

    @cached_property
    def log_orders(self) -> NDArray[np.float64]:
        """Logarithms of in how many orders those may come back; infinite where there are none."""
        factorials = np.concatenate([[0.0], np.cumsum(np.log(self.present))])
        found = factorials[np.maximum(self.absent, 0.0).astype(np.int64)]
        return np.where(self.absent >= 0, found, np.inf)

    def throughputs(self, law: ScalabilityLaw) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return logarithms of throughputs, and how they change with that of each of `NUMBERS`.

        The weight of j requests at the station is the product of demand / speed(i) for i up to j,
        that of k clients in the delay is delay**k / k!; so the probability of j at the station is
        known, and the throughput is the mean of speed(j) / demand.
        """
        log_rates, slopes = _rates(law, self.present)
        if law.delay <= 0:
            at = self.clients - 1
            return log_rates[at], slopes[at]
        station = -np.concatenate([[0.0], np.cumsum(log_rates)])
        changes = -np.concatenate([np.zeros((1, len(NUMBERS))), np.cumsum(slopes, axis=0)])
        logs = self.absent * log(law.delay) - self.log_orders + station[None, :]
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        served = weights[:, 1:] * np.exp(log_rates)[None, :]
        throughput = served.sum(axis=1)
        served /= throughput[:, None]
        found = served @ (slopes + changes[1:]) - weights @ changes
        of_delay = NUMBERS.index("delay")
        present = self.present
        found[:, of_delay] += weights[:, 1:] @ present - served @ present
        return np.log(throughput), found


def _rates(
    law: ScalabilityLaw, present: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return logarithms of the rates of service with so many requests, and their slopes."""
    served, by_parallel, by_bonus = present, np.zeros_like(present), np.zeros_like(present)
    if law.parallel is not None:
        beyond = np.clip(present - law.parallel, 0.0, law.parallel)
        served = np.minimum(present, law.parallel) + law.bonus * beyond
        moves = np.where(present >= 2 * law.parallel, law.bonus, -law.bonus)
        by_parallel = np.where(present > law.parallel, law.parallel * (1 + moves), 0.0)
        by_bonus = law.bonus * beyond
    slowed = law.slowed(served, present)
    by_served = 1 / served - (law.contention + law.coherency * (present - 1)) / slowed
    slopes = {
        "demand": np.full_like(present, -1.0),
        "delay": np.zeros_like(present),
        "parallel": by_served * by_parallel,
        "bonus": by_served * by_bonus,
        "contention": -law.contention * (served - 1) / slowed,
        "coherency": -law.coherency * served * (present - 1) / slowed,
    }
    log_rates = np.log(served / slowed / law.demand)
    return log_rates, np.stack([slopes[name] for name in NUMBERS], axis=1)
