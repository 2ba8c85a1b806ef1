"""Expressions of the model as formulas, built node by node; no text is ever parsed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from msgspec import field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.conditional_paths import PathTest, empty_nodes
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.expressions.exact_order import compare
from qps.compiler.lower.expressions.lower_parameters import MeasureOf, ParameterLowering
from qps.compiler.lower.expressions.option_switches import is_on, of_options
from qps.compiler.lower.expressions.symbolic_numbers import count_of, is_some
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    minimum,
    number,
    power,
    product,
    total,
)
from qps.engine.expressions.point_values import NoSignError, in_floats, sign
from qps.engine.operations import OPERATIONS


class ExpressionLowering(ParameterLowering, kw_only=True):
    """Lowers expressions in one configuration and keeps the assumptions they rest on.

    What it returns is averaged over all classes, unless it `keeps_classes`: symbols of `item_kinds`
    stand for them.
    """

    options: set[str] = field(default_factory=set)
    switches: dict[ir.Condition, Formula] | None = None
    """Numbers that say which conditions on options hold; None where these decide."""
    counts_move: bool = False
    """Whether numbers of machines and networks are symbols, too."""

    @classmethod
    def of_graph(
        cls, model: ir.Model, configuration: Configuration, graph: LoadGraph
    ) -> ExpressionLowering:
        """Return one that knows the numbers of a graph, and what its elastic parameters come to."""
        expressions = cls(
            model=model,
            configuration=configuration,
            population=graph.population,
            assumptions=dict(graph.assumptions),
        )
        return expressions.with_elastic(graph.elastic)

    def keeping_classes(self) -> ExpressionLowering:
        """Return one for parts of a formula, which is to be averaged as a whole."""
        return replace(self, keeps_classes=True)

    def _lower(  # noqa: PLR0911 - one return a node
        self, expr: ir.Expr, measure: MeasureOf | None
    ) -> Formula:
        match expr:
            case ir.Constant(value):
                return number(value)
            case ir.ParameterValue(name):
                return self._parameter(name)
            case ir.Recorded() | ir.Lookup():
                return self._recorded(expr)
            case ir.Population():
                return self.population
            case ir.NodeCount(name):
                return self.keeping_classes().counted(name)
            case ir.Members(name):
                return self.keeping_classes().members(name)
            case ir.GroupCount(name):
                return self.averaged(self.groups(name))
            case ir.Sum(terms):
                return total(self._lower(term, measure) for term in terms)
            case ir.Product(factors):
                return product(self._lower(factor, measure) for factor in factors)
            case ir.Power(base, exponent):
                return power(self._lower(base, measure), self._lower(exponent, measure))
            case ir.Apply(word, arguments):
                return self._applied(word, [self._lower(part, measure) for part in arguments])
            case ir.Choice(condition, then, otherwise):
                return self._lower(then if self.holds(condition) else otherwise, measure)
            case ir.InCase() | ir.ByCase() | ir.Mixture():
                return self._in_case(expr, measure)
            case ir.Measured() | ir.Changed():
                if measure is None:
                    raise AssertionError("the checker lets no measure in here")
                return measure(expr)
            case _:
                assert_never(expr)

    def _in_case(
        self, expr: ir.InCase | ir.ByCase | ir.Mixture, measure: MeasureOf | None
    ) -> Formula:
        """Return what has several values."""
        match expr:
            case ir.InCase(case, value, span):
                return replace(self, case=case, requested_at=span, keeps_classes=True).lower(
                    value, measure
                )
            case ir.Mixture(classes=classes):
                return self._mixed(classes)
            case ir.ByCase():
                raise AssertionError("only parameters have cases")

    def count(self, name: str) -> Formula:
        """Return how many there are of a node or a link, to share flows among them."""
        place = self.configuration.place(name)
        if self.counts_move and is_some(place.count):
            return self.assume_count(name, place.count.value, place.span)
        return self.lower(place.count)

    def counted(self, name: str) -> Formula:
        """Return the same for an expression: less one of them may be none, so it is looked at."""
        self.evaluated.add(count_of(name))
        return self.lower(self.configuration.place(name).count)

    def members(self, name: str) -> Formula:
        """Return how many users there are in each group: all of them, where they are few."""
        group = self.configuration.groups[name]
        size = self.keeping_classes().symbol(f"{name}.size", group.size, group.doc)
        users = self._divided(name)
        members = size if size == users else minimum(size, users)
        return members if self.keeps_classes else self.averaged(members)

    def _divided(self, name: str) -> Formula:
        """Return the users that groups divide: those of the spec, or of an instance."""
        users = self.configuration.groups[name].users
        return self.population if users is None else self.keeping_classes().lower(users)

    def groups(self, name: str) -> Formula:
        """Return how many groups there are: N users, in groups of min(k, N), of all kinds."""
        groups = self._divided(name) / self.keeping_classes().members(name)
        return groups if self.keeps_classes else self.averaged(groups)

    def symbol(
        self,
        name: str,
        quantity: ir.Quantity,
        source: str | None = None,
        *,
        measure: MeasureOf | None = None,
        is_capacity: bool = False,
        where: Sequence[str] = (),
    ) -> Formula:
        """Return a quantity: a fixed number as an assumption of that name, all else lowered."""
        if not isinstance(quantity.expr, ir.Constant):
            lowered = self.lower(quantity.expr, measure)
            self.cite(name, quantity.text, quantity.span, quantity.source, lowered)
            if is_capacity:
                self.mark_capacity(lowered)
            return lowered
        value = number(quantity.expr.value)
        return self.assume(
            name,
            value,
            quantity.dimension,
            quantity.text,
            quantity.span,
            quantity.source or source,
            is_capacity=is_capacity,
            where=where,
        )

    def _recorded(self, expr: ir.Recorded | ir.Lookup) -> Formula:
        """Return a measured number as an assumption whose source is the file."""
        recorded = expr
        if isinstance(recorded, ir.Lookup):
            recorded = self._recorded_value(recorded.table, recorded.argument, recorded.span)
        return self.assume(
            recorded.name,
            number(recorded.value),
            recorded.dimension,
            recorded.text,
            recorded.span,
            recorded.source,
        )

    def _recorded_value(
        self, table: ir.RecordedTable, argument: ir.Expr, span: Span
    ) -> ir.Recorded:
        """Return what a recording gives for an argument in this configuration."""
        self.decided |= self.parameters_in(argument)
        value = self.number(argument)
        found = table.at(Fraction(in_floats(value)) if value.exact is None else value.exact)
        if found is None:
            raise QpsError.single(
                codes.NUMBER_SIZE,
                span,
                f"`{table.name}` has no value for {table.fault}",
                hint="use another argument",
            )
        return found

    def _applied(self, word: str, arguments: Sequence[Formula]) -> Formula:
        applied = apply(word, *arguments)
        if applied.is_constant and not _is_finite(applied):
            raise QpsError.single(
                codes.NUMBER_SIZE,
                None,
                f"`{OPERATIONS[word].called}` has no real value for its argument",
            )
        return applied

    def holds(self, condition: ir.Condition | None) -> bool:
        """Return whether a condition on options and parameters is true."""
        match condition:
            case None:
                return True
            case ir.OptionIs(option, choice):
                return self.chosen(option) == choice
            case ir.AllOf(conditions):
                return all(self.holds(part) for part in conditions)
            case ir.AnyOf(conditions):
                return any(self.holds(part) for part in conditions)
            case ir.Negated(inner):
                return not self.holds(inner)
            case ir.RowIs():
                raise AssertionError("only a matrix has rows")
            case ir.Compare(operator, left, right):
                self.decided |= self.parameters_in(left) | self.parameters_in(right)
                return compare(operator, self.number(left), self.number(right))
            case _:
                assert_never(condition)

    @property
    def path_test(self) -> PathTest:
        """What says which way streams take."""
        empty = empty_nodes(self.configuration)
        return PathTest(holds=self.holds, is_zero=self._is_zero, empty=empty)

    def _is_zero(self, expr: ir.Expr) -> bool:
        """Return whether a value is exactly zero, if need be with the numbers at hand."""
        lowered = self.lower(expr)
        if not lowered.is_constant:
            self.decided |= self.parameters_in(expr)
            lowered = self.put_in(lowered)
        return lowered.exact == 0

    def switch(self, condition: ir.Condition | None, span: Span) -> Formula | None:
        """Return a number that is 1 where a condition holds, else 0; None where it decides."""
        known, options = self.switches, of_options(condition)
        if known is None or options is None:
            return None
        if options not in known:
            name, on = f"switch {len(known)}", is_on(options, self.configuration.options)
            value = ONE if on else ZERO
            known[options] = self.assume(name, value, DIMENSIONLESS, name, span, None)
        return known[options]

    def chosen(self, option: str) -> str:
        """Return the choice of an option, and remember that it was requested."""
        self.options.add(option)
        return self.configuration.options[option]

    def in_symbols(self, expr: ir.Expr) -> Formula | None:
        """Return a value in symbols; None where it is a measure, or has no value here."""
        if any(isinstance(part, ir.Measured | ir.Changed) for part in parts_of(expr)):
            return None
        try:
            return self.lower(expr)
        except QpsError:
            return None


def _is_finite(constant: Formula) -> bool:
    """Return whether a constant has a finite value."""
    if constant.exact is not None:
        return True
    try:
        return sign(constant) is not None
    except NoSignError:
        return True
