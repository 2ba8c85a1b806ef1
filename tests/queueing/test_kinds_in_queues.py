"""Items of several kinds in a queue: each kind is a visit of its own, as if it were a stream."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest

import qps
from helpers.specs import at, lowered
from qps.compiler.lower.load_graph import LoadGraph

KINDS = """
users N in 1..12
kinds ask { small 60 %; large 40 % }
param time by ask { small 0.05 s/request; large 0.2 s/request }
machine m { cpu 1 core, queueing DISCIPLINE }
component work { cpu time }
component small { cpu 0.05 s/request }
component large { cpu 0.2 s/request }
topology { node s = m }
"""
MIXED = "stream job in all { traffic N * 0.5 request/s; at s { work } }\n"
APART = """
stream lesser in all { traffic N * 0.3 request/s; at s { small } }
stream greater in all { traffic N * 0.2 request/s; at s { large } }
"""


def _latency(graph: LoadGraph, stream: str, population: int) -> Fraction:
    return sum(
        (at(graph, part.value, population) for part in graph.streams[stream].latency), Fraction(0)
    )


@pytest.mark.parametrize(
    ("discipline", "second"),
    [("mm1", 2), ("md1", 1), ("mg1 cv 0.5", Fraction(5, 4)), ("mg1 cv 1", 2), ("ps", None)],
)
def test_each_kind_of_items_waits_as_a_stream_of_its_own(
    discipline: str, second: Fraction | None
) -> None:
    text = KINDS.replace("DISCIPLINE", discipline)
    mixed, apart = lowered(text + MIXED), lowered(text + APART)
    found = _latency(mixed, "job", 10)
    each = _latency(apart, "lesser", 10) * 3 / 5 + _latency(apart, "greater", 10) * 2 / 5
    assert found == each
    mean, squares = Fraction(11, 100), Fraction(6, 10) / 400 + Fraction(4, 10) / 25
    wait = (
        mean * Fraction(55, 45) if second is None else 5 * second * squares / 2 / Fraction(45, 100)
    )
    assert found == mean + wait  # Pollaczek and Khinchine, by hand
    assert mixed.streams["job"].latency_certainty.kind.value == "exact"


def test_periodic_items_of_several_kinds_are_approximated() -> None:
    """One flow of 5 a second waits for its own large ones: 25.5 ms in a simulation."""
    graph = lowered(KINDS.replace("DISCIPLINE", "periodic") + MIXED)
    assert 0.0255 < float(_latency(graph, "job", 10)) - 0.11 < 0.05
    assert graph.streams["job"].latency_certainty.kind.value == "approximation"


# -- percentiles of all kinds together ---------------------------------------------------

LEVELS = [Fraction(1, 2), Fraction(9, 10), Fraction(95, 100), Fraction(99, 100)]


def _share_later(seconds: float) -> float:
    """Return the share of 10 users' items that stay longer, by the partial fractions of M/G/1.

    The wait has a transform with two poles; each kind's exponential service is added to it.
    """
    each = [(3.0, 0.05), (2.0, 0.2)]  # items a second, and their mean service
    loads = [rate * mean for rate, mean in each]
    (first, short), (second, long) = zip(loads, (0.05, 0.2), strict=True)
    spare = 1 - first - second
    # 1 - l1/(1 + s m1) - l2/(1 + s m2), times both denominators
    slope = short + long - first * long - second * short
    poles = np.roots([short * long, slope, spare])
    weights = [
        -spare * (1 + one * short) * (1 + one * long) / (one * short * long * (one - other))
        for one, other in (poles, poles[::-1])
    ]
    assert sum(weights) == pytest.approx(first + second)
    found = 0.0
    for rate, mean in each:
        own = spare * exp(-seconds / mean)
        for weight, pole in zip(weights, poles, strict=True):
            ends, served = -pole, 1 / mean
            both = ends * exp(-served * seconds) - served * exp(-ends * seconds)
            own += weight * both / (ends - served)
        found += rate / 5 * own
    return found


@pytest.mark.parametrize("of", ["", "of users"])
def test_percentiles_are_those_of_all_kinds_together(of: str) -> None:
    """Of the slowest kind the median was twice as long."""
    text = KINDS.replace("DISCIPLINE", "mm1").replace("kinds ask", f"kinds ask {of}") + MIXED
    graph = lowered(text)
    stream, there = graph.streams["job"], graph.at(10)
    for level in LEVELS:
        found = float(there.number(stream.latency_quantile(level)))
        assert _share_later(found) == pytest.approx(float(1 - level), rel=1e-6)
        later = stream.later(Fraction(found))
        assert float(there.number(later)) == pytest.approx(float(1 - level), rel=1e-6)
        known = stream.quantile_certainty(level)
        assert known.kind.value == "exact"
        assert "mixture-of-classes" in {theorem.method for theorem in known.theorems}


def test_kinds_have_the_mean_of_their_stream() -> None:
    graph = lowered(KINDS.replace("DISCIPLINE", "mg1 cv 2") + MIXED)
    stream, there = graph.streams["job"], graph.at(10)
    pairs = zip(stream.weights, stream.kinds, strict=True)
    means = [there.number(weight * kind.mean_latency) for weight, kind in pairs]
    assert len(means) == 2
    assert float(sum(means)) == pytest.approx(float(there.number(stream.mean_latency)))


IN_LINE = """
users N in 1..12
kinds ask of users { few 75 %; many 25 % }
param pace by ask { few 0.2 request/s; many 1 request/s }
param often by ask { few 30 %; many 100 % }
param long by ask { few 0.1 s/request; many 0.3 s/request }
machine m { cpu 1 core, queueing mm1 }
component look { cpu 0.1 s/request }
component work { cpu long }
network wire { propagation 1 us }
topology { node front = m; node back = m; link lan = wire between front, back }
stream job for each user { traffic pace; at front { look; call back * often { work } } }
require { job.latency <= 1 hour }
"""


def _simulated(population: int, levels: list[float]) -> list[float]:
    """Return quantiles of the same, item by item: Lindley's recursion at both stations."""
    chance, items = np.random.default_rng(3), 2_000_000
    is_many = chance.random(items) < 0.25 / (0.25 + 0.15)
    rate = population * (0.25 + 0.15)
    comes = np.cumsum(chance.exponential(1 / rate, items))
    leaves = _departures(comes, 0.1 * chance.exponential(size=items))
    calls = chance.random(items) < np.where(is_many, 1.0, 0.3)
    served = np.where(is_many, 0.3, 0.1)[calls] * chance.exponential(size=calls.sum())
    ends = leaves.copy()
    ends[calls] = _departures(leaves[calls], served)
    return list(np.quantile(ends - comes, levels))


def _departures(comes: np.ndarray, served: np.ndarray) -> np.ndarray:
    steps = np.cumsum(served)
    return steps + np.maximum.accumulate(comes - steps + served)


def test_kinds_that_call_unlike_often_are_as_simulated() -> None:
    """Each kind is weighed by how many of the requests are its own, not by its users."""
    graph = lowered(IN_LINE)
    stream, there = graph.streams["job"], graph.at(6)
    found = [float(there.number(stream.latency_quantile(level))) for level in LEVELS]
    expected = _simulated(6, [float(level) for level in LEVELS])
    assert found == pytest.approx(expected, rel=0.02)


def test_rows_of_a_matrix_have_the_percentiles_of_kinds() -> None:
    axes = 'matrix speeds "How fast?" { effort in 0.05..0.15 s/request by 0.05 s/request }\n'
    text = IN_LINE.replace("0.1 s/request }\ncomponent work", "effort }\ncomponent work")
    text += "param effort = 0.1 s/request in 0.01..1 s/request\nrequire { job.p95 <= 2 s }\n"
    table = qps.loads(text + axes).matrix().to_arrow()
    for effort, most in zip(
        table["effort"].to_pylist(), table["capacity"].to_pylist(), strict=True
    ):
        view = qps.loads(text).solve(set={"effort": f"{effort} s/request"})
        assert view.capacity == most
