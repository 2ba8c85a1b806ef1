"""Servers without a queue: Erlang's B, in mixes and in rows, and what follows."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest

from helpers.specs import lowered
from oracles.chains import shares
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.quantities.certainty import CertaintyKind


def _lines(steps: str, more: str = "", lines: int = 5) -> str:
    return (
        "users N in 1..400\n"
        f"machine exchange {{ lines {lines} core, queueing loss }}\n"
        "machine other { lines 3 core, queueing loss }\n"
        "machine desk { cpu 4 core, queueing mmc }\n"
        "component talk { lines 100 s/call }\ncomponent answer { cpu 1 s/call }\n"
        "network lan { propagation 1 ms }\n"
        "topology { node a = exchange; node b = other; node c = desk\n"
        "link l = lan between a, b, c }\n"
        f"stream s in all {{ traffic N * 0.001 call/s, 100 byte/call; {steps} }}\n{more}"
    )


def _loss(graph: LoadGraph, users: int, name: str = "s") -> float:
    return graph.at(users).number(graph.streams[name].loss)


def _blocked(traffic: Fraction, lines: int) -> Fraction:
    return shares(lambda _: traffic, Fraction, lines)[-1]


@pytest.mark.parametrize("users", [1, 10, 44, 50, 100, 400])
def test_the_share_is_erlangs_also_beyond_all_that_can_be_served(users: int) -> None:
    graph = lowered(_lines("at a { talk }"))
    lost = _blocked(Fraction(users, 10), 5)
    assert _loss(graph, users) == pytest.approx(float(lost))
    assert graph.at(users).number(graph.streams["s"].lost_by(LossKind.BLOCKED)) == _loss(
        graph, users
    )
    carried = Fraction(users, 10) * (1 - lost) / 5
    assert graph.at(users).number(graph.resources["a.lines"].load) == pytest.approx(float(carried))
    assert graph.at(users).number(graph.streams["s"].mean_latency) == pytest.approx(100)
    assert graph.streams["s"].latency_certainty.kind is CertaintyKind.EXACT


def test_streams_lose_alike_and_long_calls_count_as_long() -> None:
    more = (
        "component long { lines 300 s/call }\n"
        "stream t in all { traffic N * 0.002 call/s, 100 byte/call; at a { long } }\n"
    )
    graph = lowered(_lines("at a { talk }", more))
    lost = float(_blocked(Fraction(10 * 7, 10), 5))
    assert [_loss(graph, 10, name) for name in "st"] == pytest.approx([lost, lost])


def test_what_is_lost_loads_nothing_that_follows() -> None:
    graph = lowered(_lines("at a { talk; talk }; over l; at b { talk }; over l; at c { answer }"))
    first = _blocked(Fraction(40 * 2, 10), 5)
    rest = Fraction(40, 10) * (1 - first)
    second = _blocked(rest, 3)
    at = graph.at(40)
    assert _loss(graph, 40) == pytest.approx(float(1 - (1 - first) * (1 - second)))
    served = rest / 100 * (1 - second)
    assert at.number(graph.resources["c.cpu"].load) == pytest.approx(float(served / 4))
    assert at.number(graph.streams["s"].rate) == pytest.approx(float(served))


def test_what_is_lost_holds_no_place_behind() -> None:
    steps = "at a { talk }; over l; at c { take seats; answer; give seats }"
    text = _lines(steps).replace("queueing mmc }", "queueing mmc; seats 7 seat }")
    graph = lowered(f"unit seat\n{text}")
    at = graph.at(40)
    served = Fraction(40, 1000) * (1 - _blocked(Fraction(40, 10), 5))
    assert at.number(graph.resources["c.seats"].load) == pytest.approx(float(served / 7))


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(99, 100)])
def test_quantiles_behind_lines_are_those_of_a_sum(level: Fraction) -> None:
    """Of a service and a passage of M/M/1, both exponential: they were added up."""
    text = _lines("at a { talk }; over l; at c { answer }")
    graph = lowered(text.replace("4 core, queueing mmc", "1 core, queueing mm1"))
    at = graph.at(40)
    load = at.number(graph.resources["c.cpu"].load)
    rates = 1 / 100, 1 - load
    time = at.number(graph.streams["s"].latency_quantile(level)) - 0.001
    early, late = (exp(-rate * time) for rate in rates)
    longer = (rates[1] * early - rates[0] * late) / (rates[1] - rates[0])
    assert longer == pytest.approx(float(1 - level), rel=1e-4)


def test_what_comes_back_is_refused() -> None:
    with pytest.raises(QpsError, match="depends on itself"):
        lowered(_lines("at a { talk }; over l; at c { answer }; over l; at a { talk }"))
