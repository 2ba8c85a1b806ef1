"""Places: which machine or network stands there, how many of it, and what can be loaded."""

from __future__ import annotations

from typing import TypeGuard, TypeVar

from msgspec import Struct

from qps.compiler.check.names.declarations import (
    Declared,
    LoadedModule,
    lookup,
    lookup_as,
    named_in,
    owned_in,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.quantities import units
from qps.compiler.syntax import ast

K = TypeVar("K", ast.Machine, ast.Network, ast.Component)


class PlacedHardware(Struct, frozen=True):
    """A machine or network and, where one was given, how many of it.

    `stands` is the machine as it is written, with its arguments where it has some.
    """

    stands: ast.Reference | ast.Call
    count: ast.Expr | None

    @property
    def name(self) -> ast.Name:
        """The name of the machine or network."""
        return self.stands.name


def place_of(expr: ast.Expr, module: LoadedModule) -> PlacedHardware | None:
    """Read `ws.ipx * N`, or `N * ws.ipx`, as a machine and a count; None for none."""
    if isinstance(expr, ast.Reference) or _is_hardware(expr, module):
        return PlacedHardware(expr, None)
    if not isinstance(expr, ast.Product):
        return None
    first = expr.factors[0][1]
    found = [factor for below, factor in expr.factors if not below and _is_hardware(factor, module)]
    found += [first] if isinstance(first, ast.Reference) else []
    if not found:
        return None
    rest = [pair for pair in expr.factors if pair[1] is not found[0]]
    if rest[0][0]:
        return None
    span = rest[0][1].span.to(rest[-1][1].span)
    return PlacedHardware(
        found[0], rest[0][1] if len(rest) == 1 else ast.Product(span, tuple(rest))
    )


def _is_hardware(expr: ast.Expr, module: LoadedModule) -> TypeGuard[ast.Reference | ast.Call]:
    """Return whether an expression is a machine, `pod(4, 8 GB)`, or a network."""
    if not isinstance(expr, ast.Reference | ast.Call):
        return False
    if isinstance(expr, ast.Reference) and expr.is_unit:
        return False
    declared = lookup(module, expr.name)
    return declared is not None and isinstance(declared.declaration, ast.Machine | ast.Network)


def family_of(module: LoadedModule, name: ast.Name, kind: type[K]) -> list[K]:
    """Return a machine or network and what it is made of, the nearest first.

    Nothing where that cannot be determined: one of them is not there, or is made of itself.
    """
    found: list[K] = []
    at: ast.Name | None = name
    while at is not None:
        declared = lookup_as(module, at, kind)
        if declared is None or declared.declaration in found:
            return []
        found.append(declared.declaration)
        module, parent = declared.module, declared.declaration.parent
        at = None if parent is None else parent.name
    return found


def resource_words(declared: Declared) -> list[str] | None:
    """Return what can stand behind a node or link in the name of a load.

    None where that cannot be determined, since its machine or network failed.
    """
    owner, module = declared.declaration, declared.module
    assert isinstance(owner, ast.Node | ast.Link)
    stated, where = module.stated(owner.name.text, owner.place)
    place = place_of(stated, where)
    if place is None:
        return None
    if isinstance(owner, ast.Node):
        machines = family_of(where, place.name, ast.Machine)
        resources = (item.name.text for m in reversed(machines) for item in m.resources)
        return list(dict.fromkeys(resources)) if machines else None
    networks = family_of(where, place.name, ast.Network)
    if not networks:
        return None
    medium = next((network.medium.text for network in networks if network.medium), "shared")
    words = {
        "duplex": ["forth", "back"],
        "switched": [n for n, d in module.names.items() if isinstance(d, ast.Node | ast.Link)],
    }.get(medium, [])
    if medium == "switched":
        words += [name for name, used in module.imports.items() if used.is_system]
        words += [module.prefix.partition(".")[0]] if module.prefix else []
    if any(item.kind == "cap" for network in networks for item in network.properties):
        words += [f"{item}s" for item in (*units.ITEMS, *module.units)]
    return words


def resource_name(declared: Declared, rest: tuple[str, ...]) -> str:
    """Return what the model calls a resource of a node or link.

    Ports are called by their places, and threads that have no name of their own by their
    components: `fabric.web.out` and `web.cpu.page` of an instance `eu` are `eu.fabric.eu.web.out`
    and `eu.web.cpu.eu.page`.
    """
    parts = rest
    if len(rest) > 1 and isinstance(declared.declaration, ast.Node):
        step = named_in(declared.module, rest[1:])
        if step is not None and _has_own_thread(step):
            parts = (rest[0], step.qualified)
    if rest and isinstance(declared.declaration, ast.Link):
        port, behind = owned_in(declared.module, rest)
        if port is not None and isinstance(port.declaration, ast.Node | ast.Link):
            parts = (port.qualified, *behind)
    return ".".join((declared.qualified, *parts))


def _has_own_thread(declared: Declared) -> bool:
    """Return whether this is a component with a cost on one thread that it does not name."""
    if not isinstance(declared.declaration, ast.Component):
        return False
    for one in family_of(declared.module, declared.declaration.name, ast.Component):
        costs = (item for item in one.items if isinstance(item, ast.Cost))
        if any(cost.single_thread and cost.single_thread.name is None for cost in costs):
            return True
    return False


def has_resource(sink: Sink, declared: Declared, rest: tuple[str, ...], name: ast.Name) -> bool:
    """Return whether a node or link has the resource that stands behind it in a name."""
    words = resource_words(declared)
    if not rest or words is None or rest[0] in words:
        return True
    place = ".".join(name.parts[: len(name.parts) - len(rest)])
    sink.report(
        codes.UNKNOWN_NAME,
        name.span,
        f"`{place}` has no resource `{rest[0]}`",
        hint=did_you_mean(rest[0], words) or f"use `{place}`",
    )
    return False
