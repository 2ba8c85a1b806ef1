"""The first population at which any criterion fails: the others are not searched beyond it."""

from __future__ import annotations

from math import exp
from typing import Any

import pytest

from helpers.specs import lowered
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.solver.answers import graph_criteria
from qps.solver.answers.graph_criteria import first_unacceptable, when_it_fails

SPEC = """users N in 1..9000
machine small {{ cpu 2 core, queueing mmc }}
component work {{ cpu 1 ms/request }}
topology {{ node a, b = small }}
stream first {{ traffic N * 0.2 request/s; at a {{ work }} }}
stream second {{ traffic N * 0.01 request/s; at b {{ work }} }}
require {{ {requirements} }}
"""
FAILS, HOLDS = "first.p95 <= 5 ms", "second.p95 <= 3 s"


@pytest.mark.parametrize("requirements", [(FAILS, HOLDS), (HOLDS, FAILS)])
def test_what_holds_at_the_end_is_searched_up_to_the_first_failure(
    requirements: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = lowered(SPEC.format(requirements="; ".join(requirements)))
    by_hand = next(n for n in range(5001, 9000) if _longer(5e-3, n * 0.2, 1000.0) > 1 / 20)
    searched = dict[str, int | None]()

    def recorded(graph: LoadGraph, criterion: Criterion, **more: Any) -> int | None:
        searched[criterion.name] = more["until"]
        return when_it_fails(graph, criterion, **more)

    monkeypatch.setattr(graph_criteria, "when_it_fails", recorded)
    assert first_unacceptable(graph) == by_hand
    (until,) = (end for name, end in searched.items() if "second.p95" in name)
    assert until == by_hand - 1


def _longer(time: float, arrivals: float, ends: float) -> float:
    """Return the chance of longer than a time at two servers, by the law of wait and service.

    Who waits does so for an exponential time (Erlang 1917), beside an exponential service.
    """
    load = arrivals / (2 * ends)
    waits = 2 * load**2 / (1 + load)
    behind = 2 * ends - arrivals
    both = (behind * exp(-ends * time) - ends * exp(-behind * time)) / (behind - ends)
    return (1 - waits) * exp(-ends * time) + waits * both
