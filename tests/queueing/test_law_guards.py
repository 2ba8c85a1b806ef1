"""Quantiles keep to what the mean of the same times allows, and rise with the share."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isnan
from pathlib import Path

import pytest

from helpers.reasons import reason
from helpers.specs import checked
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.response_time.law_guards import guarded, guarded_known
from qps.compiler.quantities.certainty import (
    EXACT,
    CertaintyKind,
    approximation,
    lower_bound,
    upper_bound,
)
from qps.engine.expressions.formulas import number

SPECS = sorted(
    path
    for folder in ("requests", "networks")
    for path in (Path(__file__).parents[1] / folder).glob("*.qps")
)
LEVELS = [Fraction(text) for text in ("1/10", "1/5", "1/2", "4/5", "9/10", "99/100")]
SLOW = {"q1_tower"}


@pytest.mark.parametrize(
    "path", [one for one in SPECS if one.stem not in SLOW], ids=lambda one: one.stem
)
def test_no_quantile_is_beyond_what_the_mean_allows(path: Path) -> None:
    """Markov: no more than a share m/t of times of mean m exceeds t."""
    spec = checked(path.read_text("utf-8"))
    graph = lower(spec.model, spec.configuration())
    users = sorted({graph.low, (graph.low + graph.high) // 2, graph.high})
    for name, stream in graph.streams.items():
        for at in (users[0], users[1]):
            point, before = graph.at(at), 0.0
            mean, known = point.number(stream.mean_latency), stream.latency_certainty
            for level in LEVELS:
                found = point.number(stream.latency_quantile(level))
                assert not isnan(found), (name, at, level)
                assert found >= before * (1 - 1e-9), (name, at, level)
                before = found
                if known.kind is not CertaintyKind.LOWER_BOUND and mean < inf:
                    assert found <= mean / float(1 - level) * (1 + 1e-9), (name, at, level)


@pytest.mark.parametrize(
    ("known", "mean_known", "expected", "after"),
    [
        (upper_bound(reason("q")), EXACT, 4, CertaintyKind.UPPER_BOUND),
        (upper_bound(reason("q")), upper_bound(reason("m")), 4, CertaintyKind.UPPER_BOUND),
        (approximation(reason("q"), error=0.1), EXACT, 4, CertaintyKind.APPROXIMATION),
        (
            approximation(reason("q"), error=0.1),
            approximation(reason("m"), error=0.3),
            4,
            CertaintyKind.APPROXIMATION,
        ),
        (approximation(reason("q")), upper_bound(reason("m")), 4, CertaintyKind.APPROXIMATION),
        # of no use: what is exact, what has no bound, what would be none
        (EXACT, EXACT, 9, CertaintyKind.EXACT),
        (lower_bound(reason("q")), EXACT, 9, CertaintyKind.LOWER_BOUND),
        (upper_bound(reason("q")), lower_bound(reason("m")), 9, CertaintyKind.UPPER_BOUND),
        (upper_bound(reason("q")), approximation(reason("m")), 9, CertaintyKind.UPPER_BOUND),
        (approximation(reason("q")), lower_bound(reason("m")), 9, CertaintyKind.APPROXIMATION),
    ],
)
def test_where_a_mean_bounds_a_quantile(
    known, mean_known, expected: int, after: CertaintyKind
) -> None:  # type: ignore[no-untyped-def]
    """Of a mean of 2 the median is 4 at most."""
    found = guarded(number(Fraction(9)), Fraction(1, 2), known, number(Fraction(2)), mean_known)
    assert found.value == expected
    assert guarded_known(known, mean_known).kind is after


FAN_OUT = """
users N in 1..5_000
machine front {{ cpu 4 core, queueing mmc }}
machine leaf {{ cpu 1 core, queueing {queue} }}
network lan {{ propagation 0.1 ms }}
component work {{ cpu 1 ms/request }}
component slow {{ cpu 20 ms/request }}
topology {{ node root = front * 8; node leaves = leaf * 40; link net = lan between all }}
stream asks in all {{
  traffic N * 0.1 request/s, 100 byte/request
  at root {{ {before} together {answers} {{ call leaves {{ work; {chance}: slow }} }} {behind} }}
}}
require {{ asks.p99 <= 1 s }}
"""


@pytest.mark.parametrize("queue", ["mm1", "md1"])
@pytest.mark.parametrize("chance", ["0.01 %", "30 %"])
@pytest.mark.parametrize(("before", "behind"), [("", ""), ("work;", "; 5 %: slow")])
@pytest.mark.parametrize("answers", ["40", "40, first 30 answers"])
def test_quantiles_of_many_calls_keep_to_their_mean(
    queue: str, chance: str, before: str, behind: str, answers: str
) -> None:
    """They are those of a law that has this mean: no guard stands in their formula."""
    spec = checked(
        FAN_OUT.format(queue=queue, chance=chance, before=before, behind=behind, answers=answers)
    )
    graph = lower(spec.model, spec.configuration())
    stream = graph.streams["asks"]
    for at in (1, 2_000):
        point = graph.at(at)
        mean = point.number(stream.mean_latency)
        for level in (Fraction(1, 100), Fraction(1, 2), Fraction(999, 1000)):
            found = point.number(stream.latency_quantile(level))
            assert 0 < found <= mean / float(1 - level) * (1 + 1e-9), (at, level)
