"""The question turned round: which values of a number carry a population?"""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import PRELUDE, checked
from qps.reports.text.changes.inverse_text import inverse_answer
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.inverse import InverseSolution, solve_for

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


# -- values worked by hand ------------------------------------------------------------

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
    answer = [
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
    assert [ends[2:] for ends in answer] == [ends[2:] for ends in expected]
    for (low, high, *_), (from_, to, *_) in zip(answer, expected, strict=True):
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


# -- open ends ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requirement", "expected"),
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
    requirement: str, expected: str | None
) -> None:
    answer = inverse_answer(_solved(FREE + f"require {{ {requirement} }}\n", "p", 7))
    whole = (
        "Every value of p supports 7 users (0 to 10, its full range)"
        if expected is None
        else f"7 users: {expected}"
    )
    assert answer == f"{whole}. Currently 1."


# -- numbers of places ----------------------------------------------------------------

# requirement, population, what is told; N / (2 panels) <= 1
COUNTED = [
    ("", 81, "at least 41 (40.5 before rounding; below that, host.cpu.utilization exceeds its limit)"),
    ("", 80, "at least 40 (below that, host.cpu.utilization exceeds its limit)"),
    ("", 1, None),
    ("cost <= 5050 $", 80, "between 40 (below that, host.cpu.utilization exceeds its limit) and 50 (50.5 before rounding; above that, cost exceeds its limit)"),
    ("cost <= 5000 $", 79, "between 40 (39.5 before rounding; below that, host.cpu.utilization exceeds its limit) and 50 (above that, cost exceeds its limit)"),
    # a limit that must not be reached
    ("cost < 5000 $", 80, "between 40 (below that, host.cpu.utilization exceeds its limit) and 49 (50 before rounding; above that, cost is not below its limit)"),
    # 40 and nothing else
    ("cost <= 4099 $", 80, "40 (below that, host.cpu.utilization exceeds its limit; 40.99 before rounding; above that, cost exceeds its limit)"),
]  # fmt: skip


@pytest.mark.parametrize(("requirement", "population", "expected"), COUNTED)
def test_places_are_counted_in_whole_numbers(
    requirement: str, population: int, expected: str | None
) -> None:
    text = PLACES + (f"require {{ {requirement} }}\n" if requirement else "")
    solution = _solved(text, "panels", population)
    assert solution.number.is_count
    whole = f"{population:,} users: panels must be {expected}"
    if expected is None:
        whole = "Every value of panels supports 1 user (1 to 60,000,000, a millionth to a million times the current value)"
    assert inverse_answer(solution) == f"{whole}. Currently 60."


def test_where_no_whole_number_lies_in_between_there_is_none() -> None:
    # from 39.5 to 39.9
    solution = _solved(PLACES + "require { cost <= 3990 $ }\n", "panels", 79)
    assert solution.intervals == ()
    assert {failure.requirement for failure in solution.fails} == {LOAD, "cost"}


def test_stretches_that_hold_neighboring_whole_numbers_are_one() -> None:
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


def test_stretches_that_end_at_neighboring_whole_numbers_are_one() -> None:
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


# -- what it is now -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "name", "population", "changes", "expected"),
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
    spec: str, name: str, population: int, changes: list[str], expected: str
) -> None:
    assert inverse_answer(_solved(spec, name, population, *changes)).endswith(expected)


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
        configuration = spec.configuration(None, [f"p = {value}"])
        assert solve_model(spec.model, configuration).capacity == largest


@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        # 5/3 and 1/6, rounded to the side that carries 20
        (BASE.replace("{ work }", "{ work; work; work }"), "at most 1.66666 (", "1.66666"),
        (BASE + "measure m = 6 * p\nrequire { m >= 1 }\n", "between 0.166667 (", "0.166667"),
        # what is short is told as it is
        (BASE.replace("{ work }", "{ work; work }"), "at most 2.5 (", "2.5"),
    ],
)
def test_the_digits_that_are_reported_are_acceptable(text: str, end: str, expected: str) -> None:
    assert end in inverse_answer(_solved(text, "p", 20))
    spec = checked(text)
    configuration = spec.configuration(None, [f"p = {expected}"])
    assert (solve_model(spec.model, configuration).capacity or 0) >= 20


# -- laws -----------------------------------------------------------------------------


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
    configuration = spec.configuration(None, changes)
    return solve_model(spec.model, configuration).capacity == population


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
