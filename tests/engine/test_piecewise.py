"""Piecewise rational functions, against what their parts are at single points."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.engine.exact_algebra import piecewise
from qps.engine.exact_algebra.piecewise import Piecewise
from qps.engine.exact_algebra.rational_functions import ONE, VARIABLE, RationalFunction
from qps.engine.exact_algebra.real_roots import IntractableError

law = settings(max_examples=examples(150), deadline=None)
LOW, HIGH = Fraction(1), Fraction(30)
Valued = Callable[[Fraction], Fraction | None]
Both = tuple[Piecewise, Valued]
"""A function in pieces, and its value at a point; None where it has none, or is infinite."""

POINTS = [Fraction(n, 7) for n in range(7, 7 * 30, 3)]


def line(slope: Fraction | int, offset: Fraction | int, high: Fraction | None = HIGH) -> Piecewise:
    """Return a straight line on the range."""
    function = VARIABLE * RationalFunction.constant(slope) + RationalFunction.constant(offset)
    return piecewise.everywhere(function, LOW, high)


def _all(values: list[Fraction | None], join: Callable[..., Fraction]) -> Fraction | None:
    finite = [value for value in values if value is not None]
    return join(finite) if len(finite) == len(values) else None


def _waiting(work: Fraction | None, load: Fraction | None) -> Fraction | None:
    return None if work is None or load is None or load >= 1 else work / (1 - load)


@st.composite
def functions(draw: st.DrawFn, depth: int = 3) -> Both:
    """Draw a function of lines."""
    kinds = ["line", "max", "min", "+", "*", "abs", "inverse", "waiting"]
    kind = draw(st.sampled_from(kinds if depth else kinds[:1]))
    if kind == "line":
        slope, offset = draw(st.fractions(-5, 5, max_denominator=4)), draw(st.integers(-40, 40))
        return line(slope, offset), lambda at: slope * at + offset
    whole, value = draw(functions(depth - 1))
    if kind == "abs":
        size = piecewise.largest([whole, piecewise.product([line(0, -1), whole])])
        return size, lambda at: None if (v := value(at)) is None else abs(v)
    if kind == "inverse":
        square = piecewise.total([piecewise.raised(whole, 2), line(0, -3)])
        if any(p.function is not None and p.function.is_zero for p in square.pieces):
            return whole, value
        return piecewise.raised(
            square, -1
        ), lambda at: None if (v := value(at)) is None else 1 / (v * v - 3)
    other, others = draw(functions(depth - 1))
    if kind == "waiting":
        return piecewise.waiting(whole, other), lambda at: _waiting(value(at), others(at))
    third, thirds = draw(functions(0))

    def joined(join: Callable[..., Fraction]) -> Valued:
        return lambda at: _all([value(at), others(at), thirds(at)], join)

    together = [whole, other, third]
    match kind:
        case "max":
            return piecewise.largest(together), joined(max)
        case "min":
            return piecewise.smallest(together), lambda at: min(
                (v for v in (value(at), others(at), thirds(at)) if v is not None), default=None
            )
        case "+":
            return piecewise.total(together), joined(sum)
        case _:
            return piecewise.product(together), joined(
                lambda values: values[0] * values[1] * values[2]
            )


@law
@given(functions())
def test_pieces_are_what_their_parts_make(both: Both) -> None:
    whole, value = both
    assert (whole.pieces[0].start, whole.end) == (LOW, HIGH)
    assert all(one.end == other.start for one, other in pairwise(whole.pieces))
    assert all(one.function != other.function for one, other in pairwise(whole.pieces))
    breakpoints = set(whole.breakpoints)
    for at in POINTS:
        if at not in breakpoints:
            function = whole.at(at)
            assert (None if function is None else function.at(at)) == value(at)


@law
@given(functions())
def test_between_roots_and_poles_signs_do_not_change(both: Both) -> None:
    whole, value = both
    for piece in whole.pieces:
        for start, end in whole.of_one_sign(piece):
            assert end is not None
            if piece.function is None or end - start < Fraction(1, 10**9):
                continue
            inside = [start + (end - start) * Fraction(k, 7) for k in (1, 3, 6)]
            signs = {(v > 0) - (v < 0) for at in inside if (v := value(at)) is not None}
            assert len(signs) == 1


@given(st.fractions(0, 100), st.none() | st.fractions(0, 100))
def test_a_middle_lies_inside(start: Fraction, end: Fraction | None) -> None:
    if end is not None and end < start:
        start, end = end, start
    inside = piecewise.middle(start, end)
    assert start <= inside
    assert end is None or inside <= end
    assert start == end or (start < inside and (end is None or inside < end))


def test_a_maximum_of_many_lines_has_as_many_pieces() -> None:
    count = 1000
    lines = [line(i, (count - i) ** 2, None) for i in range(count)]
    whole = piecewise.largest(lines)
    for at in (Fraction(3, 2), Fraction(500), Fraction(1997, 2), Fraction(10**6)):
        function = whole.at(at)
        assert function is not None
        assert function.at(at) == max(i * at + (count - i) ** 2 for i in range(count))
    # tangents of a parabola: each is the largest somewhere
    tangents = [line(2 * i, -i * i, None) for i in range(1, count)]
    assert len(piecewise.largest(tangents).pieces) == count - 1


def test_a_sum_of_many_maxima_changes_at_each_of_them() -> None:
    count = 1000
    whole = piecewise.total(
        [piecewise.largest([line(1, 0, None), line(0, 7 + 3 * i, None)]) for i in range(count)]
    )
    assert whole.breakpoints == tuple(Fraction(7 + 3 * i) for i in range(count))
    function = whole.at(Fraction(1000))
    assert function is not None
    assert function.at(Fraction(1000)) == sum(max(1000, 7 + 3 * i) for i in range(count))


def test_too_many_pieces_of_too_high_a_degree_are_refused() -> None:
    steps = [piecewise.largest([line(1, 0), line(0, Fraction(i, 60))]) for i in range(60, 1800)]
    high = piecewise.everywhere(ONE / VARIABLE**90, LOW, HIGH)
    with pytest.raises(IntractableError):
        piecewise.product([piecewise.total(steps), high])
