"""One formula for several that differ in numbers: with their numbers put in it is each of them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.engine.expressions.anti_unification import Generalization, NotAlikeError
from qps.engine.expressions.formulas import (
    ONE,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    population,
    power,
    symbol,
)
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.expressions.substitution import substituted

N = population("N")
VARIES = symbol("varies")
NAMES = [symbol(name) for name in ("cost", "size", "speed")]
_NUMBERS = st.fractions(min_value=Fraction(1, 5), max_value=9, max_denominator=5)
_LEAVES = st.sampled_from([N, VARIES, *NAMES]) | _NUMBERS.map(number)


def _joined(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    two = st.tuples(parts, parts)
    return st.one_of(
        two.map(lambda both: both[0] + both[1]),
        two.map(lambda both: both[0] - both[1]),
        two.map(lambda both: both[0] * both[1]),
        two.map(lambda both: both[0] / (both[1] + ONE)),
        two.map(lambda both: maximum(*both)),
        two.map(lambda both: minimum(*both)),
        parts.map(lambda one: apply("ceil", one)),
        parts.map(lambda one: apply("waiting", ONE, one)),
        parts.map(lambda one: power(one, 2)),
    )


_FORMULAS = st.recursive(_LEAVES, _joined, max_leaves=8)


@given(st.data())
@settings(max_examples=examples(150), deadline=None)
def test_with_its_numbers_put_in_it_is_each_of_them(data: st.DataObject) -> None:
    base, terms = data.draw(_FORMULAS), data.draw(st.lists(_FORMULAS, min_size=2, max_size=2))
    several, values = [], []
    for _ in range(data.draw(st.integers(2, 4))):
        own = {name: number(data.draw(_NUMBERS)) for name in NAMES}
        used = data.draw(st.sets(st.sampled_from(NAMES)))
        swapped = {name: number(data.draw(_NUMBERS)) for name in used}
        one = substituted(base, swapped)
        for term in terms:
            one = one + term if data.draw(st.booleans()) else one
        several.append(one)
        values.append(own)
    found = Generalization(values)
    try:
        whole = found.of(tuple(several))
        by_name = {name: found.valued(name) for name in NAMES if name in whole.symbols}
    except NotAlikeError:
        return
    leaves = {leaf: column for column, leaf in found.leaves.items()}
    for i, (one, own) in enumerate(zip(several, values, strict=True)):
        put_in = {leaf: number(column[i]) for leaf, column in leaves.items()}
        named = {name: put_in.get(value, value) for name, value in by_name.items() if value}
        here = substituted(substituted(whole, named), put_in)
        for users in (1, 2, 7):
            at = {N: number(users), VARIES: number(Fraction(3, 7))}
            expected = EvaluationPoint(own | at).number(one)
            assert EvaluationPoint(at).number(here) == pytest.approx(expected, nan_ok=True)


def test_what_only_some_have_is_taken_none_times_by_the_others() -> None:
    cost, more = symbol("cost"), symbol("more")
    values = [{cost: number(2), more: number(3)}, {cost: number(2)}, {cost: number(5)}]
    found = Generalization(values)
    whole = found.of((N * cost + N * more, N * cost, N * cost))
    assert list(found.leaves) == [(1, 0, 0)]
    (leaf,) = found.leaves.values()
    assert whole is N * cost + leaf * N * more
    assert found.valued(more) is number(3)
    assert found.valued(cost) is not number(2)
    assert (2, 2, 5) in found.leaves
    assert found.valued(N) is None


def test_a_number_that_is_chosen_is_a_leaf() -> None:
    fast, slow = symbol("fast"), symbol("slow")
    found = Generalization([{fast: number(2)}, {slow: number(7)}])
    whole = found.of((maximum(N * fast - 1, ONE), maximum(N * slow - 1, ONE)))
    assert list(found.leaves) == [(2, 7)]
    (leaf,) = found.leaves.values()
    assert whole is maximum(N * leaf - 1, ONE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(N, N + ONE / (N - 3), id="a pole that only one has"),
        pytest.param(N, N + apply("ln", N - 3), id="no value, in one of them"),
        pytest.param(N**2 + ONE / (N - 3), ONE / (N - 3) ** 2, id="other exponents of a pole"),
    ],
)
def test_what_may_have_no_value_is_in_all_of_them_or_none(one: Formula, other: Formula) -> None:
    with pytest.raises(NotAlikeError):
        Generalization([{}, {}]).of((one, other))
