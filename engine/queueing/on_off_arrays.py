"""Waits of bursts and of uneven arrivals on arrays, by the names of `queue_numbers`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.numerics.array_blocks import Array, in_blocks
from qps.engine.queueing import on_off_numbers

_WAIT = np.frompyfunc(on_off_numbers.burst_wait, 3, 1)
_QUANTILE = np.frompyfunc(on_off_numbers.burst_quantile, 4, 1)


def burst_wait(sources: ArrayLike, active: ArrayLike, peak: ArrayLike) -> Array:
    """Return the mean wait of items of so many flows, each on for a share, in bursts."""
    return in_blocks(lambda *some: _WAIT(*some).astype(float), sources, active, peak)


def burst_quantile(
    sources: ArrayLike, active: ArrayLike, peak: ArrayLike, level: ArrayLike
) -> Array:
    """Return what a share `level` of the items does not wait longer than, in bursts."""
    return in_blocks(lambda *some: _QUANTILE(*some).astype(float), sources, active, peak, level)


def uneven(arrivals: ArrayLike, service: ArrayLike, load: ArrayLike) -> Array:
    """Return how long what has to wait does so, where that is 1/(1 - load) of this."""
    return in_blocks(_uneven, arrivals, service, load)


def _uneven(arrivals: Array, service: Array, load: Array) -> Array:
    half = (arrivals + service) / 2
    below = half * np.exp((load - 1) * (1 - arrivals) ** 2 / (3 * load * half))
    found = np.where((half == 0) | (load == 0), 0.0, below)
    found = np.where((arrivals >= 1) | (load >= 1) | (half == np.inf), half, found)
    is_known = (arrivals >= 0) & (service >= 0) & (load >= 0)
    return np.where(is_known, found, np.nan)
