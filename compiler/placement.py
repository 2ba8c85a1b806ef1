"""Do the steps fit the machines they stand on, and the costs what the streams carry?

This is asked of the model as it stands, of each of its scenarios, and of every change that
comes later: another machine may lack a resource or a rating that the first one had.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qps.compiler import codes, ir
from qps.compiler.bounds import check_bounds
from qps.compiler.configuration import Configuration
from qps.compiler.diagnostics import Label, Sink
from qps.compiler.dimension import DIMENSIONLESS, INFORMATION_BASE, TIME, TIME_BASE, Dimension
from qps.compiler.suggest import did_you_mean, listed


def check_placement(model: ir.Model, configuration: Configuration, sink: Sink) -> None:
    """Report every step that cannot run where it stands, and every value that cannot be."""
    found = Sink(failed_names=sink.failed_names)
    _check(model, configuration, found)
    notes = (f"in scenario `{configuration.scenario}`",) if configuration.scenario else ()
    for diagnostic in found.found:
        sink.add(replace(diagnostic, notes=(*diagnostic.notes, *notes)))


def _check(model: ir.Model, configuration: Configuration, sink: Sink) -> None:
    check_bounds(model, configuration, sink)
    for stream in model.streams:
        for leg in stream.legs:
            if isinstance(leg, ir.Crossing):
                _check_crossing(model, configuration, stream, leg, sink)
                continue
            machine = model.machines.get(configuration.nodes[leg.node].machine)
            if machine is None:
                continue
            for step in leg.steps:
                for cost in step.component.costs:
                    _check_cost(model, stream, leg.node, machine, step, cost, sink)
                _check_effects(stream, step, sink)


def item_of(cost: ir.Quantity, work: Dimension) -> str | None:
    """Return the item a cost is counted by; an empty text where it is a constant load.

    `work` is what uses up the resource in a second: dimensionless busy time for a processor,
    bit/s for a disk. A cost of s/packet on a processor is counted by the packet. None where
    no item fits.
    """
    rate = work / cost.dimension
    if rate == DIMENSIONLESS:
        return ""
    base = (rate * TIME).single_base
    return None if base in (None, TIME_BASE) else base


def held_item(cost: ir.Quantity, capacity: Dimension) -> bool:
    """True where a cost on a store is an amount held by each flow."""
    return cost.dimension == capacity


def _check_cost(
    model: ir.Model,
    stream: ir.Stream,
    node: str,
    machine: ir.Machine,
    step: ir.Step,
    cost: ir.Cost,
    sink: Sink,
) -> None:
    resource = machine.resource(cost.resource)
    component = step.component
    if resource is None:
        sink.report(
            codes.NO_RESOURCE,
            cost.span,
            f"`{component.name}` needs `{cost.resource}`, but `{node}` ({machine.name}) has none",
            secondary=[Label(step.span, f"it runs at `{node}` here")],
            hint=did_you_mean(cost.resource, [r.name for r in machine.resources])
            or f"add a resource `{cost.resource}` to machine `{machine.name}`",
        )
        return
    for term in cost.terms:
        _check_term(stream, step, cost, term, resource, sink)
    _check_rating(model, node, machine, step, cost, resource, sink)


def _check_term(
    stream: ir.Stream,
    step: ir.Step,
    cost: ir.Cost,
    term: ir.CostTerm,
    resource: ir.Resource,
    sink: Sink,
) -> None:
    item = item_of(term.amount, resource.work)
    if resource.kind is ir.ResourceKind.STORE and held_item(term.amount, resource.work):
        return
    if item is None:
        sink.report(
            codes.WRONG_DIMENSION,
            term.amount.span,
            f"`{cost.resource}` cannot be charged {term.amount.dimension.in_words}",
            label=f"this is {term.amount.dimension.in_words}",
            hint=_cost_example(resource),
        )
        return
    carried = set(stream.emission.items)
    if stream.emission.carries_information:
        carried.add(INFORMATION_BASE)
    if item and item not in carried:
        words = [_word(base) + "s" for base in _in_order(stream, carried)]
        sink.report(
            codes.ITEM_NOT_CARRIED,
            term.amount.span,
            f"cost is per {_word(item)}, but `{stream.name}` carries {' and '.join(words)}",
            label=f"a cost per {_word(item)}",
            secondary=[
                Label(step.span, f"`{step.component.name}` works on `{stream.name}` here"),
                Label(stream.emission.span, f"what `{stream.name}` carries"),
            ],
            hint=f"give the cost per {listed([_word(b) for b in _in_order(stream, carried)], 'or')}"
            f", or say how many {_word(item)}s there are in the source",
        )


def _in_order(stream: ir.Stream, carried: set[str]) -> list[str]:
    items = [item for item in stream.emission.items if item in carried]
    return [*items, INFORMATION_BASE] if INFORMATION_BASE in carried else items


def _word(base: str) -> str:
    return "byte" if base == INFORMATION_BASE else base


def _cost_example(resource: ir.Resource) -> str:
    if resource.kind is ir.ResourceKind.PROCESSOR:
        return "a cost on a processor is a time per item, such as `0.2 ms/packet`"
    if resource.kind is ir.ResourceKind.STORE:
        return f"`{resource.name}` is held: give an amount for each flow, such as `2 MB`"
    return f"`{resource.name}` is used in {resource.work}: give a cost such as `1 byte/byte`"


def _check_rating(
    model: ir.Model,
    node: str,
    machine: ir.Machine,
    step: ir.Step,
    cost: ir.Cost,
    resource: ir.Resource,
    sink: Sink,
) -> None:
    """Can the cost be scaled from the machine it was measured on?"""
    if resource.kind is not ir.ResourceKind.PROCESSOR:
        return
    if cost.measured_on is None:
        if resource.speed is not None and cost.scaled_by is None:
            sink.report(
                codes.UNSCALED_COST,
                cost.span,
                f"the cost of `{step.component.name}` names no machine: it is taken as it "
                "stands on every machine",
                hint="add `measured on machine`, or `costs measured on machine` above all",
            )
        return
    measured = model.machines.get(cost.measured_on)
    if measured is None:
        return
    base = scaling_base(measured, cost)
    if base is None:
        if measured.name != machine.name:
            sink.report(
                codes.NO_RATING,
                cost.span,
                f"`{measured.name}` has no rating, so its cost cannot be scaled to "
                f"`{machine.name}`",
                secondary=[Label(step.span, f"`{node}` is `{machine.name}`")],
                hint="give both machines a rating, such as `cpu 21.8 SPECint92`",
            )
        return
    for needed in (measured, machine):
        if needed.rating(base) is None:
            sink.report(
                codes.NO_RATING,
                cost.span,
                f"`{needed.name}` has no {base} rating to scale this cost by",
                secondary=[
                    Label(needed.span, "declared here"),
                    Label(step.span, f"`{node}` is `{machine.name}`"),
                ],
                hint=f"add `rating 10 {base}` to machine `{needed.name}`",
            )
            return


def scaling_base(measured: ir.Machine, cost: ir.Cost) -> str | None:
    """Return the base of the rating by which a cost is scaled, None where there is none."""
    if cost.scaled_by is not None:
        return cost.scaled_by
    resource = measured.resource(cost.resource)
    if resource is None or resource.speed is None:
        return None
    return resource.speed.dimension.single_base


def _check_effects(stream: ir.Stream, step: ir.Step, sink: Sink) -> None:
    for effect in step.component.effects:
        if effect.kind is not ir.EffectKind.EMIT or effect.value is None:
            continue
        if not stream.emission.carries_information:
            sink.report(
                codes.ITEM_NOT_CARRIED,
                effect.span,
                f"`emit` changes a size, but `{stream.name}` carries no bytes",
                secondary=[Label(stream.emission.span, f"what `{stream.name}` carries")],
                hint="give a size in the source, such as `30 frame/s, 24 Mbit/frame`",
            )
            return
        dimension = effect.value.dimension
        for base in dimension.bases - {INFORMATION_BASE}:
            if base not in stream.emission.items:
                sink.report(
                    codes.ITEM_NOT_CARRIED,
                    effect.span,
                    f"a size per {base}, but `{stream.name}` carries no {base}s",
                    secondary=[Label(stream.emission.span, f"what `{stream.name}` carries")],
                )


def _check_crossing(
    model: ir.Model,
    configuration: Configuration,
    stream: ir.Stream,
    leg: ir.Crossing,
    sink: Sink,
) -> None:
    network = model.networks.get(configuration.links[leg.link].network)
    if network is None:
        return
    if not stream.emission.carries_information:
        sink.report(
            codes.ITEM_NOT_CARRIED,
            leg.span,
            f"`{leg.link}` carries bits, but `{stream.name}` has no size",
            secondary=[Label(stream.emission.span, f"what `{stream.name}` carries")],
            hint="give a size in the source, such as `3 update/s, 144 byte/update`",
        )
    for quantity, what in _per_item(network):
        base = next(iter(quantity.dimension.bases - {INFORMATION_BASE, TIME_BASE}))
        if base not in stream.emission.items:
            sink.report(
                codes.ITEM_NOT_CARRIED,
                leg.span,
                f"the {what} of `{leg.link}` is per {base}, but `{stream.name}` has no {base}s",
                secondary=[
                    Label(quantity.span, f"the {what}"),
                    Label(stream.emission.span, f"what `{stream.name}` carries"),
                ],
                hint=f"give the size of a {base} in the source: `…, 1280 byte/{base}`",
            )


def _per_item(network: ir.Network) -> Iterator[tuple[ir.Quantity, str]]:
    if network.header is not None:
        yield network.header, "header"
    if network.cap is not None:
        yield network.cap, "cap"
