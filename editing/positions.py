"""Places in a text as editors count them: lines from 0, columns in units of an encoding.

The protocol counts columns in UTF-16 unless both sides agree on something else; spans count
characters. Lines are those of the text with line feeds alone, which is what editors show.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from lsprotocol import types

from qps.compiler.diagnostics.source import Source, Span

_ASTRAL = 0xFFFF


class Positions:
    """The places of one text, in one encoding."""

    def __init__(self, source: Source, encoding: str) -> None:
        self.source = source
        text = source.text
        self._lines = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
        wide = [] if text.isascii() else [at for at, one in enumerate(text) if not one.isascii()]
        extra = [_units(text[at], encoding) - 1 for at in wide]
        shifts = [(at, more) for at, more in zip(wide, extra, strict=True) if more]
        self._wide = [at for at, _ in shifts]
        self._before = [0, *accumulate(more for _, more in shifts)]

    def position(self, offset: int) -> types.Position:
        """Return the line and the column of an offset in characters."""
        offset = max(0, min(offset, len(self.source.text)))
        line = bisect_right(self._lines, offset) - 1
        start = self._lines[line]
        return types.Position(line, self._unit(offset) - self._unit(start))

    def range(self, span: Span) -> types.Range:
        """Return where a span starts and ends."""
        return self.between(span.start, span.end)

    def between(self, start: int, end: int) -> types.Range:
        """Return the range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """Return the offset of a place; of one behind the end of its line, that end."""
        if position.line >= len(self._lines):
            return len(self.source.text)
        start = self._lines[max(0, position.line)]
        last = position.line + 1 >= len(self._lines)
        end = len(self.source.text) if last else self._lines[position.line + 1] - 1
        wanted = self._unit(start) + max(0, position.character)
        # Units grow with offsets: the last offset that is not beyond the one that is requested.
        found = bisect_right(range(start, end), wanted, key=self._unit) + start - 1
        return end if end <= start or self._unit(end) <= wanted else max(start, found)

    def _unit(self, offset: int) -> int:
        """Return how many units of the encoding stand before an offset."""
        return offset + self._before[bisect_left(self._wide, offset)]


def _units(character: str, encoding: str) -> int:
    """Return how many units of an encoding a character takes."""
    if encoding == types.PositionEncodingKind.Utf8.value:
        return len(character.encode("utf-8", "surrogatepass"))
    if encoding == types.PositionEncodingKind.Utf32.value:
        return 1
    return 2 if ord(character) > _ASTRAL else 1
