"""Where an elastic parameter cannot stand, where nothing is loaded yet, and what holds of any."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic.elastic_specs import MANY, ONE, SIMPLE, X, elastic_of, law, value_at
from helpers.specs import PRELUDE, load, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.answers.graph_solution import solve
from qps.solver.search.method import SearchMethod

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
    value = value_at(graph, "x", 10)
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
    assert value_at(lowered(ALONE), "x", 1) == 30


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
        assert value_at(graph, "x", population) == value
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
        value = value_at(graph, "x", population)
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
    elastic = elastic_of(solve(lowered(text)))
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
