"""The names that fit at a place, and in which order they are likely to be meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types
from lsprotocol.types import CompletionItemKind as Kind

from qps.compiler.check.names.declarations import LoadedModule, presentation_of
from qps.compiler.check.values.check_calls import LANGUAGE_FUNCTIONS
from qps.compiler.check.values.check_measures import measures_of
from qps.compiler.ir.expressions import Case
from qps.compiler.quantities import units
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in
from qps.editing.expected_names import ExpectedNames
from qps.editing.open_documents import CheckedText
from qps.stdlib import module_names

_FITS, _FIRST, _NAMES, _FUNCTIONS, _SELDOM, _MODULES = "0", "1", "2", "3", "4", "5"
"""How names are put in order: what fits in dimension or is what stands here, what is likelier than
other names, these, functions in common use and others, modules."""
_USUAL_FUNCTIONS = ("max", "min", "ceil", "count", "members", "quantile", "sum")
_USUAL_UNITS = ("ms", "s", "kB", "byte", "Mbit", "%", "us", "request", "packet", "core", "GB", "MB")
_ITEMS = ("s", "request", "packet", "frame", "message", "byte")
"""What is likeliest below a `/`."""


def offered_names(
    reading: CheckedText, wanted: ExpectedNames, owner: str, at: int
) -> Iterator[types.CompletionItem]:
    """Yield the names that are wanted at a place, or behind the name of an `owner` and a dot."""
    if owner:
        yield from _of(owner, reading, wanted)
        return
    yield from _in_place(reading, wanted)
    if wanted.modules:
        yield from (_item(name, Kind.Module, "", _NAMES) for name in module_names())
        return
    if wanted.units:
        yield from _units(reading, below=wanted.below)
        return
    set_to = list(_set_to(reading, wanted.set_to or wanted.compared))
    yield from set_to
    if set_to:
        if not _is_of_hardware(reading, wanted.set_to):
            return
    else:
        yield from _declared_names(reading, wanted, at)
        if wanted.functions:
            yield from map(_function, sorted(LANGUAGE_FUNCTIONS))
    if wanted.kinds or set_to:
        yield from _modules(reading)


def _in_place(reading: CheckedText, wanted: ExpectedNames) -> Iterator[types.CompletionItem]:
    """Yield what stands at a place by itself: words, resources, kinds."""
    is_beside = bool(wanted.first) and not wanted.functions  # names are likelier
    for number, word in enumerate(wanted.words):
        yield _item(word, Kind.EnumMember, "", f"{_FUNCTIONS if is_beside else _FIRST}{number:02}")
    for number, name in enumerate(wanted.events):  # behind the first word: the others are rarer
        yield _item(name, Kind.Event, "an event", f"{_FIRST}00.{number:02}")
    if wanted.resources:
        declared = () if reading.program is None else sorted(reading.program.resources)
        own = [
            item.name.text for one in reading.syntax.every(ast.Machine) for item in one.resources
        ]
        for number, name in enumerate(dict.fromkeys([*own, "cpu", *declared])):
            yield _item(name, Kind.Property, "a resource", f"{_FITS}{number:02}")
    if wanted.kinds_of:
        yield from _kinds(reading, wanted.kinds_of)


def _kinds(reading: CheckedText, of: str) -> Iterator[types.CompletionItem]:
    for kinds in reading.syntax.every(ast.Kinds):
        if kinds.name.text == of:
            yield from (
                _item(one.name.text, Kind.EnumMember, "a kind", _FITS) for one in kinds.weights
            )


def _declared_names(
    reading: CheckedText, wanted: ExpectedNames, at: int
) -> Iterator[types.CompletionItem]:
    """Yield the names of a text of the kinds that are wanted."""
    fitting = wanted.dimension or _dimension(reading, wanted.compared)
    for declaration in _declared(reading, at):
        if isinstance(declaration, wanted.kinds):
            order = _FIRST if isinstance(declaration, wanted.first or ()) else _NAMES
            one = _named(reading, declaration.name.text, declaration, fitting, order)
            dimension = _dimension(reading, declaration.name.text)
            if wanted.suits is not None and dimension is not None and wanted.suits(dimension):
                one.sort_text = f"{_FITS}{one.label}"
            yield one
    if ast.Matrix in wanted.kinds:
        for matrix in reading.syntax.every(ast.Matrix):
            yield _item(matrix.name.text, Kind.Enum, "a matrix", _NAMES)


def _modules(reading: CheckedText) -> Iterator[types.CompletionItem]:
    for use in reading.syntax.every(ast.Use):
        alias = use.alias.text if use.alias is not None else use.module.span.text.rpartition(".")[2]
        if alias.isidentifier():
            yield _item(alias, Kind.Module, use.module.span.text, _MODULES)


def _function(name: str) -> types.CompletionItem:
    order = _FUNCTIONS if name in _USUAL_FUNCTIONS else _SELDOM
    return _item(name, Kind.Function, "function", order)


_Declared = ast.Shared | ast.Formal


def _declared(reading: CheckedText, at: int) -> Iterator[_Declared]:
    """Yield what a text declares, nodes and links too, and the formals of what is at a place."""
    for declaration in reading.syntax.declarations:
        if isinstance(declaration, ast.Shared):
            yield declaration
        if isinstance(declaration, ast.Topology):
            yield from declaration.items
        if declaration.span.start <= at <= declaration.span.end:
            yield from (one for one in nodes_in(declaration) if isinstance(one, ast.Formal))


def _units(reading: CheckedText, *, below: bool) -> Iterator[types.CompletionItem]:
    own = [one.name.text for one in reading.syntax.every(ast.Unit)]
    yield from (_item(name, Kind.Unit, "a unit", _FITS) for name in own)
    usual = _ITEMS if below else _USUAL_UNITS
    for name, unit in sorted(units.BUILT_IN.items()):
        order = f"{_FIRST}{usual.index(name):02}" if name in usual else _NAMES
        yield _item(name, Kind.Unit, str(unit.dimension), order)


def _named(
    reading: CheckedText, name: str, declaration: _Declared, fitting: Dimension | None, order: str
) -> types.CompletionItem:
    """Return a name, with what it is; one whose dimension fits comes first."""
    dimension = _dimension(reading, name)
    presentation = presentation_of(declaration) if isinstance(declaration, ast.Named) else None
    what, kind = (
        (presentation.noun, _icon(presentation))
        if presentation
        else ("an argument", Kind.TypeParameter)
    )
    detail = what if dimension is None else f"{what}, {_documentation(dimension)}"
    fits = fitting is not None and dimension == fitting
    return _item(name, kind, detail, _FITS if fits else order)


def _icon(presentation: ast.Presentation) -> Kind:
    name = presentation.completion_kind or presentation.symbol_kind
    return Kind[name] if name in Kind.__members__ else Kind.Variable


def _item(label: str, kind: Kind, detail: str, order: str = _NAMES) -> types.CompletionItem:
    return types.CompletionItem(
        label=label, kind=kind, detail=detail or None, sort_text=f"{order}{label}"
    )


def _documentation(dimension: Dimension) -> str:
    return "a number" if dimension == DIMENSIONLESS else str(dimension)


# -- what something can be set to --------------------------------------------------------------


def _set_to(reading: CheckedText, name: str) -> Iterator[types.CompletionItem]:
    """Yield what a name can be set to, or is compared with; nothing where that is a quantity."""
    if not name:
        return
    if name in ("case", "scenario", "mode"):
        yield from (_item(word, Kind.EnumMember, "", _FITS) for word in _chosen(reading, name))
    for declaration in _declared(reading, -1):
        if declaration.name.text != name:
            continue
        if isinstance(declaration, ast.Option):
            yield from (_item(one.text, Kind.EnumMember, "", _FITS) for one in declaration.choices)
        kind = _HARDWARE.get(type(declaration))
        for one in _declared(reading, -1) if kind is not None else ():
            if isinstance(one, kind or ()):
                yield _named(reading, one.name.text, one, None, _FITS)


_HARDWARE: dict[type, type[ast.Machine | ast.Network]] = {
    ast.Node: ast.Machine,
    ast.Link: ast.Network,
}


def _is_of_hardware(reading: CheckedText, name: str) -> bool:
    """Return whether a name is that of a place, which hardware of other modules can stand in."""
    return any(
        one.name.text == name and isinstance(one, ast.Node | ast.Link)
        for one in _declared(reading, -1)
    )


def _chosen(reading: CheckedText, word: str) -> list[str]:
    if word == "case":
        return [case.value for case in Case]
    if word == "mode":
        return [one.name.text for one in reading.syntax.every(ast.Mode)]
    return [one.name.text for one in reading.syntax.every(ast.Scenario)]


# -- what stands behind a dot ------------------------------------------------------------------


def _of(owner: str, reading: CheckedText, wanted: ExpectedNames) -> Iterator[types.CompletionItem]:
    """Yield what can stand behind a name and a dot."""
    if wanted.modules:
        rest = [name for name in module_names() if name.startswith(f"{owner}.")]
        for part in dict.fromkeys(name[len(owner) + 1 :].partition(".")[0] for name in rest):
            yield _item(part, Kind.Module, "")
        return
    first, *rest = owner.split(".")
    module = _imported(reading, first)
    if module is not None:
        for part in rest:
            inner = module.imports.get(part)
            if inner is None:
                return
            module = inner
        yield from _of_module(module, wanted)
    elif wanted.of_answers or not rest:
        yield from (
            _item(name, Kind.Property, detail) for name, detail in _measures(reading, owner)
        )


def _imported(reading: CheckedText, alias: str) -> LoadedModule | None:
    """Return the module that is used under a name."""
    known = reading.program
    return None if known is None else known.main.imports.get(alias)


def _of_module(module: LoadedModule, wanted: ExpectedNames) -> Iterator[types.CompletionItem]:
    of: Iterable[ast.Shared] = module.units.values() if wanted.units else module.names.values()
    for one in of:
        if wanted.units or isinstance(one, wanted.kinds):
            presentation = presentation_of(one)
            yield _item(one.name.text, _icon(presentation), presentation.noun)
    for alias in module.imports:
        yield _item(alias, Kind.Module, "")


def _measures(reading: CheckedText, owner: str) -> Iterator[tuple[str, str]]:
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
    if isinstance(declaration, ast.Param):
        if isinstance(declaration.value, ast.KindTable):
            yield from ((entry.name.text, "its value") for entry in declaration.value.entries)
        return
    for name, dimension in measures_of(type(declaration)).items():
        yield name, _documentation(dimension)


def _dimension(reading: CheckedText, name: str) -> Dimension | None:
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
