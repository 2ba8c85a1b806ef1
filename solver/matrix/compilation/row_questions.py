"""The query of each row: its columns as expressions, and its conditions as comparisons.

Measures are expressions of the population and the inputs. What only solving gives (the largest
acceptable population, saturation points) are symbols, to which values are given when a row has
been solved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.expressions.label_propagation import certainty_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.expressions.symbolic_numbers import Moving
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.requirements.lower_measures import Measures
from qps.compiler.lower.requirements.serial_losses import in_series_anywhere
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import UNDEFINED, Formula, symbol
from qps.solver.answers.answer_certainty import values_known
from qps.solver.answers.graph_criteria import all_criteria

LARGEST = symbol("the capacity")
KNOWN_BY_SAMPLES = known_by("quantiles-by-samples")
_SATURATION = "saturation of "
_QUANTILE = "quantile of the answer: "


FormulaOf: TypeAlias = Callable[[LoadGraph, Configuration], Formula]
"""Reads a formula off the load graph of a configuration; QpsError where it has none."""


@dataclass(frozen=True, kw_only=True)
class RowQuery:
    """The query of every row, besides the columns that all matrices have.

    `columns` are those of the spec's own; `sides` those of the comparisons in all conditions;
    `is_criterion` whether claims rest on these. `further` are columns behind them that no spec
    states.
    """

    columns: tuple[ir.MatrixColumn, ...]
    comparisons: tuple[ir.Compare, ...]
    excluded: tuple[ir.Compare, ...]
    is_criterion: bool = False
    further: tuple[FormulaOf, ...] = ()

    @property
    def column_count(self) -> int:
        """How many columns there are, with the further ones."""
        return len(self.columns) + len(self.further)


def question_of(
    matrix: ir.Matrix,
    claims: Sequence[ir.MatrixClaim] = (),
    further: tuple[FormulaOf, ...] = (),
) -> RowQuery:
    """Return the query of a matrix, with those of claims about it, and `further` columns."""
    conditions = [matrix.wanted, *(c for claim in claims for c in (claim.where, claim.condition))]
    sides = [compare for condition in conditions for compare in compared(condition)]
    left_out = [compare for condition in matrix.excluded for compare in compared(condition)]
    comparisons, excluded = tuple(dict.fromkeys(sides)), tuple(dict.fromkeys(left_out))
    return RowQuery(
        columns=matrix.columns,
        comparisons=comparisons,
        excluded=excluded,
        is_criterion=bool(claims),
        further=further,
    )


def compared(condition: ir.Condition | None) -> Iterator[ir.Compare]:
    """Yield the comparisons of numbers in a condition."""
    match condition:
        case ir.Compare():
            yield condition
        case ir.AllOf(parts) | ir.AnyOf(parts):
            for part in parts:
                yield from compared(part)
        case ir.Negated(inner):
            yield from compared(inner)


def saturation_symbol(subject: str) -> Formula:
    """Return the symbol of a saturation point."""
    return symbol(_SATURATION + subject)


def saturation_subject(symbol: Formula) -> str | None:
    """Return the node or link whose saturation point a symbol stands for."""
    name = symbol.name
    return name.removeprefix(_SATURATION) if name.startswith(_SATURATION) else None


def quantile_symbol(level: Fraction) -> Formula:
    """Return the symbol of a quantile of the largest acceptable population."""
    return symbol(f"{_QUANTILE}{level}")


def quantile_level(symbol: Formula) -> Fraction | None:
    """Return the level of the quantile of the answer that a symbol stands for."""
    name = symbol.name
    return Fraction(name.removeprefix(_QUANTILE)) if name.startswith(_QUANTILE) else None


def quantile_levels(question: RowQuery) -> tuple[Fraction, ...]:
    """Return the levels of all quantiles of the answer that are requested."""
    sides = (side for one in question.comparisons for side in (one.left, one.right))
    exprs = (*(column.value.expr for column in question.columns), *sides)
    parts = (part for expr in exprs for part in parts_of(expr))
    levels = (
        part.level
        for part in parts
        if isinstance(part, ir.Measured) and part.kind is ir.MeasureKind.LARGEST
    )
    return tuple(dict.fromkeys(level for level in levels if level is not None))


@dataclass
class QuestionLowering:
    """Turns the query into expressions, in one lowered configuration."""

    model: ir.Model
    configuration: Configuration
    graph: LoadGraph
    moving: Moving = field(default_factory=dict)

    def __post_init__(self) -> None:
        active = in_force(self.configuration)
        self.expressions = ExpressionLowering.of_graph(self.model, active, self.graph)
        self.expressions.moving = self.moving

    def know_all_parameters(self) -> None:
        """Give every parameter its symbol, also those on which no load rests."""
        for parameter in self.model.parameters:
            with suppress(QpsError):
                self.expressions.lower(ir.ParameterValue(parameter.name))

    def expression(self, expr: ir.Expr) -> Formula | None:
        """Return an expression; None where the configuration has no such measure."""
        try:
            return self.expressions.lower(expr, self._measured)
        except QpsError:
            return None

    def formula(self, read: FormulaOf) -> Formula | None:
        """Return what is read off the graph; None where the configuration has none."""
        try:
            return read(self.graph, self.configuration)
        except QpsError:
            return None

    def known(self, expr: ir.Expr) -> Certainty:
        """Return how an expression is known, at any population and in any mode."""
        series = in_series_anywhere(self.graph.streams)
        measures = Measures.of_graph(self.graph, series)

        def symbol(of: ir.Measured | ir.Changed) -> Certainty:
            assert isinstance(of, ir.Measured)
            match of.kind:
                case ir.MeasureKind.LARGEST if of.level is not None:
                    return together(self.answer_known, KNOWN_BY_SAMPLES)
                case ir.MeasureKind.LARGEST:
                    return self.answer_known
                case ir.MeasureKind.QUALITY:
                    return self.graph.analysis.criteria.quality_in_series
                case ir.MeasureKind.SATURATION:
                    return EXACT
            return measures.known(of)

        return certainty_of(expr, self.expressions, symbol)

    @property
    def answer_known(self) -> Certainty:
        """How the largest acceptable population is known, whatever limits it."""
        criteria = all_criteria(self.graph)
        return values_known([[one] for one in criteria], criteria, is_none=False)

    def _measured(self, symbol: ir.Measured | ir.Changed) -> Formula:
        assert isinstance(symbol, ir.Measured)
        match symbol.kind:
            case ir.MeasureKind.SATURATION:
                return saturation_symbol(symbol.subject)
            case ir.MeasureKind.LARGEST if symbol.level is not None:
                return quantile_symbol(symbol.level)
            case ir.MeasureKind.LARGEST:
                return LARGEST
            case ir.MeasureKind.QUALITY:
                return UNDEFINED if self.graph.quality is None else self.graph.quality
        return Measures.of_graph(self.graph).of(symbol)
