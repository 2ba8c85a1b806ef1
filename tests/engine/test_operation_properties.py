"""Properties of the table of operations, for every row: bounds, slopes, proportion, rounding."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isfinite, isinf, isnan
from typing import NamedTuple

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.cases.operation_cases import (
    drawn,
    in_digits,
    law,
    law_of_each_row,
    same,
    shares,
    some_counted,
)
from helpers.nightly import examples
from helpers.operations import CASES, OF_NETWORKS
from qps.engine.evaluators.on_balls import ball
from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.evaluators.slopes_on_floats import FiniteDifferences, _in_floats
from qps.engine.exact_algebra.exact_values import NoValueError
from qps.engine.expressions.algebraic_functions import piecewise
from qps.engine.expressions.formulas import apply, population
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.numerics.value_ranges import ValueRange
from qps.engine.operation_rows import Operation
from qps.engine.operations import OF_QUEUES, OPERATIONS
from qps.engine.queueing import queue_arrays
from qps.solver.search.critical_points import piece_at

N = population("N")
_PROVEN = 60
"""Binary digits that are more than those of floats."""


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
    between = [ValueRange(min(pair), max(pair)) for pair in zip(*ends, strict=True)]
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
    sides = ([*at[:place], at[place] + by, *at[place + 1 :]] for by in (-step, step))
    less, more = (digits_or_none(row, side) for side in sides)
    # At a kink it is that of one side, or between both; so where only one side has values.
    pairs = [pair for pair in ((less, here), (here, more)) if None not in pair]
    assert pairs
    chords = [float(((high - low) / ball(step)).mid()) for low, high in pairs]
    # What floats tell has few digits, which differences lose.
    # Slopes by differences of floats are as far off as the page's may be.
    room = 1e-5 * max(map(abs, chords)) + (1e-8 if row.by_ends else 1e-9)
    if here.rel_accuracy_bits() <= _PROVEN:
        room += 1e-4 * max(map(abs, chords)) + 1e-6 * abs(float(here.mid()))
    return BetweenChords(min(chords) - room, max(chords) + room)


def digits_or_none(row: Operation, at: list[Fraction]) -> arb | None:
    try:
        return in_digits(row, at, 128)
    except NoValueError:
        return None


@pytest.mark.parametrize("word", [word for word, row in OPERATIONS.items() if row.by_arrays])
@settings(law, max_examples=examples(5, least=1))  # each takes some values of a whole fork
@given(st.data())
def test_slopes_in_one_call_of_arrays_are_those_one_by_one(word: str, data: st.DataObject) -> None:
    """To the digits of a difference: values by a grid of times have some ten, more than its step.

    Those of balls are of a much smaller step: at nothing, where values are on one side only or
    rise like a root, they are others.
    """
    row = OPERATIONS[word]
    at, slopes = tuple(map(float, drawn(word, data))), row.slopes
    assert isinstance(slopes, FiniteDifferences)
    assert slopes.together is not None
    places = data.draw(st.lists(st.integers(0, len(at) - 1), min_size=2, max_size=3, unique=True))
    found = slopes.at(places, at)
    room = 1e-10 * (1 + abs(row.number(*at)))
    for place, slope in zip(places, found, strict=True):
        others = [slopes.slope(place, at)] if at[place] else []
        if slopes.together(places, at) is not None and not row.is_whole(place):
            others.append(_in_floats(row.number, place, at))
        off = room / ((at[place] or 1.0) * 1e-5)
        for other in others:
            assert slope == pytest.approx(other, rel=1e-4, abs=off, nan_ok=True)


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
    value = EvaluationPoint({N: at}).exact(expr)
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
    assert EvaluationPoint({N: at}).exact(piece) == value
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
