"""By which formulas a page computes where a number is changed: those of `solve`, if it can."""

from __future__ import annotations

from helpers.specs import checked
from qps.compiler.configure.configuration import base_configuration
from qps.solver.variants.starting_points import StartingPoint
from qps.solver.variants.variant_graphs import VariantGraph
from qps.solver.variants.variants import variants_of

SPEC = """
users N in 1..1_000
param pace = 1 request/s in 0.1..9 request/s
param often = {often} in 0..3
machine m {{ cpu 1 core, queueing md1 }}
machine p {{ cpu 4 core, queueing mmc }}
network lan {{ propagation 1 ms }}
component ask {{ cpu 100 us/request }}
component get {{ cpu 200 us/request }}
topology {{ node web = p; node db = m; link l = lan between web, db }}
stream s for each user {{ traffic pace; at web {{ ask; call db * often {{ get }} }} }}
require {{ s.latency <= 1 s; s.p99 <= 2 s }}
"""


def graph_of(often: str) -> VariantGraph:
    model = checked(SPEC.format(often=often)).model
    found = variants_of(model, [StartingPoint("as it is", base_configuration(model))])
    (graph,) = next(variant.graphs for variant in found.variants if variant.is_start)
    return graph


def test_a_number_that_decides_on_no_formula_leaves_them_as_they_are() -> None:
    """Calls of one and a half return to the queue; so they do at another pace."""
    graph = graph_of("1.5")
    by_often, *others = graph.changed
    assert "often" in by_often.numbers
    assert "pace" not in by_often.numbers
    latency = graph.graph.streams["s"].mean_latency
    assert by_often.criteria_graph.graph.streams["s"].mean_latency is not latency
    assert all("often" not in one.numbers for one in others)
    assert all(one.criteria_graph.graph.streams["s"].mean_latency is latency for one in others)


def test_percentiles_of_a_chance_stay_those_of_a_chance() -> None:
    graph = graph_of("0.15")
    p99 = next(one for one in graph.criteria_graph.criteria if one.criterion.name == "s.p99")
    for one in graph.changed[1:]:
        (other,) = [c for c in one.criteria_graph.criteria if c.criterion.name == "s.p99"]
        assert other.criterion.value is p99.criterion.value
    assert any("often" in one.numbers for one in graph.changed)
