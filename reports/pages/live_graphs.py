"""Load graphs as a page holds them: what they come to as steps of its program, as records."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.lower.elastic import SettledParameter
from qps.compiler.lower.load_graph import Criterion, LoadGraph, NamedMeasure, ResourceLoad
from qps.compiler.lower.stream_measures import StreamMeasures
from qps.compiler.network.network import Network
from qps.compiler.quantities.dimension import MONEY, TIME
from qps.engine.formulas import ONE, Formula, total
from qps.reports.pages.json_values import Json
from qps.reports.pages.live_guards import Guard, Guards, guards_of
from qps.reports.pages.live_labels import changed_labels
from qps.reports.pages.live_numbers import LiveNumbers
from qps.reports.pages.live_records import Records, known_as, knowns, line
from qps.reports.pages.live_ways import route_of, steps_of, timed_stream
from qps.reports.pages.topology import Topology, places_of
from qps.reports.pages.way_strip import LEVEL
from qps.reports.text.quantities import in_percent, is_share
from qps.reports.text.settable import settable_numbers
from qps.solver.answers.answering import all_criteria, has_endless_value, rests_on_users
from qps.solver.answers.capacity import excess, excess_shown
from qps.solver.answers.impossible import impossible
from qps.solver.answers.saturation import is_filled
from qps.solver.answers.solution import QUALITY
from qps.solver.what_if.candidates import numbers_of_limits


class LiveGraphs:
    """Tells load graphs as records."""

    def __init__(self, model: ir.Model, records: Records, topology: Topology) -> None:
        self._model = model
        self._records = records
        self._topology = topology
        self._numbers = LiveNumbers(model, records)

    def graph(
        self, graph: LoadGraph, configuration: Configuration, elastic: Collection[str]
    ) -> int:
        """Return the record of a graph of a configuration; what is `elastic` in a mode of it.

        A number that a mode makes of that cannot be moved: `--set` would set it in the others, too.
        """
        step = self._records.step
        guards = guards_of(self._model, configuration, graph)
        labelled = self._labelled(graph)
        limits, needs = numbers_of_limits(graph), _needs(graph)
        settable = settable_numbers(self._model, configuration)
        return self._records.record(
            {
                "mode": graph.mode,
                "low": graph.low,
                "high": graph.high,
                "restsOnUsers": rests_on_users(graph),
                "numbers": [
                    self._numbers.assumption(
                        a,
                        graph,
                        guards.of_numbers.get(a.span),
                        is_elastic_elsewhere=a.name in elastic,
                        is_limit=a.name in limits,
                        is_need=a.name in needs,
                        is_set_by_name=settable.get(a.name) == a.fraction,
                    )
                    for a in graph.assumptions.values()
                ],
                "resources": [
                    self._resource(r, graph.network, is_filled=is_filled(graph, r.name))
                    for r in graph.resources.values()
                ],
                **labelled,
                **self._changed(graph, labelled, configuration, guards),
                "elastic": [self._elastic(settled) for settled in graph.elastic],
                "costs": self._costs(graph),
                "unpriced": list(graph.unpriced),
                "bounds": [[step(over), text] for over, text in _bounds(graph)],
                "guards": [self._guard(guard) for guard in guards.others],
                "quality": None if graph.quality_value is None else step(graph.quality_value),
                "metric": graph.metric.value,
                "asked": timed_stream(graph),
            }
        )

    def _labelled(self, graph: LoadGraph) -> dict[str, Json]:
        """Return all of a graph that tells how it is known."""
        return {
            "streams": [self._stream(s, graph.network) for s in graph.streams.values()],
            "criteria": [self._criterion(graph, c) for c in all_criteria(graph)],
            "measures": [self._measure(m) for m in graph.measures.values()],
            "qualityKnown": {
                "known": known_as(graph.quality_known),
                "knownInSeries": known_as(graph.quality_in_series),
            },
        }

    def _changed(
        self,
        graph: LoadGraph,
        usual: Mapping[str, Json],
        configuration: Configuration,
        guards: Guards,
    ) -> dict[str, Json]:
        """Return how the same is known at other values of some numbers; nothing where no worse."""
        other = changed_labels(self._model, configuration, graph, guards)
        if other is None:
            return {}
        weaker = self._labelled(other.graph)
        told = {name: value for name, value in weaker.items() if value != usual[name]}
        return {"changed": {"numbers": other.numbers, "labelled": told}} if told else {}

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
                "over": self._records.program.join("-", step(resource.asked), target),
                "target": target,
                "isFilled": is_filled,
                "parts": parts,
                **({} if streams == parts else {"streams": streams}),
                "carried": None if resource.throughput is None else step(resource.throughput),
                "count": step(resource.count),
                "portOf": resource.port_of,
                "at": [numbers[place] for place in places_of(network, resource.name)],
            }
        )

    def _stream(self, stream: StreamMeasures, network: Network) -> int:
        step = self._records.step
        route = route_of(network, self._topology, stream.name)
        way = [
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
            for one in steps_of(stream, network, route.ends)
        ]
        return self._records.record(
            {
                "name": stream.name,
                "way": way,
                "route": self._records.record(
                    {"places": list(route.places), "joins": list(map(list, route.joins))}
                ),
                "latency": step(stream.mean_latency),
                "jitter": step(total(part.value for part in stream.jitter)),
                "latencyKnown": known_as(stream.latency_certainty),
                "late": step(stream.latency_quantile(LEVEL)),
                "lateKnown": known_as(stream.quantile_certainty(LEVEL)),
                "jitterKnown": known_as(stream.jitter_certainty),
                "saturating": list(stream.saturating),
                "buffer": step(stream.buffer),
                "loss": step(stream.loss),
                "rate": step(stream.rate),
                "throughput": step(stream.throughput),
            }
        )

    def _criterion(self, graph: LoadGraph, criterion: Criterion) -> int:
        step = self._records.step
        share = in_percent(criterion)
        resource = None if criterion.span is not None else _resource_of(graph, criterion)
        return self._records.record(
            {
                "name": criterion.name,
                "measure": step(criterion.value),
                "limit": step(criterion.limit),
                "over": step(excess(criterion)),
                **self._over_shown(graph, criterion),
                "atMost": criterion.at_most,
                "strict": criterion.strict,
                "axis": None if criterion.axis_value is None else step(criterion.axis_value),
                "stated": criterion.span is not None,
                **({"isQuality": True} if criterion.name == QUALITY else {}),
                **({} if resource is None else {"resource": resource}),
                **({} if criterion.certainty is None else {"certainty": criterion.certainty}),
                **knowns(criterion),
                "dimension": self._records.dimension(criterion.dimension),
                "share": share,
            }
        )

    def _over_shown(self, graph: LoadGraph, criterion: Criterion) -> dict[str, Json]:
        """Return by how much the value that is shown is beyond the limit, where that may differ."""
        if not has_endless_value(graph, criterion):
            return {}
        return {"overShown": self._records.step(excess_shown(criterion))}

    def _elastic(self, settled: SettledParameter) -> int:
        step, parameter = self._records.step, settled.parameter
        one = step(ONE)

        def over(loads: Mapping[str, Formula]) -> list[Json]:
            return [
                [name, self._records.program.join("-", step(v), one)] for name, v in loads.items()
            ]

        return self._records.record(
            {
                "name": parameter.name,
                "value": step(settled.value),
                "least": step(parameter.least),
                "most": step(parameter.most),
                "dimension": self._records.dimension(parameter.dimension),
                "atMost": over(settled.at_most),
                "atLeast": over(settled.at_least),
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

    def _guard(self, guard: Guard) -> int:
        value = self._records.step(guard.value)
        return self._records.record({"value": value, "bound": guard.bound.name, "text": guard.text})


def _resource_of(graph: LoadGraph, criterion: Criterion) -> int | None:
    """Return the number of the resource of which a criterion judges the utilization."""
    names = [utilization_of(name) for name in graph.resources]
    return names.index(criterion.name) if criterion.name in names else None


def _needs(graph: LoadGraph) -> set[str]:
    """Return the names of the limits and ideals that requirements state."""
    stated = [one.name for one in graph.criteria if one.span is not None]
    return {f"{what} of {name}" for name in stated for what in ("limit", "ideal")}


def _bounds(graph: LoadGraph) -> list[tuple[Formula, str]]:
    """Return what must stay at or below zero, and what is wrong where it does not."""
    return [(over, text) for over, text, _ in impossible(graph) if over.symbols]
