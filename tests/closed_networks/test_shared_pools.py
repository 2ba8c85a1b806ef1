"""Pools that several closed classes share: rows of the table against laws, specs against a game."""

from __future__ import annotations

from math import inf, isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.queueing_networks.load_dependent_mva import nested_rate
from qps.engine.queueing_networks.multiclass_load_dependent_numbers import (
    shared_rate,
    shared_time,
    shared_wait,
)
from qps.engine.queueing_networks.multiclass_mva import class_rate

law = settings(max_examples=examples(12), deadline=None)
numbers = st.floats(0.05, 2)


def shop(
    threads: int,
    connections: int,
    web: tuple[float, ...],
    base: tuple[float, ...],
    calls: tuple[float, ...],
) -> list[float]:
    """Return threads of a web server of two cores, and connections to a database of one."""
    options = [often * query for often, query in zip(calls, base, strict=True)]
    none, once = [0.0] * len(web), [1.0] * len(web)
    return [
        *(3, threads, 1, 1, *none, *once),
        *(0, 2, 0, 1, *web, *web),
        *(1, connections, 1, 1, *none, *calls),
        *(0, 1, 0, 1, *options, *options),
    ]


@given(
    st.integers(1, 40),
    st.integers(0, 40),
    st.tuples(numbers, numbers),
    st.tuples(numbers, numbers),
    st.sampled_from([(1, 2), (2, 0), (0.5, 1)]),
)
@law
def test_all_of_a_cycle_is_thought_or_is_at_some_place(
    first: int,
    second: int,
    web: tuple[float, float],
    base: tuple[float, float],
    calls: tuple[float, float],
) -> None:
    values = (first, second, 3, 1, *shop(4, 2, web, base, calls))
    busy = [0.0, 0.0]
    for k, (jobs, think) in enumerate(((first, 3), (second, 1))):
        rate = shared_rate(2, k + 1, *values)
        assert rate >= 0
        busy[0] += rate * web[k] / 2
        busy[1] += rate * base[k] * calls[k]
        if jobs:
            times = [shared_time(2, k + 1, at, *values) for at in range(4)]
            assert min(times) >= -1e-12
            # but for what an approximation is above what stations serve
            assert think + sum(times) == pytest.approx(jobs / rate, rel=0.03)
    assert max(busy) <= 1 + 1e-9


@pytest.mark.parametrize("threads", [1, 3, 16])
@pytest.mark.parametrize("jobs", [(1, 1), (10, 5), (60, 30)])
def test_classes_that_are_alike_are_one(threads: int, jobs: tuple[int, int]) -> None:
    result = shop(threads, 2, (0.1, 0.1), (0.08, 0.08), (1, 1))
    found = [shared_rate(2, k, *jobs, 2, 2, *result) for k in (1, 2)]
    one = (3, 0, threads, 1, 1, 0, 0.1, 2, 0, 1, 1, 0, 2, 1, 1, 0, 0.08, 1, 0, 1)
    assert sum(found) == pytest.approx(nested_rate(sum(jobs), 2, *one), rel=0.03)
    assert found[0] / found[1] == pytest.approx(jobs[0] / jobs[1], rel=0.01)


def test_a_pool_that_is_never_full_is_not_there() -> None:
    web, base, calls = (0.1, 0.3), (0.2, 0.05), (1, 2)
    result = shop(1000, 1000, web, base, calls)
    places = (2, 0, 1, *web, 1, 0, 1, 0.2, 0.1)
    for k in (1, 2):
        plain = class_rate(2, k, 6, 4, 2, 1, *places)
        assert shared_rate(2, k, 6, 4, 2, 1, *result) == pytest.approx(plain, rel=0.03)


def test_a_pool_shared_with_an_absent_class_is_used_alone() -> None:
    """Of the pool with a delay within, a class alone has what one class has."""
    values = (1, 3, 1, 1, 0.5, 7, 1, 1, 0, 1, 0, 1, 0.1, 9, 0.1, 9)
    alone = nested_rate(20, 2, 0, 0.1, 1, 0, 1, 1, 0.5, 3, 1, 1, 0, 0, 1, 0, 1)
    found = shared_rate(2, 1, 20, 0, 2, 1, *values[:8], 0, 50, 0, 1, 0, 0, 0, 0, *values[8:])
    assert found == pytest.approx(alone, rel=0.02)
    assert shared_rate(2, 2, 20, 0, 2, 1, *values) == 0


def test_what_never_ends_stops_who_comes_there() -> None:
    """Open traffic fills the database: who holds threads there keeps them from all others."""
    full = [*shop(4, 2, (0.1, 0.1, 0), (0.1, 0, 0), (1, 0, 0))]
    full[9] = 0.0  # the third class takes no thread
    full[32] = 1.5  # the open load of the database
    away = (0, 1, 0, 1, 0, 0, 0.1, 0, 0, 0.1)
    values = (5, 5, 5, 1, 1, 1, *full, *away)
    rates = [shared_rate(3, k, *values) for k in (1, 2, 3)]
    assert rates[:2] == [0, 0]
    assert rates[2] > 4
    assert shared_time(3, 1, 3, *values) == inf
    assert shared_wait(3, 3, *values) == inf
    assert shared_wait(3, 4, *values) < inf


# A pool with a station within; a class that also asks for a resource without a queue meanwhile.
FULL = (1, 10, 0.5, 1, 0.041, 0, 1, 1, 0, 4, 0, 1, 0.01, 0.01, 0.01, 0.01)
LIMITED = (-3, 1, 1, 1, 1, 0, 0.04, 0)


@pytest.mark.parametrize("users", [20, 30, 40, 100, 1000])
def test_what_has_no_queue_is_filled_and_no_more(users: int) -> None:
    """Where users demand more they wait there: the wait is a delay that holds places, too."""
    values = (users, users, 1, 1, *FULL, *LIMITED)
    rates = [shared_rate(2, k, *values) for k in (1, 2)]
    wait = shared_time(2, 1, 2, *values)
    is_full = wait > 0
    assert is_full == (shared_rate(2, 1, *values[:-8]) * 0.04 > 1)
    assert rates[0] * 0.04 == pytest.approx(1, rel=1e-9) if is_full else rates[0] * 0.04 < 1
    assert shared_time(2, 2, 2, *values) == 0
    times = [shared_time(2, 2, at, *values) for at in (0, 1)]
    assert 1 + sum(times) == pytest.approx(users / rates[1], rel=1e-9)
    longer = (0.041 + wait, *FULL[5:])
    varies = 0.5 * (1 + (0.051 / (0.051 + wait)) ** 2) / 2
    delayed = (users, users, 1, 1, 1, 10, varies, 1, *longer)
    for k, rate in enumerate(rates, 1):
        assert shared_rate(2, k, *delayed) == pytest.approx(rate, rel=1e-8)


def test_one_resource_is_visited_with_and_without_a_pool() -> None:
    """All visits wait as long: in the pool, before it and behind it."""
    elsewhere = (-3, 1, 0, 0, 2, 1, 0, 0)
    values = (200, 50, 1, 1, *FULL, *LIMITED[:6], 0.12, 0.01, *elsewhere)
    rates = [shared_rate(2, k, *values) for k in (1, 2)]
    assert rates[0] * 0.12 + rates[1] * 0.01 == pytest.approx(1, rel=1e-9)
    blocked = [shared_time(2, k, 2, *values) for k in (1, 2)]
    assert blocked[0] == pytest.approx(3 * blocked[1])
    assert shared_rate(2, 1, *values[:-8], *elsewhere[:2], 3, *elsewhere[3:]) != rates[0]


def test_several_resources_are_filled_at_once() -> None:
    """One of them is within the pool, which the other class then hardly needs."""
    more = (-3, 0.5, 0, 1, 0, 1, 0, 0.02)
    values = (300, 300, 1, 1, *FULL, *LIMITED, *more)
    rates = [shared_rate(2, k, *values) for k in (1, 2)]
    assert rates[0] * 0.04 == pytest.approx(1, rel=1e-9)
    assert rates[1] * 0.02 == pytest.approx(0.5, rel=1e-9)
    assert shared_time(2, 2, 3, *values) > 0
    # A class that is held up at one of them demands less of another.
    both = (-3, 0.5, 0, 1, 1, 1, 0.001, 0.02)
    blocked = (300, 300, 1, 1, *FULL, *LIMITED, *both)
    assert shared_time(2, 1, 2, *blocked) == 0


@pytest.mark.parametrize(
    "limit",
    [
        (-3, 0, 1, 1, 1, 0, 0.04, 0),  # it can do nothing
        (-3, 1, 2, 1, 1, 0, 0.04, 0),  # of no pool
        (-3, 1, 1, 0, 1, 0, 0.04, 0),  # the same as none before
        (-3, 1, 1, 2, 1, 0, 0.04, 0),
        (*LIMITED, 0, 1, 0, 1, 0.1, 0.1, 0.1, 0.1),  # before a station
    ],
)
def test_limits_that_are_none_have_no_value(limit: tuple[float, ...]) -> None:
    values = (20, 20, 1, 1, *FULL, *limit)
    assert isnan(shared_rate(2, 1, *values))
    assert isnan(shared_time(2, 1, 2, *values))


# -- specs ---------------------------------------------------------------------------------

SHOP = """
users N in 1..400
unit thread
machine browser { }
machine web { cpu 2 core, queueing mmc; threads 8 thread }
machine base { cpu 2 core, queueing mmc; conns 3 thread }
network wire { propagation 0 s }
component page { cpu 0.01 s/request }
component work { cpu 0.02 s/request }
component query { cpu 0.03 s/request }
component order { cpu 0.05 s/request }
topology {
  node user = browser * N; node shop = web; node db = base; link lan = wire between all
}
stream browse for each user {
  traffic 1 request, think 5 s
  at user {
    call shop { take threads; page; call db * 50 % { take conns; query; give conns }; give threads }
  }
}
stream buy for each user {
  traffic 1 request, think 20 s
  at user {
    call shop { take threads; work; call db * 2 { take conns; order; give conns }; give threads }
  }
}
require { buy.latency <= 1 s }
"""


@pytest.mark.parametrize(
    ("users", "browse", "buy"),
    [(20, 0.02513, 0.1208), (100, 0.02893, 0.1352), (150, 0.0389, 0.1675)],
)
def test_browsers_and_buyers_share_threads_and_connections(
    users: int, browse: float, buy: float
) -> None:
    """What `qps simulate --precision 2 %` came to."""
    graph = lowered(SHOP)
    there = graph.at(users)
    for name, played in (("browse", browse), ("buy", buy)):
        stream = graph.streams[name]
        rate, latency = there.number(stream.rate), there.number(stream.mean_latency)
        think = 5 if name == "browse" else 20
        assert rate * (think + latency) == pytest.approx(1, rel=1e-9)
        assert latency == pytest.approx(played, rel=0.06)
        assert stream.rate_known.kind is CertaintyKind.APPROXIMATION
    load = there.number(graph.resources["shop.threads"].load)
    parts = graph.resources["shop.threads"].parts
    assert load == pytest.approx(sum(there.number(part) for part in parts.values()), rel=1e-9)


KINDS = """
kinds audience of users { heavy 50 %; light 50 % }
param pause by audience { heavy 1 s; light 8 s }
"""
JOB = """
stream job%s {
  traffic %s, think %s
  at user {
    call shop { take threads; work; call db { take conns; order; give conns }; give threads }
  }
}
"""


def test_kinds_of_users_are_classes_that_share_pools() -> None:
    """Half of the users are heavy: they are a stream, and the light ones another."""
    shared = SHOP[: SHOP.index("stream browse")]
    kinds = lowered(shared + KINDS + JOB % (" for each user", "1 request", "pause"))
    apart = lowered(
        shared + JOB % ("1 in all", "40 request", "1 s") + JOB % ("2 in all", "40 request", "8 s")
    )
    there, here = kinds.at(80), apart.at(1)
    each = kinds.streams["job"].kinds
    assert len(each) == 2
    for one, name in zip(each, ("job1", "job2"), strict=True):
        whole = here.number(apart.streams[name].mean_latency)
        assert there.number(one.mean_latency) == pytest.approx(whole, rel=1e-6)
    for name in ("shop.threads", "db.conns", "db.cpu"):
        load = here.number(apart.resources[name].load)
        assert there.number(kinds.resources[name].load) == pytest.approx(load, rel=1e-6)


OPEN = """
stream poll in all {
  traffic 1 request/s
  at shop { take threads; work; give threads }
}
"""
INSIDE_OUT = """
stream other in all {
  traffic 3 request, think 1 s
  at db { take conns; order; call shop { take threads; work; give threads }; give conns }
}
"""
MORE = """
stream other in all {
  traffic 3 request, think 1 s
  at shop { take threads 2 thread; work; give threads }
}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OPEN, "open stream `poll` takes from shop.threads, too"),
        (INSIDE_OUT, "overlap without nesting"),
        (MORE, "amounts taken from"),
    ],
)
def test_what_is_unknown_is_refused_by_name(text: str, expected: str) -> None:
    with pytest.raises(QpsError, match=expected):
        lowered(SHOP + text)
