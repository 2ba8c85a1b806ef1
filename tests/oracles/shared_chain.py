"""Open traffic that shares a server with users who think: its time as of a chain of all states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_MOST, _STEPS = 40, 1024


def open_quantiles(
    users: int, think: float, service: float, load: float, levels: Sequence[float], servers: int = 1
) -> tuple[float, list[float]]:
    """Return mean and quantiles of the time from arrival to departure, its own service is 1.

    All services are exponential; no more than a few open visits are there at a time.
    """
    width = _MOST + 1
    size = (users + 1) * width

    def moves(query: int, others: int, tagged: int) -> Iterator[tuple[int, float]]:
        served = min(query + others + tagged, servers) / max(1, query + others + tagged)
        at = query * width + others
        if others < _MOST:
            yield at + 1, load
        if query < users:
            yield at + width, (users - query) / think
        if others:
            yield at - 1, others * served
        if query:
            yield at - width, query * served / service

    alone, watched = np.zeros((size, size)), np.zeros((size, size))
    for at in range(size):
        query, others = divmod(at, width)
        for rates, tagged in ((alone, 0), (watched, 1)):
            for to, rate in moves(query, others, tagged):
                rates[at, to] += rate
                rates[at, at] -= rate
        watched[at, at] -= min(query + others + 1, servers) / (query + others + 1)
    balance = alone.T.copy()
    balance[0] = 1
    found = np.linalg.solve(balance, np.eye(size)[0])
    mean = float(found @ np.linalg.solve(watched, -np.ones(size)))
    step = 16 * mean / _STEPS
    left, tail = np.ones(size), [1.0]
    onward = _exponential(watched * step)
    for _ in range(_STEPS):
        left = onward @ left
        tail.append(float(found @ left))
    late = -np.log(tail)
    times = np.arange(_STEPS + 1) * step
    return mean, [float(np.interp(-np.log1p(-level), late, times)) for level in levels]


def _exponential(rates: Array) -> Array:
    """Return the exponential of a matrix: Taylor's series of a small part, squared."""
    halvings = max(0, ceil(log2(float(np.abs(rates).sum(1).max()))) + 2)
    part = rates / 2**halvings
    found = term = np.eye(len(rates))
    for n in range(1, 14):
        term = term @ part / n
        found = found + term
    for _ in range(halvings):
        found = found @ found
    return found
