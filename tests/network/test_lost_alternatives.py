"""Alternatives of which some lose items: those who are left have made them by Bayes' rule."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest

from helpers.specs import lowered
from qps.compiler.lower.load_graph import LoadGraph

FUNCTION = """
users N in 1..100_000
machine fn { slots 100 core, queueing loss }
component warm { slots 120 ms/request }
component cold { slots 920 ms/request }
component start { slots 800 ms/request }
topology { node f = fn }
stream asks in all { traffic N * 0.1 request/s; at f { %s } }
require { asks.p99 <= 1 hour }
"""
BACKENDS = """
users N in 1..100_000
param away = 50 %% in 0..100 %%
machine small { cpu 1 core, queueing loss }
machine large { cpu 100 core, queueing mmc }
machine client { }
network lan { propagation 0 s }
component work { cpu 10 ms/request }
component short { cpu 1 ms/request }
topology {
  node caller = client
  node first = small
  node second = large
  link wire = lan between caller, first, second
}
stream asks in all {
  traffic N * 1 request/s, 1 byte/request
  event hit = away
  at caller { %s }
  at second { %s }
}
require { asks.p99 <= 1 hour }
"""


def blocked(servers: int, erlangs: float) -> float:
    """Return the share of Erlang's loss system that is lost, by his recursion."""
    lost = 1.0
    for server in range(1, servers + 1):
        lost = erlangs * lost / (server + erlangs * lost)
    return lost


def number(graph: LoadGraph, name: str, users: int) -> float:
    at, stream = graph.at(users), graph.streams["asks"]
    if name == "loss":
        return float(at.number(stream.loss))
    if name == "mean":
        return float(at.number(stream.mean_latency))
    if name.startswith("p"):
        return float(at.number(stream.latency_quantile(Fraction(name[1:]) / 100)))
    return float(at.number(graph.resources[name].load))


@pytest.mark.parametrize("steps", ["one of { 2 %: cold; else: warm }", "2 %: start; warm"])
def test_a_limit_of_concurrency_blocks_cold_and_warm_starts_alike(steps: str) -> None:
    """Erlang's formula holds for services of any law; who is served has the same shares."""
    graph = lowered(FUNCTION % steps)
    erlangs = 700 * (0.98 * 0.12 + 0.02 * 0.92)
    assert number(graph, "loss", 7000) == pytest.approx(blocked(100, erlangs))
    assert number(graph, "mean", 7000) == pytest.approx(0.98 * 0.12 + 0.02 * 0.92)
    p99 = number(graph, "p99", 7000)
    assert 0.98 * exp(-p99 / 0.12) + 0.02 * exp(-p99 / 0.92) == pytest.approx(0.01)


@pytest.mark.parametrize("users", [10, 200, 2000])
@pytest.mark.parametrize(
    "steps",
    [
        "one of { away: call first { work }; else: call second { work } }",
        "one of { away: call second { work }; else: call first { work } }",
        "one of { hit: call first { work }; else: call second { work } }",
        "one of { 20 %: call first {work}; 50 %: call second {work}; else: call first {work} }",
    ],
)
def test_what_one_alternative_loses_is_missing_of_it_alone(steps: str, users: int) -> None:
    """The other has all of its own flow, whichever is written first; 10 ms each, hardly a wait."""
    graph = lowered(BACKENDS % (steps, "short"))
    lost = blocked(1, users / 2 * 10e-3)
    left = 1 - lost / 2
    assert number(graph, "loss", users) == pytest.approx(lost / 2)
    behind = users * left * 1e-3
    assert number(graph, "second.cpu", users) == pytest.approx((users / 2 * 10e-3 + behind) / 100)
    assert number(graph, "first.cpu", users) == pytest.approx((1 - lost) * users / 2 * 10e-3)
    assert number(graph, "mean", users) == pytest.approx(11e-3, rel=1e-6)


@pytest.mark.parametrize("users", [100, 1000, 9000])
def test_who_is_left_has_made_the_other_alternative_more_often(users: int) -> None:
    steps = "one of { away: call first { work }; else: call second { short } }"
    graph = lowered(BACKENDS % (steps, ""))
    lost = blocked(1, users / 2 * 10e-3)
    long = (1 - lost) / 2 / (1 - lost / 2)
    assert number(graph, "mean", users) == pytest.approx(long * 10e-3 + (1 - long) * 1e-3)
    for level in "p50", "p90", "p99":
        t = number(graph, level, users)
        late = long * exp(-t / 10e-3) + (1 - long) * exp(-t / 1e-3)
        assert late == pytest.approx(1 - float(level[1:]) / 100, rel=1e-6)


@pytest.mark.parametrize(
    ("steps", "then"),
    [
        ("hit: call first { work }; hit: call second { work }", ""),
        ("hit: call first { work }", "hit: work"),
    ],
)
@pytest.mark.parametrize("users", [200, 2000])
def test_an_event_decides_again_for_those_who_are_left(steps: str, then: str, users: int) -> None:
    """Whoever was not lost at the first machine, and asked there, works at the second one."""
    graph = lowered(BACKENDS % (steps, then))
    kept = (1 - blocked(1, users / 2 * 10e-3)) / 2
    assert number(graph, "loss", users) == pytest.approx(0.5 - kept)
    assert number(graph, "second.cpu", users) == pytest.approx(users * kept * 10e-3 / 100)
    share = kept / (0.5 + kept)
    assert number(graph, "mean", users) == pytest.approx(share * 20e-3, rel=1e-6)
