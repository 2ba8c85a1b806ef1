"""Threads that several costs share: one name is one core, whoever runs on it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import PRELUDE, checked, latency, load, lowered
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.syntax.format import formatted
from qps.solver.answers.graph_solution import solve

QUAD = PRELUDE.replace("1..100", "1..3000") + "machine quad { cpu 4 core }\n"
HOST = "topology { node host = quad }\n"
GAME = (
    "component sync { cpu 12 us/frame single_thread main }\n"
    "component script { cpu 8 us/frame single_thread main }\n"
    "component save { cpu 5 us/frame single_thread }\n"
)
STATE = "stream state { traffic N * 50 frame/s; at host { sync; script; save } }\n"


def graph(text: str) -> LoadGraph:
    return lowered(QUAD + text)


def test_costs_that_name_a_thread_share_it() -> None:
    found = graph(GAME + HOST + STATE)
    # 50/s of 12 us, 8 us and 5 us for each of 100: 6 %, 4 % and 2.5 % of a core
    assert load(found, "host.cpu.main", 100) == Fraction(10, 100)
    assert load(found, "host.cpu.save", 100) == Fraction(25, 1000)
    assert load(found, "host.cpu", 100) == Fraction(125, 1000) / 4
    assert set(found.resources) == {"host.cpu", "host.cpu.main", "host.cpu.save"}
    solution = solve(found)
    # One core for 50/s of 20 us each
    assert (solution.capacity, solution.limited_by) == (1000, "host.cpu.main.utilization")
    main = next(r for r in solution.resources if r.name == "host.cpu.main")
    assert main.shares == {"sync": pytest.approx(0.6), "script": pytest.approx(0.4)}


def test_streams_share_a_thread_too() -> None:
    other = "stream chat { traffic N * 10 frame/s; at host { script } }\n"
    found = graph(GAME + HOST + STATE + other)
    assert load(found, "host.cpu.main", 100) == Fraction(10, 100) + Fraction(8, 1000)


def test_a_thread_is_that_of_its_node() -> None:
    nodes = (
        "topology { node host = quad; node other = quad * 2\n"
        " link net = ports between host, other }\n"
    )
    state = (
        "stream state { traffic N * 50 frame/s, 10 byte/frame\n"
        " at host { sync }\n at other { script }\n}\n"
    )
    found = graph(GAME + nodes + state)
    assert load(found, "host.cpu.main", 100) == Fraction(6, 100)
    assert load(found, "other.cpu.main", 100) == Fraction(2, 100)


def test_the_thread_of_the_cost_in_force_is_loaded() -> None:
    text = (
        "machine four { cpu 4 core * 20 score }\nmachine eight { cpu 8 core * 20 score }\n"
        "component sync {\n cpu 12 us/frame single_thread main measured on four\n"
        " cpu 6 us/frame measured on eight\n}\n"
        "topology { node host = four; node more = eight }\n"
        "stream state { traffic N * 50 frame/s; at host { sync } }\n"
        "stream again { traffic N * 50 frame/s; at more { sync } }\n"
    )
    found = graph(text)
    assert load(found, "host.cpu.main", 100) == Fraction(6, 100)
    assert "more.cpu.main" not in found.resources


def test_work_on_a_thread_counts_once_in_the_latency() -> None:
    assert latency(graph(GAME + HOST + STATE), "state", 1) == Fraction(25, 10**6)


def test_steps_on_one_thread_wait_for_it_once() -> None:
    waiting = QUAD.replace("cpu 4 core", "cpu 4 core, queueing mm1")
    found = lowered(waiting + GAME + HOST + STATE)
    stages = [part.stage for part in found.streams["state"].latency]
    assert stages.count("waiting for host.cpu.main") == 1
    # A load of 0.5 at 500 users, 20 us of service: 0.5 · 20 us / (1 - 0.5); save 0.125 and 5 us;
    # the processor 0.15625 at 25 us over four cores.
    waits = Fraction(20, 10**6) + Fraction(5, 10**6) / 7 + Fraction(25, 4 * 10**6) * 5 / 27
    assert latency(found, "state", 500) == Fraction(25, 10**6) + waits


def test_a_thread_has_the_target_of_its_processor() -> None:
    solution = solve(graph(GAME + HOST + STATE + "target cpu 80 %"))
    assert (solution.capacity, solution.limited_by) == (800, "host.cpu.main.utilization")
    limited = solve(graph(GAME + HOST + STATE + "require { host.cpu.main.load <= 60 % }"))
    assert limited.capacity == 600


def test_on_one_core_the_processor_is_the_thread() -> None:
    found = graph(GAME + "topology { node host = box }\n" + STATE)
    assert set(found.resources) == {"host.cpu"}
    assert load(found, "host.cpu", 100) == Fraction(125, 1000)


def test_a_component_may_share_the_thread_that_is_called_as_it_is() -> None:
    text = GAME.replace("component save", "component main").replace("save }", "main }")
    text = text.replace("5 us/frame single_thread", "5 us/frame single_thread main")
    state = STATE.replace("save", "main")
    assert load(graph(text + HOST + state), "host.cpu.main", 100) == Fraction(125, 1000)
    checked(QUAD + text + HOST + state)


def test_a_thread_is_laid_out_behind_its_word() -> None:
    text = "component sync { cpu 12 us/frame   single_thread    main  at 20 %  load }\n"
    assert (
        formatted(Source("s", text)).value
        == "component sync { cpu 12 us/frame single_thread main at 20 % load }\n"
    )
