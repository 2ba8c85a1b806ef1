"""The load graph: its stages, its demands, and the symbols of its loads."""

from __future__ import annotations

import pytest
import sympy

from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_source
from qps.engine.expressions.formulas import total
from qps.engine.expressions.sympy_algebra import to_sympy

SPEC = """
users N in 2..200
unit score of rating
machine box { cpu 10 score }
network wire { rate 10 Mbit/s }
option quick = off
param size = 1000 byte/packet
costs measured on box
component make { cpu 1 ms/packet }
component pack { cpu 2 ms/packet; keep 50 % }
component take { cpu 0.001 ms/byte }
topology {
  node client = box * N
  link lan = wire between client
}
stream talk for each client {
  traffic 8000 byte/s, size
  at client { make; pack if not quick; make to others }
  over lan
  at client { take }
}
"""


@pytest.fixture(scope="module")
def graph() -> LoadGraph:
    outcome = check_source(Source("spec.qps", SPEC))
    assert outcome.value is not None, outcome.diagnostics
    return lower(outcome.value.model, outcome.value.configuration())


def stages(graph: LoadGraph) -> list[str]:
    return [part.stage for part in graph.streams["talk"].latency]


def test_stages_are_the_steps_and_links_on_the_way(graph: LoadGraph) -> None:
    start, *steps = stages(graph)
    assert start == "packetisation"
    assert steps == [
        "make at client", "pack at client", "make at client", "over lan", "take at client"
    ]  # fmt: skip


def test_a_step_that_is_switched_off_is_not_in_the_graph() -> None:
    outcome = check_source(Source("spec.qps", SPEC))
    assert outcome.value is not None
    quick = lower(outcome.value.model, outcome.value.configuration(None, ["quick = on"]))
    assert "pack at client" not in stages(quick)


def test_flows_arrive_with_the_rates_in_force(graph: LoadGraph) -> None:
    assert graph.number(graph.streams["talk"].rate) == 4  # half of 8 packets/s are kept


def test_demands_on_a_resource_add_up_to_its_load(graph: LoadGraph) -> None:
    assert graph.resources["client.cpu"].parts.keys() == {"make", "pack", "take"}
    for resource in graph.resources.values():
        load = to_sympy(resource.load)
        assert sympy.simplify(to_sympy(total(resource.parts.values())) - load) == 0


def test_the_symbols_are_the_population_and_the_assumptions(graph: LoadGraph) -> None:
    assert graph.population.is_population
    symbols = frozenset().union(*(r.load.symbols for r in graph.resources.values()))
    assert symbols - {graph.population} <= {a.symbol for a in graph.assumptions.values()}


def test_every_assumption_knows_where_it_stands(graph: LoadGraph) -> None:
    for assumption in graph.assumptions.values():
        assert assumption.span.text.replace(" ", "") == assumption.text.replace(" ", "")
    assert graph.assumptions["size"].text == "1000 byte/packet"
    assert graph.assumptions["size"].value.exact == 8000


def test_it_remembers_few_populations(graph: LoadGraph) -> None:
    first = graph.at(1)
    assert graph.at(1) is first
    for population in range(2, 500):
        graph.at(population)
        assert graph.at(1) is first  # what is asked for again and again stays
    assert len(graph._at) <= 32
    assert graph.at(2) is not None
