"""The time of stages that are begun together, besides others: mean, quantiles, tail."""

from __future__ import annotations

import random
from math import exp, inf, isnan, log

import numpy as np
import pytest
from flint import arb

from helpers.some_forks import some_fork, stage
from qps.engine.evaluators.queueing.fork_balls import fork_quantile
from qps.engine.forks.fork_arrays import fork_lateness
from qps.engine.forks.paths_with_forks import fork_paths
from qps.engine.forks.phase_counts import have_phases
from qps.engine.numerics.sloped_intervals import SlopedInterval
from qps.engine.operations import OPERATIONS

MEAN, QUANTILE, TAIL = (OPERATIONS[word] for word in ("fork_mean", "fork_quantile", "fork_tail"))
Stages = tuple[float, ...]
FULL: Stages = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)
QUEUE: Stages = (0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)
"""M/M/1 at half load: its time is exponential, of mean 2."""


def service(mean: float, variation: float = 1.0) -> Stages:
    return (0.0, 0.0, 0.0, 1.0, 1.0, mean, variation, 1.0, 0.0)


def within(times: float, *inside: Stages, fixed: float = 0.0) -> Stages:
    stages = [value for one in inside for value in one]
    return (0.0, 0.0, 0.0, 1.0, 1.0, fixed, 0.0, times, float(len(stages) // 9), *stages)


def fork(*branches: Stages, times: float = 1.0) -> Stages:
    stages = [value for one in branches for value in one]
    return (0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, times, float(len(stages) // 9), *stages)


def one_of(*inside: Stages) -> Stages:
    found = within(1.0, *inside)
    return (*found[:8], -found[8], *found[9:])


@pytest.mark.parametrize("means", [(1.0, 1.0), (60.0, 1.0), (1.0, 2.0, 5.0)])
def test_the_longest_of_exponential_times(means: tuple[float, ...]) -> None:
    """Of two the mean is a + b - 1/(1/a + 1/b); quantiles are those of the product."""
    stages = fork(*map(service, means))
    for level in (0.01, 0.5, 0.99, 0.9999):
        time = QUANTILE.number(level, *stages)
        product = np.prod([1 - exp(-time / mean) for mean in means])
        assert product == pytest.approx(level, rel=1e-7)
        assert TAIL.number(time, *stages) == pytest.approx(1 - level, rel=1e-6)
    if len(means) == 2:
        a, b = means
        assert MEAN.number(*stages) == pytest.approx(a + b - 1 / (1 / a + 1 / b), rel=1e-7)


def test_one_branch_is_what_it_is() -> None:
    for line in (QUEUE, service(2.0, 0.3), within(0.2, QUEUE)):
        alone = OPERATIONS["stages_quantile"].number(0.9, *line, *service(1.0))
        assert QUANTILE.number(0.9, *fork(line), *service(1.0)) == pytest.approx(alone, rel=1e-5)
        of_line = OPERATIONS["stages_quantile"].number(0.9, *line)
        assert QUANTILE.number(0.9, *fork(line)) == pytest.approx(of_line, rel=1e-7)


def test_equal_branches_are_order_statistics_of_all_answers() -> None:
    for line in (QUEUE, service(1.0, 0.25), (0.6, 0.6, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0)):
        for level in (0.5, 0.99):
            found = QUANTILE.number(level, *fork(line, line, line), *QUEUE)
            of_orders = OPERATIONS["order_quantile"].number(level, 3, 0, 1, *line, *QUEUE)
            assert found == pytest.approx(of_orders, rel=5e-5)
            alone = OPERATIONS["order_quantile"].number(level, 3, 0, 1, *line)
            same = QUANTILE.number(level, *fork(line, line, line))
            assert same == pytest.approx(alone, rel=2e-5 if line[3] == 0 else 2e-7)


def test_calls_by_chance_with_a_time_before_them_are_those_of_many_draws() -> None:
    rng, count = np.random.default_rng(5), 400_000
    made = rng.random((2, count)) < [[0.15], [0.4]]
    calls = rng.exponential([[60.0], [9.0]], (2, count)) * made
    draws = rng.exponential(1.0, count) + calls.max(axis=0)
    stages = (*service(1.0), *fork(within(0.15, service(60.0)), within(0.4, service(9.0))))
    for level in (0.3, 0.5, 0.9, 0.99):
        found = QUANTILE.number(level, *stages)
        assert found == pytest.approx(np.quantile(draws, level), rel=0.02)
    assert MEAN.number(*stages) == pytest.approx(draws.mean(), rel=0.01)


def test_a_probabilistic_fork_with_other_stages() -> None:
    """A miss: 2 ms and two calls, of which one begins 30 ms later; else nothing."""
    rng, count = np.random.default_rng(6), 400_000
    both = np.maximum(rng.exponential(60.0, count), 30 + rng.exponential(10.0, count))
    miss = 2 + both + rng.exponential(3.0, count)
    draws = rng.exponential(1.0, count) + miss * (rng.random(count) < 0.15)
    calls = fork(service(60.0), within(1.0, service(10.0), fixed=30.0))
    stages = (*service(1.0), *within(0.15, calls, service(3.0), fixed=2.0))
    for level in (0.5, 0.84, 0.86, 0.9, 0.99):
        found = QUANTILE.number(level, *stages)
        assert found == pytest.approx(np.quantile(draws, level), rel=0.02)
    assert MEAN.number(*stages) == pytest.approx(draws.mean(), rel=0.01)


def test_fixed_times_jump() -> None:
    """1 ms, and 60 ms in 15 %, else 30 ms in 15 %: three times and nothing between."""
    waits = within(1.0, fixed=1.0), fork(within(0.15, fixed=60.0), within(0.15, fixed=30.0))
    stages = (*waits[0], *waits[1])
    found = [QUANTILE.number(level, *stages) for level in (0.1, 0.72, 0.73, 0.84, 0.86)]
    assert found == pytest.approx([1, 1, 31, 31, 61], rel=1e-9)
    assert MEAN.number(*stages) == pytest.approx(1 + 0.15 * 60 + 0.85 * 0.15 * 30)
    tails = [TAIL.number(time, *stages) for time in (0.5, 1.0, 30.9, 31.0, 61.0)]
    assert tails == pytest.approx([1, 0.2775, 0.2775, 0.15, 0])


def test_a_share_that_is_just_as_late_as_may_be_is_in_time() -> None:
    """Of 90 % nobody takes 2 ms; of 81 % with two such calls."""
    never, some = within(0.0, fixed=0.002), within(0.1, fixed=0.002)
    assert QUANTILE.number(0.9, *fork(never, some)) == 0
    assert QUANTILE.number(0.9, *fork(some, some)) == 0.002
    assert QUANTILE.number(0.81, *fork(some, some)) == 0
    beside = QUANTILE.number(0.95, *fork(some, some), *within(0.5, service(1e-9)))
    assert beside == pytest.approx(0.002, rel=1e-5)


def test_alternatives_with_forks_are_mixed() -> None:
    chosen = one_of(within(0.3, fork(service(1.0), service(1.0))), within(0.7, service(4.0)))
    assert MEAN.number(*chosen) == pytest.approx(0.3 * 1.5 + 0.7 * 4.0, rel=1e-7)
    late = 0.3 * (1 - (1 - exp(-2)) ** 2) + 0.7 * exp(-0.5)
    assert TAIL.number(2.0, *chosen) == pytest.approx(late, rel=1e-7)


def test_waits_without_services_may_be_nothing() -> None:
    """Of two waits of which half are nothing, a quarter of both is."""
    wait = (0.5, 0.5, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0)
    assert TAIL.number(0.0, *fork(wait, wait)) == pytest.approx(0.75, rel=1e-7)
    assert QUANTILE.number(0.2, *fork(wait, wait)) == pytest.approx(0, abs=1e-9)
    late = 1 - (1 - 0.5 * exp(-1)) ** 2
    assert TAIL.number(2.0, *fork(wait, wait)) == pytest.approx(late, rel=1e-7)


def test_forks_in_series_are_sums_of_the_longest() -> None:
    """Each longest of two has the transform 2/((1 + s)(2 + s)): its mean is 1.5."""
    two = fork(service(1.0), service(1.0))
    assert MEAN.number(*two, *two, *service(2.0)) == pytest.approx(5.0, rel=1e-9)
    for time in (0.1, 1.0, 5.0, 20.0):  # the square of it, in partial fractions
        late = _two_in_series(time)
        assert TAIL.number(time, *two, *two) == pytest.approx(late, rel=1e-8)
        assert TAIL.number(time, *within(1.0, two, two)) == pytest.approx(late, rel=1e-8)
        again = (*two[:7], 2.0, *two[8:])
        assert TAIL.number(time, *again) == pytest.approx(late, rel=1e-8)


def _two_in_series(time: float) -> float:
    """Return 1 - F of the sum of two, of density 2 exp(-t) (1 - exp(-t)) each."""
    return 4 * exp(-time) * (time - 1) + exp(-2 * time) * (2 * time + 5)


def test_forks_inside_forks_are_those_of_many_draws() -> None:
    rng, count = np.random.default_rng(4), 400_000
    inner = rng.exponential([[3.0], [2.0]], (2, count)).max(axis=0)
    one = rng.exponential(1.0, count) + inner + rng.exponential(0.5, count)
    made = rng.random(count) < 0.3
    draws = np.maximum(one, made * rng.exponential(8.0, count)) + rng.exponential(1.0, count)
    branch = within(1.0, service(1.0), fork(service(3.0), service(2.0)), service(0.5))
    stages = (*fork(branch, within(0.3, service(8.0))), *service(1.0))
    for level in (0.05, 0.5, 0.9, 0.99):
        found = QUANTILE.number(level, *stages)
        assert found == pytest.approx(np.quantile(draws, level), rel=0.015)
    assert MEAN.number(*stages) == pytest.approx(draws.mean(), rel=0.01)


@pytest.mark.parametrize("variation", [0.25, 0.999_999])
def test_forks_in_forks_whose_services_are_not_exponential(variation: float) -> None:
    """They are summed from their laws: nearly exponential ones come to what phases do."""
    rng, count = np.random.default_rng(9), 400_000
    first = rng.gamma(1 / variation, variation, (2, count)).max(axis=0)
    then = rng.gamma(1 / variation, 2 * variation, (2, count)).max(axis=0)
    alone = 5 * rng.gamma(1 / variation, variation, count)
    draws = np.maximum(first + then, alone)
    one, two, five = (service(mean, variation) for mean in (1.0, 2.0, 5.0))
    stages = fork(within(1.0, fork(one, one), fork(two, two)), five)
    found = [QUANTILE.number(level, *stages) for level in (0.1, 0.5, 0.95)]
    assert found == pytest.approx(np.quantile(draws, (0.1, 0.5, 0.95)), rel=0.01)
    assert MEAN.number(*stages) == pytest.approx(draws.mean(), rel=0.005)
    if variation > 0.9:
        one, two, five = map(service, (1.0, 2.0, 5.0))
        same = fork(within(1.0, fork(one, one), fork(two, two)), five)
        assert found == pytest.approx(
            [QUANTILE.number(level, *same) for level in (0.1, 0.5, 0.95)], rel=1e-5
        )


def test_the_longest_of_narrow_times_is_that_of_many_draws() -> None:
    """Far out their densities are next to nothing beside the largest."""
    rng, shape = np.random.default_rng(6), 48.0
    draws = rng.gamma(shape, 110 / shape, (3, 300_000)).max(axis=0)
    stages = fork(*(service(110.0, 1 / shape),) * 3)
    assert MEAN.number(*stages) == pytest.approx(draws.mean(), rel=2e-3)
    for level in (0.1, 0.5, 0.99):
        time = np.quantile(draws, level)
        assert QUANTILE.number(level, *stages) == pytest.approx(time, rel=4e-3)
        assert TAIL.number(time, *stages) == pytest.approx(1 - level, rel=0.04)


def test_branches_behind_different_fixed_times_begin_where_the_last_one_does() -> None:
    """What is in phases by the time that the longest fixed time is over is further along."""
    many = (0.4, 0.5, 2.0, 1.0, 4.0, 2.0, 1.0, 1.0, 0.0)
    stages = fork(within(1.0, many, fixed=1.0), within(0.6, service(3.0), fixed=2.5))
    rng, count = np.random.default_rng(3), 1_000_000
    waits = rng.exponential(1.0, count) * (rng.random(count) < 0.4)
    one = 1 + waits + rng.exponential(2.0, count)
    other = (rng.random(count) < 0.6) * (2.5 + rng.exponential(3.0, count))
    draws = np.maximum(one, other)
    for time in (1.5, 2.0, 2.49, 2.51, 4.0, 9.0):
        assert TAIL.number(time, *stages) == pytest.approx((draws > time).mean(), abs=2e-3)


def test_forks_that_are_counted_in_phases_have_paths_in_them() -> None:
    """What is labeled as exact by the count of phases is no grid."""
    chance, counted = random.Random(11), 0
    for _ in range(60):
        stages = (
            *stage(chance),
            *some_fork(chance, chance.randint(1, 3), is_exponential=chance.random() < 0.9),
        )
        if have_phases(stages, float):
            counted += 1
            assert fork_paths([np.array([one]) for one in stages])
    assert counted > 15


def test_hundreds_of_branches_three_forks_deep_are_those_of_many_draws() -> None:
    """A call by chance behind a fixed time, and services of all kinds: `fork_law_draws.py`."""
    rng, count = np.random.default_rng(12), 100_000
    kinds = [(1.0, 0.5), (2.0, 2.5), (1.5, 0.1), (0.7, 1.0)]

    def three(depth: int) -> tuple[Stages, np.ndarray]:
        branches, drawn = [], np.zeros(count)
        for k in range(6):
            mean, variation = kinds[k % 4][0] * (1 + k / 9), kinds[k % 4][1]
            times = rng.gamma(1 / variation, mean * variation, count)
            inside = [service(mean, variation)]
            if depth > 1:
                stages, more = three(depth - 1)
                inside, times = [*inside, stages], times + more
            made = rng.random(count) < (0.6 if k == 5 else 1.0)
            branches.append(within(0.6 if k == 5 else 1.0, *inside, fixed=1.5))
            drawn = np.maximum(drawn, made * (1.5 + times))
        return fork(*branches), drawn

    stages, drawn = three(3)
    assert len(stages) // 9 > 250
    assert MEAN.number(*stages) == pytest.approx(drawn.mean(), rel=2e-3)
    for level in (0.1, 0.5, 0.9, 0.99):
        time = np.quantile(drawn, level)
        assert QUANTILE.number(level, *stages) == pytest.approx(time, rel=0.01)
        assert TAIL.number(time, *stages) == pytest.approx(1 - level, rel=0.1, abs=3e-3)


def test_rows_are_as_many_numbers() -> None:
    """Columns tell what numbers do, whether their stages are alike, full, or none at all."""
    rng, count = np.random.default_rng(2), 60
    loads = rng.uniform(0.1, 0.95, count)
    calls = [
        (loads, loads, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0),
        (loads / 2, loads, 2.0, 1.0, 2.0, 2.0, 1.0, 1.0, 0.0),
    ]
    fixed = np.where(rng.random(count) < 0.3, 0.0, 0.7)
    stages = [
        *calls[1],
        *(0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, 4.0),
        *(0.0, 0.0, 0.0, 1.0, 1.0, fixed, 0.0, 1.0, 1.0, *calls[0]),
        *(0.0, 0.0, 0.0, 1.0, 1.0, fixed * 2, 0.0, rng.choice([0.5, 1.0], count), 1.0, *calls[1]),
    ]
    stages[1] = np.where(rng.random(count) < 0.1, 1.2, stages[1])
    stages[6] = np.where(rng.random(count) < 0.1, -1.0, stages[6])
    columns = [np.broadcast_to(one, count).astype(float) for one in stages]
    level = rng.uniform(0.01, 0.999, count)
    for operation, before in ((MEAN, ()), (QUANTILE, (level,)), (TAIL, (level * 9,))):
        found = operation.array(*before, *columns)
        rows = zip(*before, *columns, strict=True)
        each = [operation.number(*map(float, row)) for row in rows]
        np.testing.assert_allclose(found, each, rtol=1e-9)
        assert np.isfinite(found).any()
        assert np.isnan(found).any()


def test_lateness_is_above_zero_where_the_quantile_is_above_the_time() -> None:
    stages = (*service(1.0), *fork(QUEUE, within(0.4, service(3.0), fixed=1.0)))
    for level in (0.2, 0.9, 0.999):
        time = QUANTILE.number(level, *stages)
        assert fork_lateness(time * 0.999, level, *stages) > 0
        assert fork_lateness(time * 1.001, level, *stages) < 0
    assert fork_lateness(1.0, 0.9, *fork(QUEUE, FULL)) == inf


def test_what_has_no_law_has_no_value_and_what_is_full_no_end() -> None:
    two = fork(QUEUE, service(1.0))
    some = fork(*(within(0.5, QUEUE, fixed=float(k)) for k in range(1, 4)))
    assert QUANTILE.number(0.5, *some, *some, *some) > 0  # in 512 ways
    assert isnan(MEAN.number(*one_of(within(0.7, two), within(0.7, QUEUE))))
    assert isnan(QUANTILE.number(1.0, *two))
    assert MEAN.number(*fork(QUEUE, FULL)) == inf
    assert QUANTILE.number(0.5, *two, *FULL) == inf
    assert TAIL.number(3.0, *fork(QUEUE, FULL)) == 1


def test_bounds_of_forks_on_grids_allow_for_how_these_lie() -> None:
    """Where a load hardly counts, the lower end of a box may have the longer quantile."""
    for seed in range(60):
        least = random.Random(seed).uniform(1e-4, 1e-3)
        low, high = (
            fork(within(1.0, queue, fixed=2e-4), within(0.5, queue, fixed=2e-4), service(0.1, 0.0))
            + fork(within(1.0, queue, fixed=2e-4), service(0.1, 0.0))
            for load in (least, 1.3 * least)
            for queue in [(load, load, 1e-3, 0.0, 1.0, 1e-3, 0.0, 1.0, 0.0)]
        )
        bounds = QUANTILE.interval(*map(SlopedInterval, (0.5, *low), (0.5, *high)))
        assert bounds.low <= bounds.high, seed
        assert bounds.high - bounds.low < 1e-3 * bounds.low


def test_balls_cover_what_floats_have() -> None:
    ball = MEAN.ball(*map(arb, fork(service(1.0), service(1.0))))
    assert ball.overlaps(arb(1.5))
    assert float(ball.rad()) < 1e-6
    ball = QUANTILE.ball(*map(arb, (0.25, *fork(service(1.0), service(1.0)))))
    assert float(ball.mid()) == pytest.approx(log(2), rel=1e-7)


def test_a_share_that_may_be_nothing_has_a_quantile_behind_it() -> None:
    """Its ball reached below zero, where no share is: percentiles were not-a-number."""
    both = fork(service(1.0), service(1.0))
    wait = (arb(1e-5, 2e-5), arb(0), arb(0.004), *map(arb, (1, 1, 0, 1, 1, 0)))
    found = fork_quantile(arb(0.5), *wait, *map(arb, both))
    assert found.is_finite()
    assert float(found.mid()) == pytest.approx(-log(1 - 0.5**0.5), rel=1e-4)
