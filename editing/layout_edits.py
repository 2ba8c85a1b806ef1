"""A text in its one canonical layout, as an edit: what `qps fmt` would write."""

from __future__ import annotations

from lsprotocol import types

from qps.compiler.measure_renaming import with_current_names
from qps.compiler.syntax.format import formatted
from qps.editing.open_documents import OpenDocuments


def layout_edits(
    documents: OpenDocuments, params: types.DocumentFormattingParams
) -> list[types.TextEdit]:
    """Return the edit that lays a text out; none where it is so, or has syntax errors.

    Lines that stay at both ends are not touched, so that the cursor and marks stay where they are.
    """
    source = documents.source(params.text_document.uri)
    laid_out = formatted(with_current_names(source)).value
    if laid_out is None or laid_out == source.text:
        return []
    before, after = source.text.splitlines(keepends=True), laid_out.splitlines(keepends=True)
    first = 0
    while first < min(len(before), len(after)) and before[first] == after[first]:
        first += 1
    last = 0
    while last < min(len(before), len(after)) - first and before[-1 - last] == after[-1 - last]:
        last += 1
    start = sum(map(len, before[:first]))
    end = len(source.text) - sum(map(len, before[len(before) - last :]))
    text = "".join(after[first : len(after) - last])
    return [types.TextEdit(documents.positions(source).between(start, end), text)]
