"""Pools: what is taken by one step and given back by a later one, against exact laws and a game."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from math import isinf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.specs import checked, load, lowered
from oracles.pool_simulation import Step, simulated
from pools.pool_specs import NESTED, OPEN, STREAM, held, law, reported, spec
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.certainty import EXACT, CertaintyKind
from qps.engine.expressions.formulas import ZERO
from qps.solver.answers.graph_solution import solve
from qps.solver.what_if.inverse import solve_for

# -- limits that are exact -----------------------------------------------------------------


def test_what_waits_for_nothing_meanwhile_is_held_by_littles_law_exactly() -> None:
    """10 requests a second hold 2 of 8 places for 200 ms, and those of no place wait."""
    graph = lowered(spec("at web { take threads; nap; give threads }", web=(1, 1, 8), nap=200))
    assert load(graph, "web.threads", 100) == Fraction(1, 4)
    assert graph.resources["web.threads"].known.is_exact


def test_an_amount_is_held_of_what_is_measured_in_bytes() -> None:
    graph = lowered(spec("at web { take memory 200 MB; nap; give memory }", nap=200))
    assert load(graph, "web.memory", 100) == Fraction(2 * 200, 4000)


def test_what_is_too_little_for_one_more_is_not_there() -> None:
    """Of 4 GB thirteen can take 300 MB each; the last 100 MB are of use to nobody."""
    graph = lowered(spec("at web { take memory 300 MB; nap; give memory }", nap=200))
    assert load(graph, "web.memory", 100) == Fraction(2, 13)
    assert load(graph, "web.memory", 650) == 1


def test_capacity_left_by_sessions_is_taken_whole_by_whole() -> None:
    """1 GB of 4 is kept: ten times 280 MB are left, and 200 MB of no use to anybody."""
    keep = "component session { memory 1 GB }\n"
    graph = lowered(
        keep + spec("at web { session; take memory 280 MB; nap; give memory }", nap=200)
    )
    assert load(graph, "web.memory", 500) == 1
    assert load(graph, "web.memory", 250) == Fraction(1, 4) + Fraction(3, 4) / 2


def test_what_every_flow_keeps_for_good_is_no_longer_free() -> None:
    """1 GB of 4 is kept: of the other three, 2 times 300 MB are held."""
    keep = "component session { memory 1 GB }\n"
    graph = lowered(
        keep + spec("at web { session; take memory 300 MB; nap; give memory }", nap=200)
    )
    assert load(graph, "web.memory", 100) == Fraction(1600, 4000)


@law
@given(st.integers(1, 8), st.sampled_from([1.0, 5.0]), st.integers(1, 8), st.integers(0, 30))
def test_one_place_lets_through_one_at_a_time(
    cores: int, work: float, others: int, nap: int
) -> None:
    """The limit is one over the time of all that is done meanwhile, and nobody waits within."""
    graph = lowered(spec(web=(cores, work, 1), db=(others, 8, 3), nap=nap))
    whole = (work + nap + 8) / 1000
    for at in (round(f * 10 / whole) for f in (0.2, 0.5, 0.9)):
        assert held(graph, "web.threads", at) == pytest.approx(at / 10 * whole, rel=1e-6)
    full = round(10 / whole)
    assert held(graph, "web.threads", full + 1) >= 1
    assert isinf(reported(graph, full + 1))


@law
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 30), st.sampled_from([0.2, 0.6, 0.95]))
def test_places_without_end_are_no_pool(cores: int, others: int, nap: int, part: float) -> None:
    at = int(part * 10 * min(cores / 0.005, others / 0.008))
    hardware = {"nap": nap, "web": (cores, 5, 100_000), "db": (others, 8, 100_000)}
    pool, none = lowered(spec(**hardware)), lowered(spec(OPEN, **hardware))  # type: ignore[arg-type]
    assert reported(pool, at) == pytest.approx(reported(none, at), rel=1e-6)
    in_work = at / 10 * reported(none, at)
    assert held(pool, "web.threads", at) * 100_000 == pytest.approx(in_work, rel=1e-4)


def test_a_processor_with_fewer_places_than_it_could_use_makes_nobody_later() -> None:
    """On one core, work is done in the same order whether it waits for the core or a place."""
    for places in (1, 2, 7):
        graph = lowered(spec("at web { take threads; work; give threads }", web=(1, 5, places)))
        for at in (200, 1000, 1900):
            assert reported(graph, at) == pytest.approx(0.005 / (1 - at / 2000), rel=1e-6)
            expected = sum(min(n, places) * (1 - at / 2000) * (at / 2000) ** n for n in range(9999))
            assert held(graph, "web.threads", at) == pytest.approx(expected / places, rel=1e-6)


@pytest.mark.parametrize("queueing", ["md1", "mg1 cv 0.5", "mg1 cv 3"])
@pytest.mark.parametrize("places", [2, 7, 60])
def test_a_pool_around_one_core_makes_nobody_later_by_any_law_of_service(
    places: int, queueing: str
) -> None:
    """Work is done in the same order; a pool that is hardly ever full is held for all of it."""
    way = "at web { take threads; work; give threads }"
    hardware = {"web": (1, 5, places), "queueing": f", queueing {queueing}"}
    pool, none = lowered(spec(way, **hardware)), lowered(spec("at web { work }", **hardware))  # type: ignore[arg-type]
    for at in (200, 1000, 1600):
        assert reported(pool, at) == pytest.approx(reported(none, at), rel=1e-6)
    hardly = held(pool, "web.threads", 200) * places
    assert hardly <= 20 * reported(none, 200) + 1e-9
    if places > 7:
        assert hardly == pytest.approx(20 * reported(none, 200), rel=0.02)


def test_a_pool_is_held_while_others_are_waited_for_who_take_none_of_it() -> None:
    """By Little's law, where all queues are those of random arrivals."""
    way = "at web { take threads; work; give threads }"
    other = STREAM.replace("page", "other") % "at web { work }"
    text = spec(way, web=(1, 5, 2000)) + other
    graph = lowered(text)
    assert reported(graph, 800) == pytest.approx(0.005 / 0.2, rel=1e-6)
    assert held(graph, "web.threads", 800) == pytest.approx(80 * 0.025 / 2000, rel=1e-6)


def test_what_many_machines_wait_for_is_that_of_each() -> None:
    """Twice as many requests at twice as many machines hold as much of each pool."""
    way = "at web { take threads; work; give threads }"
    for web in ((1, 5, 3), (4, 5, 6)):
        one = spec(way, web=web)
        two = lowered(one.replace("node web = app", "node web = app * 2"))
        at = int(1600 * web[0])
        expected = held(lowered(one), "web.threads", at)
        assert held(two, "web.threads", 2 * at) == pytest.approx(expected, rel=1e-9)


# -- laws ----------------------------------------------------------------------------------


@law
@given(
    st.integers(1, 8), st.integers(1, 8), st.integers(1, 40), st.integers(1, 40), st.integers(0, 30)
)
def test_a_pool_saturates_where_what_goes_on_in_it_lets_no_more_through(
    cores: int, others: int, threads: int, slots: int, nap: int
) -> None:
    """No pool carries more than its cores, nor than its places where nobody waits within."""
    hardware = {"nap": nap, "web": (cores, 5, threads), "db": (others, 8, slots)}
    graph = lowered(spec(**hardware))  # type: ignore[arg-type]
    most = min(cores / 0.005, others / 0.008, slots / 0.008, threads / (0.013 + nap / 1000))
    before = 0.0
    for part in (0.1, 0.4, 0.7, 1.0, 1.3):
        now = held(graph, "web.threads", int(part * 10 * most) + 1)
        assert now >= before - 1e-9
        before = now
    assert before >= 1
    more = lowered(spec(**{**hardware, "web": (cores, 5, threads + 5)}))  # type: ignore[arg-type]
    at = int(4 * most) + 1
    assert held(more, "web.threads", at) <= held(graph, "web.threads", at) + 1e-9


def test_more_than_one_stream_shares_a_pool() -> None:
    """Twice the same stream is one of twice the traffic."""
    one = spec().replace("N * 0.1", "N * 0.2")
    half = STREAM % NESTED
    two = spec() + half.replace("stream page", "stream other")
    whole, parts = lowered(one), lowered(two)
    for at in (100, 1500, 2300):
        assert held(whole, "web.threads", at) == pytest.approx(held(parts, "web.threads", at))
        assert reported(whole, at) == pytest.approx(reported(parts, at))
    assert set(parts.resources["web.threads"].parts) == {"page", "other"}


# -- a game --------------------------------------------------------------------------------

GAMES = [
    # threads, cores, ms; slots, cores, ms; ms that nobody works; error of loads, and of latencies
    ((4, 1, 10), (20, 1, 0.1), 0, 0.03, 0.06),
    ((50, 8, 5), (20, 4, 8), 1, 0.05, 0.08),
    ((10, 2, 5), (20, 4, 8), 20, 0.05, 0.05),
    ((20, 4, 5), (4, 4, 8), 0, 0.03, 0.05),
    ((20, 8, 5), (3, 1, 4), 20, 0.03, 0.05),
]


@pytest.mark.parametrize(("web", "db", "nap", "load_error", "error"), GAMES)
def test_nested_pools_are_as_simulated(
    web: tuple[int, int, float],
    db: tuple[int, int, float],
    nap: float,
    load_error: float,
    error: float,
) -> None:
    """At 85 % of what the outer one lets through: threads are held while slots are waited for."""
    (threads, cores, work), (slots, others, query) = web, db
    graph = lowered(spec(web=(cores, work, threads), db=(others, query, slots), nap=nap))
    full = bisect_left(range(99_999), 1.0, key=lambda n: held(graph, "web.threads", n))
    at = -(-full * 6 // 7)
    steps: list[Step] = [
        ("take", "threads", 0), ("work", "web", work / 1000), ("wait", "", nap / 1000),
        ("take", "slots", 0), ("work", "db", query / 1000), ("give", "slots", 0),
        ("give", "threads", 0),
    ]  # fmt: skip
    places = {"threads": threads, "web": cores, "slots": slots, "db": others}
    played = simulated(at / 10, steps, places, 60_000)
    assert held(graph, "web.threads", at) == pytest.approx(played.loads["threads"], rel=load_error)
    assert held(graph, "db.slots", at) == pytest.approx(played.loads["slots"], rel=load_error)
    assert reported(graph, at) == pytest.approx(played.latency, rel=error)


# -- answers -------------------------------------------------------------------------------


def test_a_pool_is_a_limit_with_a_label_and_requested_by_its_size() -> None:
    text = spec(web=(8, 5, 10), nap=20) + "require { page.latency <= 60 ms }\n"
    text = text.replace("threads 10 thread", "threads room").replace(
        "unit thread", "unit thread\nparam room = 10 thread in 1..500 thread"
    )
    spec_ = checked(text)
    found = solve(lowered(text))
    assert found.graph.resources["web.threads"].known.kind is CertaintyKind.APPROXIMATION
    assert found.capacity is not None
    at = found.capacity + 500
    (interval,) = solve_for(spec_.model, spec_.configuration(), "room", at).intervals
    with_room = lowered(text, f"room={interval.low} thread")
    assert reported(with_room, at) <= 0.06 + 1e-9


def test_a_queue_whose_speed_goes_by_how_many_are_there_is_refused_within_a_pool() -> None:
    text = spec(web=(1, 5, 200), db=(1, 8, 20), queueing=", queueing ps speeds [1, 1.8, 2.4]")
    with pytest.raises(QpsError, match="its speed is load-dependent"):
        lowered(text)


def test_users_who_wait_take_equally_much_of_a_pool_each_time() -> None:
    """Taking now more, now less ended in a fault of ours."""
    with pytest.raises(QpsError, match="amounts taken from"):
        lowered("""
users people in 1..20
machine person { }
machine gpu { gpu 1 core; memory 50 GB }
component write { gpu 6 s/request }
network wire { propagation 0 s }
topology { node desk = person * people; node box = gpu; link lan = wire between all }
stream chat for each desk {
  traffic 1 request, think 1 minute
  at desk {
    call box { take memory 1 GB; write; give memory; take memory 2 GB; write; give memory }
  }
}
""")


def test_closed_users_never_fail_a_pool_so_that_values_that_support_them_are_reported() -> None:
    """They ask for no more than there is: what is kept for good is all that may be too much."""
    text = """
unit thread
users N in 1..100
param think = 5 s in 1..20 s
machine web { cpu 1 core, queueing mmc; threads 4 thread }
component work { cpu 15 ms/request }
topology { node shop = web }
stream page for each user {
  traffic 1 request, 1 kB/request, think think
  at shop { take threads; work; give threads }
}
require { page.latency <= 10 s }
"""
    graph = lowered(text)
    pool = next(one for one in graph.criteria if one.name == "shop.threads.utilization")
    assert (pool.measure, pool.known) == (ZERO, EXACT)
    spec = checked(text)
    found = solve_for(spec.model, spec.configuration(None, []), "think", 20)
    assert [(one.low, one.high) for one in found.intervals] == [(1, 20)]


# users, places, thinking and holding in seconds: p50, p95 and p99 of the machine repair model
FEW_USERS = [
    (10, 2, 0.5, 0.14, 0.2402, 0.6860, 0.9378),
    (10, 1, 1.0, 0.1, 0.2157, 0.7253, 1.0149),
    (30, 5, 1.0, 0.2, 0.2687, 0.7848, 1.1086),
    (60, 10, 1.0, 0.3, 0.7449, 1.4793, 1.9622),
    (200, 8, 4.0, 0.15, 0.1871, 0.5876, 0.8342),
]


@pytest.mark.parametrize(("users", "places", "think", "held", "p50", "p95", "p99"), FEW_USERS)
def test_few_users_wait_for_no_more_than_there_are(
    users: int, places: int, think: float, held: float, p50: float, p95: float, p99: float
) -> None:
    """Of ten users of one place p99 was 1.9 times as long, as if any number could wait."""
    graph = lowered(
        "users N in 1..2\nunit thread\n"
        f"machine box {{ cpu {places + 2} core, queueing mmc; threads {places} thread }}\n"
        f"component work {{ cpu {held} s/request }}\ntopology {{ node a = box }}\n"
        f"stream s in all {{ traffic {users} request, 1 bit/request, think {think} s\n"
        "at a { take threads; work; give threads } }"
    )
    for level, value in ((50, p50), (95, p95), (99, p99)):
        found = graph.at(1).number(graph.streams["s"].latency_quantile(Fraction(level, 100)))
        assert found == pytest.approx(value, rel=0.125)
