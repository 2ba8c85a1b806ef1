"""What is written in two ways, in the one way that the language has: cases stand in braces."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qps.compiler.diagnostics.source import LARGEST_TEXT, Source
from qps.grammar import parsing

_COMMA = re.compile(r"(?:\s|#[^\n]*)*,")


def in_one_spelling(source: Source) -> Source:
    """Return a text with cases in braces, `{ average 3 ms; least 1 ms }`, and the rest as it is.

    A text that the grammar does not take stays, and one too long to be read.
    """
    if len(source.text) > LARGEST_TEXT:
        return source
    try:
        waiting: list[parsing.Piece] = [parsing.parse(source.text).tree]
    except parsing.UnexpectedError:
        return source
    text = source.text
    put: list[tuple[int, int, str]] = []
    while waiting:
        piece = waiting.pop()
        if not isinstance(piece, parsing.ParseTree):
            continue
        waiting += piece.children
        if piece.data == "bare_cases":
            put += _braces(text, piece)
    return source if not put else Source(source.label, _with(text, put), source.folder)


def in_braces(text: str, cases: parsing.ParseTree) -> str:
    """Return the stretch of a text that holds bare cases, with braces around them."""
    start = cases.start
    put = [(at - start, end - start, instead) for at, end, instead in _braces(text, cases)]
    return _with(text[start : cases.end], put)


def _braces(text: str, cases: parsing.ParseTree) -> Iterator[tuple[int, int, str]]:
    """Yield what puts cases in braces: where, and what stands there instead."""
    yield cases.start, cases.start, "{ "
    yield cases.end, cases.end, " }"
    each = [case for case in cases.children if isinstance(case, parsing.ParseTree)]
    for case in each[:-1]:
        comma = _COMMA.search(text, case.end)
        assert comma is not None, "the grammar has it there"
        yield comma.end() - 1, comma.end(), ";"


def _with(text: str, put: list[tuple[int, int, str]]) -> str:
    for start, end, instead in sorted(put, reverse=True):
        text = text[:start] + instead + text[end:]
    return text
