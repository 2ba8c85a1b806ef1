"""One comment on a change, in Markdown, of so many characters at most.

What fails comes first. What does not fit is named, or counted, and never cut in the middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from qps.compiler.project.review_rules import BY_NAME, Level
from qps.reports.text.claim_changes import claim_changes_tables
from qps.reports.text.difference_text import difference_text
from qps.reports.text.table import Table, escaped
from qps.reviewing.comparison_base import Base
from qps.reviewing.findings import CLAIM, LAYOUT, Finding
from qps.reviewing.spec_changes import SpecChange, State

MOST = 65_000
"""Characters of a comment on GitHub, less than its 65,536 by a mark to find it again by.

A step summary holds 1 MiB, GitLab more.
"""
_ROOM = 3_000
"""Characters kept for what tells that something is left out."""
_MOST_ROWS = 100
_MOST_NAMED = 20
_LONGEST_CELL = 300


class Review(Struct, frozen=True, kw_only=True):
    """What `qps ci` found in the specs touched, and what became of these since the base."""

    base: Base
    specs: int
    touched: int
    findings: tuple[Finding, ...]
    changes: tuple[SpecChange, ...]

    @property
    def errors(self) -> list[Finding]:
        """What makes the check fail."""
        return [one for one in self.findings if one.level is Level.ERROR]

    @property
    def has_news(self) -> bool:
        """True where a comment is worth writing: something is touched, gone or found."""
        return bool(self.touched or self.changes or self.findings)

    @property
    def weaker(self) -> list[Finding]:
        """What became weaker, by the rules of a review."""
        return [one for one in self.findings if one.code in BY_NAME]

    @property
    def summary(self) -> str:
        """What was found, in a line."""
        errors = self.errors
        claims = sum(one.code == CLAIM for one in errors)
        layouts = sum(one.code == LAYOUT for one in errors)
        weaker_errors = sum(one.level is Level.ERROR for one in self.weaker)
        mistakes = len(errors) - claims - layouts - weaker_errors
        told = [one for one in self.findings if one.code not in BY_NAME]
        warnings = sum(one.level is Level.WARNING for one in told)
        fewer = sum(one.users < 0 for one in self.changes)
        more = sum(one.users > 0 for one in self.changes)
        counts = [
            (mistakes, "mistake", "mistakes"),
            (claims, "claim fails", "claims fail"),
            (len(self.weaker), "check is weaker", "checks are weaker"),
            (layouts, "layout differs", "layouts differ"),
            (warnings, "warning", "warnings"),
            (fewer, "spec carries fewer", "specs carry fewer"),
            (more, "spec carries more", "specs carry more"),
        ]
        found = [f"{count:,} {one if count == 1 else many}" for count, one, many in counts if count]
        of = f"{self.touched:,} of {self.specs:,} spec{'s' * (self.specs != 1)} touched"
        return ", ".join([of, *(found or ["nothing to tell"])])


class _Part(Struct, frozen=True):
    """A part of a comment, and what it is called where it does not fit."""

    title: str
    text: str


def comment(review: Review, most: int = MOST) -> str:
    """Return the comment."""
    mark = "✗" if review.errors or (review.base.why and not review.base.is_none_needed) else "✓"
    text = f"### {mark} qps ci: {escaped(review.summary)}\n\n{_compared_with(review.base)}\n"
    left: list[str] = []
    for part in _parts(review):
        if len(text) + len(part.text) + _ROOM <= most:
            text += f"\n{part.text}"
        else:
            left.append(part.title)
    if left:
        named = ", ".join(escaped(_cut(one)) for one in left[:_MOST_NAMED])
        more = f" and {len(left) - _MOST_NAMED:,} more" if len(left) > _MOST_NAMED else ""
        told = f"\nDoes not fit here, `qps ci` tells it: {named}{more}.\n"
        text += told if len(text) + len(told) <= most else "\nMore does not fit here.\n"
    return text


def _compared_with(base: Base) -> str:
    mend = f"; {base.mend}" if base.mend else ""
    return escaped(f"Repository {base.top.name}, compared with {base.text}{mend}.")


def _parts(review: Review) -> Iterator[_Part]:
    """Yield what is told, the gravest first."""
    errors = review.errors
    others = [one for one in review.findings if one.level is not Level.ERROR]
    if errors:
        yield _Part("what fails", _findings(errors))
    moved = [one for one in review.changes if one.state is State.MOVED]
    for one in sorted(moved, key=lambda change: (change.users, change.file)):
        yield _Part(one.file, _moved(one))
    same = [one for one in review.changes if one.state is State.SAME]
    if same:
        yield _Part("what answers as before", f"Touched, and as before: {_names(same)}.\n")
    for state, word in ((State.NEW, "New"), (State.GONE, "Gone")):
        named = [one for one in review.changes if one.state is state]
        if named:
            yield _Part(f"{word.lower()} specs", f"{word}: {_names(named)}.\n")
    for one in review.changes:
        if one.state in (State.UNKNOWN, State.FAULT):
            told = f"{escaped(one.file)} cannot be compared: {escaped(_cut(one.reason))}.\n"
            yield _Part(one.file, told)
    if others:
        text = (
            f"<details><summary>warnings and notes</summary>\n\n{_findings(others)}\n</details>\n"
        )
        yield _Part("warnings and notes", text)


def _findings(findings: Sequence[Finding]) -> str:
    rows = tuple(
        (f"{_cut(one.file)}:{one.line}", _cut(one.title), _cut(one.message.partition("\n")[0]))
        for one in findings[:_MOST_ROWS]
    )
    more = len(findings) - len(rows)
    text = Table(("place", "what", "why"), rows).as_markdown()
    return text + (f"\n{more:,} more like these.\n" if more else "")


def _moved(one: SpecChange) -> str:
    assert one.view is not None
    parts = []
    if one.claims is not None:
        parts += [table.as_markdown() for table in claim_changes_tables(one.claims)]
    for matrix in one.matrices:
        if matrix.is_moved:
            parts.append(escaped(f"Matrix {matrix.name}: {matrix.text}.") + "\n")
            parts += [matrix.table.as_markdown()] if matrix.rows else []
    return difference_text(one.view, markdown=True) + "".join(f"\n{part}" for part in parts)


def _names(changes: Sequence[SpecChange]) -> str:
    names = [escaped(_cut(one.file)) for one in changes[:_MOST_NAMED]]
    more = len(changes) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"
