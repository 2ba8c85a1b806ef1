"""Parameters as symbols: fixed numbers, what is made of others, mixtures, and elastic ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Self

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
from qps.compiler.lower.expressions.symbolic_numbers import Assuming
from qps.compiler.quantities.certainty import Certainty
from qps.engine.expressions.formulas import Formula, maximum, minimum, number, symbol, total
from qps.engine.expressions.point_values import in_floats

MeasureOf = Callable[[ir.Measured | ir.Changed], Formula]


class ParameterLowering(Assuming, kw_only=True):
    """Lowers the parameters of one configuration, each once for each case.

    `requested_at` is where `case` was requested, None where it is the one in force.
    """

    model: ir.Model
    configuration: Configuration
    population: Formula
    elastic: dict[str, ElasticParameter] = field(default_factory=dict)
    elastic_known: dict[str, Certainty] = field(default_factory=dict)
    """How what they come to is known, where that is not exact."""
    decided: set[str] = field(default_factory=set)
    """Parameters that a condition requests."""
    case: ir.Case | None = None
    requested_at: Span | None = None
    _parameters: dict[tuple[str, ir.Case], Formula] = field(default_factory=dict)
    _declared: dict[str, ir.Parameter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self._declared:
            self._declared |= {parameter.name: parameter for parameter in self.model.parameters}

    def with_elastic(self, elastic: Iterable[ElasticFormula]) -> Self:
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

    def with_open(self) -> tuple[Self, dict[Formula, Certainty]]:
        """Return one in which symbols stand for elastic parameters that are not exact.

        With it, how these are known.
        """
        if not self.elastic_known:
            return self, {}
        leaves = {symbol(name): known for name, known in self.elastic_known.items()}
        values = {name: symbol(name) for name in self.elastic_known}
        return replace(self, _parameters=self._with_values(values)), leaves

    def lower(self, expr: ir.Expr, measure: MeasureOf | None = None) -> Formula:
        """Return an expression in symbols; `measure` gives the measures it may name."""
        lowered = self._lower(expr, measure)
        return lowered if self.keeps_classes else self.averaged(lowered)

    @abstractmethod
    def _lower(self, expr: ir.Expr, measure: MeasureOf | None) -> Formula:
        """Return an expression in symbols, in which symbols may stand for classes."""

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
            requested_at = self.requested_at or self.configuration.case_from
            report_unstated(Unstated(name, self._case, requested_at), self.model, sink)
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
        expression = priority.expr
        self.decided |= self.parameters_in(expression)
        return int(in_floats(self.number(expression)))

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

    def parameters_in(self, expr: ir.Expr) -> set[str]:
        """Return the parameters that an expression rests on, directly or not."""
        names: set[str] = set()
        for part in parts_of(expr):
            if isinstance(part, ir.ParameterValue):
                names |= {part.name} | self.parameters_in(self.configuration.parameters[part.name])
            elif isinstance(part, ir.NodeCount):
                names |= self.parameters_in(self.configuration.place(part.name).count)
        return names

    def number(self, expr: ir.Expr) -> Formula:
        """Return the value of an expression without the population."""
        return self.put_in(self.lower(expr))


def where_from(
    declared: ir.Parameter, configuration: Configuration
) -> tuple[str, Span, str | None]:
    """Return how the value of a parameter is written, where, and who says so."""
    span = configuration.values_from[declared.name]
    if span is declared.value_span:
        return declared.text or span.text, span, declared.source or declared.doc
    is_own = span.source is declared.span.source
    return span.text, span, f"set at {span.place}" if is_own else f"set by `{span.source.label}`"
