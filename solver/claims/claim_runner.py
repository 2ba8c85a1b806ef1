"""Values of expressions in changed models, and what they rest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    in_each_mode,
    in_force,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError, Sink, in_order
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import operands_of
from qps.compiler.lower.certainty_requirements import as_stated, without_certainty
from qps.compiler.lower.expressions.label_propagation import certainty_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import Assumption, LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.lower_measures import Measures
from qps.compiler.lower.requirements.serial_losses import in_series_at, rests_on_losses
from qps.compiler.quantities.certainty import Certainty, opposite, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import UNDEFINED, ZERO, Formula, maximum, number
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.expressions.substitution import substituted
from qps.solver.answers.answer_certainty import largest_known, quality_known
from qps.solver.answers.extrapolation import Extrapolation, beyond_measured, farthest, report_beyond
from qps.solver.answers.far_loads import AT_ANSWER, FarLoad, far_at, farthest_loads, report_far
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.graph_solution import certified_answer
from qps.solver.answers.saturation import least_saturation
from qps.solver.answers.unmodeled_wait_warnings import (
    UncountedWaits,
    report_uncounted_waits,
    uncounted_waits,
)
from qps.solver.answers.worst_mode import at_worst_moment
from qps.solver.claims.single_populations import at_one_population
from qps.solver.claims.system_measures import system_measure
from qps.solver.uncertainty.confidence_interface import model_at_confidence

if TYPE_CHECKING:
    from qps.solver.claims.sampled_claims import SampledClaims


class ClaimRunner(Struct, kw_only=True, dict=True):
    """Evaluates expressions in changed models; each configuration is lowered once."""

    model: ir.Model
    configuration: Configuration | None = None
    """The configuration that claims change; without one, that of the model as it is stated."""
    decided: set[str] = field(default_factory=set)
    """Parameters that conditions requested, in all formulas so far."""
    chosen: dict[str, None] = field(default_factory=dict)
    """What was chosen of the numbers that all formulas so far rest on, in the order met."""
    _graphs: dict[object, LoadGraph] = field(default_factory=dict)
    _answers: dict[object, tuple[int, Certainty]] = field(default_factory=dict)
    _systems: dict[object, tuple[float | Fraction, Certainty]] = field(default_factory=dict)
    _beyond: list[Extrapolation] = field(default_factory=list)
    _far: list[FarLoad] = field(default_factory=list)
    _examined: set[object] = field(default_factory=set)
    _uncounted: UncountedWaits | None = None

    @cached_property
    def base(self) -> Configuration:
        """The configuration that claims change."""
        return self.configuration or base_configuration(self.model)

    def value(
        self,
        expr: ir.Expr,
        base: Configuration,
        changes: Sequence[ir.Change],
        span: Span,
    ) -> Formula:
        """Return the value of an expression in the model as changed."""
        value = self.formula(expr, base, changes, span)
        population = self.model.population.name
        if any(symbol.name == population for symbol in value.symbols):
            _fail(
                span,
                f"this depends on the population: add `with {population} = …`",
            )
        if value is UNDEFINED or not value.is_constant:
            _fail(span, "this has no finite value")
        return value

    def formula(
        self,
        expr: ir.Expr,
        base: Configuration,
        changes: Sequence[ir.Change],
        span: Span,
        free: str | None = None,
    ) -> Formula:
        """Return an expression in the model as changed, with numbers for all assumptions.

        The population stays a symbol where nothing sets it, and so does the parameter `free`.
        """
        configuration, population = self._at(base, changes)
        graph = self._graph(configuration)
        active = in_force(configuration)
        expressions = ExpressionLowering.of_graph(self.model, active, graph)

        def lower(of: ir.Measured | ir.Changed) -> Formula:
            if isinstance(of, ir.Chance):
                return number(self._chance(of, configuration, population, span, free))
            if isinstance(of, ir.Changed):
                return self.formula(of.value, base, (*changes, *of.changes), span, free)
            if of.kind in ir.OF_THE_WHOLE:
                return number(self._of_the_whole(of.kind, configuration, population, span)[0])
            return self._measured(of, configuration, graph, span, free)

        lowered = expressions.lower(expr, lower)
        self.decided |= graph.basis.decided | expressions.decided
        self._note_chosen(expressions.assumptions, lowered)
        self._note_decided(configuration, graph.basis.decided | expressions.decided)
        values = {a.symbol: a.value for name, a in expressions.assumptions.items() if name != free}
        if population is not None:
            values[graph.population] = number(population)
            self._note_beyond(configuration, graph, population)
        return _with_values(lowered, values)

    def known(self, expr: ir.Expr, base: Configuration, changes: Sequence[ir.Change]) -> Certainty:
        """Return how an expression is known in the model as changed."""
        configuration, population = self._at(base, changes)
        graph = self._graph(configuration)
        expressions = ExpressionLowering.of_graph(self.model, in_force(configuration), graph)
        # What names no population is the same at all of them.
        ends = (graph.low, graph.high) if population is None else (population,)
        series = [in_series_at(graph, end) for end in ends] if rests_on_losses(expr) else []
        own = Measures.of_graph(graph)
        known = [replace(own, series=one).known for one in (series or [{}])]

        def lower(of: ir.Measured | ir.Changed) -> Certainty:
            if isinstance(of, ir.Chance):
                sides = [self.known(side, base, changes) for side in operands_of(of.condition)]
                method = known_by("probabilities-by-samples")
                return together(*sides, opposite(together(*sides)), method)
            if isinstance(of, ir.Changed):
                return self.known(of.value, base, (*changes, *of.changes))
            if of.kind in ir.OF_THE_WHOLE:
                return self._of_the_whole(of.kind, configuration, population, None)[1]
            if of.kind is ir.MeasureKind.LARGEST and of.level is None:
                return self._answer(configuration)[1]
            if of.kind is ir.MeasureKind.LARGEST:
                method = known_by("quantiles-by-samples")
                return together(self._answer(configuration)[1], method)
            if of.kind is ir.MeasureKind.QUALITY:
                return quality_known(self._in_each_mode(configuration))
            return together(*(each(of) for each in known))

        return certainty_of(expr, expressions, lower)

    def _note_chosen(self, assumptions: Mapping[str, Assumption], *used: Formula) -> None:
        """Keep what was chosen of the numbers that are used."""
        if not self.model.fitted:
            return
        symbols = frozenset[Formula]().union(*(expr.symbols for expr in used))
        for assumption in assumptions.values():
            value = self._fitted.get(assumption.span)
            if value is not None and assumption.symbol in symbols:
                self.chosen[f"{assumption.name}: {value}"] = None

    def _note_decided(self, configuration: Configuration, decided: Collection[str]) -> None:
        """Keep what was chosen of the parameters that conditions request."""
        for name in sorted(decided) if self.model.fitted else ():
            span = configuration.values_from.get(name)
            if span in self._fitted:
                self.chosen[f"{name}: {self._fitted[span]}"] = None

    def _note_answer(self, graphs: Iterable[LoadGraph]) -> None:
        """Keep what was chosen of the numbers that an answer of whole models rests on."""
        for graph in graphs if self.model.fitted else ():
            loads = [resource.fullness for resource in graph.resources.values()]
            values = [side for one in graph.criteria for side in (one.measure, one.limit)]
            self._note_chosen(graph.assumptions, *loads, *values)

    def _note_beyond(self, configuration: Configuration, graph: LoadGraph, population: int) -> None:
        """Keep where fitted costs are used beyond what was measured."""
        key = self._key(configuration), population
        if graph.analysis.calibrations and key not in self._examined:
            self._examined.add(key)
            self._beyond += beyond_measured(graph, population)
            name = self.model.population.name
            where = f"for a claim or measured row at {name} = {population:,}"
            self._far += far_at(graph, population, where)

    def _note_uncounted(self, graph: LoadGraph, population: int) -> None:
        """Keep the requirements that count no waiting at what is fuller than with all before."""
        found = uncounted_waits(graph, all_criteria(graph), population) if population else None
        known = self._uncounted
        if found is not None and (known is None or found.heaviest > known.heaviest):
            self._uncounted = found

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What makes the results so far doubtful."""
        sink = Sink()
        report_beyond(farthest(self._beyond), sink)
        report_far(farthest_loads(self._far), sink)
        if self._uncounted is not None:
            report_uncounted_waits(self._uncounted, sink)
        return in_order(sink.found)

    @cached_property
    def _fitted(self) -> dict[Span, str]:
        return dict(self.model.fitted)

    def simulation_case(
        self, changes: Sequence[ir.Change], span: Span
    ) -> tuple[object, LoadGraph, int]:
        """Return the key of a configuration, its load graph, and the population to simulate."""
        configuration, population = self._at(self._usual, changes)
        graph = self._graph(configuration)
        if population is None and graph.low == graph.high:
            population = graph.low
        if population is None:
            name = self.model.population.name
            _fail(span, f"the population to simulate is missing: add `with {name} = …`")
        assert population is not None
        return (self._key(configuration), population), graph, population

    def resources(self, base: Configuration, changes: Sequence[ir.Change]) -> list[str]:
        """Return the names of all resources that are loaded in the model as changed."""
        configuration, _ = self._at(base, changes)
        graph = self._graph(configuration)
        return [name for name, resource in graph.resources.items() if resource.load is not ZERO]

    def _at(
        self, base: Configuration, changes: Sequence[ir.Change]
    ) -> tuple[Configuration, int | None]:
        """Return the model as changed, at its worst moment there or at capacity; its population."""
        configuration, population = at_one_population(base, changes)
        if self.model.worst_moments and configuration.mode is None:
            at = population or self._answer(configuration)[0] or configuration.low
            configuration = at_worst_moment(
                self.model, configuration, at, lambda _, there: self._graph(there)
            )
        return configuration, population

    def _measured(
        self,
        measure: ir.Measured,
        configuration: Configuration,
        graph: LoadGraph,
        span: Span,
        free: str | None,
    ) -> Formula:
        """Return a measure of a lowered model, or an answer that solving it gives."""
        match measure.kind:
            case ir.MeasureKind.SATURATION:
                return self._saturation(graph, measure.subject, span)
            case ir.MeasureKind.LARGEST if measure.level is not None:
                return number(self._quantile(configuration, measure.level, span))
            case ir.MeasureKind.LARGEST:
                return number(self._answer(configuration)[0])
            case ir.MeasureKind.QUALITY:
                return self._quality(configuration, span, free)
        return Measures.of_graph(graph).of(measure)

    def _quality(self, configuration: Configuration, span: Span, free: str | None) -> Formula:
        """Return the quality: of the worst mode, where there are several.

        It is that of served items: what overload does to one design and to another is compared.
        """
        graphs = self._in_each_mode(configuration)
        self._note_answer(graphs)
        penalties = [
            substituted(
                graph.quality,
                {a.symbol: a.value for name, a in graph.assumptions.items() if name != free},
            )
            for graph in graphs
            if graph.quality is not None
        ]
        if not penalties:
            _fail(
                span,
                "the spec has no requirement that defines quality",
                "add a requirement on a latency, loss or rate",
            )
        return maximum(*penalties)

    def _graph(self, configuration: Configuration) -> LoadGraph:
        key = self._key(configuration)
        known = self._graphs.get(key)
        if known is None:
            model = as_stated(self.model, configuration)
            known = self._graphs[key] = lower(model, configuration)
        return known

    def _chance(
        self,
        measure: ir.Chance,
        configuration: Configuration,
        population: int | None,
        span: Span,
        free: str | None,
    ) -> Fraction:
        """Return how likely a condition holds at a population."""
        if free is not None:
            _fail(span, "a figure cannot draw probabilities", "use them in an `expect`")
        self._note_answer(self._in_each_mode(configuration))
        return self._samples.chance(configuration, measure.condition, population, span)

    def _quantile(self, configuration: Configuration, level: Fraction, span: Span) -> int:
        self._note_answer(self._in_each_mode(configuration))
        return self._samples.quantile(configuration, self._key(configuration), level, span)

    @cached_property
    def _samples(self) -> SampledClaims:
        from qps.solver.claims.sampled_claims import SampledClaims  # noqa: PLC0415 - needs numpy

        return SampledClaims(model=without_certainty(self.model))

    def _key(self, configuration: Configuration) -> object:
        return configuration.key(self._usual)

    @cached_property
    def _usual(self) -> Configuration:
        return base_configuration(self.model)

    def _saturation(self, graph: LoadGraph, subject: str, span: Span) -> Formula:
        resources = graph.loads_of(subject)
        self._note_chosen(graph.assumptions, *(each.fullness for each in resources))
        if not resources:
            _fail(span, f"`{subject}` has no load")
        least = least_saturation(graph, (each.name for each in resources))
        # A resource that never saturates has its saturation point at infinity.
        return number(least)

    def _answer(self, configuration: Configuration) -> tuple[int, Certainty]:
        """Return the largest acceptable population, 0 for none, and how it is known."""
        key = self._key(configuration)
        self._note_answer(self._in_each_mode(configuration))
        if key not in self._answers:
            graphs = self._mode_graphs(configuration)
            answers = [certified_answer(graph) for graph in graphs]
            every = (failure for answer in answers for failure in answer.failures)
            known = largest_known(every, configuration.low)
            largest = min(answer.largest or 0 for answer in answers)
            self._answers[key] = largest, known
            for graph in graphs:
                self._beyond += beyond_measured(graph, largest)
                self._far += far_at(graph, largest, AT_ANSWER)
                self._note_uncounted(graph, largest)
        return self._answers[key]

    def _of_the_whole(
        self,
        kind: ir.MeasureKind,
        configuration: Configuration,
        population: int | None,
        span: Span | None,
    ) -> tuple[float | Fraction, Certainty]:
        """Return a measure of the whole system, and how it is known.

        It is that of the capacity, unless users are set; the last month of a forecast is of none.
        """
        self._note_answer(self._in_each_mode(configuration))
        at = self._answer(configuration)[0] if population is None else population
        key = kind, self._key(configuration), at
        if key not in self._systems:
            self._systems[key] = system_measure(self.model, configuration, at, kind, span)
        return self._systems[key]

    def _mode_graphs(self, configuration: Configuration) -> list[LoadGraph]:
        """Return graphs with all that the answer is judged by: what is promised with certainty."""
        model = model_at_confidence(self.model, configuration)
        if model is self.model:
            return self._in_each_mode(configuration)
        return [lower(model, mode) for mode in in_each_mode(model, configuration)]

    def _in_each_mode(self, configuration: Configuration) -> list[LoadGraph]:
        return [self._graph(mode) for mode in in_each_mode(self.model, configuration)]


def _with_values(lowered: Formula, values: Mapping[Formula, Formula]) -> Formula:
    """Return a formula with values put in: one fraction where nothing stays open, and it is one."""
    if lowered.symbols <= values.keys():
        exact = EvaluationPoint({one: values[one] for one in lowered.symbols}).exact(lowered)
        if exact is not None:
            return number(exact)
    return substituted(lowered, values)


def _fail(span: Span, message: str, hint: str | None = None) -> None:
    raise QpsError.single(codes.NO_ANSWER, span, message, hint=hint)
