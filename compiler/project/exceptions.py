"""Warnings that are switched off at a place, with a reason: by a comment, or in a project file.

`# allow QPS0502: the phone comes next year` stands at the end of the line that is warned of, or on
a line of its own above it. What nothing needs any more is reported, where the file is checked
itself (as a module of another one it may well be warned of less).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Code, Diagnostic, Severity, Sink
from qps.compiler.diagnostics.fixits import removal_hint
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.project.project_file import Acceptance, Allowance, Project, warning_called
from qps.links import resolved_path

_PIECE = re.compile(r'"""(?:.|\n)*?(?:"""|\Z)|"[^"\n]*"?|#[^\n]*')
"""Texts, in which a comment is none, and comments."""
_ALLOW = re.compile(r"#\s*allow\s+(?P<code>QPS\w*)(?P<rest>.*)")
_HINT = "add a reason, `# allow QPS0502: why`, on the line of the warning or above it"


class _Comment(Struct, frozen=True):
    """A comment that switches off a warning on a line."""

    code: Code
    line: int
    span: Span


class AllowedWarning(Struct, frozen=True, kw_only=True):
    """A comment that switches a warning off, the text of the line that it is about, and why."""

    code: Code
    line_text: str
    reason: str
    span: Span


def allowed_in(source: Source) -> tuple[AllowedWarning, ...]:
    """Return the comments of a text that switch a warning off."""
    return tuple(
        AllowedWarning(
            code=one.code,
            line_text=" ".join(source.line(one.line).partition("#")[0].split()),
            reason=one.span.text.partition(":")[2].strip(),
            span=one.span,
        )
        for one in _comments(source, Sink())
    )


def without_allowed(
    found: Iterable[Diagnostic], main: Source, sources: Iterable[Source], project: Project | None
) -> tuple[Diagnostic, ...]:
    """Return what is left of diagnostics of a spec once all that is allowed is taken away.

    `sources` are the texts that it was read from, `main` its own. Errors stay as they are, and
    what is wrong with a comment is one; warnings are errors where the project says so.
    """
    findings = tuple(found)
    sink = Sink()
    comments = [one for source in dict.fromkeys(sources) for one in _comments(source, sink)]
    if any(one.is_error for one in (*findings, *sink.found)):
        return (*findings, *sink.found)
    used = set[Span]()
    left = [one for one in findings if not _is_allowed(one, comments, project, used)]
    sink.add_all(left)
    _warn_unused(main, comments, project, used, sink)
    return with_project_severity(sink.found, project)


def with_project_severity(
    found: Iterable[Diagnostic], project: Project | None
) -> tuple[Diagnostic, ...]:
    """Return diagnostics with the severity in a project, where warnings may be errors."""
    if project is None or not project.warnings_are_errors:
        return tuple(found)
    return tuple(_as_error(one, project) for one in found)


def without_file(project: Project) -> tuple[Diagnostic, ...]:
    """Return which exceptions of a project are about files that are not there."""
    sink = Sink()
    entries: tuple[Allowance | Acceptance, ...] = (*project.allowed, *project.accepted)
    for entry in entries:
        of_a_change = isinstance(entry, Acceptance) and entry.rule is not None
        if not of_a_change and not entry.file.is_file():
            sink.report(
                codes.UNUSED_EXCEPTION,
                entry.span,
                f"file `{shortened(entry.file.name)}` does not exist",
                hint="correct the name, or remove this entry",
            )
    return with_project_severity(sink.found, project)


def _comments(source: Source, sink: Sink) -> Iterator[_Comment]:
    """Yield the comments of a text that switch something off; report those that cannot."""
    if source.folder is None and source.label.startswith("std."):
        return
    if "allow" not in source.text:
        return
    for piece in _PIECE.finditer(source.text):
        wanted = _ALLOW.fullmatch(piece[0].rstrip())
        if wanted is None:
            continue
        span = Span(source, piece.start(), piece.start() + len(piece[0].rstrip()))
        code, why_not = warning_called(wanted["code"])
        reason = wanted["rest"].removeprefix(":").strip()
        if code is None:
            sink.report(codes.ALLOWANCE, span, why_not[0], hint=why_not[1])
        elif not reason or not wanted["rest"].startswith(":"):
            sink.report(codes.ALLOWANCE, span, "this `allow` comment has no reason", hint=_HINT)
        else:
            yield _Comment(code, _line_meant(source, span), span)


def _line_meant(source: Source, span: Span) -> int:
    """Return the line that a comment is about: its own, or the next with something on it."""
    line, column = source.position(span.start)
    if source.line(line)[: column - 1].strip():
        return line
    last, _ = source.position(len(source.text))
    for below in range(line + 1, last + 1):
        text = source.line(below).strip()
        if text and not text.startswith("#"):
            return below
    return line


def _is_allowed(
    one: Diagnostic, comments: Sequence[_Comment], project: Project | None, used: set[Span]
) -> bool:
    if one.primary is None:
        return False
    span = one.primary.span
    line, _ = span.source.position(span.start)
    is_allowed = False
    for comment in comments:
        if (comment.code, comment.line) == (one.code, line) and comment.span.source is span.source:
            used.add(comment.span)
            is_allowed = True
    for entry in () if project is None else project.allowed:
        is_there = entry.code == one.code and entry.file == file_of(span.source)
        if is_there and entry.text in span.source.line(line):
            used.add(entry.span)
            is_allowed = True
    return is_allowed


def accepted_in(source: Source, project: Project | None) -> tuple[Acceptance, ...]:
    """Return what a project lets fail of a spec."""
    own = file_of(source)
    entries = () if project is None else project.accepted
    return tuple(
        entry for entry in entries if own is not None and entry.file == own and entry.rule is None
    )


def file_of(source: Source) -> Path | None:
    """Return the file that a text was read from."""
    if source.file is not None:
        return source.file
    return None if source.folder is None else resolved_path(source.folder / Path(source.label).name)


def _warn_unused(
    main: Source,
    comments: Sequence[_Comment],
    project: Project | None,
    used: set[Span],
    sink: Sink,
) -> None:
    for comment in comments:
        if comment.span.source is main and comment.span not in used:
            _unused(comment.code, comment.span, sink)
    entries: Sequence[Allowance] = () if project is None else project.allowed
    for entry in entries:
        if entry.file == file_of(main) and entry.span not in used:
            _unused(entry.code, entry.span, sink)


def _unused(code: Code, span: Span, sink: Sink) -> None:
    sink.report(
        codes.UNUSED_EXCEPTION,
        span,
        f"{code.id} is allowed here but does not occur",
        hint=removal_hint(span, "remove this, or move it to the line of the warning"),
    )


def _as_error(one: Diagnostic, project: Project) -> Diagnostic:
    if one.is_error:
        return one
    note = f"warnings are errors here, set in {project.source.label}"
    code = replace(one.code, severity=Severity.ERROR)
    return replace(one, code=code, notes=(*one.notes, note))
