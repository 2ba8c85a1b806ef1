"""Stages of which exactly one is passed, each by its chance."""

from __future__ import annotations

import json
from itertools import chain
from math import exp, isnan

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from browsers.node import needs_node, run_module
from qps.engine.distributions.sum_arrays import stages_quantile as on_arrays
from qps.engine.distributions.sum_numbers import stages_quantile
from qps.engine.exact_algebra.exact_values import NoValueError
from qps.engine.operations import OPERATIONS
from stages.stage_lists import LEVELS, Stage, call, fixed_stage, law, mg1, mmc, one_of, quantile

POOL = mmc(2, 0.4, 0.01)

ALTERNATIVES: dict[str, tuple[Stage, ...]] = {
    "two pools alike": one_of((0.5, (POOL,)), (0.5, (POOL,))),
    "either region": one_of((0.7, (fixed_stage(0.1), mg1(0, 1e-3))), (0.3, (fixed_stage(0.3),))),
    "or none": (mg1(0.5, 0.1), *one_of((0.2, (fixed_stage(1.0),)), (0.1, (mg1(0.3, 2.0),)))),
    "fixed alike, and in a row": (
        *one_of((0.5, (fixed_stage(0.1), mg1(0, 1e-3))), (0.5, (fixed_stage(0.1), mg1(0, 2e-3)))),
        *one_of((0.25, (fixed_stage(0.2),)), (0.75, (mg1(0, 0.05),))),
    ),
    "within each other": one_of(
        (0.4, (mg1(0.2, 0.1), *one_of((0.3, (fixed_stage(2.0),)), (0.7, (mg1(0, 0.2),))))),
        (0.6, call(2.0, *one_of((0.5, (fixed_stage(0.4),)), (0.5, ())))),
    ),
    "three times": one_of((0.2, (mg1(0, 1.0),)), (0.3, (fixed_stage(0.5),)), times=3.0),
    "of no time": (mg1(0.6, 0.1, 0.0), *one_of((0.5, ()), (0.5, (mg1(0, 1e-3, 0.1),)))),
}


@pytest.mark.parametrize("level", LEVELS)
def test_one_of_two_laws_has_their_mixed_tail(level: float) -> None:
    line = one_of((0.3, (mg1(0, 1.0),)), (0.6, (mg1(0, 5.0),)))
    time = quantile(level, *line)
    late = 0.3 * exp(-time) + 0.6 * exp(-time / 5)
    assert late == pytest.approx(1 - level, rel=1e-7)
    assert quantile(0.05, *line) == 0.0  # one of ten does nothing
    assert quantile(level, *ALTERNATIVES["two pools alike"]) == pytest.approx(
        quantile(level, POOL), rel=1e-9
    )


def test_one_of_fixed_times_is_never_two_of_them() -> None:
    halves = one_of((0.5, (fixed_stage(0.1),)), (0.5, (fixed_stage(0.1),)))
    assert [quantile(level, *halves) for level in (0.01, 0.2, 0.8, 0.9999)] == [0.1] * 4
    line = one_of((0.3, (fixed_stage(1.0),)), (0.5, (fixed_stage(2.0), fixed_stage(3.0))))
    found = [quantile(level, *line) for level in (0.1, 0.3, 0.49, 0.51, 0.99)]
    assert found == [0.0, 1.0, 1.0, 5.0, 5.0]
    sure = one_of((1.0, (fixed_stage(1.0),)), (0.0, (fixed_stage(9.0),)))
    assert quantile(0.999999, *sure) == 1.0
    thirds = one_of(*((1 / 3, (fixed_stage(k),)) for k in (1.0, 2.0, 4.0)), times=2.0)
    assert [quantile(level, *thirds) for level in (0.1, 0.3, 0.4, 0.6, 0.8, 0.95)] == [
        2.0, 3.0, 4.0, 5.0, 6.0, 8.0
    ]  # fmt: skip


@pytest.mark.parametrize("level", [0.3, 0.6, 0.9, 0.99])
def test_alternatives_are_what_a_convolution_says(level: float) -> None:
    """The line of alternatives within each other: laws on a fine grid, put together."""
    step, size = 1 / 1024, 1 << 14

    def gamma(mean: float) -> np.ndarray:
        times = np.arange(size + 1) * step
        return -np.diff(np.exp(-times / mean))

    def atom(time: float) -> np.ndarray:
        return np.eye(1, size, round(time / step))[0]

    def together(*laws: np.ndarray) -> np.ndarray:
        found = np.fft.irfft(np.prod([np.fft.rfft(one, 2 * size) for one in laws], axis=0))
        return found[:size]

    twice = 0.5 * atom(0.4) + 0.5 * atom(0)
    first = together(gamma(0.1 / 0.8), 0.3 * atom(2.0) + 0.7 * gamma(0.2))
    below = np.cumsum(0.4 * first + 0.6 * together(twice, twice))
    expected = step * float(np.searchsorted(below, level))
    assert quantile(level, *ALTERNATIVES["within each other"]) == pytest.approx(
        expected, abs=3 * step
    )


@pytest.mark.parametrize("level", [0.05, 0.3, 0.5, 0.79, 0.9, 0.99, 0.9999])
@pytest.mark.parametrize("name", ALTERNATIVES)
def test_arrays_and_balls_know_alternatives(name: str, level: float) -> None:
    line = ALTERNATIVES[name]
    found = quantile(level, *line)
    within = pytest.approx(found, rel=1e-7)
    several = on_arrays(level, *([number] * 3 for number in chain(*line)))
    assert list(several) == [within] * 3
    ball = OPERATIONS["stages_quantile"].ball(arb(level), *map(arb, chain(*line)))
    assert float(ball.mid()) == pytest.approx(found, rel=1e-6)
    assert float(ball.rad()) <= 1e-9 * found


def test_rows_of_unlike_chances_are_as_each_of_them() -> None:
    """Chances of 0 and of 1 among others: such alternatives are certain, or never passed."""
    lines = [
        (mg1(0.5, 0.1), *one_of((share, (fixed_stage(0.3),)), (1 - share, (mg1(0, 0.2),))))
        for share in (0.0, 0.2, 0.5, 1.0)
    ]
    several = on_arrays(0.9, *np.array([list(chain(*line)) for line in lines]).T)
    assert several == pytest.approx([quantile(0.9, *line) for line in lines], rel=1e-9)


@needs_node
def test_scripts_know_alternatives() -> None:
    cases = [
        [level, *chain(*line)]
        for line in ALTERNATIVES.values()
        for level in (0.05, 0.3, 0.5, 0.79, 0.9, 0.99)
    ]
    text = (
        'import { stagesQuantile } from "./reports/scripts/engine/queueing/sums.js";\n'
        f"console.log(JSON.stringify({cases}.map((one) => stagesQuantile(...one))));\n"
    )
    found = json.loads(run_module(text))
    assert found == pytest.approx([stages_quantile(*one) for one in cases], rel=1e-7)


TOO_MUCH = one_of((0.7, (fixed_stage(0.3),)), (0.7, (mg1(0, 0.2),)))


def test_chances_of_alternatives_above_one_have_no_quantile() -> None:
    line = (mg1(0.5, 0.1), *TOO_MUCH)
    sound = (mg1(0.5, 0.1), *one_of((0.7, (fixed_stage(0.3),)), (0.3, (mg1(0, 0.2),))))
    assert isnan(quantile(0.9, *line))
    rows = np.array([list(chain(*one)) for one in (line, sound, line)]).T
    first, second, third = on_arrays(0.9, *rows)
    assert isnan(first)
    assert isnan(third)
    assert second == pytest.approx(quantile(0.9, *sound), rel=1e-9)
    with pytest.raises(NoValueError):
        OPERATIONS["stages_quantile"].ball(arb(0.9), *map(arb, chain(*line)))


@needs_node
def test_scripts_refuse_chances_of_alternatives_above_one() -> None:
    text = (
        'import { stagesQuantile } from "./reports/scripts/engine/queueing/sums.js";\n'
        f"console.log(JSON.stringify(stagesQuantile(0.9, ...{[*chain(*TOO_MUCH)]})));\n"
    )
    assert run_module(text).strip() == "null"  # JSON has no not-a-number


@law
@given(
    st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 0.2), st.sampled_from(LEVELS), st.booleans()
)
def test_a_larger_chance_is_no_sooner(
    one: float, other: float, by: float, level: float, is_fixed: bool
) -> None:
    """Of what takes a time instead of nothing: bounds of ranges rest on it."""
    way = fixed_stage(1.5) if is_fixed else mg1(0.4, 1.0)

    def found(chance: float) -> float:
        return quantile(level, *one_of((chance, (way,)), (other, (mg1(0, 3.0),))))

    larger = min(1 - other, one + by)  # chances above one have no quantile
    assert found(larger) >= found(one) * (1 - 1e-9)
