"""Comments of a spec by their place: the lines right above something, and what is behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from qps.reports.text.systems.updates.evidence import Evidence, evidence_of

_TEXTS = re.compile(r'"[^"\n]*"')


class CommentLine(Struct, frozen=True):
    """A line that is a comment: its text without the sign, and where the line has it."""

    text: str
    start: int
    end: int


def comments_above(text: str, at: int) -> Sequence[CommentLine]:
    """Return the comment lines right above the line of a place, from the top."""
    found: list[CommentLine] = []
    line = text.rfind("\n", 0, at) + 1
    while line:
        above = text.rfind("\n", 0, line - 1) + 1
        comment = _comment(text, above, line - 1)
        if comment is None:
            break
        found.append(comment)
        line = above
    return found[::-1]


def comment_lines(text: str, start: int, end: int) -> Iterator[CommentLine]:
    """Yield the lines of a stretch that are comments."""
    line = text.rfind("\n", 0, start) + 1
    while line < end:
        behind = text.find("\n", line)
        behind = len(text) if behind < 0 else behind
        comment = _comment(text, line, behind)
        if comment is not None:
            yield comment
        line = behind + 1


def _comment(text: str, start: int, end: int) -> CommentLine | None:
    line = text[start:end]
    bare = line.lstrip(" \t")
    if not bare.startswith("#"):
        return None
    return CommentLine(bare[1:].strip(), start + len(line) - len(bare), end)


def evidence_above(text: str, at: int, kind: str, begins: str = "") -> Evidence | None:
    """Return the evidence in the comment right above a place, of one line or several."""
    lines = comments_above(text, at)
    for first in range(len(lines) - 1, -1, -1):
        for last in range(len(lines), first, -1):
            joined = " ".join(line.text for line in lines[first:last])
            fields = evidence_of(kind, joined) if joined.startswith(begins) else None
            if fields is not None:
                start, end = lines[first].start, lines[last - 1].end
                return Evidence(kind=kind, text=joined, start=start, end=end, fields=fields)
    return None


def evidence_behind(text: str, at: int, kind: str) -> Evidence | None:
    """Return the evidence in the comment at the end of the line of a place."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    start = text.rfind("\n", 0, at) + 1
    line = _TEXTS.sub(lambda one: " " * len(one[0]), text[start:end])
    sign = line.find("#")
    if sign < 0:
        return None
    comment = text[start + sign + 1 : end].strip()
    fields = evidence_of(kind, comment)
    if fields is None:
        return None
    return Evidence(kind=kind, text=comment, start=start + sign, end=end, fields=fields)
