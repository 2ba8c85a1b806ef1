"""What each word of a text is: semantic tokens, for colors that know what is meant.

The text is read word by word, so that one with mistakes has its colors, too; which words are
names, and of what, the checker says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsprotocol import types

from qps.compiler.check.names.bindings import Binding
from qps.compiler.check.names.declarations import keyword
from qps.compiler.syntax import ast
from qps.editing.legend import KINDS, MODIFIERS
from qps.editing.open_documents import OpenDocuments
from qps.editing.positions import Positions
from qps.grammar.keywords import keywords

_WORD = re.compile(
    r'(?P<documentation>"""(?s:.*?)(?:"""|\Z))|(?P<string>"[^"\n]*"?)|(?P<comment>#[^\n]*)'
    r"|(?P<number>\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
)
_KIND_OF = {
    "choice": "enumMember",
    "kind": "enumMember",
    "column": "enumMember",
    "formal": "parameter",
    "resource": "property",
    "thread": "property",
    "word": "property",
    "module": "namespace",
    **{
        one.presentation.symbol or keyword(one): one.presentation.color for one in ast.named_kinds()
    },
}
"""How symbols are colored, by their kinds: those of declarations by their presentations."""

Word = tuple[int, int, str, tuple[str, ...]]
"""From where to where, the kind, and its modifiers."""


def word_colors(
    documents: OpenDocuments, params: types.SemanticTokensParams
) -> types.SemanticTokens:
    """Return the words of a text with their kinds, as the protocol packs them."""
    reading = documents.reading(params.text_document.uri)
    names = reading.examined.bindings.in_file(reading.source)
    words = words_of(reading.source.text, names)
    return types.SemanticTokens(data=_packed(words, documents.positions(reading.source)))


def words_of(text: str, names: Iterable[Binding]) -> Iterator[Word]:
    """Yield the words of a text in their order."""
    named = {binding.span.start: binding for binding in names}
    known = keywords()
    for match in _WORD.finditer(text):
        kind = match.lastgroup or ""
        start, end = match.span()
        if kind == "documentation":
            yield start, end, "string", ("documentation",)
        elif kind != "name":
            yield start, end, kind, ()
        elif start in named:
            yield start, end, *_colored(named[start])
        elif match[0] in known:
            yield start, end, "keyword", ()


def _colored(binding: Binding) -> tuple[str, tuple[str, ...]]:
    """Return the kind of a name, and whether it is declared there, or never changes."""
    kind = binding.symbol.kind
    modifiers = [("declaration", binding.is_declaration), ("readonly", kind == "let")]
    return _KIND_OF.get(kind, "variable"), tuple(word for word, holds in modifiers if holds)


def _packed(words: Iterator[Word], places: Positions) -> list[int]:
    """Return words as the protocol packs them: five numbers each, from one to the next."""
    data: list[int] = []
    line = column = 0
    for start, end, kind, modifiers in words:
        for first, last in _lines(places.source.text, start, end):
            place = places.between(first, last)
            at = place.start
            flags = sum(1 << MODIFIERS.index(one) for one in modifiers)
            data += [
                at.line - line,
                at.character - column if at.line == line else at.character,
                place.end.character - at.character,
                KINDS.index(kind),
                flags,
            ]
            line, column = at.line, at.character
    return data


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a stretch that stand on one line each: tokens cannot go on."""
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        if stop > start:
            yield start, stop
        start = stop + 1
