"""The question turned round: which values of a number carry a population?"""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import qps
from helpers.nightly import examples
from helpers.specs import PRELUDE, checked
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.certainty import Kind
from qps.engine.expressions.formulas import number
from qps.reports.text.changes.inverse_text import InverseView, inverse_answer
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.inverse import InverseSolution, solve_for
from qps.solver.what_if.inverse_unknown import unknown_of
from qps.solver.what_if.overloads import Overloads
from queueing.test_losses_in_series import THINNED

law = settings(max_examples=examples(25), deadline=None)

ONE = "topology { node host = box }\n"
# p packets a second for each user at 10 ms: the load is N p / 100
BASE = (
    PRELUDE
    + "param p = 1\nquality worst\n"
    + ONE
    + "stream flow { traffic N * p * 1 packet/s; at host { work } }\n"
)
# p stands in measures alone; the load is N / 100
FREE = (
    PRELUDE
    + "param p = 1 in 0..10\nquality worst\n"
    + ONE
    + "stream flow { traffic N * 1 packet/s; at host { work } }\n"
)
ELASTIC = (
    PRELUDE
    + "param x elastic 2..30 packet/s\n"
    + ONE
    + "stream flow { traffic N * x; at host { work } }\n"
)
# 50 packets a second at 10 ms for each user, over `panels` machines: the load is N / (2 panels)
PLACES = PRELUDE + (
    "machine bought { cpu 1 core; price 100 $ }\nparam panels = 60\nquality worst\n"
    "topology { node host = bought * panels\n node user = box * N }\n"
    "stream flow for each user { traffic 50 packet/s; at host { work } }\n"
)
MODES = BASE.replace("N * p", "N * p * q").replace(
    "param p = 1\n", "param p = 1\nparam q = 1\n"
) + ("mode a { p = 2 }\nmode b { p = 4; q = 3 }\n")


def _solved(text: str, name: str, population: int, *changes: str) -> InverseSolution:
    spec = checked(text)
    return solve_for(spec.model, spec.configuration(None, changes), name, population)


# -- values worked by hand -----------------------------------------------------------------

LOAD = "host.cpu.utilization"
# name, spec, number, population, then for each interval: its ends, what fails below and above
CASES = [
    # N p / 100 <= 1; the least is a million times less than now
    ("at_most", BASE, "p", 20, [(1e-6, 5, None, LOAD)]),
    ("at_most_for_one", BASE, "p", 1, [(1e-6, 100, None, LOAD)]),
    ("in_its_range", BASE.replace("p = 1", "p = 1 in 0..10"), "p", 20, [(0, 5, "a rate must be above zero", LOAD)]),
    ("all_of_its_range", BASE.replace("p = 1", "p = 1 in 0..4"), "p", 20, [(0, 4, "a rate must be above zero", None)]),
    ("none_of_its_range", BASE.replace("p = 1", "p = 6 in 6..9"), "p", 20, []),
    ("a_range_of_one_value", BASE.replace("p = 1", "p = 5 in 5..5"), "p", 20, [(5, 5, None, None)]),
    # 10 ms at 10 score: N * 0.1 / speed <= 1
    ("a_speed", PRELUDE + "costs measured on rated\ncomponent w { cpu 10 ms/packet }\ntopology { node host = twice }\nstream flow { traffic N * 1 packet/s; at host { w } }\n", "host.cpu.speed", 20, [(2, 20e6, LOAD, None)]),
    # 1000 bit/s for each user
    ("a_rate", PRELUDE + "topology { node web = box\n node user = box * N\n link net = wire between web, user }\nstream flow for each user { traffic 125 byte/s; at web { }\n at user { } }\n", "net.rate", 6, [(6000, 1e12, "net.utilization", None)]),
    # the cost of a component: N * cost <= 1 s
    ("a_cost", BASE, "work.cpu.packet", 25, [(1e-8, 0.04, None, LOAD)]),
    # 10 p from 20 to 60
    ("between", BASE + "measure m = 10 * p\nrequire { m >= 20; m <= 60 }\n", "p", 10, [(2, 6, "m", "m")]),
    # within 2 of 3
    ("a_square", FREE + "measure m = (p - 3)^2\nrequire { m <= 4 }\n", "p", 7, [(1, 5, "m", "m")]),
    # at least 2 away from 3
    ("two_stretches", FREE + "measure m = (p - 3)^2\nrequire { m >= 4 }\n", "p", 7, [(0, 1, None, "m"), (5, 10, "m", None)]),
    # 1/100 + 1/400 of the square of p is 1
    ("quality", FREE.replace("quality worst", "quality euclidean") + "measure a = p\nmeasure b = p\nrequire { a <= 10; b <= 20 }\n", "p", 7, [(0, 20 / sqrt(5), None, "quality")]),
    # p^3 <= 30 is no square root
    ("a_cube", FREE + "measure m = p^3\nrequire { m <= 30 }\n", "p", 7, [(0, 30 ** (1 / 3), None, "m")]),
    # |p - 4| <= 1/2 and a maximum
    ("a_kink", FREE + "measure m = abs(p - 4)\nmeasure k = max(p, 2 * p - 4)\nrequire { m <= 1 / 2; k <= 4.6 }\n", "p", 7, [(3.5, 4.3, "m", "k")]),
    # the half of 1
    ("a_quotient", FREE + "measure m = 1 / p\nrequire { m <= 2 }\n", "p", 7, [(0.5, 10, "m", None)]),
    # what is found on a grid: exp(p) <= 100, sqrt(p) >= 1.1, p ln 2 <= 2
    ("an_exponential", FREE + "measure m = exp(p)\nrequire { m <= 100 }\n", "p", 7, [(0, log(100), None, "m")]),
    ("a_root", FREE + "measure m = sqrt(p)\nrequire { m >= 1.1 }\n", "p", 7, [(1.21, 10, "m", None)]),
    ("exp_of_a_load", BASE.replace("p = 1", "p = 1 in 0..10") + "measure m = exp(host.cpu.load)\nrequire { m <= 2 }\n", "p", 20, [(0, 5 * log(2), "a rate must be above zero", "m")]),
    # what jumps: ceil(p) <= 3, floor(p) >= 2; equal to the limit over a whole stretch
    ("rounded_up", FREE + "measure m = ceil(p)\nrequire { m <= 3 }\n", "p", 7, [(0, 3, None, "m")]),
    ("rounded_down", FREE + "measure m = floor(p)\nrequire { m >= 2 }\n", "p", 7, [(2, 10, "m", None)]),
    # what a limit must be: N / 100 at most
    ("a_limit", BASE + "require { host.cpu.load <= 40 % }\n", "limit of host.cpu.utilization", 55, [(0.55, 4e5, LOAD, None)]),
    # elastic, fixed: N x / 100 <= 1
    ("elastic", ELASTIC, "x", 20, [(2, 5, None, LOAD)]),
    ("elastic_at_its_most", ELASTIC, "x", 3, [(2, 30, None, None)]),
    # the least of an elastic one: 2 N / 100 <= 1
    ("least_of_an_elastic", ELASTIC, "x.least", 20, [(2e-6, 5, None, LOAD)]),
    # modes: p is set in both, b takes 3 of each; N p 3 / 100 <= 1
    ("set_in_every_mode", MODES, "p", 10, [(1e-6 * 2, 10 / 3, None, f"{LOAD} in b")]),
    # q is set in every mode, too: in a 2 N q / 100, in b 4 N q / 100
    ("set_in_one_mode", MODES, "q", 10, [(1e-6, 2.5, None, f"{LOAD} in b")]),
    ("only_one_mode_needs_it", FREE + "measure m = p\nmode a { m >= 2 }\nmode b { m <= 7 }\n", "p", 7, [(2, 7, "m in a", "m in b")]),
    ("a_limit_of_one_mode", FREE + "measure m = N\nmode a { m <= 40 }\nmode b { host.cpu.load <= 90 % }\n", "limit of m", 55, [(55, 4e7, "m in a", None)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "name", "population", "expected"),
    [pytest.param(*case[1:], id=case[0]) for case in CASES],
)
def test_intervals(
    spec: str, name: str, population: int, expected: list[tuple[float, float, str, str]]
) -> None:
    solution = _solved(spec, name, population)
    told = [
        (
            i.low,
            i.high,
            *(
                None if f is None else f.requirement + (f" in {f.mode}" if f.mode else "")
                for f in (i.fails_below, i.fails_above)
            ),
        )
        for i in solution.intervals
    ]
    assert [ends[2:] for ends in told] == [ends[2:] for ends in expected]
    for (low, high, *_), (from_, to, *_) in zip(told, expected, strict=True):
        assert (low, high) == pytest.approx((from_, to), rel=1e-12, abs=1e-300)
    assert bool(solution.fails) == (not expected)


def test_what_fails_everywhere_is_reported() -> None:
    # at p = 6 to 9 the host has 120 to 180 %; m = 10 - p is at least 1 and should be 0.5
    text = BASE.replace("p = 1", "p = 6 in 6..9") + "measure m = 10 - p\nrequire { m <= 0.5 }\n"
    solution = _solved(text, "p", 20)
    assert [failure.requirement for failure in solution.fails] == ["m", LOAD]
    assert inverse_answer(solution) == (
        "No value of p supports 20 users (searched 6 to 9, its full range): m exceeds its limit and "
        "host.cpu.utilization exceeds its limit for every value. Currently 6."
    )


# -- open ends -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requirement", "told"),
    [
        # a limit that must not be reached
        ("p < 6", "p must be below 6 (at or above that, p is not below its limit)"),
        ("p <= 6", "p must be at most 6 (above that, p exceeds its limit)"),
        ("p > 2", "p must be above 2 (at or below that, p is not above its minimum)"),
        ("p > 2; p < 6", "p must be above 2 (at or below that, p is not above its minimum) and below 6 (at or above that, p is not below its limit)"),
        ("p >= 2", "p must be at least 2 (below that, p is below its minimum)"),
        # 1/p has no value at the end of the range
        ("1 / p >= 0.05", "p must be above 0 (at that value, 1 / p has no finite value)"),
        # (p - 4)^2 touches its limit in the middle
        ("(p - 4)^2 > 0", "p must be below 4 (at or above that, (p - 4)^2 is not above its minimum), or above 4 (at or below that, (p - 4)^2 is not above its minimum)"),
        ("(p - 4)^2 >= 0", None),
    ],
)  # fmt: skip
def test_an_end_that_is_not_acceptable_itself_is_reported(
    requirement: str, told: str | None
) -> None:
    answer = inverse_answer(_solved(FREE + f"require {{ {requirement} }}\n", "p", 7))
    whole = (
        "Every value of p supports 7 users (0 to 10, its full range)"
        if told is None
        else f"7 users: {told}"
    )
    assert answer == f"{whole}. Currently 1."


# -- numbers of places ---------------------------------------------------------------------

# requirement, population, what is told; N / (2 panels) <= 1
COUNTED = [
    ("", 81, "at least 41 (40.5) (below that, host.cpu.utilization exceeds its limit)"),
    ("", 80, "at least 40 (below that, host.cpu.utilization exceeds its limit)"),
    ("", 1, None),
    ("cost <= 5050 $", 80, "between 40 (below that, host.cpu.utilization exceeds its limit) and 50 (50.5) (above that, cost exceeds its limit)"),
    ("cost <= 5000 $", 79, "between 40 (39.5) (below that, host.cpu.utilization exceeds its limit) and 50 (above that, cost exceeds its limit)"),
    # a limit that must not be reached
    ("cost < 5000 $", 80, "between 40 (below that, host.cpu.utilization exceeds its limit) and 49 (50) (above that, cost is not below its limit)"),
    # 40 and nothing else
    ("cost <= 4099 $", 80, "40 (below that, host.cpu.utilization exceeds its limit; above that, cost exceeds its limit)"),
]  # fmt: skip


@pytest.mark.parametrize(("requirement", "population", "told"), COUNTED)
def test_places_are_counted_in_whole_numbers(
    requirement: str, population: int, told: str | None
) -> None:
    text = PLACES + (f"require {{ {requirement} }}\n" if requirement else "")
    solution = _solved(text, "panels", population)
    assert solution.number.is_count
    whole = f"{population:,} users: panels must be {told}"
    if told is None:
        whole = "Every value of panels supports 1 user (1 to 60,000,000, a millionth to a million times the current value)"
    assert inverse_answer(solution) == f"{whole}. Currently 60."


def test_where_no_whole_number_lies_in_between_there_is_none() -> None:
    # from 39.5 to 39.9
    solution = _solved(PLACES + "require { cost <= 3990 $ }\n", "panels", 79)
    assert solution.intervals == ()
    assert {failure.requirement for failure in solution.fails} == {LOAD, "cost"}


def test_stretches_that_hold_neighbouring_whole_numbers_are_one() -> None:
    # not from 44.4 to 44.6, which are no counts
    text = PLACES + "require { (panels - 44.5)^2 >= 0.01 }\n"
    (interval,) = _solved(text, "panels", 80).intervals
    assert (interval.low, interval.fails_above) == (40, None)
    # from 39.5 to 44.4 and from 44.6 to 50.2: the ends before rounding are those of both
    text += "require { cost <= 5020 $ }\n"
    (interval,) = _solved(text, "panels", 79).intervals
    assert (interval.low, interval.high) == (40, 50)
    assert interval.unrounded == pytest.approx((39.5, 50.2))
    assert interval.fails_below is not None
    assert interval.fails_above is not None
    assert (interval.fails_below.requirement, interval.fails_above.requirement) == (LOAD, "cost")
    # three of them: the first end stays that of the first
    text += "require { (panels - 47.5)^2 >= 0.01 }\n"
    (interval,) = _solved(text, "panels", 79).intervals
    assert interval.unrounded == pytest.approx((39.5, 50.2))
    # not from 43.9 to 44.1
    text = PLACES + "require { (panels - 44)^2 >= 0.01 }\n"
    first, second = _solved(text, "panels", 80).intervals
    assert (first.low, first.high, second.low) == (40, 43, 45)
    assert first.unrounded == pytest.approx((40, 43.9))


def test_stretches_that_end_at_neighbouring_whole_numbers_are_one() -> None:
    # not between 44 and 45, both of which are acceptable
    text = PLACES + "require { (panels - 44.5)^2 >= 0.25 }\n"
    (interval,) = _solved(text, "panels", 80).intervals
    assert (interval.low, interval.fails_above) == (40, None)


@pytest.mark.parametrize(
    ("count", "is_count", "low"),
    [
        ("panels", True, 41),
        ("(2 * panels)", True, 21),
        ("twofold", True, 21),
        # rounded, or in proportion to the population, it may be any number
        ("ceil(panels)", False, 40),
        ("(N * panels)", False, 0.5),
    ],
)
def test_what_counts_places(count: str, is_count: bool, low: float) -> None:
    text = PLACES.replace("bought * panels", f"bought * {count}").replace(
        "quality worst\n", "param twofold = 2 * panels\nquality worst\n"
    )
    solution = _solved(text, "panels", 81)
    assert solution.number.is_count is is_count
    assert solution.intervals[0].low == pytest.approx(low)


# -- what it is now ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "name", "population", "changes", "told"),
    [
        (BASE, "p", 20, [], "Currently 1."),
        (BASE, "p", 20, ["p = 3"], "Currently 3."),
        # what 100 packets a second leave for each of N, from 2 to 30
        (ELASTIC, "x", 3, [], "Currently 30 packets/s at N = 3 (elastic)."),
        (ELASTIC, "x", 8, [], "Currently 12.5 packets/s at N = 8 (elastic)."),
        (ELASTIC, "x", 40, [], "Currently 2.5 packets/s at N = 40 (elastic)."),
        (MODES, "p", 10, [], "Currently 2 in mode a and 4 in mode b."),
        (MODES, "q", 10, [], "Currently 1 in mode a and 3 in mode b."),
        (MODES, "q", 10, ["mode = b"], "Currently 3."),
        # what is set holds in every mode
        (MODES, "p", 10, ["p = 7"], "Currently 7."),
    ],
)  # fmt: skip
def test_what_it_is_now(
    spec: str, name: str, population: int, changes: list[str], told: str
) -> None:
    assert inverse_answer(_solved(spec, name, population, *changes)).endswith(told)


def test_the_value_requested_holds_in_every_mode_and_the_failing_one_is_named() -> None:
    assert inverse_answer(_solved(MODES, "p", 10)).startswith(
        "10 users: in every mode, p must be at most 3.33333 (above that, host.cpu.utilization exceeds its limit in mode b)."
    )
    # asked for one mode, it is that of this mode
    assert inverse_answer(_solved(MODES, "p", 10, "mode = a")).startswith(
        "10 users: p must be at most 10 (above that, host.cpu.utilization exceeds its limit in mode a)."
    )
    # and what is said is so when it is set
    spec = checked(MODES)
    for value, largest in (("3.33333", 10), ("3.33334", 9)):
        settled = spec.configuration(None, [f"p = {value}"])
        assert solve_model(spec.model, settled).capacity == largest


@pytest.mark.parametrize(
    ("text", "end", "told"),
    [
        # 5/3 and 1/6, rounded to the side that carries 20
        (BASE.replace("{ work }", "{ work; work; work }"), "at most 1.66666 (", "1.66666"),
        (BASE + "measure m = 6 * p\nrequire { m >= 1 }\n", "between 0.166667 (", "0.166667"),
        # what is short is told as it is
        (BASE.replace("{ work }", "{ work; work }"), "at most 2.5 (", "2.5"),
    ],
)
def test_the_digits_that_are_reported_are_acceptable(text: str, end: str, told: str) -> None:
    assert end in inverse_answer(_solved(text, "p", 20))
    spec = checked(text)
    settled = spec.configuration(None, [f"p = {told}"])
    assert (solve_model(spec.model, settled).capacity or 0) >= 20


# -- laws ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unknown:
    """A spec, the number that is asked for, and the population to carry."""

    text: str
    name: str
    population: int


@st.composite
def questions(draw: st.DrawFn) -> Unknown:
    """A load, a quadratic measure and perhaps a floor and modes, in a parameter p."""
    whole = st.integers(1, 9)
    text = PRELUDE + f"param p = {draw(whole)} in 0..50\nparam q = {draw(whole)}\n" + ONE
    text += f"component more {{ cpu {draw(whole)} ms/packet }}\n"
    text += (
        f"stream flow {{ traffic N * (p + {draw(whole)} / 4) * 1 packet/s; at host {{ more }} }}\n"
    )
    text += f"measure m = {draw(whole)} * p^2 / 4 + N * q / 8 + abs(p - {draw(whole)})\n"
    text += f"measure floored = (p + {draw(whole)}) / (1 + N / 50)\n"
    text += f"require {{ m <= {draw(st.integers(5, 90))}"
    text += f"; floored >= {draw(whole)}" if draw(st.booleans()) else ""
    text += f"; host.cpu.load <= {draw(st.integers(30, 99))} % }}\n"
    if draw(st.booleans()):
        text += f"mode a {{ p = {draw(whole)} }}\nmode b {{ q = {draw(whole)}; p <= {draw(st.integers(1, 40))} }}\n"
    return Unknown(text, "p", draw(st.integers(1, 40)))


def _carries(text: str, value: Fraction, population: int) -> bool:
    spec = checked(text)
    changes = [f"p = {value.numerator} / {value.denominator}", f"N = 1..{population}"]
    settled = spec.configuration(None, changes)
    return solve_model(spec.model, settled).capacity == population


@law
@given(questions(), st.fractions(0, 1, max_denominator=50))
def test_what_is_found_carries_them_and_what_is_just_beyond_does_not(
    question: Unknown, part: Fraction
) -> None:
    solution = _solved(question.text, question.name, question.population)
    for interval in solution.intervals:
        low, high = Fraction(interval.low), Fraction(interval.high)
        beside = max(high, Fraction(1)) / 10**7
        assume(high - low > 4 * beside)
        for inside in (low + beside, high - beside, low + (high - low) * part):
            if low < inside < high:
                assert _carries(question.text, inside, question.population)
        if interval.fails_below:
            assert not _carries(question.text, low - beside, question.population)
        if interval.fails_above:
            assert not _carries(question.text, high + beside, question.population)
    assert [i.fails_below is None for i in solution.intervals][1:] == [False] * (
        len(solution.intervals) - 1
    )


@law
@given(questions(), st.fractions(0, 50, max_denominator=40))
def test_every_value_is_reported_correctly(question: Unknown, value: Fraction) -> None:
    """Any value at all: it carries them just where it is in one of the intervals."""
    solution = _solved(question.text, question.name, question.population)
    ends = [end for i in solution.intervals for end in (i.low, i.high)]
    assume(all(abs(float(value) - end) > 1e-6 for end in ends))
    inside = any(i.low < value < i.high for i in solution.intervals)
    assert _carries(question.text, value, question.population) is inside


@law
@given(st.integers(1, 100), st.integers(1, 30))
def test_a_whole_number_of_places_is_the_least_that_carries_them(
    users: int, milliseconds: int
) -> None:
    text = (
        PLACES.replace("{ work }", "{ serve }")
        + f"component serve {{ cpu {milliseconds} ms/packet }}\n"
    )
    (interval,) = _solved(text, "panels", users).intervals
    # 50 packets a second for each user
    assert interval.low == max(1, -(-users * 50 * milliseconds // 1000))


# -- what cannot be answered ---------------------------------------------------------------

# spec, number, population, changes, what is said, and what would fix it
REFUSED = [
    (BASE, "N", 20, [], "`N` is the population and cannot be solved for", "for the capacity run `qps solve` without `--for`"),
    (BASE, "hust.cpu.speed", 20, [], "unknown number `hust.cpu.speed`", "available: `p` and `work.cpu.packet`"),
    (BASE, "work.cpu.packt", 20, [], "unknown number `work.cpu.packt`", "did you mean `work.cpu.packet`?"),
    (BASE, "p", 101, [], "N = 101 is outside the range 1 to 100 (whole numbers)", "widen the range of `users N`, or use another number"),
    (BASE, "p", 0, [], "N = 0 is outside the range 1 to 100 (whole numbers)", "widen the range of `users N`, or use another number"),
    (BASE, "p", 9, ["N = 10..20"], "N = 9 is outside the range 10 to 20 (whole numbers)", "widen the range of `users N`, or use another number"),
    (BASE + "param d = 2 * p\n" + "measure m = d\n", "d", 20, [], "`d` is computed from other numbers and cannot be solved for", "solve for `--for p`; or set `d` to a number first: `--set 'd = …'`"),
    (BASE + "param r = 2\nparam d = r * p + r\nmeasure m = d\n", "d", 20, [], "`d` is computed from other numbers and cannot be solved for", "solve for `--for r` or `--for p`; or set `d` to a number first: `--set 'd = …'`"),
    (BASE + "option fast = off\nparam d = if fast then 1 else 2\nmeasure m = d\n", "d", 20, [], "`d` is computed from other numbers and cannot be solved for", "set `d` to a number first: `--set 'd = …'`"),
    (BASE + "param cameras = 4\n", "cameras", 20, [], "no utilization or requirement depends on `cameras`", "use it in the model, or solve for an input that `qps explain` lists"),
    (BASE.replace("{ work }", "{ work; work if p > 3 }"), "p", 20, [], "a condition depends on `p`, so that there is no single formula", "solve for a number that no `if` uses"),
    (FREE.replace("param p", "param c = 4\nparam p").replace("{ work }", "{ work; work if c > 3 }"), "c", 20, [], "a condition depends on `c`, so that there is no single formula", "solve for a number that no `if` uses"),
    (FREE.replace("p = 1 in 0..10", "p = 0") + "measure m = p\nrequire { m <= 3 }\n", "p", 20, [], "`p` is 0 now and has no range to search", "add a range: `param p = … in low..high`"),
    # at 6 users (N - 5)^2 p is p, but at 1 it is 16 p
    (BASE + "measure m = (N - 5)^2 * p\nrequire { m <= 4 }\n", "p", 6, [], "6 users are supported with p at 4, but 1 are not", "a smaller population fails: raise the lower end of `users`, or solve for the failing population"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "name", "population", "changes", "message", "hint"), REFUSED)
def test_what_cannot_be_answered_is_said_with_a_fix(
    spec: str, name: str, population: int, changes: list[str], message: str, hint: str
) -> None:
    with pytest.raises(QpsError) as raised:
        _solved(spec, name, population, *changes)
    (told,) = raised.value.diagnostics
    assert (told.code.id, told.message, told.hints) == ("QPS0602", message, (hint,))


def test_what_is_worked_out_may_be_set_and_then_requested() -> None:
    text = BASE.replace("N * p", "N * d").replace("param p = 1\n", "param p = 1\nparam d = 2 * p\n")
    assert inverse_answer(_solved(text, "d", 20, "d = 3")).startswith(
        "20 users: d must be at most 5 ("
    )


def test_what_a_mode_makes_a_number_of_its_own_is_requested_there() -> None:
    text = BASE.replace("N * p", "N * d").replace("param p = 1\n", "param p = 1\nparam d = 2 * p\n")
    text += "mode a { d = 3 }\nmode b { p = 2 }\n"
    assert inverse_answer(_solved(text, "d", 20, "mode = a")).startswith(
        "20 users: d must be at most 5 ("
    )
    with pytest.raises(QpsError):
        _solved(text, "d", 20)


def test_a_number_of_a_part_of_a_user_is_refused() -> None:
    with pytest.raises(QpsError):
        qps.loads(BASE).solve_for("p", 20.5)  # type: ignore[arg-type]


# -- from Python ---------------------------------------------------------------------------


def test_from_python() -> None:
    told = qps.loads(MODES).solve_for("p", 10)
    assert isinstance(told, InverseView)
    (interval,) = told.intervals
    assert (interval.to, interval.fails_above, interval.mode_above) == (
        pytest.approx(10 / 3),
        LOAD,
        "b",
    )
    assert (told.current, told.current_by_mode) == (None, {"a": 2, "b": 4})
    told = qps.loads(MODES).solve_for("p", 10, set={"mode": "a", "q": 2})
    assert (told.intervals[0].to, told.current) == (5, 2)
    scenario = MODES + "scenario one { mode = a; q = 4 }\n"
    assert qps.loads(scenario).solve_for("p", 10, "one").intervals[0].to == 2.5


# -- on the command line -------------------------------------------------------------------


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("s.qps").write_text(PLACES.replace("component each_byte { cpu 1 us/byte }\n", ""))
    return "s.qps"


Run = tuple[int, str, str]


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Run:
    status = main(["solve", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


REQUIRED = "panels must be at least 41 (40.5) (below that, host CPU utilization exceeds its limit)"


@pytest.mark.parametrize(
    ("arguments", "now"),
    [([], 60), (["--format", "text"], 60), (["--set", "panels = 70"], 70)],
)
def test_the_command_tells_the_answer(
    spec: str, arguments: list[str], now: int, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = _run(capsys, spec, "--for", "panels", "--users", "N = 81", *arguments)
    assert (status, err) == (0, "")
    assert " ".join(out.split()).endswith(
        f"Required {REQUIRED} Current {now} Accuracy exact for this model"
    )
    _, out, _ = _run(capsys, spec, "--for", "panels", "--users", "81", "--format", "markdown")
    assert f"- **Required:** {REQUIRED}\n- **Current:** 60\n" in out


def test_json_holds_the_keys_of_the_contract(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = _run(capsys, spec, "--for", "panels", "--users", "N=81", "--format", "json")
    assert status == 0
    assert json.loads(out) == {
        "schema": "qps/inverse/3",
        "file": "s.qps",
        "parameter": "panels",
        "population": {"N": 81},
        "unit": "",
        "current": 60,
        "current_by_mode": {},
        "elastic": False,
        "whole_numbers": True,
        "range": [1, 60_000_000],
        "answer": "81 users: panels must be at least 41 (40.5) (below that, host.cpu.utilization exceeds its limit). "
        "Currently 60.",
        "intervals": [
            {
                "from": 41,
                "to": 60_000_000,
                "fails_below": "host.cpu.utilization",
                "fails_above": None,
                "mode_below": None,
                "mode_above": None,
                "from_is_open": False,
                "to_is_open": False,
                "unrounded": [40.5, 60_000_000],
                "from_known": {"kind": "exact", "reasons": []},
                "to_known": {"kind": "exact", "reasons": []},
            }
        ],
        "fails": [],
        "fails_throughout": False,
        "known": {"kind": "exact", "reasons": []},
        "nominal_inputs": [],
    }


def test_no_value_at_all_is_a_no(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(spec).read_text().replace("panels = 60", "panels = 30 in 1..40")
    Path(spec).write_text(text)
    arguments = [spec, "--for", "panels", "--users", "N = 81"]
    status, out, err = _run(capsys, *arguments)
    assert (status, err) == (1, "")
    assert (
        "Required no value of panels supports 81 users (searched 1 to 40, its full range): "
        "host CPU utilization exceeds its limit for every value Current 30 "
    ) in " ".join(out.split())
    status, out, _ = _run(capsys, *arguments, "--format", "json")
    assert status == 1
    assert json.loads(out)["fails"] == [
        {"requirement": "host.cpu.utilization", "mode": None, "refused": False}
    ]


# arguments, and what standard error says
WRONG = [
    (["--for", "panels"], "`--for` needs the population to support"),
    (
        ["--for", "panels", "--users", "N = 2..9"],
        "`--users` takes one number of users, not `N = 2..9`",
    ),
    (
        ["--for", "panels", "--users", "panels = 9"],
        "`--users` sets the population, which is `N`, not `panels`",
    ),
    (["--for", "panels", "--users", "M = 9"], "which is `N`, not `M`"),
    (["--for", "panels", "--users", ""], "--users:1:"),
    (["--for", "panels", "--users", "N = 0"], "--users:1:"),
    (["--for", "panels", "--users", "N = 2.5"], "--users:1:"),
    (["--for", "panels", "--users", "N = 9 ms"], "--users:1:"),
    (["--for", "panels", "--users", "N = 900"], "N = 900 is outside the range 1 to 100"),
    (["--for", "pannels", "--users", "N = 9"], "did you mean `panels`?"),
    (["--for", "", "--users", "N = 9"], "unknown number ``"),
    (["--for", "N", "--users", "N = 9"], "`N` is the population"),
    (
        ["--for", "panels", "--users", "N = 9", "--set", "panels = 2.5"],
        "must be a whole number above zero",
    ),
    (["--for", "panels", "--users", "N = 9", "--scenario", "none"], "no scenario named `none`"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
@pytest.mark.parametrize("kind", ["text", "json"])
def test_a_wrong_question_ends_with_2_and_says_why(
    spec: str, arguments: list[str], said: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = _run(capsys, spec, *arguments, "--format", kind)
    assert (status, out) == (2, "")
    assert said in err
    assert "help: " in err


# -- what is told of what fails ------------------------------------------------------------

CALLS = """
users N in 2..300
param nic = 1 Gbit/s in 0.01..100 Gbit/s
param power = 4 core in 0.1..256 core
param size = 4 in 1..100
param seen = 20 in 1..100
param cameras = 1 in 0..30
param margin = 40 % in 0..80 %
group class of size users
machine box { cpu power }
machine pc { }
network wire { duplex; rate nic }
component forward { cpu 1 ms/packet }
topology {
  node sfu    = box
  node person = pc * N
  link wan    = wire between person, sfu
}
stream video for cameras in each class {
  traffic 1 Mbit/s, 1000 byte/packet
  at person { }
  at sfu { forward to others in class at most seen }
  at person { }
}
target cpu 1 - margin
"""


def _told(text: str, name: str, population: int, *changes: str) -> str:
    return inverse_answer(_solved(text, name, population, *changes))


def test_only_what_fails_throughout_is_reported() -> None:
    # 75 rooms with one camera each; 28 Mbit/s of 3 copies need 28 cores at 60 %.
    slow = ("nic = 10 Mbit/s",)
    solution = _solved(CALLS, "power", 300, *slow)
    assert [f.requirement for f in solution.fails] == [
        "wan.forth.utilization",
        "wan.back.utilization",
    ]
    assert solution.fails_throughout
    told = inverse_answer(solution)
    assert told.startswith("No value of power supports 300 users (searched 1 core to 256 core")
    assert (
        ": wan.forth.utilization exceeds its limit and wan.back.utilization exceeds its limit for every value."
        in told
    )
    assert "sfu.cpu" not in told


def test_where_nothing_fails_throughout_all_is_reported() -> None:
    text = BASE + "measure cheap = 1 / p\nrequire { cheap <= 1 / 2 }\n"
    solution = _solved(text, "p", 60)
    assert not solution.fails_throughout
    assert {f.requirement for f in solution.fails} == {LOAD, "cheap"}
    assert (
        "every value fails a requirement; with the smallest, cheap exceeds its limit and host"
        in (inverse_answer(solution))
    )


def test_quality_is_not_reported_next_to_its_axis() -> None:
    text = FREE + "measure m = N + p\nrequire { m <= 10 }\n"
    assert [f.requirement for f in _solved(text, "p", 50).fails] == ["m"]


def test_what_binds_at_a_bound_is_reported_and_no_other_failure() -> None:
    # 40 flows of 1 Mbit/s to as many: the line is full at 13.5, the processor at 13.9, both at 14.
    settings = ("nic = 540 Mbit/s", "power = 69.5 core", "size = 20", "cameras = 20")
    text = CALLS.replace("1 - margin", "100 %")
    (found,) = _solved(text, "seen", 40, *settings).intervals
    assert (found.low, found.high) == (1, 13)
    assert found.unrounded == pytest.approx((1, 13.5))
    assert found.fails_above is not None
    assert found.fails_above.requirement == "wan.back.utilization"


def test_reported_values_that_support_the_users_can_be_set() -> None:
    settings = ("cameras = 3", "nic = 100 Gbit/s", "power = 256 core")
    told = _told(CALLS, "size", 10, *settings)
    assert "must be at least 3 (below that, `video` has more flows in each `class`" in told
    spec = checked(CALLS)
    assert solve_model(spec.model, spec.configuration(None, [*settings, "size = 3"]))
    with pytest.raises(QpsError):
        spec.configuration(None, [*settings, "size = 2"])


@pytest.mark.parametrize("size", ["N", "ceil(N / 2)"])
def test_a_group_that_grows_with_the_users_may_be_smaller_than_its_flows(size: str) -> None:
    text = CALLS.replace("class of size users", f"class of {size} users")
    spec = checked(text)
    settings = ["cameras = 5", "nic = 100 Gbit/s", "power = 256 core"]
    from_two = solve_model(spec.model, spec.configuration(None, settings))
    from_ten = solve_model(spec.model, spec.configuration(None, [*settings, "N = 10..300"]))
    assert from_two.capacity == from_ten.capacity
    at_most = _solved(text, "cameras", 10, *settings[1:]).intervals[0].high
    assert at_most == 30
    # With two users, one or both of them send: not more than there are.
    loads = [
        {
            r.name: r.utilization_at_limit
            for r in solve_model(
                spec.model, spec.configuration(None, [f"cameras = {n}", "N = 2"])
            ).resources
        }
        for n in (2, 5)
    ]
    assert loads[0] == loads[1]


def test_flows_are_reported_whole_with_the_exact_bound() -> None:
    text = CALLS.replace("class of size users", "class of N users")
    told = _told(text, "cameras", 10, "nic = 50 Mbit/s", "power = 256 core")
    assert "cameras must be at most 5 (5.55555)" in told
    assert "from 0" not in told


def test_shares_are_reported_in_per_cent_and_cores_in_cores() -> None:
    text = CALLS.replace("cpu power", "cpu 4 core").replace(
        "param power = 4 core in 0.1..256 core\n", ""
    )
    told = _told(text, "sfu.cpu.cores", 12)
    assert "sfu.cpu.cores must be at least 2 cores (1.875 cores) (" in told
    assert told.endswith("Currently 4 cores.")
    assert (
        _told(CALLS, "margin", 4)
        == "Every value of margin supports 4 users (0 % to 80 %, its full range). Currently 40 %."
    )


# The cache serves all requests, the database what it has not got.
IN_SERIES = (
    "users N in 1..100_000\nparam pace = 0.2 request/s in 0..2 request/s\n"
    "param hit = 85 % in 0..100 %\n"
    "machine front { cpu 1 core, queueing mm1 }\nmachine back { disk 1 core, queueing mm1 }\n"
    "network lan_ { propagation 0 ms }\n"
    "component lookup { cpu 0.2 ms/request }\ncomponent read { disk 8 ms/request }\n"
    "topology { node cache = front\n node db = back\n link lan = lan_ between cache, db }\n"
    "stream ask for each user { traffic pace, 1 kB/request\n"
    " at cache { lookup; call db * (100 % - hit) { read } } }\n"
    "require { ask.latency <= 50 ms }\n"
)


@pytest.mark.parametrize("name", ["hit", "pace"])
def test_what_nothing_loses_twice_is_no_bound(name: str) -> None:
    found = _solved(IN_SERIES, name, 20_000)
    assert found.intervals
    assert found.known.is_exact


def test_where_two_are_overloaded_at_once_is_known() -> None:
    spec = checked(IN_SERIES)
    (graph,) = unknown_of(spec.model, spec.configuration(), "pace", 20_000).graphs
    pace = graph.assumptions["pace"].symbol
    values = {one: value for one, value in graph.values.items() if one != pace}
    overloads = Overloads(graph, {**values, graph.population: number(20_000)})
    # In one second 4,000 times 0.2 ms at the cache, and 600 times 8 ms at the database, at 0.2.
    assert overloads.points(pace, Fraction(0), Fraction(2)) == (Fraction(1, 24), Fraction(1, 4))
    (latency,) = (one for one in graph.criteria if one.name == "ask.latency")
    assert overloads.known(latency, pace, Fraction(1, 5)).is_exact
    assert overloads.known(latency, pace, Fraction(1, 4)).is_exact
    assert overloads.known(latency, pace, Fraction(3, 10)).kind is Kind.UPPER_BOUND


def test_what_another_stream_has_lost_makes_a_bound_of_a_wait() -> None:
    """As it does at a population: at 18 users each 100 ms of 0.6 request/s are too much for `a`."""
    text = THINNED.replace("users", "param pace = 1 request/s in 0.1..2 request/s\nusers", 1)
    text = text.replace("traffic 1 request/s", "traffic pace")
    spec = checked(text.format(way="at a { much }; at b { little }", at="b"))
    (graph,) = unknown_of(spec.model, spec.configuration(), "pace", 18).graphs
    pace = graph.assumptions["pace"].symbol
    values = {one: value for one, value in graph.values.items() if one != pace}
    overloads = Overloads(graph, {**values, graph.population: number(18)})
    (quiet,) = (one for one in graph.criteria if one.name == "quiet.latency")
    assert overloads.known(quiet, pace, Fraction(1, 2)).is_exact
    assert overloads.known(quiet, pace, Fraction(3, 5)).kind is Kind.UPPER_BOUND


def test_the_end_before_rounding_is_that_of_the_criterion_that_is_named() -> None:
    """Below 14/3 copies both fail at whole numbers: the utilization is at its limit there."""
    spec = """
users N in 1..2000
param copies = 2 in 1..12
machine a { cpu 2 core, queueing mmc }
component find { cpu 5 ms/request }
topology { node r = a * copies }
stream ask for each user { traffic 1 request/s; at r { find } }
require { quantile(ask.latency, 99 %) <= 60 ms; r.cpu.load <= 75 % }
"""
    (interval,) = _solved(spec, "copies", 1400).intervals
    assert (interval.low, interval.unrounded) == (5, pytest.approx((14 / 3, 12)))
    assert interval.fails_below is not None
    assert "r.cpu" in interval.fails_below.requirement
