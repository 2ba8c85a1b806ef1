"""Where a name is declared, and where else it stands, in whatever file.

What a name means comes from the checker, part by part of a dotted one: `web` and `cpu` of
`web.cpu.load` lead to different places. A declaration in a module is looked for in every open text
that uses it, and in every spec of the same folder, or of the folders that are open.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types
from msgspec import Struct

from qps.compiler.check.names.bindings import Binding, Bindings
from qps.compiler.check.names.symbols import Symbol
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import LARGEST_TEXT, Source, Span
from qps.compiler.project.tree_links import link_out
from qps.editing.addresses import own_path, path_of, uri_of_path
from qps.editing.open_documents import OpenDocuments
from qps.links import resolved_path

Place: TypeAlias = "tuple[Path | str, int]"
"""A file, or the label of a text that is none, and an offset in it."""


class NameOccurrence(Struct, frozen=True):
    """A name at a place, among all names of the program that it is in."""

    binding: Binding
    bindings: Bindings


def name_at(documents: OpenDocuments, uri: str, position: types.Position) -> NameOccurrence | None:
    """Return the name at a place, None where there is none, or it is not known what it means."""
    reading = documents.reading(uri)
    offset = documents.positions(reading.source).offset(position)
    bindings = reading.examined.bindings
    binding = bindings.at(reading.source, offset)
    return None if binding is None else NameOccurrence(binding, bindings)


def definition(documents: OpenDocuments, params: types.DefinitionParams) -> list[types.Location]:
    """Return where the name at a place is declared; of a module, its file."""
    found = name_at(documents, params.text_document.uri, params.position)
    if found is None:
        return []
    symbol = found.binding.symbol
    if symbol.kind == "module":
        own = _file_of_module(documents, params.text_document.uri, symbol)
        if own is not None:
            return [documents.location(own, 0, 0)]
    return [documents.location(span.source, span.start, span.end) for span in symbol.declared]


def references(documents: OpenDocuments, params: types.ReferenceParams) -> list[types.Location]:
    """Return every place of the open texts that means what the name at a place does."""
    found = name_at(documents, params.text_document.uri, params.position)
    if found is None:
        return []
    with_declaration = params.context.include_declaration
    return [
        documents.location(one.span.source, one.span.start, one.span.end)
        for one in everywhere(documents, found)
        if with_declaration or not one.is_declaration
    ]


def highlights(
    documents: OpenDocuments, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    """Return the places in the same text that mean what the name at a place does."""
    found = name_at(documents, params.text_document.uri, params.position)
    if found is None:
        return []
    source = found.binding.span.source
    places = documents.positions(source)
    write, read = types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read
    return [
        types.DocumentHighlight(places.range(one.span), write if one.is_declaration else read)
        for one in found.bindings.of(found.binding.symbol)
        if one.span.source is source
    ]


def everywhere(documents: OpenDocuments, found: NameOccurrence) -> Iterator[Binding]:
    """Yield each place once that means a symbol, in the programs of all open texts."""
    wanted = {place_of(span) for span in found.binding.symbol.declared}
    seen: set[Place] = set()
    for bindings in programs(documents, found):
        for symbol in symbols_like(bindings, wanted, found.binding.symbol):
            for one in bindings.of(symbol):
                if place_of(one.span) not in seen:
                    seen.add(place_of(one.span))
                    yield one


def programs(documents: OpenDocuments, found: NameOccurrence) -> Iterator[Bindings]:
    """Yield the names of each program that a name may stand in.

    These are the open texts, and specs of the same folder, or of the open ones, that use the file.
    """
    yield found.bindings
    for uri in list(documents.texts):
        yield documents.reading(uri).examined.bindings
    files = {own_path(span.source) for span in found.binding.symbol.declared}
    for path in _using(documents, {file for file in files if file is not None}):
        yield documents.reading(uri_of_path(path)).examined.bindings


MOST_FILES = 2_000
"""Specs of a folder that are searched for uses of a file."""


def _using(documents: OpenDocuments, files: set[Path]) -> Iterator[Path]:
    """Yield the specs that are not open and name one of some files.

    QpsError where there are more specs than anybody looks at.
    """
    opened = {resolved_path(path) for path in map(path_of, documents.texts) if path is not None}
    roots = {file.parent for file in files}
    roots |= {one for one in documents.folders if any(file.is_relative_to(one) for file in files)}
    seen: set[Path] = set()
    for root in sorted(roots):
        for path in root.rglob("*.qps"):
            real = resolved_path(path)
            if (
                real in opened
                or real in seen
                or link_out(path) is not None
                or not real.is_file()
                or any(part.startswith(".") for part in path.relative_to(root).parts)
            ):
                continue
            seen.add(real)
            if len(seen) > MOST_FILES:
                message = f"there are more than {MOST_FILES:,} specs that may name it"
                raise QpsError.single(codes.BAD_SETTING, None, message)
            text = real.read_bytes() if real.stat().st_size <= LARGEST_TEXT else b""
            if any(file.stem.encode() in text for file in files - {real}):
                yield real


def symbols_like(bindings: Bindings, wanted: set[Place], like: Symbol) -> set[Symbol]:
    """Return the symbols of a program that are declared at the same places as another one."""
    if not wanted:
        return {like}
    return {
        one.symbol
        for one in bindings.every
        if one.symbol.name == like.name and any(place_of(s) in wanted for s in one.symbol.declared)
    }


def place_of(span: Span) -> Place:
    """Return what distinguishes a place from all others, in whichever program it was read."""
    return own_path(span.source) or span.source.label, span.start


def _file_of_module(documents: OpenDocuments, uri: str, symbol: Symbol) -> Source | None:
    """Return the text of the module that is used under a name."""
    reading = documents.reading(uri)
    if reading.program is None:
        return None
    for module in reading.program.modules:
        imported = module.imports.get(symbol.name)
        if imported is not None and module.syntax.source.label == symbol.declared[0].source.label:
            return imported.syntax.source
    return None
