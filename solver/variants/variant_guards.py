"""What must hold of a reader's numbers, so that the model can be: no negative costs, whole counts.

`qps solve` looks at every value in use before it requests an answer. The page looks at those that
rest on a number which a reader has changed; all others are as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.bounded_value import Bounded
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.values_in_use import is_alike, values_in_use
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.allowed_values import Bound
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.substitution import substituted


class VariantGuard(Struct, frozen=True):
    """A value that must be in bounds; `text` is what is wrong where it is not."""

    value: Formula
    bound: Bound
    text: str


class VariantGuards(Struct, frozen=True):
    """Of one graph: the bounds of numbers that stand by themselves, by their place; all others."""

    of_numbers: dict[Span, Bounded]
    others: tuple[VariantGuard, ...]


def guards_of(model: ir.Model, configuration: Configuration, graph: LoadGraph) -> VariantGuards:
    """Return what must hold of the numbers of a graph, which was lowered in a configuration."""
    guarding = _Guarding(ExpressionLowering.of_graph(model, configuration, graph), graph)
    numbers: dict[Span, Bounded] = {}
    found: dict[VariantGuard, None] = {}
    for bounded in values_in_use(model, configuration):
        if isinstance(bounded.expr, ir.Constant):
            numbers[bounded.span] = bounded
        elif bounded.bound is not Bound.ANY and not is_alike(bounded.expr):
            text = bounded.requirement
            found |= guarding.guard(bounded.expr, bounded.bound, text)
    for limit, what in _limits_of_axes(model, graph):
        stated = numbers.get(limit.span)
        if stated is not None and stated.bound in (Bound.ANY, Bound.NOT_NEGATIVE):
            numbers[limit.span] = replace(stated, bound=Bound.POSITIVE)
        elif stated is None:
            text = f"{what} must be {Bound.POSITIVE.value}"
            found |= guarding.guard(limit.expr, Bound.POSITIVE, text)
    for gap, text in _ranges(model, configuration):
        found |= guarding.guard(gap, Bound.NOT_NEGATIVE, text)
    return VariantGuards(numbers, tuple(found))


def _limits_of_axes(model: ir.Model, graph: LoadGraph) -> Iterator[tuple[ir.Quantity, str]]:
    """Yield the limits of axes, and what each is called, that are none from the ideal zero on."""
    axes = {criterion.span for criterion in graph.criteria if criterion.axis is not None}
    of_modes = (requirement for mode in model.modes for requirement in mode.requirements)
    for requirement in (*model.requirements, *of_modes):
        if requirement.span in axes and requirement.ideal is None:
            yield requirement.limit, f"the limit of `{requirement.name}`"


def _ranges(model: ir.Model, configuration: Configuration) -> Iterator[tuple[ir.Expr, str]]:
    """Yield what must not be below zero, for parameters that move, or whose ranges do."""
    for parameter in model.parameters:
        value = configuration.parameters[parameter.name]
        for end, sign, where in ((parameter.low, 1, "below"), (parameter.high, -1, "above")):
            is_plain = isinstance(value, ir.Constant) and isinstance(end, ir.Constant)
            if end is None or is_plain or parameter.is_elastic:
                continue  # the input itself refuses what is out of a fixed range
            less = ((ir.ParameterValue(parameter.name), sign), (end, -sign))
            terms = tuple(ir.Product((ir.Constant(Fraction(by)), one)) for one, by in less)
            yield ir.Sum(terms), f"`{parameter.name}` is {where} its range"


class _Guarding:
    """Tells the guards of one graph."""

    def __init__(self, expressions: ExpressionLowering, graph: LoadGraph) -> None:
        self._expressions = expressions
        self._known = {a.symbol for a in graph.assumptions.values()}

    def guard(self, expr: ir.Expr, bound: Bound, text: str) -> dict[VariantGuard, None]:
        """Return the guard of a value, nothing where no number of the graph counts in it."""
        value = self._expressions.in_symbols(expr)
        if value is None or value.symbols.isdisjoint(self._known):
            return {}
        left = value.symbols - self._known
        others = {a.symbol: a.value for a in self._expressions.assumptions.values()}
        numbers = {symbol: others[symbol] for symbol in left if symbol in others}
        return {VariantGuard(substituted(value, numbers), bound, text): None}
