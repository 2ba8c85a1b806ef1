"""Where pools saturate: between two whole populations, beside which values decide."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import pytest

from helpers.specs import lowered
from qps.engine.expressions.point_values import point_of
from qps.solver.answers.envelope import upper_envelope
from qps.solver.answers.saturation import saturation_of
from qps.solver.search.bounds import BoundedFunction
from qps.solver.search.method import SearchMethod

SHOP = """
users N in 1..20_000
machine app { cpu 8 core, queueing mmc; threads 40 thread; connections 6 connection }
machine db { cpu 16 core, queueing mmc }
component render { cpu 12 ms/request }
component read { cpu 4 ms/request }
unit thread
topology { node a = app * 4; node d = db; link lan = lan_ between a, d }
network lan_ { switched; rate 10 Gbit/s; header 66 byte/packet; propagation 0.1 ms; queueing none }
stream page for each user {
  traffic 0.1 request/s, 1 kB/request, 1400 byte/packet
  at a {
    take threads; render
    call d * 0.6 { take a.connections; read; give a.connections }
    give threads
  }
}
require { page.latency <= 100 ms }
"""


@pytest.fixture
def boxes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Return the boxes that are bounded from here on."""
    found = list[tuple[float, float]]()
    over = BoundedFunction.over

    def noted(self: BoundedFunction, low: float, high: float) -> object:
        found.append((low, high))
        return over(self, low, high)

    monkeypatch.setattr(BoundedFunction, "over", noted)
    return found


@pytest.mark.parametrize("name", ["a.threads", "a.connections"])
def test_pools_saturate_between_populations_that_values_decide(
    name: str, boxes: list[tuple[float, float]]
) -> None:
    """They were undecided after boxes of a billionth of a user, whose bounds say no more."""
    graph = lowered(SHOP)
    found = saturation_of(graph, name)
    assert found.method is SearchMethod.BRACKETED_ROOT
    assert found.at is not None
    load = graph.valued(graph.resources[name].demand / graph.resources[name].target)
    loads = [
        point_of(graph.population, Fraction(at)).number(load)
        for at in (floor(found.at), found.at, floor(found.at) + 1)
    ]
    assert loads[0] < 1 < loads[2]
    assert loads[1] == pytest.approx(1, abs=1e-7)
    assert len(boxes) < 100


def test_the_highest_load_is_followed_past_a_change(boxes: list[tuple[float, float]]) -> None:
    """It was followed up to the first change alone: behind that it was undecided."""
    graph = lowered(SHOP)
    loads = {name: graph.valued(one.demand / one.target) for name, one in graph.resources.items()}
    first, changes = upper_envelope(
        loads, graph.population, Fraction(1), Fraction(20_000), unit=1.0
    )
    print(first, changes, len(boxes))
    for at, name in [(2, first), *((floor(one.at) + 2, one.to) for one in changes)]:
        values = {
            each: point_of(graph.population, Fraction(at)).number(load)
            for each, load in loads.items()
        }
        assert name is not None
        assert values[name] == pytest.approx(max(values.values()))
