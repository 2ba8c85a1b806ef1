"""Answers between two specs: of the old one with some of the changes made that lead to the new."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed, in_each_mode
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.solver.answers.graph_criteria import largest_acceptable
from qps.solver.what_if.assumption_changes import (
    AssumptionChange,
    AssumptionChangeKind,
    ConfiguredModel,
    Sides,
)
from qps.solver.what_if.model_error import SupportedUsers
from qps.solver.what_if.place_changes import kind_of

ConfidenceModel = Callable[[ir.Model, Configuration], ir.Model]
"""Finds what is promised by requirements that state a confidence level."""


class IntermediateAnswers(Struct, kw_only=True):
    """Answers with some of the changes made; each set of formulas is lowered once.

    Without the change of the formulas it is the old spec in which the others are made, with it the
    new one in which those that are not made are taken back: so either spec is what it is.
    """

    sides: Sides
    at_confidence: ConfidenceModel | None = None
    """Where samples determine the answers."""
    _lowered: dict[object, list[LoadGraph]] = field(default_factory=dict)

    def confidence_model(self, side: ConfiguredModel) -> ir.Model:
        """Return the model of a side with all that its answer is judged by."""
        if self.at_confidence is None:
            return side.model
        return self.at_confidence(side.model, side.configuration)

    def capacity(
        self, applied: frozenset[str], changes: Sequence[AssumptionChange]
    ) -> SupportedUsers | None:
        """Return the capacity with some changes made, by their keys; None where it has no value."""
        try:
            graphs = self._graphs(applied, changes)
            return SupportedUsers(graphs, min(largest_acceptable(graph) or 0 for graph in graphs))
        except QpsError:
            # Half-way between two specs may lie one that no machine can run.
            return None

    def formulas_differ(self, changes: Sequence[AssumptionChange]) -> bool:
        """Return whether the specs still differ when all that has a name is made alike."""
        try:
            moved = self._graphs(frozenset(one.key for one in changes), changes)
        except QpsError:
            return True
        new = self.sides.new
        there = [lower(self.confidence_model(new), one) for one in new.by_mode.values()]
        return [_essence(graph) for graph in moved] != [_essence(graph) for graph in there]

    def _graphs(
        self, applied: frozenset[str], changes: Sequence[AssumptionChange]
    ) -> list[LoadGraph]:
        is_new = any(
            one.kind is AssumptionChangeKind.FORMULAS and one.key in applied for one in changes
        )
        start, end = self.sides.old, self.sides.new
        if is_new:
            start, end = end, start
        moved = [one for one in changes if (one.key in applied) != is_new]
        return [
            graph.with_values(
                {
                    one.name: end.numbers_in(graph.mode)[one.name].value
                    for one in moved
                    if one.kind is AssumptionChangeKind.NUMBER
                    and self.sides.applies(one, graph.mode)
                    and one.name in end.numbers_in(graph.mode)
                }
            )
            for graph in self._restated(start, end, moved)
        ]

    def _restated(
        self, start: ConfiguredModel, end: ConfiguredModel, moved: Sequence[AssumptionChange]
    ) -> list[LoadGraph]:
        """Return the graphs of a spec in which all is as in another one that gives other formulas.

        What is so in every mode is set; else the modes that it is so in set it themselves.
        """
        in_all = [one for one in moved if all(self.sides.applies(one, m) for m in start.by_mode)]
        settings = [*self._settings(start, end, in_all, None)]
        in_some = {
            mode: [
                *self._settings(
                    start,
                    end,
                    [one for one in moved if one not in in_all and self.sides.applies(one, mode)],
                    mode,
                )
            ]
            for mode in start.by_mode
        }
        key = (start is self.sides.new, repr(settings), repr(in_some))
        if key not in self._lowered:
            model = start.model
            if any(in_some.values()):
                modes = (
                    replace(one, changes=(*one.changes, *in_some.get(one.name, ())))
                    for one in model.modes
                )
                model = replace(model, modes=tuple(modes))
            side = ConfiguredModel(model, changed(start.configuration, settings))
            judged = self.confidence_model(side)
            self._lowered[key] = [
                lower(judged, one) for one in in_each_mode(judged, side.configuration)
            ]
        return self._lowered[key]

    def _settings(
        self,
        start: ConfiguredModel,
        end: ConfiguredModel,
        moved: Sequence[AssumptionChange],
        mode: str | None,
    ) -> Iterator[ir.Change]:
        """Yield changes as settings of a mode, where a number in the graph will not do."""
        there, span = end.configured(mode), _span(start)
        for one in moved:
            match one.kind:
                case AssumptionChangeKind.OPTION:
                    yield ir.SetOption(one.name, there.options[one.name], span)
                case AssumptionChangeKind.RANGE:
                    yield ir.SetPopulation(there.low, there.high, span)
                case AssumptionChangeKind.PLACE:
                    place = there.place(one.name)
                    yield ir.SetPlace(one.name, kind_of(place), place.stated_count, span)
                case AssumptionChangeKind.NUMBER:
                    value = self._value(end, one, there, mode)
                    if value is not None:
                        yield ir.SetParameter(one.name, value, span)

    def _value(
        self, end: ConfiguredModel, one: AssumptionChange, there: Configuration, mode: str | None
    ) -> ir.Expr | None:
        """Return what to set a parameter to; None for what is a number in the graph."""
        stated = there.parameters.get(one.name)
        if self.at_confidence is not None and isinstance(stated, ir.Uncertain):
            return stated
        is_decided = one.name in self.sides.old.decided | self.sides.new.decided
        if self.at_confidence is None and not is_decided:
            return None
        return ir.Constant(end.numbers_in(mode)[one.name].fraction)


def _span(side: ConfiguredModel) -> Span:
    span = side.model.population.span
    assert span is not None
    return span


def _essence(graph: LoadGraph) -> object:
    """Return what the answer rests on, without places in texts."""
    return (
        {name: resource.load for name, resource in graph.resources.items()},
        [(c.measure, c.limit, c.at_most, c.strict, c.axis) for c in graph.criteria],
        graph.quality,
        (graph.low, graph.high, graph.population),
        graph.values,
    )
