"""Calls that are made many times at once: to machines of their own, all or the first answers."""

from __future__ import annotations

from fractions import Fraction
from math import log
from random import Random

import numpy as np
import pytest
from msgspec.structs import replace

from helpers.specs import load, lowered
from network import first_answers
from qps.api import loads
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.network.itinerary import Call, Fork
from qps.compiler.quantities.certainty import Certainty, CertaintyKind

SPEC = """users N in 1..10_000
param shards = 100 in 1..10_000
param some = 90 in 1..10_000
machine plain {{ }}
machine box {{ cpu 1 core, queueing {queueing} }}
network lan {{ propagation 0 s }}
component look {{ cpu 1 ms/request }}
component quick {{ delay 1 ms }}
component slow {{ delay 1 s }}
component fail {{ drop 1 % }}
topology {{
  node root, aside = plain; node gate = box; node leaf = {machine} * {machines}
  link net = lan between all
}}
stream asks for each user {{ traffic 1 request/s; at {at} {{ {steps} }} }}
require {{ asks.latency <= 1 hour }}
"""
FAST_OR_SLOW = "call leaf { quick; call aside * 1 % { slow } }"


_BY_CHANCE = first_answers.FanOut(
    calls=8,
    machines=20,
    answers=8,
    load=0.3,
    others=0.0,
    varies=0.0,
    share=0.3,
    has_front=True,
)


def graph(
    steps: str,
    *,
    at: str = "root",
    machine: str = "box",
    machines: str = "100",
    queueing: str = "mm1",
) -> LoadGraph:
    return lowered(
        SPEC.format(steps=steps, at=at, machine=machine, machines=machines, queueing=queueing)
    )


def quantile(of: LoadGraph, level: str, users: int = 500) -> tuple[float, Certainty]:
    asks = of.streams["asks"]
    found = of.at(users).number(asks.latency_quantile(Fraction(level)))
    return float(found), asks.quantile_certainty(Fraction(level))


def mean(of: LoadGraph, users: int = 500) -> tuple[float, Certainty]:
    asks = of.streams["asks"]
    return float(of.at(users).number(asks.mean_latency)), asks.latency_certainty


def harmonic(count: int) -> float:
    return sum(1 / k for k in range(1, count + 1))


def test_a_fan_out_is_one_node_of_an_itinerary_however_many_calls_it_makes() -> None:
    of = graph("together 10_000 { call leaf { look } }", machines="10_000")
    (fork,) = (one for one in of.network.classes["asks"].itinerary.nodes if isinstance(one, Fork))
    assert len(fork.branches) == 1
    (call,) = fork.branches[0].nodes
    assert isinstance(call, Call)
    assert call.node == "leaf"


@pytest.mark.parametrize(("machines", "expected"), [("100", 0.5), ("1000", 0.05), ("50", 1.0)])
def test_each_call_is_a_load_of_its_own(machines: str, expected: float) -> None:
    of = graph("together 100 { call leaf { look } }", machines=machines)
    assert float(load(of, "leaf.cpu", 500)) == pytest.approx(expected)


def test_answers_that_nobody_waits_for_are_a_load_as_well() -> None:
    of = graph("together shards, first some answers { call leaf { look } }")
    assert float(load(of, "leaf.cpu", 500)) == pytest.approx(0.5)


def test_all_of_a_hundred_are_fast_in_366_of_a_thousand() -> None:
    of = graph(f"together 100 {{ {FAST_OR_SLOW} }}", machine="plain")
    found = [quantile(of, level) for level in ("36/100", "37/100")]
    assert [time for time, _ in found] == pytest.approx([1e-3, 1.001], rel=1e-9)
    assert {known.kind for _, known in found} == {CertaintyKind.EXACT}
    time, known = mean(of)
    assert time == pytest.approx(1e-3 + 1 - 0.99**100, rel=1e-8)
    assert known.kind is CertaintyKind.EXACT


def test_the_first_answers_come_before_the_slow_ones() -> None:
    """Of a hundred, 90 are fast but in one of ten million cases."""
    of = graph(f"together 100, first 90 answers {{ {FAST_OR_SLOW} }}", machine="plain")
    assert quantile(of, "999/1000")[0] == pytest.approx(1e-3, rel=1e-9)
    of = graph(f"together 100, first 99 answers {{ {FAST_OR_SLOW} }}", machine="plain")
    one_at_most = 0.99**100 + 0.99**99  # 73.6 %
    for level, time in (("73/100", 1e-3), ("74/100", 1.001)):
        assert quantile(of, level)[0] == pytest.approx(time, rel=1e-9)
    assert 0.73 < one_at_most < 0.74


def test_percentiles_of_queues_are_those_of_independent_ones_which_is_an_upper_bound() -> None:
    of = graph("together 100 { call leaf { look } }")
    for level in ("1/2", "99/100"):
        found, known = quantile(of, level)
        each = float(Fraction(level)) ** 0.01
        assert found == pytest.approx(-2e-3 * log(1 - each), rel=1e-6)
        assert known.kind is CertaintyKind.UPPER_BOUND


def _replayed(queues: int, busy: float, requests: int) -> np.ndarray:
    """Return how long requests take of which each goes to all queues: by Lindley's recursion."""
    rng = np.random.default_rng(11)
    waits, found = np.zeros(queues), np.empty(requests)
    for at, gap in enumerate(rng.exponential(1 / busy, requests)):
        stays = waits + rng.exponential(1.0, queues)
        found[at] = stays.max()
        waits = np.maximum(stays - gap, 0.0)
    return found[requests // 20 :]


def test_equal_queues_that_each_request_visits_are_those_of_nelson_and_tantawi() -> None:
    of = graph("together 100 { call leaf { look } }")
    found, known = mean(of)
    assert known.kind is CertaintyKind.APPROXIMATION
    assert known.error == pytest.approx(0.1)
    times = _replayed(100, 0.5, 40_000) * 1e-3
    assert found == pytest.approx(times.mean(), rel=0.06)
    assert quantile(of, "99/100")[0] == pytest.approx(np.quantile(times, 0.99), rel=0.15)
    assert quantile(of, "1/2")[0] >= np.median(times)


def test_where_some_of_many_machines_are_called_the_mean_is_a_bound() -> None:
    of = graph("together 100 { call leaf { look } }", machines="200")
    found, known = mean(of)
    assert found == pytest.approx(harmonic(100) * 1e-3 / 0.75, rel=1e-6)
    assert known.kind is CertaintyKind.UPPER_BOUND


def test_all_calls_to_one_machine_are_served_one_after_the_other() -> None:
    """A batch of ten: M/G/1 with services of ten, of which the last one counts."""
    of = graph("together 10 { call leaf { look } }", machines="1")
    found, _ = mean(of, 50)
    whole, load = 10e-3, 0.5
    wait = load * whole * (1 + 1 / 10) / 2 / (1 - load)
    assert found == pytest.approx(wait + whole, rel=1e-6)


def test_what_comes_before_a_fan_out_adds_a_time_of_its_own() -> None:
    of = graph("look; together 100 { call leaf { look } }", at="gate")
    found, known = quantile(of, "99/100")
    alone = quantile(graph("together 100 { call leaf { look } }"), "99/100")[0]
    gate = -2e-3 * log(0.01)
    assert max(alone, gate) < found < alone + gate
    assert known.kind is CertaintyKind.APPROXIMATION
    rng = np.random.default_rng(2)
    draws = rng.exponential(2e-3, (20_000, 100)).max(axis=1) + rng.exponential(2e-3, 20_000)
    assert found == pytest.approx(np.quantile(draws, 0.99), rel=0.03)


def test_a_fan_out_within_another_one_is_as_many_calls_as_both_make() -> None:
    inner = f"together 10 {{ {FAST_OR_SLOW} }}"
    of = graph(f"together 10 {{ call aside {{ {inner} }} }}", machine="plain")
    assert quantile(of, "36/100")[0] == pytest.approx(1e-3, rel=1e-9)
    assert quantile(of, "37/100")[0] == pytest.approx(1.001, rel=1e-9)


def test_a_fan_out_by_chance_has_the_percentiles_of_those_who_make_it() -> None:
    of = graph("call aside * 20 % { together 10 { call leaf { look } } }")
    found, known = quantile(of, "99/100")
    assert known.kind in (CertaintyKind.UPPER_BOUND, CertaintyKind.APPROXIMATION)
    late = 1 - (1 - 0.05) ** 0.1  # of those who make the call one in twenty is later
    assert found == pytest.approx(-1e-3 / (1 - 0.01) * log(late), rel=1e-6)


def test_a_parameter_says_how_many_calls_are_made() -> None:
    of = graph("together shards { call leaf { look } }", machines="shards")
    assert float(load(of, "leaf.cpu", 500)) == pytest.approx(0.5)
    assert mean(of)[1].kind is CertaintyKind.APPROXIMATION


def test_users_who_wait_are_refused() -> None:
    text = SPEC.format(
        steps="together 3 { call leaf { look } }",
        at="root",
        machine="box",
        machines="3",
        queueing="mm1",
    ).replace("traffic 1 request/s", "traffic 1 request, think 1 s")
    with pytest.raises(QpsError, match="cannot wait for a fan-out of calls"):
        lowered(text)


def test_what_can_be_lost_is_refused() -> None:
    with pytest.raises(QpsError, match="fraction of items that receive all responses is unknown"):
        graph("together 3 { call leaf { look; fail } }")


def test_a_step_may_be_called_together_and_a_parameter_first() -> None:
    text = SPEC.format(
        steps="together; together first, first first answers { call leaf { look } }",
        at="gate",
        machine="box",
        machines="3",
        queueing="mm1",
    )
    text = text.replace("param some = 90", "param first = 3").replace(
        "component quick", "component together { cpu 1 ms/request }\ncomponent quick"
    )
    assert float(load(lowered(text), "leaf.cpu", 10)) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("calls", "answers"), [("2, first 1 answers", 1), ("5, first 3 answers", 3), ("4", 4)]
)
@pytest.mark.parametrize("around", ["one of {{ 30 %: slow; else: {{ {} }} }}", "20 %: {{ {} }}"])
def test_equal_calls_of_exponential_times_by_chance_have_a_law(
    calls: str, answers: int, around: str
) -> None:
    """Percentiles of a block by chance were those of all, allotted: up to 1.7 times as high."""
    found = graph(around.format(f"quick; together {calls} {{ call leaf {{ look }} }}"))
    draw, many = np.random.default_rng(7), 400_000
    count = int(calls[0])
    each = np.sort(draw.exponential(0.001, (many, count)), axis=1)[:, answers - 1] + 0.001
    is_slow, is_done = (1.0, 0.7) if "else" in around else (0.0, 0.2)
    times = np.where(draw.random(many) < is_done, each, is_slow)
    for level in ("0.3", "0.6", "0.69", "0.95", "0.99"):
        result, known = quantile(found, level, users=1)
        assert result == pytest.approx(float(np.quantile(times, float(level))), rel=0.02, abs=1e-9)
        assert known.kind is not CertaintyKind.EXACT
    method = "fan-out-correlated" if "first" in calls else "fan-out-associated"
    assert method in known.methods
    assert mean(found, users=1)[0] == pytest.approx(times.mean(), rel=0.01)


def test_calls_of_several_visits_by_chance_have_a_law() -> None:
    """The waits of a call that comes back to a queue are those of one length of it."""
    for body, visits, fixed in (("look; look", 1, 0), ("look; quick; look", 2, 0.001)):
        found = graph(f"20 %: {{ together 2 {{ call leaf {{ {body} }} }} }}")
        draw, many = np.random.default_rng(8), 400_000
        longest = fixed + np.max(draw.gamma(visits, 0.002 / visits, (many, 2)), axis=1)
        times = np.where(draw.random(many) < 0.2, longest, 0.0)
        for level in ("0.85", "0.95", "0.99"):
            result, known = quantile(found, level, users=1)
            assert result == pytest.approx(float(np.quantile(times, float(level))), rel=0.03)
            assert "calls-allotted" not in known.methods


@pytest.mark.parametrize(
    ("calls", "is_stated"),
    [("8, first 7 answers", True), ("90, first 7 answers", True), ("(n), first 2 answers", False)],
)
def test_of_the_first_of_more_than_were_measured_no_error_is_stated(
    calls: str, *, is_stated: bool
) -> None:
    found = loads(
        "users N in 1..900\nparam n = 150 in 8..200\nmachine box { cpu 1 core, queueing mm1 }\n"
        "machine plain { }\nnetwork lan { propagation 0 s }\ncomponent look { cpu 1 ms/request }\n"
        "topology { node root = plain; node leaf = box * 200; link net = lan between all }\n"
        "stream s in all { traffic N * 1 request/s; "
        f"at root {{ together {calls} {{ call leaf {{ look }} }} }} }}\n"
        "require { s.p99 <= 20 ms }\n"
    )
    known = found.known()["s.p99"]
    assert known.error == (0.25 if is_stated else None)
    assert "fan-out-correlated" in known.methods


@pytest.mark.parametrize(
    ("calls", "machines", "level", "expected"),
    [(10, 20, "0.95", 0.25), (100, 200, "0.95", 1.0), (150, 200, "0.95", None)],
)
def test_all_calls_by_chance_state_the_error_that_was_measured_of_as_many(
    calls: int, machines: int, level: str, expected: float | None
) -> None:
    of = replace(_BY_CHANCE, calls=calls, answers=calls, machines=machines)
    asks = lowered(first_answers.spec_of(of)).streams["asks"]
    known = asks.quantile_certainty(Fraction(level))
    assert "fan-out-longest" in known.methods
    assert known.error == expected


@pytest.mark.parametrize(("calls", "is_stated"), [(4, True), (30, False)])
def test_the_mean_of_more_calls_than_were_measured_states_no_error(
    calls: int,
    *,
    is_stated: bool,
) -> None:
    """One of 30 calls was 14 % too long, one of 100 116 %, and 10 % were stated."""
    of = replace(_BY_CHANCE, calls=calls, answers=calls, machines=2 * calls, varies=0.5)
    known = lowered(first_answers.spec_of(of)).streams["asks"].latency_certainty
    assert (known.error is not None) is is_stated


@pytest.mark.parametrize("seed", [501, 502, 514, 517, 523])
def test_the_first_answers_are_those_of_a_replay(seed: int) -> None:
    """As if calls were independent, p99 of the first 90 of 100 was 0.57 to 0.67 of the true one."""
    of = first_answers.fan_out(Random(seed))
    times, replayed = lowered(first_answers.spec_of(of)), first_answers.replayed(of, seed, 12_000)
    asks, there = times.streams["asks"], times.at(1)
    assert there.number(asks.mean_latency) == pytest.approx(replayed.mean(), rel=0.12)
    for level in first_answers.LEVELS:
        expected = replayed[int(level * len(replayed))]
        assert there.number(asks.latency_quantile(level)) == pytest.approx(expected, rel=0.2)
        assert "fan-out-correlated" in asks.quantile_certainty(level).methods


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_equal_machines_that_each_get_the_same_fixed_work_answer_at_once(share: float) -> None:
    """All of them are as busy at any time: the time of ten calls is that of one, M/D/1."""
    of = first_answers.FanOut(
        calls=10,
        machines=10,
        answers=10,
        load=0.5,
        others=0.0,
        varies=0.0,
        share=share,
        has_front=share < 1,
    )
    spec = first_answers.spec_of(of).replace(", first 10 answers", "")
    times, replayed = lowered(spec), first_answers.replayed(of, 3, 30_000)
    asks, there = times.streams["asks"], times.at(1)
    for level in first_answers.LEVELS:
        expected = replayed[int(level * len(replayed))]
        assert there.number(asks.latency_quantile(level)) == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(("queueing", "answers"), [("md1", "8"), ("mg1 cv 2", "8"), ("md1", "5")])
def test_calls_by_chance_have_the_law_of_a_wait_for_any_service(
    queueing: str, answers: str
) -> None:
    """Percentiles of calls to `md1` queues by chance were added: p50 was 3.7 times as long."""
    varies = {"md1": 0.0, "mg1 cv 2": 2.0}[queueing]
    of = first_answers.FanOut(
        calls=8,
        machines=20,
        answers=int(answers),
        load=0.3,
        others=0.0,
        varies=varies,
        share=0.3,
        has_front=True,
    )
    spec = first_answers.spec_of(of).replace(", first 8 answers", "")
    asks, there = (found := lowered(spec)).streams["asks"], found.at(1)
    times = first_answers.replayed(of, 5, 30_000)
    for level in first_answers.LEVELS:
        expected = times[int(level * len(times))]
        known = asks.quantile_certainty(level)
        most = 0.25 if known.error is None else min(known.error, 0.25)
        assert there.number(asks.latency_quantile(level)) == pytest.approx(expected, rel=most)
        assert "calls-allotted" not in known.methods
        assert known.kind is CertaintyKind.APPROXIMATION
        assert known.error is not None or queueing != "md1"
