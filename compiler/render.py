"""Diagnostics as people and programs read them: full, plain (one line each) and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from unicodedata import category

from qps.compiler.diagnostics import Diagnostic, Label, Severity
from qps.compiler.source import Source, Span

_RED, _YELLOW, _BLUE, _CYAN, _BOLD, _RESET = (
    "\x1b[1;31m",
    "\x1b[1;33m",
    "\x1b[1;34m",
    "\x1b[1;36m",
    "\x1b[1m",
    "\x1b[0m",
)
_WIDEST_LINE = 160


def printable(text: str) -> str:
    """Return a text without control characters: a spec must not drive the terminal.

    Each is replaced by one character, so that columns stay where they are.
    """
    return "".join(c if c == "\n" or category(c)[0] != "C" else "\ufffd" for c in text)


def full(diagnostics: Sequence[Diagnostic], *, color: bool = False) -> str:
    """Return each diagnostic with the source lines it is about and carets under them."""
    return "\n".join(_full_one(diagnostic, color=color) for diagnostic in diagnostics)


def plain(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one line a diagnostic: `file:line:column: error[QPS0301]: message (hint)`."""
    return "".join(_plain_one(diagnostic) + "\n" for diagnostic in diagnostics)


def as_json(diagnostics: Iterable[Diagnostic]) -> str:
    """Return a JSON object with every diagnostic, spans as lines and columns from 1."""
    found = [as_dict(diagnostic) for diagnostic in diagnostics]
    return json.dumps({"schema": "qps/diagnostics/1", "diagnostics": found}, indent=2) + "\n"


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the count of errors and warnings in words, or nothing.

    >>> summary([])
    ''
    """
    errors = sum(diagnostic.is_error for diagnostic in diagnostics)
    counts = ((errors, "error"), (len(diagnostics) - errors, "warning"))
    return ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for n, word in counts if n)


def _plain_one(diagnostic: Diagnostic) -> str:
    head = f"{diagnostic.code.severity.value}[{diagnostic.code.id}]: {diagnostic.message}"
    if diagnostic.primary is not None:
        line, column = _start(diagnostic.primary.span)
        head = f"{diagnostic.primary.span.source.label}:{line}:{column}: {head}"
    return printable(head + "".join(f" (help: {hint})" for hint in diagnostic.hints))


def as_dict(diagnostic: Diagnostic) -> dict[str, object]:
    """Return a diagnostic as JSON values."""
    return {
        "code": diagnostic.code.id,
        "name": diagnostic.code.slug,
        "severity": diagnostic.code.severity.value,
        "message": diagnostic.message,
        "primary": None if diagnostic.primary is None else _json_label(diagnostic.primary),
        "secondary": [_json_label(label) for label in diagnostic.secondary],
        "notes": list(diagnostic.notes),
        "hints": list(diagnostic.hints),
    }


def _json_label(label: Label) -> dict[str, object]:
    line, column = _start(label.span)
    end_line, end_column = label.span.source.position(label.span.end)
    return {
        "file": label.span.source.label,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "message": label.message,
    }


def _start(span: Span) -> tuple[int, int]:
    return span.source.position(span.start)


def _full_one(diagnostic: Diagnostic, *, color: bool) -> str:
    tone = _RED if diagnostic.code.severity is Severity.ERROR else _YELLOW

    def paint(text: str, style: str) -> str:
        shown = printable(text)
        return f"{style}{shown}{_RESET}" if color else shown

    head = paint(f"{diagnostic.code.severity.value}[{diagnostic.code.id}]", tone)
    lines = [f"{head}: {paint(diagnostic.message, _BOLD)}"]
    labels = [] if diagnostic.primary is None else [(diagnostic.primary, "^", tone)]
    labels += [(label, "-", _BLUE) for label in diagnostic.secondary]
    gutter = max((len(str(_last_line(label.span))) for label, _, _ in labels), default=0)
    arrow = "-->"
    for source, group in _by_source(labels):
        line, column = _start(group[0][0].span)
        lines.append(
            f"{' ' * gutter}{paint(arrow, _BLUE)} {printable(source.label)}:{line}:{column}"
        )
        lines.append(f"{' ' * gutter} {paint('|', _BLUE)}")
        lines += _excerpt(group, gutter, paint)
        arrow = ":::"
    margin = " " * gutter + " " + paint("=", _BLUE)
    lines += [f"{margin} note: {printable(note)}" for note in diagnostic.notes]
    lines += [f"{margin} {paint('help', _CYAN)}: {printable(hint)}" for hint in diagnostic.hints]
    return "\n".join(lines) + "\n"


def _last_line(span: Span) -> int:
    return span.line


def _by_source(
    labels: list[tuple[Label, str, str]],
) -> list[tuple[Source, list[tuple[Label, str, str]]]]:
    """Group labels by their text, the primary one's text first."""
    groups: dict[int, list[tuple[Label, str, str]]] = {}
    for entry in labels:
        groups.setdefault(id(entry[0].span.source), []).append(entry)
    return [(group[0][0].span.source, group) for group in groups.values()]


def _excerpt(group: list[tuple[Label, str, str]], gutter: int, paint: object) -> list[str]:
    """Return the numbered source lines of some labels, each with its marks below it."""
    assert callable(paint)
    ordered = sorted(group, key=lambda entry: (entry[0].span.line, -entry[0].span.start))
    bar = paint("|", _BLUE)
    lines: list[str] = []
    previous: int | None = None
    for number, entries in groupby(ordered, key=lambda entry: entry[0].span.line):
        if previous is not None and number > previous + 1:
            lines.append(paint("...", _BLUE))
        previous = number
        text = entries_source_line(entries_list := list(entries), number)
        lines.append(f"{paint(str(number).rjust(gutter), _BLUE)} {bar} {text}")
        for label, mark, tone in entries_list:
            start, width = _mark(label.span, text)
            message = f" {label.message}" if label.message else ""
            lines.append(f"{' ' * gutter} {bar} {' ' * start}{paint(mark * width + message, tone)}")
    return lines


def entries_source_line(entries: list[tuple[Label, str, str]], number: int) -> str:
    """Return the source line of some labels, cut where it is too long to read, tabs as blanks."""
    text = printable(entries[0][0].span.source.line(number).replace("\t", " "))
    return text if len(text) <= _WIDEST_LINE else text[: _WIDEST_LINE - 1] + "…"


def _mark(span: Span, text: str) -> tuple[int, int]:
    """Return where the marks under a line start, counted from 0, and how many there are."""
    line, column = _start(span)
    end_line, end_column = span.source.position(span.end)
    start = min(column - 1, len(text))
    stop = end_column - 1 if end_line == line else len(text.rstrip())
    return start, max(1, min(stop, len(text)) - start)
