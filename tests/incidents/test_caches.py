"""Hit rates of caches, warm and cold, against simulations of requests for single items."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import OrderedDict
from itertools import accumulate
from statistics import mean

import pytest

from incidents.request_simulator import Setting, Simulation, Tier
from qps.engine.queueing.cache_hit_rates import hit_rate_after, warm_cache, zipf
from qps.solver.incidents.filling_cache import FillingCache
from qps.solver.incidents.fluid_course import fluid_course
from qps.solver.incidents.incident_system import (
    CacheFlush,
    FluidStation,
    IncidentSystem,
    RequestRoute,
    RequestStream,
    WarmingCache,
)

SIMULATED = [
    # items, exponent, size, hit rate of a simulation
    (10000, 0.6, 100, 0.0434),
    (10000, 0.6, 3000, 0.4932),
    (10000, 0.8, 1000, 0.4368),
    (10000, 1.0, 10, 0.1308),
    (10000, 1.0, 1000, 0.6755),
    (10000, 1.2, 100, 0.6563),
    (50, 0.8, 2, 0.0965),
    (50, 0.8, 20, 0.6157),
]


@pytest.mark.parametrize(("items", "exponent", "size", "simulated"), SIMULATED)
def test_a_warm_cache(items: int, exponent: float, size: int, simulated: float) -> None:
    assert warm_cache(items, exponent, size).hit_rate == pytest.approx(simulated, abs=0.002)


@pytest.mark.parametrize("exponent", [0.6, 1.0, 1.2])
def test_groups_of_items_do_not_differ_from_single_ones(exponent: float) -> None:
    items, requests = 20_000, 30_000.0
    weights = [rank**-exponent for rank in range(1, items + 1)]
    shares = [one / sum(weights) for one in weights]
    single = sum(p * (1 - (1 - p) ** requests) for p in shares)
    assert hit_rate_after(zipf(items, exponent), requests) == pytest.approx(single, abs=1e-4)


def test_a_cold_cache_fills_as_single_items_do() -> None:
    items, exponent, size = 5_000, 0.9, 1_500
    cumulated = list(accumulate((rank + 1) ** -exponent for rank in range(items)))
    number = random.Random(7)
    runs, part = 12, 500
    simulated = [0] * 16
    for _ in range(runs):
        cache: OrderedDict[int, None] = OrderedDict()
        for request in range(len(simulated) * part):
            item = bisect_left(cumulated, number.random() * cumulated[-1])
            simulated[request // part] += item in cache
            cache[item] = None
            cache.move_to_end(item)
            if len(cache) > size:
                cache.popitem(last=False)
    filling = FillingCache.of(WarmingCache(name="hits", items=items, exponent=exponent, size=size))
    filling.flush()
    for hits in simulated:
        rates = []
        for _ in range(20):
            filling.fill(part / 20)
            rates.append(filling.rate)
        assert mean(rates) == pytest.approx(hits / runs / part, abs=0.02)


def test_a_cache_for_everything_has_all_in_the_end() -> None:
    cache = FillingCache.of(WarmingCache(name="hits", items=100, exponent=0.8, size=100))
    assert cache.rate == 1
    cache.flush()
    assert cache.rate == 0
    cache.fill(1e9)
    assert cache.rate == 1


def test_a_cold_cache_overloads_a_database_as_in_a_simulation() -> None:
    items, exponent, size, rate, emptied = 50_000, 0.9, 12_500, 500.0, 5.0
    route = RequestRoute(share=1, per_hit=-1, visits=((0, 0.06),))
    system = IncidentSystem(
        stations=(FluidStation(name="db.cpu", node="db", servers=16),),
        streams=(
            RequestStream(
                name="page",
                rate=rate,
                routes=(route, RequestRoute(share=0, per_hit=1, visits=())),
                cache="hits",
            ),
        ),
        caches=(WarmingCache(name="hits", items=items, exponent=exponent, size=size),),
        flushes=(CacheFlush("hits", emptied),),
    )
    course = fluid_course(system)
    worst, cleared = [], []
    for seed in range(4):
        setting = Setting(
            rate=rate,
            front=Tier(service=0.001, cores=16, ready=1),
            database=Tier(service=0.06, cores=16, ready=1),
            timeout=1e6,
            retries=0,
            items=items,
            exponent=exponent,
            size=size,
            empty_at=emptied,
        )
        waiting = Simulation(setting, 45, seed).run().backlog
        worst.append(max(waiting) * 0.06 / 16)
        cleared.append(max(second for second, many in enumerate(waiting, 1) if many > 20))
    assert max(one.backlogs[0] for one in course.points) == pytest.approx(mean(worst), rel=0.1)
    assert course.cleared_at - emptied == pytest.approx(mean(cleared) - emptied, rel=0.12)
