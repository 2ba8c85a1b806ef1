"""Elastic parameters take what is left, by hand; they can be fixed."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction

import pytest

from elastic.elastic_specs import MANY, ONE, SIMPLE, X, elastic_of, value_at
from helpers.specs import PRELUDE, at, checked, load, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.sweep import sweep
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.search.method import SearchMethod

# -- by hand -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("population", "value", "loaded"),
    [
        (1, "30", "0.3"),
        (3, "30", "0.9"),
        (4, "25", "1"),
        (7, "100/7", "1"),
        (50, "2", "1"),
        (51, "2", "1.02"),
        (80, "2", "1.6"),
    ],
)
def test_most_what_is_left_and_least(population: int, value: str, loaded: str) -> None:
    graph = lowered(SIMPLE)
    assert value_at(graph, "x", population) == Fraction(value)
    assert load(graph, "host.cpu", population) == Fraction(loaded)
    # the stream carries what the parameter came to
    served = min(Fraction(1), 1 / Fraction(loaded))
    assert (
        at(graph, graph.streams["flow"].rate, population) == population * Fraction(value) * served
    )


@pytest.mark.parametrize(
    ("population", "values"),
    [(1, (30, 20, 40)), (2, (30, 15, 5)), (4, (17, 3, 5)), (8, ("4.5", 3, 5)), (20, (2, 3, 5))],
)
def test_the_first_of_three_leaves_both_others_their_least(
    population: int, values: tuple[int | str, ...]
) -> None:
    # 100/N packet/s in all are left for each
    streams = "".join(
        f"stream of_{n} {{ traffic N * {n}; at host {{ work }} }}\n" for n in ("x", "y", "z")
    )
    graph = lowered(
        PRELUDE + "param z elastic 5..40 packet/s\nparam y elastic 3..20 packet/s priority 2\n"
        "param x elastic 2..30 packet/s priority 1\n" + ONE + streams
    )
    found = tuple(value_at(graph, name, population) for name in ("x", "y", "z"))
    assert found == tuple(Fraction(value) for value in values)


def test_what_it_fills_is_loaded_to_its_limit_in_floats_too() -> None:
    graph = lowered(
        SIMPLE.replace("users N in 1..100", "users N in 1..100_000").replace("2..30", "0.001..30")
    )
    loads = sweep(graph, range(4, 100_000, 7))["host.cpu.utilization"]
    assert set(loads) == {1.0}


def test_its_knees_are_reported_with_their_resource() -> None:
    solution = solve(lowered(SIMPLE))
    assert (solution.capacity, solution.limited_by) == (50, "host.cpu.utilization")
    elastic = elastic_of(solution)
    assert (elastic.least, elastic.most, elastic.value_at_limit) == (2, 30, 2)
    assert elastic.yields is not None
    assert elastic.exhausted is not None
    assert elastic.yields.at == pytest.approx(100 / 30)
    assert elastic.exhausted.at == 50
    for knee in (elastic.yields, elastic.exhausted):
        assert (knee.resource, knee.method) == ("host.cpu", SearchMethod.CLOSED_FORM)


def test_it_saturates_where_the_least_is_too_much() -> None:
    cpu = solve(lowered(SIMPLE)).resources[0]
    assert cpu.saturation.at == 50
    assert cpu.saturation.method is SearchMethod.CLOSED_FORM


def test_without_knees_it_takes_its_most() -> None:
    elastic = elastic_of(solve(lowered(SIMPLE, "N = 1..3")))
    # they lie beyond the range, and are told all the same
    assert elastic.value_at_limit == 30
    idle = (
        PRELUDE
        + X
        + ONE
        + "stream flow for each host { traffic N * 1 packet/s; at host { work } }\n"
    )
    elastic = elastic_of(solve(lowered(idle)))
    assert (elastic.value_at_limit, elastic.yields, elastic.exhausted) == (30, None, None)


def test_a_limit_of_a_load_is_what_it_may_take() -> None:
    graph = lowered(SIMPLE + "require { host.cpu.load <= 80 % }")
    # 80/N are left
    assert [value_at(graph, "x", n) for n in (2, 4, 40, 41)] == [30, 20, 2, 2]
    assert load(graph, "host.cpu", 4) == Fraction("0.8")
    assert load(graph, "host.cpu", 41) == Fraction("0.82")
    solution = solve(graph)
    assert (solution.capacity, solution.limited_by) == (40, "host.cpu.utilization")
    elastic = elastic_of(solution)
    assert elastic.yields is not None
    assert elastic.exhausted is not None
    assert (elastic.yields.at, elastic.exhausted.at) == (pytest.approx(80 / 30), 40)


@pytest.mark.parametrize(("first", "second"), [(80, 60), (60, 80)])
def test_of_two_limits_the_smaller_one_holds(first: int, second: int) -> None:
    text = SIMPLE + f"require {{ host.cpu.load <= {first} %; host.cpu.load <= {second} % }}"
    assert value_at(lowered(text), "x", 4) == 15


def test_a_limit_by_a_parameter_moves_it() -> None:
    text = SIMPLE + "param full = 80 %\nrequire { host.cpu.load <= full }"
    assert value_at(lowered(text), "x", 4) == 20
    assert value_at(lowered(text, "full = 40 %"), "x", 4) == 10


def test_a_limit_of_a_mode_holds_in_that_mode() -> None:
    text = SIMPLE + "mode calm { host.cpu.load <= 60 % }\nmode busy { flow.loss <= 1 % }"
    assert value_at(lowered(text, "mode = calm"), "x", 4) == 15
    assert value_at(lowered(text, "mode = busy"), "x", 4) == 25


def test_what_is_always_there_is_not_left() -> None:
    text = PRELUDE + X + (
        "machine lazy { cpu 1 core, idle 20 % }\ntopology { node host = lazy }\n"
        "stream flow for each host { traffic N * x; at host { work } }\n"
        "stream more { traffic 20 packet/s; at host { work } }"
    )  # fmt: skip
    # 60 % of a core for 10 users: 6 packet/s each
    assert value_at(lowered(text), "x", 10) == 6
    assert load(lowered(text), "host.cpu", 10) == 1


def test_the_tightest_resource_decides_and_is_named() -> None:
    text = PRELUDE + X + (
        "machine odd { cpu 1 core; disk 1 MB/s }\n"
        "component both { cpu 10 ms/packet; disk 4 kB/packet }\n"
        "component guard { disk 200 byte/packet }\n"
        "topology { node host = odd }\n"
        "stream flow for each host { traffic N * x; at host { both } }\n"
        "stream more { traffic N * N * 1 packet/s; at host { guard } }"
    )  # fmt: skip
    graph = lowered(text)
    # cpu leaves 100/N; disk (1 - N^2/5000) * 250/N, which is tighter from N = 54.8 on
    assert value_at(graph, "x", 10) == 10
    heavier = text.replace("200 byte/packet", "2000 byte/packet")
    graph = lowered(heavier)
    # disk: (1 - N^2/500) * 250/N; at 10 it leaves 20, at 20 it leaves 2.5, at 18 (1 - 0.648) * 125/9
    assert [value_at(graph, "x", n) for n in (5, 10, 18, 20)] == [
        20,
        10,
        Fraction("0.352") * 125 / 9,
        Fraction("2.5"),
    ]
    elastic = elastic_of(solve(graph))
    assert elastic.yields is not None
    assert elastic.exhausted is not None
    assert (elastic.yields.resource, elastic.exhausted.resource) == ("host.cpu", "host.disk")
    # 2 N * 4/1000 + N^2/500 = 1: N^2 + 4 N - 500 = 0
    assert elastic.exhausted.at == pytest.approx(-2 + 504**0.5)
    assert elastic.exhausted.method is SearchMethod.CLOSED_FORM


def test_links_limit_it_too() -> None:
    text = PRELUDE + X + MANY + (
        "component go { }\nstream flow for each host { traffic x, 125 byte/packet; at host { go to others }\n"
        " over lan\n at host { } }"
    )  # fmt: skip
    graph = lowered(text)
    # N (N - 1) copies of x kbit/s on 1 Mbit/s
    assert value_at(graph, "x", 10) == Fraction(1000, 90)
    elastic = elastic_of(solve(lowered(text, "N = 2..100")))
    assert elastic.yields is not None
    assert elastic.yields.resource == "lan"
    # 30 N (N - 1) = 1000
    assert elastic.yields.at == pytest.approx((1 + (1 + 4 * 1000 / 30) ** 0.5) / 2)


def test_it_may_be_a_number_of_repetitions() -> None:
    text = PRELUDE + "param x elastic 1..5\n" + ONE + (
        "stream flow for each host { traffic N * 1 packet/s; at host { work * x } }"
    )  # fmt: skip
    assert [value_at(lowered(text), "x", n) for n in (10, 20, 40, 100)] == [
        5,
        5,
        Fraction("2.5"),
        1,
    ]


def test_it_may_be_a_size() -> None:
    text = PRELUDE + "param x elastic 100..1000 byte/packet\n" + ONE + (
        "stream flow for each host { traffic N * 50 packet/s, x; at host { each_byte } }"
    )  # fmt: skip
    # 1_000_000 byte/s are left; sizes count in bits
    assert [value_at(lowered(text), "x", n) for n in (20, 40, 250)] == [8000, 4000, 800]


def test_it_may_be_a_share_of_an_effect() -> None:
    text = PRELUDE + "param x elastic 10..100 %\ncomponent thin { keep x }\n" + ONE + (
        "stream flow for each host { traffic N * 5 packet/s; at host { thin; work } }"
    )  # fmt: skip
    assert [value_at(lowered(text), "x", n) for n in (10, 40, 100)] == [
        1,
        Fraction("0.5"),
        Fraction("0.2"),
    ]


def test_definitions_and_measures_follow_it() -> None:
    text = SIMPLE + "let double = 2 * x\nmeasure seen = double\n" + (
        "expect e { seen ~ 50 packet/s within 0 % with N = 4; x ~ 10 packet/s within 0 % with N = 10"
        '; source "arithmetic" }'
    )  # fmt: skip
    graph = lowered(text)
    assert at(graph, graph.measures["seen"].value, 4) == 50
    assert [
        result.holds for result in Claims(ClaimRunner(model=checked(text).model)).results()
    ] == [
        True,
        True,
    ]


def test_a_minimum_rate_is_guaranteed_until_the_knee() -> None:
    text = SIMPLE + "measure each = x\nrequire { each >= 4 packet/s }"
    solution = solve(lowered(text))
    assert (solution.capacity, solution.limited_by) == (25, "each")


# -- fixed ---------------------------------------------------------------------------------


def test_set_to_a_value_it_is_fixed() -> None:
    graph = lowered(SIMPLE, "x = 5 packet/s")
    assert graph.elastic == ()
    assert load(graph, "host.cpu", 30) == Fraction("1.5")
    assert solve(graph).capacity == 20


def test_set_to_its_most_it_is_fixed_too() -> None:
    assert solve(lowered(SIMPLE, "x = 30 packet/s")).capacity == 3
    assert lowered(SIMPLE, "x = 30 packet/s").elastic == ()


def test_claims_and_scenarios_fix_it() -> None:
    text = SIMPLE + (
        "scenario calm { x = 10 packet/s }\n"
        "expect a { largest_acceptable == 10 with scenario = calm\n"
        "largest_acceptable == 3 with x = 30 packet/s\n"
        'largest_acceptable == 50; source "arithmetic" }'
    )
    assert [r.holds for r in Claims(ClaimRunner(model=checked(text).model)).results()] == [True] * 3


@pytest.mark.parametrize("setting", ["x = 1.9 packet/s", "x = 30.1 packet/s"])
def test_it_is_fixed_within_its_range_only(setting: str) -> None:
    with pytest.raises(QpsError, match="range"):
        lowered(SIMPLE, setting)
