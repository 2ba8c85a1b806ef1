"""The load graph as a graph: its nodes, its flows, its demands, and the symbols of its loads."""

from __future__ import annotations

import networkx as nx
import pytest
import sympy

from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_source
from qps.engine.algebra import to_sympy
from qps.engine.formulas import total

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
stream talk {
  source 8000 byte/s in size
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


def _kinds(graph: LoadGraph) -> dict[str, int]:
    counted: dict[str, int] = {}
    for _, kind in graph.graph.nodes(data="kind"):
        counted[kind] = counted.get(kind, 0) + 1
    return counted


def test_nodes_are_sources_steps_links_and_resources(graph: LoadGraph) -> None:
    assert _kinds(graph) == {"source": 1, "step": 4, "link": 1, "resource": 2}


def test_a_step_that_is_switched_off_is_not_in_the_graph() -> None:
    outcome = check_source(Source("spec.qps", SPEC))
    assert outcome.value is not None
    quick = lower(outcome.value.model, outcome.value.configuration(None, ["quick = on"]))
    assert _kinds(quick)["step"] == 3


def test_flows_lead_from_the_source_to_every_step_and_link(graph: LoadGraph) -> None:
    flows = nx.MultiDiGraph()
    flows.add_edges_from((a, b) for a, b, kind in graph.graph.edges(data="kind") if kind == "flow")
    reached = nx.descendants(flows, ("source", "talk"))
    assert {place[0] for place in reached} == {"step", "link"}
    assert len(reached) == 5
    assert nx.is_directed_acyclic_graph(flows)


def test_flow_edges_carry_the_rates_in_force(graph: LoadGraph) -> None:
    rates = {
        target: data["rates"]["packet"]
        for _, target, data in graph.graph.edges(data=True)
        if data["kind"] == "flow"
    }
    by_component = {place[-1]: rate for place, rate in rates.items() if place[0] == "step"}
    assert graph.number(by_component["pack"]) == 8
    assert graph.number(by_component["take"]) == 4  # half of the packets are kept


def test_demands_on_a_resource_add_up_to_its_load(graph: LoadGraph) -> None:
    for name, resource in graph.resources.items():
        edges = graph.graph.in_edges(("resource", name), data=True)
        demands = [data["load"] for _, _, data in edges if data["kind"] == "demand"]
        load = to_sympy(resource.load)
        assert sympy.simplify(to_sympy(total(demands)) - load) == 0
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
