"""Queues in a row, played out in arrays: the truth that two-moment flows are held against.

One flow (or several, superposed) of gamma distributed times between arrivals, one server a stage,
gamma-distributed service times, first come first served. `python tests/oracles/tandem.py` tells how
far the formulas of the compiler are from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def gamma(rng: np.random.Generator, variation: float, mean: float, count: int) -> Array:
    """Return times of a mean and a coefficient of variation: fixed ones for 0."""
    if variation == 0:
        return np.full(count, mean)
    return rng.gamma(variation**-2, mean * variation**2, count)


def arrivals(
    rng: np.random.Generator, variation: float, flows: int, rate: float, count: int
) -> Array:
    """Return when items of some flows arrive, so many a second in all."""
    each = count // flows + 1
    times = []
    for _ in range(flows):
        gaps = gamma(rng, variation, flows / rate, each)
        gaps[0] *= rng.random()  # periodic flows keep their phase for ever
        times.append(np.cumsum(gaps))
    last = min(one[-1] for one in times)
    joined = np.concatenate(times)
    return np.sort(joined[joined <= last])


def waits(times: Array, services: Array) -> Array:
    """Return how long each item waits in front of one server (Lindley)."""
    walk = np.concatenate(([0.0], np.cumsum(services[:-1] - np.diff(times))))
    return walk - np.minimum.accumulate(walk)


def tandem(
    variation: float,
    stages: Sequence[tuple[float, float]],
    *,
    flows: int = 1,
    count: int = 1_000_000,
    seed: int = 1,
) -> list[float]:
    """Return the mean wait at each stage, in its service times; a stage is its load and cv."""
    rng = np.random.default_rng(seed)
    times = arrivals(rng, variation, flows, 1.0, count)
    found = []
    for load, service in stages:
        services = gamma(rng, service, load, len(times))
        waited = waits(times, services)
        found.append(float(waited[len(waited) // 20 :].mean()) / load)
        times = times + waited + services
    return found
