"""Elastic parameters: they take what is left between their least and their most."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import PRELUDE, at, checked, load, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.pipeline import check_source
from qps.engine.exact_algebra.piecewise import Piecewise
from qps.engine.expressions import point_values
from qps.solver.answers import saturation
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.knees import elastic_solutions
from qps.solver.answers.solution import ElasticSolution, Solution, SolverFault
from qps.solver.answers.sweep import sweep
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.search.first_crossing import CrossingPoint
from qps.solver.search.method import SearchMethod

law = settings(max_examples=examples(30), deadline=None)

ONE = "topology { node host = box }\n"
MANY = "topology { node host = box * N\n link lan = wire between host }\n"
X = "param x elastic 2..30 packet/s\n"
# x packet/s for each of N users at 10 ms: 100/N are left for each
SIMPLE = PRELUDE + X + ONE + "stream flow for each host { traffic N * x; at host { work } }\n"


def _value(graph: LoadGraph, name: str, population: int) -> Fraction:
    configuration = next(s for s in graph.elastic if s.parameter.name == name)
    return at(graph, configuration.value, population)


def _elastic(solution: Solution, name: str = "x") -> ElasticSolution:
    return next(item for item in solution.elastic if item.name == name)


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
    assert _value(graph, "x", population) == Fraction(value)
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
    found = tuple(_value(graph, name, population) for name in ("x", "y", "z"))
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
    elastic = _elastic(solution)
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
    elastic = _elastic(solve(lowered(SIMPLE, "N = 1..3")))
    # they lie beyond the range, and are told all the same
    assert elastic.value_at_limit == 30
    idle = (
        PRELUDE
        + X
        + ONE
        + "stream flow for each host { traffic N * 1 packet/s; at host { work } }\n"
    )
    elastic = _elastic(solve(lowered(idle)))
    assert (elastic.value_at_limit, elastic.yields, elastic.exhausted) == (30, None, None)


def test_a_limit_of_a_load_is_what_it_may_take() -> None:
    graph = lowered(SIMPLE + "require { host.cpu.load <= 80 % }")
    # 80/N are left
    assert [_value(graph, "x", n) for n in (2, 4, 40, 41)] == [30, 20, 2, 2]
    assert load(graph, "host.cpu", 4) == Fraction("0.8")
    assert load(graph, "host.cpu", 41) == Fraction("0.82")
    solution = solve(graph)
    assert (solution.capacity, solution.limited_by) == (40, "host.cpu.utilization")
    elastic = _elastic(solution)
    assert elastic.yields is not None
    assert elastic.exhausted is not None
    assert (elastic.yields.at, elastic.exhausted.at) == (pytest.approx(80 / 30), 40)


@pytest.mark.parametrize(("first", "second"), [(80, 60), (60, 80)])
def test_of_two_limits_the_smaller_one_holds(first: int, second: int) -> None:
    text = SIMPLE + f"require {{ host.cpu.load <= {first} %; host.cpu.load <= {second} % }}"
    assert _value(lowered(text), "x", 4) == 15


def test_a_limit_by_a_parameter_moves_it() -> None:
    text = SIMPLE + "param full = 80 %\nrequire { host.cpu.load <= full }"
    assert _value(lowered(text), "x", 4) == 20
    assert _value(lowered(text, "full = 40 %"), "x", 4) == 10


def test_a_limit_of_a_mode_holds_in_that_mode() -> None:
    text = SIMPLE + "mode calm { host.cpu.load <= 60 % }\nmode busy { flow.loss <= 1 % }"
    assert _value(lowered(text, "mode = calm"), "x", 4) == 15
    assert _value(lowered(text, "mode = busy"), "x", 4) == 25


def test_what_is_always_there_is_not_left() -> None:
    text = PRELUDE + X + (
        "machine lazy { cpu 1 core, idle 20 % }\ntopology { node host = lazy }\n"
        "stream flow for each host { traffic N * x; at host { work } }\n"
        "stream more { traffic 20 packet/s; at host { work } }"
    )  # fmt: skip
    # 60 % of a core for 10 users: 6 packet/s each
    assert _value(lowered(text), "x", 10) == 6
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
    assert _value(graph, "x", 10) == 10
    heavier = text.replace("200 byte/packet", "2000 byte/packet")
    graph = lowered(heavier)
    # disk: (1 - N^2/500) * 250/N; at 10 it leaves 20, at 20 it leaves 2.5, at 18 (1 - 0.648) * 125/9
    assert [_value(graph, "x", n) for n in (5, 10, 18, 20)] == [
        20,
        10,
        Fraction("0.352") * 125 / 9,
        Fraction("2.5"),
    ]
    elastic = _elastic(solve(graph))
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
    assert _value(graph, "x", 10) == Fraction(1000, 90)
    elastic = _elastic(solve(lowered(text, "N = 2..100")))
    assert elastic.yields is not None
    assert elastic.yields.resource == "lan"
    # 30 N (N - 1) = 1000
    assert elastic.yields.at == pytest.approx((1 + (1 + 4 * 1000 / 30) ** 0.5) / 2)


def test_it_may_be_a_number_of_repetitions() -> None:
    text = PRELUDE + "param x elastic 1..5\n" + ONE + (
        "stream flow for each host { traffic N * 1 packet/s; at host { work * x } }"
    )  # fmt: skip
    assert [_value(lowered(text), "x", n) for n in (10, 20, 40, 100)] == [5, 5, Fraction("2.5"), 1]


def test_it_may_be_a_size() -> None:
    text = PRELUDE + "param x elastic 100..1000 byte/packet\n" + ONE + (
        "stream flow for each host { traffic N * 50 packet/s, x; at host { each_byte } }"
    )  # fmt: skip
    # 1_000_000 byte/s are left; sizes count in bits
    assert [_value(lowered(text), "x", n) for n in (20, 40, 250)] == [8000, 4000, 800]


def test_it_may_be_a_share_of_an_effect() -> None:
    text = PRELUDE + "param x elastic 10..100 %\ncomponent thin { keep x }\n" + ONE + (
        "stream flow for each host { traffic N * 5 packet/s; at host { thin; work } }"
    )  # fmt: skip
    assert [_value(lowered(text), "x", n) for n in (10, 40, 100)] == [
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


# -- several -------------------------------------------------------------------------------

APART = PRELUDE + X + "param y elastic 1..10 packet/s\n" + (
    "topology { node host = box\n node other = box }\n"
    "stream flow for each host { traffic N * x; at host { work } }\n"
    "stream more { traffic N * y; at other { work } }"
)  # fmt: skip
TOGETHER = APART.replace("at other", "at host")


def test_two_on_two_resources_do_not_disturb_each_other() -> None:
    graph = lowered(APART)
    assert [_value(graph, "x", n) for n in (2, 20, 60)] == [30, 5, 2]
    assert [_value(graph, "y", n) for n in (2, 20, 60)] == [10, 5, Fraction(5, 3)]


def test_two_on_one_resource_take_in_order() -> None:
    graph = lowered(TOGETHER)
    # x leaves N for the least of y: (100 - N)/N, until 30, down to 2 at N = 33.3
    assert [_value(graph, "x", n) for n in (2, 4, 10, 25, 40)] == [30, 24, 9, 3, 2]
    # y: 100 - 30 N up to N = 3.2 are left, then its least
    assert [_value(graph, "y", n) for n in (1, 2, 3, 4, 25, 40)] == [
        10,
        10,
        Fraction(10, 3),
        1,
        1,
        1,
    ]
    assert [load(graph, "host.cpu", n) for n in (2, 4, 25, 40)] == [
        Fraction("0.8"),
        1,
        1,
        Fraction("1.2"),
    ]


def test_the_order_is_that_of_declaration() -> None:
    turned = TOGETHER.replace(X, "").replace(
        "param y elastic 1..10 packet/s\n", "param y elastic 1..10 packet/s\n" + X
    )
    graph = lowered(turned)
    # y leaves 2 N for the least of x: (100 - 2 N)/N
    assert [_value(graph, "y", n) for n in (4, 10, 20, 40)] == [10, 8, 3, 1]
    assert [_value(graph, "x", n) for n in (4, 10, 20, 40)] == [15, 2, 2, 2]


@pytest.mark.parametrize("turned", [False, True])
def test_each_of_two_is_at_its_least_from_the_reported_population(*, turned: bool) -> None:
    # What the first one fills stays full until it is at its least itself: the second one is so before.
    y = "param y elastic 1..10 packet/s\n"
    text = TOGETHER.replace(X, "").replace(y, y + X) if turned else TOGETHER
    graph = lowered(text)
    for elastic in solve(graph).elastic:
        configuration = next(s for s in graph.elastic if s.parameter.name == elastic.name)
        assert elastic.yields is not None
        assert elastic.exhausted is not None
        for knee, end in ((elastic.yields, elastic.most), (elastic.exhausted, elastic.least)):
            before, behind = (
                point_values.EvaluationPoint(
                    {graph.population: Fraction(knee.at) * (1 + by)}
                ).number(graph.valued(configuration.value))
                for by in (-Fraction(1, 10**6), Fraction(1, 10**6))
            )
            assert (before == end) is (end == elastic.most)
            assert (behind == end) is (end == elastic.least)


def test_where_it_takes_nothing_of_what_is_full_it_is_not_at_its_least() -> None:
    # x fills the host from 4 to 50 users; y loads it from 31 users on only.
    late = "stream more { traffic y; at host { work * max(0, N - 30) } }"
    text = TOGETHER.replace("stream more { traffic N * y; at host { work } }", late)
    _, elastic = solve(lowered(text)).elastic
    assert elastic.exhausted is not None
    assert elastic.exhausted.at > 30


def test_one_may_multiply_another() -> None:
    text = PRELUDE + X + "param y elastic 1..4\n" + ONE + (
        "stream flow for each host { traffic N * x; at host { work * y } }"
    )  # fmt: skip
    graph = lowered(text)
    # while y keeps to its least: x = 100/N; y then has nothing more to take but below N = 3.3
    assert [_value(graph, "x", n) for n in (2, 10)] == [30, 10]
    assert [_value(graph, "y", n) for n in (2, 10)] == [Fraction(5, 3), 1]


# -- what cannot be ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "times", ["x^2", "max(x, 3)", "1 + 1 / x", "sqrt(x)", "x * (x + 1)", "exp(x)"]
)
def test_loads_that_do_not_grow_in_proportion_are_refused(times: str) -> None:
    text = PRELUDE + "param x elastic 2..30\n" + ONE + (
        f"stream flow for each host {{ traffic N * 1 packet/s; at host {{ work * ({times}) }} }}"
    )  # fmt: skip
    with pytest.raises(QpsError) as raised:
        lowered(text)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code.id == "QPS0602"
    assert diagnostic.message == "utilization of host.cpu does not grow in proportion with `x`"
    assert diagnostic.primary is not None
    assert diagnostic.primary.span.text == "x"
    assert diagnostic.hints


@pytest.mark.parametrize("times", ["2 * x + 3", "x * 3 / 4", "(x - 1) + 2", "2 * (x + 1) - x"])
def test_loads_that_grow_in_a_line_are_not(times: str) -> None:
    text = PRELUDE + "param x elastic 2..30\n" + ONE + (
        f"stream flow for each host {{ traffic N * 1 packet/s; at host {{ work * ({times}) }} }}"
    )  # fmt: skip
    graph = lowered(text)
    value = _value(graph, "x", 10)
    assert 2 < value < 30
    assert load(graph, "host.cpu", 10) == 1
    assert eval(times, {"x": value}) == 10


def test_loads_that_fall_with_it_are_refused() -> None:
    text = PRELUDE + "param x elastic 2..30\n" + ONE + (
        "stream flow for each host { traffic N * 1 packet/s; at host { work * (40 - x) } }"
    )  # fmt: skip
    with pytest.raises(QpsError, match="falls while `x` grows"):
        solve(lowered(text))


PLACES = {
    "condition_of_a_step": "stream flow for each host { traffic N * x; at host { work if x > 3 packet/s } }",
    "condition_of_a_value": "stream flow for each host { traffic (if x > 3 packet/s then 1 else 2) * x; at host { work } }",
    "limit": "stream flow for each host { traffic x; at host { work } }\nrequire { flow.rate >= x }",
    "ideal": "stream flow for each host { traffic x; at host { work } }\nrequire { flow.rate >= 1 packet/s ideal x }",
    "count": "stream flow for each host { traffic x; at host { work } }\nscenario s { host = box * (x * 1 s/packet) }",
    "capacity": "stream flow for each host { traffic x; at host { work } }\nmachine m { disk x }",
    "rating": "stream flow for each host { traffic x; at host { work } }\nmachine m { cpu 1 score * (x * 1 s/packet) }",
    "jitter": "stream flow for each host { traffic x; at host { work } }\nmachine m { cpu 1 core, jitter x * 1 ms^2 * 1 s/packet }",
    "idle": "stream flow for each host { traffic x; at host { work } }\nmachine m { cpu 1 core, idle x * 1 ms/packet }",
    "price": "stream flow for each host { traffic x; at host { work } }\nmachine m { cpu 1 core; price x * 1 $ * 1 s/packet }",
    "loss": "stream flow for each host { traffic x; at host { work } }\nnetwork m { rate 1 Mbit/s; loss x * 1 ms/packet }",
    "parameter": "stream flow for each host { traffic x; at host { work } }\nparam p = x * 2",
    "range": "stream flow for each host { traffic x; at host { work } }\nparam p elastic 1 packet/s .. x",
    "setting": "param p = 1 packet/s\nstream flow { traffic x; at host { work } }\nscenario s { p = x }",
    "let": "let l = 2 * x\nstream flow { traffic x; at host { work if l > 3 packet/s } }",
}  # fmt: skip


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in PLACES.items()])
def test_places_where_it_cannot_stand(text: str) -> None:
    outcome = check_source(Source("s", PRELUDE + X + ONE + text))
    assert outcome.value is None
    (diagnostic,) = outcome.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == (
        "QPS0308",
        "this value must not depend on an elastic parameter",
    )


# -- where nothing is loaded yet -----------------------------------------------------------

ALONE = PRELUDE + X + MANY + (
    "stream flow for each host { traffic x, 1 byte/packet; at host { work to others }\n over lan\n at host { } }\n"
)  # fmt: skip


def test_where_a_load_vanishes_it_is_no_limit() -> None:
    graph = lowered(ALONE)
    # with nobody else, nothing is sent
    assert load(graph, "host.cpu", 1) == 0
    assert load(graph, "host.cpu", 3) == Fraction("0.6")


def test_where_a_load_vanishes_it_takes_its_most() -> None:
    assert _value(lowered(ALONE), "x", 1) == 30


def test_where_a_load_vanishes_requirements_hold() -> None:
    solution = solve(lowered(ALONE + "require { flow.rate >= 3 packet/s }"))
    # 100 packet/s for N - 1 copies
    assert solution.capacity == 34


def test_where_a_load_vanishes_it_is_solved() -> None:
    assert solve(lowered(ALONE)).capacity == 51


def test_a_strict_limit_has_no_last_value_to_fill_to() -> None:
    with pytest.raises(QpsError) as raised:
        lowered(SIMPLE + "require { host.cpu.load < 80 % }")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.primary is not None
    assert diagnostic.primary.span.text == "host.cpu.load < 80 %"
    assert "`<=`" in diagnostic.message + " ".join(diagnostic.hints)


# -- laws ----------------------------------------------------------------------------------


@st.composite
def _worlds(draw: st.DrawFn) -> tuple[str, dict[str, Fraction]]:
    """Draw a spec with an elastic rate on two resources, and its numbers."""
    numbers = {
        "cost": draw(st.integers(1, 3000)),  # us/packet
        "size": draw(st.integers(1, 20_000)),  # byte/packet on the disk
        "idle": draw(st.integers(0, 60)),  # %
        "other": draw(st.integers(1, 20)),  # packet/s of each user, besides
        "least": draw(st.integers(1, 20)),
        "span": draw(st.integers(1, 200)),
        "limit": draw(st.integers(30, 100)),  # %
    }
    text = (
        "users N in 1..400\n"
        f"machine odd {{ cpu 1 core, idle {numbers['idle']} %; disk 3 MB/s }}\n"
        f"component both {{ cpu {numbers['cost']} us/packet; disk {numbers['size']} byte/packet }}\n"
        f"param x elastic {numbers['least']}..{numbers['least'] + numbers['span']} packet/s\n"
        "topology { node host = odd }\n"
        "stream flow for each host { traffic N * x; at host { both } }\n"
        f"stream more {{ traffic N * {numbers['other']} packet/s; at host {{ both }} }}\n"
        f"require {{ host.cpu.load <= {numbers['limit']} % }}\n"
    )
    return text, {name: Fraction(value) for name, value in numbers.items()}


def _plainly(
    numbers: dict[str, Fraction], population: Fraction | int
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the value, the load of the processor and that of the disk, worked out plainly."""
    least, most = numbers["least"], numbers["least"] + numbers["span"]
    cost, size = numbers["cost"] / 10**6, numbers["size"] / (3 * 10**6)
    cpu = (numbers["idle"] / 100 + population * numbers["other"] * cost, population * cost)
    disk = (population * numbers["other"] * size, population * size)
    left = min((numbers["limit"] / 100 - cpu[0]) / cpu[1], (1 - disk[0]) / disk[1])
    value = min(most, max(least, left))
    return value, cpu[0] + cpu[1] * value, disk[0] + disk[1] * value


WORLDS = _worlds()


@law
@given(WORLDS, st.lists(st.integers(1, 400), min_size=1, max_size=4))
def test_it_is_what_the_reference_says(
    world: tuple[str, dict[str, Fraction]], populations: list[int]
) -> None:
    text, numbers = world
    graph = lowered(text)
    for population in populations:
        value, cpu, disk = _plainly(numbers, population)
        assert _value(graph, "x", population) == value
        assert load(graph, "host.cpu", population) == cpu
        assert load(graph, "host.disk", population) == disk


@law
@given(WORLDS, st.lists(st.integers(1, 400), min_size=2, max_size=4))
def test_nothing_is_overloaded_while_it_can_yield(
    world: tuple[str, dict[str, Fraction]], populations: list[int]
) -> None:
    text, numbers = world
    graph = lowered(text)
    least, most = numbers["least"], numbers["least"] + numbers["span"]
    before = most
    for population in sorted(populations):
        value = _value(graph, "x", population)
        assert least <= value <= most
        assert value <= before
        before = value
        loads = [
            load(graph, "host.cpu", population) * 100 / numbers["limit"],
            load(graph, "host.disk", population),
        ]
        if value > least:
            assert max(loads) <= 1
        if least < value < most:
            assert max(loads) == 1


@law
@given(WORLDS)
def test_the_answer_is_the_last_population_that_its_least_carries(
    world: tuple[str, dict[str, Fraction]],
) -> None:
    text, numbers = world
    solution = solve(lowered(text))
    expected = 0
    while expected < 400:
        _, cpu, disk = _plainly(numbers, expected + 1)
        if cpu > numbers["limit"] / 100 or disk > 1:
            break
        expected += 1
    assert (solution.capacity or 0) == expected


@law
@given(WORLDS)
def test_at_its_knees_it_leaves_its_ends(world: tuple[str, dict[str, Fraction]]) -> None:
    text, numbers = world
    elastic = _elastic(solve(lowered(text)))
    least, most = numbers["least"], numbers["least"] + numbers["span"]
    for knee, end, is_most in ((elastic.yields, most, True), (elastic.exhausted, least, False)):
        assert knee is not None  # loads grow without end
        if knee.method is SearchMethod.AT_START:
            # with this end of its range, something is full for the first user already
            _, cpu, disk = _plainly(numbers | {"least": end, "span": Fraction(0)}, 1)
            assert cpu >= numbers["limit"] / 100 or disk >= 1
            continue
        assert knee.method is SearchMethod.CLOSED_FORM
        here = Fraction(knee.at)
        steps = (here * (1 - Fraction(1, 10**6)), here * (1 + Fraction(1, 10**6)))
        before, after = (_plainly(numbers, step)[0] for step in steps)
        assert before == end if is_most else before > end
        assert after < end if is_most else after == end


# -- many ----------------------------------------------------------------------------------


def _many(count: int) -> str:
    """Return a spec of parameters that share a machine: 1 to 30 packet/s, 10 us for a packet."""
    return (
        PRELUDE
        + "".join(
            f"param e{n} elastic 1..30 packet/s\ncomponent c{n} {{ cpu 10 us/packet }}\n"
            f"stream s{n} {{ traffic N * e{n}; at host {{ c{n} }} }}\n"
            for n in range(count)
        )
        + ONE
    )


def test_many_on_one_resource_give_way_from_the_last_to_the_first() -> None:
    count = 100
    elastic = solve(lowered(_many(count))).elastic
    for index, one in enumerate(elastic):
        # all before it take 30 packet/s, all behind it 1 packet/s
        before, behind = index * 30, count - index - 1
        assert one.yields is not None
        assert one.yields.at == pytest.approx(100_000 / (before + 30 + behind), rel=1e-12)


def test_what_many_come_to_is_evaluated_a_few_times_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluated = dict.fromkeys((50, 100), 0)

    def counted(*args: Any) -> Any:
        evaluated[count] += 1
        return real(*args)

    real = point_values._exact
    monkeypatch.setattr(point_values, "_exact", counted)
    for count in evaluated:
        solve(lowered(_many(count)))
    assert evaluated[100] < 2.2 * evaluated[50]


@pytest.mark.parametrize("count", [2, 60])
def test_a_knee_that_is_none_is_a_fault(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real = saturation.first_in_pieces
    graph = lowered(_many(count))
    solve(graph)

    def shifted(whole: Piecewise, *, passes: bool) -> CrossingPoint | None:
        found = real(whole, passes=passes)
        return (
            None
            if found is None
            else CrossingPoint(found.at * Fraction(10001, 10000), found.method)
        )

    # Loads alone are certified elsewhere.
    monkeypatch.setattr(saturation, "first_in_pieces", shifted)
    with pytest.raises(SolverFault, match="off by"):
        elastic_solutions(graph, 1)
