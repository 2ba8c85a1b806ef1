"""Laws of the table of operations, for every row: its values, its bounds, its exact values."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, inf, isfinite, isinf, isnan, nan
from typing import NamedTuple, TypeVar

import numpy as np
import pytest
import sympy
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import draws, examples
from helpers.operations import (
    CASES,
    EDGES,
    OF_NETWORKS,
    POLES,
    arguments_at_edges,
    counted,
    some_of,
)
from qps.engine.evaluators.on_balls import ball
from qps.engine.evaluators.on_bounds import Bounds
from qps.engine.exact_algebra.exact_values import InexactError, NoValueError
from qps.engine.expressions.algebraic_functions import piecewise
from qps.engine.expressions.formulas import apply, formula, population
from qps.engine.expressions.point_values import Point
from qps.engine.numerics.sloped_intervals import Interval
from qps.engine.numerics.value_ranges import Range
from qps.engine.operation_rows import Operation
from qps.engine.operations import OF_QUEUES, OPERATIONS
from qps.engine.queueing import queue_arrays
from qps.solver.search.critical_points import piece_at

N = population("N")
Case = TypeVar("Case")
law = settings(max_examples=examples(25), deadline=None)
_FEW = settings(law, max_examples=examples(8, least=2))
"""Points at which a law of a network is held: each may take a hundred times as long as others."""
shares = st.integers(0, 100).map(lambda share: Fraction(share, 100))
_PROVEN = 60
"""Binary digits that are more than those of floats."""

each_row = pytest.mark.parametrize("word", OPERATIONS)


def law_of_each_row(check: Callable[[str, st.DataObject], None]) -> Callable[[str], None]:
    """Hold a law at drawn points of every row."""

    @draws
    @each_row
    def held(word: str) -> None:
        points = _FEW if word in OF_NETWORKS else law
        points(given(st.data())(lambda data: check(word, data)))()

    held.__name__, held.__doc__ = check.__name__, check.__doc__
    return held


def drawn(word: str, data: st.DataObject) -> list[Fraction]:
    """Return a point at which an operation has a value, in floats."""
    ends = [(Fraction(str(low)), Fraction(str(high))) for low, high in CASES[word]]
    at = [Fraction(float(low + data.draw(shares) * (high - low))) for low, high in ends]
    return [
        Fraction(ceil(one)) if is_whole else one
        for one, is_whole in zip(at, some_counted(word, data), strict=True)
    ]


def some_counted(word: str, data: st.DataObject) -> list[bool]:
    return [is_count and data.draw(st.booleans()) for is_count in counted(word)]


def test_every_row_has_its_case() -> None:
    assert CASES.keys() == OPERATIONS.keys()
    for word, row in OPERATIONS.items():
        more = len(CASES[word]) - row.operands
        assert more >= 0 if row.repeats else more == 0


@law_of_each_row
def test_algebra_has_the_same_values(word: str, data: st.DataObject) -> None:
    at = drawn(word, data)
    numbers = (sympy.Float(sympy.Rational(n.numerator, n.denominator), 25) for n in at)
    result = OPERATIONS[word].in_sympy(*numbers).evalf(20)
    found = OPERATIONS[word].number(*map(float, at))
    assert float(result) == pytest.approx(found, rel=1e-8, abs=1e-12)


@law_of_each_row
def test_all_columns_have_one_value(word: str, data: st.DataObject) -> None:
    at, row = drawn(word, data), OPERATIONS[word]
    found = row.number(*map(float, at))
    with np.errstate(all="ignore"):
        assert float(row.array(*map(float, at))) == pytest.approx(found, rel=1e-10, abs=1e-13)
    proven = in_digits(row, at, 128)
    if not isfinite(found):
        assert proven == arb(found)
        return
    assert proven.is_finite()
    near = proven.mid() if row.by_floats else proven
    assert abs(near - found) <= 1e-10 * abs(arb(found)) + 1e-13
    assert proven.overlaps(in_digits(row, at, 300))
    try:
        exact = row.exact(*at)
    except InexactError:
        pass
    else:
        assert proven.overlaps(ball(exact))
    bounds = row.interval(*(Interval(float(n), float(n)) for n in at)).sound()
    assert proven.overlaps(arb(bounds.low).union(arb(bounds.high)))
    assert bounds.high - bounds.low <= 1e-8 * (1 + abs(found))


def in_digits(row: Operation, at: Sequence[Fraction | float], bits: int) -> arb:
    """Return the value of balls around numbers, in so many binary digits."""
    before, ctx.prec = ctx.prec, bits
    try:
        return row.ball(*map(ball, at))
    finally:
        ctx.prec = before


def part_of(word: str, cases: Iterable[Case]) -> list[Case]:
    """Return which cases a law of edges is held at: of networks, which have most, by day a part."""
    found = list(cases)
    is_part = word in OF_NETWORKS
    return random.Random(word).sample(found, examples(len(found))) if is_part else found


@draws
@each_row
def test_edges_have_one_meaning(word: str) -> None:
    """Poles, infinities and what is not real are the same in every column."""
    row = OPERATIONS[word]
    for at in part_of(word, arguments_at_edges(word)):
        found = row.number(*at)
        with np.errstate(all="ignore"):
            assert same(float(row.array(*map(np.float64, at))), found), at
        if any(map(isnan, at)):
            assert isnan(found) or (word == "pow" and at[1] == 0), at
            continue
        exact = [number if isinf(number) else Fraction(number) for number in at]
        try:
            assert same(float(row.exact(*exact)), found), at
        except InexactError:
            assert not isnan(found) or any(map(isinf, at)), at
        except NoValueError:
            assert isnan(found), at
        try:
            proven = in_digits(row, exact, 128)
        except NoValueError:
            assert isnan(found), at
        else:
            assert proven.is_nan() or same(float(proven.mid()), found), at


@draws
@each_row
def test_outside_of_its_domain_nothing_has_a_value(word: str) -> None:
    """What must not be negative, or zero, tells of every edge that is told; others may be none."""
    row = OPERATIONS[word]
    for at in part_of(word, arguments_at_edges(word)):
        if any(map(isnan, at)):
            continue
        for needed in row.domain(*map(formula, map(_exactly, at))) or ():
            value = needed.of.value
            assert isinstance(value, Fraction | float)
            is_out = (value < 0 and not needed.may_be_negative) or (
                value == 0 and needed.is_zero_out
            )
            assert not is_out or isnan(row.number(*at)), at


@draws
@each_row
def test_what_needs_nothing_has_a_value_of_all_numbers(word: str) -> None:
    row = OPERATIONS[word]
    finite, poles = ([one for one in some if isfinite(one)] for some in (EDGES, POLES))
    for at in part_of(
        word, some_of(finite, [(low + high) / 2 for low, high in CASES[word]], poles)
    ):
        if row.divisor is None and row.domain(*map(formula, map(_exactly, at))) == ():
            assert isfinite(row.number(*at)), at


def _exactly(value: float) -> Fraction | float:
    return value if isinf(value) else Fraction(value)


@draws
@each_row
def test_what_has_bounds_has_a_value_throughout(word: str) -> None:
    """Bounds that are finite on both sides prove that there is a finite value everywhere."""
    row = OPERATIONS[word]
    sides, poles = (
        [(low, high) for low in ends for high in ends if low <= high and isfinite(low + high)]
        for ends in (EDGES, POLES)
    )
    for box in part_of(word, some_of(sides, [(low, low) for low, _ in CASES[word]], poles)):
        found = row.interval(*(Interval(low, high, 1.0, 1.0) for low, high in box)).sound()
        if isfinite(found.low) and isfinite(found.high):
            for at in product(*({low, (low + high) / 2, high} for low, high in box)):
                assert isfinite(row.number(*at)), (box, at)


@pytest.mark.parametrize(
    ("word", "at", "meaning"),
    [
        ("pow", (0.0, -1.0), nan),
        ("ln", (0.0,), nan),
        ("ln", (-1.0,), nan),
        ("sqrt", (-1.0,), nan),
        ("acos", (2.0,), nan),
        ("pow", (-8.0, 0.5), nan),
        ("w", (-1.0,), nan),
        ("+", (inf, -inf), nan),
        ("*", (0.0, inf), nan),
        ("pow", (0.0, 0.0), 1.0),
        ("exp", (inf,), inf),
        ("exp", (-inf,), 0.0),
        ("ratio", (3.0, 0.0), inf),
        ("mean", (0.0, 0.0), 0.0),
        ("waiting", (0.0, 1.0), inf),
        ("md1_quantile", (1.0, 0.5), inf),
        ("md1_tail", (inf, 3.0), 1.0),
        ("exp", (1000.0,), inf),
        ("exp", (-1000.0,), 0.0),
        ("max", (1.0, nan), nan),
        ("ceil", (7.000000000000001,), 7.0),
    ],
)
def test_the_reference_states_the_meaning(word: str, at: tuple[float, ...], meaning: float) -> None:
    """The table of docs/language; all columns agree there by the law of the edges."""
    assert same(OPERATIONS[word].number(*at), meaning)


def same(one: float, other: float) -> bool:
    """Return whether two floats are one value."""
    return (isnan(one) and isnan(other)) or one == pytest.approx(other, rel=1e-9, abs=1e-13)


_IN_ARRAYS = {
    *(word for word in CASES if word.startswith(("class_", "shared_", "nested_"))),
    *("order_mean", "order_quantile", "fork_mean", "fork_quantile", "fork_tail"),
}
"""These wait for numpy: all populations of several classes are one table, an array, and so are all
times at which an integral over a law of order statistics, or of a fork, is summed."""


def test_a_plain_value_needs_no_numpy() -> None:
    code = (
        "import sys\n"
        "from qps.engine.operations import OPERATIONS\n"
        "for word, at in CASES.items(): OPERATIONS[word].number(*at)\n"
        "print({'numpy', 'sympy', 'mpmath'} & sys.modules.keys())"
    )
    plain = {word: ends for word, ends in CASES.items() if word not in _IN_ARRAYS}
    at = {word: tuple((low + high) / 2 for low, high in ends) for word, ends in plain.items()}
    output = subprocess.run(
        [sys.executable, "-c", f"CASES = {at}\n{code}"],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert output == "set()\n"


@law_of_each_row
def test_bounds_hold_between_two_ends(word: str, data: st.DataObject) -> None:
    """Each operand moves along a line while the population does; values and chords are bounded."""
    lines = []
    for (low, high), stays in zip(CASES[word], some_counted(word, data), strict=True):
        start, end = (low + float(data.draw(shares)) * (high - low) for _ in range(2))
        lines.append((float(ceil(start)),) * 2 if stays else (start, end))
    row, points = OPERATIONS[word], np.linspace(0.0, 1.0, 9)
    box = [
        Bounds(np.float64(min(line)), np.float64(max(line)), *(2 * [np.float64(line[1] - line[0])]))
        for line in lines
    ]
    with np.errstate(all="ignore"):
        found = row.bounds(*box)
        values = np.asarray(row.array(*(start + points * (end - start) for start, end in lines)))
        room = 1e-9 * (1 + np.abs(values))
        # Not-a-number proves nothing.
        assert not (values < found.low - room).any()
        assert not (values > found.high + room).any()
        chords = np.diff(values) / np.diff(points)
        room = 1e-6 * (1 + np.abs(chords))
        assert not (chords < found.slope_low - room).any()
        assert not (chords > found.slope_high + room).any()


@law_of_each_row
def test_values_lie_and_grow_as_the_table_says(word: str, data: st.DataObject) -> None:
    row = OPERATIONS[word]
    at, to = ([float(number) for number in drawn(word, data)] for _ in range(2))
    assert row.lies[0] <= row.number(*at) <= row.lies[1]
    for place, grows in enumerate(row.grows):
        if not grows:
            continue
        more = max(at[place], to[place])
        risen = row.number(*at[:place], more, *at[place + 1 :]) - row.number(*at)
        assert not grows * risen < -1e-9 * abs(risen) - 1e-12


@law_of_each_row
def test_ranges_hold_all_values_and_moves_what_they_do(word: str, data: st.DataObject) -> None:
    """Of operands anywhere between two points; also below zero, where there are values."""
    row, ends = OPERATIONS[word], [drawn(word, data), drawn(word, data)]
    if word in ("*", "pow", "ratio", "mean", "waiting", "abs") and data.draw(st.booleans()):
        ends = [[-end[0], *end[1:]] for end in ends]
    if word == "pow":
        whole = Fraction(data.draw(st.integers(-3, 3)))
        ends = [[end[0], whole] for end in ends]
    between = [Range(min(pair), max(pair)) for pair in zip(*ends, strict=True)]
    at = [
        part.low if stays else part.low + data.draw(shares) * (part.high - part.low)
        for part, stays in zip(between, some_counted(word, data), strict=True)
    ]
    found, value = row.range(*between), row.number(*map(float, at))
    if isnan(value):
        return  # next to a pole
    room = 1e-9 * (1 + abs(value)) if isfinite(value) else 0.0
    assert found.low <= value + room
    assert found.high >= value - room
    moves = row.moves(*between)
    assert len(moves) == len(at)
    for place, move in enumerate(moves):
        if not move:
            continue
        more = [*at[:place], between[place].high, *at[place + 1 :]]
        risen = row.number(*map(float, more)) - value
        assert isnan(risen) or not move * risen < -room


@pytest.mark.parametrize("word", [word for word in OPERATIONS if word not in OF_NETWORKS])
@law
@given(st.data())
def test_slopes_are_those_of_chords(word: str, data: st.DataObject) -> None:
    are_slopes_those_of_chords(word, data)


@pytest.mark.parametrize("word", OF_NETWORKS)
@settings(law, max_examples=examples(3, least=1))  # each asks for all digits of a whole network
@given(st.data())
def test_slopes_of_networks_are_those_of_chords(word: str, data: st.DataObject) -> None:
    are_slopes_those_of_chords(word, data)


def are_slopes_those_of_chords(word: str, data: st.DataObject) -> None:
    at, row = drawn(word, data), OPERATIONS[word]
    here = in_digits(row, at, 128)
    is_proven = here.rel_accuracy_bits() > _PROVEN
    slopes = row.slopes(*map(float, at))
    assert len(slopes) == len(at)
    # A chord asks twice for all digits: of many operands, some.
    for place in sorted(data.draw(st.sets(st.integers(0, len(at) - 1), min_size=1, max_size=4))):
        slope = slopes[place]
        if isnan(slope):
            continue
        # What floats tell has few digits: they bear no small step, and where the slope changes
        # within a long one, a shorter one tells.
        long, *shorter = (6,) if is_proven else (3, 5)
        found = between_chords(row, at, here, place, 10**long)
        while not found.holds(slope) and shorter:
            found = between_chords(row, at, here, place, 10 ** shorter.pop())
        assert found.low <= slope <= found.high


class BetweenChords(NamedTuple):
    low: float
    high: float

    def holds(self, slope: float) -> bool:
        return self.low <= slope <= self.high


def between_chords(
    row: Operation, at: list[Fraction], here: arb, place: int, parts: int
) -> BetweenChords:
    """Return between what a slope lies: the chords to both sides, a part of the operand long."""
    step = max(abs(at[place]), Fraction(1, 100)) / parts
    less, more = (
        in_digits(row, [*at[:place], at[place] + by, *at[place + 1 :]], 128) for by in (-step, step)
    )
    # At a kink it is that of one side, or between both.
    chords = [float((chord / ball(step)).mid()) for chord in (here - less, more - here)]
    # What floats tell has few digits, which differences lose.
    # Slopes by differences of floats are as far off as the page's may be.
    room = 1e-5 * max(map(abs, chords)) + (1e-8 if row.by_ends else 1e-9)
    if here.rel_accuracy_bits() <= _PROVEN:
        room += 1e-4 * max(map(abs, chords)) + 1e-6 * abs(float(here.mid()))
    return BetweenChords(min(chords) - room, max(chords) + room)


@pytest.mark.parametrize(
    "word", [w for w in sorted(OF_QUEUES) if hasattr(queue_arrays, f"{w}_slopes")]
)
@law
@given(st.data())
def test_slopes_are_those_of_arrays(word: str, data: st.DataObject) -> None:
    at = [float(number) for number in drawn(word, data)]
    expected = getattr(queue_arrays, f"{word}_slopes")(*at)
    for found, slope in zip(OPERATIONS[word].slopes(*at), expected, strict=True):
        assert isnan(found) or found == pytest.approx(float(slope), rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("word", [word for word, row in OPERATIONS.items() if row.scales])
@law
@given(st.data())
def test_values_are_in_proportion_as_the_table_says(word: str, data: st.DataObject) -> None:
    """So the checker takes dimensions from it: what is twice as much gives twice as much."""
    at, row = drawn(word, data), OPERATIONS[word]
    scaled = row.in_proportion(len(at))
    more = [3 * number if place in scaled else number for place, number in enumerate(at)]
    assert same(row.number(*map(float, more)), 3 * row.number(*map(float, at)))


@pytest.mark.parametrize("word", [word for word, row in OPERATIONS.items() if row.divides])
@law
@given(st.data())
def test_values_fall_in_proportion_as_the_table_says(word: str, data: st.DataObject) -> None:
    at, row = drawn(word, data), OPERATIONS[word]
    more = [3 * number if place in row.divides else number for place, number in enumerate(at)]
    assert same(row.number(*map(float, more)), row.number(*map(float, at)) / 3)


@pytest.mark.parametrize("word", [word for word, row in OPERATIONS.items() if row.rounds])
@law
@given(st.data())
def test_what_rounds_is_the_next_whole_number(word: str, data: st.DataObject) -> None:
    (at,), row = drawn(word, data), OPERATIONS[word]
    found = row.exact(at)
    assert found == int(found)
    assert 0 <= row.rounds * (found - at) < 1


@pytest.mark.parametrize("word", [word for word, row in OPERATIONS.items() if row.chooses])
@law
@given(st.data())
def test_what_chooses_is_one_of_its_operands(word: str, data: st.DataObject) -> None:
    at, row = drawn(word, data), OPERATIONS[word]
    assert row.exact(*at) == row.chooses * max(row.chooses * number for number in at)


@pytest.mark.parametrize("word", [word for word, row in OPERATIONS.items() if row.function])
@law
@given(st.data())
def test_functions_and_what_is_in_force_have_its_values(word: str, data: st.DataObject) -> None:
    """Each operand moves along a line; servers and exponents are whole, and stay."""
    row, lines = OPERATIONS[word], list(zip(drawn(word, data), drawn(word, data), strict=True))
    fixed = {"erlang_c": 0, "pow": 1}.get(word)
    if fixed is not None:
        lines[fixed] = 2 * (Fraction(data.draw(st.integers(1, 5))),)
    expr = apply(word, *(start + (end - start) * N for start, end in lines))
    at = data.draw(shares)
    value = Point({N: at}).exact(expr)
    if value is None or isinf(value) or (word == "erlang_c" and value == 1):  # not below saturation
        return
    whole = piecewise(expr, N, Fraction(0), Fraction(1))
    assert whole is not None
    if at not in whole.breakpoints:
        function = whole.at(at)
        assert function is not None
        assert function.at(at) == value
    piece = piece_at(expr, N, at)
    assert piece is not None
    assert Point({N: at}).exact(piece) == value
    assert row.in_force is None or piece.word != word


@pytest.mark.parametrize("word", [word for word, row in OPERATIONS.items() if row.divisor])
@law
@given(st.data())
def test_a_quotient_has_the_divisor_that_the_table_says(word: str, data: st.DataObject) -> None:
    above, below = drawn(word, data)
    row = OPERATIONS[word]
    assert row.divisor is not None
    divisor = row.divisor(below)
    if divisor > 0:
        assert row.exact(above, below) == above / divisor


@each_row
def test_what_the_language_has_names_its_arguments(word: str) -> None:
    row = OPERATIONS[word]
    assert len(row.arguments) in (0, 1 if row.takes_more else row.operands)


def test_the_ball_of_a_largest_number_has_nothing_below_zero_where_that_is_among_them() -> None:
    for radius in (4.87e-307, 2e-11, 3.0):
        assert OPERATIONS["max"].ball(arb(0), arb(0, radius)) >= 0
        assert -OPERATIONS["min"].ball(arb(0, radius), arb(0)) >= 0
        slowest = OPERATIONS["slowest"].ball
        branch = (OPERATIONS["max"].ball(arb(0), arb(0, min(radius, 1e-6))), arb(1), arb(1))
        found = slowest(*branch, *branch)
        assert found.contains(1.5)
        assert float(found.rad()) < 1e-5


def test_a_number_of_copies_is_one_but_for_its_last_digits() -> None:
    """One that is a quotient of equal products is known no better."""
    row = OPERATIONS["closed_rate"]
    nearly = arb(1, 1e-18)
    found = row.ball(arb(10), arb(2), arb(0.5), arb(1), arb(0), nearly)
    assert found.overlaps(row.ball(arb(10), arb(2), arb(0.5), arb(1), arb(0), arb(1)))
    assert float(found.rad()) < 1e-15
