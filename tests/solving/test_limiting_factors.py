"""What limits and what is the bottleneck: of one configuration and of columns of many alike."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.solver.answers.limiting_factors import SaturationTable, Value, is_worse, largest_of

LOW, HIGH = 10, 1000
AT = st.sampled_from([10.0, 10.0, 10.5, 99.0, 99.0, 5000.0, inf])
LOAD = st.sampled_from([0.2, 0.9, 1.0, 1.0, 1.5, 2.0, inf, nan])


@st.composite
def resources(draw: st.DrawFn) -> tuple[int, list[Any]]:
    """Return how many resources there are, and rows: saturations, loads, what fails, an answer."""
    count = draw(st.integers(1, 4))

    def each(value: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
        return st.lists(value, min_size=count, max_size=count)

    row = st.tuples(
        each(AT),
        each(LOAD),
        st.lists(st.booleans(), min_size=count + 2, max_size=count + 2),
        st.integers(LOW - 1, HIGH),
    )
    return count, draw(st.lists(row, min_size=1, max_size=5))


def judged(
    saturates: Sequence[Value], loads: Sequence[Value], failing: Sequence[Value], answer: Value
) -> tuple[Value, Value, Value, Value]:
    saturation_table = SaturationTable(
        low=LOW, high=HIGH, saturates=saturates, fullness=lambda _population, _where: loads
    )
    bottleneck = saturation_table.bottleneck()
    own = [None, *range(len(saturates)), None]
    return (
        saturation_table.first_of([True] * len(saturates)),
        saturation_table.limiting(failing, own),
        bottleneck,
        saturation_table.stays_full(answer, bottleneck),
    )


@given(resources())
def test_many_are_judged_as_each_one_is(found: tuple[int, list[Any]]) -> None:
    _, rows = found
    columns = [
        [np.array(column) for column in zip(*(row[part] for row in rows), strict=True)]
        for part in range(3)
    ]
    answers = np.array([row[3] for row in rows])
    with np.errstate(all="ignore"):
        together = judged(*columns, answers)
    for number, row in enumerate(rows):
        alone = judged(*row)
        assert tuple(int(np.broadcast_to(v, len(rows))[number]) for v in together) == alone


@given(resources())
def test_the_first_is_that_of_the_least_rank(found: tuple[int, list[Any]]) -> None:
    for saturates, loads, failing, answer in found[1]:

        def rank(number: int, at: list[float] = saturates, load: list[float] = loads) -> Any:
            there = load[number] if isfinite(load[number]) else inf
            return at[number], -there if at[number] == LOW else 0.0, number

        count = len(saturates)
        first, limiting, bottleneck, stays_full = judged(saturates, loads, failing, answer)
        assert first == min(range(count), key=rank)
        stated = [number for number in (0, count + 1) if failing[number]]
        full = [number for number in range(count) if failing[number + 1]]
        assert limiting == (stated[0] if stated else min(full, key=rank) + 1 if full else -1)
        if min(saturates) < inf:
            assert bottleneck == first
        else:
            some = [n for n in range(count) if not isnan(loads[n]) and loads[n] > -inf]
            assert bottleneck == (max(some, key=lambda n: (loads[n], -n)) if some else 0)
        is_full = min(saturates) < answer
        assert stays_full == (0 if not is_full else 1 if loads[bottleneck] == 1 else 2)


def test_loads_are_evaluated_only_where_they_decide() -> None:
    options = []

    def fullness(population: Value, where: Value) -> list[Value]:
        options.append((population, where.tolist()))
        return [np.array([0.5, 0.5, 0.5]), np.array([0.5, 0.7, 0.5])]

    saturates = [np.array([10.0, 10.0, inf]), np.array([20.0, 10.0, inf])]
    saturation_table = SaturationTable(low=LOW, high=HIGH, saturates=saturates, fullness=fullness)
    assert saturation_table.bottleneck().tolist() == [0, 1, 0]
    assert options == [(10, [False, True, False]), (1000, [False, False, True])]


@pytest.mark.parametrize(
    ("own", "other", "worse"),
    [
        ((5, 0.1), (6, 0.9), True),
        ((6, 0.9), (5, 0.1), False),
        ((5, 0.9), (5, 0.1), True),  # quality is worse the further it is from 0
        ((5, 0.1), (5, 0.1), False),
    ],
)
def test_the_worse_of_two_modes(
    own: tuple[int, float], other: tuple[int, float], worse: bool
) -> None:
    assert is_worse(own, other) is worse
    columns = [tuple(np.array([value]) for value in pair) for pair in (own, other)]
    assert is_worse(*columns).tolist() == [worse]  # type: ignore[arg-type]


def test_the_largest_acceptable_population() -> None:
    assert largest_of(LOW, LOW) == 0
    assert largest_of(LOW + 1, LOW) == LOW
    assert largest_of(np.array([LOW, 500]), LOW).tolist() == [0, 499]
