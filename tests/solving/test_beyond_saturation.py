"""What a requirement says beyond saturation: an infinite wait, wherever its row stands."""

from __future__ import annotations

import json
from math import inf, isfinite

import pytest
from hypothesis import given, settings

from helpers.answers import answer_of
from helpers.nightly import examples
from helpers.specs import checked, lowered
from helpers.strategies import Drawn, drawn_specs
from qps.compiler.ir.measure_names import utilization_of
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.solutions.answer_text import solve_text
from qps.reports.text.solutions.solve_view import solve_view
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.solution import Solution
from qps.solver.answers.sweep import sweep
from qps.solver.answers.worst_mode import solve_model

SPEC = """
users N in 1..5_000
machine box {{ cpu 1 core{queueing} }}
network wire {{ switched; rate 8 Mbit/s; propagation 3 ms{wire} }}
component work {{ cpu 1 ms/request }}
topology {{ node db = box; node web = box * 9; link lan = wire between web, db }}
stream ask for each user {{ traffic 1 request/s, 10 byte/request; at web {{ work }}; over lan; at db {{ work }} }}
stream beside for each user {{ traffic 1 request/s; at web {{ work }} }}
measure both = ask.latency + beside.latency
measure turns = 1 s / ask.latency
{rest}
require {{ {need} }}
quality {quality}
"""  # noqa: E501 - a spec: one statement a line


def _solved(need: str, quality: str = "worst", queueing: str = "", rest: str = "") -> Solution:
    spec = checked(
        SPEC.format(
            need=need,
            quality=quality,
            queueing=queueing,
            rest=rest,
            wire=queueing.replace(",", ";"),
        )
    )
    return solve_model(spec.model, spec.configuration())


@pytest.mark.parametrize(
    ("need", "beyond", "holds"),
    [
        ("ask.latency <= 50 ms", inf, 1_000),
        ("ask.p99 <= 50 ms", inf, 1_000),
        ("both <= 50 ms", inf, 1_000),
        ("ask.latency + 1 ms <= 50 ms", inf, 1_000),
        ("turns >= 2", 0, 1_000),
        ("ask.latency <= 2 ms", inf, None),
        # What does not pass the saturated station, or is no wait, has the value that it has.
        ("beside.latency <= 50 ms", 0.001, 4_500),
        ("ask.rate >= 0 request/s", 1 / 1.21, 5_000),
        ("lan.utilization <= 90 %", 0.0121, 5_000),
    ],
)
@pytest.mark.parametrize("quality", ["worst", "euclidean"])
def test_a_requirement_is_infinite_where_a_station_on_its_way_is_saturated(
    need: str, beyond: float, holds: int | None, quality: str
) -> None:
    solution = _solved(need, quality)
    (item,) = solution.requirements
    assert solution.graph.at(1_210).number(item.criterion.value) == pytest.approx(beyond, rel=1e-3)
    assert item.met_up_to == holds
    assert solution.capacity == (None if holds is None else 1_000)
    if solution.graph.quality_value is not None and beyond == inf:
        assert solution.graph.at(1_210).number(solution.graph.quality_value) == inf
        assert solution.quality_met_up_to == holds
    if holds is not None:  # overload is what limits, and is told as that
        assert solution.limited_by == utilization_of("db.cpu")


def test_a_target_above_saturation_limits_and_infinite_values_are_shown() -> None:
    """A target of 80 % is reached at 800; from 1,001 on there is no end."""
    solution = _solved("ask.latency <= 50 ms", rest="target cpu 80 %")
    (item,) = solution.requirements
    assert (solution.capacity, item.met_up_to) == (800, 1_000)


def test_with_a_queue_the_requirement_itself_limits() -> None:
    solution = _solved("ask.latency <= 50 ms", queueing=", queueing mm1")
    (item,) = solution.requirements
    assert solution.limited_by == "ask.latency"
    assert item.met_up_to == solution.capacity
    assert item.criterion.value is item.criterion.measure


def test_columns_over_users_and_the_table_say_the_same() -> None:
    solution = _solved("ask.latency <= 50 ms")
    column = sweep(solution.graph, [1_000, 1_001])["ask.latency"]
    assert isfinite(column[0])
    assert column[1] == inf
    spec = checked(
        SPEC.format(need="ask.latency <= 50 ms", quality="worst", queueing="", rest="", wire="")
    )
    answer = answer_of(spec)
    (row,) = json.loads(json.dumps(as_json(solve_view(answer))))["requirements"]
    assert row["met_up_to"] == 1_000
    assert row["value_beyond"] is None  # infinite
    text = " ".join(solve_text(answer, "spec").split())
    assert "≤ 50 ms ≤ 1,000" in text


@given(drawn_specs())
@settings(max_examples=examples(15), deadline=None)
def test_the_value_of_a_requirement_is_that_of_its_measure_and_keeps_as_far_as_is_said(
    drawn: Drawn,
) -> None:
    graph = lowered(drawn.text)
    item, _ = solve(graph).requirements
    limit, met = graph.number(item.criterion.limit), item.met_up_to
    first = graph.low if met is None else met + 1
    for population in {graph.low, first - 1, first, graph.high} - {graph.low - 1, graph.high + 1}:
        point = graph.at(population)
        value = point.number(item.criterion.value)
        assert value == point.number(graph.streams["flow"].mean_latency)
        if population < first:
            assert value <= limit * (1 + 1e-9)
        if population == first:
            assert value >= limit * (1 - 1e-9)
