"""Queues whose load changes step by step: the distribution of M(t)/M/c, by uniformization.

Within a step the rate is the same, so the distribution moves by the exponential of one matrix. It
is summed as a Poisson mixture of jumps (Jensen 1953; Gross and Miller 1984), and a step ends early
when the distribution no longer moves. Times are in service times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, exp, sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

MOST_STATES = 4_000
_JUMPS = 40.0
"""Mean jumps of one sum: the weight of none of them must not vanish."""
_TAIL = 1e-12
_STILL = 1e-11
"""A distribution that moves by less in 40 jumps is that of a steady state."""
_REPEATED = 1e-6
"""Part of the largest wait by which two cycles may differ."""
_MOST_CYCLES = 20
_MOST_SUMS = 4_000
"""A queue that is nearly full forgets its past so slowly that more would take minutes."""
_STABLE = 0.98
_SPREAD, _CLOSEST = 40, 0.0125
"""So many items may wait by chance, over what a load leaves to 1, but no closer to it than this."""

States = npt.NDArray[np.float64]


class LoadStep(Struct, frozen=True):
    """So long, items arrive at a rate, both in service times: a load of `rate / servers`."""

    duration: float
    rate: float


def states_needed(servers: int, steps: Sequence[LoadStep]) -> int:
    """Return how many items must be counted: what piles up, and what chance adds to it."""
    backlog = most = 0.0
    for step in [*steps, *steps]:
        backlog = max(0.0, backlog + (step.rate - servers) * step.duration)
        most = max(most, backlog)
    near = min(abs(1 - step.rate / servers) for step in steps)
    spread = _SPREAD / max(near, _CLOSEST)
    return servers + ceil(most + 8 * sqrt(most * 2 + 1) + spread)


def waits_at_ends(servers: int, steps: Sequence[LoadStep]) -> list[float] | None:
    """Return the mean wait of an arrival at the end of each step of a cycle that repeats.

    None where more than `MOST_STATES` items would have to be counted, or too many jumps.
    """
    size = states_needed(servers, steps)
    if size > MOST_STATES:
        return None
    numbers = np.arange(size + 1, dtype=float)
    departures = np.minimum(numbers, servers)
    waiting = np.maximum(numbers - servers + 1, 0.0) / servers
    states = _steady(servers, steps, departures)
    before: list[float] = []
    sums = iter(range(_MOST_SUMS))
    for _ in range(_MOST_CYCLES):
        found = []
        for step in steps:
            moved = _after(states, step, departures, sums)
            if moved is None:
                return None
            states = moved
            found.append(float(states @ waiting))
        if before and np.allclose(found, before, rtol=0, atol=_REPEATED * max(found)):
            break
        before = found
    return found


def _steady(servers: int, steps: Sequence[LoadStep], departures: States) -> States:
    """Return a distribution to begin with: that of the mean rate for ever."""
    mean = sum(one.rate * one.duration for one in steps) / sum(one.duration for one in steps)
    logs = np.zeros(departures.size)
    rate = max(min(mean, _STABLE * servers), np.finfo(float).tiny)
    logs[1:] = np.cumsum(np.log(rate) - np.log(departures[1:]))
    states: States = np.exp(logs - logs.max())
    return states / float(states.sum())


def _after(
    states: States, step: LoadStep, departures: States, sums: Iterator[int]
) -> States | None:
    """Return a distribution after a step; None once there are no more `sums`, one for each part."""
    fastest = step.rate + departures[-1]
    left = fastest * step.duration
    up, down = step.rate / fastest, departures / fastest
    stays = 1 - up - down
    stays[-1] = 1 - down[-1]
    while left > 0:
        if next(sums, None) is None:
            return None
        jumps = min(left, _JUMPS)
        moved = _mixed(states, jumps, up, down, stays)
        is_still = jumps == _JUMPS and float(np.abs(moved - states).sum()) < _STILL
        states = moved
        if is_still:
            break
        left -= jumps
    return states


def _mixed(states: States, jumps: float, up: float, down: States, stays: States) -> States:
    """Return the distribution after a Poisson number of jumps."""
    weight = exp(-jumps)
    mixed, seen, count = weight * states, weight, 0
    while 1 - seen > _TAIL and count < 10 * _JUMPS:
        moved = stays * states
        moved[1:] += up * states[:-1]
        moved[:-1] += down[1:] * states[1:]
        states, count = moved, count + 1
        weight *= jumps / count
        mixed += weight * states
        seen += weight
    whole: States = mixed / mixed.sum()
    return whole
