"""Laws that hold for every model, over generated ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import fmpq, fmpq_poly
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import PRELUDE, at, checked, load, lowered
from helpers.strategies import Drawn, drawn_specs
from oracles.plain_model import plain_model
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.engine.exact_algebra.real_roots import real_roots
from qps.solver.answers.capacity import excess
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.saturation import saturation_point
from qps.solver.answers.solution import Solution
from qps.solver.answers.sweep import sweep
from qps.solver.search.certain_signs import sign_at
from qps.solver.search.method import SearchMethod

law = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
few = settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))


def _graph(spec: Drawn) -> LoadGraph:
    return lowered(spec.text)


def _solve(spec: Drawn) -> Solution:
    return solve(_graph(spec))


def _rank(largest: int | None) -> int:
    return 0 if largest is None else largest


@law
@given(drawn_specs(), st.integers(2, 400))
def test_the_symbolic_model_is_the_plain_one(spec: Drawn, population: int) -> None:
    whole = checked(spec.text)
    configuration = whole.configuration()
    graph = lower(whole.model, configuration)
    plain = plain_model(whole.model, configuration, population)
    assert {n: load(graph, n, population) for n in graph.resources} == dict(plain.loads)
    for name, stream in graph.streams.items():
        result = sum((at(graph, p.value, population) for p in stream.latency), Fraction(0))
        assert result == plain.latency[name]
        assert at(graph, stream.loss, population) == plain.loss(name)


@few
@given(drawn_specs())
def test_the_answer_is_the_largest_one_by_its_definition(spec: Drawn) -> None:
    spec = replace(spec, high=min(spec.high, 60))
    graph = _graph(spec)
    solution = solve(graph)
    criteria = [(graph.valued(excess(c)), c.strict) for c in all_criteria(graph)]

    def acceptable(n: int) -> bool:
        signs = [sign_at(over, graph.population, Fraction(n)) for over, _ in criteria]
        return all(s is not None and s <= 0 for s in signs)

    expected = graph.low - 1
    while expected < graph.high and acceptable(expected + 1):
        expected += 1
    assert solution.capacity == (expected if expected >= graph.low else None)


@law
@given(drawn_specs())
def test_at_its_saturation_point_a_resource_is_loaded_one(spec: Drawn) -> None:
    graph = _graph(spec)
    for resource in solve(graph).resources:
        point = resource.saturation
        if point.at is None or point.method is SearchMethod.AT_START:
            continue
        loads = sweep(graph, [point.at, point.at * 0.999])
        assert loads[f"{resource.name}.utilization"][0] == pytest.approx(1, rel=1e-9)
        assert loads[f"{resource.name}.utilization"][1] < 1


@few
@given(drawn_specs(), st.integers(2, 5))
def test_more_work_never_helps(spec: Drawn, factor: int) -> None:
    assert _rank(_solve(spec.with_costs(factor)).capacity) <= _rank(_solve(spec).capacity)


@few
@given(drawn_specs(), st.integers(2, 5))
def test_more_capacity_never_hurts(spec: Drawn, factor: int) -> None:
    larger = replace(spec, rating=spec.rating * factor, rate=spec.rate * factor)
    assert _rank(_solve(larger).capacity) >= _rank(_solve(spec).capacity)


@few
@given(drawn_specs(), st.integers(1, 200))
def test_a_further_requirement_never_raises_the_answer(spec: Drawn, limit: int) -> None:
    stricter = replace(spec, extra=f"require {{ host.cpu.load <= {limit / 200 * 100} % }}")
    assert _rank(_solve(stricter).capacity) <= _rank(_solve(spec).capacity)


@law
@given(drawn_specs(), st.integers(2, 9))
def test_scaling_capacity_and_costs_alike_changes_no_load(spec: Drawn, factor: int) -> None:
    scaled = replace(spec.with_costs(factor), rating=spec.rating * factor)
    before, after = _graph(spec), _graph(scaled)
    assert load(before, "host.cpu", 7) == load(after, "host.cpu", 7)


@few
@given(st.integers(1, 500), st.integers(2, 50))
def test_scaling_capacity_scales_a_linear_saturation(cost: int, factor: int) -> None:
    text = (
        PRELUDE
        + "topology { node host = box }\ncomponent c { cpu COST us/packet }\n"
        + ("stream flow for each host { traffic N * 1 packet/s; at host { c } }")
    )
    once, more = (lowered(text.replace("COST", str(c))) for c in (cost * factor, cost))
    points = [
        saturation_point(g.valued(g.resources["host.cpu"].load), g.population, g.low).at
        for g in (once, more)
    ]
    assert points[0] is not None
    assert points[1] == pytest.approx(points[0] * factor, rel=1e-12)


@few
@given(drawn_specs())
def test_units_change_no_answer(spec: Drawn) -> None:
    other = (
        spec.text.replace("us/packet", "* 0.001 ms/packet")
        .replace("Mbit/s }", "* 1000 kbit/s }")
        .replace(f"<= {spec.latency} ms", f"<= {spec.latency} * 1000 us")
        .replace(f"traffic {spec.source} byte/s", f"traffic {spec.source * 8} bit/s")
    )
    mine, theirs = _solve(spec), solve(lowered(other))
    assert mine.capacity == theirs.capacity
    assert [r.saturation for r in mine.resources] == [r.saturation for r in theirs.resources]
    assert [r.utilization_at_limit for r in mine.resources] == [
        r.utilization_at_limit for r in theirs.resources
    ]


@few
@given(drawn_specs(), st.randoms())
def test_order_and_names_change_no_answer(spec: Drawn, random: object) -> None:
    lines = spec.text.split("topology {")
    head = [line for line in lines[0].splitlines() if line]
    components = [line for line in head if line.startswith("component")]
    rest = [line for line in head if not line.startswith("component")]
    random.shuffle(components)  # type: ignore[attr-defined]
    renamed = "\n".join([*rest, *components]) + "\ntopology {" + lines[1]
    renamed = renamed.replace("lan", "office").replace("flow", "voice").replace("host", "seat")
    mine, theirs = _solve(spec), solve(lowered(renamed))
    assert mine.capacity == theirs.capacity
    assert [r.utilization_at_limit for r in mine.resources] == [
        r.utilization_at_limit for r in theirs.resources
    ]


@few
@given(drawn_specs())
def test_arrays_say_what_symbols_say(spec: Drawn) -> None:
    graph = _graph(spec)
    table = sweep(graph, [2, 3, 17, 100])
    for column, population in enumerate([2, 3, 17, 100]):
        for name in graph.resources:
            result = table[f"{name}.utilization"][column]
            assert result == pytest.approx(float(load(graph, name, population)), rel=1e-9)


@few
@given(drawn_specs())
def test_solving_twice_gives_the_same(spec: Drawn) -> None:
    first, second = _solve(spec), _solve(spec)
    assert first.resources == second.resources
    assert first.bottleneck == second.bottleneck
    assert first.sensitivity == second.sensitivity


@law
@given(st.lists(st.fractions(-50, 50, max_denominator=20), min_size=1, max_size=5))
def test_the_roots_of_a_polynomial_are_found(roots: list[Fraction]) -> None:
    coefficients = [Fraction(1)]
    for root in roots:
        shifted = [*coefficients, Fraction(0)]
        for index, coefficient in enumerate(coefficients):
            shifted[index + 1] -= root * coefficient
        coefficients = shifted
    exact = [fmpq(c.numerator, c.denominator) for c in reversed(coefficients)]
    assert real_roots(fmpq_poly(exact)) == tuple(sorted(set(roots)))
