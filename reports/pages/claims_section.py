"""What became of claims, as a section of a page."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from qps.reports.text.claims.claim_quantities import claimed, error, interval, predicted, within
from qps.reports.text.claims.claim_summary import summary
from qps.reports.text.claims.coverage_text import coverage_lines
from qps.reports.text.claims.verdicts import why_missed
from qps.reports.text.words.certainty_marks import claims_known_line
from qps.reports.text.words.phrases import phrase
from qps.solver.claims.claim_results import ClaimResult, Coverage


class ClaimsSection(Struct, frozen=True, kw_only=True):
    """Claims with what is stated, tolerated, predicted, its interval, error, and known misses.

    `coverage` says how many measured values lie within their prediction intervals, a sentence a
    table, and `known` which predictions are not exact.
    """

    rows: tuple[tuple[ClaimResult, str, str, str, str, str, str], ...]
    summary: str
    coverage: tuple[str, ...]
    known: str


def claims_section(
    results: Sequence[ClaimResult], coverages: Sequence[Coverage] = (), unevaluated: int = 0
) -> ClaimsSection:
    """Return the results of claims; `unevaluated` counts those without a result."""
    sums = [summary(results)] if results else []
    return ClaimsSection(
        rows=tuple(
            (
                one,
                claimed(one),
                within(one),
                predicted(one),
                interval(one),
                error(one),
                why_missed(one),
            )
            for one in results
        ),
        summary=", ".join(
            [*sums, phrase("report.not_evaluated", count=unevaluated)] if unevaluated else sums
        ),
        coverage=tuple(coverage_lines(coverages).splitlines()),
        known=claims_known_line(result.known for result in results),
    )
