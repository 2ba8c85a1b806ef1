"""Numbers of machines and networks that are set in a place, whatever stands there."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.bounded_value import Bounded
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.values_in_use import values_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.ir.placed_numbers import numbers_in

Hardware = ir.Machine | ir.Network


def hardware_at(model: ir.Model, place: ir.Node | ir.Link) -> Hardware | None:
    """Return the machine or network in a place, with the numbers that are set there."""
    return (
        ir.machine_at(model, place) if isinstance(place, ir.Node) else ir.network_at(model, place)
    )


def set_in(
    model: ir.Model, configuration: Configuration, place: ir.Node | ir.Link
) -> Iterator[Bounded]:
    """Yield what was set of the values that the hardware of a place states, from where it was."""
    names = {f"{place.name}.{word}" for word in place.own}
    hardware = hardware_at(model, place) if names else None
    for bounded in values_of(hardware) if hardware is not None else ():
        if isinstance(bounded.expr, ir.ParameterValue) and bounded.expr.name in names:
            yield replace(bounded, span=configuration.values_from[bounded.expr.name])


def report_not_there(
    model: ir.Model, configuration: Configuration, place: ir.Node | ir.Link, sink: Sink
) -> None:
    """Report what is set in a place and is no number of what stands there."""
    hardware = hardware_at(model, replace(place, own=frozenset()))
    if hardware is None:
        return
    numbers = numbers_in(hardware)
    dimensions = {p.name: p.dimension for p in model.parameters if p.place == place.name}
    for word in sorted(place.own):
        name, stated = f"{place.name}.{word}", numbers.get(word)
        if stated is None and _decides_jitter(hardware, word):
            reason = f"uses `{word}` in its jitter model, so that it cannot be set elsewhere"
            hint = "replace it by a parameter, and set that"
        elif stated is None:
            reason = f"has no `{word}`"
            hint = f"it has {listed(numbers, 'and')}" if numbers else "set a value of that machine"
        elif not isinstance(stated.expr, ir.Constant):
            reason, hint = f"computes its `{word}` from others", "set these"
        elif stated.dimension != dimensions[name]:
            reason = f"has a `{word}` of {stated.dimension.in_words}"
            hint = f"set it in that unit, such as `{' '.join(stated.span.text.split())}`"
        else:
            continue
        sink.report(
            codes.BAD_SETTING,
            configuration.values_from[name],
            f"`{name}` cannot be set: {hardware.name} {reason}",
            secondary=[] if stated is None else [Label(stated.span, "stated here")],
            hint=hint,
        )


def _decides_jitter(hardware: Hardware, word: str) -> bool:
    """Return whether a jitter law decides by a number of hardware, which is decided by that."""
    if isinstance(hardware, ir.Network):
        return hardware.law_holds_rate and word == "rate"
    held = [one.name for one in hardware.resources if one.law_holds_speed]
    return word in [f"{name}.speed" for name in held]


def with_own_kinds(model: ir.Model, configuration: Configuration) -> tuple[ir.Model, Configuration]:
    """Return the same where what is set in a place is stated by a machine or network of its own."""
    machines, networks = dict(model.machines), dict(model.networks)
    nodes, links = dict(configuration.nodes), dict(configuration.links)
    places: tuple[ir.Node | ir.Link, ...] = (*nodes.values(), *links.values())
    for place in places:
        hardware = hardware_at(model, place) if place.own else None
        kind = None if hardware is None else f"{hardware.name} in {place.name}"
        if isinstance(hardware, ir.Machine) and isinstance(place, ir.Node) and kind is not None:
            family = (hardware.name, *hardware.family)
            machines[kind] = replace(hardware, name=kind, family=family)
            nodes[place.name] = replace(place, machine=kind, own=frozenset())
        elif isinstance(hardware, ir.Network) and isinstance(place, ir.Link) and kind is not None:
            networks[kind] = replace(hardware, name=kind)
            links[place.name] = replace(place, network=kind, own=frozenset())
    if nodes == configuration.nodes and links == configuration.links:
        return model, configuration
    whole = replace(model, machines=machines, networks=networks)
    return whole, replace(configuration, nodes=nodes, links=links)
