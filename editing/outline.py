"""The outline of a text: what it declares, with what stands inside of it."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from qps.compiler.syntax import ast
from qps.editing.open_documents import OpenDocuments
from qps.editing.positions import Positions

_MOST = 20_000


def outline(
    documents: OpenDocuments, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol]:
    """Return the declarations of a text in their order."""
    uri = params.text_document.uri
    reading = documents.reading(uri)
    places = documents.positions(reading.source)
    found = (_symbol(places, one) for one in reading.syntax.declarations[:_MOST])
    return [symbol for symbol in found if symbol is not None]


def _symbol(places: Positions, declaration: ast.Declaration) -> types.DocumentSymbol | None:
    match declaration:
        case ast.Topology(items=items):
            inner = [_named(places, item) for item in items]
            return _one(places, declaration, "topology", types.SymbolKind.Namespace, inner=inner)
        case ast.Require(requirements=needs):
            inner = [_need(places, need) for need in needs]
            return _one(places, declaration, "require", types.SymbolKind.Namespace, inner=inner)
        case ast.Use(alias=alias, module=module):
            name = alias.text if alias is not None else module.span.text
            return _one(places, declaration, name, types.SymbolKind.Module, module.span.text)
        case ast.Named():
            return _named(places, declaration)
    return None


def _named(places: Positions, declaration: ast.Named) -> types.DocumentSymbol:
    """Return a declaration that has a name, with its parts that have one."""
    name = declaration.name
    return _one(
        places,
        declaration,
        name.text,
        types.SymbolKind[declaration.presentation.symbol_kind],
        _detail(declaration),
        name.span.start,
        name.span.end,
        inner=_parts(places, declaration),
    )


def _parts(places: Positions, declaration: ast.Named) -> list[types.DocumentSymbol]:
    parts: Iterable[tuple[ast.Written, ast.Name]]
    match declaration:
        case ast.Machine(resources=resources):
            parts = [(one, one.name) for one in resources]
        case ast.Option(choices=choices):
            parts = [(one, one) for one in choices]
        case ast.Kinds(weights=weights):
            parts = [(one, one.name) for one in weights]
        case ast.Stream(items=items):
            return [
                _of_a_stream(places, one) for one in items if isinstance(one, ast.At | ast.Event)
            ]
        case ast.Mode(requirements=needs):
            return [_need(places, need) for need in needs]
        case _:
            parts = []
    is_machine = isinstance(declaration, ast.Machine)
    kind = types.SymbolKind.Field if is_machine else types.SymbolKind.EnumMember
    return [_one(places, one, name.text, kind) for one, name in parts]


def _of_a_stream(places: Positions, item: ast.At | ast.Event) -> types.DocumentSymbol:
    if isinstance(item, ast.Event):
        return _named(places, item)
    return _one(places, item, item.node.text, types.SymbolKind.Field)


def _need(places: Positions, need: ast.Requirement) -> types.DocumentSymbol:
    return _one(places, need, need.span.text, types.SymbolKind.Boolean)


def _detail(declaration: ast.Named) -> str:
    """Return what stands behind the name, in one line: the value, the machine, the title."""
    match declaration:
        case ast.Param() | ast.Let() | ast.Measure() | ast.Event():
            value = declaration.value
            return _short(value.span.text)
        case ast.Node(place=place) | ast.Link(place=place):
            return _short(place.span.text)
        case ast.Users(range=range_):
            return _short(range_.span.text)
        case ast.Expect(title=title) | ast.Figure(title=title) if title is not None:
            return _short(title.value)
    return type(declaration).__name__.lower()


_LONGEST = 80


def _short(text: str) -> str:
    line = " ".join(text[: 2 * _LONGEST].split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _one(
    places: Positions,
    written: ast.Written,
    name: str,
    kind: types.SymbolKind,
    detail: str = "",
    start: int | None = None,
    end: int | None = None,
    *,
    inner: list[types.DocumentSymbol] | None = None,
) -> types.DocumentSymbol:
    whole = written.span
    first = whole.start if start is None else start
    last = min(whole.end, whole.start + len(whole.text.partition("\n")[0])) if end is None else end
    return types.DocumentSymbol(
        name=_short(name) or "?",
        kind=kind,
        # What is selected stands within the whole, or editors refuse all of it.
        range=places.between(min(first, whole.start), max(last, whole.end)),
        selection_range=places.between(first, last),
        detail=detail or None,
        children=inner or None,
    )
