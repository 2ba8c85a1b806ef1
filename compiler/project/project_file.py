"""The project file: which folder specs may read, what is ignored, allowed and accepted.

A spec comes from strangers, and so does a project file: it lets a spec read what lies below the
project file, links resolved, and nothing above it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath

from msgspec import Struct

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Code, Outcome, Sink
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.diagnostics.suggest import did_you_mean, shortened
from qps.compiler.project.project_location import (
    SECTION,
    SHARED,
    label_of,
    project_file,
    text_of,
    values_in,
)
from qps.compiler.project.project_tables import ProjectTable
from qps.compiler.project.review_rules import ACCEPTABLE, BY_NAME
from qps.compiler.project.toml_places import KeyPath, place_of, places_in
from qps.links import resolved_path


class Allowance(Struct, frozen=True, kw_only=True):
    """A warning that is switched off in a file, where the line says `text` (empty for anywhere)."""

    code: Code
    file: Path
    text: str
    reason: str
    span: Span


class Acceptance(Struct, frozen=True, kw_only=True):
    """What is accepted of a spec `until` a day, that day included: one of three.

    A `claim` may fail (empty for none); the `capacity` may decrease, to so many users at the
    lowest; or what a `rule` of a review reports, of one claim or, where none is named, of the file.
    """

    file: Path
    claim: str = ""
    capacity: int | None = None
    rule: str | None = None
    reason: str
    until: date
    span: Span


class Project(Struct, frozen=True, kw_only=True):
    """What a project file says; `root` is the folder that its specs may read."""

    source: Source
    file: Path
    root: Path
    ignored: tuple[str, ...] = ()
    warnings_are_errors: bool = False
    allowed: tuple[Allowance, ...] = ()
    accepted: tuple[Acceptance, ...] = ()
    review: Mapping[str, str] = {}
    """Levels of the rules of a review, where they are not the usual ones."""
    places: Mapping[KeyPath, Span] = {}
    """Where its tables and keys stand."""

    def place(self, *path: str) -> Span:
        """Return where a value stands, or would stand."""
        top = SECTION if self.file.name == SHARED else ()
        return place_of((*top, *path), self.places, self.source)

    def level(self, rule: str) -> str:
        """Return the level of a rule of a review: one of `LEVELS`."""
        return self.review.get(rule, BY_NAME[rule].level.value)

    def ignores(self, path: Path) -> bool:
        """Return whether folders are searched past a file."""
        own = resolved_path(path)
        if not self.ignored or not own.is_relative_to(self.file.parent):
            return False
        parts = PurePosixPath(own.relative_to(self.file.parent).as_posix()).parts
        return any(matches(parts, pattern) for pattern in self.ignored)


def project_of(folder: Path | None) -> Outcome[Project]:
    """Return the project that a folder lies in, none where there is none, or what is wrong."""
    sink = Sink()
    file = None if folder is None else project_file(folder)
    text = None if file is None else text_of(file, sink)
    if file is None or text is None:
        return sink.outcome(None)
    return sink.outcome(_Reading(Source(label_of(file), text, file.parent), file, sink).project())


def project_mark(folder: Path | None) -> str:
    """Return what distinguishes the project of a folder, empty for none."""
    file = None if folder is None else project_file(folder)
    text = None if file is None else text_of(file, Sink())
    if file is None or text is None:
        return ""
    return f"{file} {sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def matches(parts: tuple[str, ...], pattern: str) -> bool:
    """Return whether a file, or a folder that it lies in, is what a pattern names.

    >>> matches(("old", "a", "b.qps"), "old"), matches(("a", "b.qps"), "**/b.*")
    (True, True)
    >>> matches(("older", "b.qps"), "old"), matches(("a", "old", "b.qps"), "old")
    (False, False)
    """
    wanted = tuple(part for part in pattern.split("/") if part not in ("", "."))

    @cache
    def fits(at: int, of: int) -> bool:
        if of == len(wanted):
            return True  # what lies below a folder goes with it
        if wanted[of] == "**":
            return fits(at, of + 1) or (at < len(parts) and fits(at + 1, of))
        return at < len(parts) and fnmatchcase(parts[at], wanted[of]) and fits(at + 1, of + 1)

    return bool(wanted) and fits(0, 0)


class _Reading(Struct, frozen=True):
    """Reads the values of a project file; what is wrong with one takes no other away."""

    source: Source
    file: Path
    sink: Sink

    def project(self) -> Project | None:
        """Return what the file says, as far as it can be understood."""
        try:
            values: object = values_in(self.source.text)
        except (ValueError, RecursionError) as error:
            self._no_toml(error)
            return None
        top: KeyPath = ()
        if self.file.name == SHARED:
            top = SECTION
            for key in top:
                values = values.get(key) if isinstance(values, dict) else None
        places = places_in(self.source)

        def at(path: KeyPath) -> Span:
            return place_of((*top, *path), places, self.source)

        table = ProjectTable(file=self.file, sink=self.sink, key_path=(), values=values, at=at)
        folder = self.file.parent
        table.refuse_others("root", "ignore", "warnings-are-errors", "allow", "accept", "review")
        return Project(
            source=self.source,
            file=self.file,
            root=table.folder("root", folder),
            ignored=tuple(table.patterns("ignore")),
            warnings_are_errors=table.switch("warnings-are-errors"),
            allowed=tuple(table.entries("allow", _allowance)),
            accepted=tuple(table.entries("accept", _acceptance)),
            review=dict(table.levels("review")),
            places=places,
        )

    def _no_toml(self, error: Exception) -> None:
        problem = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        found = re.search(r"\(at line (\d+), column (\d+)\)", problem)
        span = Span(self.source, 0, 0)
        if found is not None:
            lines = self.source.text.split("\n")
            start = sum(len(line) + 1 for line in lines[: int(found[1]) - 1]) + int(found[2]) - 1
            start = min(start, len(self.source.text))
            span = Span(self.source, start, min(start + 1, len(self.source.text)))
        reason = re.sub(r"\s*\(at [^()]*\)$", "", problem).strip()
        reason = shortened(reason[:1].lower() + reason[1:])
        self.sink.report(
            codes.PROJECT_FILE,
            span,
            f"invalid TOML: {reason}",
            hint='write `key = value`, with quotes around text: `root = "."`',
        )


def _allowance(table: ProjectTable) -> Allowance:
    table.refuse_others("code", "file", "text", "reason")
    word = table.text("code", '"QPS0502"')
    code, why_not = warning_called(word)
    if code is None:
        table.wrong("code", *why_not)
    text = "" if table.value("text") is None else table.text("text", '"of the phone"')
    return Allowance(
        code=code,
        file=table.path("file", '"specs/app.qps"'),
        text=text,
        reason=table.text("reason", '"why this is as it is"'),
        span=table.at(table.key_path),
    )


def _acceptance(table: ProjectTable) -> Acceptance:
    table.refuse_others("file", "claim", "capacity", "rule", "reason", "until")
    rule = _acceptable_rule(table)
    until = table.value("until")
    example = "write the last day without quotes: `until = 2027-03-31`"
    if until is None:
        table.wrong(None, "`until` is missing", example)
    if not isinstance(until, date) or isinstance(until, datetime):
        table.wrong("until", "`until` must be a date", example)
    capacity = table.value("capacity")
    if capacity is None:
        is_named = rule is None or table.value("claim") is not None
        claim = table.text("claim", '"promise"') if is_named else ""
    else:
        claim = ""
        _refuse_other_capacities(table, capacity)
    return Acceptance(
        file=table.path("file", '"specs/app.qps"'),
        claim=claim,
        capacity=capacity if isinstance(capacity, int) else None,
        rule=rule,
        reason=table.text("reason", '"why it fails, and who fixes it"'),
        until=until,
        span=table.at(table.key_path),
    )


def _acceptable_rule(table: ProjectTable) -> str | None:
    """Return the rule of a review that an entry is about, None where it is about none."""
    if table.value("rule") is None:
        return None
    rule = table.text("rule", '"claim-loosened"')
    if rule not in ACCEPTABLE:
        near = did_you_mean(rule, ACCEPTABLE) or f"rules are {', '.join(ACCEPTABLE)}"
        unknown = f"unknown rule `{shortened(rule)}`"
        of_files = f"rule `{rule}` is about project files and cannot be accepted"
        table.wrong("rule", of_files if rule in BY_NAME else unknown, near)
    return rule


def _refuse_other_capacities(table: ProjectTable, capacity: object) -> None:
    example = "write the lowest accepted capacity in users: `capacity = 1300`"
    if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 0:
        table.wrong("capacity", "`capacity` must be a whole number of users", example)
    if table.value("claim") is not None or table.value("rule") is not None:
        hint = "write two entries, each with a reason"
        table.wrong("capacity", "one entry accepts a capacity or a claim, not both", hint)


def warning_called(word: str) -> tuple[Code | None, tuple[str, str]]:
    """Return the warning of a code or name that can be switched off; else why not, and a hint."""
    code = _CODES.get(word)
    if code is None:
        known = [one.id for one in _ALLOWED.values()] if word.startswith("QPS") else list(_ALLOWED)
        hint = did_you_mean(word, known) or "`qps check` prints the code of each warning"
        return None, (f"unknown warning `{shortened(word)}`", hint)
    if code.slug not in _ALLOWED:
        kind = "a warning about a result" if code in codes.OF_ANSWERS else "an error"
        kind = "about exceptions themselves" if code == codes.UNUSED_EXCEPTION else kind
        return None, (f"`{word}` is {kind} and cannot be switched off", "fix its cause")
    return code, ("", "")


_CODES: Mapping[str, Code] = {
    **codes.FORMER_SLUGS,
    **{name: code for code in codes.ALL for name in (code.id, code.slug)},
}
_ALLOWED: Mapping[str, Code] = {
    code.slug: code
    for code in codes.WARNINGS
    if code not in (*codes.OF_ANSWERS, codes.UNUSED_EXCEPTION)
}
