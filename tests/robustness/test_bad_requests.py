"""What no editor should send: each is answered, refused or nothing, and never a fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from qps.compiler.diagnostics.source import LARGEST_TEXT
from qps.editing.features import MISTAKES, OF_TEXTS
from qps.editing.messages import FeatureRequest, OpenText, TextDiagnostics
from qps.editing.open_documents import OpenDocuments
from qps.editing.worker_loop import answered

SPEC = 'users N in 1..9\nparam a = 3 ms source "🎉𝄞é"\nmachine m { cpu 1 core }\nlet b = a * 2 🎉'
TEXTS = {
    "nothing": "",
    "emoji": SPEC,
    "half": 'stream s { at web { call db { "',
    "not text": "param a = \x00 3\n\r\r\nlet b = \ud800\n",
    "brackets": "{(" * 400,
    "too long": "param a = 1\n" * (LARGEST_TEXT // 12 + 9),
}
URIS = (
    "untitled:one", "file:///nowhere/at/all.qps", "qps-std:/std.net.qps",
    "qps-std:/../../etc/passwd", "file://%ff/%00", "", ":::",
)  # fmt: skip
END = 2**31 - 1
PLACES = [(0, 0), (END, END), (1, END), (1, 24), (3, 15)]


def requested_of(uri: str, line: int, character: int) -> dict[str, object]:
    """Return all that can be asked of a place."""
    of, at = types.TextDocumentIdentifier(uri), types.Position(line, character)
    span = types.Range(at, types.Position(0, 3))  # also one that ends before it begins
    context = types.ReferenceContext(include_declaration=True)
    options = types.FormattingOptions(2, insert_spaces=True)
    return {
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: types.DocumentSymbolParams(of),
        types.TEXT_DOCUMENT_FORMATTING: types.DocumentFormattingParams(of, options),
        types.TEXT_DOCUMENT_COMPLETION: types.CompletionParams(of, at),
        types.TEXT_DOCUMENT_DEFINITION: types.DefinitionParams(of, at),
        types.TEXT_DOCUMENT_REFERENCES: types.ReferenceParams(
            context=context, text_document=of, position=at
        ),
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: types.DocumentHighlightParams(of, at),
        types.TEXT_DOCUMENT_PREPARE_RENAME: types.PrepareRenameParams(of, at),
        types.TEXT_DOCUMENT_RENAME: types.RenameParams(
            text_document=of, position=at, new_name="\ud800 x\n"
        ),
        types.TEXT_DOCUMENT_HOVER: types.HoverParams(of, at),
        types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionParams(
            of, span, types.CodeActionContext([])
        ),
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: types.SemanticTokensParams(of),
        types.TEXT_DOCUMENT_INLAY_HINT: types.InlayHintParams(of, span),
        MISTAKES: uri,
    }


def test_all_questions_are_here() -> None:
    assert OF_TEXTS | {MISTAKES} == set(requested_of("untitled:one", 0, 0))


@pytest.mark.parametrize("text", TEXTS)
def test_no_request_is_a_fault(text: str) -> None:
    documents, faults = OpenDocuments(), []
    for uri in URIS:
        documents.put(OpenText(uri, 1, TEXTS[text]))
        for line, character in PLACES if uri == URIS[0] else PLACES[:1]:
            for feature, params in requested_of(uri, line, character).items():
                one = FeatureRequest(number=1, feature=feature, uri=uri, version=1, params=params)
                found = answered(documents, one)
                if found.fault is not None:
                    faults.append(f"{uri}, {line}:{character}, {feature}: {found.fault}")
        documents.take(uri)
    assert not faults, "\n".join(faults)


def test_a_file_that_is_deleted_while_it_is_open_is_what_is_open(tmp_path: Path) -> None:
    used, spec = tmp_path / "used.qps", tmp_path / "spec.qps"
    used.write_text("param a = 3\n", encoding="utf-8")
    text = 'use "used.qps" as used\nusers N in 1..9\nlet b = used.a\n'
    spec.write_text(text, encoding="utf-8")
    documents = OpenDocuments()
    documents.put(OpenText(spec.as_uri(), 1, text))

    def result() -> list[str]:
        one = FeatureRequest(
            number=1, feature=MISTAKES, uri=spec.as_uri(), version=1, params=spec.as_uri()
        )
        found = answered(documents, one)
        assert isinstance(found.result, TextDiagnostics), found.fault
        return [one.message for one in found.result.found[spec.as_uri()] if one.code == "QPS0206"]

    assert result() == []
    spec.unlink()
    used.unlink()
    assert "does not exist" in result()[0]
    documents.put(OpenText(used.as_uri(), 1, "param a = 3\n"))
    assert result() == []  # it is there as long as it is open
