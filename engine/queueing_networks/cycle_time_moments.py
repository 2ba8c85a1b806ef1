"""How long a cycle of a closed network takes at its stations: moments, and the law fitted to them.

Those of the stays given who is found, and of who is found by how means move with the services (a
network in product form is an exponential family).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, sqrt

from qps.engine.distributions.normal_numbers import normal_quantile
from qps.engine.queueing.queue_numbers import erlang_c
from qps.engine.queueing_networks.product_form import waits_of
from qps.engine.queueing_networks.visited_copies import ReplicatedStation

_NO_SKEW, _STEP = 1e-6, 1e-3


def of_moments(level: float, mean: float, deviation: float, skewness: float) -> float:
    """Return the quantile of a gamma law, moved by what its skewness says.

    By Wilson and Hilferty 1931.
    """
    away = normal_quantile(level)
    sixth = skewness / 6
    if abs(sixth) > _NO_SKEW:
        away = (max(1 + sixth * (away - sixth), 0.0) ** 3 - 1) / (3 * sixth)
    return max(mean + deviation * away, 0.0)


def waits_of_visits(
    found: int, think: float, places: Sequence[ReplicatedStation], grown: Sequence[float]
) -> list[float]:
    """Return what a visit waits at each place, in services; demands are so often as large."""
    stations: list[tuple[float, float, float, float]] = []
    for place, factor in zip(places, grown, strict=True):
        own = place.demand / place.all
        rest = place.all - place.copies
        stations.append((factor * own * place.copies, place.servers, place.load, place.copies))
        stations.append((own * rest, place.servers, place.load, rest or 1))
    return list(waits_of(found, think, tuple(stations))[::2])


def mean_of(places: Sequence[ReplicatedStation], waits: Sequence[float]) -> float:
    """Return the mean time at all places, where a visit waits so many services."""
    return sum(place.demand * (1 + wait) for place, wait in zip(places, waits, strict=True))


def moments(
    found: int, think: float, places: Sequence[ReplicatedStation]
) -> tuple[float, float, float]:
    """Return mean, deviation and skewness of the time at all stations.

    The waits for larger demands show how what is found varies.
    """
    alike = [1.0] * len(places)
    waits = waits_of_visits(found, think, places, alike)
    mean = mean_of(places, waits)
    rate = (found + 1) / (think + mean)
    variance = third = 0.0
    for place, wait in zip(places, waits, strict=True):
        part = min(place.often, 1.0)  # of who comes
        own = place.demand * place.service
        _, open_all = open_found(place.servers, place.load, wait)
        again = place.service**2 * open_all * place.pairs / place.all
        if place.shares:
            load = min((rate * place.demand / place.all + place.load) / place.servers, 1.0)
            variance += own * (1 + wait) ** 2 + (2 * own * open_all + again) / (2 - load)
        else:
            second, more_skewed = of_queue(
                place.demand, place.service, place.servers, place.load, wait=wait, again=again
            )
            variance, third = variance + second, third + more_skewed
        variance += (1 - part) / part * (place.demand * (1 + wait)) ** 2
    queues = [not place.shares for place in places]
    second, more_skewed = _spread(found, think, places, queues)
    variance, third = variance + second, third + more_skewed
    for at, place in enumerate(places):
        if place.shares:  # who is there changes meanwhile
            alone = [k == at for k in range(len(places))]
            load = (rate * place.demand / place.all + place.load) / place.servers
            more = (1 + 1 / place.visits) / (2 - min(load, 1.0))
            variance += _spread(found, think, places, alone)[0] * more
    deviation = sqrt(variance)
    if all(queues):
        return mean, deviation, third / deviation**3
    return mean, deviation, 2 * deviation / mean


def of_queue(
    moments: float, service: float, servers: float, load: float, *, wait: float, again: float
) -> tuple[float, float]:
    """Return variance and third cumulant of the time at a station, for how many are found there.

    `service` is the demand of a visit; that waits so many services. `again` is the
    variance of what one visit waits for as another one does.
    """
    spare, chance = servers - load, erlang_c(servers, load)
    first, _ = open_found(servers, load, wait)
    own = moments * service
    third = 2 * own * service * (1 + wait / spare**2)
    third += 2 * own * service * first * (2 - chance) / spare
    third += 3 * service / spare * again
    return own * (1 + wait / spare + first) + again, third


def open_found(servers: float, load: float, wait: float) -> tuple[float, float]:
    """Return variances of what a visit waits for open traffic at a copy, in services.

    Of whether it waits at all, which users alone do not decide, and of all that it finds: behind
    each of those who are waited for so many have come as an open queue of one busy server has.
    """
    chance, spare = erlang_c(servers, load), servers - load
    first = chance * (1 - chance) / spare**2
    return first, first + wait * load / servers / spare


def _spread(
    found: int, think: float, places: Sequence[ReplicatedStation], among: Sequence[bool]
) -> tuple[float, float]:
    """Return the variance of what is waited at some places for those who are found.

    And what that adds to the third cumulant: as if all services were those of the slowest place.
    """
    each = [
        place.demand / place.copies / (place.servers - place.load) if is_among else 0.0
        for place, is_among in zip(places, among, strict=True)
    ]
    most = max(each)
    if not most or not found:
        return 0.0, 0.0
    ends = []
    for step in (-_STEP, 0.0, _STEP):
        waits = waits_of_visits(found, think, places, [exp(step * one / most) for one in each])
        stays = zip(places, waits, among, strict=True)
        ends.append(sum(place.demand * wait for place, wait, is_among in stays if is_among))
    less, mean, more = ends
    variance = max((more - less) / (2 * _STEP) * most, 0.0)
    bent = (more + less - 2 * mean) * (most / _STEP) ** 2
    return variance, bent + 3 * most * variance
