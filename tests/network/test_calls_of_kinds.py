"""Calls of users and items of several kinds, also simulated."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heappush
from math import floor, log
from random import Random
from statistics import fmean

import pytest

from helpers.breakdowns import explain
from helpers.specs import at, lowered
from network.test_calls import Times, added, spec

# -- users and items of several kinds -------------------------------------------------

KINDS = """
kinds audience {of} {{ light 60 %; heavy 40 % }}
param misses by audience {{ light 0 %; heavy 100 % }}
param often by audience {{ light 0; heavy 2 }}
param some by audience {{ light 10 %; heavy 50 % }}
param long by audience {{ light 1 ms/request; heavy 10 ms/request }}
param lost by audience {{ light 0 %; heavy 20 % }}
component give_up {{ drop lost }}
"""

OF_KINDS = [{"weight": 0.6, "misses": 0.0, "often": 0.0, "some": 0.1, "long": 1.0, "lost": 0.0},
            {"weight": 0.4, "misses": 1.0, "often": 2.0, "some": 0.5, "long": 10.0, "lost": 0.2}]  # fmt: skip

WAYS = [  # how often each call is made, in calls, and what its step takes
    ("work(long)", [], "long"),
    ("call db * misses { work(long) }", ["misses"], "long"),
    ("call db * misses { call cache * misses { work(long) } }", ["misses", "misses"], "long"),
    ("call db * some { call cache * some { work(long) } }", ["some", "some"], "long"),
    ("call db * often { work(1 ms/request) }", ["often"], "1"),
    ("call db * some { call cache * often { work(1 ms/request) } }", ["some", "often"], "1"),
    ("call db * 50 % { call cache * misses { work(long) } }", ["0.5", "misses"], "long"),
]


def of_kind(kind: dict[str, float], name: str) -> Fraction:
    return Fraction(str(kind[name])) if name in kind else Fraction(name)


@pytest.mark.parametrize("of", ["", "of users"])
@pytest.mark.parametrize(("way", "often", "takes"), WAYS)
def test_kinds_call_and_take_what_each_of_them_does(
    way: str, often: list[str], takes: str, of: str
) -> None:
    """The mean of how often was multiplied by the mean of how long, and none was slower."""
    text = spec(f"at web {{ {way} }}", more=KINDS.format(of=of)).replace(
        "switched; rate 1 Mbit/s; header 66 byte/packet; propagation 1 ms",
        "switched; rate 1e30 bit/s",
    )
    graph = lowered(text)
    distribution: Times = {}
    mean = calls_made = Fraction(0)
    for kind in OF_KINDS:
        weight, long = of_kind(kind, "weight"), of_kind(kind, takes) / 1000
        times: Times = {long: Fraction(1)}
        for how_often in reversed([of_kind(kind, name) for name in often]):
            more = how_often - floor(how_often)
            once, times = times, {Fraction(0): Fraction(1)}
            for _ in range(floor(how_often)):
                times = added(times, once)
            again = {time: share * more for time, share in once.items()}
            again[Fraction(0)] = again.get(Fraction(0), Fraction(0)) + 1 - more
            times = added(times, again)
        for time, share in times.items():
            distribution[time] = distribution.get(time, Fraction(0)) + weight * share
            mean += weight * share * time
        if often:
            calls_made += weight * of_kind(kind, often[0])
    stream = graph.streams["shop"]
    assert at(graph, stream.mean_latency, 1) == pytest.approx(mean)
    if often:
        each = stream.latency_of_calls("db")
        assert each is not None
        assert at(graph, each, 1) == pytest.approx(mean / calls_made)
    for level in map(Fraction, ("1/2", "3/4", "9/10", "99/100")):
        found, near = at(graph, stream.latency_quantile(level), 1), Fraction(1, 10**9)
        below = sum(share for time, share in distribution.items() if time < found - near)
        at_most = sum(share for time, share in distribution.items() if time <= found + near)
        assert below <= level <= at_most
        known = stream.quantile_certainty(level)  # its machines state no queueing
        assert {why.method for why in known.because} == {"no-queueing-delay"}


def test_waits_of_kinds_that_call_both_are_counted_as_often_as_they_wait() -> None:
    """Of the 40 % that call all call again: a share of 16 % was counted."""
    way = "at web { call db * misses { call cache * misses { work(4 ms/request) } } }"
    text = spec(way, ", queueing mm1", more=KINDS.format(of="of users"))
    graph = lowered(text.replace("cpu 2 core", "cpu 1 core"))
    stream = graph.streams["shop"]
    waits = sum(at(graph, p.value, 50) for p in stream.latency if p.queue and p.times is not None)
    busy = Fraction(50 * 4 * 4, 10000)
    assert waits == pytest.approx(Fraction(4, 10) * busy / (1 - busy) * Fraction(4, 1000))


def test_the_tree_of_calls_shows_what_callers_do() -> None:
    way = "at web { call db * misses { work(long); call cache * often { work(1 ms/request) } } }"
    text = spec(way, more=KINDS.format(of="of users")).replace(
        "switched; rate 1 Mbit/s; header 66 byte/packet; propagation 1 ms",
        "switched; rate 1e30 bit/s",
    )
    made = [(c.name, c.times, c.each) for c in explain(lowered(text), "shop.latency", 10).calls]
    values = [each for each in made if each[0] in ("call db", "db", "call cache")]
    assert values == [
        ("call db", "40 %", "12 ms"),
        ("db", "", "10 ms"),
        ("call cache", "2", "1 ms"),
    ]


@pytest.mark.parametrize("way", ["give_up; give_up", "call db * misses { spill; spill }"])
def test_who_loses_at_one_stage_loses_at_the_next(way: str) -> None:
    graph = lowered(spec(f"at web {{ {way} }}", more=KINDS.format(of="of users")))
    stream = graph.streams["shop"]
    left = Fraction(6, 10) + Fraction(4, 10) * Fraction(8, 10) ** 2
    assert at(graph, stream.rate, 1) == left
    assert at(graph, stream.loss, 1) == 1 - left


def test_the_quantile_of_a_queue_is_that_of_the_slowest_kind() -> None:
    """Of the 40 % that take 10 ms on average, e^(-t/10 ms) take longer than t without any wait."""
    text = spec("at web { work(long) }", ", queueing mm1", more=KINDS.format(of="of users"))
    graph = lowered(text.replace("cpu 2 core", "cpu 1 core"))
    value = at(graph, graph.streams["shop"].latency_quantile(Fraction(99, 100)), 1)
    assert value > 0.010 * log(0.4 / 0.01)


# -- by simulation --------------------------------------------------------------------

QUEUED = """
users N in 1..1000
machine pod { cpu 1 core, queueing mm1 }
network net { switched; rate 1e30 bit/s }
component work(t) { cpu t }
topology { node web = pod; node db = pod; node left = pod; node right = pod; link lan = net between web, db, left, right }
stream asked in all {
  traffic N * 1 request/s, 1 byte/request
  at web {
    work(1 ms/request)
    call db * 20 % { work(10 ms/request) }
    together { call left { work(5 ms/request) }; call right { work(4 ms/request) } }
  }
}
"""

SERVED = {"web": 0.001, "db": 0.010, "left": 0.005, "right": 0.004}


def simulated(requests: int, rate: float) -> list[float]:
    """Return how long requests take that arrive at random and wait at each node in turn."""
    chance = Random(7)
    waiting: list[tuple[float, int, str, int]] = []
    now = 0.0
    starts = []
    for request in range(requests):
        now += chance.expovariate(rate)
        starts.append(now)
        heappush(waiting, (now, 0, "web", request))
    busy_until = dict.fromkeys(SERVED, 0.0)
    ends: dict[int, float] = {}
    while waiting:
        now, _, node, request = heappop(waiting)
        served = max(busy_until[node], now) + chance.expovariate(1 / SERVED[node])
        busy_until[node] = served
        is_miss = node == "web" and chance.random() < 1 / 5
        for following in ["db"] if is_miss else ["left", "right"] if node in ("web", "db") else []:
            heappush(waiting, (served, 1, following, request))
        if node in ("left", "right"):
            ends[request] = max(ends.get(request, 0.0), served)
    return sorted(ends[request] - start for request, start in enumerate(starts))


def test_quantiles_of_calls_are_near_simulated_requests() -> None:
    graph = lowered(QUEUED)
    stream = graph.streams["asked"]
    times = simulated(60_000, 100.0)
    mean = float(at(graph, stream.mean_latency, 100))
    assert fmean(times) < mean < 1.05 * fmean(times)
    for level in ("1/2", "9/10", "99/100"):
        predicted = float(at(graph, stream.latency_quantile(Fraction(level)), 100))
        found = times[int(Fraction(level) * len(times))]
        assert predicted == pytest.approx(found, rel=0.15), level
