"""The project file: which folder specs may read, what is ignored, allowed and accepted.

It is looked for from the folder of a spec upwards: `qps.toml`, or a pyproject.toml with
`[tool.qps]`. The nearest one counts. Nobody looks above the top of a repository, nor in or above
a folder that everybody may write (such as /tmp), where somebody else could have put one. A spec
comes from strangers, and so does a project file: it lets a spec read what lies below the project
file, links resolved, and nothing above it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import NoReturn, TypeVar

from msgspec import Struct

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Code, Outcome, Sink
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.diagnostics.suggest import did_you_mean, shortened
from qps.compiler.project.review_rules import ACCEPTABLE, BY_NAME, LEVELS, RULES
from qps.compiler.project.toml_places import Way, place_of, places_in
from qps.links import real_path, resolved_path

OWN = "qps.toml"
SHARED = "pyproject.toml"
_SECTION = ("tool", "qps")
_NAMES_SECTION = re.compile(rb"^[ \t]*\[[ \t]*[\"']?tool[\"']?[ \t]*[.\]]", re.MULTILINE)
_LARGEST = 1_000_000
_MOST_PARTS = 50
_TOO_MANY_PARTS = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{_MOST_PARTS}}}"""
)
"""Keys of which the library that reads TOML makes all beginnings: the square of their length."""
_MOST_ENTRIES = 1_000
_LONGEST_PATTERN = 200

_Entry = TypeVar("_Entry")


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
    places: Mapping[Way, Span] = {}
    """Where its tables and keys stand."""

    def place(self, *way: str) -> Span:
        """Return where a value stands, or would stand."""
        top = _SECTION if self.file.name == SHARED else ()
        return place_of((*top, *way), self.places, self.source)

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
    text = None if file is None else _text(file, sink)
    if file is None or text is None:
        return sink.outcome(None)
    return sink.outcome(_Reading(Source(_label(file), text, file.parent), file, sink).project())


def project_mark(folder: Path | None) -> str:
    """Return what tells the project of a folder from all others, empty for none."""
    file = None if folder is None else project_file(folder)
    text = None if file is None else _text(file, Sink())
    if file is None or text is None:
        return ""
    return f"{file} {sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def project_file(folder: Path) -> Path | None:
    """Return the project file that counts for a folder."""
    start = resolved_path(folder)
    for place in (start, *start.parents):
        if place != start and _is_for_everybody(place):
            return None
        for name in (OWN, SHARED):
            if (place / name).is_file() and (name == OWN or _has_section(place / name)):
                return place / name
        if (place / ".git").exists():
            return None
    return None


def top_of_files(folder: Path) -> Path | None:
    """Return the folder with a `.git` that a folder is or lies in, None where there is none."""
    start = resolved_path(folder)
    for place in (start, *start.parents):
        if place != start and _is_for_everybody(place):
            return None
        if (place / ".git").exists():
            return place
    return None


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


def _is_for_everybody(folder: Path) -> bool:
    """Return whether anybody may put files into a folder; of other systems that is not known."""
    try:
        return hasattr(os, "geteuid") and bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True


def _has_section(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST)
    except OSError:
        return False
    # Reading all of a large file would take longer than the spec itself.
    return bool(_NAMES_SECTION.search(content)) and _is_section_in(content)


@lru_cache(maxsize=8)
def _is_section_in(content: bytes) -> bool:
    """Return whether a file that names the section has it; an editor asks with each letter."""
    try:
        tool = _values_in(content.decode("utf-8-sig")).get(_SECTION[0], {})
    except (ValueError, RecursionError):
        return False  # other tools tell what is wrong with it
    return isinstance(tool, dict) and _SECTION[1] in tool


def _values_in(text: str) -> dict[str, object]:
    """Return what a TOML text says; ValueError or RecursionError where it is none."""
    import tomllib  # noqa: PLC0415 - seldom

    if _TOO_MANY_PARTS.search(text):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    return tomllib.loads(text)


def _text(file: Path, sink: Sink) -> str | None:
    tree = top_of_files(file.parent) or file.parent
    if not resolved_path(file).is_relative_to(tree):
        sink.report(
            codes.PROJECT_FILE,
            None,
            f"`{_label(file)}` is a symbolic link out of its folder or repository",
            hint="replace the link by the file",
        )
        return None
    try:
        if file.stat().st_size > _LARGEST:
            sink.report(
                codes.PROJECT_FILE,
                None,
                f"`{_label(file)}` is larger than {_LARGEST:,} bytes",
                hint="move the settings of QPS to a separate `qps.toml`",
            )
            return None
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        told = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        sink.report(
            codes.PROJECT_FILE,
            None,
            f"cannot read `{_label(file)}`: {told}",
            hint="check its permissions, and save it as UTF-8",
        )
        return None


def _label(file: Path) -> str:
    """Return how a file is called from here."""
    try:
        here = Path.cwd().resolve()
    except OSError:
        return str(file)
    return os.path.relpath(file, here) if file.is_relative_to(here.parent) else str(file)


class _WrongError(Exception):
    """Something that was told: the value is left out."""


class _Reading(Struct, frozen=True):
    """Reads the values of a project file; what is wrong with one takes no other away."""

    source: Source
    file: Path
    sink: Sink

    def project(self) -> Project | None:
        """Return what the file says, as far as it can be understood."""
        try:
            values: object = _values_in(self.source.text)
        except (ValueError, RecursionError) as error:
            self._no_toml(error)
            return None
        top: Way = ()
        if self.file.name == SHARED:
            top = _SECTION
            for key in top:
                values = values.get(key) if isinstance(values, dict) else None
        places = places_in(self.source)

        def at(way: Way) -> Span:
            return place_of((*top, *way), places, self.source)

        table = _Table(self, (), values, at)
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
        told = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        found = re.search(r"\(at line (\d+), column (\d+)\)", told)
        span = Span(self.source, 0, 0)
        if found is not None:
            lines = self.source.text.split("\n")
            start = sum(len(line) + 1 for line in lines[: int(found[1]) - 1]) + int(found[2]) - 1
            start = min(start, len(self.source.text))
            span = Span(self.source, start, min(start + 1, len(self.source.text)))
        reason = re.sub(r"\s*\(at [^()]*\)$", "", told).strip()
        reason = shortened(reason[:1].lower() + reason[1:])
        self.sink.report(
            codes.PROJECT_FILE,
            span,
            f"invalid TOML: {reason}",
            hint='write `key = value`, with quotes around text: `root = "."`',
        )


class _Table(Struct, frozen=True):
    """A table of a project file, and where each of its keys stands."""

    reading: _Reading
    way: Way
    values: object
    at: Callable[[Way], Span]

    def wrong(self, key: str | None, message: str, hint: str) -> NoReturn:
        """Tell what is wrong with a value (the table itself for None), and leave it out."""
        way = self.way if key is None else (*self.way, key)
        self.reading.sink.report(codes.PROJECT_FILE, self.at(way), message, hint=hint)
        raise _WrongError

    def value(self, key: str) -> object:
        """Return a value, None where there is none."""
        return self.values.get(key) if isinstance(self.values, dict) else None

    def refuse_others(self, *keys: str, what: str = "key") -> None:
        """Tell which keys mean nothing here; `what` one of them is."""
        if not isinstance(self.values, dict):
            self._tell(None, "expected a table of keys", "write keys below `[tool.qps]`")
            return
        for key in self.values:
            if key not in keys:
                near = did_you_mean(key, keys) or f"valid {what}s: {', '.join(keys)}"
                self._tell(key, f"unknown {what} `{shortened(key)}`", near)

    def _tell(self, key: str | None, message: str, hint: str) -> None:
        try:
            self.wrong(key, message, hint)
        except _WrongError:
            return

    def switch(self, key: str) -> bool:
        """Return a yes or no; no where it is not said."""
        value = self.value(key)
        if value is not None and not isinstance(value, bool):
            self._tell(
                key, f"`{key}` must be true or false", f"write `{key} = true`, without quotes"
            )
        return value is True

    def text(self, key: str, example: str) -> str:
        """Return a text that must be there."""
        value = self.value(key)
        if value is None:
            self.wrong(None, f"`{key}` is missing", f"add `{key} = {example}`")
        if not isinstance(value, str) or not value.strip():
            self.wrong(key, f"`{key}` must be a string", f"write `{key} = {example}`")
        return value

    def path(self, key: str, example: str) -> Path:
        """Return a file or folder below the project file; links are followed."""
        return self._below(key, self.text(key, example))

    def _below(self, key: str, named: str) -> Path:
        folder = self.reading.file.parent
        path = real_path(folder / named)
        if path is None:
            self.wrong(
                key, f"`{shortened(named)}` is not a valid path", "name a folder, such as `specs`"
            )
        if not path.is_relative_to(folder):
            self.wrong(
                key,
                f"`{shortened(named)}` is outside the folder of the project file",
                "move the project file to a parent folder",
            )
        return path

    def folder(self, key: str, otherwise: Path) -> Path:
        """Return a folder that is there."""
        if self.value(key) is None:
            return otherwise
        try:
            path = self.path(key, '"."')
            if not path.is_dir():
                self.wrong(
                    key, f"`{shortened(path.name)}` is not a folder", "name an existing folder"
                )
        except _WrongError:
            return otherwise
        return path

    def patterns(self, key: str) -> Iterator[str]:
        """Yield patterns of paths."""
        value = self.value(key)
        if value is None:
            return
        is_list = isinstance(value, list) and all(isinstance(one, str) for one in value)
        if not is_list or not isinstance(value, list):
            self._tell(
                key, f"`{key}` must be a list of paths", f'write `{key} = ["old", "**/x.qps"]`'
            )
            return
        if len(value) > _MOST_ENTRIES or any(len(one) > _LONGEST_PATTERN for one in value):
            self._tell(key, f"`{key}` is too long", "name folders rather than files")
            return
        for one in value:
            if one.startswith("/") or ".." in one.split("/") or not one.strip():
                hint = "use a path relative to the project file, such as `specs/old`"
                self._tell(key, f"`{shortened(one)}` is not a path below the project file", hint)
            else:
                yield one

    def entries(self, key: str, read: Callable[[_Table], _Entry]) -> Iterator[_Entry]:
        """Yield what each of a list of tables says, but for those with something wrong."""
        value = self.value(key)
        if value is None:
            return
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self._tell(
                key,
                f"`{key}` must be a list of tables",
                f"write `[[{self._name(key)}]]` above each",
            )
            return
        if len(value) > _MOST_ENTRIES:
            self._tell(
                key, f"there are more than {_MOST_ENTRIES:,} entries", "fix the causes instead"
            )
            return
        for number, one in enumerate(value):
            try:
                yield read(_Table(self.reading, (*self.way, key, number), one, self.at))
            except _WrongError:
                continue

    def levels(self, key: str) -> Iterator[tuple[str, str]]:
        """Yield the rules of a review that a table names, with their levels."""
        value = self.value(key)
        if value is None:
            return
        if not isinstance(value, dict):
            self._tell(key, f"`{key}` must be a table", f"write `[{self._name(key)}]` above it")
            return
        inner = _Table(self.reading, (*self.way, key), value, self.at)
        inner.refuse_others(*(rule.name for rule in RULES), what="rule")
        for rule in RULES:
            level = inner.value(rule.name)
            if level is None:
                continue
            if isinstance(level, str) and level in LEVELS:
                yield rule.name, level
                continue
            named = f"unknown level `{shortened(level)}`" if isinstance(level, str) else None
            near = did_you_mean(level, LEVELS) if isinstance(level, str) else None
            inner._tell(
                rule.name,
                named or f"the level of `{rule.name}` must be a string",
                near or f'levels are {", ".join(LEVELS)}: `{rule.name} = "warning"`',
            )

    def _name(self, key: str) -> str:
        top = _SECTION if self.reading.file.name == SHARED else ()
        return ".".join((*top, key))


def _allowance(table: _Table) -> Allowance:
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
        span=table.at(table.way),
    )


def _acceptance(table: _Table) -> Acceptance:
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
        span=table.at(table.way),
    )


def _acceptable_rule(table: _Table) -> str | None:
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


def _refuse_other_capacities(table: _Table, capacity: object) -> None:
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
