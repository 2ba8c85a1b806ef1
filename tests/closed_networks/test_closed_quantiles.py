"""How long a cycle of a closed network takes: quantiles, held against the states one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import exp, factorial, lgamma, log

import pytest

from helpers.breakdowns import explain
from helpers.specs import lowered
from oracles.shared_chain import open_quantiles
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.queueing_networks import cycle_time_quantiles
from qps.engine.queueing_networks.cycle_time_moments import moments, of_moments
from qps.engine.queueing_networks.cycle_time_transform import law_of
from qps.engine.queueing_networks.product_form import closed_rate
from qps.engine.queueing_networks.visited_copies import ReplicatedStation, place_of
from qps.reports.text.words.quantities import undecided_point

NETWORKS = {
    "two": (6, 3.0, [(0.5, 1, 0.0, 1, 1.0), (0.9, 1, 0.0, 1, 1.0)]),
    "copies, other traffic, and calls by a share": (
        5,
        3.0,
        [(0.5, 1, 0.3, 3, 2.0), (0.9, 3, 0.8, 2, 0.4)],
    ),
    "several servers again": (7, 2.0, [(0.5, 4, 0.0, 1, 3.0), (0.3, 1, 0.2, 1, 0.5)]),
    "nobody thinks": (4, 0.0, [(0.5, 2, 0.5, 3, 1.0), (0.2, 5, 0.0, 1, 1.0)]),
    "nobody else": (0, 1.0, [(0.5, 2, 0.5, 1, 1.0)]),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_transform_is_that_of_all_states(name: str) -> None:
    found, think, result = NETWORKS[name]
    places = tuple(place_of(one[:4], (one[4], False), min(one[3], 2)) for one in result)
    law = law_of(found, think, places)
    assert law is not None
    for at in (0.3 + 0j, 1 + 2j):
        expected = by_states(found, think, places, at) / by_states(found, think, places, 0j)
        assert abs(law._weight(at) / law._weight(0j) - expected) < 1e-12


@pytest.mark.parametrize("load", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("shares", [False, True])
def test_one_user_with_open_traffic_varies_as_the_open_queue_does(
    load: float, *, shares: bool
) -> None:
    """The variance of processor sharing is that of Coffman, Muntz and Trotter (1970)."""
    place = place_of((0.5, 1, load, 1), (1.0, shares), 1)
    mean, deviation, skewness = moments(0, 1e9, (place,))
    times = (2 + load) / (2 - load) if shares else 1.0
    assert mean == pytest.approx(0.5 / (1 - load))
    assert deviation == pytest.approx(mean * times**0.5)
    if not shares:
        assert skewness == pytest.approx(2)


def by_states(
    found: int, think: float, places: tuple[ReplicatedStation, ...], at: complex
) -> complex:
    """Return the weights of all states, each with the transform of the stays in it."""
    weights = [complex(think**k / factorial(k)) for k in range(found + 1)]
    for place in places:
        for copy in range(int(place.all)):
            own = _weights(found, place, at if copy < place.copies else 0j)
            weights = [
                sum((weights[j] * own[k - j] for j in range(k + 1)), 0j) for k in range(found + 1)
            ]
    return weights[found]


def _weights(found: int, place: ReplicatedStation, at: complex) -> list[complex]:
    return [
        sum((_weight(place, closed, opened, at) for opened in range(150 if place.load else 1)), 0j)
        for closed in range(found + 1)
    ]


def _weight(place: ReplicatedStation, closed: int, opened: int, at: complex) -> complex:
    """Return the weight of so many at a copy, with the transform of the stay of one who comes."""
    there, options = closed + opened, place.demand / place.all
    weight = lgamma(there + 1) - lgamma(closed + 1) - lgamma(opened + 1) + closed * log(options)
    weight += opened * log(place.load) if opened else 0.0
    weight -= sum(log(min(k, place.servers)) for k in range(1, there + 1))
    often, part = max(place.often, 1.0), min(place.often, 1.0)
    ahead = max(0, there - place.servers + 1)
    stay = (1 + at * place.service) ** -often
    stay *= (1 + at * place.service / place.servers) ** -(often * ahead)
    return exp(weight) * (1 - part + part * stay)


@pytest.mark.parametrize("customers", [5, 11, 20])
def test_one_station_is_a_mix_of_erlang_laws(customers: int) -> None:
    think, service = 10.0, 1.0
    weights = [
        think ** (customers - 1 - n) / factorial(customers - 1 - n) for n in range(customers)
    ]
    for level in (0.5, 0.95, 0.999, 0.9999, 0.999999):
        time = cycle_time_quantiles.closed_quantile(
            level, customers, think, service, 1.0, 0.0, 1.0, 1.0, 0.0
        )
        terms = accumulate(exp(-time) * time**k / factorial(k) for k in range(customers))
        late = sum(w * later for w, later in zip(weights, terms, strict=True)) / sum(weights)
        assert late == pytest.approx(1 - level, rel=1e-6)


PLAYED = [
    ((40, 5.0, 3, 2.0), (6.326, 13.255, 17.757)),
    ((30, 2.0, 5, 1.9), (3.148, 7.879, 10.564)),
    ((10, 2.0, 2, 2.5), (3.56, 7.73, 9.98)),
]
"""Customers, their think time, copies and visits of any of them, 0.4 s each: p50, p95 and p99."""


@pytest.mark.parametrize(("network", "played"), PLAYED)
def test_visits_at_random_may_be_of_one_copy(
    network: tuple[int, float, int, float], played: tuple[float, float, float]
) -> None:
    """Visits were told as of copies that differ, or all of one: 0.69 to 1.24 times as long."""
    customers, think, copies, visits = network
    for level, time in zip((0.5, 0.95, 0.99), played, strict=True):
        operands = (0.4 * visits, 1, 0, copies, visits, 0)
        value = cycle_time_quantiles.closed_quantile(level, customers, think, *operands)
        assert value == pytest.approx(time, rel=0.065)


@pytest.mark.parametrize("whole", [1, 2, 3])
def test_no_quantile_jumps_where_copies_or_visits_come_to_a_whole_number(whole: int) -> None:
    """It fell at once, by a fifth at two visits and by a quarter at two copies."""

    def result(copies: float, visits: float) -> float:
        operands = (0.4 * visits, 1, 0.513, copies, visits, 0, 0.3, 1, 0, 2.5, 1.3, 0)
        return cycle_time_quantiles.closed_quantile(0.98, 30, 10.647, *operands)

    least = 1e-7
    assert result(whole - least, 3.61) == pytest.approx(result(whole, 3.61), rel=1e-5)
    assert result(5, whole - least) == pytest.approx(result(5, whole), rel=1e-5)
    assert result(5, 1.26 * whole - least) == pytest.approx(result(5, 1.26 * whole), rel=1e-5)


def test_so_many_are_reported_by_moments() -> None:
    """Beyond the knee by three moments, which is as the law has it; and no slower for millions."""
    station = (1.0, 1.0, 0.0, 1.0, 1.0, 0.0)
    for customers, shares in ((1_100, 0.001), (1_300, 0.0002)):
        places = (
            ReplicatedStation(
                demand=1.0, servers=1, load=0.0, all=1.0, visits=1.0, shares=False, copies=1
            ),
        )
        law = law_of(customers - 1, 1000.0, places)
        assert law is not None
        value = of_moments(0.99, *moments(customers - 1, 1000.0, places))
        assert value == pytest.approx(law.quantile(0.99), rel=10 * shares)
    million = cycle_time_quantiles.closed_quantile(0.95, 2e6, 1e6, *station)
    mean = 2e6 / closed_rate(2e6, 1e6, *station[:4]) - 1e6
    assert 1 < million / mean < 1.01


def test_the_median_is_not_far_above_the_mean() -> None:
    """Jain, 34.2: it was told as 231 s, where the mean is 56 s."""
    stations = ((2.0, 16.0), (3.0, 10.0), (1.0, 5.0))
    operands = [x for options, often in stations for x in (options, 1.0, 0.0, 1.0, often, 0.0)]
    assert cycle_time_quantiles.closed_quantile(0.5, 20, 4, *operands) == pytest.approx(
        56.2, rel=0.01
    )


POOL = """
users N in 1..400
unit thread
machine front { cpu 4 core, queueing mmc; threads 8 thread }
machine back { cpu 1 core, queueing mm1 }
machine desk { }
network wire { propagation 0 s }
component work { cpu 50 ms/request }
component query { cpu 20 ms/request }
topology { node seat = desk * N; node a = front; node b = back; link lan = wire between all }
stream job for each seat {
  traffic 1 request, think 5 s
  at a { take threads; work; call b { query }; give threads }
}
require { job.latency <= 1 s }
"""


def test_beyond_the_knee_the_wait_for_a_pool_varies_little() -> None:
    """Played: 1.91 s on average, 2.51 s at 95 %; as exponential it was told as 5 s and more."""
    graph = lowered(POOL)
    job, point = graph.streams["job"], graph.at(340)
    assert point.number(job.mean_latency) == pytest.approx(1.92, rel=0.02)
    assert point.number(job.latency_quantile(Fraction(95, 100))) == pytest.approx(2.51, rel=0.06)


SPEEDS = """
users N in 1..400
machine gpu { gpu 1 core, queueing ps speeds [1, 1.9, 2.7, 3.4, 4, 4.5, 5]; memory 40 GB }
machine desk { }
component write { gpu 4 s/request }
network wire { propagation 20 ms }
topology { node seat = desk * N; node box = gpu * 4; link lan = wire between all }
stream chat for each seat {
  traffic 1 request, think 45 s
  at seat { call box { take memory 1.5 GB; write; give memory } }
}
"""


@pytest.mark.parametrize("users", [1, 2, 3, 17, 50])
def test_a_pool_that_nobody_waits_for_leaves_the_quantile_what_it_is(users: int) -> None:
    """The wait for a place is a difference, which came to less than none: there was no answer."""
    graph = lowered(SPEEDS)
    value = graph.at(users).number(graph.streams["chat"].latency_quantile(Fraction(95, 100)))
    assert 0.95 * (4 * log(20) + 0.04) < value < 16


def test_the_quantile_of_a_cycle_is_reported_with_its_error() -> None:
    """By the law of all stays together, which three levels of one stream share."""
    graph = lowered(POOL.replace("take threads; ", "").replace("give threads", ""))
    job, point = graph.streams["job"], graph.at(200)
    values = [point.number(job.latency_quantile(Fraction(n, 1000))) for n in (500, 950, 999)]
    stations = (0.05, 4.0, 0.0, 1.0, 1.0, 0.0, 0.02, 1.0, 0.0, 1.0, 1.0, 0.0)
    for level, time in zip((0.5, 0.95, 0.999), values, strict=True):
        expected = cycle_time_quantiles.closed_quantile(level, 200, 5, *stations)
        assert time == pytest.approx(expected, rel=1e-9)
    known = job.quantile_certainty(Fraction(95, 100))
    assert known.kind is CertaintyKind.APPROXIMATION
    assert known.error is not None


def _alone(queueing: str, jobs: int, think: str, level: float) -> tuple[float, float]:
    """Return the mean and a quantile of the response time of one station of a class beside one."""
    graph = lowered(f"""
users N in 1..400
machine box {{ cpu 1 core, queueing {queueing} }}
component work {{ cpu 1 s/request }}
topology {{ node a = box; node b = box }}
stream job in all {{ traffic {jobs} request, think {think}; at a {{ work }} }}
stream other in all {{ traffic 1 request, think 1000 s; at a {{ work }} }}
""")
    job, point = graph.streams["job"], graph.at(1)
    known = Fraction(str(level))
    return point.number(job.mean_latency), point.number(job.latency_quantile(known))


def test_who_share_a_full_server_vary_as_their_services_do() -> None:
    """Played: a quantile of 95 % of three times the mean. It was told as that of a row."""
    mean, late = _alone("ps", 60, "1 s", 0.95)
    assert late == pytest.approx(mean * log(20), rel=0.02)


@pytest.mark.parametrize(
    ("queueing", "jobs", "think", "level", "played", "off"),
    [
        ("md1", 1, "10000 s", 0.95, 1.0, 0.25),
        ("md1", 6, "1 s", 0.95, 5.90, 0.25),
        ("mg1 cv 0.5", 6, "1 s", 0.95, 7.33, 0.25),
        ("mg1 cv 2", 6, "20 s", 0.95, 7.38, 0.3),  # 5.32 is told: 28 % short
    ],
)
def test_services_that_vary_otherwise_count_in_quantiles(
    queueing: str, jobs: int, think: str, level: float, played: float, off: float
) -> None:
    """As exponential ones they were told up to twice as long, or half as long."""
    assert _alone(queueing, jobs, think, level)[1] == pytest.approx(played, rel=off)


@pytest.mark.parametrize("users", [50, 340])
def test_the_parts_of_a_cycle_come_to_its_quantile(users: int) -> None:
    """They are the means, and by how much the whole cycle is later: that of stages was told."""
    graph = lowered(POOL.replace("take threads; ", "").replace("give threads", ""))
    explanation = explain(graph, "quantile(job.latency, 95 %)", users)
    shares = [
        float(part.share.removesuffix(" %")) for part in explanation.parts
    ]  # none unless they add up
    assert sum(shares) == pytest.approx(100, abs=0.5)


@pytest.mark.parametrize(
    ("at", "not_below", "expected"),
    [
        (None, 7, "≥ 7"),
        (30_850.2, 30_849, "30,849–30,851"),
        (30_851.5, 30_852, "30,852"),
    ],
)
def test_where_a_resource_saturates_is_reported_in_order(
    at: float | None, not_below: int, expected: str
) -> None:
    """Four digits of the later end lay below the earlier one."""
    assert undecided_point(at, not_below) == expected


@pytest.mark.parametrize(
    ("users", "think", "service", "load"),
    [
        (2, 2.0, 5.0, 0.3),
        (5, 10.0, 1.0, 0.3),
        (5, 10.0, 1.0, 0.6),
        (5, 2.0, 1.0, 0.4),
        (3, 3, 9, 0.1),
    ],
)
def test_what_open_traffic_takes_that_shares_with_users(
    users: int, think: float, service: float, load: float
) -> None:
    """It was told as exponential: half as long at p99.9, half as long again at p50."""
    text = (
        "users N in 1..50\nnetwork wire { propagation 0 s }\n"
        "machine m { cpu 1 core, queueing ps }\nmachine pc { }\n"
        f"component a {{ cpu {service} s/request }}\ncomponent b {{ cpu 1 s/request }}\n"
        "topology { node web = m; node client = pc * N; link lan = wire between all }\n"
        f"stream page for each client {{ traffic 1 request, 1 kB/request, think {think} s\n"
        "at client { }; at web { a }; at client { } }\n"
        f"stream video in all {{ traffic {load} request/s, 1 bit/request; at web {{ b }} }}\n"
    )
    graph = lowered(text)
    video, at = graph.streams["video"], graph.at(users)
    levels = ["0.5", "0.9", "0.99", "0.999"]
    mean, played = open_quantiles(users, think, service, load, [float(one) for one in levels])
    assert at.number(video.mean_latency) == pytest.approx(mean, rel=0.001)
    for level, long in zip(levels, played, strict=True):
        value = at.number(video.latency_quantile(Fraction(level)))
        assert 0.8 < value / long < 1.15
    known = video.quantile_certainty(Fraction(95, 100))
    assert known.kind is CertaintyKind.APPROXIMATION
    assert known.error is not None
    assert 0.2 < known.error <= 1
    assert any("0.75–1.15×" in reason for reason in known.reasons)


BY_CHANCE = """
users N in 1..2
machine one { cpu 1 core, queueing ps }
machine box { }
network wire { propagation 1 us }
component pause { delay 2 s }
component rest { delay 50 ms }
component work { cpu 1 ms/request }
component long { cpu 90 s/request }
topology { node root = box; node a = one; link l = wire between root, a }
stream users_who_wait in all {
  traffic 3 request, 1 kB/request, think 20 s
  at root { %s }
  at a { %s }
}
"""


@pytest.mark.parametrize("level", ["1/2", "95/100", "99/100"])
def test_a_delay_by_chance_is_none_or_whole(level: str) -> None:
    """Two of a hundred pause for 2 s: the others take none of it, and nobody 40 ms."""
    graph = lowered(BY_CHANCE % ("2 %: pause; rest", "work"))
    (stream,) = graph.streams.values()
    found = float(graph.at(1).number(stream.latency_quantile(Fraction(level))))
    expected = 2.051 if level == "99/100" else 0.051
    assert found == pytest.approx(expected, abs=6e-3)


def test_alternatives_of_unlike_services_are_no_service_of_their_mean() -> None:
    """One in a hundred takes 90 s. Simulated is a median of 51.49 ms, ± 0.01 %."""
    graph = lowered(BY_CHANCE % ("rest", "work; one of { 1 %: long; else: work }"))
    (stream,) = graph.streams.values()
    found = float(graph.at(1).number(stream.latency_quantile(Fraction(1, 2))))
    assert found == pytest.approx(51.49e-3, rel=2e-3)


UNLIKE = """
users N in 1..4
machine front {{ }}
machine own {{ cpu 1 core, queueing {queueing} }}
network wire {{ propagation 0 s }}
component work(s) {{ cpu s }}
topology {{ node root = front; node a = own; link l = wire between all }}
stream page in all {{
  traffic {jobs} request, 1 byte/request, think 0.3 s
  at root {{ call a {{ work(10 ms/request) }}; call a {{ work(100 ms/request) }} }}
}}
"""


@pytest.mark.parametrize("queueing", ["ps", "mm1"])
def test_unlike_services_of_one_user_vary_as_each_does(queueing: str) -> None:
    """Exponential times of 10 and 100 ms exceed t by (10 exp(-10 t) - exp(-100 t))/9, t in s."""
    (stream,) = (graph := lowered(UNLIKE.format(queueing=queueing, jobs=1))).streams.values()
    for level in ("9/10", "99/100"):
        found = float(graph.at(1).number(stream.latency_quantile(Fraction(level))))
        longer = (10 * exp(-10 * found) - exp(-100 * found)) / 9
        assert log(longer) == pytest.approx(log(1 - Fraction(level)), rel=0.06)


def test_users_who_share_for_unlike_services() -> None:
    """Simulated without QPS: p95 2.273 and p99 3.454 s, ± 0.5 %."""
    (stream,) = (graph := lowered(UNLIKE.format(queueing="ps", jobs=10))).streams.values()
    for level, played in (("95/100", 2.273), ("99/100", 3.454)):
        found = float(graph.at(1).number(stream.latency_quantile(Fraction(level))))
        assert found == pytest.approx(played, rel=0.06)


def test_work_of_some_items_where_nobody_waits_is_no_fixed_time() -> None:
    """Three of ten requests take over a second more: half of all take no longer than the others."""
    graph = lowered(
        "users N in 1..2\nmachine ma { cpu 2 core, queueing mmc }\n"
        "machine mb { cpu 16 core, queueing none }\nmachine mc { cpu 8 core, queueing mmc }\n"
        "network wire { propagation 1 us }\ncomponent work(s) { cpu s }\n"
        "topology { node a = ma * 2; node b = mb * 3; node c = mc; link l = wire between all }\n"
        "stream job in all { traffic 40 request, 1000 bit/request, think 2 s; at a {\n"
        "  work(74.857 ms/request); call b over l * 30 % { work(1.2602 s/request) }\n"
        "  call c over l { work(0.13547 s/request) } } }\n"
    )
    there, job = graph.at(1), graph.streams["job"]
    simulated = {50: 0.268, 95: 1.6095, 99: 1.834}
    for level, time in simulated.items():
        found = there.number(job.latency_quantile(Fraction(level, 100)))
        assert found == pytest.approx(time, rel=0.01)
