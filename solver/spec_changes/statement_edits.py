"""Edits that remove or add whole statements, and the lines that edits change."""

from __future__ import annotations

from collections.abc import Iterable

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.text_edits import TextEdit, edited
from qps.solver.answers.answer_parts import LineChange


def removal(span: Span) -> TextEdit:
    """Return the edit that removes a statement, with what separates it from others.

    A line on which it stands alone goes with it.
    """
    text, start, end = span.source.text, span.start, span.end
    behind = _skipped(text, end, " \t")
    before = len(text[:start].rstrip(" \t"))
    if text[behind : behind + 1] == ";":
        return TextEdit(start, _skipped(text, behind + 1, " \t"), "")
    if text[before - 1 : before] == ";":
        return TextEdit(len(text[: before - 1].rstrip(" \t")), end, "")
    is_line = text[before - 1 : before] in ("\n", "") and text[behind : behind + 1] in ("\n", "")
    return TextEdit(before, min(behind + 1, len(text)), "") if is_line else TextEdit(start, end, "")


def line_in_front(span: Span, statement: str) -> TextEdit:
    """Return the edit that writes a statement in front of another one, on a line of its own.

    That is so where the other one begins its line; else it stands before it on the same line.
    """
    text = span.source.text
    line = text.rfind("\n", 0, span.start) + 1
    indent = text[line : span.start]
    if indent.strip():
        return TextEdit(span.start, span.start, f"{statement}; ")
    return TextEdit(line, line, f"{indent}{statement}\n")


def line_behind(span: Span, statement: str) -> TextEdit:
    """Return the edit that writes a statement on the line behind another one."""
    end = span.source.text.find("\n", span.end)
    if end < 0:
        end = len(span.source.text)
        return TextEdit(end, end, f"\n{statement}\n")
    return TextEdit(end + 1, end + 1, f"{statement}\n")


def line_changes(text: str, edits: Iterable[TextEdit]) -> tuple[LineChange, ...]:
    r"""Return the lines that edits change, those that touch the same lines as one change.

    >>> line_changes("a\nb; c\nd\n", [TextEdit(2, 5, ""), TextEdit(7, 7, "x\n")])
    (LineChange(line=2, before='b; c', after='c'), LineChange(line=3, before='', after='x'))
    """
    groups: list[tuple[int, int, list[TextEdit]]] = []
    for one in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start, end = _lines_of(text, one)
        if groups and start < groups[-1][1]:
            first, last, own = groups[-1]
            groups[-1] = (first, max(last, end), [*own, one])
        else:
            groups.append((start, end, [one]))
    return tuple(
        LineChange(
            text.count("\n", 0, start) + 1,
            text[start:end].removesuffix("\n"),
            _within(text, start, end, own).strip("\n"),
        )
        for start, end, own in groups
    )


def _within(text: str, start: int, end: int, edits: list[TextEdit]) -> str:
    moved = [TextEdit(one.start - start, one.end - start, one.text) for one in edits]
    return edited(text[start:end], moved)


def _lines_of(text: str, edit: TextEdit) -> tuple[int, int]:
    """Return where the lines begin and end that an edit changes; none of what is inserted."""
    start = text.rfind("\n", 0, edit.start) + 1
    is_inserted = edit.start == edit.end and edit.text.endswith("\n") and edit.start == start
    if is_inserted or edit.text.startswith("\n"):
        return edit.start, edit.start
    if edit.end > edit.start and text[edit.end - 1] == "\n":
        return start, edit.end
    end = text.find("\n", edit.end)
    return start, len(text) if end < 0 else end + 1


def _skipped(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at
