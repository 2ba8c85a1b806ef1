"""What cannot help is told by a graph that many configurations share, and never wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qps
from helpers.counting import counted
from helpers.nightly import examples, nightly
from helpers.specs import shop
from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    changed,
    in_each_mode,
    with_scenarios,
)
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.lower import lowering
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import from_outline, lower, outlined
from qps.compiler.pipeline import load
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if import infeasibility_screen
from qps.solver.what_if.advice import advise

ROOT = Path(__file__).parents[2]
SPECS = [
    *sorted((ROOT / "specs").glob("*.qps")),
    *sorted((ROOT / "tests/applications").glob("*.qps")),
]


def alternatives(model: ir.Model, usual: Configuration) -> list[Configuration]:
    """Return all configurations that differ in one count, one kind of hardware or one option."""
    changes: list[ir.Change] = []
    for place in (*usual.nodes.values(), *usual.links.values()):
        kind = place.machine if isinstance(place, ir.Node) else place.network
        if isinstance(place.count, ir.Constant):
            for times in (2, 3):
                more = ir.Constant(place.count.value * times)
                changes.append(ir.SetPlace(place.name, kind, more, place.span))
        hardware = model.machines if isinstance(place, ir.Node) else model.networks
        changes += [ir.SetPlace(place.name, other, None, place.span) for other in hardware]
    for option in model.options:
        changes += [ir.SetOption(option.name, one, option.span) for one in option.choices]
    found = []
    for change in changes:
        configuration, sink = changed(usual, [change]), Sink()
        check_placement(model, configuration, sink)
        if not sink.has_errors:
            found.append(configuration)
    return found


def reported(graph: LoadGraph) -> dict[object, list[list[float]]]:
    """Return what is asked of a graph at some populations, and what is left to its limit."""
    points = [graph.at(at) for at in (graph.low, (graph.low + graph.high) // 2, graph.high)]
    options: dict[object, list[list[float]]] = {}
    for one in all_criteria(graph):
        sides = [[point.number(one.measure), point.number(one.limit)] for point in points]
        options.setdefault((one.name, one.at_most), []).extend(sides)
    for name, resource in graph.resources.items():
        options[name] = [[point.number(resource.load)] for point in points]
    return options


def agree(model: ir.Model, usual: Configuration) -> int:
    """Hold outlines against graphs of their own; return how many there are."""
    found = 0
    for mode in in_each_mode(model, usual):
        outlined(model, mode)
    for configuration in alternatives(model, usual):
        for solved in in_each_mode(model, configuration):
            shared = from_outline(model, solved)
            if shared is None:
                continue
            try:
                own = reported(lower(model, solved))
            except QpsError:
                continue
            found += 1
            whole = reported(shared)
            assert own.keys() <= whole.keys()
            for name, values in own.items():
                for one, other in zip(values, whole[name], strict=True):
                    assert other == pytest.approx(one, rel=1e-12, nan_ok=True), name
            for name in whole.keys() - own.keys():  # nothing loads it
                assert all(value[0] == 0 for value in whole[name]), name
    return found


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=nightly if path.stem == "three_regions" else ())
        for path in SPECS
    ],
)
def test_an_outline_equals_the_graph_of_each_configuration(path: Path) -> None:
    model = load(path).model
    has_elastic = any(one.is_elastic for one in model.parameters)
    assert agree(model, base_configuration(model)) > 0 or has_elastic


WAYS = [
    "at web { STEPS }\n over lan\n at db { STEPS }",
    "at web { STEPS }\n over lan\n at db { STEPS }\n over lan\n at web { STEPS }",
    "at web { STEPS; call db { INSIDE } }",
    "at web { call db * 30 % { INSIDE }; STEPS; call store * 2 { INSIDE } }",
    "at web { STEPS\n together {\n call db { INSIDE }\n call store { INSIDE }\n } }",
    "at web { STEPS; work to others }\n over lan\n at web { STEPS; mix; STEPS }",
    "at web { STEPS; work to all }\n over lan\n at web { STEPS }",
]
STEPS = [
    "work", "work * 2", "late if a", "late if not a", "odd if b == two", "odd * (count(db) - 1)",
    "thin", "mix", "slow", "work if a and b == one", "chatty if a",
]  # fmt: skip
INSIDE = [step for step in STEPS if step not in ("thin", "mix", "chatty if a")]
WAITS = ["", ", queueing mm1", ", queueing mmc", ", queueing md1", ", queueing periodic"]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw a spec of three nodes in some numbers, with choices on the way."""
    counts = st.sampled_from(["", " * 1", " * 2", " * 3", " * N"])
    waits = st.sampled_from(WAITS)

    def way(text: str) -> str:
        for word, known in ("STEPS", STEPS), ("INSIDE", INSIDE):
            while word in text:
                steps = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
                text = text.replace(word, "; ".join(steps), 1)
        return text

    whose = st.sampled_from(["for each user", "in all", "for each web"])
    streams = [
        f"stream s{i} {draw(whose)} {{\n traffic {draw(st.integers(1, 60))} request/s,"
        f" 2 kB/request\n {way(draw(st.sampled_from(WAYS)))}\n}}\n"
        for i in range(draw(st.integers(1, 3)))
    ]
    medium = draw(st.sampled_from(["shared", "switched", "duplex"]))
    places = "".join(
        f"  node {n} = {draw(st.sampled_from(['small', 'big', 'other']))}{draw(counts)}\n"
        for n in ("web", "db", "store")
    )
    return f"""users N in 2..60
quality worst
option a = on
option b = one or two
machine small {{ cpu 2 core{draw(waits)}; price 10 $ }}
machine big {{ cpu 8 core{draw(waits)}; price 20 $ }}
machine other {{ cpu 1 core; disk 10 MB/s; price 30 $ }}
network cable {{ {medium}; rate 100 Mbit/s{draw(st.sampled_from(["", "; queueing md1"]))} }}
network fast {{ {medium}; rate 200 Mbit/s; propagation 1 ms }}
component work {{ cpu 1 ms/request }}
component late {{ cpu 2 ms/request }}
component odd {{ cpu 3 us/byte }}
component chatty {{ cpu 1 ms/request; emit 50 % }}
component thin {{ cpu 1 ms/request; keep 80 % }}
component mix {{ cpu 1 ms/request; merge }}
component slow {{ cpu 1 ms/request single_thread }}
topology {{
{places}  link lan = cable between web, db, store
}}
{"".join(streams)}target cpu 70 %
require {{ s0.latency <= 5 s; cost <= 200 $ }}
"""


@settings(max_examples=examples(30), deadline=None)
@given(texts())
def test_outlines_of_generated_specs_equal_their_graphs(text: str) -> None:
    try:
        model = qps.loads(text).spec.model
    except qps.QpsError:
        return
    agree(model, base_configuration(model))


def advised(model: ir.Model, *, enough: int, scenario: str | None = None) -> object:
    """Return the advice where so many changes are worth an outline."""
    usual = with_scenarios(model, [scenario] if scenario else [], Sink())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(infeasibility_screen, "_ENOUGH", enough)
        return advise(model, usual, solve_model(model, usual))


@pytest.mark.parametrize(
    "name", [pytest.param("problem_solving", marks=nightly), "sfu", "capacity", "https_server"]
)
def test_advice_is_the_same_with_outlines_and_without(name: str) -> None:
    path = ROOT / "specs" / f"{name}.qps"
    assert advised(load(path).model, enough=0) == advised(load(path).model, enough=10**9)


def test_another_cached_outline_does_not_affect_this_one() -> None:
    """It has other assumptions, or none of those that count here."""
    path, scenario = ROOT / "specs" / "audioconference.qps", "without_deletion"
    alone = advised(load(path).model, enough=0, scenario=scenario)
    model = load(path).model
    advised(model, enough=0)
    assert advised(model, enough=0, scenario=scenario) == alone


@settings(max_examples=examples(15), deadline=None)
@given(texts())
def test_advice_of_generated_specs_is_the_same(text: str) -> None:
    try:
        found = advised(qps.loads(text).spec.model, enough=0)
    except qps.QpsError:
        return
    assert found == advised(qps.loads(text).spec.model, enough=10**9)


@pytest.mark.parametrize("queueing", ["", ", queueing mmc"])
def test_what_does_not_limit_is_not_lowered(queueing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = counted(monkeypatch, lowering, "_load_graph")
    model = qps.loads(shop(12, queueing)).spec.model
    usual = base_configuration(model)
    solution = solve_model(model, usual)
    answer = [one.change for one in advise(model, usual, solution)]
    assert "gateway = pod * 2" in answer
    assert len(made) < 10
