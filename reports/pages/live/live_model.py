"""A model as a page holds it: its program, its variants, its numbers, as plain JSON values.

Names of the keys are those that the scripts of the page read; `scripts/model.js` explains what
they do with them. What many variants have in common stands once, in `records`, and variants
name it by its number there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from qps.compiler import ir
from qps.compiler.quantities.allowed_values import Bound
from qps.compiler.quantities.dimension import DATA_RATE, INFORMATION, TIME
from qps.engine.expressions.formulas import population as population_symbol
from qps.reports.pages.drawings.drawing_layers import drawing_of
from qps.reports.pages.drawings.drawing_topology import topology_of
from qps.reports.pages.json_values import Json
from qps.reports.pages.live.live_docs import docs_of, labels_in_page
from qps.reports.pages.live.live_graphs import LiveGraphs
from qps.reports.pages.live.live_numbers import LiveNumbers
from qps.reports.pages.live.live_records import LiveRecords, exact, line
from qps.reports.pages.live.page_program import PageProgram
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import scales
from qps.solver.answers.answer_parts import MONTH
from qps.solver.variants.selects import Select
from qps.solver.variants.starting_points import Start
from qps.solver.variants.variant_graphs import Variant
from qps.solver.variants.variant_spreads import NumberSpread
from qps.solver.variants.variants import Variants

_STANDARD_DIMENSIONS = (TIME, TIME * TIME, DATA_RATE, INFORMATION)
"""Dimensions on every page: latencies, jitters, rates, volumes."""

_OF_STREAMS = ("latency", "jitter", "loss", "throughput")


class LiveModel:
    """Gathers a model's records and its program."""

    def __init__(self, variants: Variants) -> None:
        self._model = model = variants.model
        self._variants = variants
        program = PageProgram(population_symbol(model.population.name))
        self._records = LiveRecords(program, _STANDARD_DIMENSIONS)
        self._is_cut_short = False
        first = next(variants.variants)
        self._explored = chain((first,), variants.variants)
        self._topology = topology_of(first.graphs[0].graph.network)
        self._graphs = LiveGraphs(model, self._records, self._topology)
        self._numbers = LiveNumbers(model, self._records)

    def as_json(self, most: int) -> dict[str, Json]:
        """Return the model for the page, in about as many bytes at most."""
        variants, starts = self._variants, self._variants.starts
        encoded = [self._start(start) for start in starts]
        held = list(self._fitting(most))
        base = variants.base
        fixed = {node.name: node.machine for node in base.nodes.values()}
        fixed |= {link.name: link.network for link in base.links.values()}
        return {
            "file": self._model.file,
            "population": self._model.population.name,
            "selects": [self._select(select) for select in variants.selects],
            "starts": encoded,
            "variants": [built for _, built in held],
            "notes": self._notes([variant for variant, _ in held]),
            "fixedPlaces": fixed,
            "records": self._records.values,
            "steps": [list(step) for step in self._records.program.steps],  # type: ignore[arg-type]
            "laws": self._records.program.laws,
            "month": MONTH,
            "units": {str(d): [list(s) for s in scales(d)] for d in self._records.dimensions},
            "topology": drawing_of(self._topology),
            "docs": docs_of(self._model, self._hardware_names(fixed)),
            "labels": labels_in_page(self._model.derived(labels_of), self._named(fixed)),
            "intervals": {bound.name: _interval(bound) for bound in Bound},
        }

    def _hardware_names(self, fixed: Mapping[str, str]) -> list[str]:
        """Return the names of machines and networks that the page may show."""
        choices = [text for select in self._variants.selects for text in select.texts]
        return [*fixed.values(), *(text.partition(" * ")[0] for text in choices)]

    def _named(self, fixed: Mapping[str, str]) -> Iterator[str]:
        """Yield all names that the page may show."""
        yield from (*fixed, *self._hardware_names(fixed))
        yield from (select.name for select in self._variants.selects)
        for stream in self._model.streams:
            yield from (f"{stream.name}.{measure}" for measure in _OF_STREAMS)
        for record in self._records.values:
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
            "doc": line(select.doc),
            **({"noHelp": list(select.no_help)} if select.no_help else {}),
        }

    def _start(self, start: Start) -> Json:
        """Return a start: what it picks, and the parameters that it sets to other numbers."""
        return {
            "name": start.name,
            "scenario": start.configuration.scenario,
            "settings": list(start.settings),
            "doc": line(start.doc),
            "shape": start.shape,
            "picks": list(start.picks),
            "numbers": [self._numbers.of_start(number) for number in start.numbers],
            **self._uncertain(start),
        }

    def _uncertain(self, start: Start) -> dict[str, Json]:
        """Return what is not known in each mode of a start; nothing where all is known."""
        if not start.spreads:
            return {}
        by_mode: dict[str, Json] = {
            mode: [self._records.record([_spread(one) for one in number]) for number in numbers]
            for mode, numbers in start.spreads.items()
        }
        limits = {mode: dict(mode_limits) for mode, mode_limits in start.confidence_limits.items()}
        return {"uncertain": by_mode} | ({"confidenceLimits": limits} if limits else {})

    # -- variants ------------------------------------------------------------------------

    def _fitting(self, most: int) -> Iterator[tuple[Variant, Json]]:
        """Yield the variants that fit into so many bytes: those that a reader starts from do."""
        for variant in self._explored:
            if self._records.size > most and not variant.is_start:
                self._is_cut_short = True
                return
            yield variant, self._variant(variant)

    def _notes(self, included: Sequence[Variant]) -> list[Json]:
        """Tell what of a model is not in the page, and how to get it."""
        notes: list[Json] = []
        variants, file = self._variants, self._model.file
        if self._is_cut_short or not variants.are_all(included):
            notes.append(
                phrase(
                    "report.variants_included",
                    count=len(included),
                    combinations=variants.combinations,
                    file=file,
                )
            )
        notes += [
            phrase("report.no_scenario_result", name=name, file=file)
            for name in variants.unanswered
        ]
        return notes

    def _variant(self, variant: Variant) -> Json:
        return {
            "shape": variant.shape,
            "picks": [
                pick if index in variant.relevant else -1
                for index, pick in enumerate(variant.picks)
            ],
            "graphs": [self._graphs.graph(graph) for graph in variant.graphs],
        }


def _spread(spread: NumberSpread) -> Json:
    """Return how a number is distributed, as `scripts/engine/samples.js` reads it."""
    numbers = (list(one) if isinstance(one, tuple) else one for one in spread.numbers)
    return [spread.name, spread.kind, *numbers]


def _interval(bound: Bound) -> Json:
    interval = bound.interval
    ends = [None if end is None else exact(end) for end in (interval.least, interval.most)]
    return {
        "least": ends[0],
        "most": ends[1],
        "leastOut": interval.is_least_out,
        "mostOut": interval.is_most_out,
        "whole": interval.is_whole,
        "words": bound.value,
    }
