"""The question turned round for cores: they are told whole, and found with queues, too."""

from __future__ import annotations

import pytest
from flint import arb, ctx

from helpers.specs import PRELUDE, checked
from qps.engine.queueing.erlang_numbers import inverse_erlang_ball
from qps.engine.queueing.queue_numbers import erlang_c
from qps.reports.text.changes.inverse_text import inverse_answer
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.inverse import InverseSolution, solve_for

RANGE = PRELUDE.replace("1..100", "1..1000")
FLOW = "topology { node host = vm }\nstream flow { traffic N * 1 packet/s; at host { work } }\n"


def _requested(text: str, name: str, population: int) -> InverseSolution:
    spec = checked(RANGE + text)
    return solve_for(spec.model, spec.configuration(), name, population)


@pytest.mark.parametrize(
    ("name", "written"),
    [("host.cpu.cores", "machine vm { cpu 4 core }\n"),
     ("many", "param many = 4 core in 1..64 core\nmachine vm { cpu many }\n")],
)  # fmt: skip
def test_cores_are_reported_whole_with_the_exact_bound(name: str, written: str) -> None:
    found = _requested(written + FLOW + "require { host.cpu.load <= 92 % }", name, 500)
    # 500/s at 10 ms each are 5 cores, of which 92 % are had.
    assert found.number.is_count
    assert [interval.low for interval in found.intervals] == [6]
    assert inverse_answer(found).startswith(f"500 users: {name} must be at least 6")
    assert "(5.4347" in inverse_answer(found)


def test_whole_cores_with_an_efficiency() -> None:
    found = _requested("machine vm { cpu 4 core, efficiency 90 % }\n" + FLOW, "host.cpu.cores", 583)
    # 8 · 0.9^3 = 5.832
    assert [interval.low for interval in found.intervals] == [8]
    assert found.number.current == {None: 4}


def test_parts_of_a_core_stay_parts_where_the_spec_has_them() -> None:
    found = _requested("machine vm { cpu 3.5 core }\n" + FLOW, "host.cpu.cores", 500)
    assert not found.number.is_count
    assert found.intervals[0].low == pytest.approx(5)


@pytest.mark.parametrize("name", ["host.cpu.cores", "many"])
def test_cores_with_one_queue_are_found(name: str) -> None:
    """Up to a million times as many cores are looked at, whose waits are next to nothing."""
    written = "4 core" if name != "many" else "many"
    text = (
        "param many = 4 core in 1..64 core\n" * (name == "many")
        + f"machine vm {{ cpu {written}, queueing mmc }}\n" + FLOW
        + "require { quantile(flow.latency, 95 %) <= 50 ms }"
    )  # fmt: skip
    found = _requested(text, name, 900)
    (interval,) = found.intervals
    assert interval.low == int(interval.low)
    for cores, is_enough in ((interval.low, True), (interval.low - 1, False)):
        changed = text.replace("= 4 core", f"= {cores:g} core").replace(
            "cpu 4 core", f"cpu {cores:g} core"
        )
        spec = checked(RANGE + changed)
        largest = solve_model(spec.model, spec.configuration()).capacity or 0
        assert (largest >= 900) == is_enough


@pytest.mark.parametrize(("servers", "traffic"), [(1200, 1199), (1500, 1000), (4000, 7)])
def test_many_servers_are_those_of_the_recursion(servers: int, traffic: int) -> None:
    with ctx.workprec(256):
        inverse = arb(1)
        for k in range(1, servers + 1):
            inverse = 1 + inverse * k / traffic
        found = inverse_erlang_ball(arb(servers), arb(traffic))
        assert found.overlaps(inverse)
        assert found.rel_accuracy_bits() > 128


def test_next_to_none_of_millions_of_servers_are_waited_for() -> None:
    assert erlang_c(4_000_000, 10) == 0
    assert erlang_c(4_000_000.5, 2_000_000) == 0
    assert inverse_erlang_ball(arb(4_000_000), arb(10)) > arb(10) ** 1_000_000
