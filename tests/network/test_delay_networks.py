"""A network without a rate is a delay: it takes its propagation time, and loads nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import at, checked, latency, load, lowered

_SPEC = """
users N in 1..100
network wire {{ {} }}
machine box {{ cpu 1 core, queueing mm1 }}
machine desk {{ }}
component work {{ cpu 5 ms/request }}
topology {{ node host = box; node seat = desk * N; link lan = wire between host, seat }}
stream job for each seat {{ traffic 1 request/s{}; at seat {{ }}; over lan; at host {{ work }} }}
"""


@pytest.mark.parametrize("size", ["", ", 1 kB/request"])
def test_a_delay_adds_its_propagation_alone(size: str) -> None:
    graph = lowered(_SPEC.format("propagation 3 ms", size))
    assert list(graph.resources) == ["host.cpu"]
    # 3 ms on the way, and 5 ms at a load of one half.
    assert latency(graph, "job", 100) == Fraction(13, 1000)


def test_a_delay_may_lose_what_comes() -> None:
    graph = lowered(_SPEC.format("propagation 3 ms; loss 20 %", ""))
    assert at(graph, graph.streams["job"].loss, 100) == Fraction(1, 5)
    assert load(graph, "host.cpu", 100) == Fraction(4, 10)


@pytest.mark.parametrize(
    "more", ["header 38 byte/request", "cap 100 request/s", "queueing md1", "jitter 1 ms^2 * load"]
)
def test_what_needs_a_load_needs_a_rate(more: str) -> None:
    with pytest.raises(AssertionError, match="network `wire` has no rate"):
        checked(_SPEC.format(f"propagation 3 ms; {more}", ", 1 kB/request"))
