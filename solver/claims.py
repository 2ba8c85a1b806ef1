"""Are the claims of a spec true? Expectations and observations against the model's answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING, assert_never

import sympy

from qps.compiler import codes, ir
from qps.compiler.certainties import certainty_of
from qps.compiler.certainty import EXACT, Certainty, together
from qps.compiler.configuration import (
    Configuration,
    base_configuration,
    changed,
    in_each_mode,
    in_force,
)
from qps.compiler.diagnostics import Diagnostic, QpsError, Sink, in_order
from qps.compiler.dimension import DIMENSIONLESS, Dimension
from qps.compiler.exact import compare, sign_of
from qps.compiler.extremes import Maximum
from qps.compiler.load_graph import Assumption, LoadGraph
from qps.compiler.losses_in_series import in_series_at, names_losses
from qps.compiler.lower import lower
from qps.compiler.lower_expressions import ExpressionLowering
from qps.compiler.lower_measures import Measures
from qps.compiler.source import Span
from qps.compiler.substitution import Substitution
from qps.solver.answer_certainty import largest_known, quality_known
from qps.solver.beyond import Beyond, beyond_measured, farthest, report_beyond
from qps.solver.saturation import least_saturation
from qps.solver.solve import certified_answer

if TYPE_CHECKING:
    from qps.solver.matrix.claims import Judge


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: its value in base units, and its dimension."""

    value: float
    dimension: Dimension = DIMENSIONLESS
    known: Certainty = EXACT


class Verdict(Enum):
    """What becomes of a claim: what is known not to hold is `MISSED`, and `STALE` once it does."""

    HOLDS = "holds"
    FAILS = "fails"
    MISSED = "missed"
    STALE = "stale"
    SHOWN = "shown"


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """A claim and what the model says of it.

    `claimed`, `predicted` and `difference` are in base units; for a condition they are None
    and `condition` and `compared` hold its text and its sides. `holds` is None
    for a measured value that is shown, not judged. `fitted` says what was chosen to hit it, in the
    claim or in a number that it rests on; `missed` why it is known not to hold.
    """

    name: str
    title: str | None
    file: str
    line: int
    kind: str
    claimed: float | None
    predicted: float | None
    difference: float | None
    relative_difference: float | None
    dimension: Dimension
    tolerance: ir.Tolerance | None
    condition: str | None
    compared: tuple[Side, ...]
    holds: bool | None
    source: str | None
    note: str | None
    fitted: str | None
    text: str
    counted: str | None = None
    """Of how many configurations of a matrix a claim holds."""
    known: Certainty = EXACT
    """How the prediction is known; for a condition, how its sides are."""
    missed: str | None = None
    is_published: bool = False
    """A document says so, and the model could say otherwise."""

    @property
    def verdict(self) -> Verdict:
        """What becomes of the claim."""
        if self.holds is None:
            return Verdict.SHOWN
        if self.missed is not None:
            return Verdict.STALE if self.holds else Verdict.MISSED
        return Verdict.HOLDS if self.holds else Verdict.FAILS

    @property
    def fails(self) -> bool:
        """True where the spec says something else than the model: one of them is to be mended."""
        return self.verdict in (Verdict.FAILS, Verdict.STALE)


@dataclass(frozen=True)
class Question:
    """Something to ask by itself, and of how many claims it gives the results."""

    claims: int
    ask: Callable[[], Sequence[ClaimResult]]


@dataclass
class Laboratory:
    """Evaluates expressions in changed models; each configuration is lowered once."""

    model: ir.Model
    decided: set[str] = field(default_factory=set)
    """Parameters that conditions asked for, in all formulas so far."""
    _graphs: dict[object, LoadGraph] = field(default_factory=dict)
    _answers: dict[object, tuple[int, Certainty]] = field(default_factory=dict)
    _chosen: dict[str, None] = field(default_factory=dict)
    """What was chosen of the numbers that the claim at hand rests on, in the order met."""
    _beyond: list[Beyond] = field(default_factory=list)
    _looked_at: set[object] = field(default_factory=set)
    _judge: Judge | None = None

    def results(self) -> tuple[ClaimResult, ...]:
        """Return every claim of the model and every row of its observations."""
        return tuple(result for question in self.questions() for result in question.ask())

    def questions(self) -> Iterator[Question]:
        """Yield what is claimed, each to be asked by itself: one may fail where others do not."""
        for expectation in self.model.expectations:
            many = len(expectation.claims) + len(expectation.matrix_claims) > 1
            for index, claim in enumerate(expectation.claims, 1):
                name = f"{expectation.name}[{index}]" if many else expectation.name
                yield Question(1, partial(self._result, name, expectation, claim))
            if expectation.matrix_claims:
                count = len(expectation.matrix_claims)
                yield Question(count, partial(self._of_matrices, expectation))
        for observation in self.model.observations:
            for row in observation.rows:
                count = sum(value is not None for value in row.values)
                yield Question(count, partial(self._row, observation, row))

    def _result(
        self, name: str, expectation: ir.Expectation, claim: ir.Claim
    ) -> tuple[ClaimResult, ...]:
        self._chosen.clear()
        result = self._claim(name, expectation, claim)
        return (self._told(result, expectation, asks=claim.asks),)

    # -- claims --------------------------------------------------------------------------

    def _claim(self, name: str, expectation: ir.Expectation, claim: ir.Claim) -> ClaimResult:
        base = base_configuration(self.model)
        if isinstance(claim.value, ir.Quantity):
            assert claim.claimed is not None
            assert claim.tolerance is not None
            predicted = self._value(claim.value.expr, base, claim.changes, claim.span)
            claimed = self._value(claim.claimed.expr, base, claim.changes, claim.span)
            return _near(
                name,
                expectation,
                claim.span,
                float(claimed),
                float(predicted),
                claim.value.dimension,
                claim.tolerance,
                holds=_is_near(predicted, claimed, claim.tolerance),
                known=together(
                    self.known(claim.value.expr, base, claim.changes),
                    self.known(claim.claimed.expr, base, claim.changes),
                ),
            )
        sides: list[_Compared] = []
        holds = self._holds(claim.value, base, claim.changes, claim.span, sides)
        compared = tuple(Side(float(one.value), one.dimension, one.known) for one in sides)
        return _condition(name, expectation, claim.span, compared, holds=holds)

    def _told(
        self,
        result: ClaimResult,
        stated: ir.Expectation | ir.Observation,
        *,
        asks: bool = True,
    ) -> ClaimResult:
        """Return a result with what was chosen for it, and whether it is a published one."""
        chosen = dict.fromkeys([*([stated.fitted] if stated.fitted else []), *self._chosen])
        return replace(
            result,
            fitted="; ".join(chosen) or None,
            missed=stated.missed,
            is_published=asks and stated.source is not None and not stated.is_our_own,
        )

    def _of_matrices(self, expectation: ir.Expectation) -> list[ClaimResult]:
        """Return what is claimed of matrices."""
        if not expectation.matrix_claims:
            return []
        from qps.solver.matrix.claims import Judge  # noqa: PLC0415 - slow to import, seldom needed

        if self._judge is None:
            self._judge = Judge(self.model)
        before = len(expectation.claims)
        many = before + len(expectation.matrix_claims) > 1
        results = []
        for index, claim in enumerate(expectation.matrix_claims, before + 1):
            judged = self._judge.of(claim)
            result = _condition(
                f"{expectation.name}[{index}]" if many else expectation.name,
                expectation,
                claim.span,
                (Side(float(judged.met)), Side(float(judged.about))),
                holds=judged.is_true,
            )
            result = replace(result, kind="matrix", counted=judged.told)
            self._chosen = dict.fromkeys(text for _, text in self.model.fitted)
            results.append(self._told(result, expectation))
        return results

    def _holds(
        self,
        condition: ir.Condition,
        base: Configuration,
        changes: Sequence[ir.Change],
        span: Span,
        sides: list[_Compared],
    ) -> bool:
        """Return whether a condition is true; the values of its sides are added to `sides`."""

        def judged(parts: Sequence[ir.Condition]) -> list[bool]:
            # All of them, also where the first one settles it: their values are shown.
            return [self._holds(part, base, changes, span, sides) for part in parts]

        match condition:
            case ir.Compare(operator, left, right, dimension):
                shown = [
                    _Compared(
                        self._value(side, base, changes, span),
                        dimension,
                        self.known(side, base, changes),
                    )
                    for side in (left, right)
                ]
                is_shown = sides and sides[-1] == shown[0]
                sides += shown[1:] if is_shown else shown
                return compare(operator, *(one.value for one in shown))
            case ir.AllOf(parts):
                return all(judged(parts))
            case ir.AnyOf(parts):
                return any(judged(parts))
            case ir.Negated(inner):
                return not self._holds(inner, base, changes, span, sides)
            case ir.RowIs():
                raise AssertionError("only a matrix has rows")
            case ir.OptionIs(option, choice):
                return in_force(changed(base, changes)).options[option] == choice
            case _:
                assert_never(condition)

    # -- observations --------------------------------------------------------------------

    def _row(self, observation: ir.Observation, row: ir.ObservedRow) -> list[ClaimResult]:
        base = base_configuration(self.model)
        results = []
        for column, measured in zip(observation.measured, row.values, strict=True):
            if measured is None:
                continue
            self._chosen.clear()
            predicted = self._value(column.value.expr, base, row.changes, column.span)
            claimed = sympy.Rational(measured.numerator, measured.denominator)
            tolerance = column.tolerance
            holds = None
            if tolerance is not None:
                holds = _is_near(predicted, claimed, tolerance)
            result = _near(
                f"{observation.name}[{row.line}].{column.heading}",
                observation,
                column.span,
                float(claimed),
                float(predicted),
                column.value.dimension,
                tolerance,
                holds=holds,
                place=(observation.file, row.line),
                known=self.known(column.value.expr, base, row.changes),
            )
            results.append(self._told(result, observation, asks=column.asks))
        return results

    # -- values --------------------------------------------------------------------------

    def _value(
        self,
        expr: ir.Expr,
        base: Configuration,
        changes: Sequence[ir.Change],
        span: Span,
    ) -> sympy.Expr:
        """Return the value of an expression in the model as changed."""
        value = self.formula(expr, base, changes, span)
        population = self.model.population.name
        if any(symbol.name == population for symbol in value.free_symbols):
            _fail(
                span,
                f"this depends on the number of users: say for how many, `with {population} = …`",
            )
        if value in (sympy.nan, sympy.zoo) or not value.is_number:
            _fail(span, "this has no finite value")
        return value

    def formula(
        self,
        expr: ir.Expr,
        base: Configuration,
        changes: Sequence[ir.Change],
        span: Span,
        free: str | None = None,
    ) -> sympy.Expr:
        """Return an expression in the model as changed, with numbers for all assumptions.

        The population stays a symbol where nothing sets it, and so does the parameter `free`.
        """
        configuration, population = _settled(base, changes)
        graph = self._graph(configuration)
        settled = in_force(configuration)
        expressions = ExpressionLowering.of_graph(self.model, settled, graph)

        def asked(of: ir.Measured | ir.Changed) -> sympy.Expr:
            if isinstance(of, ir.Changed):
                return self.formula(of.value, base, (*changes, *of.changes), span, free)
            return self._measured(of, configuration, graph, span, free)

        lowered = expressions.lower(expr, asked)
        self.decided |= graph.decided | expressions.decided
        self._note_chosen(expressions.assumptions, lowered)
        self._note_decided(configuration, graph.decided | expressions.decided)
        values = {a.symbol: a.value for name, a in expressions.assumptions.items() if name != free}
        if population is not None:
            values[graph.population] = sympy.Integer(population)
            self._note_beyond(configuration, graph, population)
        return Substitution(values)(lowered)

    def known(self, expr: ir.Expr, base: Configuration, changes: Sequence[ir.Change]) -> Certainty:
        """Return how an expression is known in the model as changed."""
        configuration, population = _settled(base, changes)
        graph = self._graph(configuration)
        expressions = ExpressionLowering.of_graph(self.model, in_force(configuration), graph)
        # What names no population is the same at all of them.
        ends = (graph.low, graph.high) if population is None else (population,)
        series = [in_series_at(graph, end) for end in ends] if names_losses(expr) else []
        own = Measures(graph.resources, graph.streams, graph.prices)
        known = [replace(own, series=one).known for one in (series or [{}])]

        def asked(of: ir.Measured | ir.Changed) -> Certainty:
            if isinstance(of, ir.Changed):
                return self.known(of.value, base, (*changes, *of.changes))
            if of.kind is ir.MeasureKind.LARGEST:
                return self._answer(configuration)[1]
            if of.kind is ir.MeasureKind.QUALITY:
                return quality_known(self._in_each_mode(configuration))
            return together(*(each(of) for each in known))

        return certainty_of(expr, expressions, asked)

    def _note_chosen(self, assumptions: Mapping[str, Assumption], *used: sympy.Expr) -> None:
        """Keep what was chosen of the numbers that are used."""
        if not self.model.fitted:
            return
        symbols = frozenset().union(*(expr.free_symbols for expr in used))
        for assumption in assumptions.values():
            told = self._fitted.get(assumption.span)
            if told is not None and assumption.symbol in symbols:
                self._chosen[f"{assumption.name}: {told}"] = None

    def _note_decided(self, configuration: Configuration, decided: Collection[str]) -> None:
        """Keep what was chosen of the parameters that conditions ask for."""
        for name in sorted(decided) if self.model.fitted else ():
            span = configuration.values_from.get(name)
            if span in self._fitted:
                self._chosen[f"{name}: {self._fitted[span]}"] = None

    def _note_answer(self, graphs: Iterable[LoadGraph]) -> None:
        """Keep what was chosen of the numbers that an answer of whole models rests on."""
        for graph in graphs if self.model.fitted else ():
            loads = [resource.fullness for resource in graph.resources.values()]
            values = [side for one in graph.criteria for side in (one.measure, one.limit)]
            self._note_chosen(graph.assumptions, *loads, *values)

    def _note_beyond(self, configuration: Configuration, graph: LoadGraph, population: int) -> None:
        """Keep where fitted costs are asked for beyond what was measured."""
        asked = configuration.key, population
        if graph.calibrations and asked not in self._looked_at:
            self._looked_at.add(asked)
            self._beyond += beyond_measured(graph, population)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What makes the results doubtful that were asked for so far."""
        sink = Sink()
        report_beyond(farthest(self._beyond), sink)
        return in_order(sink.found)

    @cached_property
    def _fitted(self) -> dict[Span, str]:
        return dict(self.model.fitted)

    def resources(self, base: Configuration, changes: Sequence[ir.Change]) -> list[str]:
        """Return the names of all resources that are loaded in the model as changed."""
        configuration, _ = _settled(base, changes)
        graph = self._graph(configuration)
        return [name for name, resource in graph.resources.items() if resource.load != 0]

    def _measured(
        self,
        asked: ir.Measured,
        configuration: Configuration,
        graph: LoadGraph,
        span: Span,
        free: str | None,
    ) -> sympy.Expr:
        """Return a measure of a lowered model, or an answer that solving it gives."""
        match asked.kind:
            case ir.MeasureKind.SATURATION:
                return self._saturation(graph, asked.subject, span)
            case ir.MeasureKind.LARGEST:
                return sympy.Integer(self._answer(configuration)[0])
            case ir.MeasureKind.QUALITY:
                return self._quality(configuration, span, free)
        return Measures(graph.resources, graph.streams, graph.prices).of(asked)

    def _quality(self, configuration: Configuration, span: Span, free: str | None) -> sympy.Expr:
        """Return the quality: of the worst mode, where there are several."""
        graphs = self._in_each_mode(configuration)
        self._note_answer(graphs)
        told = [
            Substitution(
                {a.symbol: a.value for name, a in graph.assumptions.items() if name != free}
            )(graph.quality)
            for graph in graphs
            if graph.quality is not None
        ]
        if not told:
            _fail(
                span,
                "no requirement is an axis of quality",
                "require something of a measure that is no load, such as a latency",
            )
        return Maximum(*told)

    def _graph(self, configuration: Configuration) -> LoadGraph:
        key = configuration.key
        if key not in self._graphs:
            self._graphs[key] = lower(self.model, configuration)
        return self._graphs[key]

    def _saturation(self, graph: LoadGraph, subject: str, span: Span) -> sympy.Expr:
        resources = graph.loads_of(subject)
        self._note_chosen(graph.assumptions, *(each.fullness for each in resources))
        if not resources:
            _fail(span, f"nothing loads `{subject}`")
        least = least_saturation(graph, (each.name for each in resources))
        # A resource that never saturates has its saturation point at infinity.
        return sympy.oo if least == inf else sympy.Float(least, 17)

    def _answer(self, configuration: Configuration) -> tuple[int, Certainty]:
        """Return the largest acceptable population, 0 for none, and how it is known."""
        key = configuration.key
        graphs = self._in_each_mode(configuration)
        self._note_answer(graphs)
        if key not in self._answers:
            answers = [certified_answer(graph) for graph in graphs]
            every = (failure for answer in answers for failure in answer.failures)
            known = largest_known(every, configuration.low)
            largest = min(answer.largest or 0 for answer in answers)
            self._answers[key] = largest, known
            for graph in graphs:
                self._beyond += beyond_measured(graph, largest)
        return self._answers[key]

    def _in_each_mode(self, configuration: Configuration) -> list[LoadGraph]:
        return [self._graph(settled) for settled in in_each_mode(self.model, configuration)]


@dataclass(frozen=True, slots=True)
class _Compared:
    """A side of a comparison as it is judged: exactly."""

    value: sympy.Expr
    dimension: Dimension
    known: Certainty


def _settled(base: Configuration, changes: Sequence[ir.Change]) -> tuple[Configuration, int | None]:
    """Return the model as changed, and the one population to look at where one is set.

    One population is a point in the range, which stays as it is around it. A point that a
    scenario sets gives way to one that is set beside it.
    """
    own = [change for change in changes if not isinstance(change, ir.SetScenario)]
    points = [*_points(change for change in changes if change not in own), *_points(own)]
    widened = [_widened(change, base) for change in changes]
    return changed(base, widened), points[-1] if points else None


def _points(changes: Iterable[ir.Change]) -> Iterator[int]:
    """Yield the single populations that changes set, those of a scenario in its place."""
    for change in changes:
        if isinstance(change, ir.SetScenario):
            yield from _points(change.changes)
        elif isinstance(change, ir.SetPopulation) and change.low == change.high:
            yield change.low


def _widened(change: ir.Change, base: Configuration) -> ir.Change:
    """Return a change, a single population in it made the range around that."""
    if isinstance(change, ir.SetScenario):
        return replace(change, changes=tuple(_widened(inner, base) for inner in change.changes))
    if isinstance(change, ir.SetPopulation) and change.low == change.high:
        return replace(change, low=min(base.low, change.low), high=max(base.high, change.low))
    return change


def _fail(span: Span, message: str, hint: str | None = None) -> None:
    sink = Sink()
    sink.report(codes.NO_ANSWER, span, message, hint=hint)
    raise QpsError(sink.found)


def _is_near(predicted: sympy.Expr, claimed: sympy.Expr, tolerance: ir.Tolerance) -> bool:
    allowed = sympy.Rational(tolerance.amount.numerator, tolerance.amount.denominator)
    if tolerance.relative:
        allowed = allowed * abs(claimed)
    if sign_of(predicted, claimed) == 0:
        return True
    return sign_of(abs(predicted - claimed), allowed) <= 0


def _condition(
    name: str,
    expectation: ir.Expectation,
    span: Span,
    compared: tuple[Side, ...],
    *,
    holds: bool,
) -> ClaimResult:
    """Return the result of a claimed condition."""
    text = " ".join(span.text.split())
    return ClaimResult(
        name,
        expectation.title,
        span.source.label,
        span.line,
        "condition",
        None,
        None,
        None,
        None,
        DIMENSIONLESS,
        None,
        text,
        compared,
        holds,
        expectation.source,
        expectation.note,
        expectation.fitted,
        text,
        known=together(*(side.known for side in compared)),
    )


def _near(
    name: str,
    stated: ir.Expectation | ir.Observation,
    span: Span,
    claimed: float,
    predicted: float,
    dimension: Dimension,
    tolerance: ir.Tolerance | None,
    *,
    holds: bool | None,
    place: tuple[str, int] | None = None,
    known: Certainty = EXACT,
) -> ClaimResult:
    """Return the result of a claimed value."""
    file, line = place or (span.source.label, span.line)
    expectation = stated if isinstance(stated, ir.Expectation) else None
    return ClaimResult(
        name,
        expectation.title if expectation else None,
        file,
        line,
        "value" if expectation else "observation",
        claimed,
        predicted,
        predicted - claimed,
        (predicted - claimed) / abs(claimed) if claimed else None,
        dimension,
        tolerance,
        None,
        (),
        holds,
        stated.source,
        stated.note,
        stated.fitted,
        " ".join(span.text.split()),
        known=known,
    )
