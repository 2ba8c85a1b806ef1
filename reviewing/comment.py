"""One comment on a change, in Markdown, of so many characters at most.

First the verdict and one row a spec, the worst first; then what became weaker and what fails; the
details of each spec are folded. What does not fit is named or counted, and never cut in the middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from qps.compiler.project.review_rules import Level
from qps.reports.text.changes.difference_text import difference_details
from qps.reports.text.claims.claim_changes import claim_changes_tables
from qps.reports.text.layout.table import Table, escaped, escaped_html
from qps.reports.text.words.phrases import phrase
from qps.reviewing.change_review import Review
from qps.reviewing.findings import ANSWER, Finding
from qps.reviewing.spec_changes import ChangeState, SpecChange

MOST = 65_000
"""Characters of a comment on GitHub, less than its 65,536 by a mark to find it again by.

A step summary holds 1 MiB, GitLab more.
"""
_ROOM = 3_000
"""Characters reserved for the note on what is left out."""
_MOST_ROWS = 100
_MOST_VISIBLE = 10
"""Rows of findings that are not folded."""
_MOST_NAMED = 20
_LONGEST_CELL = 300
_MARKS = {True: "✅", False: "❌"}


class _Part(Struct, frozen=True):
    """A part of a comment, and what it is called where it does not fit."""

    title: str
    text: str


def comment(review: Review, most: int = MOST) -> str:
    """Return the comment."""
    text = overview(review)
    left: list[str] = []
    for part in _parts(review):
        if len(text) + len(part.text) + _ROOM <= most:
            text += f"\n{part.text}"
        else:
            left.append(part.title)
    if left:
        named = ", ".join(escaped(_cut(one)) for one in left[:_MOST_NAMED])
        more = (
            phrase("term.and_more", count=len(left) - _MOST_NAMED)
            if len(left) > _MOST_NAMED
            else ""
        )
        remark = phrase("comment.left_out", named=named, more=more)
        text += remark if len(text) + len(remark) <= most else phrase("comment.rest_left_out")
    return text


def overview(review: Review) -> str:
    """Return what is read first: the verdict, what was compared, and a row for each spec."""
    base = review.base
    branch = f" on {base.branch}" if base.branch else ""
    mark = _MARKS[review.passes]
    fix = f"; {base.fix}" if base.fix else ""
    compared = phrase(
        "comment.compared_with", name=base.top.name, scope=review.scope, text=base.text, fix=fix
    )
    text = f"### {mark} {escaped(f'qps{branch}: {review.title}')}\n\n{escaped(compared)}\n"
    table = review.overview(_MARKS, "→")
    if table.rows:
        text += f"\n{table.as_markdown()}"
    if review.left_out:
        text += f"\n{escaped(review.left_out)}.\n"
    if review.has_intervals:
        text += phrase("comment.in_parentheses")
    return text


def _parts(review: Review) -> Iterator[_Part]:
    """Yield what stands below the overview, the gravest first."""
    weaker = review.weaker
    failing = [one for one in review.errors if one not in weaker]
    others = [
        one
        for one in review.findings
        if one not in weaker and one not in failing and (one.code != ANSWER or one.accepted)
    ]
    if weaker:
        yield from _listed(phrase("comment.weakened_checks"), weaker)
    if failing:
        yield from _listed("Failures", failing)
    for one in review.compared:
        if one.state is ChangeState.MOVED:
            yield _Part(one.file, _details(one))
        elif one.reason:
            reason = escaped(_cut(one.reason))
            yield _Part(
                one.file,
                phrase("comment.not_compared", file=escaped(_cut(one.file)), reason=reason),
            )
    if others:
        kind = "note" if len(others) == 1 else phrase("comment.warnings_and_notes")
        title = f"{len(others):,} {kind}"
        yield _Part(
            phrase("comment.warnings_and_notes"), _folded(title, _findings(others, _MOST_ROWS))
        )


def _listed(title: str, findings: Sequence[Finding]) -> Iterator[_Part]:
    """Yield findings below a title; of many the last are folded, and counted behind so many."""
    first, rest = findings[:_MOST_VISIBLE], findings[_MOST_VISIBLE:]
    yield _Part(title, f"**{title}**\n\n{_findings(first, _MOST_VISIBLE)}")
    if rest:
        more = f"{len(rest):,} more"
        yield _Part(f"{title}: {more}", _folded(more, _findings(rest, _MOST_ROWS)))


def _findings(findings: Sequence[Finding], most: int) -> str:
    marks = {Level.ERROR: _MARKS[False], Level.WARNING: "⚠️", Level.NOTE: ""}
    rows = tuple(
        (
            marks[one.level],
            f"{_cut(one.file)}:{one.line}",
            _cut(one.title if one.title != one.code else one.code),
            _cut("; ".join([one.message.partition("\n")[0], *filter(None, [one.accepted])])),
        )
        for one in findings[:most]
    )
    more = len(findings) - len(rows)
    text = Table(("", "Location", "Check", "Message"), rows).as_markdown()
    return text + (phrase("comment.more_like_these", more=more) if more else "")


def _details(one: SpecChange) -> str:
    assert one.view is not None
    parts = [escaped(one.view.in_words), *difference_details(one.view)]
    if one.claims is not None:
        parts += [table.as_markdown() for table in claim_changes_tables(one.claims)]
    for matrix in one.matrices:
        if matrix.is_moved:
            parts.append(escaped(f"Matrix {matrix.name}: {matrix.text}."))
            parts += [matrix.table.as_markdown()] if matrix.rows else []
    return _folded(_cut(one.file), "\n".join(f"{part.rstrip()}\n" for part in parts))


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{escaped_html(title)}</summary>\n\n{text}\n</details>\n"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"
