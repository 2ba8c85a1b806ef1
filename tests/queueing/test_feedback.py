"""Items that come back to a server, at once or later: waits by passes, and their law."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isinf
from pathlib import Path
from runpy import run_path

import pytest

from helpers.specs import lowered
from oracles.feedback_passes import Kinds, exponential, fixed, iterated, simulated
from oracles.optional_visits import quantiles
from qps.compiler.lower.load_graph import LoadGraph

LABORATORY = Path(__file__).parents[2] / "laboratory" / "questions"
SPEC = """users N in 1..10000
unit thread
machine srv {{ cpu 1 core, queueing {queueing} }}
machine none {{ threads 3 thread }}
network wire {{ propagation {propagation} }}
component run(s) {{ cpu s }}
component wait {{ delay 30 ms }}
topology {{ node front, back = none; node db = srv * {copies}; link lan = wire between all }}
stream page in all {{ {traffic}; at front {{ {steps} }} }}
{more}
require {{ page.latency <= 1 hour }}
"""
OPTIONAL = (
    "call db { run(1 ms/request) }; call db * 20 % { run(5 ms/request) }; "
    "call db * 10 % { run(5 ms/request) }"
)
OUTCOMES: Kinds = [(0.72, [1e-3]), (0.26, [1e-3, 5e-3]), (0.02, [1e-3, 5e-3, 5e-3])]


def graph(
    steps: str,
    queueing: str = "mm1",
    *,
    propagation: str = "0 s",
    copies: int = 1,
    traffic: str = "traffic N * 1 request/s",
    more: str = "",
) -> LoadGraph:
    return lowered(
        SPEC.format(
            steps=steps,
            queueing=queueing,
            propagation=propagation,
            copies=copies,
            traffic=traffic,
            more=more,
        )
    )


def mean(of: LoadGraph, users: int) -> float:
    return float(of.at(users).number(of.streams["page"].mean_latency))


def methods(of: LoadGraph) -> list[str]:
    return [one.method for one in of.streams["page"].latency_certainty.because]


def whole(kinds: Kinds, waits: list[list[float]]) -> float:
    """Return the mean time of all passes together."""
    return sum(
        share * (sum(services) + sum(each))
        for (share, services), each in zip(kinds, waits, strict=True)
    )


CASES = [
    (OPTIONAL, OUTCOMES),
    ("call db { run(1 ms/request) }; call db { run(4 ms/request) }", [(1, [1e-3, 4e-3])]),
    (
        "call db { run(5 ms/request) }; 40 %: call db { run(1 ms/request) }",
        [(0.6, [5e-3]), (0.4, [5e-3, 1e-3])],
    ),
    (
        "call db { run(1 ms/request) }; call db * 2 { run(2 ms/request) }",
        [(1, [1e-3, 2e-3, 2e-3])],
    ),
]


@pytest.mark.parametrize(("queueing", "variation"), [("mm1", 1), ("md1", 0), ("mg1 cv 2", 2)])
@pytest.mark.parametrize(("steps", "kinds"), CASES)
def test_waits_of_each_pass_follow_from_the_numbers_in_all(
    steps: str, kinds: Kinds, queueing: str, variation: float
) -> None:
    of = graph(steps, queueing)
    assert methods(of) == ["feedback-queue"]
    for load in (0.2, 0.6, 0.9):
        users = round(load / sum(share * sum(services) for share, services in kinds))
        expected = whole(kinds, iterated(users, kinds, variation))
        assert mean(of, users) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("queueing", "draw"), [("mm1", exponential), ("md1", fixed)])
def test_waits_of_each_pass_are_as_simulated(queueing: str, draw: object) -> None:
    of = graph(OPTIONAL, queueing)
    waits = simulated(250, OUTCOMES, draw, 60_000)  # type: ignore[arg-type]
    assert mean(of, 250) == pytest.approx(whole(OUTCOMES, waits), rel=0.05)


def test_those_who_come_back_leave_shorter_waits_than_random_arrivals() -> None:
    """By Pollaczek and Khinchine each would wait 5.7 ms, of which those who come first wait 4.7."""
    random = (0.25 * 1e-3 + 0.375 * 5e-3) / (1 - 0.625)
    ((first,), _, _) = simulated(250, OUTCOMES, exponential, 60_000)
    assert first == pytest.approx(iterated(250, OUTCOMES)[0][0], rel=0.05)
    assert first < 0.87 * random


def test_two_passes_by_hand() -> None:
    """Of fixed services a and b: W1 = A0, W2 = A1 + (W1 + a) l a, of a found work A0 and A1."""
    rate, a, b = 100, 1e-3, 4e-3
    # A0 = l (W1 + a/2) a + l (W2 + b/2) b; A1 = l (W1 + a) b.
    own = rate * a + rate * b * (rate * b + rate * a)
    rest = rate * a * a / 2 + rate * b * b / 2 + rate * b * (a * rate * b + a * rate * a)
    first = rest / (1 - own)
    second = (first + a) * rate * (a + b)
    steps = "call db { run(1 ms/request) }; call db { run(4 ms/request) }"
    assert mean(graph(steps, "md1"), 100) == pytest.approx(first + second + a + b, rel=1e-12)


@pytest.mark.parametrize("users", [100, 250])
def test_percentiles_are_near_simulated_ones(users: int) -> None:
    of = graph(OPTIONAL)
    levels = ["1/2", "19/20"]
    found = [
        float(of.at(users).number(of.streams["page"].latency_quantile(Fraction(one))))
        for one in levels
    ]
    visits = [(1, 1e-3), (0.2, 5e-3), (0.1, 5e-3)]
    expected = quantiles(users, visits, [0.5, 0.95], 60_000)
    assert found == pytest.approx(expected, rel=0.09)
    known = of.streams["page"].quantile_certainty(Fraction(19, 20))
    assert [one.method for one in known.because] == [
        "feedback-queue",
        "feedback-percentiles",
        "repeat-visits",
    ]


def test_a_server_that_is_full_is_waited_for_without_an_end() -> None:
    of = graph(OPTIONAL)
    assert isinf(mean(of, 400))
    assert isinf(float(of.at(450).number(of.streams["page"].latency_quantile(Fraction(1, 2)))))


def test_other_traffic_is_found_in_its_one_pass() -> None:
    more = "stream other in all { traffic N * 1 request/s; at db { run(2 ms/request) } }"
    steps = "call db { run(1 ms/request) }; call db { run(3 ms/request) }"
    of = graph(steps, "md1", more=more)
    kinds: Kinds = [(0.5, [1e-3, 3e-3]), (0.5, [2e-3])]
    waits = iterated(200, kinds, 0)
    assert mean(of, 100) == pytest.approx(4e-3 + sum(waits[0]), rel=1e-6)
    other = of.streams["other"].mean_latency
    assert float(of.at(100).number(other)) == pytest.approx(2e-3 + waits[1][0], rel=1e-6)


@pytest.mark.parametrize(
    "changed",
    [
        {"propagation": "1 ms"},
        {"steps": "call db { run(1 ms/request) }; wait; call db { run(5 ms/request) }"},
        {"steps": "call db { run(1 ms/request) }; call back { call db { run(2 ms/request) } }"},
        {"copies": 2},
        {"queueing": "ps"},
        {"traffic": "traffic N * 1 request/s; arrivals cv 2"},
        {"steps": "call db { run(1 ms/request) }; call db { run(1 ms/request) }"},
        {"steps": "call db { run(1 ms/request) }"},
        {"steps": "together { call db { run(1 ms/request) }; call db { run(2 ms/request) } }"},
    ],
)
def test_what_does_not_come_back_at_once_waits_as_before(changed: dict[str, str]) -> None:
    steps = changed.pop("steps", OPTIONAL)
    if "call back" in steps:
        changed["propagation"] = "1 us"
    assert "feedback-queue" not in methods(graph(steps, **changed))  # type: ignore[arg-type]


def test_parallel_calls_with_a_feedback_queue_have_a_mean() -> None:
    """Of a fork to other servers the mean does not ask how items wait that come back."""
    machines = "machine other { cpu 1 core, queueing mm1 }"
    steps = f"{OPTIONAL}; together {{ call back {{ wait }}; call back {{ wait }} }}"
    of = graph(steps, more=machines)
    assert mean(of, 100) == pytest.approx(mean(graph(OPTIONAL), 100) + 30e-3, rel=1e-9)


# -- after a time ----------------------------------------------------------------------------


def test_what_is_left_of_feedback_by_hand() -> None:
    """Two fixed services of 1 and 4 ms at 60 %, 3 ms apart: R is 17/10 ms, what is left 49 %."""
    more = "component later { delay 3 ms }"
    steps = "call db { run(1 ms/request) }; later; call db { run(4 ms/request) }"
    of = graph(steps, "md1", traffic="traffic 120 request/s", more=more)
    at_once = sum(iterated(120, [(1, [1e-3, 4e-3])], 0)[0])
    random = 2 * 0.6 * 1.7e-3 / 0.4
    left = exp(-3e-3 * 0.4 / 1.7e-3)
    expected = 8e-3 + left * at_once + (1 - left) * random
    assert mean(of, 1) == pytest.approx(expected, rel=1e-9)
    assert methods(of) == ["feedback-after-a-time"]


def test_what_is_left_after_a_random_time_by_hand() -> None:
    """A service of another server between two visits is random: 1/(1 + d/time) is left."""
    steps = "call db { run(1 ms/request) }; call back { run(3 ms/request) }; "
    steps += "call db { run(4 ms/request) }"
    steps = steps.replace("call back", "call far")
    more = "machine plain { cpu 1 core }\ntopology { node far = plain }"
    of = graph(steps, "md1", traffic="traffic 120 request/s", more=more)
    at_once = sum(iterated(120, [(1, [1e-3, 4e-3])], 0)[0])
    left = 1 / (1 + 3e-3 * 0.4 / 1.7e-3)
    expected = 8e-3 + left * at_once + (1 - left) * 2 * 0.6 * 1.7e-3 / 0.4
    assert mean(of, 1) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("delay", [0.5, 4.0])
@pytest.mark.parametrize(("queueing", "is_fixed"), [("mm1", False), ("md1", True)])
@pytest.mark.parametrize("services", [[1.0, 4.0], [1.0] * 7 + [20.0]])
def test_means_after_a_delay_are_within_the_error_that_is_stated(
    services: list[float], queueing: str, is_fixed: bool, delay: float
) -> None:
    """Against `laboratory/questions/delayed_feedback_simulation.py`; at random up to 6 times."""
    more = f"component later {{ delay {delay!r} ms }}"
    calls = "; later; ".join(f"call db {{ run({one!r} ms/request) }}" for one in services)
    rate = 0.6 / sum(services)
    of = graph(calls, queueing, traffic=f"traffic {rate * 1000!r} request/s", more=more)
    waits = run_path(str(LABORATORY / "delayed_feedback_simulation.py"))["waits"]
    waited = waits(rate, tuple(services), delay, 30_000, fixed=is_fixed)
    played = waited + sum(services) + delay * (len(services) - 1)
    error = of.streams["page"].latency_certainty.error
    assert error is not None
    assert mean(of, 1) * 1000 == pytest.approx(played, rel=error)


def test_calls_made_again_count_what_is_between_them() -> None:
    """The network is crossed between two of the same calls, which is no time at once."""
    of = graph("call db * 3 { run(1 ms/request) }", "md1", propagation="1 ms")
    assert methods(of) == ["feedback-after-a-time"]
    at_once = sum(iterated(200, [(1, [1e-3] * 3)], 0)[0])
    left = exp(-2e-3 * 0.4 / 0.5e-3)
    expected = 9e-3 + left * at_once + (1 - left) * 3 * 0.6 * 0.5e-3 / 0.4
    assert mean(of, 200) == pytest.approx(expected, rel=1e-9)


def test_returns_to_several_servers_state_what_was_measured() -> None:
    cores = "machine many { cpu 4 core, queueing mmc }\ntopology { node far = many }"
    steps = "call far {{ run(1 ms/request) }}; call far {{ run({} ms/request) }}"
    near, far = (
        graph(steps.format(longer), more=cores).streams["page"].latency_certainty
        for longer in (2, 20)
    )
    for known in (near, far):
        assert [one.method for one in known.because] == ["returns-as-poisson", "mixed-erlang-c"]
    assert near.error == pytest.approx(1.6 * 1.02 - 1)
    assert far.error == 0.1  # beyond what was measured of it alone: that of random networks


def test_returns_after_a_wait_for_a_pool_count_as_random() -> None:
    """How long that wait is follows from the times of the others: it is not known before."""
    held = "call back { take threads; wait; give threads }"
    of = graph(f"call db {{ run(1 ms/request) }}; {held}; call db {{ run(2 ms/request) }}")
    assert methods(of)[0] == "returns-as-poisson"
    assert mean(of, 1) > 0.033
