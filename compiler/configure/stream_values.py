"""What values a stream states: what each is called, and what it may be."""

from __future__ import annotations

from collections.abc import Container, Iterator
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.bounded_value import Bounded, bounded
from qps.compiler.diagnostics import codes
from qps.compiler.quantities.allowed_values import Bound
from qps.compiler.quantities.dimension import DIMENSIONLESS


def values_of_stream(stream: ir.Stream) -> Iterator[Bounded]:
    """Yield the values that a stream states."""
    first, *sizes = stream.emission.values
    if stream.is_closed:
        yield from bounded(first, "the number of items in progress", Bound.COUNT)
        yield from bounded(stream.emission.think, "a think time", Bound.NOT_NEGATIVE)
    else:
        yield from bounded(_while_it_flows(first, stream), "a rate", Bound.POSITIVE)
    for size in sizes:
        yield from bounded(size, "a size", Bound.POSITIVE)
    yield from bounded(stream.arrivals, "a coefficient of variation", Bound.NOT_NEGATIVE)
    yield from bounded(stream.priority, f"the priority of `{stream.name}`", Bound.RANK)
    if stream.playout is not None:
        yield from bounded(stream.playout.delay, "a playout delay", Bound.NOT_NEGATIVE)
        yield from bounded(stream.playout.dropping, "the share that is dropped", Bound.SHARE)
    if isinstance(stream.flows_from, ir.InEachGroup):
        what = f"the flows of `{stream.name}` in each `{stream.flows_from.group}`"
        least = Bound.POSITIVE if stream.is_closed else Bound.NOT_NEGATIVE  # somebody waits
        yield from bounded(stream.flows_from.flows, what, least)
    yield from _probabilities(stream)
    yield from _calls(stream)
    for mark in stream.pools:
        yield from bounded(mark.amount, f"the amount taken of `{mark.pool}`", Bound.POSITIVE)
    for leg in stream.legs:
        if not isinstance(leg, ir.Visit):
            continue
        for step in leg.steps:
            if step.spread is not None:
                yield from bounded(step.spread.most, "the maximum number", Bound.COUNT)
                yield from bounded(step.spread.count, "a number of others", Bound.NUMBER)
            if step.repeat is not None:
                yield Bounded(
                    expr=step.repeat, span=step.span, what="a repetition", bound=Bound.NOT_NEGATIVE
                )
            for cost in step.component.costs:
                for term in cost.terms:
                    yield from bounded(term, "a service demand", Bound.NOT_NEGATIVE)
                yield from bounded(cost.reference, "a rating", Bound.POSITIVE)
            for effect in step.component.effects:
                bound = _effect_bound(effect)
                if bound is not None:
                    yield from bounded(effect.value, f"`{effect.kind.value}`", bound)
                yield from bounded(effect.lasting, "a burst duration", Bound.POSITIVE)


def _calls(stream: ir.Stream) -> Iterator[Bounded]:
    for call in stream.calls:
        if not call.is_local:
            yield from bounded(
                call.times, f"the number of calls of `{call.node}`", Bound.NOT_NEGATIVE
            )
        yield from bounded(call.others, "a number of others", Bound.NUMBER)
        yield from bounded(call.sends, "a size", Bound.POSITIVE)
        yield from bounded(call.returns, "a size", Bound.POSITIVE)
        if call.fan_out is not None:
            yield from _of_fan_out(call.node, call.fan_out)


def _while_it_flows(rate: ir.Quantity, stream: ir.Stream) -> ir.Quantity:
    """Return a rate without the profiles by which it pauses."""
    return replace(rate, expr=_without(rate.expr, stream.pauses)) if stream.pauses else rate


def _without(expr: ir.Expr, factors: Container[str]) -> ir.Expr:
    match expr:
        case ir.ParameterValue(name) if name in factors:
            return ir.Constant(Fraction(1))
        case ir.Product(parts):
            return ir.Product(tuple(_without(part, factors) for part in parts))
        case _:
            return expr


def _probabilities(stream: ir.Stream) -> Iterator[Bounded]:
    """Yield how likely what is done by chance is, and how likely alternatives are together."""
    choices: dict[int, list[ir.Quantity]] = {}
    for event in stream.events:
        yield Bounded(
            expr=event.share.expr,
            span=event.share.span,
            what=f"the probability of event `{event.name}`",
            bound=Bound.SHARE,
            code=codes.PROBABILITY,
        )
    for call in stream.calls:
        if not call.is_local or call.times is None or call.is_rest or call.event is not None:
            continue
        yield Bounded(
            expr=call.times.expr,
            span=call.times.span,
            what="a probability",
            bound=Bound.SHARE,
            code=codes.PROBABILITY,
        )
        if call.choice is not None:
            choices.setdefault(call.choice, []).append(call.times)
    for each in choices.values():
        if len(each) > 1:
            yield Bounded(
                expr=ir.Sum(tuple(one.expr for one in each)),
                span=each[-1].span,
                what="the sum of the probabilities in `one of`",
                bound=Bound.SHARE,
                code=codes.PROBABILITIES,
                hint="reduce them, or replace one with `else`, which applies to all other items",
            )


def _of_fan_out(node: str, fan_out: ir.FanOut) -> Iterator[Bounded]:
    """Yield how many calls are made at once, and that no more answers are waited for."""
    yield Bounded(
        expr=fan_out.count.expr,
        span=fan_out.count.span,
        what=f"the number of calls of `{node}` at once",
        bound=Bound.CALLS,
        code=codes.FAN_OUT,
    )
    if fan_out.answers is None:
        return
    yield Bounded(
        expr=fan_out.answers.expr,
        span=fan_out.answers.span,
        what=f"the number of responses from `{node}` to wait for",
        bound=Bound.COUNT,
        hint="wait for a whole number of answers, 1 or more",
        code=codes.FAN_OUT,
    )


def _effect_bound(effect: ir.Effect) -> Bound | None:
    """Return what an effect may be: nothing may be left of the bits, but an item has a size."""
    is_share = effect.value is not None and effect.value.dimension == DIMENSIONLESS
    if effect.kind is ir.EffectKind.EMIT and is_share:
        return Bound.NOT_NEGATIVE
    return effect.kind.traits.bound
