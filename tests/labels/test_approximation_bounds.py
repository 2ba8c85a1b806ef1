"""Approximations are followed by their values: against every population, and points between."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import pi, sin

import pytest

from helpers.formulas import R, ceil
from qps.engine.expressions.formulas import Formula, apply, number, population
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.numerics.sloped_intervals import SlopedInterval
from qps.solver.answers.capacity import first_failure
from qps.solver.search.approximation_bounds import followed, narrowed
from qps.solver.search.bounds import BoundedFunction

N = population("N")
HIGHEST = 100
KINDS = (N, N / 2, N)
"""Of three kinds, solved exactly up to some 40 populations."""
STATIONS = {
    "single servers": ((1, 0, 1, 40, 40, 40), (1, 0, 1, 60, 60, 60), (1, 0, 1, 25, 50, 125)),
    "two servers, an open load": ((2, Fraction(1, 2), 1, 90, 20, 60), (1, 0, 1, 20, 60, 10)),
    "a class that others drive out": ((1, 0, 1, 50, 50, 0), (1, 0, 1, 0, 300, 900)),
}


def _rate(of: int, stations: str, *, jobs: tuple[Formula, ...] = KINDS) -> Formula:
    """Return the rate of a class at stations of which services are told in ms."""
    values = [R(one) for station in STATIONS[stations] for one in _in_seconds(station)]
    think = (R(5), R(2), R(1))
    return apply("class_rate", R(3), R(of), *jobs, *think, *values)


def _in_seconds(station: tuple[Fraction | int, ...]) -> list[Fraction]:
    return [Fraction(one) / (1 if at < 3 else 1000) for at, one in enumerate(station)]


def _value(over: Formula, at: int) -> float:
    return EvaluationPoint({N: Fraction(at)}).number(over)


MEASURES: tuple[tuple[str, Callable[[str], Formula], float], ...] = (
    ("time", lambda which: KINDS[0] / _rate(1, which), 0.999),
    ("rate", lambda which: _rate(1, which), 0.97),
    ("rate", lambda which: -_rate(2, which), 0.9),
    ("jumps", lambda which: ceil(_rate(1, which) * 10), 0.9),
)


@pytest.mark.parametrize("which", STATIONS)
@pytest.mark.parametrize(("_", "measure", "part"), MEASURES)
def test_the_first_failure_is_that_of_every_population(
    which: str, _: str, measure: Callable[[str], Formula], part: float
) -> None:
    over = measure(which)
    values = [_value(over, at) for at in range(1, HIGHEST + 1)]
    limit = number(Fraction(max(values[:80]) * (part if max(values) > 0 else 2 - part)))
    first = next((at for at, one in enumerate(values, 1) if one > float(limit.exact or 0)), None)
    assert first_failure(over - limit, N, 1, HIGHEST) == first


@pytest.mark.parametrize("which", STATIONS)
@pytest.mark.parametrize("ends", [(3.0, 3.9), (20.25, 20.75), (60.0, 80.0), (70.0, 71.0)])
def test_bounds_hold_at_points_between(which: str, ends: tuple[float, float]) -> None:
    over = KINDS[0] / _rate(1, which) - 5
    curve = BoundedFunction(over, N)
    found = curve.over(*ends)
    assert found.has_slope
    points = [Fraction(ends[0]) + Fraction(ends[1] - ends[0]) * part / 7 for part in range(8)]
    values = [(at, EvaluationPoint({N: at}).number(over)) for at in points]
    assert all(found.low <= value <= found.high for _, value in values)
    for (at, value), (later, following) in pairwise(values):
        assert found.slow - 1e-6 <= (following - value) / float(later - at) <= found.steep + 1e-6


def test_what_turns_is_not_taken_to_rise() -> None:
    near = followed(10.0, 14.0, lambda at: ((1 - (at - 12.5) ** 2, 0.0),))
    assert near is not None
    found = near.bounds(0)
    assert found is not None
    assert found.slow < 0 < found.steep
    assert found.low <= 1 - 2.5**2
    assert found.high >= 1


def test_over_many_octaves_nothing_is_followed() -> None:
    assert followed(1.0, 100.0, lambda _: ((0.0, 0.0),)) is None
    assert followed(0.0, 1.0, lambda _: ((0.0, 0.0),)) is None


def test_what_is_off_by_roundings_is_within_bounds() -> None:
    near = followed(10.0, 12.0, lambda _: ((1.0, 1e-3),))
    assert near is not None
    assert near.bounds(0) == SlopedInterval(0.999, 1.001, -0.002, 0.002)


def test_without_a_value_at_a_point_nothing_is_followed() -> None:
    near = followed(10.0, 12.0, lambda at: ((1.0 if at < 12 else float("nan"), 0.0),))
    assert near is not None
    assert near.bounds(0) is None
    assert narrowed(SlopedInterval(0.0, 1.0), None) == SlopedInterval(0.0, 1.0)


def test_what_bends_one_way_and_then_the_other_keeps_its_slope() -> None:
    """At both ends and in the middle it looks straight, and is not: slopes are -0.88 to 2.88."""

    def value(x: float) -> float:
        return x + 0.3 * sin(2 * pi * x)

    found = followed(2.0, 3.0, lambda x: ((value(x), 0.0),))
    assert found is not None
    bounds = found.bounds(0)
    assert bounds is not None
    assert bounds.slow <= 1 - 0.6 * pi
    assert bounds.steep >= 1 + 0.6 * pi


def test_what_decays_over_an_octave_stays_on_its_side_of_zero() -> None:
    """Where it falls at first by more than is left at the end."""
    found = followed(64.0, 128.0, lambda at: ((-(at**-2), 0.0),))
    assert found is not None
    bounds = found.bounds(0)
    assert bounds is not None
    assert bounds.high < 0
    assert bounds.low < -(64**-2)


def test_a_peak_between_two_points_is_within_the_bounds() -> None:
    """Values on both sides of it are alike; those beside them are not."""
    found = followed(8.0, 16.0, lambda at: ((-((at - 11.0) ** 2), 0.0),))
    assert found is not None
    bounds = found.bounds(0)
    assert bounds is not None
    assert bounds.high >= 0
