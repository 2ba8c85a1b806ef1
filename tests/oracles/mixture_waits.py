"""The time in M/G/1 where the service is a mixture: on a grid, which no transform of QPS is in.

What is left of a service is put on a grid once rounded down and once rounded up. The wait is its
geometric sum, by a discrete Fourier transform: so its quantiles are between those of the two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Kind = tuple[float, float, int]
"""A share of the items, their mean service, and in how many exponential phases; 0 is fixed."""


def sojourn_bounds(
    rate: float, kinds: Sequence[Kind], level: float, *, own: Kind, step: float, size: int
) -> tuple[float, float]:
    """Return between which times a quantile of wait and own service is."""
    times = np.arange(size + 1) * step
    left = sum(rate * share * mean * _left(times, mean, phases) for share, mean, phases in kinds)
    load = rate * sum(share * mean for share, mean, _ in kinds)
    found = []
    for up in (0, 1):
        rests = np.zeros(2 * size)
        rests[up : up + size] = np.diff(left)
        wait = (1 - load) / (1 - np.fft.rfft(rests))
        service = np.zeros(2 * size)
        if own[2]:
            service[up : up + size] = -np.diff(_later(times, own[1], own[2]))
        else:
            service[round(own[1] / step)] = 1.0
        both = np.fft.irfft(wait * np.fft.rfft(service), 2 * size)
        found.append(step * float(np.searchsorted(np.cumsum(both[:size]), level)))
    return found[0] - step, found[1] + step


def _later(times: Array, mean: float, phases: int) -> Array:
    """Return which share of services is longer."""
    if not phases:
        return np.asarray(times < mean, dtype=float)
    size = times * phases / mean
    term, found = np.exp(-size), np.zeros(times.shape)
    for k in range(phases):
        found += term
        term = term * size / (k + 1)
    return found


def _left(times: Array, mean: float, phases: int) -> Array:
    """Return with what chance what is left of a service is no longer."""
    if not phases:
        return np.minimum(times / mean, 1.0)
    # Each of the phases is the one that goes on as often as any other.
    later = [_later(times * phases, mean * k, k) for k in range(1, phases + 1)]
    return np.asarray(1 - sum(later) / phases)
