"""Values that cannot be: negative costs, shares above one, capacities of nothing.

A value is looked at in the configuration at hand, with its parameters put in, and at both ends
of the population's range where it depends on that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from qps.compiler import codes, ir
from qps.compiler.configuration import Configuration
from qps.compiler.diagnostics import Sink
from qps.compiler.source import Span

_LARGEST_POWER = 64


class Bound(Enum):
    """What a value may be; the text completes `… must be`."""

    POSITIVE = "above zero"
    NOT_NEGATIVE = "zero or more"
    SHARE = "a share between 0 and 100 %"
    PART = "a share below 100 %"

    def allows(self, value: Fraction) -> bool:
        """Return whether a value is in bounds."""
        match self:
            case Bound.POSITIVE:
                return value > 0
            case Bound.NOT_NEGATIVE:
                return value >= 0
            case Bound.SHARE:
                return 0 <= value <= 1
            case Bound.PART:
                return 0 <= value < 1


@dataclass(frozen=True, slots=True)
class _Bounded:
    """An expression with what it is called and what it may be."""

    expr: ir.Expr
    span: Span
    what: str
    bound: Bound


def check_bounds(model: ir.Model, configuration: Configuration, sink: Sink) -> None:
    """Report every value in use that is out of bounds."""
    ends = (Fraction(configuration.low), Fraction(configuration.high))
    for bounded in _in_use(model, configuration):
        values = [fold(bounded.expr, configuration, end) for end in ends]
        wrong = [v for v in values if v is not None and not bounded.bound.allows(v)]
        if wrong:
            sink.report(
                codes.OUT_OF_RANGE,
                bounded.span,
                f"{bounded.what} must be {bounded.bound.value}",
                label=f"this is {float(wrong[0]):g} in base units",
                hint="give it a value that can be",
            )


def _in_use(model: ir.Model, configuration: Configuration) -> Iterator[_Bounded]:
    for stream in model.streams:
        yield from _stream(stream)
    for node in configuration.nodes.values():
        yield _Bounded(node.count, node.span, f"the count of `{node.name}`", Bound.POSITIVE)
        machine = model.machines.get(node.machine)
        if machine is not None:
            yield from _machine(machine)
    for link in configuration.links.values():
        yield _Bounded(link.count, link.span, f"the count of `{link.name}`", Bound.POSITIVE)
        network = model.networks.get(link.network)
        if network is not None:
            yield from _network(network)


def _of(quantity: ir.Quantity | None, what: str, bound: Bound) -> Iterator[_Bounded]:
    if quantity is not None:
        yield _Bounded(quantity.expr, quantity.span, what, bound)


def _machine(machine: ir.Machine) -> Iterator[_Bounded]:
    for resource in machine.resources:
        yield from _of(resource.capacity, "a capacity", Bound.POSITIVE)
        yield from _of(resource.idle, "an idle load", Bound.PART)
    for _, rating in machine.ratings:
        yield from _of(rating, "a rating", Bound.POSITIVE)


def _network(network: ir.Network) -> Iterator[_Bounded]:
    yield from _of(network.rate, "a rate", Bound.POSITIVE)
    yield from _of(network.cap, "a cap", Bound.POSITIVE)
    yield from _of(network.header, "a header", Bound.NOT_NEGATIVE)
    yield from _of(network.propagation, "a propagation time", Bound.NOT_NEGATIVE)
    yield from _of(network.loss, "a loss", Bound.PART)


_EFFECT_BOUNDS = {
    ir.EffectKind.KEEP: Bound.SHARE,
    ir.EffectKind.ACTIVE: Bound.SHARE,
    ir.EffectKind.EMIT: Bound.POSITIVE,
    ir.EffectKind.DELAY: Bound.NOT_NEGATIVE,
}


def _stream(stream: ir.Stream) -> Iterator[_Bounded]:
    for index, value in enumerate(stream.emission.values):
        yield from _of(value, "a size" if index else "a rate", Bound.POSITIVE)
    for leg in stream.legs:
        if isinstance(leg, ir.Crossing):
            continue
        for step in leg.steps:
            if step.repeat is not None:
                yield _Bounded(step.repeat, step.span, "a repetition", Bound.NOT_NEGATIVE)
            for cost in step.component.costs:
                for term in cost.terms:
                    yield from _of(term.amount, "a cost", Bound.NOT_NEGATIVE)
            for effect in step.component.effects:
                if effect.value is not None:
                    bound = _EFFECT_BOUNDS[effect.kind]
                    yield from _of(effect.value, f"`{effect.kind.value}`", bound)


def fold(expr: ir.Expr, configuration: Configuration, population: Fraction) -> Fraction | None:
    """Return the value of an expression, None where it is not rational or not to be had."""
    match expr:
        case ir.Constant(value):
            return value
        case ir.ParameterValue(name):
            return fold(configuration.parameters[name], configuration, population)
        case ir.Population():
            return population
        case ir.Sum(terms):
            return _sum([fold(term, configuration, population) for term in terms])
        case ir.Product(factors):
            return _product([fold(factor, configuration, population) for factor in factors])
        case ir.Power(base, ir.Constant(power)):
            raised = fold(base, configuration, population)
            whole = power.denominator == 1 and abs(power) <= _LARGEST_POWER
            if raised is None or not whole or (raised == 0 and power < 0):
                return None
            return raised**power.numerator
    return None


def _sum(values: list[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) if len(known) == len(values) else None


def _product(values: list[Fraction | None]) -> Fraction | None:
    product = Fraction(1)
    for value in values:
        if value is None:
            return None
        product = product * value
    return product
