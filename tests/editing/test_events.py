"""Events of a stream in an editor: where they are named, their outline, colors and layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from browsers.editor import marked
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.editing.hover import hover
from qps.editing.layout_edits import layout_edits
from qps.editing.legend import KINDS
from qps.editing.messages import OpenText
from qps.editing.open_documents import OpenDocuments
from qps.editing.outline import outline
from qps.editing.references import definition, references
from qps.editing.semantic_tokens import word_colors
from qps.editing.symbol_renaming import rename

SPEC = """\
users N in 1..100
param hits = 85 % in 0..100 %
machine server { cpu 4 core }
network inside { propagation 0.1 ms }
component parse { cpu 1 ms/request }
component read { cpu 2 ms/request }
topology { node web, db = server; link lan = inside between web, db }
stream page in all {
  traffic N * 1 request/s
  event hit = hits
  at web {
    not hit: { call db { read } }
    one of { hit: parse; else: read }
  }
}
"""
REQUESTED = (
    ("event hi‸t = hits", "where it is declared"),
    ("not hi‸t: {", "where it does not happen"),
    ("one of { hi‸t:", "where it is one of two alternatives"),
)
LINES = [9, 11, 12]
"""The lines that name the event, from 0."""


def opened(
    folder: Path, text: str = SPEC
) -> tuple[OpenDocuments, str, types.TextDocumentIdentifier]:
    documents, uri = OpenDocuments(), (folder / "site.qps").as_uri()
    documents.put(OpenText(uri, 1, text))
    return documents, uri, types.TextDocumentIdentifier(uri)


@pytest.mark.parametrize(
    "place", [place for place, _ in REQUESTED], ids=[name for _, name in REQUESTED]
)
def test_an_event_is_known_wherever_it_is_named(tmp_path: Path, place: str) -> None:
    text, at = marked(SPEC.replace(place.replace("‸", ""), place))
    documents, uri, of = opened(tmp_path, text)
    shown = hover(documents, types.HoverParams(of, at))
    assert shown is not None
    assert isinstance(shown.contents, types.MarkupContent)
    assert "**hit**, an event" in shown.contents.value
    assert "**0.85**" in shown.contents.value
    (found,) = definition(documents, types.DefinitionParams(of, at))
    assert (found.range.start.line, found.range.start.character) == (LINES[0], 8)
    context = types.ReferenceContext(include_declaration=True)
    all_of_it = references(documents, types.ReferenceParams(context, of, at))
    assert [one.range.start.line for one in all_of_it] == LINES
    edits = (rename(documents, types.RenameParams(of, at, "cached")).changes or {})[uri]
    assert [one.range.start.line for one in edits] == LINES
    assert {one.new_text for one in edits} == {"cached"}


@pytest.mark.parametrize("name", ["web", "hits", "page"])
def test_an_event_is_not_given_a_name_that_is_taken(tmp_path: Path, name: str) -> None:
    text, at = marked(SPEC.replace("event hit", "event ‸hit"))
    documents, _, of = opened(tmp_path, text)
    with pytest.raises(QpsError, match="is declared already"):
        rename(documents, types.RenameParams(of, at, name))


def test_the_outline_has_events_in_their_stream(tmp_path: Path) -> None:
    documents, _, of = opened(tmp_path)
    (stream,) = [
        one for one in outline(documents, types.DocumentSymbolParams(of)) if one.name == "page"
    ]
    inside = [(one.name, one.kind, one.detail) for one in stream.children or []]
    assert inside == [
        ("hit", types.SymbolKind.Event, "hits"),
        ("web", types.SymbolKind.Field, None),
    ]


def test_events_have_a_color_of_their_own(tmp_path: Path) -> None:
    documents, _, of = opened(tmp_path)
    data = word_colors(documents, types.SemanticTokensParams(of)).data
    colored, line, column = [], 0, 0
    for down, right, length, kind, _ in zip(*[iter(data)] * 5, strict=True):
        line, column = line + down, right if down else column + right
        word = SPEC.splitlines()[line][column : column + length]
        colored.append((line, word, KINDS[kind]))
    assert [(line, "hit", "event") for line in LINES] == [one for one in colored if one[1] == "hit"]
    assert (LINES[0], "event", "keyword") in colored
    assert (LINES[1], "not", "keyword") in colored


def test_the_layout_of_events_is_that_of_fmt(tmp_path: Path) -> None:
    uneven = SPEC.replace("event hit = hits", "event   hit=hits").replace("not hit:", "not  hit :")
    documents, _, of = opened(tmp_path, uneven)
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = layout_edits(documents, types.DocumentFormattingParams(of, options))
    lines = uneven.splitlines(keepends=True)
    for edit in sorted(edits, key=lambda one: -one.range.start.line):
        start, end = edit.range.start, edit.range.end
        before, behind = lines[start.line][: start.character], lines[end.line][end.character :]
        lines[start.line : end.line + 1] = (before + edit.new_text + behind).splitlines(
            keepends=True
        )
    assert "  event hit = hits\n" in lines
    assert any("not hit: {" in line for line in lines)
