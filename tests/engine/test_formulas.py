"""Formulas: one object for equal ones, with the value that they have as they are written."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import tracemalloc
from fractions import Fraction
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.engine.exact_algebra.exact_powers import MOST_BITS, PowerTooLongError, exact_power
from qps.engine.execution.array_functions import array_function
from qps.engine.expressions import formulas
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import (
    HALF,
    INFINITY,
    MINUS_INFINITY,
    ONE,
    UNDEFINED,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    population,
    power,
    product,
    square_root,
    symbol,
    total,
)
from qps.engine.expressions.memo import Memory
from qps.engine.expressions.point_values import point_of
from qps.engine.expressions.substitution import Substitution, substituted

X, Y, Z, N = symbol("x"), symbol("y"), symbol("z"), population("N")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (X + Y, Y + X),
        (X + X, 2 * X),
        (2 * (X + Y), 2 * X + 2 * Y),
        (X - X, ZERO),
        (X * Y * X, X**2 * Y),
        (X / X, ONE),
        ((X * Y) ** 2, X**2 * Y**2),
        ((X**2) ** 3, X**6),
        (square_root(X) * square_root(X), X),
        (square_root(X * Y) * square_root(X * Y), X * Y),
        (3 * square_root(8) * square_root(8), number(24)),
        (square_root(Fraction(9, 4)), number(Fraction(3, 2))),
        (power(number(-8), Fraction(1, 3)), UNDEFINED),
        (power(ZERO, -1), UNDEFINED),
        (0 * X, ZERO),
        (INFINITY * 0, UNDEFINED),
        (INFINITY - INFINITY, UNDEFINED),
        (INFINITY + 10**400, INFINITY),
        (INFINITY * -(10**400), MINUS_INFINITY),
        (UNDEFINED + X, UNDEFINED),
        (UNDEFINED * 0, UNDEFINED),
        (X**0, ONE),
        (maximum(1, Fraction(3, 2)), number(Fraction(3, 2))),
        (maximum(X, X), X),
        (minimum(X), X),
        (apply("ln", apply("exp", X)), X),
        (apply("exp", apply("ln", N)), N),
        (apply("exp", apply("ln", maximum(X, 2 * N**HALF + 1))), maximum(X, 2 * N**HALF + 1)),
        (apply("waiting", 1, HALF), number(2)),
        (apply("ratio", X, 2), X / 2),
        ((X + 1) - (X + 1), ZERO),
        ((X + Y) / (2 * X + 2 * Y), (X + Y) / (2 * (X + Y))),
    ],
)
def test_equal_formulas_are_one_object(one: Formula, other: Formula) -> None:
    assert one is other


def test_formulas_that_differ_are_two() -> None:
    assert X + Y is not X + Z
    assert maximum(X, Y) is not minimum(X, Y)
    assert symbol("N") is not N
    assert (X**2) ** HALF is not X  # below zero it is its size


def test_what_has_no_logarithm_is_not_that_of_its_own() -> None:
    """exp(ln(N - 5)) was N - 5 for few users, where there is no logarithm."""
    formula = apply("exp", apply("ln", N - 5))
    assert [isnan(point_of(N, Fraction(at)).number(formula)) for at in (4, 5, 6)] == [1, 1, 0]
    assert point_of(N, Fraction(7)).number(formula) == 2
    (result,) = array_function(N, [formula])(np.array([4.0, 7.0]))
    assert isnan(result[0])
    assert result[1] == pytest.approx(2)


def test_what_nobody_holds_is_forgotten() -> None:
    before = len(formulas._KNOWN)
    held = total(symbol(f"forgotten {i}") * i for i in range(100))
    assert len(formulas._KNOWN) > before + 100
    del held
    gc.collect()
    assert len(formulas._KNOWN) <= before + 5


def test_formulas_are_found_again_when_they_are_sent() -> None:
    formula = maximum(X * N, square_root(Y) + 1) / 3
    assert pickle.loads(pickle.dumps(formula)) is formula


def test_formulas_stand_in_the_same_order_in_every_process() -> None:
    code = (
        "from qps.engine.expressions.formulas import *\n"
        "print(total(symbol(n) * i for i, n in enumerate('qwertyuiop')) * symbol('a'))"
    )
    output = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(output) == 1


def _joined_up(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    pairs = st.tuples(st.sampled_from((maximum, Formula.__add__, Formula.__mul__)), parts, parts)
    return pairs.map(lambda one: one[0](one[1], one[2]))


def test_each_part_is_walked_once_behind_its_own() -> None:
    deep = X
    for _ in range(5000):  # deeper than Python recurses
        deep = maximum(deep + 1, Y)
    parts = parts_first(deep)
    assert len(parts) == len(set(parts)) == 10_003
    place = {part: index for index, part in enumerate(parts)}
    assert all(place[o] < place[part] for part in parts for o in part.operands)
    assert deep.symbols == {X, Y}
    assert substituted(deep, {Y: ZERO, X: ONE}) is number(5001)


def test_symbols_of_a_long_chain_take_no_memory_for_each_of_its_parts() -> None:
    deep, named = X, [symbol(f"of_the_chain_{index}") for index in range(2000)]
    for one in named:
        deep = maximum(deep + 1, one)
    tracemalloc.start()
    assert deep.symbols == {X, *named}
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5_000_000  # 2,000 sets of 1,000 symbols are 60 MB


@given(st.recursive(st.sampled_from((X, Y, Z, N, ONE, HALF)), _joined_up, max_leaves=12))
def test_symbols_are_the_leaves_that_are_no_numbers(whole: Formula) -> None:
    for part in parts_first(whole)[::-1]:  # what is asked first is the whole
        assert part.symbols == {leaf for leaf in parts_first(part) if leaf.is_symbol}


def test_too_long_powers_are_refused() -> None:
    with pytest.raises(PowerTooLongError):
        number(10**15) ** (10**15)
    with pytest.raises(PowerTooLongError):
        number(Fraction(1, 3)) ** MOST_BITS
    assert number(-1) ** (10**15) is ONE


@given(st.integers(0, 10**60), st.integers(1, 7))
def test_exact_roots_of_whole_numbers(root: int, degree: int) -> None:
    assert exact_power(Fraction(root) ** degree, Fraction(1, degree)) == root
    off = Fraction(root) ** degree + 1
    found = exact_power(off, Fraction(1, degree))
    assert found is None or found**degree == off


# -- a law: form does not change the value ------------------------------------------------------

_LEAVES = st.one_of(
    st.sampled_from([X, Y, N]),
    st.fractions(-9, 9, max_denominator=9).map(number),
)
_FORMULAS: st.SearchStrategy[tuple[Formula, object]] = st.recursive(
    _LEAVES.map(lambda leaf: (leaf, leaf)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+*"), st.lists(inner, min_size=1, max_size=4)),
        st.tuples(st.sampled_from(("max", "min")), st.lists(inner, min_size=1, max_size=3)),
        st.tuples(st.just("^"), st.lists(inner, min_size=1, max_size=1), st.integers(-3, 3)),
    ).map(lambda tree: (_formed(tree), tree)),
    max_leaves=12,
)


def _formed(tree: tuple) -> Formula:
    word, operands = tree[0], [formed for formed, _ in tree[1]]
    if word == "^":
        return power(operands[0], tree[2])
    joined = {"+": total, "*": product}
    return joined[word](operands) if word in joined else apply(word, *operands)


def _plain(tree: object, at: dict[Formula, Fraction]) -> Fraction | None:
    """Return the value of a tree as it is written, in plain fractions; None where there is none."""
    if isinstance(tree, Formula):
        return at.get(tree, tree.exact)
    assert isinstance(tree, tuple)
    operands = [_plain(part, at) for _, part in tree[1]]
    if None in operands:
        return None
    match tree[0]:
        case "+":
            return sum(operands, Fraction(0))
        case "*":
            found = Fraction(1)
            for operand in operands:
                found *= operand
            return found
        case "^":
            return None if operands[0] == 0 and tree[2] < 0 else operands[0] ** tree[2]
        case word:
            return {"max": max, "min": min}[word](operands)


@given(
    _FORMULAS,
    st.fractions(-5, 5, max_denominator=5),
    st.fractions(-5, 5, max_denominator=5),
    st.integers(1, 9),
)
def test_a_formula_has_the_value_of_what_is_written(
    made: tuple[Formula, object], x: Fraction, y: Fraction, n: int
) -> None:
    formula, tree = made
    at = {X: x, Y: y, N: Fraction(n)}
    expected = _plain(tree, at)
    if expected is not None:  # what has no value may have one in its form: x/x
        put_in = Substitution({s: number(value) for s, value in at.items()})
        assert put_in(formula) is number(expected)


def test_a_memo_in_use_returns_earlier_results_and_is_forgotten_with_its_owner() -> None:
    memory = Memory()
    with memory.in_use():
        made = total(symbol(f"remembered {i}") * i for i in range(100))
        before = len(formulas._KNOWN)
        assert total(symbol(f"remembered {i}") * i for i in range(100)) is made
        assert len(formulas._KNOWN) == before
    del made, memory
    gc.collect()
    assert len(formulas._KNOWN) <= before - 100


def requested_again(memory: Memory) -> object:
    options = "asked", "now and then"
    return memory.now.get(options) or memory.recall_expiring(options)


def test_a_memory_forgets_what_was_not_used_lately() -> None:
    memory = Memory()
    memory.keep(("asked", "now and then"), ZERO)
    for i in range(150_000):
        memory.keep(("filling", i, 0, 0), ZERO)
        if not i % 50_000:
            assert requested_again(memory) is ZERO
    assert len(memory.now) + len(memory._before) < 250_000
    assert requested_again(memory) is ZERO
