"""Calls that are made again draw anew each time: percentiles are those of sums of such draws."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from helpers.specs import lowered
from qps.api import loads
from stages import repeated_draws
from stages.repeated_draws import Drawn, Made, Request, Work, predicted, simulated

SPEC = """users N in 1..1
machine plain {{ }}
machine box {{ cpu 10_000 core, queueing mmc }}
network lan {{ propagation 0 s }}
component slow {{ cpu 400 ms/request }}
component fast {{ cpu 4 ms/request }}
component other {{ cpu 40 ms/request }}
component pause {{ delay 50 ms }}
unit place
machine gate {{ cpu 10_000 core, queueing mmc; places 10_000 place }}
topology {{ node app = plain; node db = box; node disk = box; node held = gate
  link net = lan between all }}
stream asks for each user {{
  traffic 10 request/s
  {body}
}}
require {{ asks.latency <= 1 hour }}
"""
DRAWS = 400_000
LEVELS = (0.5, 0.95, 0.99)

_Law = Callable[[np.random.Generator], np.ndarray]


def slow_or_fast(random: np.random.Generator, count: int = DRAWS) -> np.ndarray:
    return random.exponential(np.where(random.random(count) < 0.01, 0.4, 0.004))


def by_chance(random: np.random.Generator, chance: float, mean: float) -> np.ndarray:
    return np.where(random.random(DRAWS) < chance, random.exponential(mean, DRAWS), 0.0)


def in_turn(count: int, once: _Law) -> _Law:
    return lambda random: sum((once(random) for _ in range(count)), np.zeros(DRAWS))


def at_once(count: int, once: _Law) -> _Law:
    return lambda random: np.max([once(random) for _ in range(count)], axis=0)


def made_by(chance: float, body: _Law) -> _Law:
    return lambda random: np.where(random.random(DRAWS) < chance, body(random), 0.0)


def drawn_once(random: np.random.Generator) -> np.ndarray:
    hit = random.random(DRAWS) < 0.9
    hits = random.gamma(5, 0.004, DRAWS)
    return np.where(hit, hits, random.gamma(5, 0.4, DRAWS))


def once_more(random: np.random.Generator) -> np.ndarray:
    twice = slow_or_fast(random) + slow_or_fast(random)
    return twice + np.where(random.random(DRAWS) < 0.5, slow_or_fast(random), 0.0)


def fixed_pauses(random: np.random.Generator) -> np.ndarray:
    return random.gamma(5, 0.004, DRAWS) + 0.05 * random.binomial(5, 0.1, DRAWS)


_EITHER = "one of { 1 %: slow; else: fast }"
_SOMETIMES = "fast; 10 %: { call disk { other } }"
KINDS: dict[str, tuple[str, _Law]] = {
    "choice": (f"at app {{ call db * 5 {{ {_EITHER} }} }}", in_turn(5, slow_or_fast)),
    "chance": (
        f"at app {{ call db * 5 {{ {_SOMETIMES} }} }}",
        in_turn(5, lambda r: r.exponential(0.004, DRAWS) + by_chance(r, 0.1, 0.04)),
    ),
    "event once for all copies": (
        "event hit = 90 %\n  at app { call db * 5 { hit: fast; not hit: slow } }",
        drawn_once,
    ),
    "chance in front": (
        f"at app {{ 20 %: {{ call db * 5 {{ {_EITHER} }} }} }}",
        made_by(0.2, in_turn(5, slow_or_fast)),
    ),
    "nested": (
        f"at app {{ call db * 3 {{ fast; call disk * 2 {{ {_EITHER} }} }} }}",
        in_turn(3, lambda r: r.exponential(0.004, DRAWS) + in_turn(2, slow_or_fast)(r)),
    ),
    "2.5 times": (f"at app {{ call db * 2.5 {{ {_EITHER} }} }}", once_more),
    "fixed times": ("at app { call db * 5 { fast; 10 %: pause } }", fixed_pauses),
    "at once": (
        f"at app {{ together {{ call db * 2 {{ {_EITHER} }}; call disk * 3 {{ {_EITHER} }} }} }}",
        lambda r: np.maximum(in_turn(2, slow_or_fast)(r), in_turn(3, slow_or_fast)(r)),
    ),
    "while a pool is held": (
        f"at app {{ call held {{ take places; call db * 5 {{ {_EITHER} }}; give places }} }}",
        in_turn(5, slow_or_fast),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_call_draws_anew(kind: str) -> None:
    """Nobody waits: the law is that of sums of independent draws."""
    body, law = KINDS[kind]
    graph = lowered(SPEC.format(body=body))
    asks, at = graph.streams["asks"], graph.at(1)
    times = law(np.random.default_rng(1))
    for level in LEVELS:
        found = at.number(asks.latency_quantile(Fraction(str(level))))
        assert np.mean(times > found * (1 + 1e-9)) <= (1 - level) * 1.04, level
        assert np.mean(times >= found) >= (1 - level) * 0.96, level
    assert at.number(asks.mean_latency) == pytest.approx(times.mean(), rel=0.02)


def test_a_number_of_calls_may_be_set() -> None:
    """Also in the columns of a sweep, as the rows of a matrix are solved."""
    text = SPEC.format(body=f"at app {{ call db * calls {{ {_EITHER} }} }}")
    model = loads(f"param calls = 5 in 1..10\n{text}\nmeasure late = asks.p95\n")
    for calls in (1, 3, 5):
        times = in_turn(calls, slow_or_fast)(np.random.default_rng(2))
        (late,) = model.sweep(set={"calls": calls}, N=[1])["late"]
        assert np.mean(times > float(late)) == pytest.approx(0.05, rel=0.04)


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_waits_come_again(load: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is a queue: a disk that some of five calls wait for."""
    monkeypatch.setattr(repeated_draws, "_VISITS", 200_000)
    more = Drawn(((30, (Made(2, 1, (Work(2, 20.0),)),)),), None, is_chance=True)
    request = Request((Made(1, 5, (Work(1, 5.0), more)),), (1, 4, 2, 1), load)
    for (value, _), truth in zip(predicted(request), simulated(request, 7), strict=True):
        assert value == pytest.approx(truth, rel=0.2)


@pytest.mark.parametrize("load", [0.2, 0.5])
def test_alternatives_at_one_server_come_back_soon(
    load: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means were those of random arrivals: up to 1.66 times as long, with an error of 10 %."""
    monkeypatch.setattr(repeated_draws, "_VISITS", 300_000)
    either = Drawn(((5, (Work(1, 20.0),)),), (Work(1, 2.0),), is_chance=False)
    request = Request((Made(1, 5, (either,)),), (1, 1, 1, 1), load)
    *percentiles, mean = zip(predicted(request), simulated(request, 5), strict=True)
    assert mean[0][0] == pytest.approx(mean[1], rel=0.06)
    for (value, known), truth in percentiles:
        assert known.error is not None
        assert value == pytest.approx(truth, rel=float(known.error))


def test_more_returns_than_are_distinguished_state_no_error() -> None:
    either = Drawn(((5, (Work(1, 20.0),)),), (Work(1, 2.0),), is_chance=False)
    request = Request((Made(1, 10, (either,)),), (1, 1, 1, 1), 0.5)
    assert all(known.error is None for _, known in predicted(request))


def test_the_simulation_is_that_of_a_single_server() -> None:
    """The times of M/M/1 are exponential."""
    found = simulated(Request((Work(0, 10.0),), (1,), 0.5), 3)
    wanted = [-0.02 * np.log(1 - level) for level in LEVELS]
    assert found == pytest.approx([*wanted, 0.02], rel=0.05)
