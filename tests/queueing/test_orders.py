"""The k-th shortest of n independent times: its level, its mean, and its sum with another time."""

from __future__ import annotations

from math import comb, exp, inf, isnan, log

import numpy as np
import pytest
from flint import arb

from qps.engine.distributions.order_numbers import summed_quantile
from qps.engine.distributions.stages import OPERANDS
from qps.engine.forks.answer_arrays import order_lateness
from qps.engine.forks.phase_counts import CALLS
from qps.engine.operations import OPERATIONS

LEVEL, MEAN, QUANTILE, TAIL = (
    OPERATIONS[word] for word in ("order_level", "order_mean", "order_quantile", "order_tail")
)
EXPONENTIAL = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)
"""A service of mean 1, without a wait."""
BIMODAL = (*(0.0, 0.0, 0.0, 1.0, 1.0, 1e-3, 0.0, 1.0, 0.0), *(0.0,) * 3, 1.0, 1.0, 1.0, 0, 0.01, 0)
"""1 ms, and in one of a hundred cases a second more."""


FULLY_LOADED = (0.9, 0.95, 0.3, 1.0, 4.0, 0.3, 1.0, 1.0, 0.0)
"""Four servers that are nearly full."""
FIXED = (0.6, 0.6, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0)
"""M/D/1."""


def exponential(mean: float) -> tuple[float, ...]:
    return (*EXPONENTIAL[:5], mean, *EXPONENTIAL[6:])


def harmonic(count: int) -> float:
    return sum(1 / k for k in range(1, count + 1))


def binomial(share: float, answers: int, calls: int) -> float:
    """Return with which probability so many of calls are no longer than a share of them is."""
    each = (
        comb(calls, k) * share**k * (1 - share) ** (calls - k) for k in range(answers, calls + 1)
    )
    return sum(each)


@pytest.mark.parametrize(("answers", "calls"), [(1, 1), (1, 9), (9, 9), (90, 100), (97, 100)])
@pytest.mark.parametrize("level", [0.01, 0.5, 0.99])
def test_a_level_is_where_so_many_of_all_calls_are_there(
    answers: int, calls: int, level: float
) -> None:
    share = LEVEL.number(level, answers, calls - answers)
    assert binomial(share, answers, calls) == pytest.approx(level, rel=1e-9)
    ball = LEVEL.ball(arb(level), arb(answers), arb(calls - answers))
    assert float(ball.mid()) == pytest.approx(share, rel=1e-11)
    assert float(LEVEL.array(level, answers, calls - answers)) == share


def test_of_a_hundred_calls_of_which_one_in_a_hundred_is_slow_all_are_fast_in_366_of_a_thousand():
    assert LEVEL.number(0.99**100, 100, 0) == pytest.approx(0.99, rel=1e-12)
    assert pytest.approx(0.366, abs=5e-4) == 0.99**100


@pytest.mark.parametrize("calls", [2, 10, 100, 10_000])
def test_the_mean_of_the_longest_exponential_time_is_a_harmonic_number(calls: int) -> None:
    assert MEAN.number(calls, 0, *EXPONENTIAL) == pytest.approx(harmonic(calls), rel=1e-7)
    late = MEAN.number(calls - 1, 1, *EXPONENTIAL)
    assert late == pytest.approx(harmonic(calls) - 1, rel=1e-7)


def test_a_time_in_a_queue_of_random_arrivals_is_exponential() -> None:
    queue = (0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)
    assert MEAN.number(100, 0, *queue) == pytest.approx(2 * harmonic(100), rel=1e-7)


def test_what_is_slow_by_chance_has_two_times_and_nothing_between() -> None:
    assert MEAN.number(100, 0, *BIMODAL) == pytest.approx(1e-3 + 1 - 0.99**100, rel=1e-9)
    some = binomial(0.99, 99, 100)  # no more than one of them is slow
    assert MEAN.number(99, 1, *BIMODAL) == pytest.approx(1e-3 + 1 - some, rel=1e-9)


@pytest.mark.parametrize("variation", [0.0025, 0.25, 9.0])
def test_means_of_other_services_are_those_of_many_draws(variation: float) -> None:
    draws = np.random.default_rng(7).gamma(1 / variation, variation, (20_000, 50)).max(axis=1)
    found = MEAN.number(50, 0, *EXPONENTIAL[:6], variation, 1.0, 0.0)
    assert found == pytest.approx(draws.mean(), rel=0.03)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.99, 0.999])
def test_an_independent_time_is_added(level: float) -> None:
    """Of one call the sum of two exponential times is the law of two stages in a row."""
    one, two = exponential(1.0), exponential(3.0)
    found = QUANTILE.number(level, 1, 0, 1, *one, *two)
    both = OPERATIONS["stages_quantile"].number(level, *one, *two)
    assert found == pytest.approx(both, rel=1e-6)


def longer(rates: list[float], time: float) -> float:
    """Return which share of sums of exponential times of different rates is longer."""
    found = 0.0
    for one in rates:
        others = [rate / (rate - one) for rate in rates if rate != one]
        found += float(np.prod(others)) * exp(-one * time)
    return found


@pytest.mark.parametrize(("answers", "calls"), [(1, 1), (4, 4), (2, 5), (1, 7), (9, 11)])
def test_the_first_of_exponential_times_are_sums_of_them(answers: int, calls: int) -> None:
    """While i of n are out the next comes at i times the rate; another time is one more."""
    rates = [1.7, *(0.5 * out for out in range(calls - answers + 1, calls + 1))]
    queue = (0.75, 0.75, 0.5, 1.0, 1.0, 0.5, 1.0, 1.0, 0.0)  # of mean 2
    for level in (0.01, 0.5, 0.99, 0.9999):
        time = QUANTILE.number(level, answers, calls - answers, 1, *queue, *exponential(1 / 1.7))
        assert longer(rates, time) == pytest.approx(1 - level, rel=1e-7)


@pytest.mark.parametrize(("answers", "spare"), [(1, 0), (3, 0), (100, 0), (97, 3), (1, 8)])
@pytest.mark.parametrize("beside", [EXPONENTIAL, FULLY_LOADED, FIXED])
def test_products_of_transforms_are_what_sums_over_the_law_have(
    answers: int, spare: int, beside: tuple[float, ...]
) -> None:
    for level in (0.1, 0.5, 0.99):
        found = QUANTILE.number(level, answers, spare, 1, *EXPONENTIAL, *beside)
        summed = summed_quantile(level, answers, spare, 1, *EXPONENTIAL, *beside)
        assert found == pytest.approx(summed, rel=1e-6)


def test_rows_of_calls_are_as_many_numbers() -> None:
    """Some calls take exponential times, some do not, some queues are full.

    Those that are on a grid of times have its digits: rows together take another grid than each.
    """
    loads, count = np.linspace(0.05, 1.04, 12), 12
    variation = np.where(np.arange(count) % 3, 1.0, 0.3)
    answers = np.where(np.arange(count) % 2, 40.0, 3.0)
    stages = [loads, loads, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, *FULLY_LOADED]
    stages[5:7] = 1.0, variation
    columns = [np.broadcast_to(one, count).astype(float) for one in stages]
    found = QUANTILE.array(0.99, answers, 2.0, 1.0, *columns)
    each = [
        QUANTILE.number(0.99, float(answers[k]), 2.0, 1.0, *(float(one[k]) for one in columns))
        for k in range(count)
    ]
    np.testing.assert_allclose(found, each, rtol=1e-7)
    assert np.isinf(found).any()


@pytest.mark.parametrize("others", [(), FULLY_LOADED, FIXED])
@pytest.mark.parametrize("branch", [EXPONENTIAL, FIXED, BIMODAL])
@pytest.mark.parametrize("spare", [0.0, 10.0])
def test_lateness_of_calls_is_above_zero_where_their_quantile_is_above_the_time(
    branch: tuple[float, ...], others: tuple[float, ...], spare: float
) -> None:
    operands = (100.0 - spare, spare, len(branch) / OPERANDS, *branch, *others)
    time = QUANTILE.number(0.99, *operands)
    assert QUANTILE.array(0.99, *operands) == pytest.approx(time, rel=1e-8)
    found = order_lateness(time * np.array([0.5, 0.999, 1.001, 2.0]), 0.99, *operands)
    assert list(found > 0) == [True, True, False, False]
    assert list(found) == sorted(found, reverse=True)
    assert -1 <= found.min() <= found.max() <= 1
    assert np.isnan(order_lateness(time, 1.0, *operands))


def test_a_sum_is_that_of_many_draws() -> None:
    rng = np.random.default_rng(3)
    longest = np.sort(rng.exponential(1.0, (40_000, 20)), axis=1)[:, 17]
    draws = longest + rng.exponential(2.0, 40_000)
    for level in (0.5, 0.99):
        found = QUANTILE.number(level, 18, 2, 1, *EXPONENTIAL, *exponential(2.0))
        assert found == pytest.approx(np.quantile(draws, level), rel=0.03)


def test_a_sum_jumps_where_its_parts_do() -> None:
    """All fast: 1 ms and what comes besides; else a second more."""
    beside = (*EXPONENTIAL[:5], 0.1, 0.0, 1.0, 0.0)
    found = [QUANTILE.number(at, 100, 0, 2, *BIMODAL, *beside) for at in (0.36, 0.37)]
    assert found == pytest.approx([0.101, 1.101], rel=1e-6)


def test_nothing_is_known_without_answers_and_nothing_ends_where_a_queue_is_full() -> None:
    full = (1.0, 1.0, *EXPONENTIAL[2:5], 1.0, 1.0, 1.0, 0.0)
    full = (1.0, 1.0, 1.0, *full[3:])
    assert isnan(LEVEL.number(0.5, 0, 1))
    assert isnan(MEAN.number(0, 1, *EXPONENTIAL))
    assert isnan(QUANTILE.number(1.0, 1, 0, 1, *EXPONENTIAL))
    assert MEAN.number(3, 0, *full) == inf
    assert QUANTILE.number(0.5, 3, 0, 1, *full, *EXPONENTIAL) == inf
    assert QUANTILE.number(0.5, 3, 0, 1, *EXPONENTIAL, *full) == inf


def test_a_ball_of_a_mean_covers_what_floats_have() -> None:
    ball = MEAN.ball(*map(arb, (100, 0, *EXPONENTIAL)))
    assert ball.overlaps(arb(harmonic(100)))
    assert float(ball.rad()) < 1e-5
    ball = QUANTILE.ball(arb(0.5), *map(arb, (1, 0, 1, *EXPONENTIAL, *exponential(1.0))))
    assert float(ball.mid()) == pytest.approx(1.678346990016661, rel=1e-6)


def test_the_median_of_the_longest_of_a_hundred_exponential_times() -> None:
    level = LEVEL.number(0.5, 100, 0)
    found = OPERATIONS["stages_quantile"].number(level, *EXPONENTIAL)
    assert found == pytest.approx(-log(1 - 0.5**0.01), rel=1e-7)


@pytest.mark.parametrize("others", [(), FULLY_LOADED, FIXED, BIMODAL])
@pytest.mark.parametrize("branch", [EXPONENTIAL, FULLY_LOADED, FIXED])
@pytest.mark.parametrize(("answers", "spare"), [(1, 0), (5, 0), (90, 10)])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_tail_is_the_inverse_of_the_quantile(
    others: tuple[float, ...],
    branch: tuple[float, ...],
    answers: float,
    spare: float,
    level: float,
) -> None:
    inside = len(branch) // 9
    time = QUANTILE.number(level, answers, spare, inside, *branch, *others)
    found = TAIL.number(time, answers, spare, inside, *branch, *others)
    assert found == pytest.approx(1 - level, rel=1e-5)
    columns = TAIL.array(np.array([time, -1.0, inf]), answers, spare, inside, *branch, *others)
    assert list(columns) == [pytest.approx(found, rel=1e-9), 1.0, 0.0]
    ball = TAIL.ball(arb(time), *map(arb, (answers, spare, inside, *branch, *others)))
    assert float(ball.mid()) == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("calls", [1, 2, 50])
@pytest.mark.parametrize("time", [0.1, 1.0, 5.0])
def test_the_longest_of_exponential_times_is_later_by_its_closed_form(
    calls: int, time: float
) -> None:
    exact = 1 - (1 - exp(-time)) ** calls
    assert TAIL.number(time, calls, 0, 1, *EXPONENTIAL) == pytest.approx(exact, rel=1e-7)


def test_calls_of_several_stages_have_the_order_of_their_sums() -> None:
    """The third shortest of five, each a service behind another: against draws."""
    random = np.random.default_rng(3)
    first, second = (
        (0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.5, 1.0, 0.0),
        (0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 0.25, 1.0, 0.0),
    )
    draws = random.gamma(2, 0.5, (200_000, 5)) + random.gamma(4, 0.5, (200_000, 5))
    shortest = np.sort(draws, axis=1)[:, 2]
    found = OPERATIONS["fork_mean"].number(
        *(0.0, 0.0, 0.0, 3.0, CALLS, 0.0, 2.0, 1.0, 2.0), *first, *second
    )
    assert found == pytest.approx(shortest.mean(), rel=0.003)
