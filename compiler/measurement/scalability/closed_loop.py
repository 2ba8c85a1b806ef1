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
_MOST_POINTS = 1025
"""Numbers at a station up to which each is looked at, however unlikely it is."""
_LEAST_LIKELY = 45.0
"""Logarithm of how much less likely numbers are left out: all of them together do not count."""
_MOST_CELLS = 2**21
"""Of a table of loops by numbers at the station: 16 MB."""


def log_throughput(law: ScalabilityLaw, clients: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the logarithm of the throughput (1/s) of so many clients each, at least 1.

    >>> law = ScalabilityLaw(demand=0.5, delay=0.5, parallel=1)
    >>> np.exp(log_throughput(law, np.array([1, 2]))).round(6).tolist()
    [1.0, 1.6]
    """
    counts, where = np.unique(clients, return_inverse=True)
    width = min(int(counts[-1]) + 1, _MOST_POINTS)
    blocks = np.array_split(counts, -(-len(counts) * width // _MOST_CELLS))
    return np.concatenate([ClosedLoops(block).throughputs(law)[0] for block in blocks])[where]


class ClosedLoops(Struct, frozen=True, eq=False, dict=True):
    """Closed loops with so many clients each, for which several laws are computed."""

    clients: NDArray[np.int64]

    @cached_property
    def present(self) -> NDArray[np.float64]:
        """How many clients may be at the station, from 1."""
        return np.arange(1.0, int(self.clients.max()) + 1)

    @cached_property
    def log_factorials(self) -> NDArray[np.float64]:
        """Logarithms of in how many orders so many may come back, from none."""
        return np.concatenate([[0.0], np.cumsum(np.log(self.present))])

    @cached_property
    def every(self) -> _Present:
        """Each number that may be at the station."""
        return self._present(np.arange(len(self.present) + 1)[None, :])

    @cached_property
    def some(self) -> _Present:
        """Few of the numbers that may be at the station, evenly spaced."""
        return self._present(np.linspace(0, len(self.present), _MOST_POINTS).astype(int)[None, :])

    def _present(self, at: NDArray[np.int64]) -> _Present:
        absent = self.clients[:, None] - at
        orders = self.log_factorials[np.maximum(absent, 0)]
        return _Present(at, absent.astype(float), np.where(absent >= 0, orders, np.inf))

    def _likely(self, log_delay: float, station: NDArray[np.float64]) -> _Present:
        """Return the numbers that are at the station with more than a tiny probability.

        All of them, or of many those between the first and the last of a few, evenly spaced, that
        are not much less likely than the likeliest of these.
        """
        most = len(self.present)
        if most < _MOST_POINTS:
            return self.every
        logs = self.some.log_weights(log_delay, station)
        is_likely = logs > logs.max(axis=1, keepdims=True) - _LEAST_LIKELY
        at = self.some.at[0]
        low = at[np.maximum(is_likely.argmax(axis=1) - 1, 0)]
        last = len(at) - 1 - is_likely[:, ::-1].argmax(axis=1)
        high = at[np.minimum(last + 1, len(at) - 1)]
        width = int((high - low).max()) + 1
        first = np.minimum(low, most + 1 - width)
        return self._present(first[:, None] + np.arange(width)[None, :])

    def throughputs(self, law: ScalabilityLaw) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return logarithms of throughputs, and how they change with that of each of `NUMBERS`.

        The weight of j requests at the station is the product of demand / speed(i) for i up to j,
        that of k clients in the delay is delay**k / k!; so the probability of j at the station is
        known, and the throughput is the mean of speed(j) / demand.
        """
        if law.delay <= 0:
            return _rates(law, self.clients.astype(float))
        log_rates, slopes = _rates(law, self.present)
        station = -np.concatenate([[0.0], np.cumsum(log_rates)])
        changes = -np.concatenate([np.zeros((1, len(NUMBERS))), np.cumsum(slopes, axis=0)])
        likely = self._likely(log(law.delay), station)
        weights = likely.log_weights(log(law.delay), station)
        weights -= weights.max(axis=1, keepdims=True)
        np.exp(weights, out=weights)  # in place: most of the time is that of new memory
        weights /= weights.sum(axis=1, keepdims=True)
        rates = np.concatenate([[0.0], np.exp(log_rates)])
        served = weights * rates[likely.at]
        throughput = served.sum(axis=1)
        served /= throughput[:, None]
        slopes = np.concatenate([np.zeros((1, len(NUMBERS))), slopes])
        found = likely.mean(served, slopes + changes) - likely.mean(weights, changes)
        of_delay = NUMBERS.index("delay")
        present = np.arange(len(rates), dtype=float)
        found[:, of_delay] += likely.mean(weights, present) - likely.mean(served, present)
        return np.log(throughput), found


class _Present(Struct, frozen=True, eq=False):
    """Numbers of clients at a station, of each loop or of all alike, and how many are elsewhere.

    `log_orders` are logarithms of in how many orders these may come back; infinite where there are
    none.
    """

    at: NDArray[np.int64]
    absent: NDArray[np.float64]
    log_orders: NDArray[np.float64]

    def log_weights(self, log_delay: float, station: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how likely each number is, but for a factor."""
        found: NDArray[np.float64] = self.absent * log_delay
        found -= self.log_orders
        found += station[self.at]
        return found

    def mean(
        self, weights: NDArray[np.float64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the means of values of each number at the station."""
        if len(self.at) == 1:
            return weights @ values[self.at[0, 0] : self.at[0, -1] + 1]
        pairs = zip(weights, self.at, strict=True)
        return np.stack([own @ values[at[0] : at[-1] + 1] for own, at in pairs])


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
