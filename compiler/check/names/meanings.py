"""What each name in a declaration means: by where it stands, or as the checker took it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from qps.compiler.check.names.declarations import (
    Declared,
    IndexedDeclaration,
    LoadedModule,
    lookup_unit,
    named_in,
    owned_in,
)
from qps.compiler.check.names.name_recorder import Meaning, Note, Noted
from qps.compiler.check.names.placed_names import Meant, Placed
from qps.compiler.check.names.symbols import Symbol, Symbols, word
from qps.compiler.ir.measure_names import UTILIZATION, current_name
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in


class MeaningReader(Struct, frozen=True, kw_only=True):
    """Reads what names mean in the files of a program."""

    symbols: Symbols
    noted: Noted[LoadedModule]

    def meant(self, tree: ast.Module, declaration: ast.Declaration) -> Iterator[Meant | ast.Name]:
        """Yield what the names in a declaration mean, and those of which that is not known."""
        placed: dict[int, list[Meant]] = {}
        for name, found in Placed(self.symbols, declaration, tree).every():
            placed.setdefault(id(name), []).append(found)
        for node in nodes_in(declaration):
            if not isinstance(node, ast.Name) or not _is_written(node):
                continue
            own = placed.get(id(node))
            note = None if own else self.noted.notes.get(node.span)
            if note is not None:
                own = list(self._parts(node, note, declaration))
            if own:
                yield from own
            else:
                yield node

    # -- as the checker took it ---------------------------------------------------------------

    def as_noted(self, note: Note[LoadedModule]) -> Iterator[Meant]:
        """Yield what the parts of a name mean that stands in no declaration, but in a table."""
        yield from self._parts(note.name, note, None)

    def _parts(
        self, name: ast.Name, note: Note[LoadedModule], around: ast.Declaration | None
    ) -> Iterator[Meant]:
        """Yield what the parts of a name mean that was noted."""
        module, symbols, own = note.module, self.symbols, name.text
        whole: Symbol | None = None
        match note.meaning:
            case Meaning.UNIT:
                unit = lookup_unit(module, name)
                found = Symbol(kind="unit", name=own) if unit is None else symbols.declared(unit)
                yield from self._qualified(name, module, found)
                return
            case Meaning.CHOSEN:
                inner, rest = _within(module, name.parts)
                whole = symbols.chosen(inner, ".".join(rest))
                if whole is not None:
                    yield from self._qualified(name, module, whole)
                return
            case Meaning.FORMAL:
                whole = symbols.formal(around, name)
            case Meaning.CHOICE if isinstance(note.of, ast.Option):
                whole = symbols.choice(note.of, own)
            case Meaning.KIND if isinstance(note.of, ast.Kinds):
                whole = symbols.kind(note.of, own)
            case Meaning.EVENT if note.of is not None:
                whole = symbols.declared(note.of)
            case Meaning.MATRIX:
                whole = symbols.matrix(module, own)
            case Meaning.RESOURCE:
                whole = symbols.resource(own)
            case Meaning.WORD:
                whole = word(own)
            case Meaning.NAMED | Meaning.CLASS | Meaning.OWNED:
                yield from self._owned(name, note)
                return
        if whole is not None:
            yield Meant(name.span, whole)

    def _qualified(self, name: ast.Name, module: LoadedModule, last: Symbol) -> Iterator[Meant]:
        """Yield the modules in front of the last part of a name, and this."""
        *front, behind = name.written_parts
        yield from self._modules(front, module)
        yield Meant(behind.span, last)

    def _modules(self, parts: Iterable[ast.Name], module: LoadedModule) -> Iterator[Meant]:
        for part in parts:
            symbol = self._module(module, part.text)
            if symbol is not None:
                yield Meant(part.span, symbol)
            module = module.imports.get(part.text, module)

    def _module(self, module: LoadedModule, text: str) -> Symbol | None:
        """Return what a name means in front of a dot: a module, or the kind that one is for."""
        return self.symbols.module(module, text) or _kind_of_use(self.symbols, module, text)

    def _owned(self, name: ast.Name, note: Note[LoadedModule]) -> Iterator[Meant]:
        """Yield modules, the declaration that they lead to, and what stands behind that."""
        module, parts = note.module, note.name.parts
        written = list(name.written_parts)
        while len(parts) > 1 and parts[0] in module.imports:
            if written and written[0].text == parts[0]:
                symbol = self._module(module, parts[0])
                part = written.pop(0)
                if symbol is not None:
                    yield Meant(part.span, symbol)
            module, parts = module.imports[parts[0]], parts[1:]
        owner = module.names.get(parts[0]) or module.names.get(".".join(parts))
        if owner is None or not written:
            return
        yield Meant(written.pop(0).span, self.symbols.declared(owner))
        if written:
            yield from self._behind(module, owner, written)

    def _behind(
        self, module: LoadedModule, owner: ast.Shared, written: list[ast.Name]
    ) -> Iterator[Meant]:
        """Yield what stands behind a declaration: its kinds, resources, parts, measures."""
        family = owner
        while isinstance(owner, IndexedDeclaration):
            owner = owner.of
        kinds = _kinds_of(module, family)
        while kinds is not None and written:
            symbol = self.symbols.kind(kinds, written[0].text)
            if symbol is None:
                break
            yield Meant(written.pop(0).span, symbol)
        if isinstance(owner, ast.Stream) and len(written) > 1:
            yield from self._places(module, written[:-1])
            written = written[-1:]
        elif isinstance(owner, ast.Link) and written:
            owner_, rest = owned_in(module, tuple(part.text for part in written))
            if owner_ is not None:
                count = len(written) - len(rest)
                yield from self._places(module, written[:count])
                written = written[count:]
        elif isinstance(owner, ast.Node) and written:
            found = self.symbols.resource(written[0].text)
            if found.declared:
                yield Meant(written.pop(0).span, found)
                if len(written) > 1 or (written and not _is_load(written[-1])):
                    yield from self._thread(module, written)
                    return
        yield from (Meant(part.span, word(part.text)) for part in written)

    def _thread(self, module: LoadedModule, written: list[ast.Name]) -> Iterator[Meant]:
        """Yield a thread of a resource, by its own name or that of its component."""
        parts = written[:-1] if _is_load(written[-1]) else written
        thread = self.symbols.thread(parts[0].text)
        if len(parts) == 1 and thread.declared:
            yield Meant(parts[0].span, thread)
        elif named_in(module, tuple(part.text for part in parts)) is not None:
            yield from self._places(module, parts)
        else:
            yield from (Meant(part.span, word(part.text)) for part in parts)
        yield from (Meant(part.span, word(part.text)) for part in written[len(parts) :])

    def _places(self, module: LoadedModule, written: list[ast.Name]) -> Iterator[Meant]:
        """Yield what a name within a name means, as `db` in `page.db.latency`."""
        first = written[0]
        name = ast.Name(first.span.to(written[-1].span), tuple(part.text for part in written))
        note = Note(meaning=Meaning.OWNED, name=name, module=module)
        yield from self._owned(name, note)


def _is_load(part: ast.Name) -> bool:
    """Return whether a part of a name is the load of a place."""
    return current_name(part.text) == UTILIZATION


def _is_written(name: ast.Name) -> bool:
    """Return whether a name stands in the text: not one that the word `all` stands for."""
    written = name.written_parts
    return (bool(written) and written[0].text == name.parts[0]) or " " in name.text


def _within(module: LoadedModule, parts: tuple[str, ...]) -> tuple[LoadedModule, tuple[str, ...]]:
    """Return the module that a name leads to, and what is left of the name."""
    while len(parts) > 1 and parts[0] in module.imports:
        module, parts = module.imports[parts[0]], parts[1:]
    return module, parts


def _kind_of_use(symbols: Symbols, index: LoadedModule, text: str) -> Symbol | None:
    """Return the kind that an instance is for: `eu` in `region.eu.web`."""
    use, user = index.used, index.user
    if use is None or use.each is None or user is None:
        return None
    kinds = user.names.get(use.each.text)
    return symbols.kind(kinds, text) if isinstance(kinds, ast.Kinds) else None


def _kinds_of(module: LoadedModule, owner: ast.Shared) -> ast.Kinds | None:
    """Return the kinds by which a declaration differs."""
    if isinstance(owner, ast.Kinds):
        return owner
    found: Declared | None = None
    if isinstance(owner, IndexedDeclaration):
        found = named_in(module, (owner.kinds,))
    elif isinstance(owner, ast.Param) and isinstance(owner.value, ast.KindTable):
        found = named_in(module, owner.value.kinds.parts)
    declared = None if found is None else found.declaration
    return declared if isinstance(declared, ast.Kinds) else None
