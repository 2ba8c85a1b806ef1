"""Calls by a share that come back to a queue: each outcome with its own number of visits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import lowered
from oracles.optional_visits import quantiles
from qps.compiler.lower.load_graph import LoadGraph

SPEC = """users N in 1..400
machine srv {{ cpu 1 core, queueing mm1 }}
machine none {{ }}
network wire {{ propagation 0 s }}
component run {{ cpu 2 ms/request }}
component wait {{ delay 30 ms }}
topology {{ node front, back = none; node db = srv; link lan = wire between all }}
stream page in all {{ traffic N * 1 request/s; at front {{ {steps} }} }}
require {{ page.latency <= 1 hour }}
"""


def graph(steps: str) -> LoadGraph:
    return lowered(SPEC.format(steps=steps))


def latency(of: LoadGraph, level: str, users: int) -> float:
    return float(of.at(users).number(of.streams["page"].latency_quantile(Fraction(level))))


@pytest.mark.parametrize(("shares", "users"), [((0.5, 0.5, 0.5), 125), ((1, 0.3), 300)])
def test_optional_visits_take_as_long_as_simulated(shares: tuple[float, ...], users: int) -> None:
    calls = (f"call db{'' if s == 1 else f' * {100 * s:g} %'} {{ run }}" for s in shares)
    of = graph("; ".join(calls))
    levels = ("3/10", "9/10")
    expected = quantiles(
        users, [(s, 2e-3) for s in shares], [float(Fraction(one)) for one in levels], 40_000
    )
    assert [latency(of, one, users) for one in levels] == pytest.approx(expected, rel=0.07)
    known = of.streams["page"].quantile_certainty(Fraction(19, 20))
    assert "repeat-visits" in [one.method for one in known.because]


@pytest.mark.parametrize(
    "steps",
    [
        "call db { run }; call db * 100 % { run }",
        "call db * 100 % { run }; call db * 100 % { run }; call db * 0 % { run }",
        "call db { run }; call back * 100 % { call db * 100 % { run } }",
    ],
)
def test_what_is_called_always_or_never_is_as_if_it_were_said_so(steps: str) -> None:
    always = graph("call db { run }; call db { run }")
    expected = latency(always, "9/10", 100)
    assert latency(graph(steps), "9/10", 100) == pytest.approx(expected, rel=1e-6)


def test_a_call_within_a_call_is_made_where_that_is() -> None:
    """One of five waits 30 ms and asks again; half of these ask a third time."""
    of = graph(
        "call db { run }; call back * 20 % { wait; call db { run }; call db * 50 % { run } }"
    )
    assert latency(of, "79/100", 10) < 0.03 < latency(of, "81/100", 10)
    longest = latency(of, "99/100", 10)
    assert 0.03 < longest < 0.06


def test_a_call_made_several_times_is_made_where_the_call_around_it_is() -> None:
    """Who makes the outer one asks once more, and half of these twice: all others do not."""
    spelled_out = "call db { run }; call db * 50 % { run }"
    several = graph("call db { run }; call back * 20 % { wait; call db * 1.5 { run } }")
    each = graph(f"call db {{ run }}; call back * 20 % {{ wait; {spelled_out} }}")
    for level in ("1/10", "1/2", "79/100", "81/100", "99/100"):
        assert latency(several, level, 10) == pytest.approx(latency(each, level, 10), rel=1e-6)


def test_alternatives_are_not_taken_for_draws_of_their_own() -> None:
    """Exactly one of two calls is made: the time of two, or of none, is that of nobody."""
    either = "one of { 50 %: call db { run }; else: call db { run } }"
    once = latency(graph("call db { run }"), "9/10", 100)
    assert latency(graph(either), "9/10", 100) == pytest.approx(once, rel=1e-6)
    again = "call db * 20 % { run }"
    expected = latency(graph(f"call db {{ run }}; {again}"), "9/10", 100)
    assert latency(graph(f"{either}; {again}"), "9/10", 100) == pytest.approx(expected, rel=1e-6)


SEVERAL = """users N in 1..100_000
machine a { cpu 4 core, queueing mmc }
network lan { propagation 0.1 ms }
component look { cpu 1 ms/request }
component merge { cpu 3 ms/request }
component slow { cpu 60 ms/request }
topology { node f, x = a; link l = lan between all }
stream page in all { traffic N * 1 request/s; at f { look; call x * 15 % { slow }; 15 %: merge } }
require { page.latency <= 1 hour }
"""


@pytest.mark.parametrize(
    ("level", "simulated"), [("1/2", 1.105e-3), ("19/20", 90.8e-3), ("99/100", 200.2e-3)]
)
def test_steps_by_chance_on_several_servers_are_made_or_not(level: str, simulated: float) -> None:
    """The median is not that of the first step alone, which is 0.693 ms; simulated to 2 %."""
    assert latency(lowered(SEVERAL), level, 300) == pytest.approx(simulated, rel=0.02)
