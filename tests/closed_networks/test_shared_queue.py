"""One queue that several classes share: its integral has the numbers of a recursion over all."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from qps.engine.queueing.shared_queue import mean_number

CASES = [
    ((3, 2), ("1", "0"), ("1/10", "1/3"), "1"),
    ((7, 5), ("20", "3"), ("1/2", "1/100"), "2"),
    ((1, 1, 4), ("1/1000", "5", "600"), ("1", "1", "9"), "1"),
    ((12, 0), ("0", "1"), ("1", "1"), "5/2"),
    ((6, 6), ("1/10", "1000"), ("3", "0"), "7"),
    ((40,), ("20",), ("1/2",), "1"),
]


@pytest.mark.parametrize(("customers", "think", "demands", "servers"), CASES)
def test_as_many_are_held_as_by_mean_value_analysis_in_fractions(
    customers: tuple[int, ...], think: tuple[str, ...], demands: tuple[str, ...], servers: str
) -> None:
    pauses, work, count = map(Fraction, think), map(Fraction, demands), Fraction(servers)
    numbers = _numbers(customers, tuple(pauses), tuple(work), count)
    floats = [list(map(float, map(Fraction, one))) for one in (think, demands)]
    found = mean_number(customers, *floats, float(count))
    assert found == pytest.approx(float(numbers), rel=2e-13)


def test_many_customers_take_no_table() -> None:
    # One who never thinks beside very many who all do: a balance of flows says how many are there.
    held = mean_number((1_000_000.0, 1.0), (10_000.0, 0.0), (0.02, 0.02), 1.0)
    assert held == pytest.approx(1_000_000 - 10_000 / 0.02 + 1, rel=1e-5)


def _numbers(
    customers: tuple[int, ...],
    think: tuple[Fraction, ...],
    demands: tuple[Fraction, ...],
    servers: Fraction,
) -> Fraction:
    """Return how many are at each server, from populations with one customer less."""

    @cache
    def held(at: tuple[int, ...]) -> Fraction:
        whole = Fraction(0)
        for k, number in enumerate(at):
            if number:
                less = (*at[:k], number - 1, *at[k + 1 :])
                time = demands[k] * (1 + held(less))
                whole += number * time / (think[k] + servers * time)
        return whole

    for one in product(*(range(n + 1) for n in customers)):
        held(one)
    return held(customers)
