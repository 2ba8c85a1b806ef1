"""Load graphs as a page holds them: what they come to as steps of its program, as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from qps.compiler import ir
from qps.compiler.lower.closed_networks.elastic_parameters import ElasticFormula
from qps.compiler.lower.load_graph import LoadGraph, NamedMeasure
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.network.network import Network
from qps.compiler.quantities.dimension import MONEY, TIME
from qps.engine.expressions.formulas import ONE, Formula, total
from qps.reports.pages.drawings.drawing_topology import DrawingTopology, places_of
from qps.reports.pages.json_values import Json
from qps.reports.pages.live.live_numbers import LiveNumbers
from qps.reports.pages.live.live_records import LiveRecords, known_as, knowns, line
from qps.reports.text.words.quantities import in_percent, is_share
from qps.solver.answers.solution import QUALITY
from qps.solver.details.request_path import Path
from qps.solver.variants.incident_formulas import FormulaTree
from qps.solver.variants.variant_graphs import (
    ChangedGraph,
    CriteriaGraph,
    CriterionExcess,
    VariantGraph,
)
from qps.solver.variants.variant_guards import VariantGuard


class LiveGraphs:
    """Tells load graphs as records."""

    def __init__(self, model: ir.Model, records: LiveRecords, topology: DrawingTopology) -> None:
        self._records = records
        self._topology = topology
        self._numbers = LiveNumbers(model, records)

    def graph(self, variant: VariantGraph) -> int:
        """Return the record of the graph of a variant."""
        step, graph = self._records.step, variant.graph
        incidents = _stepped(variant.incidents, step)
        labeled, names = self._labeled(variant.criteria_graph), list(graph.streams)
        return self._records.record(
            {
                "mode": graph.mode,
                "low": graph.low,
                "high": graph.high,
                "restsOnUsers": variant.rests_on_users,
                "numbers": [self._numbers.of_graph(number) for number in variant.numbers],
                "resources": [
                    self._resource(r, graph.network, is_filled=name in variant.filled)
                    for name, r in graph.resources.items()
                ],
                **labeled,
                **self._changed(variant.changed, labeled),
                "elastic": [self._elastic(elastic) for elastic in graph.elastic],
                "costs": self._costs(graph),
                "unpriced": list(graph.stated.unpriced),
                "bounds": [[step(over), text] for over, text in variant.impossible],
                "guards": [self._guard(guard) for guard in variant.guards],
                "quality": None if graph.quality_value is None else step(graph.quality_value),
                "metric": graph.metric.value,
                **({} if incidents is None else {"incidents": incidents}),
                "drawn": None if variant.drawn is None else names.index(variant.drawn),
            }
        )

    def _labeled(self, criteria: CriteriaGraph) -> dict[str, Json]:
        """Return all of a graph that says how it is known."""
        graph = criteria.graph
        return {
            "streams": [self._stream(s, criteria.paths[name]) for name, s in graph.streams.items()],
            "criteria": [self._criterion(graph, one) for one in criteria.criteria],
            "measures": [self._measure(m) for m in graph.measures.values()],
            "qualityKnown": {
                "known": known_as(graph.analysis.criteria.quality_known),
                "knownInSeries": known_as(graph.analysis.criteria.quality_in_series),
            },
        }

    def _changed(
        self, graphs: Sequence[ChangedGraph], usual: Mapping[str, Json]
    ) -> dict[str, Json]:
        """Return how the same is known at other values of some numbers; nothing where no worse."""
        found: list[Json] = []
        for one in graphs:
            weaker = self._labeled(one.criteria_graph)
            differing = {name: value for name, value in weaker.items() if value != usual[name]}
            if differing:
                found.append({"numbers": one.numbers, "labeled": differing})
        return {"changed": found} if found else {}

    def _measure(self, measure: NamedMeasure) -> int:
        return self._records.record(
            {
                "name": measure.name,
                "value": self._records.step(measure.value),
                "dimension": self._records.dimension(measure.dimension),
                **({"share": True} if is_share(measure.name) else {}),
                "doc": line(measure.doc),
                **knowns(measure),
            }
        )

    def _resource(self, resource: ResourceLoad, network: Network, *, is_filled: bool) -> int:
        step = self._records.step
        load, target, numbers = step(resource.load), step(resource.target), self._topology.numbers
        parts: list[Json] = [[by, step(part)] for by, part in resource.parts.items()]
        streams: list[Json] = [[of, step(part)] for of, part in resource.streams.items()]
        return self._records.record(
            {
                "name": resource.name,
                "load": load,
                "over": self._records.program.join("-", step(resource.demand), target),
                "target": target,
                "isFilled": is_filled,
                "parts": parts,
                **({} if streams == parts else {"streams": streams}),
                "throughput": None if resource.throughput is None else step(resource.throughput),
                "count": step(resource.count),
                "portOf": resource.port_of,
                "at": [numbers[place] for place in places_of(network, resource.name)],
            }
        )

    def _stream(self, stream: StreamMeasures, path: Path) -> int:
        step, numbers = self._records.step, self._topology.numbers
        steps = [
            self._records.record(
                {
                    "kind": one.kind,
                    "depth": one.depth,
                    "name": one.name,
                    "place": one.place,
                    **({"apart": True} if one.is_apart else {}),
                    "value": step(one.value),
                    "known": known_as(one.known),
                }
            )
            for one in path.steps
        ]
        places = [numbers[place] for place in path.route.places]
        joins = [list(join) for join in self._topology.numbered(path.route)]
        return self._records.record(
            {
                "name": stream.name,
                "path": steps,
                "route": self._records.record({"places": places, "joins": joins}),
                "latency": step(stream.mean_latency),
                "jitter": step(total(part.value for part in stream.jitter)),
                "latencyKnown": known_as(stream.latency_certainty),
                "late": step(path.late),
                "lateKnown": known_as(path.late_known),
                "jitterKnown": known_as(stream.jitter_certainty),
                "saturating": list(stream.saturating),
                "buffer": step(stream.buffer),
                "loss": step(stream.loss),
                "rate": step(stream.rate),
                "throughput": step(stream.throughput),
            }
        )

    def _criterion(self, graph: LoadGraph, criteria: CriterionExcess) -> int:
        step, criterion, shown = self._records.step, criteria.criterion, criteria.over_shown
        numbers = list(graph.resources)
        return self._records.record(
            {
                "name": criterion.name,
                "measure": step(criterion.value),
                "limit": step(criterion.limit),
                "over": step(criteria.over),
                **({} if shown is None else {"overShown": step(shown)}),
                "atMost": criterion.at_most,
                "strict": criterion.strict,
                "axis": None if criterion.axis_value is None else step(criterion.axis_value),
                "stated": criterion.span is not None,
                **({"isQuality": True} if criterion.name == QUALITY else {}),
                **(
                    {}
                    if criteria.resource is None
                    else {"resource": numbers.index(criteria.resource)}
                ),
                **({} if criterion.certainty is None else {"certainty": criterion.certainty}),
                **knowns(criterion),
                "dimension": self._records.dimension(criterion.dimension),
                "share": in_percent(criterion),
            }
        )

    def _elastic(self, elastic: ElasticFormula) -> int:
        step, parameter = self._records.step, elastic.parameter
        one = step(ONE)

        def over(loads: Mapping[str, Formula]) -> list[Json]:
            return [
                [name, self._records.program.join("-", step(v), one)] for name, v in loads.items()
            ]

        return self._records.record(
            {
                "name": parameter.name,
                "value": step(elastic.value),
                "least": step(parameter.least),
                "most": step(parameter.most),
                "dimension": self._records.dimension(parameter.dimension),
                "atMost": over(elastic.at_most),
                "atLeast": over(elastic.at_least),
            }
        )

    def _costs(self, graph: LoadGraph) -> list[Json]:
        found: list[Json] = []
        for is_running, dimension in ((False, MONEY), (True, MONEY / TIME)):
            total = graph.cost(is_running=is_running)
            if total is not None:
                found.append(
                    {
                        "running": is_running,
                        "total": self._records.step(total),
                        "dimension": self._records.dimension(dimension),
                    }
                )
        return found

    def _guard(self, guard: VariantGuard) -> int:
        value = self._records.step(guard.value)
        return self._records.record({"value": value, "bound": guard.bound.name, "text": guard.text})


def _stepped(tree: FormulaTree, step: Callable[[Formula], int]) -> Json:
    """Return a tree of formulas with the numbers of their steps."""
    match tree:
        case Formula():
            return step(tree)
        case str() | bool() | None:
            return tree
        case Mapping():
            return {name: _stepped(part, step) for name, part in tree.items()}
    return [_stepped(part, step) for part in tree]
