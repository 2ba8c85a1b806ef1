"""What would help: small specs where the right advice is known, each advice solved anew."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qps
from helpers.nightly import examples
from helpers.specs import PRELUDE, checked, load, lowered
from qps.compiler import ir
from qps.compiler.pipeline import Spec
from qps.solver.answers.answer_parts import Advice, ChangeKind
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.advice import advise

law = settings(max_examples=examples(12), deadline=None)


def _solved(spec: Spec, *changes: str) -> Solution:
    return solve_model(spec.model, spec.configuration(None, changes))


def _advised(text: str, *changes: str) -> tuple[Solution, tuple[Advice, ...]]:
    spec = checked(text)
    configuration = spec.configuration(None, changes)
    solution = solve_model(spec.model, configuration)
    return solution, advise(spec.model, configuration, solution)


def _by(advice: tuple[Advice, ...], kind: ChangeKind) -> dict[str, int]:
    return {a.change: a.capacity for a in advice if a.kind is kind}


# -- more capacity --------------------------------------------------------------------

# 2 ms of work at 5 N packet/s: 100 users
SERVER = PRELUDE.replace("1..100", "1..10_000") + (
    "costs measured on rated\ncomponent x { cpu 10 ms/packet }\n"
    "topology { node host = rated * 2\n node user = box * N }\n"
    "stream flow for each user { traffic 4 packet/s; at host { x } }\n"
)


def test_another_machine_more_of_them_and_faster_ones() -> None:
    solution, advice = _advised(SERVER)
    # 4 packet/s at 10 ms: 25 users a machine
    assert (solution.capacity, solution.limited_by) == (50, "host.cpu.utilization")
    assert _by(advice, ChangeKind.CAPACITY) == {
        "host = rated * 4": 100,
        "host = twice": 100,
        "twice the host.cpu.speed": 100,
    }
    answer = {a.change: a.set for a in advice}
    assert answer == {
        "host = rated * 4": True,
        "host = twice": True,
        "twice the host.cpu.speed": False,
    }
    for item in advice:
        assert (item.to, item.headroom, item.range_limits) == (None, None, False)


def test_the_best_comes_first_and_three_of_a_kind_at_most() -> None:
    text = SERVER + "".join(f"machine m{i} {{ cpu {i} score }}\n" for i in (15, 30, 50, 90))
    _, advice = _advised(text)
    assert [(a.change, a.capacity) for a in advice] == [
        ("host = m90", 450),
        ("host = m50", 250),
        ("host = m30", 150),
    ]


def test_slower_machines_are_no_advice() -> None:
    _, advice = _advised(SERVER + "machine slow { cpu 9 score }\nmachine same { cpu 10 score }\n")
    assert not {"host = slow", "host = same"} & {a.change for a in advice}


def test_machines_that_do_not_fit_are_no_advice() -> None:
    # faster, but it has no rating in common with the costs
    _, advice = _advised(SERVER + "unit other of rating\nmachine odd { cpu 99 other }\n")
    assert "host = odd" not in {a.change for a in advice}


def test_another_network_and_more_of_it() -> None:
    text = PRELUDE.replace("1..100", "1..10_000") + (
        "network big { rate 3 Mbit/s }\nnetwork small { rate 500 kbit/s }\n"
        "topology { node web = twice * 4\n node user = box * N\n link net = wire between web, user }\n"
        "stream flow for each user { traffic 1250 byte/s; at user { }\n at web { } }\n"
    )
    solution, advice = _advised(text)
    # 10 kbit/s each
    assert (solution.capacity, solution.limited_by) == (100, "net.utilization")
    # at a port of each machine, the four servers' are the fullest: 4 * 100
    assert _by(advice, ChangeKind.CAPACITY) == {
        "net = ports": 400,
        "net = big": 300,
        "net = wire * 2": 200,
    }


def test_places_that_do_not_matter_are_left_alone() -> None:
    text = (
        SERVER.replace("at host { x } }", "at host { x }\n at other { x } }")
        .replace("node user", "node other = rated * 20\n node user")
        .replace("= box * N }", "= box * N\n link net = wire * 99 between host, other }")
        .replace("4 packet/s;", "4 packet/s, 1 byte/packet;")
    )
    solution, advice = _advised(text)
    assert solution.limited_by == "host.cpu.utilization"
    assert advice
    assert not [a.change for a in advice if "other" in a.change or "net" in a.change]


def test_a_parameter_that_is_capacity_is_doubled() -> None:
    text = SERVER.replace("rated * 2", "made * 2") + (
        "param power = 10 score\nmachine made { cpu power }\n"
    )
    _, advice = _advised(text)
    assert _by(advice, ChangeKind.CAPACITY)["twice the power"] == 100
    assert not _by(advice, ChangeKind.DEMAND)


CORE = PRELUDE.replace("1..100", "1..10_000") + (
    "machine quad { cpu 4 core }\ntopology { node host = %s\n node user = box * N }\n"
    "stream flow for each user { traffic 4 packet/s; at host { work } }\n"
)


def test_more_cores_help() -> None:
    solution, advice = _advised(CORE % "quad")
    assert solution.capacity == 100
    assert _by(advice, ChangeKind.CAPACITY) == {
        "host = quad * 2": 200,
        "twice the host.cpu.cores": 200,
    }


THREADS = """
users N in 1..10_000
machine big { cpu 16 core }
component sync   { cpu 12 us/packet single_thread }
component script { cpu 8 us/packet single_thread }
topology { node server = big }
stream state for each server { traffic N * 50 packet/s, 1 byte/packet; at server { sync; script } }
"""


def test_one_thread_is_helped_by_faster_cores() -> None:
    # 12 us * 50 packet/s: 1,666 users on one core, twice as many on one twice as fast
    assert [(a.change, a.set, a.capacity) for a in _advised(THREADS)[1]] == [
        ("cores twice as fast for server.cpu", False, 3333)
    ]


def test_costs_of_two_machines_suggest_no_faster_one() -> None:
    text = THREADS.replace(
        "node server = big",
        "node server = big\n node other = big\n link l = wire between server, other",
    )
    text = text.replace("script }", "script }\n at other { sync }").replace(
        "topology", "network wire { duplex; rate 100 Gbit/s }\ntopology"
    )
    assert not [a for a in _advised(text)[1] if "twice as fast" in a.change]


def test_a_machine_of_one_core_is_helped_too() -> None:
    solution, advice = _advised(CORE % "box")
    assert solution.capacity == 25
    answer = _by(advice, ChangeKind.CAPACITY)
    assert (answer["host = box * 2"], answer["host = quad"]) == (50, 100)


# -- less demand ----------------------------------------------------------------------

DEMANDING = PRELUDE.replace("1..100", "1..10_000") + (
    "option checks = on\noption mood = good or bad or ugly\nparam pace = 2 packet/s\n"
    "costs measured on rated\ncomponent x { cpu 1 ms/packet }\ncomponent check { cpu 4 ms/packet }\n"
    "component care { cpu 3 ms/packet }\n"
    "topology { node host = rated }\n"
    "stream flow for each host { traffic N * pace; at host { x; check if checks; care if mood == good; care if mood == bad; x if mood == ugly } }\n"
)


def test_other_choices_and_smaller_parameters() -> None:
    solution, advice = _advised(DEMANDING)
    # 2 packet/s at 8 ms
    assert solution.capacity == 62
    # 4 ms without checks, 6 ms when ugly; 7.2 ms for a tenth less
    assert _by(advice, ChangeKind.DEMAND) == {
        "checks = off": 125,
        "mood = ugly": 83,
        "10 % less pace": 69,
    }
    assert not _by(advice, ChangeKind.SHIFT)


def test_what_lowers_no_utilization_is_no_less_demand() -> None:
    text = (
        DEMANDING + "param workers = 6 in 1..8\nmeasure busy = N / workers\nrequire { busy <= 1 }\n"
    )
    solution, advice = _advised(text)
    assert solution.capacity == 6
    assert _by(advice, ChangeKind.OTHER) == {"workers = 7": 7}
    assert not _by(advice, ChangeKind.DEMAND)


def test_a_parameter_that_relieves_is_raised() -> None:
    text = DEMANDING.replace("N * pace", "N * 2 packet/s / thin").replace(
        "param pace = 2 packet/s", "param thin = 1.0 in 1..2"
    )
    _, advice = _advised(text)
    # N * 2 / 1.1 at 8 ms: 68.75
    assert _by(advice, ChangeKind.DEMAND)["10 % more thin"] == 68


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("2", "{0} = 1"),
        ("3", "{0} = 2"),  # 2.7 of a thing there are none
        ("24", "{0} = 22"),
        ("25", "{0} = 22"),  # the tenth is rounded: 2.5 are three
        ("40", "10 % less {0}"),
        ("1", "10 % less {0}"),  # as often a factor
        ("3.0", "10 % less {0}"),
        ("300 %", "10 % less {0}"),
    ],
)
def test_of_things_whole_ones_are_offered(written: str, offered: str) -> None:
    text = DEMANDING.replace("N * pace", f"N * some / ({written}) * 2 packet/s").replace(
        "param pace = 2 packet/s", f"param some = {written}"
    )
    _, advice = _advised(text)
    assert [one.change for one in advice if one.name == "some"] == [offered.format("some")]


@pytest.mark.parametrize(
    ("bounds", "is_there"), [("1.8..9", True), ("1.81..9", False), ("2..9", False), ("0..2", True)]
)
def test_parameters_stay_within_their_range(bounds: str, is_there: bool) -> None:
    text = DEMANDING.replace("pace = 2 packet/s", f"pace = 2 packet/s in {bounds} packet/s")
    _, advice = _advised(text)
    assert ("10 % less pace" in _by(advice, ChangeKind.DEMAND)) == is_there


def test_a_wider_limit_is_a_goal_that_is_relaxed() -> None:
    text = DEMANDING + (
        "param patience = 40 ms\nmeasure waiting = N * 1 ms\nrequire { waiting <= patience }\n"
        "quality worst\n"
    )
    solution, advice = _advised(text)
    assert (solution.capacity, solution.limited_by) == (40, "waiting")
    assert [(one.kind, one.name, one.capacity) for one in advice] == [
        (ChangeKind.GOAL, "patience", 60)
    ]


def test_parameters_of_modules_are_facts() -> None:
    text = "use std.claypool1997.playout as policy\n" + PRELUDE + (
        "topology { node host = box }\nmachine odd { cpu 1 core, jitter 1 us^2 * load }\n"
        "stream flow for each host { traffic N * 1 packet/s; at host { work }; playout policy.buffer(flow.jitter) + N * 1 ms }\n"
        "require { flow.latency <= 90 ms }\n"
    )  # fmt: skip
    solution, advice = _advised(text)
    assert solution.limited_by in ("flow.latency", "quality")
    assert any(s.parameter.startswith("policy.") for s in solution.sensitivity)
    assert not [a.change for a in advice if "policy" in a.change]


def test_servers_are_whole() -> None:
    text = SERVER.replace("rated * 2", "rated * servers") + "param servers = 3\n"
    solution, advice = _advised(text)
    assert solution.capacity == 75
    assert "10 % more servers" not in {a.change for a in advice}
    assert _by(advice, ChangeKind.CAPACITY)["servers = 6"] == 150


# -- demand moved elsewhere -----------------------------------------------------------

SHIFTING = PRELUDE.replace("1..100", "1..10_000") + (
    "option pack = off\ncomponent zip { cpu 20 ms/packet; emit 25 % }\n"
    "topology { node user = box * N\n node web = twice * 4\n link net = wire between user, web }\n"
    "stream flow for each user { traffic 5 packet/s, 1250 byte/packet; at user { work; zip if pack }\n at web { } }\n"
)


def test_compression_moves_load_from_the_link_to_the_processor() -> None:
    solution, advice = _advised(SHIFTING)
    # 50 kbit/s each
    assert (solution.capacity, solution.limited_by) == (20, "net.utilization")
    (shift,) = [a for a in advice if a.kind is ChangeKind.SHIFT]
    assert (shift.change, shift.set, shift.capacity) == ("pack = on", True, 80)
    # 5 packet/s at 10 + 20 ms
    assert shift.to == "user.cpu"
    assert shift.headroom == pytest.approx(0.85)
    assert load(lowered(SHIFTING, "pack = on"), "user.cpu", 20) * 100 == 15


def test_back_again_is_a_shift_as_well() -> None:
    slow = SHIFTING.replace("20 ms/packet", "190 ms/packet") + "require { user.cpu.load <= 50 % }\n"
    solution, advice = _advised(slow, "pack = on")
    # the processor is full by now: not even one user
    assert (solution.capacity, solution.at) == (None, 1)
    (shift,) = [a for a in advice if a.kind is ChangeKind.SHIFT]
    assert (shift.change, shift.to, shift.capacity) == ("pack = off", "net", 20)
    # told for the one user
    assert shift.headroom == pytest.approx(0.95)


def test_of_several_that_take_over_the_one_that_takes_most_is_named() -> None:
    text = (
        SHIFTING.replace("at web { }", "at web { unzip if pack }")
        + "component unzip { cpu 8 ms/packet }\n"
    )
    _, advice = _advised(text)
    (shift,) = [a for a in advice if a.kind is ChangeKind.SHIFT]
    # 20 users on 4 machines: 5 * 5 packet/s at 8 ms are 20 %, above the 10 % more of a user
    assert (shift.to, shift.headroom) == ("web.cpu", pytest.approx(0.8))


def test_what_rises_by_next_to_nothing_is_no_shift() -> None:
    text = SHIFTING.replace("20 ms/packet", "0.9 ms/packet")
    _, advice = _advised(text)
    # 0.45 % of a core
    assert _by(advice, ChangeKind.DEMAND)["pack = on"] == 80
    assert not _by(advice, ChangeKind.SHIFT)


def test_a_shift_that_saturates_the_other_is_no_advice() -> None:
    _, advice = _advised(SHIFTING.replace("20 ms/packet", "195 ms/packet"))
    assert "pack = on" not in {a.change for a in advice}


# -- all of them ----------------------------------------------------------------------


def test_where_the_range_is_the_limit_nothing_helps() -> None:
    solution, advice = _advised(SERVER, "N = 1..50")
    assert solution.limited_by is None
    assert advice == ()


def test_up_to_the_range_is_reported() -> None:
    _, advice = _advised(SERVER, "N = 1..80")
    assert {(a.capacity, a.range_limits) for a in advice} == {(80, True)}


def test_what_no_change_of_the_system_fixes_is_a_goal_to_relax() -> None:
    text = SERVER + "measure fixed = 7\nrequire { fixed <= 5 }\n"
    solution, advice = _advised(text)
    assert solution.capacity is None
    assert [(one.kind, one.change) for one in advice] == [
        (ChangeKind.GOAL, "1.4 times the limit of fixed")
    ]


def test_where_nobody_is_served_advice_starts_from_nobody() -> None:
    text = SERVER.replace("4 packet/s", "250 packet/s")
    solution, advice = _advised(text)
    assert solution.capacity is None
    assert _by(advice, ChangeKind.CAPACITY)["host = rated * 4"] == 1


def test_all_modes_must_be_helped() -> None:
    text = DEMANDING + "mode a { pace = 4 packet/s }\nmode b { pace = 4 packet/s; mood = ugly }\n"
    solution, advice = _advised(text)
    assert (solution.graph.mode, solution.capacity) == ("a", 31)
    # 4 ms and 2 ms without checks; ugly is no change for b, but a has 6 ms then; the pace is the modes'
    assert _by(advice, ChangeKind.DEMAND) == {"checks = off": 62, "mood = ugly": 41}
    # b stays at 41, whatever is done for a alone
    text = DEMANDING + (
        "mode a { pace = 4 packet/s; mood = good }\nmode b { pace = 4 packet/s; mood = good; checks = on }\n"
    )
    assert not _by(_advised(text)[1], ChangeKind.DEMAND)


SPECS = {
    "server": SERVER,
    "cores": CORE % "quad",
    "demand": DEMANDING,
    "shift": SHIFTING,
    "tight": SHIFTING + "require { flow.latency <= 25 ms; net.load <= 70 % }\n",
    "modes": DEMANDING + "mode a { mood = bad }\nmode b { checks = off; mood = good }\n",
    "elastic": DEMANDING.replace("traffic N * pace", "traffic N * pace * often")
    + "param often elastic 1..4\n",
}

DOUBLED = {
    "host.cpu.speed": ("rated { cpu 10 score }", "rated { cpu 20 score }"),
    "host.cpu.cores": ("quad { cpu 4 core }", "quad { cpu 8 core }"),
    "net.rate": ("wire { shared; rate 1 Mbit/s }", "wire { shared; rate 2 Mbit/s }"),
}


def _anew(text: str, item: Advice) -> int | None:
    """Return the answer of a spec that was changed as an advice says, by its text."""
    if item.set:
        return _solved(checked(text), item.change).capacity
    changed = re.fullmatch(r"(10 % (?:more|less)|[\d.]+ times the) (\w+)", item.change)
    if changed is not None:
        tenths = {"10 % more": "1.1", "10 % less": "0.9"}
        factor = tenths.get(changed[1]) or changed[1].removesuffix(" times the")
        (value,) = re.findall(rf"param {changed[2]} = ([^\n]*?)(?: in [^\n]*)?\n", text)
        return _solved(checked(text), f"{changed[2]} = ({value}) * {factor}").capacity
    if item.kind is ChangeKind.GOAL:
        spec = checked(text)
        (goal,) = (r for r in spec.model.requirements if f"limit of {r.name}" == item.name)
        assert isinstance(goal.limit.expr, ir.Constant)
        share = goal.limit.expr.value * Fraction(item.factor or 1).limit_denominator(10**6)
        setting = f"{item.name} = {float(share):.12g}"
        return _solved(spec.with_parts_of((setting,)), setting).capacity
    # the rating is also what the costs were measured on: keep that machine, and place another
    name = item.change.removeprefix("twice the ")
    old, new = DOUBLED[name]
    assert old in text
    if name == "host.cpu.speed":
        doubled = text + "\nmachine doubled { cpu 20 score }\n"
        places = re.findall(r"node host = rated(.*)", text)
        return _solved(
            checked(doubled), f"host = doubled{places[0].replace('}', '').strip()}"
        ).capacity
    return _solved(checked(text.replace(old, new))).capacity


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in SPECS.items()])
def test_each_advice_gives_what_the_changed_spec_gives(text: str) -> None:
    solution, advice = _advised(text)
    assert advice
    for item in advice:
        assert item.capacity == _anew(text, item), item.change
        assert item.capacity > (solution.capacity or 0)


@law
@given(
    st.integers(1, 40),
    st.integers(1, 60),
    st.integers(100, 3000),
    st.integers(5, 95),
    st.sampled_from(["", "require { net.load <= 60 % }\n", "require { user.cpu.load <= 70 % }\n"]),
)
def test_every_advice_helps_by_what_it_says(
    pace: int, cost: int, size: int, ratio: int, requirement: str
) -> None:
    text = (
        SHIFTING.replace("5 packet/s, 1250 byte/packet", "pace, size")
        .replace("20 ms/packet", f"{cost} ms/packet")
        .replace("25 %", f"{ratio} %")
    ) + f"param pace = {pace} packet/s\nparam size = {size} byte/packet\n{requirement}"
    solution, advice = _advised(text, "N = 1..200")
    now = solution.capacity or 0
    for item in advice:
        anew = _anew(text, item)
        assert item.capacity == min(anew or 0, 200), item.change
        assert item.capacity > now
        if item.kind is ChangeKind.SHIFT:
            assert item.to is not None
            there = load(lowered(text, item.change), item.to, solution.at)
            assert item.headroom == pytest.approx(float(1 - there))
            assert there > load(lowered(text), item.to, solution.at)


def test_advice_is_given_when_it_is_requested() -> None:
    model = qps.loads(SHIFTING)
    assert model.solve().advice == ()
    answer = {a.change: a for a in model.solve(advice=True).advice}["pack = on"]
    assert (answer.kind, answer.set, answer.capacity) == ("demand moved elsewhere", True, 80)
    assert (answer.range_limits, answer.to) == (False, "user.cpu")
    assert answer.headroom == pytest.approx(0.85)


@pytest.mark.parametrize(("cores", "largest", "doubled"), [(4, 324, 583), (6, 456, 822)])
@pytest.mark.parametrize("written", ["{} core", "count"])
def test_twice_the_cores_do_less_than_twice_the_work(
    cores: int, largest: int, doubled: int, written: str
) -> None:
    """4 · 0.9² = 3.24, 8 · 0.9³ = 5.832; 6 · 0.9^2.585 = 4.5695, 12 · 0.9^3.585 = 8.2251."""
    text = PRELUDE.replace("1..100", "1..5000") + (
        f"param count = {cores} core in 1..64 core\n"
        * (written == "count")
        + f"machine big {{ cpu {written.format(cores)}, efficiency 90 % }}\n"
        "topology { node host = big }\nstream flow { traffic N * 1 packet/s; at host { work } }\n"
    )
    solution, found = _advised(text)
    assert solution.capacity == largest
    name = "count" if written == "count" else "host.cpu.cores"
    moved = {s.parameter: s.elasticity for s in solution.sensitivity}
    assert moved[name] == pytest.approx(1 + math.log2(0.9))
    assert [a.capacity for a in found if name in a.change] == [doubled]
