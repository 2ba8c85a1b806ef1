"""Expressions of the model as sympy expressions, built node by node; no text is ever parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import assert_never

import sympy

from qps.compiler import ir
from qps.compiler.configure.case_tables import as_written
from qps.compiler.configure.cases import Unstated, report_unstated, varies_by_case
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.elastic import ElasticParameter
from qps.compiler.lower.exact import compare, rational
from qps.compiler.lower.extremes import Maximum, Minimum
from qps.compiler.lower.load_graph import Assumption, LoadGraph
from qps.compiler.lower.mixtures import Mixed, averaged
from qps.compiler.lower.powers import power
from qps.compiler.lower.queue_functions import (
    ErlangB,
    ErlangC,
    MD1Quantile,
    MD1Tail,
    NormalQuantile,
    NormalTail,
    PeriodicQuantile,
    PeriodicTail,
    PeriodicWait,
    Waiting,
)
from qps.compiler.quantities.dimension import Dimension

_FUNCTIONS: dict[ir.Function, Callable[..., sympy.Expr]] = {
    ir.Function.MAX: Maximum,
    ir.Function.MIN: Minimum,
    ir.Function.CEIL: sympy.ceiling,
    ir.Function.FLOOR: sympy.floor,
    ir.Function.SQRT: sympy.sqrt,
    ir.Function.EXP: sympy.exp,
    ir.Function.LOG: sympy.log,
    ir.Function.LOG2: lambda x: sympy.log(x) / sympy.log(2),
    ir.Function.LOG10: lambda x: sympy.log(x) / sympy.log(10),
    ir.Function.ABS: sympy.Abs,
    ir.Function.COS: sympy.cos,
    ir.Function.ACOS: sympy.acos,
    ir.Function.LAMBERT_W: sympy.LambertW,
    ir.Function.LOWER_LAMBERT_W: lambda x: sympy.LambertW(x, -1),
    ir.Function.CLAMP: lambda x, least, most: Minimum(Maximum(x, least), most),
    ir.Function.WAITING: Waiting,
    ir.Function.HARMONIC: sympy.harmonic,
    ir.Function.ERLANG_B: ErlangB,
    ir.Function.ERLANG_C: ErlangC,
    ir.Function.MD1_TAIL: MD1Tail,
    ir.Function.MD1_QUANTILE: MD1Quantile,
    ir.Function.PERIODIC_WAIT: PeriodicWait,
    ir.Function.PERIODIC_TAIL: PeriodicTail,
    ir.Function.PERIODIC_QUANTILE: PeriodicQuantile,
    ir.Function.NORMAL_TAIL: NormalTail,
    ir.Function.NORMAL_QUANTILE: NormalQuantile,
}

MeasureOf = Callable[[ir.Measured | ir.Changed], sympy.Expr]


Moving = Mapping[str, bool]
"""Numbers that take other values with the formulas as they are; whether of other signs, too."""


@dataclass
class ExpressionLowering:
    """Lowers expressions in one configuration and keeps the assumptions they rest on.

    `asked_at` is where `case` was asked for, None where it is the one in force. What it returns
    is averaged over all kinds, unless it `keeps_kinds`: then symbols of `mixtures` stand for them.
    What is told to be known of a formula must hold for all values of the numbers that are `moving`,
    and where `sizes_move` for all sizes of visits. `weighed` are the other numbers whose values
    were looked at to tell it, and whether nothing but their signs.
    """

    model: ir.Model
    configuration: Configuration
    population: sympy.Symbol
    assumptions: dict[str, Assumption] = field(default_factory=dict)
    elastic: dict[str, ElasticParameter] = field(default_factory=dict)
    decided: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    case: ir.Case | None = None
    asked_at: Span | None = None
    mixtures: dict[sympy.Symbol, Mixed] = field(default_factory=dict)
    keeps_kinds: bool = False
    moving: Moving = field(default_factory=dict)
    sizes_move: bool = False
    weighed: dict[str, bool] = field(default_factory=dict)
    _parameters: dict[tuple[str, ir.Case], sympy.Expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._declared = {parameter.name: parameter for parameter in self.model.parameters}

    @classmethod
    def of_graph(
        cls, model: ir.Model, configuration: Configuration, graph: LoadGraph
    ) -> ExpressionLowering:
        """Return one that knows the numbers of a graph, and what its elastic parameters come to."""
        expressions = cls(model, configuration, graph.population, dict(graph.assumptions))
        for elastic in graph.elastic:
            expressions.settle(elastic.parameter.name, elastic.value)
        return expressions

    def keeping_kinds(self) -> ExpressionLowering:
        """Return one for parts of a formula, which is to be averaged as a whole."""
        return replace(self, keeps_kinds=True)

    def averaged(self, lowered: sympy.Expr) -> sympy.Expr:
        """Return what was lowered with kinds kept as a mean over all of them."""
        return averaged(lowered, self.mixtures)

    def lower(self, expr: ir.Expr, measure: MeasureOf | None = None) -> sympy.Expr:
        """Return an expression in symbols; `measure` gives the measures it may name."""
        lowered = self._lower(expr, measure)
        return lowered if self.keeps_kinds else self.averaged(lowered)

    def _lower(  # noqa: PLR0911 - one return a node
        self, expr: ir.Expr, measure: MeasureOf | None
    ) -> sympy.Expr:
        match expr:
            case ir.Constant(value):
                return rational(value)
            case ir.ParameterValue(name):
                return self._parameter(name)
            case ir.Recorded() | ir.Lookup():
                return self._recorded(expr)
            case ir.Population():
                return self.population
            case ir.NodeCount(name):
                return self.keeping_kinds().count(name)
            case ir.Members(name):
                return self.keeping_kinds().members(name)
            case ir.GroupCount(name):
                return self.averaged(self.groups(name))
            case ir.Sum(terms):
                return sympy.Add(*(self._lower(term, measure) for term in terms))
            case ir.Product(factors):
                return sympy.Mul(*(self._lower(factor, measure) for factor in factors))
            case ir.Power(base, exponent):
                return power(self._lower(base, measure), self._lower(exponent, measure))
            case ir.Apply(function, arguments):
                lowered = [self._lower(argument, measure) for argument in arguments]
                return self._applied(function, lowered)
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
    ) -> sympy.Expr:
        """Return what has several values."""
        match expr:
            case ir.InCase(case, value, span):
                return replace(self, case=case, asked_at=span, keeps_kinds=True).lower(
                    value, measure
                )
            case ir.Mixture(kinds=kinds):
                return self._mixed(kinds)
            case ir.ByCase():
                raise AssertionError("only parameters have cases")

    def count(self, name: str) -> sympy.Expr:
        """Return how many there are of a node or a link."""
        node = self.configuration.nodes.get(name)
        return self.lower(node.count if node else self.configuration.links[name].count)

    def members(self, name: str) -> sympy.Expr:
        """Return how many users there are in each group: all of them, where they are few."""
        group = self.configuration.groups[name]
        size = self.keeping_kinds().symbol(f"{name}.size", group.size, group.doc)
        members = size if size == self.population else Minimum(size, self.population)
        return members if self.keeps_kinds else self.averaged(members)

    def groups(self, name: str) -> sympy.Expr:
        """Return how many groups there are: N users, in groups of min(k, N), of all kinds."""
        groups = self.population / self.keeping_kinds().members(name)
        return groups if self.keeps_kinds else self.averaged(groups)

    def symbol(
        self,
        name: str,
        quantity: ir.Quantity,
        source: str | None = None,
        *,
        measure: MeasureOf | None = None,
        is_capacity: bool = False,
    ) -> sympy.Expr:
        """Return a quantity: a fixed number as an assumption of that name, all else lowered."""
        if not isinstance(quantity.expr, ir.Constant):
            lowered = self.lower(quantity.expr, measure)
            if is_capacity:
                self._is_capacity(lowered)
            return lowered
        value = rational(quantity.expr.value)
        return self._assume(
            name,
            value,
            quantity.dimension,
            quantity.text,
            quantity.span,
            source,
            is_capacity=is_capacity,
        )

    def _is_capacity(self, lowered: sympy.Expr) -> None:
        """Remember that the numbers of an expression say how much hardware can do."""
        for name, known in self.assumptions.items():
            if known.symbol in lowered.free_symbols:
                self.assumptions[name] = replace(known, is_capacity=True)

    def _assume(
        self,
        name: str,
        value: sympy.Expr,
        dimension: Dimension,
        text: str,
        span: Span,
        source: str | None,
        *,
        is_capacity: bool = False,
    ) -> sympy.Expr:
        known = self.assumptions.get(name)
        if known is None:
            symbol = sympy.Symbol(name, real=True)
            written = " ".join(text.split())
            known = Assumption(name, symbol, value, dimension, written, span, source, is_capacity)
            self.assumptions[name] = known
        elif known.value != value:
            # One name in the spec, two numbers: a component used with other arguments.
            name += "'"
            return self._assume(name, value, dimension, text, span, source, is_capacity=is_capacity)
        return known.symbol

    def _parameter(self, name: str) -> sympy.Expr:
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
        if not lowered.free_symbols:
            self._check_range(declared, lowered)
            span = self.configuration.values_from[name]
            changed = span is not declared.value_span
            source = f"set by `{span.source.label}`" if changed else declared.source
            if changed and span.source is declared.span.source:
                source = f"set at {span.place}"
            known_as, text = name, span.text if changed else declared.text or span.text
            if varies_by_case(expr):
                text = as_written(name, self.configuration, self._case)
                if self._case is not self.configuration.case:
                    known_as = f"{name}.{self._case.value}"
            lowered = self._assume(
                known_as, lowered, declared.dimension, text, span, source or declared.doc
            )
        else:
            self._check_range(declared, self.put_in(lowered))
        if isinstance(expr, ir.Mixture) and self._case is ir.Case.AVERAGE:
            lowered = self._of_each_kind(name, expr, lowered)
        self._parameters[key] = lowered
        return lowered

    def _of_each_kind(self, name: str, mixture: ir.Mixture, mean: sympy.Expr) -> sympy.Symbol:
        """Return a symbol that stands for a parameter until its kinds are counted."""
        symbol = sympy.Symbol(f"{name} of each kind", real=True)
        each = tuple((rational(k.share), self._parameter(k.parameter)) for k in mixture.kinds)
        self.mixtures[symbol] = Mixed(symbol, mixture.of, mixture.of_users, mean, each)
        return symbol

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

    def _mixed(self, kinds: tuple[ir.Kind, ...]) -> sympy.Expr:
        """Return what a parameter by kinds is in the case in force."""
        values = [self._parameter(kind.parameter) for kind in kinds]
        if self._case is ir.Case.AVERAGE:
            shares = [rational(kind.share) for kind in kinds]
            return sympy.Add(*(s * value for s, value in zip(shares, values, strict=True)))
        return (Minimum if self._case is ir.Case.LEAST else Maximum)(*dict.fromkeys(values))

    def _as_number(self, mixture: ir.Mixture, lowered: sympy.Expr) -> sympy.Expr:
        """Return a mixture of fixed numbers as one number: it has a name of its own.

        Where one of its kinds was set, that number counts by itself, and so do the others.
        """
        names = [kind.parameter for kind in mixture.kinds]
        own = [self._parameter(name) for name in names]
        is_set = any(self._is_set(name) for name in names)
        fixed = all(part.is_Symbol and part.name.startswith(tuple(names)) for part in own)
        return lowered.xreplace(self._values()) if fixed and not is_set else lowered

    def _is_set(self, name: str) -> bool:
        """Return whether a change has set a parameter, be it to the value that it had."""
        declared, now = self._declared[name], self.configuration
        is_same = now.parameters[name] is declared.value
        return not is_same or now.values_from[name] is not declared.value_span

    def _elastic(self, declared: ir.Parameter) -> sympy.Expr:
        """Return the symbol of an elastic parameter; `settle` puts in what it comes to."""
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
        symbol = sympy.Symbol(name, positive=True)
        self.elastic[name] = ElasticParameter(
            name, symbol, least, most, dimension, declared.span, self._priority(declared)
        )
        self.settle(name, symbol)
        return symbol

    def _end(self, name: str, bound: ir.Expr, declared: ir.Parameter, text: str) -> sympy.Expr:
        """Return an end of an elastic parameter's range; it moves with what it is made of."""
        lowered = self.lower(bound)
        if lowered.free_symbols:
            return lowered
        source = declared.source or declared.doc
        return self._assume(name, lowered, declared.dimension, text, declared.value_span, source)

    def in_order_of_service(self) -> list[ir.Parameter]:
        """Return the elastic parameters as they take what is left.

        Those with a priority come first, 1 before 2; else they go in the order of declaration.
        """
        elastic = [parameter for parameter in self.model.parameters if parameter.is_elastic]
        ranks = {parameter.name: self._priority(parameter) for parameter in elastic}
        return sorted(elastic, key=lambda p: (ranks[p.name] is None, ranks[p.name] or 0))

    def _priority(self, parameter: ir.Parameter) -> int | None:
        if parameter.priority is None:
            return None
        asked = parameter.priority.expr
        self.decided |= self._named_in(asked)
        return int(self.number(asked))

    def _recorded(self, expr: ir.Recorded | ir.Lookup) -> sympy.Expr:
        """Return a measured number as an assumption whose source is the file."""
        recorded = expr
        if isinstance(recorded, ir.Lookup):
            recorded = self._looked_up(recorded.table, recorded.argument, recorded.span)
        return self._assume(
            recorded.name,
            rational(recorded.value),
            recorded.dimension,
            recorded.text,
            recorded.span,
            recorded.source,
        )

    def _looked_up(self, table: ir.RecordedTable, argument: ir.Expr, span: Span) -> ir.Recorded:
        """Return what a recording gives for an argument in this configuration."""
        self.decided |= self._named_in(argument)
        value = sympy.Rational(self.number(argument))
        found = table.at(Fraction(value.p, value.q))
        if found is None:
            sink = Sink()
            sink.report(
                codes.NUMBER_SIZE,
                span,
                f"`{table.name}` has no value for {table.fault}",
                hint="ask it for another value",
            )
            raise QpsError(sink.found)
        return found

    def settle(self, name: str, value: sympy.Expr) -> None:
        """Say what an elastic parameter comes to, for all that is lowered from now on."""
        self._parameters |= dict.fromkeys([(name, case) for case in ir.Case], value)

    def _values(self) -> dict[sympy.Symbol, sympy.Expr]:
        return {a.symbol: a.value for a in self.assumptions.values()}

    def _check_range(self, parameter: ir.Parameter, value: sympy.Expr) -> None:
        for bound, is_low in ((parameter.low, True), (parameter.high, False)):
            if bound is None:
                continue
            limit = self.lower(bound).xreplace(self._values())
            outside = value < limit if is_low else value > limit
            if outside == sympy.true:
                sink = Sink()
                sink.report(
                    codes.OUT_OF_RANGE,
                    self.configuration.values_from[parameter.name],
                    f"`{parameter.name}` is {'below' if is_low else 'above'} its range",
                    hint=f"its range is stated at {parameter.span.place}",
                )
                raise QpsError(sink.found)

    def _applied(self, function: ir.Function, arguments: Sequence[sympy.Expr]) -> sympy.Expr:
        applied = _FUNCTIONS[function](*arguments)
        if applied.is_finite is False or (applied.is_number and applied.is_real is False):
            sink = Sink()
            sink.report(
                codes.NUMBER_SIZE, None, f"`{function.value}` has no real value for its argument"
            )
            raise QpsError(sink.found)
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

    def number(self, expr: ir.Expr) -> sympy.Expr:
        """Return the value of an expression without the population."""
        return self.put_in(self.lower(expr))

    def in_symbols(self, expr: ir.Expr) -> sympy.Expr | None:
        """Return a value in symbols; None where it is a measure, or has no value here."""
        if any(isinstance(part, ir.Measured | ir.Changed) for part in parts_of(expr)):
            return None
        try:
            return self.lower(expr)
        except QpsError:
            return None

    def put_in(self, lowered: sympy.Expr) -> sympy.Expr:
        """Return what was lowered with the values of the assumptions."""
        return self.averaged(lowered).xreplace(self._values())

    def put_in_what_stays(self, lowered: sympy.Expr) -> sympy.Expr:
        """Return the same with a symbol of the right sign for each number that is moving."""
        moving = (a for a in self.assumptions.values() if a.name in self.moving)
        stands = {a.symbol: _any_like(a, may_turn=self.moving[a.name]) for a in moving}
        value = self.put_in(lowered.xreplace(stands))
        self.weigh([lowered], by_sign=_has_sign_of(self._in_signs(lowered), value))
        return value

    def _in_signs(self, lowered: sympy.Expr) -> sympy.Expr:
        """Return what was lowered with a symbol of the same sign for each number."""
        formula = self.averaged(lowered)
        symbols = formula.free_symbols
        stands = {
            a.symbol: _any_like(a, may_turn=self.moving.get(a.name, False))
            for a in self.assumptions.values()
            if a.symbol in symbols
        }
        return formula.xreplace(stands)

    def weigh(self, formulas: Iterable[sympy.Expr], *, by_sign: bool = False) -> None:
        """Note that what is told to be known rests on the values of the numbers in formulas."""
        symbols = set().union(*(self.averaged(formula).free_symbols for formula in formulas))
        for number in self.assumptions.values():
            if number.symbol in symbols and number.name not in self.moving:
                self.weighed[number.name] = by_sign and self.weighed.get(number.name, True)


def _has_sign_of(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Tell whether of two values the same is known of their signs."""
    return (one.is_extended_nonnegative, one.is_extended_nonpositive) == (
        other.is_extended_nonnegative,
        other.is_extended_nonpositive,
    )


def _any_like(number: Assumption, *, may_turn: bool) -> sympy.Dummy:
    """Return a symbol for any number of the sign that a number has, or of any sign."""
    if may_turn or number.value.is_zero:
        return sympy.Dummy(real=True)
    return sympy.Dummy(positive=True) if number.value.is_positive else sympy.Dummy(real=True)
