"""Users of unlike services who hold places of a pool, against simulations that share nothing."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random
from statistics import fmean

import pytest

from helpers.specs import lowered
from oracles.closed import pooled_alternatives

SHOP = """
users N in 1..2000
machine app_vm { cpu 4 core, queueing mmc; connections 20 connection }
machine db_vm  { cpu 4 core, queueing mmc; disk 1 core, queueing mm1 }
network lan { propagation 0.5 ms }
component page   { cpu 20 ms/request }
component pay    { cpu 60 ms/request }
component lookup { cpu 15 ms/request; disk 4 ms/request }
component order  { cpu 50 ms/request; disk 25 ms/request }
topology { node app = app_vm; node db = db_vm; link l = lan between app, db }
stream shop for each user {
  traffic 1 request, think 5 s
  at app {
    one of {
      80 %: { page; take connections; call db { lookup }; give connections }
      else: { pay; take connections; call db { order }; give connections }
    }
  }
}
"""
LEVELS = tuple(Fraction(one) for one in ("1/2", "19/20", "99/100"))


@pytest.mark.parametrize(
    ("users", "rate", "mean"),
    [(200, 39.49, 0.0676), (450, 87.92, 0.1137), (600, 114.0, 0.2737), (690, 121.15, 0.7024)],
)
def test_users_wait_as_simulated_before_and_beyond_a_full_pool(
    users: int, rate: float, mean: float
) -> None:
    """Simulated apart; as if services were alike, the means of 450 and 600 were 24 % too short."""
    stream, at = (graph := lowered(SHOP)).streams["shop"], graph.at(users)
    assert at.number(stream.rate) * users == pytest.approx(rate, rel=0.01)
    assert at.number(stream.mean_latency) == pytest.approx(mean, rel=0.05)
    assert "residual-service" in stream.latency_certainty.methods
    assert stream.latency_certainty.error == 0.2


def test_times_grow_with_users_and_percentiles_are_around_their_mean() -> None:
    stream, graph = lowered(SHOP).streams["shop"], lowered(SHOP)
    found = []
    for users in (1, 2, 20, 21, 100, 450, 600, 640, 690, 1500, 2000):
        at = graph.at(users)
        mean = at.number(stream.mean_latency)
        times = [at.number(stream.latency_quantile(level)) for level in LEVELS]
        assert 0 < times[0] < times[1] < times[2]
        assert times[0] < 1.05 * mean < 1.1 * times[1]
        found.append((mean, *times))
    for before, after in pairwise(found):
        assert all(late > early * (1 - 1e-6) for early, late in zip(before, after, strict=True))


def test_no_more_places_are_held_than_there_are() -> None:
    graph = lowered(SHOP)
    load = graph.resources["app.connections"].load
    assert all(graph.at(users).number(load) <= 1 + 1e-6 for users in (20, 600, 700, 2000))


@pytest.mark.parametrize("seed", [7004, 7010, 7016, 7036, 7048])
def test_users_who_hold_places_are_within_the_errors(seed: int) -> None:
    net = pooled_alternatives.network(Random(seed))
    rate, times = pooled_alternatives.played(net, Random(seed), 25_000)
    stream, at = (graph := lowered(pooled_alternatives.spec_of(net))).streams["s"], graph.at(1)
    assert at.number(stream.rate) == pytest.approx(rate, rel=0.07)
    assert at.number(stream.mean_latency) == pytest.approx(fmean(times), rel=0.2)
    for level in (Fraction(19, 20), Fraction(99, 100)):
        expected = times[int(level * len(times))]
        assert at.number(stream.latency_quantile(level)) == pytest.approx(expected, rel=0.4)
