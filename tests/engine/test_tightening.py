"""Programs whose bounds are tight: they compute the same, and prove more."""

from __future__ import annotations

from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.single_rows import no_row_alone
from matrices.test_matrices import disagreements
from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.execution.array_runs import Runner
from qps.engine.execution.program_builder import ProgramBuilder
from qps.engine.execution.tight_program_builder import TightBuilder
from qps.engine.expressions.formulas import population
from qps.engine.leaves import INPUT, POPULATION

N = population("N")


def builders() -> tuple[ProgramBuilder, TightBuilder]:
    return ProgramBuilder(N, {}, {}), TightBuilder(
        population=N, values={}, inputs={}, positive=frozenset("ab")
    )


@given(st.data())
def test_what_is_tight_computes_the_same(data: st.DataObject) -> None:
    plain, tight = builders()
    made = [
        (b.emit(INPUT, value="a"), b.emit(INPUT, value="b"), b.emit(POPULATION))
        for b in (plain, tight)
    ]
    pairs = list(zip(*made, strict=True))
    pairs += [(plain.constant(v), tight.constant(v)) for v in (Fraction(-1), Fraction(2, 3))]
    for _ in range(data.draw(st.integers(1, 14))):
        word = data.draw(st.sampled_from(["+", "*", "less", "max", "min", "ratio", "^"]))
        (one, other), (first, second) = (data.draw(st.sampled_from(pairs)) for _ in range(2))
        if word == "+":
            pairs.append((plain.add(one, first), tight.add(other, second)))
        elif word == "*":
            pairs.append((plain.multiply(one, first), tight.multiply(other, second)))
        elif word == "less":
            pairs.append((plain.less(one, first), tight.less(other, second)))
        elif word == "^":
            pairs.append((plain.power(one, -1), tight.power(other, -1)))
        else:
            pairs.append((plain.emit(word, one, first), tight.emit(word, other, second)))
    inputs = {"a": np.array([0.3, 1.0, 7.0]), "b": np.array([2.0, 0.01, 1.5])}
    at = np.array([1.0, 3.0, 40.0])
    with np.errstate(all="ignore"):
        (expected,) = Runner(plain.program()).run([pairs[-1][0]], {}, inputs, at).values()
        (found,) = Runner(tight.program()).run([pairs[-1][1]], {}, inputs, at).values()
    expected, found = (np.broadcast_to(each, 3) for each in (expected, found))
    result = np.isfinite(expected)
    assert found[result] == pytest.approx(expected[result], rel=1e-9, abs=1e-9)


def test_powers_of_the_population_go_inside() -> None:
    """N min(1, a/N) is min(N, a): it never falls."""
    _, tight = builders()
    n, a = tight.emit(POPULATION), tight.emit(INPUT, value="a")
    inner = tight.emit("min", tight.constant(1), tight.multiply(a, tight.power(n, -1)))
    product = tight.multiply(n, inner)
    bounds = Runner(tight.program()).bounds([product], {}, {"a": Bounds(8.0, 8.0)}, (1.0, 1e6))[
        product
    ]
    assert (bounds.low, bounds.high) == (1.0, 8.0)
    assert bounds.slope_low >= 0


def test_what_is_left_is_added_inside() -> None:
    """x + min(3, 1 - x) is at most 1, whatever x takes of it; so with a factor above zero."""
    _, tight = builders()
    n, a = tight.emit(POPULATION), tight.emit(INPUT, value="a")
    x = tight.emit("min", tight.multiply(n, tight.constant(Fraction(1, 50))), tight.constant(2))
    left = tight.emit("ratio", tight.less(tight.constant(1), x), a)
    taken = tight.emit("max", tight.constant(Fraction(1, 100)), tight.emit("min", left, a))
    whole = tight.add(x, tight.multiply(a, tight.emit("min", taken, left)))
    box = Runner(tight.program()).bounds([whole], {}, {"a": Bounds(0.5, 0.5)}, (1.0, 1e6))
    assert box[whole].high == pytest.approx(1)


def test_rows_of_elastic_parameters_that_share_a_line_are_solved_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four of them fill a line between sites: bounds tell that it is never beyond full."""
    no_row_alone(monkeypatch)
    text = files("qps.specs").joinpath("iri.qps").read_text("utf-8")
    text += "matrix rows { board_small in 13.5..14 frame/s, 2 values }\n"
    assert disagreements(text) == []
