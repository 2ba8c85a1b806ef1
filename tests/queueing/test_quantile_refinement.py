"""Quantiles nearer than what is added up: a law of two moments, worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import pytest

from qps.compiler.lower.response_time.quantile_refinement import refined
from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.point_values import EvaluationPoint
from simulated.judge import graph_of

_FIXED = LatencyPart(stage="on its way", value=number(2))


def _called(mean: float, share: str, call: int = 1) -> LatencyPart:
    often = number(Fraction(share))
    made = CallFactor(number=call, node="db", times=often, reached=often, is_whole=False)
    return LatencyPart(stage="db", value=number(Fraction(mean)), calls=(made,))


def _value(found: Formula) -> float:
    return EvaluationPoint({}).number(found)


def _law(level: float, mean: float, uneven: float) -> float:
    """Nothing with the chance 1 - q, else exponential, of a mean and a squared variation."""
    share = 2 / (1 + uneven)
    return max(0.0, mean / share * log(share / (1 - level)))


@pytest.mark.parametrize("level", ["0.5", "0.9", "0.99"])
def test_what_is_passed_by_a_share_varies_by_that(level: str) -> None:
    # Of one in five: 1/q - 1 = 4; both stages of the call are passed together.
    parts = (_FIXED, _called(1, "1/5"), _called(3, "1/5"))
    found = refined(number(1000), Fraction(level), parts, is_of_kinds=False)
    assert _value(found) == pytest.approx(2 + _law(float(level), 4, 4))
    assert _value(found) == pytest.approx(2 + max(0.0, 10 * log(0.4 / (1 - float(level)))))


def test_a_call_that_all_make_is_as_if_it_stood_outside() -> None:
    found = refined(number(1000), Fraction("0.95"), (_called(4, "1"),), is_of_kinds=False)
    assert _value(found) == pytest.approx(4)  # of what does not vary


def test_calls_by_themselves_add_their_variances() -> None:
    parts = (_called(1, "1/2", 1), _called(3, "1/2", 2))
    found = refined(number(1000), Fraction("0.95"), parts, is_of_kinds=False)
    assert _value(found) == pytest.approx(_law(0.95, 4, (1 + 9) / 16))


def test_a_call_that_nobody_makes_takes_no_time() -> None:
    parts = (_FIXED, _called(0, "0"), _called(1, "1/2", 2))
    found = refined(number(1000), Fraction("0.99"), parts, is_of_kinds=False)
    assert _value(found) == pytest.approx(2 + _law(0.99, 1, 1))


@pytest.mark.parametrize("level", ["0.5", "0.89", "0.9", "0.99"])
def test_of_kinds_the_far_tail_is_half_way_to_the_slowest(level: str) -> None:
    parts, share = (_FIXED, _called(4, "1/2")), Fraction(level)
    found = refined(number(1000), share, parts, is_of_kinds=True)
    is_tail = share >= Fraction(9, 10)
    law = 2 + _law(float(level), 4, 1 if is_tail else 2)
    assert _value(found) == pytest.approx(sqrt(1000 * law) if is_tail else law)


def test_it_is_never_later_and_where_nothing_varies_the_same() -> None:
    assert (
        _value(refined(number(3), Fraction("0.99"), (_called(4, "1/2"),), is_of_kinds=False)) == 3
    )
    assert refined(number(7), Fraction("0.99"), (_FIXED,), is_of_kinds=False) is number(7)


_REGRESSED = """
users N in 1..400
machine web { cpu 4 core, queueing mmc }
machine store { cpu 2 core, queueing ps }
component page { cpu 2 ms/request }
component read { cpu 3 ms/request }
network lan { propagation 1 us }
topology { node a = web; node b = store; link l = lan between a, b }
stream s for each user {
  traffic 1 request/s
  at a { page; call b { read }; call b * 20 % { read } }
}
"""


def test_shares_of_calls_are_near_what_is_simulated() -> None:
    """Played: a p50 of 5.18 ms and a p95 of 16.8 ms at 250 users; added up 10.97 and 35.0 ms."""
    graph = graph_of(_REGRESSED)
    point, stream = graph.at(250), graph.streams["s"]
    for level, played in (("0.5", 5.18e-3), ("0.95", 16.8e-3)):
        share = Fraction(level)
        assert point.number(stream.latency_quantile(share)) == pytest.approx(played, rel=0.1)
        assert not stream.quantile_certainty(share).is_exact
