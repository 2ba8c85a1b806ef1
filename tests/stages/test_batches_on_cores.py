"""Calls at once to the cores of one machine: the last of those that come together counts.

Truths are simulated by `python tests/stages/batches_on_cores.py` and by programs of the same kind.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import lowered
from stages.batches_on_cores import Fan, predicted, simulated

_TRUTHS = {
    Fan(2, 2, 0.6): (20.68, 64.31, 93.07, 25.67),
    Fan(5, 4, 0.3): (23.71, 52.44, 70.33, 26.33),
    Fan(8, 8, 0.85): (48.08, 134.3, 187.87, 58.19),
    Fan(16, 8, 0.6): (47.33, 100.78, 135.13, 52.96),
    Fan(32, 16, 0.3): (45.78, 78.15, 97.98, 48.58),
}
_MISS = """users rps in 1..1_200
machine service {{ cpu 2 core, queueing mmc }}
machine backend {{ cpu 10 core, queueing mmc }}
network lan_ {{ propagation 0.2 ms }}
component lookup {{ cpu 1 ms/request }}
component query {{ cpu 10 ms/request }}
component again {{ cpu 10 ms/request }}
topology {{ node web = service; node data = {nodes}; link lan = lan_ between all }}
stream page in all {{
  traffic rps * 1 request/s
  event hit = 85 %
  at web {{ lookup; not hit: {{ together {calls}; lookup }} }}
}}
require {{ page.p99 <= 1 s }}
"""
_FIVE = "{ " + "; ".join(["call data { query }"] * 5) + " }"


@pytest.mark.parametrize("fan", _TRUTHS, ids=str)
def test_the_time_of_all_responses_is_that_of_the_last(fan: Fan) -> None:
    for (value, known), truth in zip(predicted(fan), _TRUTHS[fan], strict=True):
        assert value == pytest.approx(truth / 1e3, rel=0.15)
        assert known.error == 0.2


def test_without_other_traffic_it_is_the_longest_of_all() -> None:
    """The mean of the longest of n exponential times is their harmonic number."""
    mean, _ = predicted(Fan(8, 8, 1e-6))[-1]
    assert mean == pytest.approx(0.01 * sum(1 / k for k in range(1, 9)), rel=1e-3)


@pytest.mark.parametrize("calls", [_FIVE, "5 { call data { query } }"], ids=["listed", "counted"])
@pytest.mark.parametrize(("rps", "p99"), [(1100, 0.071), (1200, 0.107)])
def test_a_miss_costs_five_calls_at_once(calls: str, rps: int, p99: float) -> None:
    """Where they were taken for independent ones, p99 at 1,100 requests a second was 52 ms."""
    page = lowered(_MISS.format(calls=calls, nodes="backend")).streams["page"]
    at = lowered(_MISS.format(calls=calls, nodes="backend")).at(rps)
    assert float(at.number(page.latency_quantile(Fraction("0.99")))) == pytest.approx(p99, rel=0.1)


@pytest.mark.parametrize(
    ("calls", "nodes", "p99"),
    [(_FIVE.replace("query }", "again }", 1), "backend", 0.1066), (_FIVE, "backend * 2", 0.0479)],
    ids=["unlike", "several machines"],
)
def test_other_calls_together_are_within_the_error_they_state(
    calls: str, nodes: str, p99: float
) -> None:
    """Simulated at 1,200 requests a second, with calls spread by chance over two machines."""
    page = lowered(_MISS.format(calls=calls, nodes=nodes)).streams["page"]
    at = lowered(_MISS.format(calls=calls, nodes=nodes)).at(1200)
    level = Fraction("0.99")
    error = page.quantile_certainty(level).error
    assert error is None or error < 1
    assert float(at.number(page.latency_quantile(level))) == pytest.approx(p99, rel=error or 1)


_ON_MACHINES = [
    Fan(12, 1, 0.7, 1, 3),
    Fan(12, 4, 0.7, 0, 3),
    Fan(20, 1, 0.7, 0, 4),
    Fan(24, 8, 0.7, 1, 4),
    Fan(11, 1, 0.5, 0, 10),
    Fan(30, 1, 0.85, 1, 10),
]


@pytest.mark.parametrize("fan", _ON_MACHINES, ids=str)
def test_batches_at_several_machines_wait_at_the_same_times(fan: Fan) -> None:
    """As independent ones, the median of the second fan-out here is three times the simulated."""
    for (value, known), truth in zip(predicted(fan), simulated(fan, 1), strict=True):
        assert known.error == (None if fan.cores == 1 else 0.25)
        assert value == pytest.approx(truth, rel=0.35 if fan.calls == 11 else 0.25)


def test_machines_that_do_the_same_fixed_work_are_as_one() -> None:
    """Requests come to all at the same times, and have the same work for each of them."""
    one, several = (predicted(Fan(4 * n, 1, 0.6, 0, n)) for n in (1, 5))
    for (value, _), (other, _) in zip(one, several, strict=True):
        assert other == pytest.approx(value, rel=1e-9)


def test_more_machines_for_as_many_calls_each_take_no_less() -> None:
    """The longest of more batches is no shorter, and no longer than that of independent ones."""
    means = [predicted(Fan(4 * n, 1, 0.8, 1, n))[-1][0] for n in (1, 2, 4, 8, 16)]
    assert means == sorted(means)
    assert means[-1] < 2 * means[0]
