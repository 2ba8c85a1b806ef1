"""How numbers are known: the label follows a number into whatever is made of it."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isnan

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.reasons import reason
from helpers.specs import checked, lowered
from qps.compiler import ir
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.expressions.label_propagation import certainty_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    CertaintyKind,
    approximation,
    lower_bound,
    opposite,
    together,
    upper_bound,
)
from qps.engine.exact_algebra.exact_powers import PowerTooLongError
from qps.engine.expressions.formulas import Formula, population
from qps.engine.expressions.formulas import number as number_of
from qps.engine.expressions.point_values import in_floats
from qps.engine.operations import OPERATIONS
from qps.solver.answers.answer_certainty import answer_known, largest_known
from qps.solver.answers.solution import FirstFailure
from qps.solver.answers.worst_mode import solve_model
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_results import ClaimResult
from qps.solver.claims.claim_runner import ClaimRunner

UPPER, LOWER, ABOUT = (
    upper_bound(reason("above")),
    lower_bound(reason("below")),
    approximation(reason("about")),
)

IN_WORDS = {
    "exact": CertaintyKind.EXACT,
    "upper": CertaintyKind.UPPER_BOUND,
    "lower": CertaintyKind.LOWER_BOUND,
    "about": CertaintyKind.APPROXIMATION,
}


# -- labels alone ---------------------------------------------------------------------


def test_bounds_of_one_side_stay_and_of_both_do_not() -> None:
    assert together(UPPER, EXACT, UPPER) == UPPER
    assert together(UPPER, upper_bound(reason("too"))).reasons == ("above", "too")
    assert together(UPPER, LOWER).kind is CertaintyKind.APPROXIMATION
    assert together(EXACT, EXACT) == EXACT
    assert opposite(UPPER) == lower_bound(reason("above"))
    assert opposite(ABOUT) == ABOUT


# -- measures of a spec ---------------------------------------------------------------

_KINDS = [f"slow{at}" for at in range(1, 13)]
"""With another one more than a law of all of them together is made of."""
WAITING = f"""
users N in 1..1000
machine box {{ cpu 4 core, queueing mmc }}
machine pc {{ }}
network wire {{ rate 1 Gbit/s; queueing mm1 }}
component step {{ cpu 10 ms/request; delay pause }}
kinds browsing of users {{ quick 52 %; {"; ".join(f"{one} 4 %" for one in _KINDS)} }}
param pause by browsing {{ quick 1 us; {"; ".join(f"{one} 2 us" for one in _KINDS)} }}
param half = 0.5
param loan = 0 - 2
func twice(x: 1 ms) = 2 * x
topology {{ node server = box; node user = pc * N; link lan = wire between server, user }}
stream p for each user {{ traffic 1 request/s, 10 kB/request; at server {{ step }}; at user {{ }} }}
"""

LATE = "quantile(p.latency, 95 %)"

"""Of many kinds of users, of which the slowest counts: an upper bound."""


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
    assert graph.measures["left"].known.kind is CertaintyKind.LOWER_BOUND
    assert graph.measures["left"].known.reasons == graph.measures["late"].known.reasons


# -- the law --------------------------------------------------------------------------

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
    expected=st.fixed_dictionaries(
        {name: st.fractions(min_value=0, max_value=4, max_denominator=4) for name in _LEAVES}
    ),
    off=st.fixed_dictionaries(
        {n: st.fractions(min_value=0, max_value=4, max_denominator=4) for n in ("above", "below")}
    ),
)
def test_the_true_value_lies_on_the_side_of_the_label(
    expr: ir.Expr, expected: dict[str, Fraction], off: dict[str, Fraction]
) -> None:
    expressions = _expressions()
    true = {
        "above": max(Fraction(0), expected["above"] - off["above"]),
        "below": expected["below"] + off["below"],
        "sure": expected["sure"],
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
        except (QpsError, PowerTooLongError):
            return float("nan")

    found, in_truth = value(expected), value(true)
    assume(not isnan(found) and not isnan(in_truth))
    near = 1e-9 * max(1, abs(found), abs(in_truth))
    kind = certainty_of(expr, expressions, known).kind
    if kind in (CertaintyKind.EXACT, CertaintyKind.UPPER_BOUND):
        assert in_truth <= found + near
    if kind in (CertaintyKind.EXACT, CertaintyKind.LOWER_BOUND):
        assert in_truth >= found - near


# -- requirements and the answer ------------------------------------------------------


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


def _answer(text: str) -> CertaintyKind:
    spec = checked(text)
    return answer_known(solve_model(spec.model, spec.configuration(None, []))).kind


def test_a_limit_on_an_upper_bound_makes_the_answer_a_lower_bound() -> None:
    assert _answer(f"{WAITING}require {{ {LATE} <= 60 ms }}\n") is CertaintyKind.LOWER_BOUND
    assert _answer(f"{WAITING}require {{ {LATE} <= 50 s }}\n") is CertaintyKind.EXACT
    assert _answer(f"{WAITING}require {{ {LATE} <= 50 s; server.cpu.load <= 50 % }}\n") is (
        CertaintyKind.EXACT
    )


def test_the_worst_of_several_modes_counts_and_all_of_them_matter() -> None:
    modes = f"mode slow {{ {LATE} <= 60 ms }}\nmode calm {{ server.cpu.load <= 20 % }}\n"
    assert _answer(WAITING + modes) is CertaintyKind.EXACT
    assert _answer(WAITING + modes.replace("20 %", "95 %")) is CertaintyKind.LOWER_BOUND


def test_quality_is_known_as_its_axes_are() -> None:
    graph = lowered(f"{WAITING}require {{ {LATE} <= 60 ms; p.loss <= 1 % }}\n")
    assert graph.analysis.criteria.quality_known.kind is CertaintyKind.UPPER_BOUND
    graph = lowered(f"{WAITING}require {{ 1 s - {LATE} >= 15 ms ideal 900 ms }}\n")
    assert graph.criteria[0].known.kind is CertaintyKind.LOWER_BOUND
    assert graph.analysis.criteria.quality_known.kind is CertaintyKind.UPPER_BOUND


# -- claims ---------------------------------------------------------------------------


def _claims(text: str) -> list[ClaimResult]:
    return list(Claims(ClaimRunner(model=checked(WAITING + text).model)).results())


def test_a_claim_on_a_bound_says_so() -> None:
    (near,) = _claims(f"expect a {{ {LATE} ~ 40 ms within 50 % with N = 10 }}\n")
    assert near.known.kind is CertaintyKind.UPPER_BOUND
    assert near.known.reasons
    (compared,) = _claims(f"expect a {{ 1 ms < {LATE} < 1 s with N = 10 }}\n")
    assert [side.known.kind for side in compared.compared] == [
        CertaintyKind.EXACT, CertaintyKind.UPPER_BOUND, CertaintyKind.EXACT,
    ]  # fmt: skip
    assert compared.known.kind is CertaintyKind.UPPER_BOUND


def test_a_claim_on_an_answer_is_known_as_the_answer_is() -> None:
    own = f"require {{ {LATE} <= 60 ms }}\n"
    (claim,) = _claims(own + "expect a { largest_acceptable > 1 }\n")
    assert claim.known.kind is CertaintyKind.LOWER_BOUND
    (claim,) = _claims(own + "expect a { quality > 0.1 with N = 10 }\n")
    assert claim.known.kind is CertaintyKind.UPPER_BOUND
    (claim,) = _claims(own + "expect a { saturation(server.cpu) > 1 }\n")
    assert claim.known.kind is CertaintyKind.EXACT
