"""Items of several kinds in a queue: each kind is a visit of its own, as if it were a stream."""

from __future__ import annotations

from fractions import Fraction

import pytest

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
