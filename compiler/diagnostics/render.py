"""Diagnostics as people and programs read them: full, plain (one line each) and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any
from unicodedata import category, east_asian_width

from msgspec import Struct, to_builtins

from qps.compiler.diagnostics.diagnostic import Diagnostic, Label, Severity
from qps.compiler.diagnostics.former_names import former
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.diagnostics.visible_text import printable

__all__ = ["as_json", "as_view", "full", "plain", "printable", "summary"]

_RED, _YELLOW, _BLUE, _CYAN, _BOLD, _RESET = (
    "\x1b[1;31m",
    "\x1b[1;33m",
    "\x1b[1;34m",
    "\x1b[1;36m",
    "\x1b[1m",
    "\x1b[0m",
)
_WIDEST_LINE = 160
_IN_SIGHT = 130
_LINE_ENDS = re.compile(r"\s*\n\s*")


class LocationView(Struct, frozen=True, kw_only=True):
    """A place in a file; lines and columns count from 1."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class LabelView(LocationView, frozen=True, kw_only=True):
    """A place in a file and its message; lines and columns start at 1."""

    message: str


class EditView(LocationView, frozen=True, kw_only=True):
    """A place in a file, and its replacement text."""

    text: str


class FixView(Struct, frozen=True, kw_only=True):
    """A fix. Apply all of its edits together."""

    title: str
    edits: tuple[EditView, ...]


class DiagnosticView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A diagnostic. For some codes, `details` contains the numbers in its message."""

    code: str
    name: str
    severity: str
    message: str
    primary: LabelView | None
    secondary: tuple[LabelView, ...]
    notes: tuple[str, ...]
    hints: tuple[str, ...]
    fixes: tuple[FixView, ...] = ()
    details: dict[str, str | float] = {}

    mends = former("mends", "fixes")


class DiagnosticsView(Struct, frozen=True, kw_only=True):
    """Output of `qps check --format json`."""

    schema: str
    diagnostics: tuple[DiagnosticView, ...]


def _one_line(text: str) -> str:
    """Return a text in one line: what is quoted from a spec may hold several."""
    return _LINE_ENDS.sub(" ", printable(text))


def full(
    diagnostics: Sequence[Diagnostic], *, color: bool = False, width: int | None = None
) -> str:
    """Return each diagnostic with the source lines it is about and carets under them.

    For a terminal of a width, its sentences are wrapped.
    """
    return "\n".join(_full_one(diagnostic, width, color=color) for diagnostic in diagnostics)


def plain(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one line a diagnostic: `file:line:column: error[QPS0301]: message (hint)`."""
    return "".join(_plain_one(diagnostic) + "\n" for diagnostic in diagnostics)


def as_json(diagnostics: Iterable[Diagnostic]) -> str:
    """Return a JSON object with every diagnostic, spans as lines and columns from 1."""
    found = tuple(as_view(diagnostic) for diagnostic in diagnostics)
    view = DiagnosticsView(schema="qps/diagnostics/2", diagnostics=found)
    return json.dumps(to_builtins(view), indent=2) + "\n"


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
    return _one_line(head + "".join(f" (help: {hint})" for hint in diagnostic.hints))


def as_view(diagnostic: Diagnostic) -> DiagnosticView:
    """Return a diagnostic as a value that can be printed as JSON."""
    return DiagnosticView(
        code=diagnostic.code.id,
        name=diagnostic.code.slug,
        severity=diagnostic.code.severity.value,
        message=diagnostic.message,
        primary=None if diagnostic.primary is None else _label(diagnostic.primary),
        secondary=tuple(map(_label, diagnostic.secondary)),
        notes=diagnostic.notes,
        hints=diagnostic.hints,
        fixes=tuple(
            FixView(
                title=fix.title,
                edits=tuple(EditView(**_where(edit.span), text=edit.text) for edit in fix.edits),
            )
            for fix in diagnostic.fixes
        ),
        details=dict(diagnostic.details),
    )


def _label(label: Label) -> LabelView:
    return LabelView(**_where(label.span), message=label.message)


def _where(span: Span) -> dict[str, Any]:
    line, column = _start(span)
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.label,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }


def _start(span: Span) -> tuple[int, int]:
    return span.source.position(span.start)


def _full_one(diagnostic: Diagnostic, width: int | None, *, color: bool) -> str:
    tone = _RED if diagnostic.code.severity is Severity.ERROR else _YELLOW

    def paint(text: str, style: str) -> str:
        shown = _one_line(text)
        return f"{style}{shown}{_RESET}" if color else shown

    name = f"{diagnostic.code.severity.value}[{diagnostic.code.id}]"
    first, *rest = _lines(diagnostic.message, len(f"{name}: "), 2, width)
    lines = [
        f"{paint(name, tone)}: {paint(first, _BOLD)}",
        *(f"  {paint(one, _BOLD)}" for one in rest),
    ]
    labels = [] if diagnostic.primary is None else [(diagnostic.primary, "^", tone)]
    labels += [(label, "-", _BLUE) for label in diagnostic.secondary]
    gutter = max((len(str(label.span.line)) for label, _, _ in labels), default=0)
    arrow = "-->"
    for source, group in _by_source(labels):
        line, column = _start(group[0][0].span)
        lines.append(
            f"{' ' * gutter}{paint(arrow, _BLUE)} {_one_line(source.label)}:{line}:{column}"
        )
        lines.append(f"{' ' * gutter} {paint('|', _BLUE)}")
        lines += _excerpt(group, gutter, paint)
        arrow = ":::"
    margin = " " * gutter + " " + paint("=", _BLUE)
    said = [("note", note) for note in diagnostic.notes]
    said += [(paint("help", _CYAN), hint) for hint in diagnostic.hints]
    indent = gutter + len(" = note: ")
    for kind, text in said:
        first, *rest = _lines(text, indent, indent, width)
        lines += [f"{margin} {kind}: {first}", *(" " * indent + one for one in rest)]
    return "\n".join(lines) + "\n"


def _lines(text: str, first: int, indent: int, width: int | None) -> list[str]:
    """Return a text in the lines of a terminal: the first has a heading, the others an indent."""
    shown = _one_line(text)
    if width is None or first + _width(shown) <= width:
        return [shown]
    from textwrap import wrap  # noqa: PLC0415 - most output has no use for it

    head, rest = "x" * first, max(20, width)
    found = wrap(head + shown, rest, subsequent_indent=" " * indent, break_on_hyphens=False)
    return [found[0][first:], *(one[indent:] for one in found[1:])]


def _by_source(
    labels: list[tuple[Label, str, str]],
) -> list[tuple[Source, list[tuple[Label, str, str]]]]:
    """Group labels by their text, the primary one's text first."""
    groups: dict[int, list[tuple[Label, str, str]]] = {}
    for entry in labels:
        groups.setdefault(id(entry[0].span.source), []).append(entry)
    return [(group[0][0].span.source, group) for group in groups.values()]


def _excerpt(
    group: list[tuple[Label, str, str]], gutter: int, paint: Callable[[str, str], str]
) -> list[str]:
    """Return the numbered source lines of some labels, each with its marks below it."""
    ordered = sorted(group, key=lambda entry: (*_place(entry[0].span), -entry[0].span.start))
    bar = paint("|", _BLUE)
    lines: list[str] = []
    previous: int | None = None
    for (number, first), entries in groupby(ordered, key=lambda entry: _place(entry[0].span)):
        if previous is not None and number > previous + 1:
            lines.append(paint("...", _BLUE))
        previous = number
        marked = list(entries)
        text = _shown(marked[0][0].span.source.line(number), first)
        lines.append(f"{paint(str(number).rjust(gutter), _BLUE)} {bar} {text}")
        for label, mark, tone in marked:
            start, width = _mark(label.span, text, first)
            message = f" {label.message}" if label.message else ""
            lines.append(f"{' ' * gutter} {bar} {' ' * start}{paint(mark * width + message, tone)}")
    return lines


def _place(span: Span) -> tuple[int, int]:
    """Return the line of a span, and from where it is shown: not its start if that is far off."""
    line, column = _start(span)
    return line, 0 if column <= _IN_SIGHT else column - _IN_SIGHT // 2


def _shown(line: str, first: int) -> str:
    """Return a source line from a character on, cut where it is too long, tabs as blanks."""
    # Cut first: a line may hold a million characters.
    text = printable(line[first : first + _WIDEST_LINE + 1].replace("\t", " "))
    if first:
        text = "…" + text[1:]
    return text if len(text) <= _WIDEST_LINE else text[: _WIDEST_LINE - 1] + "…"


def _mark(span: Span, text: str, first: int) -> tuple[int, int]:
    """Return where the marks under a shown line start, and how wide they are, in columns."""
    line, column = _start(span)
    end_line, end_column = span.source.position(span.end)
    start = min(column - 1 - first, len(text))
    stop = end_column - 1 - first if end_line == line else len(text.rstrip())
    marked = text[start : max(start + 1, min(stop, len(text)))]
    return _width(text[:start]), max(1, _width(marked))


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(
        0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in "WF" else 1 for c in text
    )
