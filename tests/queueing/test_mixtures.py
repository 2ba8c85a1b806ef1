"""Waits for services that are a mixture: the law of Pollaczek and Khinchine, part by part."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import chain
from math import exp, inf, isnan

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from browsers.node import needs_node, run_module
from helpers.nightly import examples
from helpers.specs import lowered
from oracles.mixture_waits import Kind, sojourn_bounds
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind as KnownAs
from qps.engine.distributions.sum_arrays import stages_quantile as on_arrays
from qps.engine.distributions.sum_numbers import stages_quantile
from qps.engine.operations import OPERATIONS

law = settings(max_examples=examples(40), deadline=None)
LEVELS = (0.3, 0.5, 0.9, 0.99, 0.999)
Stage = tuple[float, ...]

MIXTURES: dict[str, tuple[float, tuple[Kind, ...], float, int]] = {
    "a store with one thread": (252, ((0.986, 2e-5, 0), (0.014, 31e-3, 0)), 1e-5, 1 << 15),
    "two fixed": (1, ((0.5, 0.3, 0), (0.5, 1.0, 0)), 1e-3, 1 << 15),
    "fixed and exponential": (1, ((0.7, 0.2, 0), (0.3, 1.5, 1)), 2e-3, 1 << 15),
    "three kinds": (1, ((0.6, 0.2, 0), (0.3, 0.8, 1), (0.1, 2.0, 4)), 1e-3, 1 << 15),
    "nearly full": (1, ((0.9, 0.5, 0), (0.1, 5.0, 1)), 1e-2, 1 << 17),
    "one in ten thousand": (900, ((0.9999, 1e-4, 0), (1e-4, 1.0, 0)), 5e-5, 1 << 17),
    "ten thousand times as long": (9, ((0.9, 1e-5, 1), (0.1, 1.0, 0)), 1e-3, 1 << 16),
}
"""The rate, the kinds, and a grid that is fine enough, and long enough."""


def variation_of(phases: int) -> float:
    return 1 / phases if phases else 0.0


def waiting(rate: float, kinds: tuple[Kind, ...], own: Kind) -> list[Stage]:
    """Return a stage that waits for all kinds, and serves one of them."""
    first, *others = [
        (rate * share * mean, rate * share * mean, mean, variation_of(phases))
        for share, mean, phases in kinds
    ]
    served = own[1], variation_of(own[2])
    return [
        (*first, 1.0, *served, 1.0, float(len(others))),
        *((*one, 0.0, 0.0, 0.0, 0.0, 0.0) for one in others),
    ]


def quantile(level: float, *line: Stage) -> float:
    return stages_quantile(level, *chain(*line))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MIXTURES)
def test_waits_for_a_mixture_are_what_a_grid_says(name: str, level: float) -> None:
    rate, kinds, step, size = MIXTURES[name]
    for own in kinds:
        low, high = sojourn_bounds(rate, kinds, level, own=own, step=step, size=size)
        found = quantile(level, *waiting(rate, kinds, own))
        assert low * (1 - 1e-3) <= found <= high * (1 + 1e-3)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MIXTURES)
def test_arrays_and_balls_say_the_same(name: str, level: float) -> None:
    rate, kinds, *_ = MIXTURES[name]
    line = [*waiting(rate, kinds, kinds[0]), *waiting(rate / 2, kinds[::-1], kinds[1])]
    found = quantile(level, *line)
    several = on_arrays(level, *([number] * 3 for number in chain(*line)))
    assert list(several) == [pytest.approx(found, rel=1e-7)] * 3
    ball = OPERATIONS["stages_quantile"].ball(arb(level), *map(arb, chain(*line)))
    assert float(ball.mid()) == pytest.approx(found, rel=1e-6)
    assert float(ball.rad()) <= 1e-9 * found


@pytest.mark.parametrize("name", MIXTURES)
def test_tails_are_those_of_the_quantiles(name: str) -> None:
    rate, kinds, *_ = MIXTURES[name]
    line = [*chain(*waiting(rate, kinds, kinds[1]))]
    time = stages_quantile(0.95, *line) * 1.01
    row = OPERATIONS["stages_tail"]
    found = float(row.number(time, *line))
    assert stages_quantile(1 - found, *line) == pytest.approx(time, rel=1e-6)
    assert float(row.array(time, *line)) == pytest.approx(found, rel=1e-7)
    assert float(row.ball(arb(time), *map(arb, line)).mid()) == pytest.approx(found, rel=1e-6)


@needs_node
def test_scripts_say_the_same() -> None:
    cases = [
        [level, *chain(*waiting(rate, kinds, own))]
        for rate, kinds, *_ in MIXTURES.values()
        for own in kinds
        for level in LEVELS
    ]
    text = (
        'import { stagesQuantile } from "./reports/scripts/engine/queueing/sums.js";\n'
        f"console.log(JSON.stringify({cases}.map((one) => stagesQuantile(...one))));\n"
    )
    found = json.loads(run_module(text))
    assert found == pytest.approx([stages_quantile(*one) for one in cases], rel=1e-7)


def test_rows_of_unlike_loads_are_as_each_of_them() -> None:
    _, kinds, *_ = MIXTURES["three kinds"]
    lines = [waiting(rate, kinds, kinds[1]) for rate in (0.0, 0.2, 1.0, 1.7, 3.0)]
    several = on_arrays(0.9, *np.array([list(chain(*line)) for line in lines]).T)
    assert several == pytest.approx([quantile(0.9, *line) for line in lines], rel=1e-9)
    assert several[-1] == inf


@pytest.mark.parametrize("level", LEVELS)
def test_parts_alike_are_one(level: float) -> None:
    for phases in (0, 1, 3):
        kinds = tuple((share, 1.0, phases) for share in (0.2, 0.5, 0.3))
        expected = quantile(level, *waiting(0.8, ((1.0, 1.0, phases),), kinds[0]))
        found = quantile(level, *waiting(0.8, kinds, kinds[0]))
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_two_exponential_services_have_a_wait_of_two_exponentials(level: float) -> None:
    """Its transform has two poles, left of zero: by partial fractions a tail in closed form."""
    first, second, slow = 0.2, 0.4, 10.0  # loads, and the mean of the second service; the other: 1
    line = waiting(1.0, ((first, 1.0, 1), (second / slow, slow, 1)), (0.0, 0.0, 0))
    spare = 1 - first - second
    # (1 - l1/(1+s) - l2/(1+10s)) has the poles of W: 10 s^2 + (11 - 10 l1 - l2) s + spare = 0.
    poles = np.roots([slow, 1 + slow - slow * first - second, spare])
    weights = [
        -spare * (1 + one) * (1 + slow * one) / (one * slow * (one - other))
        for one, other in (poles, poles[::-1])
    ]
    time = quantile(level, *line)
    late = sum(weight * exp(one * time) for weight, one in zip(weights, poles, strict=True))
    if time:
        assert late == pytest.approx(1 - level, rel=1e-6)
    else:
        assert 1 - first - second >= level


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ([(0.5, 0.5, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0)], None),  # a part that is of no stage
        ([(0.5, 0.5, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0), (0.5, 0.5, 1, 0, 0, 0, 0, 0, 0)], inf),
        ([(0.0, 0.0, 1.0, 0.0, 1.0, 2.0, 0.0, 1.0, 1.0), (0.0, 0.0, 9, 0, 0, 0, 0, 0, 0)], 2.0),
        # A part of no time is found by some, who do not wait for it.
        ([(0.2, 0.2, 0.0, 0.0, 1.0, 2.0, 0.0, 1.0, 1.0), (0.1, 0.1, 0, 0, 0, 0, 0, 0, 0)], 2.0),
    ],
)
def test_edges(line: list[Stage], value: float | None) -> None:
    text = f"""import {{ stagesQuantile }} from "./reports/scripts/engine/queueing/sums.js";
    console.log(stagesQuantile(0.9, ...{[*chain(*line)]}));"""
    found = [quantile(0.9, *line), float(on_arrays(0.9, *chain(*line)))]
    found.append(float(run_module(text).strip().replace("Infinity", "inf")))
    assert all(map(isnan, found)) if value is None else found == [value] * 3


_KIND = st.tuples(
    st.floats(0, 0.2), st.floats(0, 0.2), st.floats(0.05, 5), st.sampled_from([0.0, 0.25, 1.0, 3.0])
)


@law
@given(st.lists(_KIND, min_size=2, max_size=4), st.sampled_from(LEVELS), st.data())
def test_more_of_any_part_is_no_sooner(
    kinds: list[tuple[float, ...]], level: float, data: st.DataObject
) -> None:
    """Of its share, its load, and its time: bounds of ranges rest on it."""

    def line(parts: list[tuple[float, ...]]) -> list[Stage]:
        own = (*parts[0], 1.0, 0.3, 1.0, 1.0, float(len(parts) - 1))
        return [own, *((*one, 0.0, 0.0, 0.0, 0.0, 0.0) for one in parts[1:])]

    at, place = data.draw(st.integers(0, len(kinds) - 1)), data.draw(st.integers(0, 2))
    by = 10.0 ** data.draw(st.integers(-7, -1))
    more = list(kinds[at])
    more[place] = more[place] * (1 + by) + by * (place < 2) / 10
    before = quantile(level, *line(kinds))
    after = quantile(level, *line([*kinds[:at], tuple(more), *kinds[at + 1 :]]))
    assert after >= before * (1 - 2e-3 if any(one[3] < 0.3 for one in kinds) else 1 - 1e-7)


# -- in specs ----------------------------------------------------------------------------

SPEC = """users N in 1..10_000
machine store {{ cpu 1 core, queueing {queueing} }}
component get {{ cpu 20 us/request }}
component scan {{ cpu 31 ms/request }}
topology {{ node redis = store }}
stream gets for each user {{ traffic 0.986 request/s, 100 byte/request; at redis {{ get }} }}
stream scans for each user {{ traffic 0.014 request/s, 100 byte/request; at redis {{ scan }} }}
require {{ gets.latency <= 1 hour }}
"""


def graph(queueing: str) -> LoadGraph:
    return lowered(SPEC.format(queueing=queueing))


def simulated(rate: float, level: float, *, is_fixed: bool) -> float:
    """Return a quantile of wait and service of gets: item by item, by Lindley's recursion."""
    chance = np.random.default_rng(7)
    items = 3_000_000
    is_scan = chance.random(items) < 0.014
    services = np.where(is_scan, 31e-3, 20e-6)
    services = services if is_fixed else services * chance.exponential(size=items)
    steps = np.concatenate(
        [[0.0], np.cumsum(services[:-1] - chance.exponential(1 / rate, items - 1))]
    )
    waits = steps - np.minimum.accumulate(steps)
    return float(np.quantile((waits + services)[~is_scan], level))


@pytest.mark.parametrize("queueing", ["md1", "mm1"])
def test_quick_requests_wait_for_slow_ones_as_simulated(queueing: str) -> None:
    of = graph(queueing)
    for users in (252, 1500):
        found = of.at(users).number(of.streams["gets"].latency_quantile(Fraction(99, 100)))
        expected = simulated(users, 0.99, is_fixed=queueing == "md1")
        assert float(found) == pytest.approx(expected, rel=0.03)
    known = of.streams["gets"].quantile_certainty(Fraction(99, 100))
    assert known.kind is KnownAs.EXACT
    assert "mixture-wait" in [one.method for one in known.theorems]


def test_mixtures_of_laws_that_are_not_known_are_no_theorem() -> None:
    known = graph("mg1 cv 0.5").streams["gets"].quantile_certainty(Fraction(99, 100))
    assert known.kind is KnownAs.APPROXIMATION
    assert [one.method for one in known.because] == ["gamma-service"]
