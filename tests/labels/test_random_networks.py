"""NumberFacts of random networks that were far off once, against their simulation."""

from __future__ import annotations

from fractions import Fraction

import pytest

from qps.compiler.lower.load_graph import LoadGraph
from simulated.generated import spec_of
from simulated.judge import graph_of


def _value(graph: LoadGraph, stream: str, measure: str) -> float:
    of, point = graph.streams[stream], graph.at(1)
    if measure == "rate":
        return point.number(of.rate)
    if measure == "latency":
        return point.number(of.mean_latency)
    return point.number(of.latency_quantile(Fraction(measure.removeprefix("p")) / 100))


@pytest.mark.parametrize(
    ("seed", "stream", "simulated", "off"),
    [
        # Who goes after others waits for a long time, or not at all.
        (108120, "s2", {"p95": 1.197, "p99": 1.990}, 0.15),
        # Behind users who fill a station open traffic waits for nearly the same time.
        (108195, "oa", {"p50": 0.579, "p95": 0.884, "p99": 1.045}, 0.05),
        # Where services are fixed, open traffic beside users waits half as long.
        (107127, "oc", {"latency": 0.0857, "p95": 0.1739, "p99": 0.2449}, 0.15),
        # In a finite room services vary as they do elsewhere.
        (108153, "s1", {"p95": 2.049, "p99": 3.714}, 0.05),
        # A cycle counts a service once that is done while a pool is held, and elsewhere without.
        (108205, "s0", {"rate": 0.4686}, 0.05),
        (107050, "s2", {"rate": 0.4728, "latency": 22.51}, 0.15),
    ],
)
def test_numbers_are_near_those_of_the_simulation(
    seed: int, stream: str, simulated: dict[str, float], off: float
) -> None:
    graph = graph_of(spec_of(seed))
    for measure, value in simulated.items():
        assert _value(graph, stream, measure) == pytest.approx(value, rel=off), measure
