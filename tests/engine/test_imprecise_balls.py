"""Operations on balls that are hardly known: a value as near as these allow, where there is one."""

from __future__ import annotations

from math import exp, isnan

import pytest
from flint import arb

from qps.engine.distributions import sum_numbers
from qps.engine.evaluators.on_balls import raised
from qps.engine.evaluators.queueing.sum_balls import stages_quantile, tail_along
from qps.engine.evaluators.queueing.unlike_balls import unlike_ratio


@pytest.mark.parametrize(
    ("low", "high", "exponent", "least", "most"),
    [(-1, 2, 2, 0, 4), (-2, 1, 3, -8, 1), (-1, 2, 1, -1, 2), (0, 0, 2, 0, 0)],
)
def test_a_whole_power_of_what_may_be_zero_is_between_those_of_its_ends(
    low: float, high: float, exponent: int, least: float, most: float
) -> None:
    found = raised(arb((low + high) / 2, (high - low) / 2), arb(exponent))
    assert float(found.lower()) == pytest.approx(least, abs=1e-6)
    assert float(found.upper()) == pytest.approx(most, abs=1e-6)


def test_services_of_which_it_is_hardly_known_that_they_are_alike_wait_as_those_do() -> None:
    known = unlike_ratio(*map(arb, (0, 0, 1, 2, 0.4)))
    found = unlike_ratio(arb(0, 1e-30), arb(0, 1e-45), arb(1, 1e-15), arb(2), arb(0.4, 1e-12))
    assert float(found.mid()) == pytest.approx(float(known.mid()), rel=1e-6)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.97, 0.99, 0.999])
def test_a_narrow_time_has_a_quantile_though_its_variation_is_known_to_few_digits(
    level: float,
) -> None:
    """Of hundreds of users who wait for one place of a pool, as an approximation solves them."""
    service, variation = arb(11.6, 3e-8), arb(0.0186, 7e-6)
    nothing = [arb(0)] * 4
    stage = [*nothing, arb(1), service, variation, arb(1), arb(0)]
    found = stages_quantile(arb(level), *stage)
    plain = sum_numbers.stages_quantile(level, *(float(one.mid()) for one in stage))
    assert not isnan(float(found.mid()))
    assert float(found.mid()) == pytest.approx(plain, rel=1e-3)
    assert found.contains(arb(plain))


def test_less_than_no_passages_have_no_tail() -> None:
    """A slope by a number of passages that is 0 looks at a little less: it did not end."""
    late = (0.5, 0.5, 0.01, 1.0, 1.0, 0.01, 1.0, 1.0, 0.0)
    fixed = (0.0, 0.0, 0.0, 1.0, 1.0, 0.02, 0.0)
    tail = tail_along(0.03, *late, *fixed, 0.0, 0.0)
    found = [
        tail(arb(0.03), *map(arb, (*late, *fixed)), arb(times), arb(0)) for times in (-1e-9, 0)
    ]
    assert not found[0].is_finite()
    assert abs(float(found[1]) - exp(-1.5)) < 1e-8
