"""Simulations of two small queueing systems in many independent lanes at once.

Each lane is a system of its own with its own inputs and random numbers; one step of all lanes is a
few operations on arrays. What is simulated follows from its textbook description alone, and shares
nothing with QPS. Times are in s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Lanes = NDArray[np.float64]


def open_times_above(
    rate: Lanes, service: Lanes, servers: int, limit: float, steps: int, seed: int
) -> tuple[Lanes, Lanes]:
    """Return, of each lane, the part of requests that take longer than a limit, and its noise.

    Requests arrive independently (`rate`), wait in one line for the first free server, and have
    exponential services of mean `service`: the recursion of J. Kiefer and J. Wolfowitz (On the
    theory of queues with many servers, 1955). It begins empty; the first tenth is not counted.
    """
    random = np.random.default_rng(seed)
    work = np.zeros((servers, rate.size))  # until when each server is busy, from now on, ascending
    kept, batches = 0, np.zeros((_BATCHES, rate.size))
    first = steps // 10
    size = (steps - first) // _BATCHES
    for step in range(first + size * _BATCHES):
        length = random.exponential(size=rate.size) * service
        if step >= first:
            batches[kept // size] += _chance_above(limit - work[0], service)
            kept += 1
        work[0] += length
        work -= random.exponential(size=rate.size) / rate
        np.maximum(work, 0, out=work)
        work.sort(axis=0)
    return _mean_and_noise(batches / size)


def _chance_above(left: Lanes, service: Lanes) -> Lanes:
    """Return the chance that a service is longer than what the wait leaves of the limit.

    It stands for the service itself, whose length it does not depend on: its mean is the same, its
    noise less (conditional Monte Carlo).
    """
    return np.exp(-np.maximum(left, 0) / service)


def closed_latency(
    users: int,
    think: float,
    core: Lanes,
    shared: Lanes,
    cores: int,
    steps: int,
    seed: int,
) -> tuple[Lanes, Lanes]:
    """Return, of each lane, the mean time of a request, and its noise.

    Users think, use one of the cores (`core`), then a processor that all share (`shared`, one at a
    time); all times are exponential, so that the numbers of users there are a Markov chain. Each of
    its states counts for its mean duration. By Little's law, the time of a request is users by
    throughput, without the think time; throughput is the rate at which thinking ends.
    """
    random = np.random.default_rng(seed)
    waiting = np.zeros((2, core.size))
    size = steps // (_BATCHES + 1)
    thought, passed = np.zeros((2, _BATCHES, core.size))
    for step in range(size * (_BATCHES + 1)):
        thinking = users - waiting[0] - waiting[1]
        arrivals = thinking / think
        from_cores = np.minimum(waiting[0], cores) / core
        from_shared = np.minimum(waiting[1], 1) / shared
        total = arrivals + from_cores + from_shared
        if step >= size:  # the first batch is the warm-up
            batch = step // size - 1
            thought[batch] += thinking / total
            passed[batch] += 1 / total
        drawn = random.random(core.size) * total
        came = drawn < arrivals
        moved = ~came & (drawn < arrivals + from_cores)
        waiting[0] += came
        waiting[0] -= moved
        waiting[1] += moved
        waiting[1] -= ~(came | moved)
    return _mean_and_noise(users * think * passed / thought - think)


_BATCHES = 20
_T95 = 2.093  # of an interval of 95 % from as many values


def _mean_and_noise(batches: Lanes) -> tuple[Lanes, Lanes]:
    """Return the means of batches, and half of their 95 % intervals."""
    return batches.mean(axis=0), _T95 * batches.std(axis=0, ddof=1) / np.sqrt(len(batches))


def pooled(lanes: tuple[Lanes, Lanes], draws: int) -> tuple[Lanes, Lanes]:
    """Return the mean of the lanes of each draw, which are `draws` apart, and its noise."""
    mean, noise = (one.reshape(-1, draws) for one in lanes)
    return mean.mean(axis=0), np.sqrt((noise**2).sum(axis=0)) / len(mean)
