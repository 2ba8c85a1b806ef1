"""`--for` against values that are tried: what is set and solved tells the same."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from helpers.specs import checked
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.lowering import lower
from qps.reports.text.changes.inverse_text import inverse_answer
from qps.solver.answers.worst_mode import solve_model
from qps.solver.search.trials import UndecidedSignError, tried
from qps.solver.what_if.inverse import InverseSolution, solve_for
from qps.solver.what_if.inverse_unknown import unknown_of

HEAD = """
users N in 1..2000
network wire { propagation 0.5 ms }
machine a { cpu cores * 1 core, queueing DISCIPLINE }
machine b { cpu 2 core, queueing ps }
component work { cpu cost }
component other { cpu 12 ms/request }
"""
NUMBERS = """
param cost = 10 ms/request in 1..200 ms/request
param share = 40 % in 0..100 %
param rate = 20 request/s in 0.1..200 request/s
param count = 2 in 1..8
param cores = 1 in 1..16
topology { node n0 = a * count; node n1 = b; link lan = wire between n0, n1 }
"""
CLOSED = "stream s for each user { traffic 1 request, think 2 s; at n0 { work; call n1 * share { other } } }\n"
MISSES = (
    "stream s in all { traffic N * 1 request/s; at n0 { work; call n1 * (1 - share) { other } } }\n"
)
RATE = "stream s in all { traffic rate; at n0 { work; together { call n1 * share { other }; call n1 { work } } } }\nmeasure crowd = N\nrequire { crowd <= 1000 }\n"
KINDS = "kinds sort of users { x 50 %; y 50 % }\nparam wait by sort { x 0.2 s; y 1 s }\nstream s for each user { traffic 1 request, think wait; at n0 { work } }\n"
POOL = "unit thread\nparam places = 3 in 1..4\nmachine c { cpu 1 core, queueing ps; threads places * 1 thread }\ntopology { node n2 = c }\nstream s for each user { traffic 1 request, think 1 s; at n2 { take threads; work; give threads } }\n"
MEAN, LATE = "require { s.latency <= 40 ms }\n", "require { quantile(s.latency, 95 %) <= 60 ms }\n"

# spec, discipline, number, in which unit, as a part of what is shown, population
SPECS = [
    pytest.param(CLOSED + MEAN, "ps", "count", "", 1, 180, id="copies of a node, users who wait"),
    pytest.param(CLOSED + LATE, "ps", "cost", "ms/request", 1000, 20, id="a cost, a quantile of users who wait"),
    pytest.param(KINDS + MEAN, "ps", "cost", "ms/request", 1000, 12, id="a cost, users of two kinds"),
    pytest.param(MISSES + MEAN, "ps", "share", "%", 100, 130, id="a share of calls, its end included"),
    pytest.param(MISSES + MEAN, "ps", "cores", "", 1, 150, id="cores"),
    pytest.param(RATE + LATE, "mmc", "rate", "request/s", 1, 1, id="a rate, calls made together"),
    pytest.param(POOL + MEAN, "ps", "places", "", 1, 5, id="places of a pool"),
]  # fmt: skip


def _carried(text: str, name: str, value: str, users: int) -> bool:
    spec = checked(text)
    try:
        configuration = spec.configuration(None, (f"{name} = {value}", f"N = 1..{users}"))
        return solve_model(spec.model, configuration).capacity == users
    except QpsError:
        return False


def _requested(text: str, name: str, users: int) -> InverseSolution:
    spec = checked(text)
    return solve_for(spec.model, spec.configuration(), name, users)


@pytest.mark.parametrize(("streams", "discipline", "name", "unit", "factor", "users"), SPECS)
def test_the_report_agrees_with_values_that_are_set(
    streams: str, discipline: str, name: str, unit: str, factor: float, users: int
) -> None:
    text = HEAD.replace("DISCIPLINE", discipline) + NUMBERS + streams
    found = _requested(text, name, users)
    number, lots = found.number, random.Random(users)
    low, high = float(number.low), float(number.high)
    assert found.intervals
    values = {low, high, *(low + (high - low) * lots.random() ** 2 for _ in range(3))}
    for interval in found.intervals:
        beside = 1.0 if number.is_count else 1e-3 * (interval.high or 1)
        ends = {interval.low, interval.high, interval.low - beside, interval.high + beside}
        values |= {end for end in ends if low <= end <= high}
    if number.is_count:
        values = {float(round(value)) for value in values}
    for value in sorted(values):
        near = (1e-9 if value in (low, high) else 1e-7) * (abs(value) or 1)
        result = any(i.low - near <= value <= i.high + near for i in found.intervals)
        inward = value
        for interval in found.intervals:  # an end is told to some digits: just within it
            if interval.low == value > low and value < interval.high:
                inward = value * (1 + 1e-6) if not number.is_count else value
            if interval.high == value < high and value > interval.low:
                inward = value * (1 - 1e-6) if not number.is_count else value
        assert _carried(text, name, f"{inward * factor:.12g} {unit}", users) is result, value


def test_a_share_within_its_range_has_the_formulas_that_it_has_where_it_is_set() -> None:
    spec = checked(HEAD.replace("DISCIPLINE", "mmc") + NUMBERS + MISSES + LATE)
    (options,) = unknown_of(spec.model, spec.configuration(), "share", 60).graphs
    there = lower(spec.model, spec.configuration(None, ("share = 97 %",)))
    assert options.criteria[0].measure is there.criteria[0].measure


def test_what_has_a_value_for_each_kind_lists_these() -> None:
    text = (
        "users N in 1..10_000\nkinds region { us 60 %; eu 40 % }\nparam boxes by region { us 6; eu 4 }\n"
        "machine box { cpu 1 core }\ncomponent work { cpu 10 ms/request }\n"
        "topology { node web for each region = box * boxes }\n"
        "stream ask for each user in each region { traffic 1 request/s; at web { work } }\n"
    )
    with pytest.raises(QpsError) as raised:
        _requested(text, "boxes", 700)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == "`boxes` has one value for each kind of `region`"
    assert diagnostic.hints == ("solve for one of them: `--for boxes.us` or `--for boxes.eu`",)
    assert inverse_answer(_requested(text, "boxes.us", 700)).startswith(
        "700 users: boxes.us must be at least 5 (4.2 before rounding; "
    )


def test_trials_find_where_it_changes_and_noise_finds_nothing() -> None:
    values, changes = tried(lambda at: at > Fraction(1, 3), (0.01, 1.0), is_whole=False)
    assert values > 100
    ((before, after),) = changes
    assert before <= 1 / 3 < after
    assert tried(lambda at: at >= 7, (1.0, 5000.0), is_whole=True)[1] == [(6, 7)]
    assert tried(lambda at: at * 10**9 % 1 > Fraction(1, 2), (1.0, 2.0), is_whole=False) == (0, [])

    def undecided(at: Fraction) -> bool:
        raise UndecidedSignError

    assert tried(undecided, (1.0, 2.0), is_whole=False) == (0, [])
