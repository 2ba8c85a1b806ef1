"""Numbers that stand in a spec without a name of their own, by the names that `--set` takes."""

from __future__ import annotations

from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.ir.own_numbers import own_numbers


def settable_numbers(model: ir.Model, configuration: Configuration) -> dict[str, Fraction]:
    """Return the numbers that `--set` takes besides parameters, as a configuration has them."""
    places = in_force(configuration)
    nodes, links = tuple(places.nodes.values()), tuple(places.links.values())
    there = replace(model, nodes=nodes, links=links)
    return {
        name: one.stated.expr.value
        for name, one in own_numbers(there).items()
        if isinstance(one.stated.expr, ir.Constant)
    }
