"""The quantile of a sum of independent stages."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import chain
from math import exp, inf, isnan, log, nan

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from browsers.node import needs_node, run_module
from helpers.specs import lowered
from oracles.stage_simulation import quantiles
from qps.engine.distributions.gamma_numbers import gamma_law_quantile
from qps.engine.distributions.sum_arrays import stages_quantile as on_arrays
from qps.engine.distributions.sum_numbers import stages_quantile
from qps.engine.distributions.sum_tails import stages_tail
from qps.engine.evaluators.on_balls import stages_quantile as on_balls
from qps.engine.evaluators.on_balls import stages_tail as tail_on_balls
from qps.engine.forks.fork_numbers import fork_quantile
from qps.engine.operations import OPERATIONS
from qps.engine.queueing.queue_numbers import erlang_c, md1_quantile, md1_tail, sojourn_quantile
from stages.stage_lists import LEVELS, Stage, call, law, mg1, mmc, quantile


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("load", [0.001, 0.3, 0.8, 0.99])
def test_one_stage_is_what_the_numbers_of_one_queue_say(level: float, load: float) -> None:
    within = {"rel": 1e-7}
    expected = sojourn_quantile(load, 1 - load, level)
    assert quantile(level, mg1(load, 1.0)) == pytest.approx(expected, **within)
    expected = sojourn_quantile(erlang_c(7, 7 * load), 7 * (1 - load), level)
    assert quantile(level, mmc(7, load, 1.0)) == pytest.approx(expected, **within)
    assert quantile(level, mg1(0, 3.0, 0.5)) == pytest.approx(
        3 * gamma_law_quantile(0.5, level), **within
    )
    expected = 1 + md1_quantile(load, level)  # with kinks, where the next service ends
    assert quantile(level, mg1(load, 1.0, 0.0)) == pytest.approx(expected, rel=2e-3)


def _tail_of_chain(rates: list[float], time: float) -> float:
    """Return P(T > t) of a sum of exponential times of distinct rates, to many digits."""
    with mpmath.workdps(60):
        each = list(map(mpmath.mpf, rates))
        total = mpmath.mpf(0)
        for k, rate in enumerate(each):
            others = mpmath.fprod(one / (one - rate) for j, one in enumerate(each) if j != k)
            total += others * mpmath.exp(-rate * time)
        return float(total)


@law
@given(
    st.lists(st.integers(1, 60), min_size=2, max_size=8, unique=True),
    st.sampled_from(LEVELS),
    st.data(),
)
def test_chains_of_exponential_stages_are_exact(
    rates: list[int], level: float, data: st.DataObject
) -> None:
    """Sojourns of M/M/1 are exponential of rate (1 - load)/service."""
    loads = [data.draw(st.integers(0, 95)) / 100 for _ in rates]
    line = [mg1(load, (1 - load) / rate) for load, rate in zip(loads, rates, strict=True)]
    found = quantile(level, *line)
    tails = [_tail_of_chain(list(map(float, rates)), found * side) for side in (1 - 1e-6, 1 + 1e-6)]
    assert tails[0] > 1 - level > tails[1]


@pytest.mark.parametrize("level", LEVELS)
def test_equal_exponential_stages_are_a_gamma_law(level: float) -> None:
    expected = 5 * gamma_law_quantile(1 / 5, level)
    line = [mg1(0.6, 0.4)] * 5
    assert quantile(level, *line) == pytest.approx(expected, rel=1e-6)
    assert quantile(level, mg1(0.6, 0.4, times=5.0)) == pytest.approx(expected, rel=1e-6)
    assert quantile(level, *call(5.0, mg1(0.6, 0.4))) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("variation", [1e-2, 1e-3, 1e-4, 1e-5])
def test_what_hardly_varies_is_reported_too(level: float, variation: float) -> None:
    """As of thousands of users in a full queue: transforms far left of zero are out of reach."""
    stage = mg1(0, 2.0, variation)
    assert quantile(level, stage) == pytest.approx(2, rel=0.03 + 4 * variation**0.5)
    assert quantile(level, stage) == pytest.approx(
        2 * gamma_law_quantile(variation, level), rel=0.025
    )
    expected = quantile(level, stage, mg1(0.5, 1.0))
    assert on_arrays(level, *stage, *mg1(0.5, 1.0)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("level", [0.9, 0.99, 0.9999])
def test_fixed_services_are_what_a_convolution_says(level: float) -> None:
    """Two M/D/1 of unlike sizes: their laws of waits on a fine grid, put together."""
    step, loads, services = 1 / 512, (0.5, 0.7), (1.0, 0.75)
    laws = []
    for load, service in zip(loads, services, strict=True):
        tails = np.array([md1_tail(load, k * step / service) for k in range(1 << 14)])
        laws.append(np.concatenate([[1 - tails[0]], -np.diff(tails)]))
    below = np.cumsum(np.convolve(*laws))
    expected = sum(services) + step * float(np.searchsorted(below, level))
    found = quantile(level, mg1(0.5, 1.0, 0.0), mg1(0.7, 0.75, 0.0))
    assert found == pytest.approx(expected, abs=3 * step)


def test_a_call_is_made_by_a_share() -> None:
    """With what is inside of it: a share q is later than t, where both are exponential."""
    stage = mg1(0.5, 1.0)
    share = 0.3
    time = quantile(0.99, *call(share, stage))
    assert share * exp(-time / 2) == pytest.approx(0.01, rel=1e-6)
    assert quantile(0.5, *call(share, stage)) == 0.0  # most make none
    both = quantile(0.99, *call(share, stage, stage))
    assert share * exp(-both / 2) * (1 + both / 2) == pytest.approx(0.01, rel=1e-6)
    apart = quantile(0.99, *call(share, stage), *call(share, stage))
    assert apart < both


def test_what_is_always_the_same_is_added() -> None:
    fixed = (0.0, 0.0, 0.0, 1.0, 1.0, 4.0, 0.0, 1.0, 0.0)
    one = quantile(0.99, mg1(0.5, 1.0))
    assert quantile(0.99, fixed, mg1(0.5, 1.0)) == pytest.approx(4 + one, rel=1e-12)
    assert quantile(0.99, fixed) == 4.0
    assert quantile(0.4, mg1(0.5, 1.0, 0.0)) == 1.0  # half of them do not wait


@pytest.mark.parametrize(
    ("level", "stage", "value"),
    [
        (0.99, mg1(1.0, 1.0), inf),
        (0.99, (0.0, 1.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0), -log(0.01)),  # nobody waits there
        (0.99, (1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0), 0.0),
        (0.99, mg1(0.5, 0.0), 0.0),
        (
            0.99,
            (1.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0),
            quantile(0.99, (1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)),
        ),
        (1.0, mg1(0.5, 1.0), nan),
        (0.5, mg1(-0.5, 1.0), nan),
        (0.5, mg1(0.5, 1.0, inf), nan),
        (0.5, (0.2, 0.5, inf, 1.0, 2.0, 1.0, 1.0, 1.0, 0.0), inf),  # some wait without an end
        (0.5, (0.0, 0.5, inf, 1.0, 2.0, 1.0, 1.0, 1.0, 0.0), -log(0.5)),
    ],
)
def test_edges(level: float, stage: Stage, value: float) -> None:
    for found in (quantile(level, stage), float(on_arrays(level, *stage))):
        assert isnan(found) if isnan(value) else found == pytest.approx(value, rel=1e-7)


_STAGE = st.tuples(
    st.sampled_from([0.0, 0.2, 1.0]),
    st.floats(0, 0.95),
    st.floats(0.05, 5),
    st.sampled_from([0.25, 1.0, 3.0]),
    st.sampled_from([1.0, 2.0, 16.0]),
    st.floats(0.05, 5),
    st.sampled_from([0.25, 1.0, 3.0]),
    st.sampled_from([0.3, 1.0, 1.5, 2.0]),
    st.sampled_from([0.0, 1.0]),
)


@law
@given(st.lists(_STAGE, min_size=1, max_size=4), st.sampled_from(LEVELS))
def test_arrays_say_the_same(line: list[Stage], level: float) -> None:
    one = quantile(level, *line)
    several = on_arrays(level, *([number] * 3 for number in chain(*line)))
    assert several == pytest.approx([one] * 3, rel=1e-9)


@law
@given(st.lists(_STAGE, min_size=1, max_size=4), st.data())
def test_more_of_anything_is_later(line: list[Stage], data: st.DataObject) -> None:
    """Also of the smallest bit, but for what is rounded off."""
    at = data.draw(st.integers(0, len(line) - 1))
    place, up = data.draw(st.sampled_from([(0, 1), (1, 1), (2, 1), (4, -1), (5, 1), (7, 1)]))
    level = data.draw(st.sampled_from(LEVELS))
    by = 10.0 ** data.draw(st.integers(-7, -1))
    more = list(line[at])
    more[place] = min(1.0, more[place] + by) if place < 2 else more[place] * (1 + by)
    later = quantile(level, *line[:at], (*more,), *line[at + 1 :])
    assert up * (later - quantile(level, *line)) >= -1e-9 * quantile(level, *line)


@pytest.mark.parametrize("level", [0.95, 0.99])
def test_p99_across_five_services_is_what_is_simulated(level: float) -> None:
    """The first and the last have several servers: the times in all are independent (Burke)."""
    stations = [(4, 4.0), (1, 1.2), (1, 0.5), (1, 1.4), (8, 10.0)]
    rate, line = 0.6, []
    for servers, service in stations:
        line.append(mmc(servers, rate * service / servers, service))
    (simulated,) = quantiles(rate, range(5), stations, [level], 60_000)
    assert quantile(level, *line) == pytest.approx(simulated, rel=0.04)


AGAIN = """
users N in 1..100
machine m { cpu 1 core, queueing mm1 }
machine seat { }
network wire { propagation 0 s }
component work { cpu 0.5 s/request }
topology { node who = seat; node n = m; link lan = wire between who, n }
stream job for each who {
  traffic 0.7 request/s, 1 kB/request
  at n { work }
  over lan
  at who { }
  over lan
  at n { work }
}
require { job.latency <= 1 hour }
"""


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_who_comes_again_finds_as_many(level: float) -> None:
    """Of n who are found each time with two visits, 2 (n + 1) services: an Erlang law, mixed."""
    graph = lowered(AGAIN)
    time = graph.at(1).number(graph.streams["job"].latency_quantile(Fraction(level)))
    term, later, late = exp(-2 * time), exp(-2 * time), 0.0
    for services in range(1, 400):
        if services % 2 == 0:
            late += 0.3 * 0.7 ** (services // 2 - 1) * later
        term *= 2 * time / services
        later += term
    assert late == pytest.approx(1 - level, rel=0.02)


# -- fixed times that are taken by chance ------------------------------------------------

Calls = tuple[tuple[int, float, float, float], ...]
"""So many calls by a share each, of a fixed time and an exponential one, of that mean."""

BY_CHANCE: dict[str, tuple[float, Calls]] = {
    "a payment elsewhere": (2e-4, ((1, 0.2, 0.3001, 2e-5),)),
    "either of two, or both": (0.0, ((1, 0.2, 0.1, 5e-5), (1, 0.3, 0.1, 5e-5))),
    "two of unlike length": (1e-3, ((1, 0.2, 0.25, 2e-3), (1, 0.3, 0.1, 3e-3))),
    "as long as what varies": (1.0, ((1, 0.5, 1.0, 0.7),)),
    "one in a million": (1e-3, ((1, 1e-6, 10.0, 0.1),)),
    "ten thousand times as long": (1e-6, ((2, 0.1, 1.0, 1e-5),)),
    "six coins": (0.01, ((6, 0.4, 0.05, 0.002),)),
}


def _line_by_chance(first: float, calls: Calls) -> list[Stage]:
    line = [mg1(0, first)] if first else []
    for often, share, fixed, mean in calls:
        stage = (0.0, 0.0, 0.0, 1.0, 1.0, fixed, 0.0, share, 1.0)
        line += [stage, mg1(0, mean)] * often
    return line


def _later_by_chance(first: float, calls: Calls, time: float) -> float:
    """Return the share that takes longer: each way by itself, its stages by partial fractions."""
    ways: list[tuple[float, float, list[float]]] = [(1.0, 0.0, [first] if first else [])]
    for often, share, fixed, mean in calls:
        for _ in range(often):
            ways = [
                way
                for chance, before, means in ways
                for way in (
                    (chance * (1 - share), before, means),
                    (chance * share, before + fixed, [*means, mean]),
                )
            ]
    later = mpmath.mpf(0)
    for chance, fixed, means in ways:
        if time < fixed:
            later += chance
        elif means:
            # Equal means are told apart by a bit too small to count, for partial fractions.
            rates = [
                (1 + mpmath.mpf(10) ** -12 * k) / mpmath.mpf(one) for k, one in enumerate(means)
            ]
            for k, rate in enumerate(rates):
                others = mpmath.fprod(one / (one - rate) for j, one in enumerate(rates) if j != k)
                later += chance * others * mpmath.exp(-rate * (mpmath.mpf(time) - fixed))
    return float(later)


@pytest.mark.parametrize("level", [0.3, 0.5, 0.79, 0.81, 0.9, 0.95, 0.99, 0.999, 0.9999995])
@pytest.mark.parametrize("name", BY_CHANCE)
def test_a_fixed_time_by_chance_is_distinguished(name: str, level: float) -> None:
    first, calls = BY_CHANCE[name]
    line = _line_by_chance(first, calls)
    found = quantile(level, *line)
    with mpmath.workdps(120):
        before, after = (
            _later_by_chance(first, calls, max(0.0, found * (1 + by))) for by in (-1e-6, 1e-6)
        )
    assert after <= (1 - level) * (1 + 1e-9) if found else after <= 1 - level + 1e-12
    assert before > (1 - level) * (1 - 1e-9) or not found
    assert float(on_arrays(level, *chain(*line))) == pytest.approx(found, rel=1e-9)
    ball = OPERATIONS["stages_quantile"].ball(arb(level), *map(arb, chain(*line)))
    assert float(ball.mid()) == pytest.approx(found, rel=1e-6)
    assert float(ball.rad()) <= 1e-9 * found


@needs_node
def test_scripts_give_the_same_fixed_times_by_chance() -> None:
    cases = [
        [level, *chain(*_line_by_chance(*BY_CHANCE[name]))]
        for name in BY_CHANCE
        for level in (0.3, 0.79, 0.8, 0.95, 0.999)
    ]
    text = (
        'import { stagesQuantile } from "./reports/scripts/engine/queueing/sums.js";\n'
        f"console.log(JSON.stringify({cases}.map((one) => stagesQuantile(...one))));\n"
    )
    found = json.loads(run_module(text))
    assert found == pytest.approx([stages_quantile(*one) for one in cases], rel=1e-9)


def test_shares_at_the_edge_of_a_way() -> None:
    """Where just that share takes no more than one way, the shorter counts: of atoms alone."""
    slow = (0.0, 0.0, 0.0, 1.0, 1.0, 0.3, 0.0, 0.2, 0.0)
    quick = (0.0, 0.0, 0.0, 1.0, 1.0, 1e-3, 0.0, 1.0, 0.0)
    assert quantile(0.8, slow, quick) == 1e-3
    assert quantile(0.8001, slow, quick) == pytest.approx(0.301, rel=1e-12)
    assert quantile(0.8, slow, mg1(0, 1e-3)) == pytest.approx(0.3, rel=1e-12)
    # A call that is made five times, in each of them something by chance: a binomial law.
    assert quantile(0.6, *call(5.0, slow)) == pytest.approx(0.3, rel=1e-12)
    assert quantile(0.95, *call(5.0, slow)) == pytest.approx(0.9, rel=1e-12)
    # What is called by chance within a call by chance.
    assert quantile(0.89, *call(0.5, slow)) == 0.0
    assert quantile(0.91, *call(0.5, slow)) == pytest.approx(0.3, rel=1e-12)


def test_too_many_ways_are_no_number() -> None:
    """2^7, each of another length: they are not told apart, and nothing is made up."""
    line = [(0.0, 0.0, 0.0, 1.0, 1.0, 2.0**k, 0.0, 0.5, 0.0) for k in range(7)]
    assert isnan(quantile(0.9, *line))
    assert quantile(0.9, *line[:6]) == 57.0


def test_a_wait_that_hardly_anyone_has_need_not_be_known() -> None:
    known = [arb(one) for one in (0.5, 0.5, 1, 1, 1, 1, 1, 1, 0)]
    rare = [arb(1e-12), arb(1e-12), arb(0.8, 1.7), arb(0), arb(1), arb(0), arb(1), arb(1), arb(0)]
    found = tail_on_balls(arb(2), *known, *rare)
    assert found.is_finite()
    assert float(found) == pytest.approx(float(tail_on_balls(arb(2), *known)), rel=1e-6)


_ENDLESS = [
    (0.2, 0.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0),
    (0.8, 0.0, inf, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0),
]
"""A part of the work has no end, as that of unlike services beyond all cores."""


def test_a_part_of_the_work_without_an_end_leaves_none() -> None:
    operands = [float(one) for one in chain(*_ENDLESS)]
    assert quantile(0.99, *_ENDLESS) == inf
    assert float(on_arrays(0.99, *operands)) == inf
    assert float(on_balls(arb(0.99), *map(arb, operands))) == inf
    assert stages_tail(5.0, *operands) == 1.0
    assert float(tail_on_balls(arb(5), *map(arb, operands))) == 1.0
    assert float(fork_quantile(0.99, *operands)) == inf


@needs_node
def test_scripts_know_work_without_an_end() -> None:
    operands = ", ".join("Infinity" if one == inf else str(one) for one in chain(*_ENDLESS))
    text = (
        'import { stagesQuantile, stagesTail } from "./reports/scripts/engine/queueing/sums.js";\n'
        f"console.log(JSON.stringify([stagesQuantile(0.99, {operands}) === Infinity, "
        f"stagesTail(5, {operands})]));\n"
    )
    assert json.loads(run_module(text)) == [True, 1]
