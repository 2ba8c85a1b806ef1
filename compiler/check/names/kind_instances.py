"""An instance for each kind: what a use says of all of them, as it is for one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.check.names.declarations import IndexedDeclaration, LoadedModule
from qps.compiler.syntax import ast

W = TypeVar("W", bound=ast.Written)


class KindDependency(Struct, frozen=True):
    """A name that rests on a parameter by kinds, by way of what defines it."""

    named: ast.Name
    divided: str


def kinds_in(declared: ast.Kinds) -> tuple[str, ...]:
    """Return the names of kinds, each once."""
    letters = declared.pattern.value if declared.pattern is not None else ""
    names = [*(weight.name.text for weight in declared.weights), *letters]
    return tuple(dict.fromkeys(names))


def divided_by(kinds: ast.Kinds, user: LoadedModule) -> set[str]:
    """Return what there is for each of some kinds: parameters, nodes, distances to another one."""
    families = [d for d in user.names.values() if isinstance(d, IndexedDeclaration)]
    own = [family for family in families if family.kinds == kinds.name.text]
    between = [family.name.text for family in own if len(family.keys[0]) > 1]
    each = {family.name.text for family in own if len(family.keys[0]) == 1}
    each |= {f"{table}.{kind}" for table in between for kind in kinds_in(kinds)}
    return each | {
        name
        for name, found in user.names.items()
        if isinstance(found, ast.Param)
        and isinstance(found.value, ast.KindTable)
        and found.value.kinds.text == kinds.name.text
    }


def kind_dependencies(
    part: object, user: LoadedModule, divided: Collection[str]
) -> Iterator[KindDependency]:
    """Yield what a part of the tree names that rests on parameters by kinds without naming one."""
    for named in _named_in(part):
        if named.text in divided:
            continue
        found = next((name for name in _named_under(named.text, user) if name in divided), None)
        if found is not None:
            yield KindDependency(named, found)


def _named_under(name: str, user: LoadedModule) -> Iterator[str]:
    """Yield all that the definition of a name rests on, itself and by others."""
    seen, pending = {name}, [name]
    while pending:
        found = user.names.get(pending.pop())
        if not isinstance(found, ast.Let | ast.Func | ast.Param):
            continue
        formals = found.formals if isinstance(found, ast.Func) else ()
        own = {formal.name.text for formal in formals}
        new = {named.text for named in _named_in(found.value)} - own - seen
        yield from sorted(new)
        seen |= new
        pending += new


def _named_in(part: object) -> Iterator[ast.Name]:
    """Yield the names in a part of the tree: of values, and of functions that are called."""
    if isinstance(part, tuple):
        for one in part:
            yield from _named_in(one)
    elif isinstance(part, ast.Reference | ast.Call):
        yield part.name
    if isinstance(part, ast.Written) and not isinstance(part, ast.Name):
        for field in part.__struct_fields__:
            yield from _named_in(getattr(part, field))


def of_kind(part: W, names: Collection[str], kind: str) -> W:
    """Return a part of the tree with names of kinds, and of what differs by them, as of one."""
    if isinstance(part, ast.Reference) and part.name.text in names:
        name = replace(part.name, parts=(*part.name.parts, kind))
        return cast("W", ast.Reference(part.span, name))
    fields = {name: getattr(part, name) for name in part.__struct_fields__}
    return replace(part, **{n: _all_of_kind(f, names, kind) for n, f in fields.items()})


def _all_of_kind(field: object, names: Collection[str], kind: str) -> object:
    if isinstance(field, tuple):
        return tuple(_all_of_kind(one, names, kind) for one in field)
    if isinstance(field, ast.Written) and not isinstance(field, ast.Name):
        return of_kind(field, names, kind)
    return field
