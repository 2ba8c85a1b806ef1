"""What `qps ci` prints for people: the verdict and a row a spec first, then the details."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qps.compiler.diagnostics.visible_text import one_line
from qps.reports.text.changes.difference_text import difference_text
from qps.reports.text.claims.claim_changes import claim_changes_tables
from qps.reports.text.claims.claims_text import claims_text
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import joined
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.words.phrases import phrase
from qps.reviewing.change_review import Review
from qps.reviewing.findings import CAPACITY, COST, LAYOUT, UNCERTAIN, Finding
from qps.reviewing.matrix_changes import MatrixChange
from qps.reviewing.spec_changes import ChangeState, SpecChange
from qps.solver.claims.claim_results import ClaimResult

_LISTED = (CAPACITY, COST, LAYOUT, UNCERTAIN)
"""Codes of findings that are neither mistakes, reported before, nor claims, with their numbers."""


def ci_text(review: Review, results: Sequence[ClaimResult], width: int = COLUMNS) -> str:
    """Return what was found; `results` are the claims of all specs that changed."""
    return joined([*_parts(review, results, width)])


def _parts(review: Review, results: Sequence[ClaimResult], width: int) -> Iterator[str]:
    base = review.base
    branch = f" on {base.branch}" if base.branch else ""
    scope = re.sub(" (changed|checked)", "", review.scope)
    notes = [f"{review.left_out}."] if review.left_out else []
    if review.has_intervals:
        notes.append(phrase("review.in_parentheses"))
    layout = TextLayout(
        title=f"{'pass' if review.passes else 'FAIL'}  qps{branch}: {review.title}",
        facts=(
            ("Checked" if review.checks_all else "Changed", scope),
            ("Base", base.text),
            ("Repository", base.top.name),
        ),
        tables=(review.overview({True: "", False: "FAIL"}, "->"),),
        notes=tuple(notes),
    )
    yield layout.as_text(width)
    listed = [one for one in review.findings if one in review.weaker or one.code in _LISTED]
    yield _lines(listed, width)
    if any(one.fails for one in results):
        yield claims_text([one for one in results if one.fails], quiet=True, width=width)
    for one in review.compared:
        yield _spec(one, width)


def _lines(findings: Sequence[Finding], width: int) -> str:
    """Return findings with level, code and place, each in lines of a width."""
    lines = []
    for one in findings:
        message = "; ".join([one.message.replace("\n", "; "), *filter(None, [one.accepted])])
        where = f"{one.level.value}[{one.code}] {one.file}:{one.line}"
        lines += wrapped(f"{where}: {message}", width, "", "  ")
    return "".join(f"{line}\n" for line in lines)


def _spec(one: SpecChange, width: int) -> str:
    if one.state is ChangeState.MOVED and one.view is not None:
        tables = () if one.claims is None else claim_changes_tables(one.claims)
        parts = [difference_text(one.view, width=width), *(t.as_text(width=width) for t in tables)]
        return joined([*parts, *(_matrix_text(matrix, width) for matrix in one.matrices)])
    return (
        one_line(phrase("review.not_compared", file=one.file, reason=one.reason))
        if one.reason
        else ""
    )


def _matrix_text(matrix: MatrixChange, width: int) -> str:
    """Return what became of a matrix, empty where it is as before."""
    rows = matrix.table.as_text(width=width) if matrix.rows else ""
    return f"  Matrix {matrix.name}, {matrix.text}\n{rows}" if matrix.is_moved else ""
