"""What may be written next: the words that the grammar takes there, and the names that fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsprotocol import types

from qps.compiler.check.names.declarations import KIND_WORDS, Module
from qps.compiler.check.values.check_calls import LANGUAGE_FUNCTIONS
from qps.compiler.check.values.check_names import measures_of
from qps.compiler.quantities import units
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.walking import nodes_in
from qps.compiler.syntax.parse import declaration_start
from qps.editing.desk import Desk, Reading
from qps.editing.wanted_names import Wanted, wanted
from qps.grammar.keywords import words_of
from qps.grammar.parsing import begun
from qps.stdlib import module_names

_NAME = re.compile(r"(?:[^\W\d]\w*\.)*(?:[^\W\d]\w*)?\Z")
_FITS, _OTHERS, _WORDS = "0", "1", "2"
"""How what is offered is put in order: what fits in dimension, other names, words."""
_MOST = 500

_ICONS: dict[type, types.CompletionItemKind] = {
    ast.Unit: types.CompletionItemKind.Unit,
    ast.Func: types.CompletionItemKind.Function,
    ast.Formal: types.CompletionItemKind.TypeParameter,
    ast.Let: types.CompletionItemKind.Constant,
    ast.Machine: types.CompletionItemKind.Class,
    ast.Network: types.CompletionItemKind.Interface,
    ast.Component: types.CompletionItemKind.Method,
    ast.Stream: types.CompletionItemKind.Event,
    ast.Measure: types.CompletionItemKind.Property,
    ast.Option: types.CompletionItemKind.Enum,
    ast.Kinds: types.CompletionItemKind.Enum,
}


def completion(desk: Desk, params: types.CompletionParams) -> types.CompletionList:
    """Return what can stand at the cursor, what is likely first."""
    reading = desk.reading(params.text_document.uri)
    text, places = reading.source.text, desk.positions(reading.source)
    cursor = places.offset(params.position)
    line = text.rfind("\n", 0, cursor) + 1
    match = _NAME.search(text, line, cursor)
    start = cursor if match is None else match.start()
    if '"' in _unquoted(text[line:start]):
        return types.CompletionList(is_incomplete=False, items=[])
    before = begun(text, declaration_start(text, start), start)
    typed = text[start:cursor]
    owner, _, _ = typed.rpartition(".")
    found: list[types.CompletionItem] = []
    if "NAME" in before.accepted or "LOAD" in before.accepted:
        asked = wanted(before.tokens, text)
        offered = _of(owner, reading, asked) if owner else _names(reading, asked, start)
        found += offered
    if not owner:
        found += [
            types.CompletionItem(label=word, kind=types.CompletionItemKind.Keyword)
            for word in dict.fromkeys(w for one in sorted(before.accepted) for w in words_of(one))
        ]
    at = places.between(start + len(owner) + bool(owner), cursor)
    items = {one.label: one for one in reversed(found)}.values()
    for one in items:
        one.sort_text = f"{one.sort_text or _WORDS}{one.label}"
        one.text_edit = types.TextEdit(at, one.label)
    shown = sorted(items, key=lambda one: one.sort_text or "")
    return types.CompletionList(is_incomplete=len(shown) > _MOST, items=shown[:_MOST])


def _unquoted(line: str) -> str:
    """Return a line without its texts in quotes; a quote is left where one is open."""
    return re.sub(r'"[^"]*"', "", line).replace("#", '"')


# -- names -------------------------------------------------------------------------------------


def _names(reading: Reading, asked: Wanted, at: int) -> Iterator[types.CompletionItem]:
    """Yield the names of a spec that are wanted."""
    if asked.modules:
        yield from (_item(name, types.CompletionItemKind.Module, "") for name in module_names())
        return
    if asked.units:
        yield from _units(reading)
        return
    fitting = asked.dimension or _dimension(reading, asked.compared)
    for declaration in _declared(reading, at):
        if isinstance(declaration, asked.kinds):
            yield _named(reading, declaration.name.text, declaration, fitting)
    for use in reading.syntax.every(ast.Use):
        alias = use.alias.text if use.alias is not None else use.module.span.text.rpartition(".")[2]
        if alias.isidentifier():
            yield _item(alias, types.CompletionItemKind.Module, use.module.span.text)
    if asked.functions:
        kind = types.CompletionItemKind.Function
        yield from (_item(name, kind, "function") for name in sorted(LANGUAGE_FUNCTIONS))


_Declared = ast.Shared | ast.Formal


def _declared(reading: Reading, at: int) -> Iterator[_Declared]:
    """Yield what a text declares, nodes and links too, and the formals of what is at a place."""
    for declaration in reading.syntax.declarations:
        if isinstance(declaration, ast.Shared):
            yield declaration
        if isinstance(declaration, ast.Topology):
            yield from declaration.items
        if declaration.span.start <= at <= declaration.span.end:
            yield from (one for one in nodes_in(declaration) if isinstance(one, ast.Formal))


def _units(reading: Reading) -> Iterator[types.CompletionItem]:
    kind = types.CompletionItemKind.Unit
    yield from (_item(u.name.text, kind, "a unit", _FITS) for u in reading.syntax.every(ast.Unit))
    for name, unit in sorted(units.BUILT_IN.items()):
        yield _item(name, kind, str(unit.dimension), _OTHERS)


def _named(
    reading: Reading, name: str, declaration: _Declared, fitting: Dimension | None
) -> types.CompletionItem:
    """Return a name, with what it is; one whose dimension fits comes first."""
    kind = _ICONS.get(type(declaration), types.CompletionItemKind.Variable)
    dimension = _dimension(reading, name)
    what = KIND_WORDS.get(type(declaration), "an argument")
    detail = what if dimension is None else f"{what}, {_told(dimension)}"
    fits = fitting is not None and dimension == fitting
    return _item(name, kind, detail, _FITS if fits else _OTHERS)


def _item(
    label: str, kind: types.CompletionItemKind, detail: str, order: str = _OTHERS
) -> types.CompletionItem:
    return types.CompletionItem(label=label, kind=kind, detail=detail or None, sort_text=order)


def _told(dimension: Dimension) -> str:
    return "a number" if dimension == DIMENSIONLESS else str(dimension)


# -- what stands behind a dot ------------------------------------------------------------------


def _of(owner: str, reading: Reading, asked: Wanted) -> Iterator[types.CompletionItem]:
    """Yield what can stand behind a name and a dot."""
    if asked.modules:
        rest = [name for name in module_names() if name.startswith(f"{owner}.")]
        for part in dict.fromkeys(name[len(owner) + 1 :].partition(".")[0] for name in rest):
            yield _item(part, types.CompletionItemKind.Module, "")
        return
    first, *rest = owner.split(".")
    module = _imported(reading, first)
    if module is not None:
        for part in rest:
            inner = module.imports.get(part)
            if inner is None:
                return
            module = inner
        yield from _of_module(module, asked)
    elif asked.of_answers or not rest:
        yield from (
            _item(name, types.CompletionItemKind.Property, detail)
            for name, detail in _measures(reading, owner)
        )


def _imported(reading: Reading, alias: str) -> Module | None:
    """Return the module that is used under a name."""
    known = reading.program
    return None if known is None else known.main.imports.get(alias)


def _of_module(module: Module, asked: Wanted) -> Iterator[types.CompletionItem]:
    of: Iterable[ast.Shared] = module.units.values() if asked.units else module.names.values()
    for one in of:
        if asked.units or isinstance(one, asked.kinds):
            icon = _ICONS.get(type(one), types.CompletionItemKind.Variable)
            yield _item(one.name.text, icon, KIND_WORDS.get(type(one), ""))
    for alias in module.imports:
        yield _item(alias, types.CompletionItemKind.Module, "")


def _measures(reading: Reading, owner: str) -> Iterator[tuple[str, str]]:
    """Yield what a stream, a node or a link has, or a resource of one of these."""
    items = {
        one.name.text: one
        for one in _declared(reading, -1)
        if isinstance(one, ast.Stream | ast.Node | ast.Link | ast.Kinds | ast.Param)
    }
    first, _, rest = owner.partition(".")
    declaration = items.get(first)
    if declaration is None:
        return
    if isinstance(declaration, ast.Node) and not rest:
        machine = declaration.place
        names = {n.name.text for n in nodes_in(machine) if isinstance(n, ast.Reference | ast.Call)}
        for one in reading.syntax.every(ast.Machine):
            if one.name.text in names:
                yield from ((item.name.text, "a resource") for item in one.resources)
    if isinstance(declaration, ast.Kinds):
        yield from ((weight.name.text, "a kind") for weight in declaration.weights)
        return
    for name, dimension in measures_of(type(declaration)).items():
        yield name, _told(dimension)


def _dimension(reading: Reading, name: str) -> Dimension | None:
    """Return the dimension of a name as far as it is known: of a value, or of a measure."""
    if not name:
        return None
    known = reading.dimensions.get(name)
    if known is not None:
        return known
    owner, _, measure = name.rpartition(".")
    for kind in (ast.Stream, ast.Node) if owner else ():
        found = measures_of(kind).get(measure)
        if found is not None:
            return found
    return None
