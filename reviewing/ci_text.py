"""What `qps ci` prints for people: the verdict and a row a spec first, then the details."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qps.compiler.diagnostics.visible import one_line
from qps.reports.text.claim_changes import claim_changes_tables
from qps.reports.text.difference_text import difference_text
from qps.reports.text.table import joined
from qps.reports.text.verdicts import claims_text
from qps.reviewing.change_review import Review
from qps.reviewing.findings import CAPACITY, COST, LAYOUT, UNCERTAIN, Finding
from qps.reviewing.matrix_changes import MatrixChange
from qps.reviewing.spec_changes import SpecChange, State
from qps.solver.claims.claim_results import ClaimResult

_MARKS = {True: "ok", False: "FAIL"}
_LISTED = (CAPACITY, COST, LAYOUT, UNCERTAIN)
"""Codes of findings that are neither mistakes, told before, nor claims, told with their numbers."""


def ci_text(review: Review, results: Sequence[ClaimResult]) -> str:
    """Return what was found; `results` are the claims of all specs that changed."""
    return joined([*_parts(review, results)])


def _parts(review: Review, results: Sequence[ClaimResult]) -> Iterator[str]:
    base = review.base
    branch = f" on {base.branch}" if base.branch else ""
    yield one_line(f"{'ok' if review.passes else 'FAIL'}  qps{branch}: {review.title}")
    facts = {
        "Checked" if review.checks_all else "Changed": re.sub(
            " (changed|checked)", "", review.scope
        ),
        "Compared with": base.text,
        "Repository": base.top.name,
    }
    yield "".join(f"  {name:13}  {one_line(text)}\n" for name, text in facts.items())
    table = review.overview(_MARKS, "->")
    if table.rows:
        yield table.as_text()
    if review.left_out:
        yield f"  {review.left_out}"
    if review.has_intervals:
        yield "  In parentheses: 90 % interval of the capacity."
    listed = [one for one in review.findings if one in review.weaker or one.code in _LISTED]
    yield _lines(listed)
    if any(one.fails for one in results):
        yield claims_text([one for one in results if one.fails], quiet=True)
    for one in review.compared:
        yield _spec(one)


def _lines(findings: Sequence[Finding]) -> str:
    """Return findings, a line each, with level, code and place."""
    lines = []
    for one in findings:
        message = "; ".join([one.message.replace("\n", "; "), *filter(None, [one.accepted])])
        where = f"{one.level.value}[{one.code}] {one.file}:{one.line}"
        lines.append(one_line(f"{where}: {message}") + "\n")
    return "".join(lines)


def _spec(one: SpecChange) -> str:
    if one.state is State.MOVED and one.view is not None:
        tables = () if one.claims is None else claim_changes_tables(one.claims)
        parts = [difference_text(one.view), *(table.as_text() for table in tables)]
        return joined([*parts, *map(_matrix_text, one.matrices)])
    return one_line(f"{one.file} cannot be compared: {one.reason}") if one.reason else ""


def _matrix_text(matrix: MatrixChange) -> str:
    """Return what became of a matrix, empty where it is as before."""
    rows = matrix.table.as_text() if matrix.rows else ""
    return f"  matrix {matrix.name}: {matrix.text}\n{rows}" if matrix.is_moved else ""
