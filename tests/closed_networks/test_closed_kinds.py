"""Kinds of users who wait for their answer are classes: against plain mean value analysis."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product

import pytest

from helpers.specs import lowered
from qps.compiler.lower.load_graph import LoadGraph

SPEC = """
users N in 1..60
kinds audience of users {{ light 60 %; heavy 40 % }}
param often by audience {{ light 1; heavy 3 }}
param pause by audience {{ light 4 s; heavy {pause} }}
machine box {{ cpu 1 core, queueing ps; disk 1 core, queueing ps }}
network wire {{ {wire} }}
component work {{ cpu 40 ms/request }}
component seek {{ disk 25 ms/request }}
topology {{ node one = box; node two = box; link lan = wire between one, two }}
stream job for each user {{
  traffic 1 request, 1 kB/request, think pause
  at one {{ work; call two * often {{ seek }} }}
}}
"""


def graph_of(pause: str = "1 s", wire: str = "propagation 0 s") -> LoadGraph:
    return lowered(SPEC.format(pause=pause, wire=wire))


def rates_of(jobs: tuple[int, int], think: tuple[F, F], demands: list[tuple[F, F]]) -> list[F]:
    queues: dict[tuple[int, int], list[F]] = {(0, 0): [F(0)] * len(demands)}
    rates = [F(0), F(0)]
    for here in product(range(jobs[0] + 1), range(jobs[1] + 1)):
        rates, own = [F(0), F(0)], [F(0)] * len(demands)
        for k in (0, 1):
            if not here[k]:
                continue
            seen = queues[(here[0] - (k == 0), here[1] - (k == 1))]
            times = [options[k] * (1 + held) for options, held in zip(demands, seen, strict=True)]
            rates[k] = here[k] / (think[k] + sum(times, F(0)))
            own = [held + rates[k] * time for held, time in zip(own, times, strict=True)]
        queues[here] = own
    return rates


@pytest.mark.parametrize("users", [5, 40])
def test_each_kind_is_a_class(users: int) -> None:
    graph = graph_of()
    jobs, think = (users * 3 // 5, users * 2 // 5), (F(4), F(1))
    rates = rates_of(jobs, think, [(F(40, 1000), F(40, 1000)), (F(25, 1000), F(75, 1000))])
    there, stream = graph.at(users), graph.streams["job"]
    for name, rate in zip(("job (light)", "job (heavy)"), rates, strict=True):
        assert there.number(graph.closed[name].throughput) == pytest.approx(float(rate))
    assert there.number(stream.rate) == pytest.approx(float(sum(rates)) / users)
    waited = [n - rate * z for n, rate, z in zip(jobs, rates, think, strict=True)]
    assert there.number(stream.mean_latency) == pytest.approx(float(sum(waited) / sum(rates)))
    load = float(F(25, 1000) * (rates[0] + 3 * rates[1]))
    assert there.number(graph.resources["two.disk"].load) == pytest.approx(load)


@pytest.mark.parametrize("level", [F(1, 2), F(19, 20), F(99, 100)])
def test_a_percentile_is_that_of_a_mixture_of_the_kinds(level: F) -> None:
    graph = graph_of()
    stream, there = graph.streams["job"], graph.at(40)
    found = there.number(stream.latency_quantile(level))
    later = [there.number(kind.later(F(found))) for kind in stream.kinds]
    rates = [there.number(graph.closed[kind.name].throughput) for kind in stream.kinds]
    mixed = sum(rate * share for rate, share in zip(rates, later, strict=True)) / sum(rates)
    assert mixed == pytest.approx(1 - level, rel=1e-5)
    assert there.number(stream.later(F(found))) == pytest.approx(mixed)
    assert "slowest-kind" not in {why.method for why in stream.quantile_certainty(level).because}


def test_parts_of_users_are_reported() -> None:
    reasons = graph_of().streams["job"].rate_known.reasons
    assert any("a fractional number of requests in flight of" in reason for reason in reasons)


def test_kinds_share_a_network_that_states_no_queueing() -> None:
    graph = graph_of(wire="rate 200 kbit/s; queueing none")
    there = graph.at(60)
    assert there.number(graph.resources["lan"].load) == pytest.approx(1)
    rates = [there.number(closed.throughput) for closed in graph.closed.values()]
    bits = 8 * 1000 * (2 * rates[0] + 6 * rates[1])
    assert bits == pytest.approx(200_000)
