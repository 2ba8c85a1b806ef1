"""Text to text: the one canonical layout of a spec.

The words of a spec, its comments, its units and its line breaks stay as they are written; spaces,
indentation, alignment, blank lines and the breaks around braces follow rules:

- a block that is written on several lines has its `{` at the end of a line and its `}` on a line of
  its own; a block on one line stays there as long as it fits into `WIDTH` characters;
- two spaces for each open block, two more for a line that goes on;
- what is written in two ways is written in one: cases stand in braces;
- one blank line at the most, none at the edges of blocks and of the file;
- neighbors of one kind are aligned: declarations and changes at `=`, blocks on one line at `{`,
  limits at their comparison, steps at `if`, columns at `->`, comments at `#`; unless that made a
  line longer than `WIDTH`.

The parser's own tokens are laid out, so that a new construct of the grammar needs nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.diagnostic import Outcome
from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax.parse import parse
from qps.compiler.syntax.spelling import in_one_spelling
from qps.grammar import parsing

WIDTH = 100
"""Characters of a line beyond which a block is no longer kept on one line."""

_TRIVIA = re.compile(r"\n|#[^\n]*|;")
_MARKS = {"REQUIRE": "COMPARE", "MODE": "COMPARE", "AT": "IF", "OBSERVE": "ARROW"}
"""At which token the lines of a block are aligned, by the word that the block starts with."""
_TIGHT = frozenset(["CIRCUMFLEX", "DOT", "RANGE"])
_OPERANDS = frozenset(["NAME", "NUMBER", "SIGN", "RPAR", "STRING"])


class _Piece(Struct, frozen=True, kw_only=True):
    """A token, and what stands between it and the token before."""

    kind: str
    text: str
    separated: bool  # a statement ended before it
    breaks: bool  # the end of a line stands before it
    trailing: str | None  # a comment at the end of the line before
    comments: tuple[tuple[bool, str], ...]  # on lines of their own: behind a blank line?, text
    blank: bool  # a blank line stands right before it
    spaced: bool  # a space stands before it


class _Line(Struct, frozen=True, kw_only=True):
    """A line of the result, before alignment."""

    text: str = ""
    comment: str | None = None  # behind the text
    kind: str = ""  # neighbors of one kind are aligned
    marks: tuple[tuple[str, int], ...] = ()  # at what, and where that stands in the text
    pieces: range = range(0)


def formatted(source: Source) -> Outcome[str]:
    """Return a spec's text in the canonical layout, or its syntax errors.

    The result has the same tokens, but for cases that get their braces, and the same comments in
    the same order; formatting it again changes nothing.
    """
    spelt = in_one_spelling(source)
    if any(diagnostic.is_error for diagnostic in parse(spelt).diagnostics):
        return Outcome(None, parse(source).diagnostics)
    before = parsing.parse(spelt.text).tokens
    pieces = _pieces(spelt.text, before)
    text = "".join(f"{line}\n" for line in _laid_out(pieces))
    if text == spelt.text:
        return Outcome(text, ())
    after = parsing.parse(text).tokens
    if _words(before) != _words(after) or _comments(pieces) != _comments(_pieces(text, after)):
        # It must never reach a file, and it is no mistake of the user.
        raise RuntimeError("the layout would change the meaning of the text")
    return Outcome(text, ())


def _words(tokens: Sequence[parsing.Token]) -> list[tuple[str, str]]:
    """Return what the syntax tree of a text is made of."""
    return [(t.type, "" if t.type == parsing.SEPARATOR else _word(t)) for t in tokens]


def _word(token: parsing.Token) -> str:
    """Return the text of a token; `certainty` is known by the blank before it, too."""
    text = token.text.strip()
    return " ".join(text.split()) if token.type in _TWO_WORDS else text


_TWO_WORDS = ("_ONE_OF", "_ONE_OF_STEPS")


def _comments(pieces: Sequence[_Piece]) -> list[str]:
    found: list[str] = []
    for piece in pieces:
        found += () if piece.trailing is None else (piece.trailing,)
        found += (comment for _, comment in piece.comments)
    return found


# -- reading ---------------------------------------------------------------------------------


def _pieces(text: str, tokens: Sequence[parsing.Token]) -> list[_Piece]:
    """Return the tokens of a text, each with what stands before it; the end last."""
    pieces: list[_Piece] = []
    end = 0
    separated = False
    for token in tokens:
        if token.type == parsing.SEPARATOR:
            separated = True
            continue
        before = text[end : token.start]
        pieces.append(_piece(token.type, _word(token), before, separated=separated, first=not end))
        end, separated = token.end, False
    return [*pieces, _piece("", "", text[end:] + "\n", separated=separated, first=not end)]


def _piece(kind: str, text: str, before: str, *, separated: bool, first: bool) -> _Piece:
    """Return a token with the blank lines and comments that stand before it."""
    ends = since = 0
    trailing: str | None = None
    comments: list[tuple[bool, str]] = []
    for match in _TRIVIA.finditer(before):
        found = match.group()
        if found == "\n":
            ends, since = ends + 1, since + 1
        elif found == ";":
            continue
        elif ends == 0 and not first:
            trailing = found.rstrip()
        else:
            comments.append((since > 1 and bool(comments or not first), found.rstrip()))
            since = 0
    spaced = before[-1:] in (" ", "\t", "\n")
    return _Piece(
        kind=kind,
        text=text,
        separated=separated,
        breaks=ends > 0,
        trailing=trailing,
        comments=tuple(comments),
        blank=since > 1,
        spaced=spaced,
    )


# -- laying out ------------------------------------------------------------------------------


def _laid_out(pieces: Sequence[_Piece]) -> list[str]:
    """Return the lines; blocks that make their lines too long are opened, the outermost first."""
    opened: frozenset[int] = frozenset()
    while True:
        blocks = _blocks(pieces, opened)
        lines = list(_lines(pieces, blocks, opened))
        too_long = _too_long(pieces, lines, blocks)
        if not too_long:
            return list(_aligned(lines))
        opened |= too_long


def _blocks(pieces: Sequence[_Piece], opened: frozenset[int]) -> dict[int, int]:
    """Return where the blocks that stand on several lines begin and end."""
    found: dict[int, int] = {}
    waiting: list[tuple[int, bool]] = []
    for index, piece in enumerate(pieces):
        if piece.breaks and waiting:
            waiting[-1] = (waiting[-1][0], True)
        if piece.kind == "LBRACE":
            waiting.append((index, index in opened))
        elif piece.kind == "RBRACE":
            start, several = waiting.pop()
            if several:
                found[start] = index
                waiting[-1:] = [(outer, True) for outer, _ in waiting[-1:]]
    return found


def _lines(
    pieces: Sequence[_Piece], blocks: Mapping[int, int], opened: frozenset[int]
) -> Iterator[_Line]:
    """Yield the lines, those of comments and the blank ones too."""
    ends = set(blocks.values())
    braces = _blocks(pieces, frozenset(range(len(pieces))))
    starts = [
        index
        for index, piece in enumerate(pieces)
        if index == 0
        or not piece.kind
        or piece.breaks
        or index - 1 in blocks
        or index in ends
        or (piece.separated and _innermost(index, braces) in opened)
    ]
    for start, end in zip(starts, [*starts[1:], len(pieces)], strict=True):
        first = pieces[start]
        around = [a for a, b in blocks.items() if a < start < b]
        begins = start - 1 in blocks
        goes_on = not (start == 0 or first.separated or begins or start in ends)
        # A comment before a closing brace belongs into the block.
        inside = "  " * (len(around) + (start in ends) + (goes_on and bool(first.kind)))
        for behind_blank, comment in first.comments:
            if behind_blank and not begins:
                yield _Line()
            yield _Line(text=inside + comment)
            begins = False
        if not first.kind:
            return
        if first.blank and not begins and start and start not in ends:
            yield _Line()
        indent = "  " * (len(around) + goes_on)
        line = _line(pieces[start:end], indent, _head(pieces, around))
        yield replace(line, comment=pieces[end].trailing, pieces=range(start, end))


def _innermost(index: int, blocks: Mapping[int, int]) -> int | None:
    """Return the block right around a place."""
    return max((start for start, end in blocks.items() if start < index < end), default=None)


def _head(pieces: Sequence[_Piece], around: Sequence[int]) -> str:
    """Return the word that starts the declaration around a place."""
    if not around:
        return ""
    index = max(around)
    while index and not (pieces[index].separated or pieces[index - 1].kind in ("LBRACE", "DOC")):
        index -= 1
    return pieces[index].kind


def _line(pieces: Sequence[_Piece], indent: str, head: str) -> _Line:
    """Lay out the tokens of one line."""
    text = indent
    marks: list[tuple[str, int]] = []
    nested = 0
    for index, piece in enumerate(pieces):
        text += _space(pieces, index) if index else ""
        if not nested and _is_mark(pieces, index, head) and piece.kind not in dict(marks):
            marks.append((piece.kind, len(text)))
        nested += (piece.kind in ("LPAR", "LBRACE")) - (piece.kind in ("RPAR", "RBRACE"))
        text += piece.text
    first = {"LINK": "NODE"}.get(pieces[0].kind, pieces[0].kind)
    # Only a whole statement that is alone on its line is aligned, or a whole block.
    alone = pieces[-1].kind == "RBRACE" or not any(piece.separated for piece in pieces[1:])
    return _Line(
        text=text, comment=None, kind=f"{indent}{head} {first}", marks=tuple(marks) if alone else ()
    )


def _is_mark(pieces: Sequence[_Piece], index: int, head: str) -> bool:
    """Return whether a token is one at which lines are aligned."""
    kind = pieces[index].kind
    if kind == "EQUAL":
        return all(piece.kind in ("NAME", "DOT") for piece in pieces[1:index])
    if kind == "LBRACE":
        return index + 1 < len(pieces)
    return kind == _MARKS.get(head)


def _space(pieces: Sequence[_Piece], index: int) -> str:
    """Return what stands between a token and the one before it on the same line."""
    before, piece = pieces[index - 1], pieces[index]
    if piece.separated:
        return "; " if piece.kind != "RBRACE" else " "
    if before.kind in _TIGHT or piece.kind in _TIGHT or before.kind == "LPAR":
        return ""
    if piece.kind in ("RPAR", "COMMA", "COLON"):
        return ""
    if piece.kind == "LPAR":
        # A call is tight, brackets behind an operator or a word of the language are not.
        return "" if before.kind == "NAME" and not piece.spaced else " "
    if "SLASH" in (before.kind, piece.kind):
        # Both readings are usual: `byte/packet`, and `a / b`.
        at = index if piece.kind == "SLASH" else index - 1
        around = pieces[at : at + 2]  # a line may end with a sign, and go on below it
        if any(one.spaced for one in around) or around[-1].kind == "LPAR":
            return " "
        return ""
    if before.kind == "MINUS" and (index == 1 or pieces[index - 2].kind not in _OPERANDS):
        return ""  # a sign
    return " "


def _too_long(
    pieces: Sequence[_Piece], lines: Sequence[_Line], blocks: Mapping[int, int]
) -> set[int]:
    """Return the first block on one line of each line that is too long."""
    found = (
        next((i for i in line.pieces if pieces[i].kind == "LBRACE" and i not in blocks), None)
        for line in lines
        if _length_of_block(pieces, line) > WIDTH
    )
    return {block for block in found if block is not None}


def _length_of_block(pieces: Sequence[_Piece], line: _Line) -> int:
    """Return how long a line is up to the end of its last block: a source behind it stays there."""
    ends = [index for index in line.pieces if pieces[index].kind == "RBRACE"]
    behind = pieces[ends[-1] : line.pieces.stop] if ends else ()
    return len(line.text) - (len(_line(behind, "", "").text) - 1 if behind else 0)


# -- aligning --------------------------------------------------------------------------------


def _aligned(lines: Sequence[_Line]) -> Iterator[str]:
    """Yield the text of the lines, with neighbors aligned."""
    found: list[_Line] = []
    for _, neighbors in groupby(lines, key=lambda line: line.kind if line.marks else id(line)):
        alike = list(neighbors)
        for mark in dict.fromkeys(mark for line in alike for mark, _ in line.marks):
            alike = _aligned_at(mark, alike)
        found += alike
    for has_comment, neighbors in groupby(found, key=lambda line: line.comment is not None):
        alike = list(neighbors)
        width = max(len(line.text) for line in alike)
        for line in alike:
            yield f"{line.text:<{width}}  {line.comment}" if has_comment else line.text


def _aligned_at(mark: str, lines: list[_Line]) -> list[_Line]:
    """Return lines with a mark in the same column, as they were where that makes one too long."""
    column = max(dict(line.marks).get(mark, 0) for line in lines)
    moved = [_moved(line, mark, column) for line in lines]
    return lines if any(len(line.text) > WIDTH for line in moved) else moved


def _moved(line: _Line, mark: str, column: int) -> _Line:
    """Return a line with what stands from a mark on moved to a column."""
    at = dict(line.marks).get(mark)
    if at is None:
        return line
    marks = tuple((m, a + (column - at if a >= at else 0)) for m, a in line.marks)
    return replace(line, text=line.text[:at].ljust(column) + line.text[at:], marks=marks)
