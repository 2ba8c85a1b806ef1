"""Places: which machine or network stands there, how many of it, and what can be loaded."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.check.names.declarations import Module, lookup
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.quantities import units
from qps.compiler.syntax import ast


class Place(Struct, frozen=True):
    """A machine or network and, where one was given, how many of it."""

    name: ast.Name
    count: ast.Expr | None


def place_of(expr: ast.Expr) -> Place | None:
    """Read `ws.ipx * N` as a machine and a count; None where it is nothing of the kind."""
    match expr:
        case ast.Reference(name=name):
            return Place(name, None)
        case ast.Product(factors=((False, ast.Reference(name=name)), *rest)):
            if len(rest) == 1 and not rest[0][0]:
                return Place(name, rest[0][1])
            span = rest[0][1].span.to(rest[-1][1].span)
            if not rest[0][0]:
                return Place(name, ast.Product(span, tuple(rest)))
    return None


def resource_words(module: Module, owner: ast.Node | ast.Link) -> list[str] | None:
    """Return what can stand behind a node or link in the name of a load.

    None where that cannot be told, since its machine or network failed.
    """
    place = place_of(owner.place)
    named = None if place is None else lookup(module, place.name)
    declared = None if named is None else named.declaration
    if isinstance(declared, ast.Machine):
        return [resource.name.text for resource in declared.resources]
    if not isinstance(declared, ast.Network) or isinstance(owner, ast.Node):
        return None
    medium = declared.medium.text if declared.medium else "shared"
    words = {
        "duplex": ["forth", "back"],
        "switched": [n for n, d in module.names.items() if isinstance(d, ast.Node | ast.Link)],
    }.get(medium, [])
    if any(item.kind == "cap" for item in declared.properties):
        own = [n for n, d in module.names.items() if isinstance(d, ast.Unit)]
        words += [f"{item}s" for item in (*units.ITEMS, *own)]
    return words


def has_resource(sink: Sink, module: Module, name: ast.Name) -> bool:
    """Return whether the node or link of a name has the resource that the name asks for."""
    owner = module.names.get(name.parts[0])
    assert isinstance(owner, ast.Node | ast.Link)
    words = resource_words(module, owner)
    if len(name.parts) == 1 or words is None or name.parts[1] in words:
        return True
    sink.report(
        codes.UNKNOWN_NAME,
        name.span,
        f"`{name.parts[0]}` has no `{name.parts[1]}` that could be loaded",
        hint=did_you_mean(name.parts[1], words) or f"name it as a whole: `{name.parts[0]}`",
    )
    return False
