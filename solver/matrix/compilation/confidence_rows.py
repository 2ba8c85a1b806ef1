"""Rows of specs with confidence levels: each has the capacity that samples of that row support.

Such rows are solved one by one, as `solve` does. What they have in common is compiled of the plain
requirements: it leaves rows out before any is solved, and distinguishes matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    changed,
    uncertain_in_any_mode,
)
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.certainty_requirements import (
    confidence_requirement,
    refuse_confidence_requirement,
    with_certainty,
)
from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.solver.matrix.compilation.column_labels import ColumnsKnown
from qps.solver.matrix.compilation.row_questions import RowQuery

ConfidenceModel = Callable[[ir.Model, Configuration], ir.Model]
"""Finds what is promised in a row: a function of a module, to be sent to other processes."""


@dataclass(frozen=True)
class ConfidenceRows:
    """The model as it states a confidence level, and what finds what is promised."""

    model: ir.Model
    at_confidence: ConfidenceModel

    def model_of(self, configuration: Configuration) -> ir.Model:
        """Return the model of a row; QpsError where no sample of it can be."""
        return self.at_confidence(self.model, configuration)

    @property
    def key(self) -> object:
        """What the answers rest on that the plain requirements do not show."""
        certainties = [(one.name, one.certainty) for one in with_certainty(self.model)]
        spreads = [
            (one.name, one.value.distribution)
            for one in self.model.parameters
            if isinstance(one.value, ir.Uncertain)
        ]
        return certainties, spreads, self.model.correlations


def confidence_rows(
    model: ir.Model, matrix: ir.Matrix, at_confidence: ConfidenceModel | None
) -> ConfidenceRows | None:
    """Return what distinguishes rows with confidence levels; None where all is certain.

    QpsError where nobody finds what is promised.
    """
    with_requirement = model.derived(confidence_requirement)
    if with_requirement is None or not _are_uncertain(model, matrix):
        return None
    if at_confidence is None:
        refuse_confidence_requirement(with_requirement)
    return ConfidenceRows(model, at_confidence)


def _are_uncertain(model: ir.Model, matrix: ir.Matrix) -> bool:
    """Return whether there is a number in any row that nobody knows: what axes set is known."""
    configuration = changed(base_configuration(model), matrix.changes)
    axes = [axis for block in matrix.blocks for axis in block]
    varied = {one.name for axis in matrix.axes for one in axis.varied}
    choices = [changed(configuration, [choice]) for axis in axes for choice in axis.choices]
    return any(
        not varied.issuperset(uncertain_in_any_mode(model, one))
        for one in (configuration, *choices)
    )


def known_by_samples(known: ColumnsKnown, rows: ConfidenceRows, question: RowQuery) -> ColumnsKnown:
    """Return how columns are known where samples determine the answer."""
    promised = with_certainty(rows.model)
    by_samples = together(
        *(known_by("requirement-by-samples", one.name, case="row") for one in promised)
    )

    def certainties(
        parts: Sequence[Certainty], expressions: Sequence[Sequence[ir.Expr]]
    ) -> tuple[Certainty, ...]:
        pairs = zip(parts, expressions, strict=True)
        return tuple(
            together(one, by_samples) if any(map(_rests_on_answer, exprs)) else one
            for one, exprs in pairs
        )

    columns = [[column.value.expr] for column in question.columns]
    sides = [[one.left, one.right] for one in question.comparisons]
    return replace(
        known,
        own=certainties(known.own, columns) if known.own else (),
        compared=certainties(known.compared, sides) if known.compared else (),
        answer=together(known.answer, by_samples),
    )


def _rests_on_answer(expr: ir.Expr) -> bool:
    return any(
        isinstance(part, ir.Measured) and part.kind is ir.MeasureKind.LARGEST
        for part in parts_of(expr)
    )
