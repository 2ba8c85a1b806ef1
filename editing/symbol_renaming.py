"""Another name for what is declared, everywhere that it is named."""

from __future__ import annotations

import re

from lsprotocol import types

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities import units
from qps.editing.addresses import own_path
from qps.editing.open_documents import OpenDocuments
from qps.editing.references import (
    NameOccurrence,
    everywhere,
    name_at,
    place_of,
    programs,
    symbols_like,
)
from qps.grammar.words import RESERVED

_NAME = re.compile(r"[^\W\d]\w*")


def can_rename(documents: OpenDocuments, params: types.PrepareRenameParams) -> types.Range | None:
    """Return the name at a place where another one can be given to it; None where not."""
    found = name_at(documents, params.text_document.uri, params.position)
    if found is None or _why_not(documents, found) is not None:
        return None
    return documents.positions(found.binding.span.source).range(found.binding.span)


def rename(documents: OpenDocuments, params: types.RenameParams) -> types.WorkspaceEdit:
    """Return what changes in all files; QpsError, in words, where the name cannot be given."""
    found = name_at(documents, params.text_document.uri, params.position)
    why = "this is not a name" if found is None else _why_not(documents, found)
    new = params.new_name.strip()
    if why is None and found is not None:
        why = _why_no_name(new, found)
    if why is not None or found is None:
        raise QpsError.single(codes.BAD_SETTING, None, str(why))
    changes: dict[str, list[types.TextEdit]] = {}
    for one in everywhere(documents, found):
        source = one.span.source
        edit = types.TextEdit(documents.positions(source).range(one.span), one.renamed(new))
        changes.setdefault(documents.uri_of(source), []).append(edit)
    return types.WorkspaceEdit(changes=changes)


def _why_not(documents: OpenDocuments, found: NameOccurrence) -> str | None:
    """Return why a name cannot be another one; None where it can."""
    symbol = found.binding.symbol
    if not symbol.declared:
        return f"`{symbol.name}` is a reserved word"
    if any(
        own_path(span.source) is None and span.source.label not in documents.texts
        for span in symbol.declared
    ):
        return f"`{symbol.name}` is of the standard library"
    wanted = {place_of(span) for span in symbol.declared}
    for bindings in programs(documents, found):
        for one in symbols_like(bindings, wanted, symbol):
            if not bindings.can_be_renamed(one):
                return f"not all places are known that name `{symbol.name}`"
    return None


def _why_no_name(new: str, found: NameOccurrence) -> str | None:
    """Return why a text cannot be the name; None where it can."""
    symbol = found.binding.symbol
    if not _NAME.fullmatch(new):
        return f"`{new}` is not a name: use letters, digits and `_`, and start with a letter"
    if new in RESERVED:
        return f"`{new}` is a reserved word"
    if symbol.kind == "unit" and units.is_reserved(new):
        return f"`{new}` is a unit already"
    sources = {span.source for span in symbol.declared}
    for one in found.bindings.every:
        other = one.symbol
        if other.name == new and any(span.source in sources for span in other.declared):
            return f"`{new}` is declared already, as a {other.kind}"
    return None
