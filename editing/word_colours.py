"""What each word of a text is: semantic tokens, for colours that know what is meant.

The text is read word by word, so that one with mistakes has its colours, too; which words are
names, and of what, is told by the declarations that could be made out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.walking import nodes_in
from qps.editing.desk import Desk
from qps.editing.legend import KINDS, MODIFIERS
from qps.editing.positions import Positions
from qps.grammar.keywords import keywords

_WORD = re.compile(
    r'(?P<documentation>"""(?s:.*?)(?:"""|\Z))|(?P<string>"[^"\n]*"?)|(?P<comment>#[^\n]*)'
    r"|(?P<number>\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
)
_KIND_OF: dict[type, str] = {
    ast.Unit: "type",
    ast.Users: "variable",
    ast.Group: "enum",
    ast.Option: "enum",
    ast.Param: "variable",
    ast.Kinds: "enum",
    ast.Let: "variable",
    ast.Formal: "parameter",
    ast.Func: "function",
    ast.Machine: "class",
    ast.ResourceItem: "property",
    ast.Network: "interface",
    ast.Component: "method",
    ast.Node: "struct",
    ast.Link: "struct",
    ast.Stream: "event",
    ast.Measure: "property",
    ast.Trace: "event",
}

Word = tuple[int, int, str, tuple[str, ...]]
"""From where to where, the kind, and its modifiers."""


def word_colours(desk: Desk, params: types.SemanticTokensParams) -> types.SemanticTokens:
    """Return the words of a text with their kinds, as the protocol packs them."""
    reading = desk.reading(params.text_document.uri)
    words = words_of(reading.source.text, reading.syntax)
    return types.SemanticTokens(data=_packed(words, desk.positions(reading.source)))


def words_of(text: str, syntax: ast.Module) -> Iterator[Word]:
    """Yield the words of a text in their order."""
    named = dict(_named(syntax))
    known = keywords()
    for match in _WORD.finditer(text):
        kind = match.lastgroup or ""
        start, end = match.span()
        if kind == "documentation":
            yield start, end, "string", ("documentation",)
        elif kind != "name":
            yield start, end, kind, ()
        elif start in named:
            yield start, end, *named[start]
        elif match[0] in known:
            yield start, end, "keyword", ()


def _named(syntax: ast.Module) -> Iterator[tuple[int, tuple[str, tuple[str, ...]]]]:
    """Yield where names stand, and of what they are."""
    declared = {one.name.text: _KIND_OF[type(one)] for one in _declarations(syntax)}
    for node in nodes_in(syntax):
        if isinstance(node, ast.Name):
            at = node.span.start
            for index, part in enumerate(node.parts):
                if not index:
                    yield at, (declared.get(part, "property"), ())
                elif not node.span.source.text.startswith(part, at):
                    break  # a part that the language has put there
                else:
                    yield at, (declared.get(node.text, "property"), ())
                at += len(part) + 1
    for node in nodes_in(syntax):
        if isinstance(node, ast.Reference) and node.is_unit:
            yield node.name.span.start, ("type", ())
        elif isinstance(node, ast.Quantity) and isinstance(node.unit, ast.Reference):
            yield node.unit.name.span.start, ("type", ())
        elif isinstance(node, ast.Call) and len(node.name.parts) == 1:
            yield node.name.span.start, ("function", ())
    for one in _declarations(syntax):
        modifiers = ("declaration", "readonly") if isinstance(one, ast.Let) else ("declaration",)
        yield one.name.span.start, (_KIND_OF[type(one)], modifiers)


_Declared = ast.Shared | ast.Formal | ast.ResourceItem


def _declarations(syntax: ast.Module) -> Iterator[_Declared]:
    for node in nodes_in(syntax):
        if isinstance(node, _Declared) and type(node) in _KIND_OF:
            yield node


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
