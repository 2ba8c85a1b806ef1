"""What an editor asks at every name of a spec: hover, definition, references, another name."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from qps.compiler.check.names.bindings import Binding
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.compiler.syntax import ast
from qps.editing.hover import hover
from qps.editing.messages import OpenText
from qps.editing.open_documents import OpenDocuments
from qps.editing.references import definition, references
from qps.editing.symbol_renaming import rename
from qps.editing.value_hints import value_hints

SPECS = Path(__file__).parents[2] / "specs"
REQUESTED = ["applications/chat", "wifi_calls"]
EACH = 7
"""Every so manieth name that can have another one is given one."""
SILENT = ("word", "column")
"""Of headings of tables, and of some words, nothing is known."""


@pytest.mark.parametrize("name", REQUESTED)
def test_at_every_name_something_is_known(name: str) -> None:
    path = SPECS / f"{name}.qps"
    # Columns are those of UTF-16, and something stands before the names that takes two of them.
    text = path.read_text(encoding="utf-8").replace(' source "', ' source "𝄞 ')
    documents, uri = OpenDocuments(), path.as_uri()
    documents.put(OpenText(uri, 1, text))
    reading = documents.reading(uri)
    of, places = types.TextDocumentIdentifier(uri), documents.positions(reading.source)
    wrong = []
    names = reading.examined.bindings.in_file(reading.source)
    for one in names:
        at = places.position(one.span.start)
        assert places.offset(at) == one.span.start
        shown = hover(documents, types.HoverParams(of, at))
        if shown is None and one.symbol.kind not in SILENT:
            wrong.append(f"{one.span.text}, {one.symbol.kind}: no hover")
        if one.symbol.declared and not definition(documents, types.DefinitionParams(of, at)):
            wrong.append(f"{one.span.text}: not declared anywhere")
    assert not wrong
    assert len(names) > 100
    _values_have_their_dimensions(documents, uri)
    _names_can_be_others(documents, path, uri, [one for one in names if _is_own(one)])


def _is_own(one: Binding) -> bool:
    return one.is_declaration and one.symbol.kind in ("parameter", "node", "component", "stream")


def _values_have_their_dimensions(documents: OpenDocuments, uri: str) -> None:
    """Check the hover of each parameter by the dimension that is told, and that hints are told."""
    reading = documents.reading(uri)
    of, places = types.TextDocumentIdentifier(uri), documents.positions(reading.source)
    options = 0
    for declared in reading.syntax.every(ast.Param):
        dimension = reading.dimensions.get(declared.name.text)
        shown = hover(documents, types.HoverParams(of, places.position(declared.name.span.start)))
        if dimension is not None and shown is not None:
            assert isinstance(shown.contents, types.MarkupContent)
            assert dimension.in_words in shown.contents.value
            options += 1
    assert options
    whole = types.Range(types.Position(0, 0), types.Position(10**6, 0))
    assert all(hint.label for hint in value_hints(documents, types.InlayHintParams(of, whole)))


def _names_can_be_others(
    documents: OpenDocuments, path: Path, uri: str, names: list[Binding]
) -> None:
    """Check that a spec whose name is another one means the same: nothing new is wrong with it."""
    reading = documents.reading(uri)
    of, places = types.TextDocumentIdentifier(uri), documents.positions(reading.source)
    before = [one.message for one in reading.examined.diagnostics]
    for one in names[::EACH]:
        at = places.position(one.span.start)
        options = types.RenameParams(text_document=of, position=at, new_name="renamed_by_a_test")
        changes = rename(documents, options).changes or {}
        context = types.ReferenceContext(include_declaration=True)
        found = references(
            documents, types.ReferenceParams(text_document=of, position=at, context=context)
        )
        assert len(found) == sum(map(len, changes.values()))
        text = reading.source.text
        for edit in sorted(changes[uri], key=lambda edit: -places.offset(edit.range.start)):
            start, end = places.offset(edit.range.start), places.offset(edit.range.end)
            text = text[:start] + edit.new_text + text[end:]
        after = check_source(Source(str(path), text, path.parent)).diagnostics
        assert len(after) == len(before), one.symbol.name
