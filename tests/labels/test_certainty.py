"""How numbers are known: the label follows a number into whatever is made of it."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from math import isnan, log, sqrt

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import qps
from helpers.answers import answer_of
from helpers.breakdowns import explain
from helpers.formulas import exp
from helpers.nightly import examples
from helpers.reasons import reason
from helpers.specs import checked, lowered
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, base_configuration
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.expressions.label_propagation import certainty_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.queues.queue_certainty import mean_certainty
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    Kind,
    approximation,
    lower_bound,
    opposite,
    together,
    upper_bound,
)
from qps.compiler.quantities.methods import known_by
from qps.engine.exact_algebra.exact_powers import TooLongError
from qps.engine.expressions.formulas import Formula, population, symbol
from qps.engine.expressions.formulas import number as number_of
from qps.engine.expressions.point_values import in_floats
from qps.engine.operations import OPERATIONS
from qps.reports.pages.matrices.matrix_page import matrix_page
from qps.reports.text.changes.difference_text import difference_view
from qps.reports.text.changes.inverse_text import inverse_answer
from qps.reports.text.changes.sizing_sentences import sizing_answer, sizing_known
from qps.reports.text.explanations.explanation_text import explanation_text
from qps.reports.text.explanations.figure_text import figure_json, figure_text, line_label
from qps.reports.text.matrix_output import json_texts, matrix_layout
from qps.reports.text.solutions.change_rows import in_one_line
from qps.reports.text.solutions.change_wording import wording
from qps.solver.answers.answer_certainty import answer_known, largest_known
from qps.solver.answers.solution import FirstFailure
from qps.solver.answers.worst_mode import solve_model
from qps.solver.breakdown.stream_breakdown import quantile_parts
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_results import ClaimResult
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.figure_lines import draw
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.what_if.assumption_changes import Side
from qps.solver.what_if.boundaries import Excess, Failure, boundaries_of
from qps.solver.what_if.difference import difference
from qps.solver.what_if.inverse import InverseSolution, solve_for
from qps.solver.what_if.sizing import size
from qps.solver.what_if.sizing_result import Sizing

UPPER, LOWER, ABOUT = (
    upper_bound(reason("above")),
    lower_bound(reason("below")),
    approximation(reason("about")),
)
IN_WORDS = {
    "exact": Kind.EXACT,
    "upper": Kind.UPPER_BOUND,
    "lower": Kind.LOWER_BOUND,
    "about": Kind.APPROXIMATION,
}

# -- labels alone ------------------------------------------------------------------------


def test_bounds_of_one_side_stay_and_of_both_do_not() -> None:
    assert together(UPPER, EXACT, UPPER) == UPPER
    assert together(UPPER, upper_bound(reason("too"))).reasons == ("above", "too")
    assert together(UPPER, LOWER).kind is Kind.APPROXIMATION
    assert together(EXACT, EXACT) == EXACT
    assert opposite(UPPER) == lower_bound(reason("above"))
    assert opposite(ABOUT) == ABOUT


# -- measures of a spec ------------------------------------------------------------------

WAITING = """
users N in 1..1000
machine box { cpu 4 core, queueing mmc }
machine pc { }
network wire { rate 1 Gbit/s; queueing mm1 }
component step { cpu 10 ms/request; delay pause }
kinds browsing of users { quick 50 %; slow 50 % }
param pause by browsing { quick 1 us; slow 2 us }
param half = 0.5
param loan = 0 - 2
func twice(x: 1 ms) = 2 * x
topology { node server = box; node user = pc * N; link lan = wire between server, user }
stream p for each user { traffic 1 request/s, 10 kB/request; at server { step }; at user { } }
"""
LATE = "quantile(p.latency, 95 %)"
"""Of two kinds of users, of which the slowest counts: an upper bound."""


@pytest.mark.parametrize(
    ("formula", "kind"),
    [
        ("server.cpu.utilization", "exact"),
        ("p.loss", "exact"),
        ("p.rate", "exact"),
        (LATE, "upper"),
        (f"{LATE} + 3 ms", "upper"),
        (f"100 ms - {LATE}", "lower"),
        (f"0 ms - {LATE}", "lower"),
        (f"half * {LATE}", "upper"),
        (f"loan * {LATE}", "lower"),
        (f"{LATE} / 10 ms", "upper"),
        (f"10 ms / {LATE}", "lower"),
        (f"10 ms / (50 ms - {LATE})", "about"),
        (f"{LATE} - {LATE}", "exact"),
        (f"2 * {LATE} - max({LATE}, 1 ms)", "about"),
        (f"{LATE} / ({LATE} + 1 ms)", "about"),
        (f"{LATE} ^ 2", "upper"),
        (f"(2 ms - {LATE}) ^ 2", "about"),
        (f"(2 ms - {LATE}) ^ 3", "lower"),
        (f"sqrt({LATE} / 1 ms)", "upper"),
        (f"max({LATE}, 2 ms)", "upper"),
        (f"min(5 ms, 1 s - {LATE})", "lower"),
        (f"max({LATE}, 1 s - {LATE})", "about"),
        (f"abs({LATE})", "upper"),
        (f"abs(0 ms - {LATE})", "upper"),
        (f"abs(2 ms - {LATE})", "about"),
        (f"ceil({LATE} / 1 ms)", "upper"),
        (f"acos(max(0, 1 - {LATE} / 1 s))", "upper"),
        (f"cos({LATE} / 1 s)", "about"),
        (f"exp(0 - {LATE} / 1 s)", "lower"),
        (f"erlang_b(4, {LATE} / 1 s)", "upper"),
        (f"erlang_b({LATE} / 1 s, 4)", "lower"),
        (f"2 ^ ({LATE} / 1 s)", "about"),
        (f"N * {LATE}", "upper"),
        (f"(N - 10) * {LATE}", "about"),
        (f"0 * {LATE}", "exact"),
        (f"if half < 1 then 1 ms else {LATE}", "exact"),
        (f"if half < 1 then {LATE} else 1 ms", "upper"),
        (f"twice({LATE})", "upper"),
    ],
)  # fmt: skip
def test_what_is_made_of_a_bound_is_known_by_how_it_moves(formula: str, kind: str) -> None:
    graph = lowered(f"{WAITING}measure x = {formula}\n")
    assert graph.measures["x"].known.kind is IN_WORDS[kind]
    assert bool(graph.measures["x"].known.reasons) is (kind != "exact")


def test_a_measure_of_a_measure_is_known_as_that_is() -> None:
    graph = lowered(f"{WAITING}measure late = {LATE}\nmeasure left = 1 s - late\n")
    assert graph.measures["left"].known.kind is Kind.LOWER_BOUND
    assert graph.measures["left"].known.reasons == graph.measures["late"].known.reasons


# -- the law -----------------------------------------------------------------------------

_TIMES = ir.MeasureKind.LATENCY
_LEAVES = {name: ir.Measured(kind=_TIMES, subject=name) for name in ("above", "below", "sure")}
_KNOWN = {"above": UPPER, "below": LOWER, "sure": EXACT}
_NUMBERS = st.fractions(min_value=-3, max_value=3, max_denominator=4).map(ir.Constant)
_CALLED = ["max", "min", "abs", "ceil", "floor", "exp", "cos"]


def _larger(inner: st.SearchStrategy[ir.Expr]) -> st.SearchStrategy[ir.Expr]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    powers = st.sampled_from([-2, -1, 2, 3, Fraction(1, 2)]).map(
        lambda value: ir.Constant(Fraction(value))
    )
    called = st.builds(
        lambda word, arguments: ir.Apply(
            word, arguments if OPERATIONS[word].takes_more else arguments[:1]
        ),
        st.sampled_from(_CALLED),
        several,
    )  # fmt: skip
    return st.one_of(
        several.map(ir.Sum), several.map(ir.Product), st.builds(ir.Power, inner, powers), called
    )


@cache
def _expressions() -> ExpressionLowering:
    model = checked(WAITING).model
    return ExpressionLowering(
        model=model, configuration=base_configuration(model), population=population("N")
    )


EXPRESSIONS = st.recursive(
    st.one_of(st.sampled_from(list(_LEAVES.values())), _NUMBERS), _larger, max_leaves=8
)


@settings(max_examples=examples(400))
@given(
    expr=EXPRESSIONS,
    told=st.fixed_dictionaries(
        {name: st.fractions(min_value=0, max_value=4, max_denominator=4) for name in _LEAVES}
    ),
    off=st.fixed_dictionaries(
        {n: st.fractions(min_value=0, max_value=4, max_denominator=4) for n in ("above", "below")}
    ),
)
def test_the_true_value_lies_on_the_side_of_the_label(
    expr: ir.Expr, told: dict[str, Fraction], off: dict[str, Fraction]
) -> None:
    expressions = _expressions()
    true = {
        "above": max(Fraction(0), told["above"] - off["above"]),
        "below": told["below"] + off["below"],
        "sure": told["sure"],
    }

    def known(measured: ir.Measured | ir.Changed) -> Certainty:
        assert isinstance(measured, ir.Measured)
        return _KNOWN[measured.subject]

    def value(of: dict[str, Fraction]) -> float:
        def number(measured: ir.Measured | ir.Changed) -> Formula:
            assert isinstance(measured, ir.Measured)
            return number_of(of[measured.subject])

        try:
            return in_floats(expressions.lower(expr, number))
        except (QpsError, TooLongError):
            return float("nan")

    found, in_truth = value(told), value(true)
    assume(not isnan(found) and not isnan(in_truth))
    near = 1e-9 * max(1, abs(found), abs(in_truth))
    kind = certainty_of(expr, expressions, known).kind
    if kind in (Kind.EXACT, Kind.UPPER_BOUND):
        assert in_truth <= found + near
    if kind in (Kind.EXACT, Kind.LOWER_BOUND):
        assert in_truth >= found - near


# -- requirements and the answer ---------------------------------------------------------


def _criterion(known: Certainty, *, at_most: bool = True) -> Criterion:
    graph: LoadGraph = lowered(f"{WAITING}require {{ p.latency <= 1 s }}\n")
    stated = graph.criteria[0]
    return Criterion(
        name="x", measure=stated.measure, value=stated.value, limit=stated.limit,
        at_most=at_most, strict=False, dimension=stated.dimension, span=stated.span,
        axis=None, known=known,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("judged", "kind"),
    [
        ([(EXACT, 10)], "exact"),
        ([(UPPER, 10)], "lower"),
        ([(LOWER, 10)], "upper"),
        ([(ABOUT, 10)], "about"),
        # what is judged strictly and fails later matters to nothing
        ([(EXACT, 10), (UPPER, 20)], "exact"),
        ([(EXACT, 10), (UPPER, None)], "exact"),
        # what is judged mildly may fail before it seems to
        ([(EXACT, 10), (LOWER, 20)], "upper"),
        ([(EXACT, 10), (LOWER, None)], "upper"),
        ([(EXACT, 10), (ABOUT, 20)], "upper"),
        ([(UPPER, 10), (LOWER, 20)], "about"),
        ([(UPPER, 10), (ABOUT, 20)], "about"),
        # one that fails there for certain settles that there are no more
        ([(UPPER, 10), (EXACT, 10)], "exact"),
        ([(UPPER, 10), (EXACT, 11)], "lower"),
        ([(ABOUT, 10), (EXACT, 10)], "upper"),
        ([(LOWER, None)], "upper"),
        ([(UPPER, None)], "exact"),
        # fewer than none there cannot be
        ([(LOWER, 1)], "exact"),
        ([(UPPER, 1)], "lower"),
        ([(ABOUT, 1)], "lower"),
        ([(EXACT, 1), (LOWER, 20)], "exact"),
    ],
)
def test_the_answer_is_known_as_its_requirements_leave_it(
    judged: list[tuple[Certainty, int | None]], kind: str
) -> None:
    failures = [FirstFailure(_criterion(known), first) for known, first in judged]
    assert largest_known(failures, 1).kind is IN_WORDS[kind]


def test_a_limit_from_below_turns_the_side() -> None:
    failures = [FirstFailure(_criterion(UPPER, at_most=False), 10)]
    assert largest_known(failures, 1) == upper_bound(reason("above"))


def _answer(text: str) -> Kind:
    spec = checked(text)
    return answer_known(solve_model(spec.model, spec.configuration(None, []))).kind


def test_a_limit_on_an_upper_bound_makes_the_answer_a_lower_bound() -> None:
    assert _answer(f"{WAITING}require {{ {LATE} <= 60 ms }}\n") is Kind.LOWER_BOUND
    assert _answer(f"{WAITING}require {{ {LATE} <= 50 s }}\n") is Kind.EXACT
    assert _answer(f"{WAITING}require {{ {LATE} <= 50 s; server.cpu.load <= 50 % }}\n") is (
        Kind.EXACT
    )


def test_the_worst_of_several_modes_counts_and_all_of_them_matter() -> None:
    modes = f"mode slow {{ {LATE} <= 60 ms }}\nmode calm {{ server.cpu.load <= 20 % }}\n"
    assert _answer(WAITING + modes) is Kind.EXACT
    assert _answer(WAITING + modes.replace("20 %", "95 %")) is Kind.LOWER_BOUND


def test_quality_is_known_as_its_axes_are() -> None:
    graph = lowered(f"{WAITING}require {{ {LATE} <= 60 ms; p.loss <= 1 % }}\n")
    assert graph.analysis.criteria.quality_known.kind is Kind.UPPER_BOUND
    graph = lowered(f"{WAITING}require {{ 1 s - {LATE} >= 15 ms ideal 900 ms }}\n")
    assert graph.criteria[0].known.kind is Kind.LOWER_BOUND
    assert graph.analysis.criteria.quality_known.kind is Kind.UPPER_BOUND


# -- claims ------------------------------------------------------------------------------


def _claims(text: str) -> list[ClaimResult]:
    return list(Claims(ClaimRunner(model=checked(WAITING + text).model)).results())


def test_a_claim_on_a_bound_says_so() -> None:
    (near,) = _claims(f"expect a {{ {LATE} ~ 40 ms within 50 % with N = 10 }}\n")
    assert near.known.kind is Kind.UPPER_BOUND
    assert near.known.reasons
    (compared,) = _claims(f"expect a {{ 1 ms < {LATE} < 1 s with N = 10 }}\n")
    assert [side.known.kind for side in compared.compared] == [
        Kind.EXACT, Kind.UPPER_BOUND, Kind.EXACT,
    ]  # fmt: skip
    assert compared.known.kind is Kind.UPPER_BOUND


def test_a_claim_on_an_answer_is_known_as_the_answer_is() -> None:
    own = f"require {{ {LATE} <= 60 ms }}\n"
    (claim,) = _claims(own + "expect a { largest_acceptable > 1 }\n")
    assert claim.known.kind is Kind.LOWER_BOUND
    (claim,) = _claims(own + "expect a { quality > 0.1 with N = 10 }\n")
    assert claim.known.kind is Kind.UPPER_BOUND
    (claim,) = _claims(own + "expect a { saturation(server.cpu) > 1 }\n")
    assert claim.known.kind is Kind.EXACT


# -- matrices ----------------------------------------------------------------------------

MATRIX = """
machine plain { cpu 4 core }
matrix machines "Which machine?" { server in [box, plain]; lan in [wire] }
"""


def compiled(text: str) -> CompiledMatrix:
    model = checked(text).model
    return compile_matrix(model, model.matrices[0])


def test_a_matrix_tells_how_each_answer_is_known() -> None:
    text = WAITING + MATRIX + f"require {{ {LATE} <= 60 ms; p.latency <= 5 s }}\n"
    table = qps.loads(text).matrix().to_arrow()
    # without a discipline no waiting is counted at its cores, with one all of it is
    assert dict(
        zip(table["server"].to_pylist(), table["capacity_known"].to_pylist(), strict=True)
    ) == {"box": "lower bound", "plain": "upper bound"}
    for server, known in (("box", "lower bound"), ("plain", "upper bound")):
        view = qps.loads(text).solve(set={"server": server})
        assert view.known.kind == known
    told = matrix_layout(compiled(text), table).as_text(200)
    assert "≥ " in told
    assert "≤ " in told
    assert "known" not in told


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
    told = json.loads("".join(json_texts(compiled(text), [])))["known"]
    assert {name: each["kind"] for name, each in told.items()} == known
    rows = matrix_layout(compiled(text), qps.loads(text).matrix().to_arrow()).as_text(200)
    assert "\n  `quality_at` and `late` are upper bounds (true value may be lower): the" in rows
    assert "\n  `either` is an approximation" in rows


def test_a_page_of_a_matrix_tells_how_its_columns_are_known() -> None:
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
    assert graph.streams["one"].latency_certainty.kind is Kind.UPPER_BOUND
    assert lower(*_settled(text), {"pace": False}).streams["one"].latency_certainty.kind is (
        Kind.APPROXIMATION
    )
    axes = "matrix paces { pace in 10..50 packet/s by 20 packet/s }\n"
    table = qps.loads(text + axes).matrix().to_arrow()
    assert table["capacity_known"].to_pylist()[:2] == ["upper bound"] * 2
    assert table.schema.field("quality_at").metadata[b"known"] == b"approximation"


def _settled(text: str) -> tuple[ir.Model, Configuration]:
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


# -- explanations ------------------------------------------------------------------------


def test_explain_tells_how_a_number_is_known_and_why() -> None:
    graph = lowered(f"{WAITING}measure late = {LATE}\n")
    for name in ("late", LATE):
        told = " ".join(explanation_text(explain(graph, name, 100)).split())
        assert " Accuracy upper bound: " in told
        assert "the percentile of the slowest class" in told
    told = explanation_text(explain(graph, "server.cpu.utilization", 100))
    assert "  Accuracy     exact for this model" in told


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
    told = [part.name for part in explain(graph, LATE, 50).parts]
    assert told == list(parts)
    return parts[name]


# -- figures, sweeps and differences -----------------------------------------------------


def test_lines_of_a_figure_that_are_not_exact_say_so() -> None:
    lines = f'line "wait" {LATE}\n line "mean" p.latency'
    model = checked(f'{WAITING}figure late "Late" {{ over N in 1..300\n {lines}\n }}\n').model
    drawn = draw(ClaimRunner(model=model), model.figures[0])
    assert [curve.known.kind for curve in drawn.curves] == [Kind.UPPER_BOUND, Kind.EXACT]
    told = figure_text(drawn, "N")
    assert "`wait` is an upper bound (true value may be lower): " in told
    assert "All other results are exact" in told
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


def test_a_difference_of_answers_tells_how_both_are_known() -> None:
    text = f"{WAITING}require {{ {LATE} <= 60 ms }}\n"
    before, after = qps.loads(text), qps.loads(text.replace("4 core", "8 core"))
    sides = [Side(one.spec.model, one.spec.configuration(None, [])) for one in (before, after)]
    told = difference_view(difference(*sides), before.solve(), after.solve())
    assert told.answer.startswith("Capacity rises from ≥ 342 to ≥ 739 users (")


# -- losses of resources in a row --------------------------------------------------------

ROW = """
users N in 1..1000
machine box { cpu 1 core }
machine pc { }
network wire { switched; rate 1 Tbit/s }
component step { cpu 10 ms/request }
topology { node a = box; node b = box; node user = pc * N; link lan = wire between a, b, user }
stream p for each user { traffic 1 request/s, 1 byte/request; at a { step }; at b { step } }
measure kept = 1 - p.loss
"""


@pytest.mark.parametrize(
    ("measure", "kind"),
    [
        ("loss", "upper"),
        ("saturation_loss", "upper"),
        ("voluntary_loss", "exact"),
        ("transmission_loss", "exact"),
        ("rate", "lower"),
        ("throughput", "lower"),
    ],
)
def test_what_is_lost_at_saturated_resources_in_a_row_is_an_upper_bound(
    measure: str, kind: str
) -> None:
    graph = lowered(ROW)
    told = {at: explain(graph, f"p.{measure}", at).known.kind for at in (100, 101, 200)}
    assert told == {100: "exact"} | dict.fromkeys((101, 200), IN_WORDS[kind].value)
    # with one of them there is nothing before that loses
    single = lowered(ROW.replace("at b { step }", "at b { }"))
    assert explain(single, f"p.{measure}", 200).known.kind == "exact"


def test_a_bound_of_the_loss_follows_into_what_is_made_of_it() -> None:
    graph = lowered(ROW)
    assert [explain(graph, "kept", at).known.kind for at in (100, 200)] == [
        "exact", "lower bound",
    ]  # fmt: skip
    (below, beyond) = Claims(
        ClaimRunner(
            model=checked(
                ROW + "expect a { p.loss < 1 with N = 100; p.loss > 0 with N = 200 }\n"
            ).model
        )
    ).results()
    assert (below.known.kind, beyond.known.kind) == (Kind.EXACT, Kind.UPPER_BOUND)


def test_the_loss_of_a_stream_that_meets_a_thinned_one_is_an_upper_bound() -> None:
    other = "stream q for each user { traffic 1 request/s, 1 byte/request; at b { step } }\n"
    graph = lowered(ROW + other)
    assert explain(graph, "q.loss", 200).known.kind == "upper bound"
    assert explain(graph, "q.loss", 60).known.kind == "exact"


def test_the_answer_stays_certain_where_a_load_settles_it() -> None:
    view = qps.loads(f"{ROW}require {{ p.loss <= 1 % }}\n").solve()
    (loss,) = view.requirements
    assert (view.known.kind, view.capacity) == ("exact", 100)
    # up to 1 % at both of them: the loss may be within its limit for some more
    assert (loss.known.kind, loss.met_up_to_known.kind) == ("exact", "lower bound")
    assert view.more_users is not None
    assert view.more_users.streams[0].loss_known.kind == "upper bound"
    assert view.more_users.streams[0].rate_known.kind == "lower bound"


def test_a_column_of_losses_is_a_bound_as_some_of_its_rows_may_be() -> None:
    assert qps.loads(ROW).known()["kept"].kind == "lower bound"


# -- users who think ---------------------------------------------------------------------

ASKING = """
users N in 1..400
param think = 10 s
machine box { cpu 1 core, queueing mm1 }
machine pc { }
network wire { switched; rate 1 Gbit/s }
component step { cpu 50 ms/request }
topology { node a = box; node user = pc * N; link lan = wire between a, user }
stream p for each user { traffic 1 request / think, 1 byte/request; at a { step } }
require { p.latency <= 300 ms }
"""


def test_users_who_think_are_reported_as_taken_for_open_traffic() -> None:
    stream = lowered(ASKING).streams["p"]
    for known in (stream.latency_certainty, stream.quantile_certainty(Fraction(9, 10))):
        assert known.kind is Kind.UPPER_BOUND
        assert any("closed traffic of `p` is modeled as open" in r for r in known.reasons)
    assert qps.loads(ASKING).solve().known.kind == "lower bound"
    stated = ASKING.replace("param think = 10 s", "param pace = 0.1 request/s")
    stated = stated.replace("1 request / think", "pace")
    assert lowered(stated).streams["p"].latency_certainty.is_exact
    uncertain = ASKING.replace("at a { step } }", "at a { step }; at user { } }")
    assert qps.loads(uncertain).solve().answer.startswith("About ")


def test_only_networks_in_product_form_bound_users_who_think() -> None:
    stream = lowered(ASKING.replace("mm1", "md1")).streams["p"]
    assert stream.latency_certainty.kind is Kind.APPROXIMATION
    in_steps = ASKING.replace("queueing mm1", "queueing periodic")
    assert "modeled as open" not in str(lowered(in_steps).streams["p"].latency_certainty)


def test_who_meets_users_who_think_waits_less_than_is_reported_too() -> None:
    other = "stream q for each user { traffic 0.1 request/s, 1 byte/request; at a { step } }\n"
    known = lowered(ASKING + other).streams["q"].latency_certainty
    assert known.kind is Kind.UPPER_BOUND
    assert "closed traffic of `p`" in known.reasons[0]


# -- what lies beyond the answer ---------------------------------------------------------


def test_what_would_help_and_the_next_limit_are_known_as_their_requirements() -> None:
    text = ASKING + "require { p.loss <= 1 % }\n"
    view = qps.loads(text).solve(advice=True)
    assert {one.known.kind for one in view.advice if one.kind == "more capacity"} == {"lower bound"}
    assert view.next_limit is not None
    assert view.next_limit.known.kind == "exact"
    slower = text.replace("p.loss <= 1 %", "quantile(p.latency, 90 %) <= 800 ms")
    following = qps.loads(slower).solve().next_limit
    assert following is not None
    assert following.known.kind == "lower bound"
    spec = checked(text)
    answer = answer_of(spec, advice=True)
    words = wording(spec.model, spec.configuration(), answer)
    assert "(≥ " in in_one_line(answer, words)


# -- the question turned round -----------------------------------------------------------

TURNED = WAITING.replace("cpu 10 ms/request", "cpu work").replace(
    "param half", "param work = 10 ms/request in 1..100 ms/request\nparam half"
)
UNCOUNTED = TURNED.replace("; queueing mm1", "").replace(", queueing mmc", "")


def _turned(text: str, name: str, population: int) -> InverseSolution:
    spec = checked(text)
    return solve_for(spec.model, spec.configuration(None, []), name, population)


@pytest.mark.parametrize(
    ("text", "high", "all_values"),
    [
        (f"{TURNED}require {{ {LATE} <= 60 ms }}\n", "lower", "lower"),
        (f"{TURNED}require {{ {LATE} <= 50 s; server.cpu.load <= 50 % }}\n", "exact", "exact"),
        (f"{UNCOUNTED}require {{ p.latency <= 9 ms }}\n", "upper", "upper"),
        (f"{UNCOUNTED}require {{ p.latency <= 50 s }}\n", "upper", "upper"),
        (f"{TURNED}require {{ {LATE} <= 0.1 ms }}\n", "none", "lower"),
    ],
)
def test_values_that_carry_users_are_known_as_what_binds_them(
    text: str, high: str, all_values: str
) -> None:
    found = _turned(text, "work", 300)
    highest = [interval.high_known.kind for interval in found.intervals]
    assert highest == ([] if high == "none" else [IN_WORDS[high]])
    assert all(one.low_known.kind in (Kind.EXACT, Kind.LOWER_BOUND) for one in found.intervals)
    assert found.known.kind is IN_WORDS[all_values]
    assert ("(lower bound; above that" in inverse_answer(found)) is (high == "lower")


def test_a_least_value_that_a_bound_asks_for_is_an_upper_bound() -> None:
    text = TURNED.replace("1 Gbit/s", "speed").replace(
        "param half", "param speed = 1 Gbit/s\nparam half"
    )
    (interval,) = _turned(f"{text}require {{ {LATE} <= 60 ms }}\n", "speed", 200).intervals
    assert interval.fails_below is not None
    assert interval.low_known.kind is Kind.UPPER_BOUND
    assert interval.high_known.kind is Kind.EXACT


def test_what_changes_twice_between_two_values_of_any_grid_is_seen() -> None:
    x = symbol("x")
    bump = 2 * exp(-((1000 * (x - Fraction(7, 3))) ** 2)) - 1
    over = Excess(failure=Failure("late", None), value=bump, strict=False)
    found = boundaries_of([over], x, (Fraction(1), Fraction(1000)))
    half = sqrt(log(2)) / 1000
    assert list(map(float, found.points)) == pytest.approx([7 / 3 - half, 7 / 3 + half], rel=1e-12)
    assert found.known == EXACT


# -- what a population takes -------------------------------------------------------------


def _sized(requirement: str, population: int, text: str = WAITING) -> Sizing:
    spec = checked(f"{text}require {{ {requirement} }}\n")
    return size(spec.model, spec.configuration(None, []), population)


def test_whether_users_are_supported_is_known_as_what_fails() -> None:
    certain = _sized("p.latency <= 1 s", 600)
    assert certain.is_supported
    assert certain.known == EXACT
    mild = _sized("p.latency <= 1 s", 600, UNCOUNTED)
    assert mild.is_supported
    assert mild.known.kind is Kind.UPPER_BOUND
    assert sizing_known(mild)[0].startswith("Optimistic: queueing delay at")
    strict = _sized(f"{LATE} <= 9 ms", 600)
    assert not strict.is_possible
    assert strict.known.kind is Kind.LOWER_BOUND
    assert "≤ " in sizing_answer(strict)
    assert sizing_known(strict)[0].startswith("Conservative: the percentile")


def test_what_fixes_a_bound_is_one() -> None:
    found = _sized(f"{LATE} <= 60 ms", 390)
    assert found.fails_still
    assert {fix.known.kind for fix in found.fixes} == {Kind.UPPER_BOUND}
    assert "to fix this, raise server.cpu to ≤ " in sizing_answer(found)
    assert found.growth is not None
    assert found.growth.known.kind in (Kind.EXACT, Kind.UPPER_BOUND)


# -- labels that said more than is true ------------------------------------------------------


def _latency_known(machine: str, cost: str, stream: str, more: str = "") -> Certainty:
    text = (
        f"users N in 1..20\nmachine m {{ a {machine} }}\ncomponent x {{ a {cost} }}\n"
        f"topology {{ node s = m{' * N' if 'each s' in stream else ''} }}\n{more}\n"
        f"stream job {stream}\nrequire {{ job.latency <= 100 s }}\n"
    )
    return lowered(text).streams["job"].latency_certainty


KINDS = "kinds who { light 60 %; heavy 40 % }\nparam cost by who { light 50 ms; heavy 200 ms }"
CLOSED = "for each user { traffic 1 request, think 1 s; at s { x } }"
OPEN = "in all { traffic N * 1 request/s; at s { x } }"


@pytest.mark.parametrize(("queueing", "kind"), [("mm1", Kind.APPROXIMATION), ("ps", Kind.EXACT)])
def test_kinds_of_items_of_a_closed_stream_are_exact_where_they_share(
    queueing: str, kind: Kind
) -> None:
    known = _latency_known(f"1 core, queueing {queueing}", "cost / (1 request)", CLOSED, KINDS)
    assert known.kind is kind


@pytest.mark.parametrize(("under_way", "kind"), [(1, Kind.EXACT), (2, Kind.APPROXIMATION)])
def test_items_at_machines_of_their_holders_are_exact_where_they_are_alone(
    under_way: int, kind: Kind
) -> None:
    stream = f"for each s {{ traffic {under_way} request, think 1 s; at s {{ x }} }}"
    assert _latency_known("1 core, queueing mm1", "0.1 s/request", stream).kind is kind


@pytest.mark.parametrize("queueing", ["mmc", "ps"])
def test_who_waits_for_a_thread_and_for_a_core_besides_waits_no_longer_than_is_reported(
    queueing: str,
) -> None:
    machine = f"2 core, queueing {queueing}"
    assert _latency_known(machine, "0.1 s/request", OPEN).kind is Kind.EXACT
    alone = "0.1 s/request single_thread"
    assert _latency_known(machine, alone, OPEN).kind is Kind.UPPER_BOUND
    more = "component y { a 0.1 s/request }\nstream k in all { traffic 1 request/s; at s { y } }"
    assert _latency_known(machine, alone, OPEN, more).kind is Kind.APPROXIMATION


def test_what_is_dropped_of_a_closed_stream_thinks_again_at_once() -> None:
    stream = "for each user { traffic 1 request, think 1 s; at s { x; lose } }"
    more = "component lose { drop 10 % }"
    known = _latency_known("1 core, queueing mm1", "0.1 s/request", stream, more)
    assert known.because == known_by("lost-users-think", "job").because


def test_several_servers_with_general_service_state_what_was_simulated() -> None:
    known = _latency_known("4 core, queueing mgc cv 3", "0.1 s/request", OPEN)
    assert known.error == 0.05


def test_arrivals_that_are_very_uneven_say_that_two_moments_tell_little() -> None:
    stream = "in all { traffic N * 1 request/s; arrivals cv 5; at s { x } }"
    known = _latency_known("1 core, queueing mm1", "0.01 s/request", stream)
    assert "up to 2.5×" in known.reasons[0]


def test_copies_that_leave_together_are_not_reported_exactly_at_several_cores() -> None:
    text = (
        "users N in 1..20\nmachine m { a 4 core, queueing mmc }\ncomponent x { a 1 ms/request }\n"
        f"topology {{ node s = m }}\nstream job {OPEN}\n"
    )
    queue = next(part.queue for part in lowered(text).streams["job"].latency if part.queue)
    together_there = tuple(replace(visit, batch=number_of(Fraction(3))) for visit in queue.visits)
    assert mean_certainty(queue).is_exact
    known = mean_certainty(replace(queue, visits=together_there))
    assert known.kind is Kind.APPROXIMATION


@pytest.mark.parametrize(
    ("queueing", "kind"),
    [
        ("md1", Kind.UPPER_BOUND),
        ("mm1", Kind.UPPER_BOUND),
        ("mg1 cv 2", Kind.APPROXIMATION),
        ("mg1 cv 0.5", Kind.APPROXIMATION),
    ],
)
def test_quantiles_of_batches_are_bounded_where_the_law_of_a_batch_is_known(
    queueing: str, kind: Kind
) -> None:
    text = (
        f"users N in 1..20\nmachine m {{ a 1 core, queueing {queueing} }}\n"
        "component x { a 1 ms/request }\n"
        f"topology {{ node s = m }}\nstream job {OPEN}\n"
    )
    queue = next(part.queue for part in lowered(text).streams["job"].latency if part.queue)
    together_there = tuple(replace(visit, batch=number_of(Fraction(3))) for visit in queue.visits)
    batches = replace(queue, visits=together_there)
    assert batches.law.stage_known(batches).kind is kind
    known = batches.law.quantiles_known(batches)
    assert known.kind is kind
    assert known.error is None


def test_an_axis_in_per_cent_is_labeled_so() -> None:
    text = f"{EFFORT.replace('cpu effort', 'cpu effort * (1 - hit)')}param hit = 90 %\n"
    text += f"require {{ {LATE} <= 60 ms }}\nmatrix shares {{ hit in [80, 95 %] }}\n"
    rows = matrix_layout(compiled(text), qps.loads(text).matrix().to_arrow()).as_text(200)
    values = [row.split()[:2] for row in rows.splitlines()]
    assert [" ".join(value) for value in values if value[1:] == ["%"]] == ["80 %", "95 %"]
