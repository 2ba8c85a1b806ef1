"""Flows that are on and off at a port, played out in arrays: what bursts are held against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oracles.tandem import Array, waits


def on_off_times(
    rng: np.random.Generator,
    sources: int,
    active: float,
    per_burst: float,
    *,
    is_periodic: bool,
    bursts: int,
) -> Array:
    """Return when items come, in mean lengths of a burst: so many in one, each source for itself.

    By the clock from a random phase on or at random; a burst that is longer has more of them.
    """
    times = []
    for _ in range(sources):
        on = rng.exponential(1.0, bursts)
        off = rng.exponential((1 - active) / active, bursts)
        starts = np.concatenate(([0.0], np.cumsum(on + off)[:-1])) - 10 * rng.random()
        if is_periodic:
            phase = rng.random(bursts)
            counts = np.maximum(0, np.ceil(on * per_burst - phase)).astype(int)
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            offsets = (within + np.repeat(phase, counts)) / per_burst
        else:
            counts = rng.poisson(on * per_burst)
            offsets = rng.random(counts.sum()) * np.repeat(on, counts)
        times.append(np.repeat(starts, counts) + offsets)
    last = min(float(one.max()) for one in times)
    joined = np.concatenate(times)
    return np.sort(joined[(joined > 0) & (joined < last)])


def on_off_row(times: Array, services: Sequence[float], rng: np.random.Generator) -> Array:
    """Return how long items take to pass a row of servers, of exponential times; the first not."""
    now = times
    for mean in services:
        served = rng.exponential(mean, len(now))
        now = now + waits(now, served) + served
    taken: Array = now - times
    return taken[len(taken) // 20 :]


def on_off_waits(
    sources: int,
    active: float,
    load: float,
    per_burst: float,
    *,
    is_periodic: bool,
    bursts: int,
    seed: int = 1,
) -> Array:
    """Return what items wait at a port, in mean lengths of a burst; on and off are exponential.

    Each of them is served equally long.
    """
    rng = np.random.default_rng(seed)
    service = load / (sources * active * per_burst)
    joined = on_off_times(rng, sources, active, per_burst, is_periodic=is_periodic, bursts=bursts)
    found = waits(joined, np.full(len(joined), service))
    return found[len(found) // 20 :]
