"""Users who wait at a station where some go first: against the rows of one class, and a chain."""

from __future__ import annotations

import pytest

from helpers.specs import lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.engine.queueing_networks.product_form import closed_rate
from qps.solver.answers.graph_solution import solve

SPEC = """
users N in 1..10
machine server {{ cpu 1 core, queueing priority{how} }}
machine desk {{ }}
network office {{ propagation 0 s }}
component short {{ cpu 100 ms/request }}
component long {{ cpu 40 ms/request }}
topology {{ node s = server; node r = desk * N; node w = desk * 4; link lan = office between s, r, w }}
stream quick for each r {{
  traffic 1 request, think 1 s
  priority 1
  at r {{ }}
  at s {{ short }}
}}
stream slow for each w {{
  traffic 1 request, think 1 s
  priority 2
  at w {{ }}
  at s {{ long }}
}}
"""  # noqa: E501 - a statement a line


def test_who_goes_first_sees_nobody_else() -> None:
    graph = lowered(SPEC.format(how=" preemptive"))
    for users in (1, 5, 10):
        rate = graph.at(users).number(graph.closed["quick"].throughput)
        assert rate == pytest.approx(closed_rate(users, 1, 0.1, 1, 0, 1))


def test_who_goes_after_waits_for_those_before() -> None:
    graph = lowered(SPEC.format(how=" preemptive"))
    # A chain of both numbers at the server, solved by itself.
    for users, rate in ((1, CHAIN[1]), (3, CHAIN[3])):
        value = graph.at(users).number(graph.closed["slow"].throughput)
        assert value == pytest.approx(rate, rel=0.02)
    stream, there = graph.streams["slow"], graph.at(3)
    waited = 4 / there.number(graph.closed["slow"].throughput) - 1
    assert there.number(stream.mean_latency) == pytest.approx(waited)
    assert any("high-priority load at `s.cpu`" in why for why in stream.latency_certainty.reasons)
    assert solve(graph).closed


def test_who_may_not_interrupt_is_refused() -> None:
    with pytest.raises(
        QpsError, match="high priority waits for the residual service of low priority"
    ):
        lowered(SPEC.format(how=""))


CHAIN = {1: 3.776430181909568, 3: 3.629309791703317}
