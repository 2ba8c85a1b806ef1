"""How numbers of matrices, figures, sweeps and explanations are known."""

from __future__ import annotations

import json
from fractions import Fraction
from math import log

import pytest

import qps
from helpers.breakdowns import explain
from helpers.specs import checked, lowered
from labels.test_certainty import LATE, WAITING
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.certainty import (
    CertaintyKind,
)
from qps.engine.expressions.formulas import Formula
from qps.reports.pages.matrices.matrix_page import matrix_page
from qps.reports.text.changes.difference_text import difference_view
from qps.reports.text.explanations.explanation_text import explanation_text
from qps.reports.text.explanations.figure_text import figure_json, figure_text, line_label
from qps.reports.text.matrix_output import json_texts, matrix_layout
from qps.solver.breakdown.stream_breakdown import quantile_parts
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.figure_lines import draw
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.what_if.assumption_changes import ConfiguredModel
from qps.solver.what_if.difference import difference

# -- matrices -------------------------------------------------------------------------

MATRIX = """
machine plain { cpu 4 core }
matrix machines "Which machine?" { server in [box, plain]; lan in [wire] }
"""


def compiled(text: str) -> CompiledMatrix:
    model = checked(text).model
    return compile_matrix(model, model.matrices[0])


def test_a_matrix_states_how_each_answer_is_known() -> None:
    text = WAITING + MATRIX + f"require {{ {LATE} <= 60 ms; p.latency <= 5 s }}\n"
    table = qps.loads(text).matrix().to_arrow()
    # without a discipline no waiting is counted at its cores, with one all of it is
    assert dict(
        zip(table["server"].to_pylist(), table["capacity_known"].to_pylist(), strict=True)
    ) == {"box": "lower bound", "plain": "upper bound"}
    for server, known in (("box", "lower bound"), ("plain", "upper bound")):
        view = qps.loads(text).solve(set={"server": server})
        assert view.known.kind == known
    sentence = matrix_layout(compiled(text), table).as_text(200)
    assert "≥ " in sentence
    assert "≤ " in sentence
    assert "known" not in sentence


COLUMNS = """
matrix speeds { effort in 5..20 ms/request by 5 ms/request; loan in -1..1 by 1
  column late = quantile(p.latency, 95 %); column spare = 1 - server.cpu.load
  column headroom = 100 ms - late; column either = loan * late
  column more = largest_acceptable + 1 }
"""

EFFORT = WAITING.replace("cpu 10 ms/request", "cpu effort") + "param effort = 10 ms/request\n"


def test_the_columns_of_a_matrix_are_known_of_all_rows_together() -> None:
    text = f"{EFFORT}require {{ {LATE} <= 60 ms }}\n{COLUMNS}"
    schema = qps.loads(text).matrix().to_arrow().schema
    known = {
        field.name: field.metadata[b"known"].decode()
        for field in schema
        if b"known" in field.metadata
    }
    assert known == {
        "quality_at": "upper bound",
        "late": "upper bound",
        "headroom": "lower bound",
        "either": "approximation",  # its sign is not that of the first row
        "more": "lower bound",
    }
    data = json.loads("".join(json_texts(compiled(text), [])))["known"]
    assert {name: each["kind"] for name, each in data.items()} == known
    rows = matrix_layout(compiled(text), qps.loads(text).matrix().to_arrow()).as_text(200)
    assert "\n  `quality_at` and `late` are upper bounds (true value may be lower): the" in rows
    assert "\n  `either` is an approximation" in rows


def test_a_page_of_a_matrix_states_how_its_columns_are_known() -> None:
    text = f"{EFFORT}require {{ {LATE} <= 60 ms }}\n{COLUMNS}"
    page = matrix_page(qps.loads(text).matrix().to_arrow(), "x.parquet")
    assert any(
        line.startswith("quality and late: upper bound (the percentile") for line in page.remarks()
    )
    assert not any("spare" in line.split(":")[0] for line in page.remarks())


def test_periods_that_an_axis_moves_apart_are_not_one() -> None:
    """Two flows are in step at the spec's own numbers, and not where one of them varies."""
    text = """
users N in 1..9
machine pc { }
network wire { shared; rate 1 Mbit/s; queueing periodic }
param pace = 50 packet/s
topology { node a = pc; node b = pc; link line = wire between a, b }
stream one { traffic N * pace, 100 byte/packet; at a { }; at b { } }
stream two { traffic N * 50 packet/s, 100 byte/packet; at a { }; at b { } }
require { one.latency <= 10 ms }
"""
    graph = lowered(text)
    assert graph.streams["one"].latency_certainty.kind is CertaintyKind.UPPER_BOUND
    assert lower(*_configured(text), {"pace": False}).streams["one"].latency_certainty.kind is (
        CertaintyKind.APPROXIMATION
    )
    axes = "matrix paces { pace in 10..50 packet/s by 20 packet/s }\n"
    table = qps.loads(text + axes).matrix().to_arrow()
    assert table["capacity_known"].to_pylist()[:2] == ["upper bound"] * 2
    assert table.schema.field("quality_at").metadata[b"known"] == b"approximation"


def _configured(text: str) -> tuple[ir.Model, Configuration]:
    spec = checked(text)
    return spec.model, spec.configuration(None, [])


def test_columns_that_are_chosen_keep_how_the_answer_is_known() -> None:
    text = WAITING + MATRIX.replace("lan in [wire]", "select largest_acceptable, bottleneck")
    names = qps.loads(text).matrix().schema.names
    assert names == [
        "server", "capacity", "capacity_known", "bottleneck", "reason",
    ]  # fmt: skip


def test_rows_by_themselves_are_known_as_those_that_are_solved_together() -> None:
    axes = 'matrix speeds "How fast?" { effort in 5..20 ms/request by 5 ms/request }\n'
    own = WAITING.replace("cpu 10 ms/request", "cpu effort") + "param effort = 10 ms/request\n"
    require = "require { p.latency <= 1 s; p.loss <= 1 % }\n"
    together_solved = own.replace(", queueing mmc", "").replace("; queueing mm1", "")
    for text in (together_solved, own):
        table = qps.loads(text + axes + require).matrix().to_arrow()
        for effort, known in zip(
            table["effort"].to_pylist(), table["capacity_known"].to_pylist(), strict=True
        ):
            view = qps.loads(text + require).solve(set={"effort": f"{effort} s/request"})
            assert view.known.kind == known


# -- explanations ---------------------------------------------------------------------


def test_explain_states_how_a_number_is_known_and_why() -> None:
    graph = lowered(f"{WAITING}measure late = {LATE}\n")
    for name in ("late", LATE):
        text = " ".join(explanation_text(explain(graph, name, 100)).split())
        assert " Accuracy upper bound: " in text
        assert "the percentile of the slowest class" in text
    text = explanation_text(explain(graph, "server.cpu.utilization", 100))
    assert "  Accuracy     exact for this model" in text


def test_the_parts_of_a_quantile_are_named_for_what_they_are() -> None:
    one_core = WAITING.replace("4 core, queueing mmc", "1 core, queueing mm1")
    graph = lowered(one_core.replace("; queueing mm1 }", " }"))
    (wait, tail) = (
        graph.at(50).number(part)
        for part in (
            explain_part(graph, "waiting for server.cpu"),
            explain_part(graph, "server.cpu service time above the mean"),
        )
    )
    # M/M/1 at half load: the time there is exponential with a mean of 20 ms
    assert wait + tail + 10e-3 == pytest.approx(20e-3 * log(20))
    assert tail + 10e-3 == pytest.approx(10e-3 * log(20))


def explain_part(graph: LoadGraph, name: str) -> Formula:
    stream, level = graph.streams["p"], Fraction(95, 100)
    parts = {
        stage: value
        for part in stream.latency
        for stage, value in quantile_parts(stream, part, stream.allotments(level)[0])
    }
    values = [part.name for part in explain(graph, LATE, 50).parts]
    assert values == list(parts)
    return parts[name]


# -- figures, sweeps and differences --------------------------------------------------


def test_lines_of_a_figure_that_are_not_exact_say_so() -> None:
    lines = f'line "wait" {LATE}\n line "mean" p.latency'
    model = checked(f'{WAITING}figure late "Late" {{ over N in 1..300\n {lines}\n }}\n').model
    drawn = draw(ClaimRunner(model=model), model.figures[0])
    assert [curve.known.kind for curve in drawn.curves] == [
        CertaintyKind.UPPER_BOUND,
        CertaintyKind.EXACT,
    ]
    text = figure_text(drawn, "N")
    assert "`wait` is an upper bound (true value may be lower): " in text
    assert "All other results are exact" in text
    assert [line_label(curve) for curve in drawn.curves] == ["wait (upper bound)", "mean"]
    lines = figure_json(drawn, "N")["lines"]
    assert [line.known.kind for line in lines] == ["upper bound", "exact"]


def test_loads_of_users_who_wait_are_swept_as_they_are() -> None:
    """What the spec asks of a load unsaid is what others than those who slow down ask of it."""
    model = qps.loads(
        "users N in 1..9\nmachine pc { cpu 1 core, queueing mm1 }\n"
        "topology { node server = pc }\ncomponent query { cpu 10 ms/request }\n"
        "stream job for each user { traffic 1 request, think 10 ms; at server { query } }\n"
        "require { job.latency <= 1 s }\n"
    )
    # One is there half of the time; of two, the server is idle while both think: one time in five.
    assert model.sweep(N=[1, 2])["server.cpu.utilization"] == pytest.approx([1 / 2, 4 / 5])


def test_the_columns_of_a_sweep_are_known() -> None:
    text = f"{WAITING}require {{ {LATE} <= 60 ms }}\n"
    model = qps.loads(text)
    known = model.known()
    assert set(known) == set(model.sweep(N=[1, 2]))
    assert {name: one.kind for name, one in known.items() if one.kind != "exact"} == {
        "p.p95": "upper bound",
        "quality": "upper bound",
    }


def test_a_difference_of_answers_states_how_both_are_known() -> None:
    text = f"{WAITING}require {{ {LATE} <= 60 ms }}\n"
    before, after = qps.loads(text), qps.loads(text.replace("4 core", "8 core"))
    sides = [
        ConfiguredModel(one.spec.model, one.spec.configuration(None, [])) for one in (before, after)
    ]
    answer = difference_view(difference(*sides), before.solve(), after.solve())
    assert answer.answer.startswith("Capacity rises from ≥ 342 to ≥ 739 users (")
