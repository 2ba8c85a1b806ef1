"""Pools that users hold for one service, or for a delay: by birth and death, and as simulated."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from helpers.specs import lowered
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind

_SPEC = """users N in 1..{most}
unit thread
machine app {{ cpu 1 core, queueing mm1; threads {places} thread; others 2 thread }}
machine base {{ cpu {cores} core, queueing {queueing} }}
network wire {{ propagation 0 ms }}
component render {{ cpu 30 ms/request }}
component query {{ cpu 50 ms/request }}
component nap {{ delay 50 ms }}
topology {{ node web = app; node db = base; link lan = wire between web, db }}
"""
_HELD = "take threads; call db { query }; give threads"
_THINK = 0.2
_USERS = 9


def _graph(way: str, more: str = "", think: float = _THINK, **numbers: object) -> LoadGraph:
    names = {"most": _USERS, "places": 2, "cores": 4, "queueing": "mmc"} | numbers
    users = f"traffic N * 1 request, 1 kB/request, think {think:.6g} s"
    return lowered(
        _SPEC.format(**names) + f"stream ask in all {{ {users}; at web {{ {way} }} }}\n{more}"
    )


def _balanced(users: int, leaves: Callable[[int], float], of_web: float) -> tuple[float, float]:
    """Return the throughput and the response time by the balance of all states.

    So many are at the processor of the web server, and so many want or hold a place: those leave
    at a rate that depends on how many they are. Without a time at the web server nobody is there.
    """
    states = [(a, b) for a in range(users + 1 if of_web else 1) for b in range(users + 1 - a)]
    at = {state: k for k, state in enumerate(states)}
    moves = np.zeros((len(states), len(states)))
    for (a, b), k in at.items():
        think = (users - a - b) / _THINK
        ways = [((a + 1, b) if of_web else (a, b + 1), think), ((a, b - 1), leaves(b))]
        ways += [((a - 1, b + 1), 1 / of_web)] if of_web and a else []
        for state, rate in ways:
            if rate and state in at:
                moves[k, at[state]] += rate
                moves[k, k] -= rate
    moves[:, 0] = 1
    shares = np.linalg.solve(moves.T, np.eye(len(states))[0])
    rate = sum(shares[k] * leaves(b) for (_, b), k in at.items())
    return rate, users / rate - _THINK


@pytest.mark.parametrize(
    ("places", "cores", "queueing", "serves"),
    [
        (2, 4, "mmc", lambda n: min(n, 2)),
        (3, 2, "mmc", lambda n: min(n, 2)),
        (3, 8, "ps", lambda n: min(n, 3)),
        (3, 1, "ps", lambda n: min(n, 1)),
        (1, 1, "mm1", lambda n: min(n, 1)),
    ],
)
@pytest.mark.parametrize("way", ["", "render; "])
def test_a_pool_around_one_exponential_service_is_a_station_of_a_rate_by_number(
    way: str, places: int, cores: int, queueing: str, serves: Callable[[int], int]
) -> None:
    found = _graph(way + _HELD, places=places, cores=cores, queueing=queueing)
    for users in (4, _USERS):
        rate, time = _balanced(users, lambda n: serves(n) / 0.05, 0.03 if way else 0.0)
        at, stream = found.at(users), found.streams["ask"]
        assert float(at.number(stream.rate)) == pytest.approx(rate, rel=1e-8)
        assert float(at.number(stream.mean_latency)) == pytest.approx(time, rel=1e-7)
        assert float(at.number(found.resources["web.threads"].load)) == pytest.approx(
            _held(users, serves, places, 0.03 if way else 0.0), rel=1e-6
        )
    assert stream.latency_certainty.is_exact
    assert stream.rate_known.is_exact
    assert found.resources["db.cpu"].known.is_exact


def _held(users: int, serves: Callable[[int], int], places: int, of_web: float) -> float:
    """Return which share of the places is held: by those who are served, and who wait at db."""
    states = [(a, b) for a in range(users + 1 if of_web else 1) for b in range(users + 1 - a)]
    weights = []
    for a, b in states:
        at_db = np.prod([serves(n) / 0.05 for n in range(1, b + 1)])
        thinking = np.prod(np.arange(1.0, users - a - b + 1)) / _THINK ** (users - a - b)
        weights.append(of_web**a / at_db / thinking if of_web or not a else 0.0)
    held = [min(b, places) for _, b in states]
    return float(np.dot(held, weights) / sum(weights) / places)


@pytest.mark.parametrize(
    ("way", "more", "numbers"),
    [
        ("take threads; call db { query }; nap; give threads", "", {"cores": 1}),
        ("take threads; call db { query; query }; call db { query }; give threads", "", {}),
        ("take threads; render; call db { query }; give threads", "", {}),
        (f"{_HELD}; call db {{ query }}", "", {}),  # also visited without
        ("take others; take threads; call db { query }; give threads; give others", "", {}),
        (_HELD, "stream other in all { traffic 1 request/s; at db { query } }", {}),
        (_HELD, "", {"queueing": "mdc"}),
        (_HELD, "", {"queueing": "mm1"}),  # four cores as one fast server
        (_HELD, "", {"cores": 1, "queueing": "ps speeds [1, 1.5]"}),
    ],
)
def test_other_holds_stay_approximate(way: str, more: str, numbers: dict[str, object]) -> None:
    known = _graph(way, more, **numbers).streams["ask"].latency_certainty
    assert known.kind is CertaintyKind.APPROXIMATION
    assert "flow-equivalent-server" in known.methods


@pytest.mark.parametrize(
    ("places", "think", "users", "rate", "time"),
    [  # in holding times, by `laboratory/questions/closed_pool_simulation.py`
        (1, 10, 9, 0.7574, 1.889),
        (1, 50, 41, 0.782, 2.4606),
        (1, 50, 56, 0.9769, 7.1782),
        (2, 10, 20, 1.6989, 1.7271),
        (5, 50, 230, 4.4698, 1.6017),
        (10, 2, 27, 8.7557, 1.0882),
        (10, 50, 561, 10.0018, 5.8614),
        (20, 10, 198, 17.885, 1.0936),
    ],
)
def test_fixed_holds_are_near_what_is_simulated(
    places: int, think: float, users: int, rate: float, time: float
) -> None:
    """Those of one place were told up to 42 % too long, where 10 % was stated."""
    found = _graph("take threads; nap; give threads", think=think / 20, places=places, most=users)
    stream, at = found.streams["ask"], found.at(users)
    assert 20 * float(at.number(stream.mean_latency)) == pytest.approx(time, rel=0.06)
    assert float(at.number(stream.rate)) / 20 == pytest.approx(rate, rel=0.02)
    assert stream.latency_certainty.methods >= {"delay-in-a-cycle"}
    assert stream.latency_certainty.error == pytest.approx(0.06)


def test_fixed_holds_of_one_user_wait_for_nobody_and_of_many_fill_the_pool() -> None:
    found = _graph("take threads; nap; give threads", most=400)
    rate = found.streams["ask"].rate
    assert found.at(1).number(rate) == pytest.approx(1 / (_THINK + 0.05), rel=1e-9)
    rates = [float(found.at(n).number(rate)) for n in range(1, 60)]
    assert rates == pytest.approx(sorted(rates), rel=1e-12)
    assert max(rates) <= 2 / 0.05 * (1 + 1e-12)
    assert found.at(400).number(rate) == pytest.approx(2 / 0.05, rel=1e-9)
    load = found.resources["web.threads"].load
    assert found.at(3).number(load) == pytest.approx(rates[2] * 0.05 / 2, rel=1e-9)


def test_fixed_holds_with_queues_outside_the_pool_have_a_larger_error() -> None:
    known = _graph("render; take threads; nap; give threads").streams["ask"].latency_certainty
    assert known.methods >= {"delay-in-a-cycle"}
    assert known.error == pytest.approx(Fraction(45, 100))
