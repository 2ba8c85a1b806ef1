"""Prices, and what a configuration costs."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qps
from helpers.specs import PRELUDE, at, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.reports.text.schemas.json_encoding import as_json
from qps.solver.answers.solution import CostSolution
from solving.test_modes import BASE, MODES, _holds, _solved, _view, law

PRICED = (
    PRELUDE
    + """
machine server { cpu 1 core; price 300 $ }
machine desk { cpu 1 core; price 100 $ }
machine rented { cpu 1 core; price 3.6 $/hour }
network cable { rate 1 Gbit/s; price 50 $ }
network leased { rate 1 Gbit/s; price 7.2 $/hour }
"""
)

USE = "stream flow for each user { traffic 1 packet/s, 1 byte/packet; at web { work } }\n"


def _place(web: str = "server", user: str = "desk", link: str = "cable") -> str:
    return PRICED + (
        f"topology {{ node web = {web}\n node user = {user} * N\n link lan = {link} between web, user }}\n"
        + USE
    )


# name, machines and network, population, cost in $, running cost in $/s, places without a price
COSTS = [
    ("bought", ("server", "desk", "cable"), 10, "1350", None, ()),
    ("by_the_population", ("server", "desk", "cable"), 20, "2350", None, ()),
    ("by_counts", ("server * 4", "desk", "cable * 3"), 10, "2350", None, ()),
    ("by_counts_of_the_population", ("server * ceil(N / 8)", "desk", "cable"), 10, "1650", None, ()),
    ("running", ("rented", "rented", "leased"), 9, None, "0.012", ()),
    ("both", ("server", "rented", "leased"), 9, "300", "0.011", ()),
    ("some", ("server", "box", "wire"), 10, "300", None, ("user", "lan")),
    ("none", ("box", "box", "wire"), 10, None, None, ("web", "user", "lan")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("places", "population", "bought", "running", "unpriced"),
    [pytest.param(*case[1:], id=case[0]) for case in COSTS],
)
def test_costs(
    places: tuple[str, str, str],
    population: int,
    bought: str | None,
    running: str | None,
    unpriced: tuple[str, ...],
) -> None:
    text = _place(*places)
    graph = lowered(text)
    for is_running, expected in ((False, bought), (True, running)):
        result = graph.cost(is_running=is_running)
        assert (result is None) == (expected is None)
        if result is not None and expected is not None:
            assert at(graph, result, population) == Fraction(expected)
    assert graph.stated.unpriced == unpriced
    # the answer is given at the whole range's end: ask for this population only
    reported_costs = {
        c.is_running: c for c in _solved(text, f"N = 1..{population}").costs
    }  # fmt: skip
    assert set(reported_costs) == {
        kind for kind, cost in ((False, bought), (True, running)) if cost is not None
    }
    for is_running, expected in ((False, bought), (True, running)):
        if expected is not None:
            _is_cost(reported_costs[is_running], Fraction(expected), population, unpriced)


def _is_cost(
    message: CostSolution, expected: Fraction, population: int, unpriced: Iterable[str]
) -> None:
    assert message.total == pytest.approx(float(expected))
    assert message.per_user == pytest.approx(float(expected / population))
    assert sum(message.places.values()) == pytest.approx(message.total)
    assert message.unpriced == tuple(unpriced)


def test_each_place_is_reported() -> None:
    (result,) = _solved(_place("server * 2", "desk", "cable * 3"), "N = 1..10").costs
    assert result.places == {"web": 600, "user": 1000, "lan": 150}


def test_cost_follows_what_is_set() -> None:
    text = _place()
    assert _cost(text, "web = desk * 2") == Fraction(1250)
    assert _cost(text, "user = server * N") == Fraction(3350)
    assert _cost(text, "lan = cable * 5") == Fraction(1550)


def _cost(text: str, *changes: str) -> Fraction:
    graph = lowered(text, *changes)
    result = graph.cost(is_running=False)
    assert result is not None
    return at(graph, result, 10)


@pytest.mark.parametrize(
    ("requirement", "largest"),
    [
        # 350 + 100 N
        ("cost <= 2350 $", 20),
        ("cost <= 2349 $", 19),
        ("cost < 2350 $", 19),
        ("cost <= 400 $", None),
        # 350 / N + 100 falls with N
        ("cost / N <= 450 $", 100),
        ("cost / N <= 449 $", None),
        ("whole <= 1350 $", 10),
    ],
)
def test_costs_are_limited(requirement: str, largest: int | None) -> None:
    text = _place() + f"measure whole = cost\nquality worst\nrequire {{ {requirement} }}"
    assert _solved(text).capacity == largest


def test_a_cost_for_each_user_holds_from_where_enough_share_it() -> None:
    text = _place(user="box") + "quality worst\nrequire { cost / N <= 5 $ }"
    # 350 $ are 5 $ each for 70 and more; the answer counts from the start
    assert _solved(text).capacity is None
    assert _solved(text, "N = 70..90").capacity == 90
    assert _solved(text, "N = 69..90").capacity is None


def test_running_costs_are_limited_in_any_time() -> None:
    text = (
        _place("rented", "rented", "leased")
        + "quality worst\nrequire { running_cost <= 64.8 $/hour }"
    )
    # 3.6 for each user, and 3.6 + 7.2
    assert _solved(text).capacity == 15
    assert _solved(text.replace("64.8 $/hour", "0.018 $/s")).capacity == 15


def test_costs_are_claimed() -> None:
    text = _place("server", "rented", "cable") + (
        "expect e { cost ~ 350 $ within 0 %\nrunning_cost ~ 36 $/hour within 0 % with N = 10\n"
        "cost / N ~ 35 $ within 0 % with N = 10\n"
        'cost ~ 650 $ within 0 % with web = server * 2; source "arithmetic" }'
    )
    assert _holds(text) == [True] * 4


@pytest.mark.parametrize(
    ("requirement", "said"),
    [("cost <= 5 $", "cost is unknown"), ("running_cost <= 5 $/hour", "running cost is unknown")],
)
def test_what_nothing_costs_cannot_be_limited(requirement: str, said: str) -> None:
    other = _place("rented", "box", "wire") if "running" not in requirement else _place()
    with pytest.raises(QpsError) as raised:
        lowered(other + f"require {{ {requirement} }}")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code.id == "QPS0602"
    assert diagnostic.message.startswith(said)
    assert diagnostic.hints


@law
@given(st.integers(1, 9), st.integers(0, 400), st.integers(0, 400), st.integers(1, 60))
def test_costs_are_prices_times_counts(servers: int, price: int, each: int, users: int) -> None:
    text = (
        _place(f"server * {servers}")
        .replace(
            "machine server { cpu 1 core; price 300 $",
            f"machine server {{ cpu 1 core; price {price} $",
        )
        .replace(
            "machine desk { cpu 1 core; price 100 $", f"machine desk {{ cpu 1 core; price {each} $"
        )
    )
    graph = lowered(text)
    result = graph.cost(is_running=False)
    assert result is not None
    assert at(graph, result, users) == servers * price + each * users + 50


def test_modes_may_cost_differently() -> None:
    text = (
        _place()
        + "mode plain { flow.loss <= 50 % }\nmode rich { web = server * 10; cost <= 4000 $ }\n"
    )
    solution = _solved(text)
    # 3000 + 50 + 100 N
    assert (solution.graph.mode, solution.capacity) == ("rich", 9)
    assert solution.costs[0].total == 3950


# -- as plain values ------------------------------------------------------------------


def test_the_keys_of_the_contract() -> None:
    text = _place("server", "rented", "wire") + (
        "param x elastic 1..9 packet/s\nstream more { traffic x * N, 1 byte/packet; at web { work } }\n"
        "mode one { flow.loss <= 1 % }\nmode two { flow.loss <= 2 % }\n"
    )
    data = json.loads(json.dumps(as_json(_view(text))))
    assert set(data) == {
        "schema", "file", "model", "scenario", "mode", "case", "settings", "answer", "population",
        "resources", "bottleneck", "requirements", "quality", "capacity", "limited_by",
        "capacity_interval", "uncertainty", "treated_as_exact", "at_reliable_capacity",
        "at", "sensitivity", "sensitivity_of", "elastic", "cost", "modes", "advice", "warnings",
        "next_limit", "more_users", "targets", "best_changes", "traffic", "measures",
        "known", "closed", "mixes", "reliable_capacity",
    }  # fmt: skip
    # 1 + 1 packet/s for each user are the least
    assert (data["mode"], data["capacity"], data["at"]) == ("one", 50, 50)
    assert [m["mode"] for m in data["modes"]] == ["one", "two"]
    assert set(data["modes"][0]) == {
        "mode", "capacity", "limited_by", "quality_at_limit", "known", "quality_known",
    }  # fmt: skip
    bought, running = data["cost"]
    assert bought == {
        "unit": "$",
        "total": 300,
        "per_user": 6,
        "places": {"web": 300},
        "unpriced": ["lan"],
        "known": {"kind": "exact", "reasons": []},
    }
    assert (running["unit"], running["total"]) == ("$/s", pytest.approx(0.05))
    (elastic,) = data["elastic"]
    assert (elastic["parameter"], elastic["least"], elastic["most"]) == ("x", 1, 9)
    assert (elastic["unit"], elastic["value_at_limit"]) == ("packet/s", 1)
    # 10 N packets at 10 ms, then 2 N
    assert elastic["yields"] == {"at": 10, "resource": "web.cpu", "closed_form": True}
    assert elastic["exhausted"] == {"at": 50, "resource": "web.cpu", "closed_form": True}
    assert data["advice"] == []


def test_without_modes_prices_and_elastic_parameters_these_parts_are_empty() -> None:
    data = json.loads(json.dumps(as_json(_view(BASE))))
    assert (data["mode"], data["modes"], data["elastic"], data["cost"]) == (None, [], [], [])


def test_the_api_says_the_same() -> None:
    model = qps.loads(MODES)
    answer = model.solve()
    assert (answer.mode, answer.capacity) == ("busy", 20)
    assert model.solve(set={"mode": "calm"}).capacity == 50
    assert [mode.mode for mode in answer.modes] == ["calm", "busy", "usual"]
