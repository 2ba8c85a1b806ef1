"""Percentiles of calls that are made together, and of what is passed before and behind them."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from helpers.specs import lowered
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import Certainty, CertaintyKind

REQUESTS = Path(__file__).parents[1] / "requests"
SPEC = """users N in 1..10_000
machine idle {{ }}
machine box {{ cpu 2 core, queueing mmc }}
machine other {{ cpu 1 core, queueing {queueing} }}
network lan {{ propagation 1 ms }}
component look {{ cpu 1 ms/request }}
component merge {{ cpu 2 ms/request }}
component work {{ cpu 20 ms/request }}
component away {{ delay 30 ms }}
topology {{ node root, far = idle; node front, a = box; node b = other; link l = lan between all }}
stream asks for each user {{
  traffic 1 request/s, 100 byte/request
  event hit = 80 %
  at {at} {{ {steps} }}
}}
require {{ asks.latency <= 1 hour }}
"""
BOTH = "together { call a { work }; call b { work } }"


def graph(steps: str, *, at: str = "root", queueing: str = "mm1") -> LoadGraph:
    return lowered(SPEC.format(steps=steps, at=at, queueing=queueing))


def quantile(of: LoadGraph, level: str, users: int = 1) -> tuple[float, Certainty]:
    (asks,) = of.streams.values()
    share = Fraction(level)
    return float(of.at(users).number(asks.latency_quantile(share))), asks.quantile_certainty(share)


def later(of: LoadGraph, seconds: str, users: int = 1) -> float:
    (asks,) = of.streams.values()
    return float(of.at(users).number(asks.later(Fraction(seconds))))


@pytest.mark.parametrize(
    ("name", "level", "true"),
    [  # `laboratory/questions/fork_simulation.py`
        ("tog", "1/2", 0.04156),
        ("tog", "19/20", 0.1797),
        ("share", "1/2", 0.0011689),
        ("share", "9/10", 0.06542),
        ("share", "19/20", 0.10773),
        ("hit", "19/20", 0.10773),
    ],
)
def test_percentiles_of_two_calls_are_those_of_many_draws(
    name: str, level: str, true: float
) -> None:
    of = lowered((REQUESTS / f"{name}.qps").read_text(encoding="utf-8"))
    found, known = quantile(of, level)
    assert found == pytest.approx(true, rel=2e-3)
    assert known.kind is CertaintyKind.UPPER_BOUND
    assert known.methods == {"fork-associated"}


def test_two_queues_are_no_later_than_if_they_were_independent() -> None:
    """One request a second at each: exponential times, of which the product is a bound."""
    found, known = quantile(graph("together { call b { work }; call front { work } }"), "9/10")
    one = 1 / (1 / 0.020 - 1)
    late = 1 - (1 - exp(-(found - 0.002) / one)) * (1 - exp(-(found - 0.002) / 0.020))
    assert late == pytest.approx(0.1, rel=5e-3)
    assert known.kind is CertaintyKind.UPPER_BOUND


def test_one_queue_and_a_delay_are_exact() -> None:
    of = graph("together { call b { work }; call far { away } }")
    mean = 1 / (1 / 0.020 - 1)
    for level, least in (("1/2", 0.030), ("99/100", 0.0)):
        found, known = quantile(of, level)
        alone = -log(1 - float(Fraction(level))) * mean
        assert found == pytest.approx(0.002 + max(least, alone), rel=1e-6)
        assert known.is_exact
    assert later(of, "0.052") == pytest.approx(exp(-0.050 / mean), rel=1e-6)


def test_one_draw_for_both_branches_makes_both_late_or_none() -> None:
    """Independent draws would make 96 % of the items do some work; the event does 80 %."""
    of = graph("together { call a { hit: work }; call b { hit: work } }")
    one = 1 / (1 / 0.020 - 0.8)
    for level in ("1/2", "9/10"):
        time = quantile(of, level)[0] - 0.002
        late = 0.8 * (1 - (1 - exp(-time / one)) * (1 - exp(-time / 0.020)))
        assert late == pytest.approx(1 - float(Fraction(level)), rel=5e-3)
    assert quantile(of, "15/100")[0] == pytest.approx(0.002)


def test_sharing_a_server_is_not_known_to_be_associated() -> None:
    _, known = quantile(graph(BOTH, queueing="ps"), "1/2")
    assert known.kind is CertaintyKind.APPROXIMATION
    assert "fork-estimated" in known.methods


def test_those_who_miss_come_back_to_the_queue_before_their_calls() -> None:
    """Nearly nobody waits: services alone, one more of them behind the calls of a fifth."""
    of = graph(f"look; 20 %: {{ {BOTH}; merge }}", at="front")
    rng, count = np.random.default_rng(8), 400_000
    calls = 0.002 + rng.exponential(0.020, (2, count)).max(axis=0)
    draws = rng.exponential(0.001, count)
    draws += (rng.random(count) < 0.2) * (calls + rng.exponential(0.002, count))
    for level in ("1/2", "9/10", "99/100"):
        found, known = quantile(of, level)
        assert found == pytest.approx(np.quantile(draws, float(Fraction(level))), rel=0.04)
        assert {"fork-associated", "repeat-visits"} <= known.methods


@pytest.mark.parametrize(
    "steps",
    [
        "together { call a * 20 % { work }; call b * 40 % { work } }",
        f"one of {{ 20 %: {{ {BOTH} }}; else: call a {{ work }} }}",
        f"not hit: {{ {BOTH} }}",
        f"call front {{ look; {BOTH} }}",
    ],
)
def test_quantiles_tails_and_means_are_of_one_law(steps: str) -> None:
    of = graph(steps)
    (asks,) = of.streams.values()
    levels = (np.arange(60) + 0.5) / 60
    found = [quantile(of, str(Fraction(level).limit_denominator(10_000)))[0] for level in levels]
    assert found == sorted(found)
    for level in ("9/10", "99/100"):
        time, _ = quantile(of, level)
        share = later(of, str(Fraction(time)))
        assert share == pytest.approx(1 - float(Fraction(level)), rel=1e-4)
    mean = float(of.at(1).number(asks.mean_latency))
    assert np.mean(found) == pytest.approx(mean, rel=0.04)


@pytest.mark.parametrize(
    ("steps", "queueing", "is_on_grid"),
    [
        (BOTH, "md1", False),  # one fork: from its branches
        (f"look; {BOTH}", "mm1", False),  # in phases
        (f"look; {BOTH}", "md1", True),
    ],
)
def test_forks_on_grids_say_so(steps: str, queueing: str, *, is_on_grid: bool) -> None:
    of = graph(steps, queueing=queueing, at="front")
    found, known = quantile(of, "99/100")
    assert ("fork-grid" in known.methods) == is_on_grid
    assert later(of, str(Fraction(found))) == pytest.approx(0.01, rel=1e-4)


SEVERAL = """users N in 1..1_000
machine root {{ }}
machine box {{ cpu 1 core, queueing mm1 }}
network lan {{ propagation 0 s }}
component work {{ cpu 10 ms/request }}
topology {{ node r = root; node a, b, c, d, e = box; link l = lan between all }}
stream asks for each user {{
  traffic 1 request/s, 100 byte/request
  event hit = 80 %
  at r {{ {steps} }}
}}
require {{ asks.latency <= 1 hour }}
"""
"""Services of 10 ms at servers that are all loaded alike."""


@pytest.mark.parametrize(
    ("steps", "load", "simulated"),
    [  # p50, p90, p99 by `laboratory/questions/fork_network_simulation.py`
        (
            (
                "together { call a { work }; call b { work } };"
                " together { call c { work }; call d { work } }"
            ),
            60,
            (0.06284, 0.1235, 0.1918),
        ),
        (
            (
                "together { call a { work }; call b { work } };"
                " together { call c { work }; call d { work } }"
            ),
            30,
            (0.03724, 0.07157, 0.1126),
        ),
        (
            (
                "together { call a { work; together { call b { work }; call c { work } } };"
                " call d { work } }"
            ),
            60,
            (0.05517, 0.1117, 0.1812),
        ),
    ],
)
def test_forks_in_series_and_within_each_other_are_near_simulation(
    steps: str, load: int, simulated: tuple[float, ...]
) -> None:
    of = lowered(SEVERAL.format(steps=steps))
    each = [quantile(of, level, load) for level in ("1/2", "9/10", "99/100")]
    assert [found for found, _ in each] == pytest.approx(simulated, rel=0.1)
    for _, known in each:
        assert known.kind is CertaintyKind.APPROXIMATION
        assert "forks-combined" in known.methods
        assert not {"fork-associated", "any-parallel-late"} & known.methods
    time = str(Fraction(each[-1][0]))
    assert later(of, time, load) == pytest.approx(0.01, rel=1e-4)


@pytest.mark.parametrize("between", ["", "call e { work }; "])
def test_one_draw_for_two_forks_in_a_row_makes_both_or_none(between: str) -> None:
    """A fifth of the requests misses, and passes neither fork: drawn twice it would be 4 %."""
    pair = "together { call a { hit: work }; call b { hit: work } }"
    after = "together { call c { hit: work }; call d { hit: work } }"
    of = lowered(SEVERAL.format(steps=f"{pair}; {between}{after}"))
    rng, count = np.random.default_rng(8), 400_000
    calls = rng.exponential(0.010, (2, 2, count)).max(axis=0).sum(axis=0)
    draws = calls * (rng.random(count) < 0.8)
    draws += rng.exponential(0.010, count) if between else 0
    for time in (0.001, 0.01, 0.04):  # nearly nobody waits
        assert later(of, str(time)) == pytest.approx((draws > time).mean(), abs=0.01)


@pytest.mark.parametrize(
    "steps",
    [
        f"{BOTH}; {BOTH}",  # who finds a queue long finds it long again
        (
            "together { call a { together { call b { work }; call far { away } };"
            " call b { work } }; call front { work } }"
        ),
    ],
)
def test_forks_that_meet_a_queue_again_are_reported_by_bounds(steps: str) -> None:
    _, known = quantile(graph(steps), "9/10")
    assert not {"fork-associated", "fork-independent", "forks-combined"} & known.methods


def test_one_fork_with_queues_depends_on_no_other() -> None:
    """Two delays by chance, then one beside a queue."""
    steps = (
        "together { call far * 50 % { away }; call front * 20 % { away } };"
        " together { call b { work }; call far { away } }"
    )
    _, known = quantile(graph(steps), "1/2")
    assert "forks-combined" not in known.methods


def test_percentiles_of_users_who_wait_for_parallel_calls_state_the_error_that_was_measured() -> (
    None
):
    """Fifty users who think for 50 services, by `fork_network_simulation.py`."""
    text = SEVERAL.format(steps="together { call a { work }; call b { work } }")
    of = lowered(text.replace("traffic 1 request/s", "traffic 1 request, think 500 ms"))
    for level, simulated in (("1/2", 0.06778), ("9/10", 0.14172), ("99/100", 0.21773)):
        found, known = quantile(of, level, 50)
        assert known.kind is CertaintyKind.APPROXIMATION
        assert "closed-forks" in known.methods
        assert known.error is not None
        assert abs(found / simulated - 1) < known.error
        assert found == pytest.approx(simulated, rel=0.3)
