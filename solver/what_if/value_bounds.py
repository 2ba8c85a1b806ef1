"""What a spec refuses: bounds of the values that rest on one number, as functions of it.

What `--set` refuses carries nobody, whatever the loads would be.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.values_in_use import flows_in_groups, points_of, values_in_use
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.substitution import substituted


class ValueBound(Struct, frozen=True):
    """A value that must stay in its bounds: it is refused where `over` is above zero.

    With `strict`, where it is zero as well. `message` says what must be, or what is wrong.
    """

    message: str
    over: Formula
    strict: bool


def value_bounds(
    model: ir.Model, configuration: Configuration, graph: LoadGraph, name: str
) -> tuple[ValueBound, ...]:
    """Return the bounds of all that rests on a parameter, in one lowered configuration.

    What a condition on the parameter decides is left out: it has no one formula.
    """
    return tuple(dict.fromkeys(_Values(model, in_force(configuration), graph, name).value_bounds()))


class _Values:
    """Lowers the values of a configuration with one parameter as a symbol."""

    def __init__(
        self, model: ir.Model, configuration: Configuration, graph: LoadGraph, name: str
    ) -> None:
        self._model, self._configuration, self._name = model, configuration, name
        self._population = graph.population
        self._expressions = ExpressionLowering.of_graph(model, configuration, graph)

    def value_bounds(self) -> Iterator[ValueBound]:
        """Yield the bounds of values, the ranges of other parameters, the flows of groups."""
        for parameter in self._model.parameters:
            low, high = parameter.low, parameter.high
            if parameter.name == self._name or low is None or high is None:
                continue
            own = ir.ParameterValue(parameter.name)
            if parameter.is_elastic:
                continue
            yield from self._at_most(f"`{parameter.name}` is above its range", own, high)
            yield from self._at_most(f"`{parameter.name}` is below its range", low, own)
        for bounded in values_in_use(self._model, self._configuration):
            interval = bounded.bound.interval
            message = bounded.requirement
            for value in self._lowered(bounded.expr):
                if interval.least is not None:
                    yield ValueBound(message, interval.least - value, interval.is_least_out)
                if interval.most is not None:
                    yield ValueBound(message, value - interval.most, interval.is_most_out)
        for stream, flows, group in flows_in_groups(self._model, self._configuration):
            message = f"`{stream}` has more flows in each `{group.name}` than it has users"
            yield from self._at_most(message, flows.expr, group.size.expr)

    def _at_most(self, message: str, one: ir.Expr, other: ir.Expr) -> Iterator[ValueBound]:
        both = zip(self._valued(one), self._valued(other), strict=True)
        for value, limit in both:
            over = value - limit
            if self._rests(over):
                yield ValueBound(message, over, strict=False)

    def _lowered(self, expr: ir.Expr) -> list[Formula]:
        """Return a value at some populations, nothing where it does not rest on the number."""
        return [value for value in self._valued(expr) if self._rests(value)]

    def _rests(self, value: Formula) -> bool:
        number = self._expressions.assumptions.get(self._name)
        return number is not None and number.symbol in value.symbols

    def _valued(self, expr: ir.Expr) -> list[Formula]:
        """Return a value at some populations, with numbers for all but the one requested."""
        self._expressions.decided.clear()
        value = self._expressions.in_symbols(expr)
        if value is None or self._name in self._expressions.decided:
            return []
        known = {
            assumption.symbol: assumption.value
            for name, assumption in self._expressions.assumptions.items()
            if name != self._name
        }
        points = points_of(self._configuration)
        return [substituted(value, known | {self._population: number(at)}) for at in points]
