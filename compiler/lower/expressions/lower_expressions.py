"""Expressions of the model as formulas, built node by node; no text is ever parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from msgspec import field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.case_tables import as_written
from qps.compiler.configure.cases import Unstated, report_unstated, varies_by_case
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.closed_networks.elastic_parameters import ElasticFormula, ElasticParameter
from qps.compiler.lower.expressions.exact_order import compare
from qps.compiler.lower.expressions.item_kinds import Mixed
from qps.compiler.lower.expressions.option_switches import is_on, of_options
from qps.compiler.lower.expressions.symbolic_numbers import Assuming, count_of, is_some
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    power,
    product,
    symbol,
    total,
)
from qps.engine.expressions.point_values import NoSignError, in_floats, sign
from qps.engine.operations import OPERATIONS

MeasureOf = Callable[[ir.Measured | ir.Changed], Formula]


class ExpressionLowering(Assuming, kw_only=True):
    """Lowers expressions in one configuration and keeps the assumptions they rest on.

    `asked_at` is where `case` was asked for, None where it is the one in force. What it returns
    is averaged over all classes, unless it `keeps_classes`: symbols of `item_kinds` stand for them.
    """

    model: ir.Model
    configuration: Configuration
    population: Formula
    elastic: dict[str, ElasticParameter] = field(default_factory=dict)
    elastic_known: dict[str, Certainty] = field(default_factory=dict)
    """How what they come to is known, where that is not exact."""
    decided: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    case: ir.Case | None = None
    asked_at: Span | None = None
    switches: dict[ir.Condition, Formula] | None = None
    """Numbers that tell which conditions on options hold; None where these decide."""
    counts_move: bool = False
    """Whether numbers of machines and networks are symbols, too."""
    _parameters: dict[tuple[str, ir.Case], Formula] = field(default_factory=dict)
    _declared: dict[str, ir.Parameter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self._declared:
            self._declared |= {parameter.name: parameter for parameter in self.model.parameters}

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

    def with_elastic(self, elastic: Iterable[ElasticFormula]) -> ExpressionLowering:
        """Return one that knows what elastic parameters come to, and how well that is known."""
        values = {one.parameter.name: one.value for one in elastic}
        known = {one.parameter.name: one.known for one in elastic if not one.known.is_exact}
        return replace(self, _parameters=self._with_values(values), elastic_known=known)

    def _with_values(self, values: Mapping[str, Formula]) -> dict[tuple[str, ir.Case], Formula]:
        """Return what parameters come to where some have other values, the same in each case."""
        found = dict(self._parameters)
        for name, value in values.items():
            found |= dict.fromkeys([(name, case) for case in ir.Case], value)
        return found

    def with_open(self) -> tuple[ExpressionLowering, dict[Formula, Certainty]]:
        """Return one in which symbols stand for elastic parameters that are not exact.

        With it, how these are known.
        """
        if not self.elastic_known:
            return self, {}
        leaves = {symbol(name): known for name, known in self.elastic_known.items()}
        values = {name: symbol(name) for name in self.elastic_known}
        return replace(self, _parameters=self._with_values(values)), leaves

    def keeping_classes(self) -> ExpressionLowering:
        """Return one for parts of a formula, which is to be averaged as a whole."""
        return replace(self, keeps_classes=True)

    def lower(self, expr: ir.Expr, measure: MeasureOf | None = None) -> Formula:
        """Return an expression in symbols; `measure` gives the measures it may name."""
        lowered = self._lower(expr, measure)
        return lowered if self.keeps_classes else self.averaged(lowered)

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
                return replace(self, case=case, asked_at=span, keeps_classes=True).lower(
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
        self.looked_at.add(count_of(name))
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

    def _parameter(self, name: str) -> Formula:
        """Return a parameter's symbol, or what it is made of where it depends on others."""
        key = (name, self._case)
        if key in self._parameters:
            return self._parameters[key]
        expr = self.configuration.parameters[name]
        declared = self._declared[name]
        if declared.is_elastic and self.configuration.values_from[name] is declared.value_span:
            return self._elastic(declared)
        lowered = self._lower(
            self._stated(expr, name).value if isinstance(expr, ir.ByCase) else expr, None
        )
        if isinstance(expr, ir.Mixture):
            lowered = self._as_number(expr, lowered)
        if lowered.is_constant:
            self._check_range(declared, lowered)
            text, span, source = where_from(declared, self.configuration)
            known_as = name
            if varies_by_case(expr):
                text = as_written(name, self.configuration, self._case)
                if self._case is not self.configuration.case:
                    known_as = f"{name}.{self._case.value}"
            lowered = self.assume(known_as, lowered, declared.dimension, text, span, source)
        else:
            self._check_range(declared, self.put_in(lowered))
            text, span, _ = where_from(declared, self.configuration)
            source = declared.source if span is declared.value_span else None
            self.cite(name, text, span, source, lowered)
        if isinstance(expr, ir.Mixture) and self._case is ir.Case.AVERAGE:
            lowered = self._of_each_class(name, expr, lowered)
        self._parameters[key] = lowered
        return lowered

    def _of_each_class(self, name: str, mixture: ir.Mixture, mean: Formula) -> Formula:
        """Return a symbol that stands for a parameter until its kinds are counted."""
        stands = symbol(f"{name} of each kind")
        each = tuple((number(k.share), self._parameter(k.parameter)) for k in mixture.classes)
        self.mixtures[stands] = Mixed(
            symbol=stands,
            of=mixture.of,
            of_users=mixture.of_users,
            mean=mean,
            each=each,
            kinds=tuple(kind.name for kind in mixture.classes),
        )
        return stands

    @property
    def _case(self) -> ir.Case:
        return self.case or self.configuration.case

    def _stated(self, value: ir.ByCase, name: str) -> ir.CaseValue:
        """Return what the parameter of a name is in the case in force."""
        stated = value.stated(self._case)
        if stated is None:
            sink = Sink()
            asked_at = self.asked_at or self.configuration.case_from
            report_unstated(Unstated(name, self._case, asked_at), self.model, sink)
            raise QpsError(sink.found)
        return stated

    def _mixed(self, classes: tuple[ir.Class, ...]) -> Formula:
        """Return what a parameter by kinds is in the case in force."""
        values = [self._parameter(kind.parameter) for kind in classes]
        if self._case is ir.Case.AVERAGE:
            shares = [number(kind.share) for kind in classes]
            return total(s * value for s, value in zip(shares, values, strict=True))
        return (minimum if self._case is ir.Case.LEAST else maximum)(*values)

    def _as_number(self, mixture: ir.Mixture, lowered: Formula) -> Formula:
        """Return a mixture of fixed numbers as one number: it has a name of its own.

        Where one of its kinds was set, that number counts by itself, and so do the others.
        """
        names = [kind.parameter for kind in mixture.classes]
        own = [self._parameter(name) for name in names]
        is_set = any(self._is_set(name) for name in names)
        fixed = all(part.is_symbol and part.name.startswith(tuple(names)) for part in own)
        return self.valued(lowered) if fixed and not is_set else lowered

    def _is_set(self, name: str) -> bool:
        """Return whether a change has set a parameter, be it to the value that it had."""
        declared, now = self._declared[name], self.configuration
        is_same = now.parameters[name] is declared.value
        return not is_same or now.values_from[name] is not declared.value_span

    def _elastic(self, declared: ir.Parameter) -> Formula:
        """Return the symbol of an elastic parameter; `with_elastic` puts in what it comes to."""
        name, span, dimension = declared.name, declared.value_span, declared.dimension
        assert declared.low is not None
        assert declared.high is not None
        least, most = (
            self._end(f"{name}.{end}", bound, declared, text)
            for end, bound, text in (
                ("least", declared.low, declared.least_text),
                ("most", declared.high, span.text),
            )
        )
        taken = symbol(name)
        self.elastic[name] = ElasticParameter(
            name=name,
            symbol=taken,
            least=least,
            most=most,
            dimension=dimension,
            span=declared.span,
            priority=self.rank(declared.priority),
        )
        self._parameters |= self._with_values({name: taken})
        return taken

    def _end(self, name: str, bound: ir.Expr, declared: ir.Parameter, text: str) -> Formula:
        """Return an end of an elastic parameter's range; it moves with what it is made of."""
        lowered = self.lower(bound)
        if not lowered.is_constant:
            return lowered
        source = declared.source or declared.doc
        return self.assume(name, lowered, declared.dimension, text, declared.value_span, source)

    def in_order_of_service(self) -> list[ir.Parameter]:
        """Return the elastic parameters as they take what is left.

        Those with a priority come first, 1 before 2; else they go in the order of declaration.
        """
        elastic = [parameter for parameter in self.model.parameters if parameter.is_elastic]
        ranks = {parameter.name: self.rank(parameter.priority) for parameter in elastic}
        return sorted(elastic, key=lambda p: (ranks[p.name] is None, ranks[p.name] or 0))

    def rank(self, priority: ir.Quantity | None) -> int | None:
        """Return a stated priority: what goes first does not change with the numbers of a graph."""
        if priority is None:
            return None
        asked = priority.expr
        self.decided |= self._named_in(asked)
        return int(in_floats(self.number(asked)))

    def _recorded(self, expr: ir.Recorded | ir.Lookup) -> Formula:
        """Return a measured number as an assumption whose source is the file."""
        recorded = expr
        if isinstance(recorded, ir.Lookup):
            recorded = self._looked_up(recorded.table, recorded.argument, recorded.span)
        return self.assume(
            recorded.name,
            number(recorded.value),
            recorded.dimension,
            recorded.text,
            recorded.span,
            recorded.source,
        )

    def _looked_up(self, table: ir.RecordedTable, argument: ir.Expr, span: Span) -> ir.Recorded:
        """Return what a recording gives for an argument in this configuration."""
        self.decided |= self._named_in(argument)
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

    def _check_range(self, parameter: ir.Parameter, value: Formula) -> None:
        for bound, is_low in ((parameter.low, True), (parameter.high, False)):
            if bound is None:
                continue
            limit = self.put_in(self.lower(bound))
            if compare("<" if is_low else ">", value, limit):
                raise QpsError.single(
                    codes.OUT_OF_RANGE,
                    self.configuration.values_from[parameter.name],
                    f"`{parameter.name}` is {'below' if is_low else 'above'} its range",
                    hint=f"range declared at {parameter.span.place}",
                )

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
                self.decided |= self._named_in(left) | self._named_in(right)
                return compare(operator, self.number(left), self.number(right))
            case _:
                assert_never(condition)

    def switch(self, condition: ir.Condition | None, span: Span) -> Formula | None:
        """Return a number that is 1 where a condition holds, else 0; None where it decides."""
        known, asked = self.switches, of_options(condition)
        if known is None or asked is None:
            return None
        if asked not in known:
            name, on = f"switch {len(known)}", is_on(asked, self.configuration.options)
            value = ONE if on else ZERO
            known[asked] = self.assume(name, value, DIMENSIONLESS, name, span, None)
        return known[asked]

    def chosen(self, option: str) -> str:
        """Return the choice of an option, and remember that it was asked for."""
        self.asked.add(option)
        return self.configuration.options[option]

    def _named_in(self, expr: ir.Expr) -> set[str]:
        """Return the parameters that an expression rests on, directly or not."""
        names = {p.name for p in parts_of(expr) if isinstance(p, ir.ParameterValue)}
        for name in tuple(names):
            names |= self._named_in(self.configuration.parameters[name])
        return names

    def number(self, expr: ir.Expr) -> Formula:
        """Return the value of an expression without the population."""
        return self.put_in(self.lower(expr))

    def in_symbols(self, expr: ir.Expr) -> Formula | None:
        """Return a value in symbols; None where it is a measure, or has no value here."""
        if any(isinstance(part, ir.Measured | ir.Changed) for part in parts_of(expr)):
            return None
        try:
            return self.lower(expr)
        except QpsError:
            return None


def where_from(
    declared: ir.Parameter, configuration: Configuration
) -> tuple[str, Span, str | None]:
    """Return how the value of a parameter is written, where, and who says so."""
    span = configuration.values_from[declared.name]
    if span is declared.value_span:
        return declared.text or span.text, span, declared.source or declared.doc
    is_own = span.source is declared.span.source
    return span.text, span, f"set at {span.place}" if is_own else f"set by `{span.source.label}`"


def _is_finite(constant: Formula) -> bool:
    """Return whether a constant has a finite value."""
    if constant.exact is not None:
        return True
    try:
        return sign(constant) is not None
    except NoSignError:
        return True
