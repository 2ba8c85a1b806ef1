"""One graph for configurations that differ in steps that options switch."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

import qps
from helpers.counting import counted
from helpers.golden_specs import choice_axes
from helpers.specs import PRELUDE
from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    changed,
    in_each_mode,
)
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower import lowering
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower, lower_as_one_of_many
from qps.compiler.pipeline import check_source, load
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.impossible_values import impossible
from qps.solver.matrix.matrix_compiler import compile_matrix

SPECS = Path(__file__).parents[2] / "specs"


def combinations(path: Path, model: ir.Model) -> list[Configuration]:
    """Return configurations by choices of options and hardware, as far as they may be."""
    source = Source(path.name, path.read_text(encoding="utf-8"), path.parent)
    spec = check_source(source).value
    assert spec is not None
    found = []
    axes = [axis.partition(" in [") for axis in choice_axes(model)]
    choices = [[f"{name.strip()} = {one}" for one in rest.rstrip("]").split(", ")]
               for name, _, rest in axes if name.strip() != "scenario"]  # fmt: skip
    every = list(product(*choices))
    for texts in random.Random(0).sample(every, min(len(every), 24)):
        configuration, sink = changed(base_configuration(model), spec.changes(texts)), Sink()
        check_placement(model, configuration, sink)
        if not sink.has_errors:
            found.append(configuration)
    return found


def reported(graph: LoadGraph) -> dict[str, list[float]]:
    """Return what a matrix asks of a graph, at some populations."""
    options: dict[str, Formula] = {}
    for name, resource in graph.resources.items():
        options |= {f"{name}.utilization": resource.load, f"{name}.target": resource.target}
    for number, criterion in enumerate(all_criteria(graph)):
        options |= {f"{number} {criterion.name}": criterion.measure}
        options |= {f"{number} {criterion.name}.limit": criterion.limit}
    options |= {message: over for over, message, _ in impossible(graph)}
    for is_running in (False, True):
        cost = graph.cost(is_running=is_running)
        options |= {} if cost is None else {f"cost, {is_running}": cost}
    points = [graph.at(at) for at in (graph.low, (graph.low + graph.high) // 2, graph.high)]
    return {name: [point.number(one) for point in points] for name, one in options.items()}


def known(graph: LoadGraph) -> list[object]:
    return [
        graph.analysis.criteria.quality_known,
        graph.analysis.criteria.quality_in_series,
        *(c.known for c in graph.criteria),
    ]


@pytest.mark.parametrize("path", sorted(SPECS.glob("*.qps")), ids=lambda path: path.stem)
def test_a_graph_with_switches_equals_the_graph_of_each_configuration(path: Path) -> None:
    spec = load(path)
    for configuration in combinations(path, spec.model):
        for solved in in_each_mode(spec.model, configuration):
            own = lower(spec.model, solved)
            shared = lower_as_one_of_many(spec.model, solved, {})
            assert list(own.resources) == list(shared.resources)
            assert known(own) == known(shared)
            expected, found = reported(own), reported(shared)
            assert found.keys() == expected.keys()
            for name, values in expected.items():
                assert found[name] == pytest.approx(values, rel=1e-12, nan_ok=True), name


STEPS = "".join(f"; c{i} if o{i}" for i in range(6))


def lowered(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many graphs are made for a matrix."""
    made = counted(monkeypatch, lowering, "_load_graph")
    model = qps.loads(text).spec.model
    compile_matrix(model, model.matrices[0])
    return len(made)


def spec(steps: str, cost: str = "cpu 1 ms/packet") -> str:
    options = "".join(f"option o{i} = on\ncomponent c{i} {{ {cost} }}\n" for i in range(6))
    axes = "; ".join(f"o{i} in [on, off]" for i in range(6))
    return (
        f"{PRELUDE}costs measured on rated\ncomponent base {{ cpu 1 ms/packet }}\n{options}"
        "topology { node host = rated }\n"
        f"stream flow {{ traffic 8000 byte/s, 1000 byte/packet\n at host {{ {steps} }} }}\n"
        f"require {{ flow.latency <= 300 ms }}\nmatrix m {{ {axes} }}\n"
    )


@pytest.mark.parametrize(
    ("text", "graphs"),
    [
        pytest.param(spec(f"base{STEPS}"), 1, id="steps that only work"),
        pytest.param(spec(STEPS.removeprefix("; ")), 64, id="nothing else loads the resource"),
        pytest.param(spec(f"base{STEPS}", "cpu 1 ms/packet; keep 50 %"), 64, id="effects"),
        pytest.param(
            spec(f"base{STEPS}").replace("cpu 10 score }", "cpu 10 score, queueing mm1 }"),
            64,
            id="what is waited for",
        ),
    ],
)
def test_a_matrix_of_switched_steps_is_lowered_as_often(
    text: str, graphs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lowered(text, monkeypatch) == graphs


def test_machines_that_differ_in_numbers_share_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    # One core is no number in a formula: `one` is lowered by itself.
    more = "machine one { cpu 1 core * 4 score; price 1 $ }\n"
    more += "".join(
        f"machine m{i} {{ cpu {i} core * {i} score; price {i}0 $ }}\n" for i in range(2, 9)
    )
    axis = f"host in [one, {', '.join(f'm{i}' for i in range(2, 9))}]; o0 in [on, off]"
    text = spec("base; c0 if o0").partition("matrix")[0] + f"matrix m {{ {axis} }}\n"
    assert lowered(text.replace("costs measured", f"{more}costs measured"), monkeypatch) == 2
    model = qps.loads(text.replace("costs measured", f"{more}costs measured"))
    for row in model.matrix().to_arrow().to_pylist():
        own = model.solve(set={"host": row["host"], "o0": row["o0"]})
        assert row["saturates_at"] == pytest.approx(own.resources[0].saturates_at)
