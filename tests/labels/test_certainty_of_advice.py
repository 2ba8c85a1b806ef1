"""How it is known what would help, and what a population or a value takes."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import pytest

import qps
from helpers.answers import answer_of
from helpers.formulas import exp
from helpers.specs import checked
from labels.test_certainty import IN_WORDS, LATE, WAITING
from labels.test_certainty_of_streams import REQUESTING
from qps.compiler.quantities.certainty import (
    EXACT,
    CertaintyKind,
)
from qps.engine.expressions.formulas import symbol
from qps.reports.text.changes.inverse_text import inverse_answer
from qps.reports.text.changes.sizing_sentences import sizing_answer, sizing_known
from qps.reports.text.solutions.change_rows import in_one_line
from qps.reports.text.solutions.change_wording import wording
from qps.solver.what_if.boundaries import Excess, Failure, boundaries_of
from qps.solver.what_if.inverse import InverseSolution, solve_for
from qps.solver.what_if.sizing import size
from qps.solver.what_if.sizing_result import Sizing

# -- what lies beyond the answer ------------------------------------------------------


def test_what_would_help_and_the_next_limit_are_known_as_their_requirements() -> None:
    text = REQUESTING + "require { p.loss <= 1 % }\n"
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


# -- the question turned round --------------------------------------------------------

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
    assert all(
        one.low_known.kind in (CertaintyKind.EXACT, CertaintyKind.LOWER_BOUND)
        for one in found.intervals
    )
    assert found.known.kind is IN_WORDS[all_values]
    assert ("(lower bound; above that" in inverse_answer(found)) is (high == "lower")


def test_a_least_value_that_a_bound_asks_for_is_an_upper_bound() -> None:
    text = TURNED.replace("1 Gbit/s", "speed").replace(
        "param half", "param speed = 1 Gbit/s\nparam half"
    )
    (interval,) = _turned(f"{text}require {{ {LATE} <= 60 ms }}\n", "speed", 200).intervals
    assert interval.fails_below is not None
    assert interval.low_known.kind is CertaintyKind.UPPER_BOUND
    assert interval.high_known.kind is CertaintyKind.EXACT


def test_what_changes_twice_between_two_values_of_any_grid_is_seen() -> None:
    x = symbol("x")
    bump = 2 * exp(-((1000 * (x - Fraction(7, 3))) ** 2)) - 1
    over = Excess(failure=Failure("late", None), value=bump, strict=False)
    found = boundaries_of([over], x, (Fraction(1), Fraction(1000)))
    half = sqrt(log(2)) / 1000
    assert list(map(float, found.points)) == pytest.approx([7 / 3 - half, 7 / 3 + half], rel=1e-12)
    assert found.known == EXACT


# -- what a population takes ----------------------------------------------------------


def _sized(requirement: str, population: int, text: str = WAITING) -> Sizing:
    spec = checked(f"{text}require {{ {requirement} }}\n")
    return size(spec.model, spec.configuration(None, []), population)


def test_whether_users_are_supported_is_known_as_what_fails() -> None:
    certain = _sized("p.latency <= 1 s", 600)
    assert certain.is_supported
    assert certain.known == EXACT
    mild = _sized("p.latency <= 1 s", 600, UNCOUNTED)
    assert mild.is_supported
    assert mild.known.kind is CertaintyKind.UPPER_BOUND
    assert sizing_known(mild)[0].startswith("Optimistic: queueing delay at")
    strict = _sized(f"{LATE} <= 9 ms", 600)
    assert not strict.is_possible
    assert strict.known.kind is CertaintyKind.LOWER_BOUND
    assert "≤ " in sizing_answer(strict)
    assert sizing_known(strict)[0].startswith("Conservative: the percentile")


def test_what_fixes_a_bound_is_one() -> None:
    found = _sized(f"{LATE} <= 60 ms", 390)
    assert found.fails_still
    assert {fix.known.kind for fix in found.fixes} == {CertaintyKind.UPPER_BOUND}
    assert "to fix this, raise server.cpu to ≤ " in sizing_answer(found)
    assert found.growth is not None
    assert found.growth.known.kind in (CertaintyKind.EXACT, CertaintyKind.UPPER_BOUND)
