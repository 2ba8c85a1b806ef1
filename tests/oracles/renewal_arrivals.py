"""Renewal arrivals of balanced means at exponential servers: as exact Markov chains and sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, sqrt

import numpy as np


def phases(variation: float, rate: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the shares and rates of two exponential times that make up half of all time each."""
    square = variation**2
    often = (1 + sqrt((square - 1) / (square + 1))) / 2
    return (often, 1 - often), (2 * often * rate, 2 * (1 - often) * rate)


def blocked(servers: int, traffic: float, variation: float) -> float:
    """Return which share of renewals finds all servers busy: GI/M/c/c (Takács 1957)."""
    transform = _transform(variation, traffic)
    found, product = 1.0, 1.0
    for busy in range(1, servers + 1):
        one = transform(busy)
        product *= (1 - one) / one
        found += comb(servers, busy) * product
    return 1 / found


def _transform(variation: float, rate: float) -> Callable[[float], float]:
    if variation < 1:  # gamma distributed
        square = variation**2
        return lambda s: (1 + square * s / rate) ** (-1 / square)
    shares, rates = phases(variation, rate)
    return lambda s: sum(p * g / (g + s) for p, g in zip(shares, rates, strict=True))


def shared_time(speeds: Sequence[float], rate: float, variation: float, most: int = 1500) -> float:
    """Return the mean time at a server that all who are there share, of exponential services.

    `speeds` are by how many are there, the last one beyond; more than `most` never are.
    """
    shares, rates = phases(variation, rate)
    arrive, leave = np.outer(rates, shares), np.diag(rates)

    def speed(number: int) -> float:
        return speeds[min(number, len(speeds)) - 1]

    steps: list[np.ndarray] = []
    for number in range(most, 0, -1):
        out = leave + speed(number) * np.eye(2)
        out = out - (arrive if number == most else speed(number + 1) * steps[-1])
        steps.append(arrive @ np.linalg.inv(out))
    empty = -leave + speed(1) * steps[-1]
    level = np.linalg.svd(empty.T)[2][-1]
    level = level / level.sum()
    whole, people = level.sum(), 0.0
    for number, step in enumerate(reversed(steps), 1):
        level = level @ step
        whole += level.sum()
        people += number * level.sum()
    return float(people / whole / rate)
