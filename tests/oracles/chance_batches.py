"""Batches of copies that do by chance what they do, each by itself: all outcomes, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod


def mean_wait(
    rate: float,
    batches: Sequence[tuple[float, int]],
    services: Sequence[tuple[float, float]],
    variation: float = 1,
) -> float:
    """Return the mean wait of copies at one server, first come first served.

    So many batches come in a second, at random: each of a number of copies, by a share. Each copy
    is served for one of some mean times, by a chance, or not at all where that is 0.
    """
    work = square = ahead = served = 0.0
    for share, copies in batches:
        for each in product(services, repeat=copies):
            chance = share * prod(one for one, _ in each)
            times = [time for _, time in each]
            work += chance * sum(times)
            square += chance * (sum(times) ** 2 + variation**2 * sum(time**2 for time in times))
            before = 0.0
            for time in times:
                ahead += chance * before * (time > 0)
                served += chance * (time > 0)
                before += time
    return rate * square / 2 / (1 - rate * work) + ahead / served
