"""A model as a page holds it: its program, its variants, its numbers, as plain JSON values.

Names of the keys are those that the scripts of the page read; `scripts/model.js` tells what
they do with them. What many variants have in common stands once, in `records`, and variants
name it by its number there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from qps.compiler import ir
from qps.compiler.configure.allowed_values import Bound
from qps.compiler.configure.bounded import Bounded
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    changed_by_modes,
)
from qps.compiler.diagnostics.render import printable
from qps.compiler.lower.certainty_asked import judged_plainly
from qps.compiler.lower.elastic import SettledParameter
from qps.compiler.lower.load_graph import (
    Assumption,
    Criterion,
    LoadGraph,
    NamedMeasure,
    ResourceLoad,
)
from qps.compiler.lower.stream_measures import StreamMeasures
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    INFORMATION,
    MONEY,
    TIME,
    Dimension,
)
from qps.engine.formulas import ONE, Formula, total
from qps.engine.formulas import population as population_symbol
from qps.reports.pages.live_docs import docs_of, labels_in_page
from qps.reports.pages.live_guards import Guard, Guards, guards_of
from qps.reports.pages.live_labels import changed_labels
from qps.reports.pages.live_promises import promises_of
from qps.reports.pages.live_spreads import spreads_of
from qps.reports.pages.live_ways import Route, drawing_of, routes_of, steps_of
from qps.reports.pages.page_program import Program
from qps.reports.pages.topology import topology_of
from qps.reports.pages.variants import Select, Start, Variant, Variants
from qps.reports.pages.way_strip import LEVEL
from qps.reports.text.labels import labels_of
from qps.reports.text.quantities import in_percent, scales
from qps.reports.text.settable import settable_numbers
from qps.reports.text.view import MONTH
from qps.reports.text.written import interval_text, unit_of
from qps.solver.answers.answering import all_criteria, rests_on_users
from qps.solver.answers.capacity import excess
from qps.solver.answers.impossible import impossible
from qps.solver.answers.saturation import is_filled
from qps.solver.what_if.candidates import numbers_of_limits

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

_ALWAYS_TOLD = (TIME, TIME * TIME, DATA_RATE, INFORMATION)
"""Dimensions of what every page tells: latencies, jitters, rates, volumes."""

_OF_STREAMS = ("latency", "jitter", "loss", "throughput")


class LiveModel:
    """Gathers a model's records and its program."""

    def __init__(self, model: ir.Model, variants: Variants) -> None:
        self._asking = model
        self._model = model.once(judged_plainly)
        self._variants = variants
        self._program = Program(population_symbol(model.population.name))
        self._records: list[Json] = []
        self._known: dict[str, int] = {}
        self._bytes = 0
        self._is_cut_short = False
        self._dimensions: dict[Dimension, None] = dict.fromkeys(_ALWAYS_TOLD)
        self._topology = topology_of(model)
        self._parameters = {parameter.name: parameter for parameter in model.parameters}

    @property
    def size(self) -> int:
        """How many bytes the records and the steps take, nearly."""
        return self._bytes + 20 * len(self._program.steps)

    def as_json(self, most: int) -> dict[str, Json]:
        """Return the model for the page, in about as many bytes at most."""
        variants, starts = self._variants, self._variants.starts
        told = [self._start(start) for start in starts]
        held = list(self._fitting(most))
        base = base_configuration(self._model)
        fixed = {node.name: node.machine for node in base.nodes.values()}
        fixed |= {link.name: link.network for link in base.links.values()}
        return {
            "file": self._model.file,
            "population": self._model.population.name,
            "selects": [self._select(select) for select in variants.selects],
            "starts": told,
            "variants": [built for _, built in held],
            "notes": self._notes([variant for variant, _ in held]),
            "fixedPlaces": fixed,
            "records": self._records,
            "steps": [list(step) for step in self._program.steps],  # type: ignore[arg-type]
            "laws": self._program.laws,
            "month": MONTH,
            "units": {str(d): [list(s) for s in scales(d)] for d in self._dimensions},
            "topology": drawing_of(self._topology),
            "docs": docs_of(self._model, self._hardware_told(fixed)),
            "labels": labels_in_page(self._model.once(labels_of), self._named(fixed)),
            "intervals": {bound.name: _interval(bound) for bound in Bound},
        }

    def _hardware_told(self, fixed: Mapping[str, str]) -> list[str]:
        """Return the names of machines and networks that the page may tell of."""
        choices = [text for select in self._variants.selects for text in select.texts]
        return [*fixed.values(), *(text.partition(" * ")[0] for text in choices)]

    def _named(self, fixed: Mapping[str, str]) -> Iterator[str]:
        """Yield all names that the page may tell."""
        yield from (*fixed, *self._hardware_told(fixed))
        yield from (select.name for select in self._variants.selects)
        for stream in self._model.streams:
            yield from (f"{stream.name}.{measure}" for measure in _OF_STREAMS)
        for record in self._records:
            if isinstance(record, dict):
                yield from (name for name in (record.get("name"),) if isinstance(name, str))
                yield from (name for name, _ in record.get("parts", ()))

    # -- what can be chosen --------------------------------------------------------------

    def _select(self, select: Select) -> Json:
        return {
            "kind": select.kind,
            "name": select.name,
            "choices": list(select.texts),
            "usual": int(select.usual.value) if isinstance(select.usual, ir.Constant) else None,
            "doc": _line(select.doc),
        }

    def _start(self, start: Start) -> Json:
        """Return a start: what it picks, and the parameters that it sets to other numbers.

        What a mode sets goes before these, and stands in the graph of the mode.
        """
        usual = base_configuration(self._model).parameters
        beaten = changed_by_modes(self._model, start.configuration)
        numbers = []
        for name, value in start.configuration.parameters.items():
            if name not in beaten and value != usual[name] and isinstance(value, ir.Constant):
                span = start.configuration.values_from[name]
                declared = self._parameters[name]
                numbers.append(
                    self._number(
                        name,
                        value.value,
                        declared.dimension,
                        span.text,
                        f"set at {span.place}",
                        None,
                    )
                )
        return {
            "name": start.name,
            "scenario": start.configuration.scenario,
            "settings": list(start.settings),
            "doc": _line(start.doc),
            "shape": start.shape,
            "picks": list(start.picks),
            "numbers": numbers,
            **self._uncertain(start),
        }

    def _uncertain(self, start: Start) -> dict[str, Json]:
        """Return what is not known in each mode of a start; nothing where all is known."""
        found = spreads_of(self._model, start.configuration)
        if not found:
            return {}
        by_mode: dict[str, Json] = {
            mode: [self._record(number) for number in numbers] for mode, numbers in found.items()
        }
        told: dict[str, Json] = {"uncertain": by_mode}
        promised = promises_of(self._asking, start.configuration)
        return told | ({"promised": promised} if promised else {})

    # -- variants ------------------------------------------------------------------------

    def _fitting(self, most: int) -> Iterator[tuple[Variant, Json]]:
        """Yield the variants that fit into so many bytes: those that a reader starts from do."""
        for variant in self._variants.variants:
            if self.size > most and not variant.is_start:
                self._is_cut_short = True
                return
            yield variant, self._variant(variant)

    def _notes(self, held: Sequence[Variant]) -> list[Json]:
        """Tell what of a model is not in the page, and how to get it."""
        notes: list[Json] = []
        variants, file = self._variants, self._model.file
        if self._is_cut_short or not variants.are_all(held):
            notes.append(
                f"Choices, machines and networks have {variants.combinations:,} combinations; the "
                f"page holds {len(held)}, those nearest to what it started from. What is not in "
                f"this page can be had with `qps report {file} --set NAME=CHOICE`, and more at "
                "once with `--variants`."
            )
        notes += [
            f"Scenario {name} has no answer: see `qps solve {file} --scenario {name}`."
            for name in variants.unanswered
        ]
        return notes

    def _variant(self, variant: Variant) -> Json:
        return {
            "shape": variant.shape,
            "picks": [
                pick if index in variant.asked else -1 for index, pick in enumerate(variant.picks)
            ],
            "graphs": [
                self._graph(graph, configuration)
                for graph, configuration in zip(variant.graphs, variant.configurations, strict=True)
            ],
        }

    def _graph(self, graph: LoadGraph, configuration: Configuration) -> int:
        step = self._program.step
        guards = guards_of(self._model, configuration, graph)
        labelled = self._labelled(graph, configuration)
        limits = numbers_of_limits(graph)
        settable = settable_numbers(self._model, configuration)
        return self._record(
            {
                "mode": graph.mode,
                "low": graph.low,
                "high": graph.high,
                "restsOnUsers": rests_on_users(graph),
                "numbers": [
                    self._assumption(
                        a,
                        graph,
                        guards.of_numbers.get(a.span),
                        is_limit=a.name in limits,
                        is_set_by_name=settable.get(a.name) == a.fraction,
                    )
                    for a in graph.assumptions.values()
                ],
                "resources": [
                    self._resource(r, is_filled=is_filled(graph, r.name))
                    for r in graph.resources.values()
                ],
                **labelled,
                **self._changed(graph, labelled, configuration, guards),
                "elastic": [self._elastic(settled) for settled in graph.elastic],
                "costs": self._costs(graph),
                "unpriced": list(graph.unpriced),
                "bounds": [[step(over), text] for over, text in _bounds(graph)],
                "guards": [self._guard(guard) for guard in guards.others],
                "quality": None if graph.quality is None else step(graph.quality),
                "metric": graph.metric.value,
            }
        )

    def _labelled(self, graph: LoadGraph, configuration: Configuration) -> dict[str, Json]:
        """Return all of a graph that tells how it is known."""
        route_of = routes_of(self._model, configuration, self._topology)
        return {
            "streams": [
                self._stream(s, configuration, route_of(s.name)) for s in graph.streams.values()
            ],
            "criteria": [self._criterion(c) for c in all_criteria(graph)],
            "measures": [self._measure(m) for m in graph.measures.values()],
            "qualityKnown": {
                "known": _known(graph.quality_known),
                "knownInSeries": _known(graph.quality_in_series),
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
        weaker = self._labelled(other.graph, configuration)
        told = {name: value for name, value in weaker.items() if value != usual[name]}
        return {"changed": {"numbers": other.numbers, "labelled": told}} if told else {}

    def _measure(self, measure: NamedMeasure) -> int:
        return self._record(
            {
                "name": measure.name,
                "value": self._program.step(measure.value),
                "dimension": self._dimension(measure.dimension),
                "doc": _line(measure.doc),
                **_knowns(measure),
            }
        )

    def _resource(self, resource: ResourceLoad, *, is_filled: bool) -> int:
        step = self._program.step
        load, target = step(resource.load), step(resource.target)
        parts: list[Json] = [[by, step(part)] for by, part in resource.parts.items()]
        streams: list[Json] = [[of, step(part)] for of, part in resource.streams.items()]
        return self._record(
            {
                "name": resource.name,
                "load": load,
                "over": self._program.join("-", step(resource.asked), target),
                "target": target,
                "isFilled": is_filled,
                "parts": parts,
                **({} if streams == parts else {"streams": streams}),
                "carried": None if resource.throughput is None else step(resource.throughput),
                "count": step(resource.count),
                "portOf": resource.port_of,
            }
        )

    def _stream(self, stream: StreamMeasures, configuration: Configuration, route: Route) -> int:
        step = self._program.step
        way = [
            self._record(
                {
                    "kind": one.kind,
                    "depth": one.depth,
                    "name": one.name,
                    "place": one.place,
                    **({"apart": True} if one.is_apart else {}),
                    "value": step(one.value),
                    "known": _known(one.known),
                }
            )
            for one in steps_of(stream, configuration, route.ends)
        ]
        return self._record(
            {
                "name": stream.name,
                "way": way,
                "route": self._record(
                    {"places": list(route.places), "joins": list(map(list, route.joins))}
                ),
                "latency": step(stream.mean_latency),
                "jitter": step(total(part.value for part in stream.jitter)),
                "latencyKnown": _known(stream.latency_certainty),
                "late": step(stream.latency_quantile(LEVEL)),
                "lateKnown": _known(stream.quantile_certainty(LEVEL)),
                "jitterKnown": _known(stream.jitter_certainty),
                "saturating": list(stream.saturating),
                "buffer": step(stream.buffer),
                "loss": step(stream.loss),
                "rate": step(stream.rate),
                "throughput": step(stream.throughput),
            }
        )

    def _criterion(self, criterion: Criterion) -> int:
        step = self._program.step
        share = in_percent(criterion)
        return self._record(
            {
                "name": criterion.name,
                "measure": step(criterion.measure),
                "limit": step(criterion.limit),
                "over": step(excess(criterion)),
                "atMost": criterion.at_most,
                "strict": criterion.strict,
                "axis": None if criterion.axis is None else step(criterion.axis),
                "stated": criterion.span is not None,
                **({} if criterion.certainty is None else {"certainty": criterion.certainty}),
                **_knowns(criterion),
                "dimension": self._dimension(criterion.dimension),
                "share": share,
            }
        )

    def _elastic(self, settled: SettledParameter) -> int:
        step, parameter = self._program.step, settled.parameter
        one = step(ONE)

        def over(loads: Mapping[str, Formula]) -> list[Json]:
            return [[name, self._program.join("-", step(v), one)] for name, v in loads.items()]

        return self._record(
            {
                "name": parameter.name,
                "value": step(settled.value),
                "least": step(parameter.least),
                "most": step(parameter.most),
                "dimension": self._dimension(parameter.dimension),
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
                        "total": self._program.step(total),
                        "dimension": self._dimension(dimension),
                    }
                )
        return found

    # -- numbers -------------------------------------------------------------------------

    def _guard(self, guard: Guard) -> int:
        value = self._program.step(guard.value)
        return self._record({"value": value, "bound": guard.bound.name, "text": guard.text})

    def _assumption(
        self,
        assumption: Assumption,
        graph: LoadGraph,
        bounded: Bounded | None,
        *,
        is_limit: bool,
        is_set_by_name: bool,
    ) -> int:
        return self._number(
            assumption.name,
            assumption.fraction,
            assumption.dimension,
            assumption.text,
            assumption.source or "",
            assumption.span.place,
            bounded=bounded,
            is_capacity=assumption.is_capacity,
            is_decided=assumption.name in graph.decided or self._is_mixed_in(assumption, graph),
            is_limit=is_limit,
            is_set_by_name=is_set_by_name,
            counts_things=assumption.counts_things,
            interval=interval_text(self._model, assumption),
        )

    def _is_mixed_in(self, assumption: Assumption, graph: LoadGraph) -> bool:
        """Tell whether a parameter counts in other numbers too: by kinds, or in another case."""
        kinds = {
            parameter.name: [kind.parameter for kind in parameter.value.classes]
            for parameter in self._model.parameters
            if isinstance(parameter.value, ir.Mixture)
        }
        cases = [f"{assumption.name}.{case.value}" for case in ir.Case]
        others = [*cases, *kinds.get(assumption.name, [])]
        is_kind = any(assumption.name in own for own in kinds.values())
        return is_kind or any(name in graph.assumptions for name in others)

    def _number(
        self,
        name: str,
        value: Fraction,
        dimension: Dimension,
        text: str,
        source: str,
        place: str | None,
        *,
        bounded: Bounded | None = None,
        is_capacity: bool = False,
        is_decided: bool = False,
        is_limit: bool = False,
        is_set_by_name: bool = False,
        counts_things: bool = False,
        interval: str = "",
    ) -> int:
        declared = self._parameters.get(name)
        is_set_by_name = is_set_by_name or declared is not None
        factor, unit = unit_of(text, value, dimension)
        low, high = (_bound(declared, end) for end in ("low", "high"))
        return self._record(
            {
                "name": name,
                "value": _exact(value),
                "factor": _exact(factor),
                "unit": unit,
                "text": _line(text),
                "dimension": self._dimension(dimension),
                "low": low,
                "high": high,
                "parameter": declared is not None and declared.has_own_name,
                **({"set": True} if is_set_by_name else {}),
                **({"counts": True} if counts_things else {}),
                "capacity": is_capacity,
                "decided": is_decided,
                "limit": is_limit,
                "interval": interval,
                "place": place,
                "source": _line(source),
                "bound": None if bounded is None else bounded.bound.name,
                "what": "" if bounded is None else bounded.what,
            }
        )

    def _dimension(self, dimension: Dimension) -> str:
        self._dimensions.setdefault(dimension)
        return str(dimension)

    def _record(self, value: Json) -> int:
        """Return the number of a record; equal ones are one."""
        text = json.dumps(value, sort_keys=True)
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = len(self._records)
            self._records.append(value)
            self._bytes += len(text)
        return known


def _interval(bound: Bound) -> Json:
    interval = bound.interval
    ends = [None if end is None else _exact(end) for end in (interval.least, interval.most)]
    return {
        "least": ends[0],
        "most": ends[1],
        "leastOut": interval.is_least_out,
        "mostOut": interval.is_most_out,
        "whole": interval.is_whole,
        "words": bound.value,
    }


def _bounds(graph: LoadGraph) -> list[tuple[Formula, str]]:
    """Return what must stay at or below zero, and what is wrong where it does not."""
    return [(over, text) for over, text, _ in impossible(graph) if over.symbols]


def _bound(declared: ir.Parameter | None, end: str) -> Json:
    bound = None if declared is None else getattr(declared, end)
    return _exact(bound.value) if isinstance(bound, ir.Constant) else None


def _exact(value: Fraction) -> Json:
    """Return a fraction as two texts: JSON's numbers would round it."""
    return [str(value.numerator), str(value.denominator)]


def _known(known: Certainty) -> Json:
    """Return how a number is known: None for what is exact."""
    return None if known.is_exact else [known.kind.value, list(known.reasons)]


def _knowns(item: Criterion | NamedMeasure) -> dict[str, Json]:
    """Return how a measure is known, and how where saturated resources follow each other."""
    return {"known": _known(item.known), "knownInSeries": _known(item.known_in_series)}


def _line(text: str | None) -> str:
    return printable(" ".join((text or "").split()))
