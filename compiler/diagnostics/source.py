"""Texts and places in them."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from pathlib import Path

from msgspec import Struct

LARGEST_TEXT = 400_000
"""Characters in a file beyond which it is refused."""


class Source(Struct, frozen=True, eq=False, dict=True):
    """A text that was read once; every span points into one.

    `label` is the name that people see: the path as they typed it, or `std.…`.
    `folder` is where the files that the text names are looked up; None where it may name none.
    `file` is what it was read from, links followed, where that is not its label below the folder.
    """

    label: str
    text: str
    folder: Path | None = None
    file: Path | None = None

    @cached_property
    def _line_starts(self) -> tuple[int, ...]:
        starts = [0]
        starts.extend(i + 1 for i, character in enumerate(self.text) if character == "\n")
        return tuple(starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both counted from 1, columns in characters."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return the text of a line, counted from 1, without its end."""
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")


class Span(Struct, frozen=True):
    """A half-open stretch of a source, in characters."""

    source: Source
    start: int
    end: int

    def __repr__(self) -> str:
        return f"Span({self.start}, {self.end})"  # not the whole text

    @property
    def text(self) -> str:
        """The text between start and end."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The line on which the span starts, counted from 1."""
        return self.source.position(self.start)[0]

    @property
    def place(self) -> str:
        """`file:line`, as people quote it."""
        return f"{self.source.label}:{self.line}"

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of another."""
        return Span(self.source, self.start, max(self.end, other.end))

    def holds(self, other: Span) -> bool:
        """Return whether another span begins within this one."""
        return self.source is other.source and self.start <= other.start < self.end
