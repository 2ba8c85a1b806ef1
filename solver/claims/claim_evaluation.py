"""Are the claims of a spec true? Expectations and observations against the model's answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    changed,
    in_force,
)
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import operands_of, parts_of
from qps.compiler.lower.expressions.exact_order import compare, order_of
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.point_values import in_floats
from qps.links import resolved_path
from qps.solver.claims.accepted_failures import Accepted
from qps.solver.claims.availability_claims import is_availability
from qps.solver.claims.claim_results import (
    ClaimResult,
    ClaimResults,
    ComparisonSide,
    Coverage,
    PredictionInterval,
    condition_result,
    unclaimed_result,
    value_result,
)
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.forecast_claims import is_horizon
from qps.solver.claims.simulated_claims import SimulatedClaims, Simulator, is_alone
from qps.solver.uncertainty.interval_result import PROBABILITY

if TYPE_CHECKING:
    from qps.solver.claims.prediction_intervals import PredictionIntervals
    from qps.solver.matrix.matrix_claims import MatrixClaimEvaluator


class ClaimQuery(Struct, frozen=True):
    """A question of its own, and of how many claims it gives the results, by their name."""

    name: str
    claims: int
    ask: Callable[[], Sequence[ClaimResult]]


class Claims(Struct, dict=True):
    """The claims of a model, judged in its runner; those of a spec, by what its project accepts."""

    runner: ClaimRunner
    simulator: Simulator | None = None
    """Simulates `simulated` claims; without it, they have no verdict."""
    probability: float = PROBABILITY
    """Of the prediction intervals by which measured rows are judged."""
    accepted: Accepted = field(default_factory=Accepted)
    """What may fail until a day."""

    @staticmethod
    def of(
        spec: Spec, simulator: Simulator | None = None, probability: float = PROBABILITY
    ) -> Claims:
        """Return the claims of a spec."""
        runner = ClaimRunner(model=spec.model)
        return Claims(runner, simulator, probability, Accepted(spec.accepted))

    @property
    def _model(self) -> ir.Model:
        return self.runner.model

    def of_claim(self, name: str, expectation: ir.Expectation, claim: ir.Claim) -> ClaimResult:
        """Return the result of a claim that is not simulated."""
        return self._annotated(
            self._claim(name, expectation, claim), expectation, _origin(expectation, claim)
        )

    def results(self) -> tuple[ClaimResult, ...]:
        """Return every claim of the model and every row of its observations."""
        return tuple(result for question in self.questions() for result in question.ask())

    def questions(self) -> Iterator[ClaimQuery]:
        """Yield the claims, each to be evaluated by itself: one may fail where others do not."""
        for question in self._questions():
            yield replace(question, ask=partial(self._results, question))

    def _results(self, question: ClaimQuery) -> Sequence[ClaimResult]:
        return [self.accepted.with_acceptance(one) for one in question.ask()]

    def _questions(self) -> Iterator[ClaimQuery]:
        for expectation in self._model.expectations:
            if not expectation.claims and not expectation.matrix_claims:
                question = partial(_unclaimed, expectation)
                yield ClaimQuery(expectation.name, 1, question)
            many = len(expectation.claims) + len(expectation.matrix_claims) > 1
            for index, claim in enumerate(expectation.claims, 1):
                name = f"{expectation.name}[{index}]" if many else expectation.name
                question = partial(self._result, name, expectation, claim)
                yield ClaimQuery(name, _results(claim), question)
            if expectation.matrix_claims:
                count = len(expectation.matrix_claims)
                yield ClaimQuery(expectation.name, count, partial(self._of_matrices, expectation))
        for observation in self._model.observations:
            for row in observation.rows:
                count = sum(value is not None for value in row.values)
                yield ClaimQuery(observation.name, count, partial(self._row, observation, row))

    def _result(
        self, name: str, expectation: ir.Expectation, claim: ir.Claim
    ) -> tuple[ClaimResult, ...]:
        self.runner.chosen.clear()
        results = []
        if not is_alone(claim):
            results.append(self.of_claim(name, expectation, claim))
        if claim.simulated is not None:
            simulated = self._simulated.results(name, expectation, claim)
            # A simulation of ours is not a publication.
            results += [
                self._annotated(result, expectation, ir.Origin.MODEL) for result in simulated
            ]
        return tuple(results)

    @cached_property
    def _simulated(self) -> SimulatedClaims:
        return SimulatedClaims(runner=self.runner, simulator=self.simulator)

    # -- claims --------------------------------------------------------------------------

    def _claim(self, name: str, expectation: ir.Expectation, claim: ir.Claim) -> ClaimResult:
        base = self.runner.base
        if isinstance(claim.value, ir.Quantity):
            assert claim.claimed is not None
            assert claim.tolerance is not None
            predicted = self.runner.value(claim.value.expr, base, claim.changes, claim.span)
            claimed = self.runner.value(claim.claimed.expr, base, claim.changes, claim.span)
            return value_result(
                name,
                expectation,
                claim.span,
                in_floats(claimed),
                in_floats(predicted),
                claim.value.dimension,
                claim.tolerance,
                passes=_is_close(predicted, claimed, claim.tolerance),
                known=together(
                    self.runner.known(claim.value.expr, base, claim.changes),
                    self.runner.known(claim.claimed.expr, base, claim.changes),
                ),
            )
        sides: list[_ComparisonSide] = []
        holds = self._is_true(claim.value, base, claim.changes, claim.span, sides)
        compared = tuple(self._side(one, claim.value) for one in sides)
        return condition_result(name, expectation, claim.span, compared, passes=holds)

    def _side(self, one: _ComparisonSide, condition: ir.Condition) -> ComparisonSide:
        """Return a side as it is shown: beside `holds_until`, numbers are dates."""
        value, calendar = in_floats(one.value), self._model.calendar
        compared = [part for side in operands_of(condition) for part in parts_of(side)]
        is_date = calendar is not None and any(map(is_horizon, compared))
        date = calendar.date(floor(value)) if calendar is not None and is_date else None
        return ComparisonSide(
            value=value,
            dimension=one.dimension,
            known=one.known,
            date=date,
            is_availability=any(map(is_availability, compared)),
        )

    def _annotated(
        self,
        result: ClaimResult,
        stated: ir.Expectation | ir.Observation,
        origin: ir.Origin,
    ) -> ClaimResult:
        """Return a result with what was chosen for it, or for others, and whose claim it is."""
        own = [stated.fitted] if stated.fitted else []
        chosen = dict.fromkeys([*own, *self.runner.chosen])
        return replace(
            result,
            fitted="; ".join(chosen) or None,
            is_fitted_to_it=bool(own) or (bool(chosen) and self._is_fitted_to(stated)),
            missed=stated.missed,
            origin=origin,
        )

    def _is_fitted_to(self, stated: ir.Expectation | ir.Observation) -> bool:
        """Return whether costs are fitted to the very table that is observed."""
        return (
            isinstance(stated, ir.Observation)
            and resolved_path(Path(stated.file)) in self._tables_of_fits
        )

    @cached_property
    def _tables_of_fits(self) -> frozenset[Path]:
        folders = ((span.source.folder, fit) for span, fit in self._model.fits)
        return frozenset(resolved_path(Path(at, fit.file)) for at, fit in folders if at is not None)

    def _of_matrices(self, expectation: ir.Expectation) -> list[ClaimResult]:
        """Return what is claimed of matrices."""
        if not expectation.matrix_claims:
            return []
        before = len(expectation.claims)
        many = before + len(expectation.matrix_claims) > 1
        results = []
        for index, claim in enumerate(expectation.matrix_claims, before + 1):
            judged = self._matrix_evaluator.of(claim)
            result = condition_result(
                f"{expectation.name}[{index}]" if many else expectation.name,
                expectation,
                claim.span,
                tuple(
                    ComparisonSide(value=float(count), known=judged.known)
                    for count in (judged.true_count, judged.about)
                ),
                passes=judged.is_true,
            )
            result = replace(result, kind="matrix", counted=judged.text)
            self.runner.chosen = dict.fromkeys(text for _, text in self._model.fitted)
            results.append(self._annotated(result, expectation, _origin(expectation)))
        return results

    @cached_property
    def _matrix_evaluator(self) -> MatrixClaimEvaluator:
        from qps.solver.matrix.matrix_claims import MatrixClaimEvaluator  # noqa: PLC0415 - slow to import, seldom needed
        from qps.solver.uncertainty.confidence_interface import model_at_confidence  # noqa: PLC0415
        from qps.solver.uncertainty.sampled_rows import drawn_in_rows  # noqa: PLC0415

        return MatrixClaimEvaluator(self._model, drawn_in_rows, model_at_confidence)

    def _is_true(
        self,
        condition: ir.Condition,
        base: Configuration,
        changes: Sequence[ir.Change],
        span: Span,
        sides: list[_ComparisonSide],
    ) -> bool:
        """Return whether a condition is true; the values of its sides are added to `sides`."""

        def verdicts(parts: Sequence[ir.Condition]) -> list[bool]:
            # All of them, also where the first one settles it: their values are shown.
            return [self._is_true(part, base, changes, span, sides) for part in parts]

        match condition:
            case ir.Compare(operator, left, right, dimension):
                shown = [
                    _ComparisonSide(
                        self.runner.value(side, base, changes, span),
                        dimension,
                        self.runner.known(side, base, changes),
                    )
                    for side in (left, right)
                ]
                is_shown = sides and sides[-1] == shown[0]
                sides += shown[1:] if is_shown else shown
                return compare(operator, *(one.value for one in shown))
            case ir.AllOf(parts):
                return all(verdicts(parts))
            case ir.AnyOf(parts):
                return any(verdicts(parts))
            case ir.Negated(inner):
                return not self._is_true(inner, base, changes, span, sides)
            case ir.RowIs():
                raise AssertionError("only a matrix has rows")
            case ir.OptionIs(option, choice):
                return in_force(changed(base, changes)).options[option] == choice
            case _:
                assert_never(condition)

    # -- observations --------------------------------------------------------------------

    def _row(self, observation: ir.Observation, row: ir.ObservedRow) -> list[ClaimResult]:
        base = self.runner.base
        results = []
        intervals = self._intervals_of(observation, row)
        for column, measured, interval in zip(
            observation.measured, row.values, intervals, strict=True
        ):
            if measured is None:
                continue
            self.runner.chosen.clear()
            predicted = self.runner.value(column.value.expr, base, row.changes, column.span)
            claimed = number(measured)
            tolerance = column.tolerance
            holds = None
            if tolerance is not None:
                holds = _is_close(predicted, claimed, tolerance)
            result = value_result(
                f"{observation.name}[{row.line}].{column.heading}",
                observation,
                column.span,
                float(measured),
                in_floats(predicted),
                column.value.dimension,
                tolerance,
                passes=holds,
                place=(observation.file, row.line),
                known=self.runner.known(column.value.expr, base, row.changes),
                interval=interval,
            )
            results.append(self._annotated(result, observation, _origin(observation, column)))
        return results

    def _intervals_of(
        self, observation: ir.Observation, row: ir.ObservedRow
    ) -> Sequence[PredictionInterval | None]:
        if not self._is_uncertain:
            return [None] * len(row.values)
        return self._intervals.of_row(observation, row)

    @property
    def coverages(self) -> tuple[Coverage, ...]:
        """How many values lie within their prediction intervals, of all rows evaluated so far."""
        # Only an evaluated row has made the intervals: no other spec imports what they take.
        return self._intervals.coverages if "_intervals" in self.__dict__ else ()

    @cached_property
    def _is_uncertain(self) -> bool:
        return any(isinstance(one.value, ir.Uncertain) for one in self._model.parameters)

    @cached_property
    def _intervals(self) -> PredictionIntervals:
        from qps.solver.claims.prediction_intervals import PredictionIntervals  # noqa: PLC0415 - needs numpy

        return PredictionIntervals(model=self._model, probability=self.probability)


def _origin(
    stated: ir.Expectation | ir.Observation,
    claim: ir.Claim | ir.MeasuredColumn | None = None,
) -> ir.Origin:
    """Return whose a claim is: what a document has, without a query of a model, is arithmetic."""
    if stated.source is None:
        return ir.Origin.MODEL
    if claim is not None and not claim.is_query and stated.origin is ir.Origin.PUBLISHED:
        return ir.Origin.ARITHMETIC
    return stated.origin


def _unclaimed(expectation: ir.Expectation) -> tuple[ClaimResult, ...]:
    return (unclaimed_result(expectation),)


def _results(claim: ir.Claim) -> int:
    """Return how many results a claim has: one, and one for each measure that is simulated."""
    if claim.simulated is None:
        return 1
    return len(claim.simulated.measures) + (not is_alone(claim))


class _ComparisonSide(Struct, frozen=True):
    """A side of a comparison as it is judged: exactly."""

    value: Formula
    dimension: Dimension
    known: Certainty


def _is_close(predicted: Formula, claimed: Formula, tolerance: ir.Tolerance) -> bool:
    allowed = number(tolerance.amount)
    if tolerance.relative:
        allowed = allowed * abs(claimed)
    if order_of(predicted, claimed) == 0:
        return True
    return order_of(abs(predicted - claimed), allowed) <= 0


def evaluate_claims(spec: Spec) -> ClaimResults:
    """Return what becomes of the claims of a spec; nothing is played for that."""
    found: list[ClaimResult] = []
    unanswered: list[Diagnostic] = []
    for question in Claims.of(spec).questions():
        try:
            found += question.ask()
        except QpsError as error:
            unanswered += error.diagnostics
    return ClaimResults(tuple(found), tuple(unanswered))
