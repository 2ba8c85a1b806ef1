"""Names that the checker did not come to, since something before them is wrong: for editors.

They are looked up as the checker does, where one look shows what is meant. What depends on where it
stands (formals, columns, choices) is left open.
"""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.check.names.declarations import (
    LoadedModule,
    chooses,
    lookup,
    lookup_class,
    owner_in,
    unit_meant,
)
from qps.compiler.check.names.name_recorder import Meaning, Noted
from qps.compiler.check.names.program import Program
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in


def resolve_fallbacks(program: Program, noted: Noted[LoadedModule]) -> None:
    """Note what names mean that were not looked up while a program was checked."""
    for module in program.modules:
        columns = {c.name.text for m in module.syntax.every(ast.Matrix) for c in m.columns}
        for declaration in module.syntax.declarations:
            formals = {formal.name.text for formal in getattr(declaration, "formals", ())}
            left_open = {id(name) for name in _by_place(declaration, module)}
            for node in nodes_in(declaration):
                name = node.name if isinstance(node, ast.Reference) else node
                if (
                    isinstance(name, ast.Name)
                    and name.span not in noted.notes
                    and id(name) not in left_open
                    and name.text not in formals | columns
                ):
                    _look_up(node, name, module)


def _look_up(node: ast.Written, name: ast.Name, module: LoadedModule) -> None:
    """Look a name up, which notes what is found: a unit, a declaration, a part of one."""
    if isinstance(node, ast.Reference) and unit_meant(module, node) is not None:
        module.note(Meaning.UNIT, name)
    elif lookup(module, name) is None and lookup_class(module, name) is None:
        owner_in(module, name)


def _by_place(declaration: ast.Declaration, module: LoadedModule) -> Iterator[ast.Name]:
    """Yield names in a declaration that mean what they do by what stands beside them."""
    for node in nodes_in(declaration):
        match node:
            case ast.Comparison(operands=(ast.Reference(name=first), *others)):
                declared = lookup(module, first)
                if declared is not None and isinstance(declared.declaration, ast.Option):
                    yield from _names(*others)
            case ast.Change(name=name, value=value):
                declared = lookup(module, name)
                is_option = declared is not None and isinstance(declared.declaration, ast.Option)
                if is_option or chooses(module, name):
                    yield from _names(value)
            case ast.Use():
                yield from _names(*node.changes)
            case ast.Take(pool=name) | ast.Give(pool=name) | ast.Aim(name=name):
                yield name
            case ast.Wait(name=name):
                yield name
            case ast.Axis() | ast.SortKey() | ast.MatrixClaim() | ast.Column() | ast.Call():
                yield from _names(node)


def _names(*parts: ast.Written) -> Iterator[ast.Name]:
    return (name for part in parts for name in nodes_in(part) if isinstance(name, ast.Name))
