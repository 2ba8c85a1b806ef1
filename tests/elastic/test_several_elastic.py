"""Several elastic parameters on one resource or on two: they give way in order."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from elastic.elastic_specs import ONE, X, value_at
from helpers.specs import PRELUDE, load, lowered
from qps.engine.exact_algebra.piecewise import Piecewise
from qps.engine.expressions import point_values
from qps.solver.answers import saturation
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.knees import elastic_solutions
from qps.solver.answers.solution import SolverFault
from qps.solver.search.first_crossing import CrossingPoint

# -- several -------------------------------------------------------------------------------

APART = PRELUDE + X + "param y elastic 1..10 packet/s\n" + (
    "topology { node host = box\n node other = box }\n"
    "stream flow for each host { traffic N * x; at host { work } }\n"
    "stream more { traffic N * y; at other { work } }"
)  # fmt: skip
TOGETHER = APART.replace("at other", "at host")


def test_two_on_two_resources_do_not_disturb_each_other() -> None:
    graph = lowered(APART)
    assert [value_at(graph, "x", n) for n in (2, 20, 60)] == [30, 5, 2]
    assert [value_at(graph, "y", n) for n in (2, 20, 60)] == [10, 5, Fraction(5, 3)]


def test_two_on_one_resource_take_in_order() -> None:
    graph = lowered(TOGETHER)
    # x leaves N for the least of y: (100 - N)/N, until 30, down to 2 at N = 33.3
    assert [value_at(graph, "x", n) for n in (2, 4, 10, 25, 40)] == [30, 24, 9, 3, 2]
    # y: 100 - 30 N up to N = 3.2 are left, then its least
    assert [value_at(graph, "y", n) for n in (1, 2, 3, 4, 25, 40)] == [
        10,
        10,
        Fraction(10, 3),
        1,
        1,
        1,
    ]
    assert [load(graph, "host.cpu", n) for n in (2, 4, 25, 40)] == [
        Fraction("0.8"),
        1,
        1,
        Fraction("1.2"),
    ]


def test_the_order_is_that_of_declaration() -> None:
    turned = TOGETHER.replace(X, "").replace(
        "param y elastic 1..10 packet/s\n", "param y elastic 1..10 packet/s\n" + X
    )
    graph = lowered(turned)
    # y leaves 2 N for the least of x: (100 - 2 N)/N
    assert [value_at(graph, "y", n) for n in (4, 10, 20, 40)] == [10, 8, 3, 1]
    assert [value_at(graph, "x", n) for n in (4, 10, 20, 40)] == [15, 2, 2, 2]


@pytest.mark.parametrize("turned", [False, True])
def test_each_of_two_is_at_its_least_from_the_reported_population(*, turned: bool) -> None:
    # What the first one fills stays full until it is at its least itself: the second one is so before.
    y = "param y elastic 1..10 packet/s\n"
    text = TOGETHER.replace(X, "").replace(y, y + X) if turned else TOGETHER
    graph = lowered(text)
    for elastic in solve(graph).elastic:
        configuration = next(s for s in graph.elastic if s.parameter.name == elastic.name)
        assert elastic.yields is not None
        assert elastic.exhausted is not None
        for knee, end in ((elastic.yields, elastic.most), (elastic.exhausted, elastic.least)):
            before, behind = (
                point_values.EvaluationPoint(
                    {graph.population: Fraction(knee.at) * (1 + by)}
                ).number(graph.valued(configuration.value))
                for by in (-Fraction(1, 10**6), Fraction(1, 10**6))
            )
            assert (before == end) is (end == elastic.most)
            assert (behind == end) is (end == elastic.least)


def test_where_it_takes_nothing_of_what_is_full_it_is_not_at_its_least() -> None:
    # x fills the host from 4 to 50 users; y loads it from 31 users on only.
    late = "stream more { traffic y; at host { work * max(0, N - 30) } }"
    text = TOGETHER.replace("stream more { traffic N * y; at host { work } }", late)
    _, elastic = solve(lowered(text)).elastic
    assert elastic.exhausted is not None
    assert elastic.exhausted.at > 30


def test_one_may_multiply_another() -> None:
    text = PRELUDE + X + "param y elastic 1..4\n" + ONE + (
        "stream flow for each host { traffic N * x; at host { work * y } }"
    )  # fmt: skip
    graph = lowered(text)
    # while y keeps to its least: x = 100/N; y then has nothing more to take but below N = 3.3
    assert [value_at(graph, "x", n) for n in (2, 10)] == [30, 10]
    assert [value_at(graph, "y", n) for n in (2, 10)] == [Fraction(5, 3), 1]


# -- many ----------------------------------------------------------------------------------


def _many(count: int) -> str:
    """Return a spec of parameters that share a machine: 1 to 30 packet/s, 10 us for a packet."""
    return (
        PRELUDE
        + "".join(
            f"param e{n} elastic 1..30 packet/s\ncomponent c{n} {{ cpu 10 us/packet }}\n"
            f"stream s{n} {{ traffic N * e{n}; at host {{ c{n} }} }}\n"
            for n in range(count)
        )
        + ONE
    )


def test_many_on_one_resource_give_way_from_the_last_to_the_first() -> None:
    count = 100
    elastic = solve(lowered(_many(count))).elastic
    for index, one in enumerate(elastic):
        # all before it take 30 packet/s, all behind it 1 packet/s
        before, behind = index * 30, count - index - 1
        assert one.yields is not None
        assert one.yields.at == pytest.approx(100_000 / (before + 30 + behind), rel=1e-12)


def test_what_many_come_to_is_evaluated_a_few_times_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluated = dict.fromkeys((50, 100), 0)

    def counted(*args: Any) -> Any:
        evaluated[count] += 1
        return real(*args)

    real = point_values._exact
    monkeypatch.setattr(point_values, "_exact", counted)
    for count in evaluated:
        solve(lowered(_many(count)))
    assert evaluated[100] < 2.2 * evaluated[50]


@pytest.mark.parametrize("count", [2, 60])
def test_a_knee_that_is_none_is_a_fault(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real = saturation.first_in_pieces
    graph = lowered(_many(count))
    solve(graph)

    def shifted(whole: Piecewise, *, passes: bool) -> CrossingPoint | None:
        found = real(whole, passes=passes)
        return (
            None
            if found is None
            else CrossingPoint(found.at * Fraction(10001, 10000), found.method)
        )

    # Loads alone are certified elsewhere.
    monkeypatch.setattr(saturation, "first_in_pieces", shifted)
    with pytest.raises(SolverFault, match="off by"):
        elastic_solutions(graph, 1)
