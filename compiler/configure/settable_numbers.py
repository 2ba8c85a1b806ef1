"""Numbers that stand in a spec without a name of their own, by the names that graphs call them."""

from __future__ import annotations

from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.ir.own_numbers import own_numbers


def settable_numbers(model: ir.Model, configuration: Configuration) -> dict[str, Fraction]:
    """Return the numbers that `--set` takes besides parameters, as a configuration has them."""
    return {
        name: one.stated.expr.value
        for name, one in own_numbers(_as_placed(model, in_force(configuration))).items()
        if isinstance(one.stated.expr, ir.Constant)
    }


def places_of_numbers(model: ir.Model, configuration: Configuration) -> dict[str, str]:
    """Return the node or link of each number of what stands there, in any mode."""
    found = dict(configuration.of_places)
    for each in in_each_mode(model, configuration):
        there = _as_placed(model, in_force(each))
        numbers = own_numbers(there).values()
        found |= {one.name: one.place for one in numbers if one.place is not None}
        for node in there.nodes:  # a speed that two resources share is neither's own
            machine = ir.machine_at(there, node)
            speeds = () if machine is None else (r.name for r in machine.resources if r.speed)
            found |= {f"{node.name}.{name}.speed": node.name for name in speeds}
    return found


def _as_placed(model: ir.Model, configuration: Configuration) -> ir.Model:
    """Return a model with what a configuration has in its places."""
    nodes, links = tuple(configuration.nodes.values()), tuple(configuration.links.values())
    return replace(model, nodes=nodes, links=links)
