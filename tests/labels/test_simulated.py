"""Specs by chance, played: no label is wrong. `python tests/simulated` has two thousand."""

from __future__ import annotations

from fractions import Fraction as F
from random import Random

import pytest

from helpers.nightly import nightly
from helpers.reasons import reason
from qps.compiler.lower.disciplines.single_server import OneServer
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, upper_bound
from qps.engine.expressions.formulas import Formula
from simulated.generated import KINDS, REQUESTED, is_requested, spec_of, spec_of_kind
from simulated.judge import graph_of, judge, judge_text, labels_of
from simulated.records import Number
from simulated.report import line_of_wrong

_SEEDS = (
    *(2, 4, 5, 7, 10, 13, 19, 23, 25, 28, 30, 31, 33, 34, 42, 43, 44, 47, 52, 55, 56, 58, 62, 72),
    *(73, 74, 76, 82, 85, 93, 98, 100, 104, 106, 108, 113, 120, 121, 123, 127, 131, 133, 134, 136),
    *(140, 144, 145, 147, 148, 150),
)
"""Such that nearly each kind is there, and none takes long to play; every second one by day."""
_PLAIN = """
users N in 1..2
machine box { cpu 1 core, queueing mm1 }
component work { cpu 0.6 s/request }
topology { node a = box }
stream job in all { traffic 1 request/s, 1 bit/request; at a { work } }
"""


def _is_rare(one: Number) -> bool:
    play, error = one.last, one.error
    if error is None or play is None:
        return False
    return abs(one.value - play.mean) < 3 * error * play.mean


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*_SEEDS[::2], *(pytest.param(seed, marks=nightly) for seed in _SEEDS[1::2])]
)
def test_no_label_is_wrong(seed: int) -> None:
    """An error that is stated holds of 19 in 20: a single number may be off by some times that."""
    found = judge(seed, seconds=0, runs=7)
    tests = len(_SEEDS) * len(found.numbers)
    wrong = [line_of_wrong(seed, one, tests) for one in found.wrong(tests) if not _is_rare(one)]
    assert not wrong, "; ".join(wrong)
    assert found.compared


@pytest.mark.parametrize(
    ("known", "factor"),
    [(EXACT, 0.6), (upper_bound(reason("so")), 0.6), (approximation(error=0.05), 1.5)],
)
def test_a_planted_fault_is_found(
    known: Certainty, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = OneServer.wait
    assert not judge_text(_PLAIN, 1, seconds=0, runs=12).wrong(10)

    def wrong(self: OneServer, queue: Queue, own: QueueVisit) -> Formula:
        return right(self, queue, own) * factor

    monkeypatch.setattr(OneServer, "wait", wrong)
    monkeypatch.setattr(OneServer, "mean_known", lambda self, queue: known)
    text = judge_text(_PLAIN, 1, seconds=0, runs=12).wrong(10)
    assert "latency" in {one.measure for one in text}


def test_what_has_not_settled_is_not_judged() -> None:
    slow = _PLAIN.replace("0.6 s", "0.99 s")
    found = judge_text(slow, 1, seconds=1e-9, runs=2)
    assert found.refused == "too slow to settle while it is played"
    assert judge_text(_PLAIN, 1, seconds=0, runs=12).refused is None


_FULL = """
users N in 1..2
machine box { cpu 1 core, queueing md1 }
component work { cpu 1 s/request }
topology { node a = box }
stream job in all { traffic 6 request, 1 bit/request, think 1 s; at a { work } }
"""


def test_users_who_fill_what_they_wait_for_are_judged() -> None:
    found = judge_text(_FULL, 1, seconds=0, runs=12)
    assert found.refused is None
    assert found.compared > 0
    assert not found.wrong(10)


_FULL_ROOM = """
users N in 1..2
machine box { cpu 1 core, queueing mm1 room 20 }
component work { cpu 1 s/request }
topology { node a = box }
stream job in all { traffic 1.5 request/s, 1 bit/request; arrivals cv 2; at a { work } }
"""


def test_a_room_that_is_full_is_judged() -> None:
    """Its load is told within an error that would let it be full; nobody waits without end."""
    found = judge_text(_FULL_ROOM, 1, seconds=0, runs=5)
    assert found.refused is None
    assert {one.measure for one in found.numbers} >= {"latency", "loss", "load"}


def test_all_kinds_are_generated_alike_each_time() -> None:
    for kind in {*KINDS, REQUESTED}:
        assert spec_of_kind(kind, Random(7)) == spec_of_kind(kind, Random(7))


_PAIRS = (
    ("think ", "request/s, 1000"),
    ("take threads", "think "),
    ("take threads", "together"),
    ("sort of users", "think "),
    ("kinds size", "* 30 %"),
    ("queueing loss", "call "),
    ("room ", "together"),
    ("active ", "queueing priority"),
    ("speeds ", "think "),
    ("arrivals cv", "room "),
    ("preemptive", "think "),
    ("over_net", "kinds size"),
    ("shed }", "call "),
    ("* 5", "take threads"),
    ("queueing none", "think "),
)


def test_combinations_of_all_that_the_language_has_are_generated() -> None:
    specs = [spec_of_kind("combined", Random(f"spec/{seed}")) for seed in range(600)]
    missing = [
        pair for pair in _PAIRS if sum(all(word in spec for word in pair) for spec in specs) < 3
    ]
    assert not missing


_OF_REQUESTS = (
    "one of {",
    "1 %: c",
    "%: { ",
    "together 2",
    "answers {",
    "queueing quota per",
    ".wait.p95",
    ".cpu.queue",
    ".latency > ",
    ".wait > 0 s",
    "* 2.5",
    "think ",
    "event hit",
    " hit: {",
    "not hit: c",
)


def test_each_third_spec_is_of_what_requests_do_by_chance() -> None:
    specs = [spec_of(seed) for seed in range(1001, 1901, 3)]
    assert all(spec.startswith(f'"""{REQUESTED}"""') for spec in specs)
    assert not any(is_requested(seed) for seed in (*_SEEDS, 1000, 1002))
    missing = [word for word in _OF_REQUESTS if sum(word in spec for spec in specs) < 3]
    assert not missing


_WAITS = """
users N in 1..2
machine box { cpu 1 core, queueing mm1 }
component work { cpu 0.6 s/request }
component rest { delay 1 s }
topology { node a = box }
stream job in all { traffic 1 request/s, 1 bit/request; at a { work; 30 %: rest } }
measure waits = job.wait
measure longest = a.cpu.wait.p95
measure many = a.cpu.queue
measure late = share(job.latency > 4 s)
"""


def test_waits_and_shares_by_a_time_are_judged() -> None:
    found = judge_text(_WAITS, 1, seconds=0, runs=12)
    quantities = {one.quantity for one in found.numbers}
    assert quantities >= {"wait", "wait quantile", "queue", "latency share"}
    assert not found.wrong(10)
    left = {0.5, 0.05}
    beyond = {
        one.last.mean: one.value for one in found.numbers if one.last and one.last.mean in left
    }
    assert beyond == pytest.approx({share: share for share in left}, rel=0.1), "beyond percentiles"


@pytest.mark.parametrize(
    ("cores", "load", "cv", "played"),
    [(2, 0.5, 3, 1.579), (4, 0.5, 3, 0.3812), (4, 0.5, 1.5, 0.1341), (4, 0.8, 2, 1.777)],
)
def test_several_servers_of_uneven_service_wait_as_was_played(
    cores: int, load: float, cv: float, played: float
) -> None:
    """Two million gamma-distributed services of 1 s, by a program of its own: known within 2 %."""
    spec = _PLAIN.replace("1 core, queueing mm1", f"{cores} core, queueing mgc cv {cv}")
    spec = spec.replace("cpu 0.6 s", "cpu 1 s").replace("1 request/s", f"{load * cores} request/s")
    job = graph_of(spec).streams["job"]
    assert job.latency_certainty.error == 0.05
    value = graph_of(spec).at(1).number(job.mean_latency) - 1
    assert value == pytest.approx(played, rel=0.05 + 0.02)


@pytest.mark.parametrize("queueing", ["ps", "priority", "priority preemptive", "ps speeds [1, 1]"])
def test_quantiles_of_several_queues_are_of_their_sum(queueing: str) -> None:
    """As many as four alike: each median added up with all the lateness of one is twice that."""
    rows = [f"node n{k} = box" for k in range(4)] + ["link l = wire between n0, n1, n2, n3"]
    visits = "; ".join(f"at n{k} {{ work }}" for k in range(4))
    spec = _PLAIN.replace("mm1", queueing).replace("node a = box", "; ".join(rows))
    spec = spec.replace("at a { work }", visits).replace("mm1", queueing)
    graph = graph_of(spec + "network wire { propagation 1 us }\n")
    job, at = graph.streams["job"], graph.at(1)
    assert 0.8 < at.number(job.latency_quantile(F(1, 2))) / at.number(job.mean_latency) < 1


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("rooms", "finite-room-arrivals"),
        ("quotas", "cpu-quota"),
        ("saturated", "blocking-time"),
        ("held", "delay-while-held"),
        ("meeting", "copies-that-meet"),
    ],
)
def test_uncommon_networks_have_what_they_are_drawn_for(kind: str, method: str) -> None:
    found = [labels_of(seed, None, kind) for seed in range(3, 9)]
    assert [one.fault for one in found] == [None] * len(found)
    numbers = [number for one in found for number in one.numbers]
    assert any(method in number.why for number in numbers)
    assert spec_of(3, kind) == spec_of(3, kind) != spec_of(4, kind)


def test_networks_of_rare_calls_are_labeled_so() -> None:
    found = [labels_of(seed, None, "rare") for seed in range(4)]
    assert all(any(number.calls_rarely for number in one.numbers) for one in found)
