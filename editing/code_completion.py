"""What may be written next: the words that the grammar takes there, and the names that fit."""

from __future__ import annotations

import re

from lsprotocol import types

from qps.compiler.syntax.parse import declaration_start
from qps.editing.expected_names import wanted
from qps.editing.file_completion import file_prefix, files_for
from qps.editing.name_completion import offered_names
from qps.editing.open_documents import OpenDocuments
from qps.grammar.keywords import words_of
from qps.grammar.parsing import begun

_NAME = re.compile(r"(?:[^\W\d]\w*\.)*(?:[^\W\d]\w*)?\Z")
_USUAL, _SELDOM = "6", "7"
"""How words are put in order, behind the names."""
_USUAL_WORDS = frozenset([
    "param", "let", "component", "machine", "network", "node", "link", "topology", "stream",
    "traffic", "at", "over", "require", "rate", "propagation", "cpu", "expect", "source",
    "scenario", "if", "for", "each",
])  # fmt: skip
_MOST = 500


def completion(documents: OpenDocuments, params: types.CompletionParams) -> types.CompletionList:
    """Return what can stand at the cursor, what is likely first."""
    reading = documents.reading(params.text_document.uri)
    text, places = reading.source.text, documents.positions(reading.source)
    cursor = places.offset(params.position)
    line = text.rfind("\n", 0, cursor) + 1
    quoted = file_prefix(text[line:cursor]) if _is_quoted(text[line:cursor]) else None
    if quoted is not None:
        typed, endings = quoted
        at = places.between(cursor - len(typed), cursor)
        kind = types.CompletionItemKind.File
        files = [
            types.CompletionItem(label=f, kind=kind) for f in files_for(reading.source, endings)
        ]
        return _in_order(files, at)
    match = _NAME.search(text, line, cursor)
    start = cursor if match is None else match.start()
    if _is_quoted(text[line:start]):
        return types.CompletionList(is_incomplete=False, items=[])
    before = begun(text, declaration_start(text, start), start)
    typed = text[start:cursor]
    owner, _, _ = typed.rpartition(".")
    found: list[types.CompletionItem] = []
    context = wanted(before.tokens, text)
    if "NAME" in before.accepted or "LOAD" in before.accepted or context.is_certain:
        found += offered_names(reading, context, owner, start)
    if not owner:
        found += [_word(word) for one in sorted(before.accepted) for word in words_of(one)]
    return _in_order(found, places.between(start + len(owner) + bool(owner), cursor))


def _word(word: str) -> types.CompletionItem:
    order = _USUAL if word in _USUAL_WORDS else _SELDOM
    return types.CompletionItem(label=word, kind=types.CompletionItemKind.Keyword, sort_text=order)


def _in_order(found: list[types.CompletionItem], at: types.Range) -> types.CompletionList:
    """Return what is offered, each once, with its place in the text; what comes first wins."""
    items = {one.label: one for one in reversed(found)}.values()
    shown = sorted(items, key=lambda one: one.sort_text or "")[:_MOST]
    for number, one in enumerate(shown):
        one.sort_text = f"{number:03}"
        one.text_edit = types.TextEdit(at, one.label)
    return types.CompletionList(is_incomplete=len(items) > _MOST, items=shown)


def _is_quoted(line: str) -> bool:
    """Return whether a line ends within quotes or a comment."""
    rest = re.sub(r'"[^"]*"', "", line)
    return '"' in rest or "#" in rest
