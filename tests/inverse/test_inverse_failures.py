"""What fails beyond a value that is asked for: what is named, and what is not."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import checked
from inverse.test_inverse import BASE, FREE, LOAD, _solved
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.expressions.formulas import number
from qps.reports.text.changes.inverse_text import inverse_answer
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.inverse_unknown import unknown_of
from qps.solver.what_if.overloads import Overloads
from queueing.test_losses_in_series import THINNED

CALLS = """
users N in 2..300
param nic = 1 Gbit/s in 0.01..100 Gbit/s
param power = 4 core in 0.1..256 core
param size = 4 in 1..100
param seen = 20 in 1..100
param cameras = 1 in 0..30
param margin = 40 % in 0..80 %
group class of size users
machine box { cpu power }
machine pc { }
network wire { duplex; rate nic }
component forward { cpu 1 ms/packet }
topology {
  node sfu    = box
  node person = pc * N
  link wan    = wire between person, sfu
}
stream video for cameras in each class {
  traffic 1 Mbit/s, 1000 byte/packet
  at person { }
  at sfu { forward to others in class at most seen }
  at person { }
}
target cpu 1 - margin
"""


def _reported(text: str, name: str, population: int, *changes: str) -> str:
    return inverse_answer(_solved(text, name, population, *changes))


def test_only_what_fails_throughout_is_reported() -> None:
    # 75 rooms with one camera each; 28 Mbit/s of 3 copies need 28 cores at 60 %.
    slow = ("nic = 10 Mbit/s",)
    solution = _solved(CALLS, "power", 300, *slow)
    assert [f.requirement for f in solution.fails] == [
        "wan.forth.utilization",
        "wan.back.utilization",
    ]
    assert solution.fails_throughout
    text = inverse_answer(solution)
    assert text.startswith("No value of power supports 300 users (searched 1 core to 256 core")
    assert (
        ": wan.forth.utilization exceeds its limit and wan.back.utilization exceeds its limit for every value."
        in text
    )
    assert "sfu.cpu" not in text


def test_where_nothing_fails_throughout_all_is_reported() -> None:
    text = BASE + "measure cheap = 1 / p\nrequire { cheap <= 1 / 2 }\n"
    solution = _solved(text, "p", 60)
    assert not solution.fails_throughout
    assert {f.requirement for f in solution.fails} == {LOAD, "cheap"}
    assert (
        "every value fails a requirement; with the smallest, cheap exceeds its limit and host"
        in (inverse_answer(solution))
    )


def test_quality_is_not_reported_next_to_its_axis() -> None:
    text = FREE + "measure m = N + p\nrequire { m <= 10 }\n"
    assert [f.requirement for f in _solved(text, "p", 50).fails] == ["m"]


def test_what_binds_at_a_bound_is_reported_and_no_other_failure() -> None:
    # 40 flows of 1 Mbit/s to as many: the line is full at 13.5, the processor at 13.9, both at 14.
    settings = ("nic = 540 Mbit/s", "power = 69.5 core", "size = 20", "cameras = 20")
    text = CALLS.replace("1 - margin", "100 %")
    (found,) = _solved(text, "seen", 40, *settings).intervals
    assert (found.low, found.high) == (1, 13)
    assert found.unrounded == pytest.approx((1, 13.5))
    assert found.fails_above is not None
    assert found.fails_above.requirement == "wan.back.utilization"


def test_reported_values_that_support_the_users_can_be_set() -> None:
    settings = ("cameras = 3", "nic = 100 Gbit/s", "power = 256 core")
    result = _reported(CALLS, "size", 10, *settings)
    assert "must be at least 3 (below that, `video` has more flows in each `class`" in result
    spec = checked(CALLS)
    assert solve_model(spec.model, spec.configuration(None, [*settings, "size = 3"]))
    with pytest.raises(QpsError):
        spec.configuration(None, [*settings, "size = 2"])


@pytest.mark.parametrize("size", ["N", "ceil(N / 2)"])
def test_a_group_that_grows_with_the_users_may_be_smaller_than_its_flows(size: str) -> None:
    text = CALLS.replace("class of size users", f"class of {size} users")
    spec = checked(text)
    settings = ["cameras = 5", "nic = 100 Gbit/s", "power = 256 core"]
    from_two = solve_model(spec.model, spec.configuration(None, settings))
    from_ten = solve_model(spec.model, spec.configuration(None, [*settings, "N = 10..300"]))
    assert from_two.capacity == from_ten.capacity
    at_most = _solved(text, "cameras", 10, *settings[1:]).intervals[0].high
    assert at_most == 30
    # With two users, one or both of them send: not more than there are.
    loads = [
        {
            r.name: r.utilization_at_limit
            for r in solve_model(
                spec.model, spec.configuration(None, [f"cameras = {n}", "N = 2"])
            ).resources
        }
        for n in (2, 5)
    ]
    assert loads[0] == loads[1]


def test_flows_are_reported_whole_with_the_exact_bound() -> None:
    text = CALLS.replace("class of size users", "class of N users")
    result = _reported(text, "cameras", 10, "nic = 50 Mbit/s", "power = 256 core")
    assert "cameras must be at most 5 (5.55555 before rounding; " in result
    assert "from 0" not in result


def test_shares_are_reported_in_per_cent_and_cores_in_cores() -> None:
    text = CALLS.replace("cpu power", "cpu 4 core").replace(
        "param power = 4 core in 0.1..256 core\n", ""
    )
    result = _reported(text, "sfu.cpu.cores", 12)
    assert "sfu.cpu.cores must be at least 2 cores (1.875 cores before rounding; " in result
    assert result.endswith("Currently 4 cores.")
    assert (
        _reported(CALLS, "margin", 4)
        == "Every value of margin supports 4 users (0 % to 80 %, its full range). Currently 40 %."
    )


# The cache serves all requests, the database what it has not got.
IN_SERIES = (
    "users N in 1..100_000\nparam pace = 0.2 request/s in 0..2 request/s\n"
    "param hit = 85 % in 0..100 %\n"
    "machine front { cpu 1 core, queueing mm1 }\nmachine back { disk 1 core, queueing mm1 }\n"
    "network lan_ { propagation 0 ms }\n"
    "component lookup { cpu 0.2 ms/request }\ncomponent read { disk 8 ms/request }\n"
    "topology { node cache = front\n node db = back\n link lan = lan_ between cache, db }\n"
    "stream ask for each user { traffic pace, 1 kB/request\n"
    " at cache { lookup; call db * (100 % - hit) { read } } }\n"
    "require { ask.latency <= 50 ms }\n"
)


@pytest.mark.parametrize("name", ["hit", "pace"])
def test_what_nothing_loses_twice_is_no_bound(name: str) -> None:
    found = _solved(IN_SERIES, name, 20_000)
    assert found.intervals
    assert found.known.is_exact


def test_where_two_are_overloaded_at_once_is_known() -> None:
    spec = checked(IN_SERIES)
    (graph,) = unknown_of(spec.model, spec.configuration(), "pace", 20_000).graphs
    pace = graph.assumptions["pace"].symbol
    values = {one: value for one, value in graph.values.items() if one != pace}
    overloads = Overloads(graph, {**values, graph.population: number(20_000)})
    # In one second 4,000 times 0.2 ms at the cache, and 600 times 8 ms at the database, at 0.2.
    assert overloads.points(pace, Fraction(0), Fraction(2)) == (Fraction(1, 24), Fraction(1, 4))
    (latency,) = (one for one in graph.criteria if one.name == "ask.latency")
    assert overloads.known(latency, pace, Fraction(1, 5)).is_exact
    assert overloads.known(latency, pace, Fraction(1, 4)).is_exact
    assert overloads.known(latency, pace, Fraction(3, 10)).kind is CertaintyKind.UPPER_BOUND


def test_what_another_stream_has_lost_makes_a_bound_of_a_wait() -> None:
    """As it does at a population: at 18 users each 100 ms of 0.6 request/s are too much for `a`."""
    text = THINNED.replace("users", "param pace = 1 request/s in 0.1..2 request/s\nusers", 1)
    text = text.replace("traffic 1 request/s", "traffic pace")
    spec = checked(text.format(way="at a { much }; at b { little }", at="b"))
    (graph,) = unknown_of(spec.model, spec.configuration(), "pace", 18).graphs
    pace = graph.assumptions["pace"].symbol
    values = {one: value for one, value in graph.values.items() if one != pace}
    overloads = Overloads(graph, {**values, graph.population: number(18)})
    (quiet,) = (one for one in graph.criteria if one.name == "quiet.latency")
    assert overloads.known(quiet, pace, Fraction(1, 2)).is_exact
    assert overloads.known(quiet, pace, Fraction(3, 5)).kind is CertaintyKind.UPPER_BOUND


def test_the_end_before_rounding_is_that_of_the_criterion_that_is_named() -> None:
    """Below 14/3 copies both fail at whole numbers: the utilization is at its limit there."""
    spec = """
users N in 1..2000
param copies = 2 in 1..12
machine a { cpu 2 core, queueing mmc }
component find { cpu 5 ms/request }
topology { node r = a * copies }
stream ask for each user { traffic 1 request/s; at r { find } }
require { quantile(ask.latency, 99 %) <= 60 ms; r.cpu.load <= 75 % }
"""
    (interval,) = _solved(spec, "copies", 1400).intervals
    assert (interval.low, interval.unrounded) == (5, pytest.approx((14 / 3, 12)))
    assert interval.fails_below is not None
    assert "r.cpu" in interval.fails_below.requirement
