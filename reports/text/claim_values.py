"""Test results as JSON values."""

from __future__ import annotations

from msgspec.structs import asdict

from qps.reports.text.claim_formats import Tested
from qps.reports.text.verdicts import summary, tally, within
from qps.reports.text.view import as_json
from qps.solver.claims.claim_results import ClaimResult, Coverage


def claims_json(tested: Tested) -> object:
    """Return what `qps test --format json` prints: one entry for each claim and each row."""
    results = tested.results
    found = tally(results)
    return as_json(
        {
            "schema": "qps/test/1",
            "passed": found.unfitted + found.fitted + found.own,
            "failed": found.failed,
            "shown": found.shown,
            "missed": found.missed,
            "accepted": found.accepted,
            "not_simulated": found.unplayed,
            "published": {"unfitted": found.unfitted, "fitted": found.fitted},
            "of_the_model": found.own,
            "unread": tested.untested.specs,
            "unanswered": tested.untested.claims,
            "summary": summary(results, tested.untested),
            "expectations": [_entry(result) for result in results],
            "coverage": [_coverage(one) for one in tested.coverages],
            "wrong": tested.wrong,
        }
    )


def _coverage(one: Coverage) -> dict[str, object]:
    return {**asdict(one), "chance": one.chance if one.count else None}


def _entry(result: ClaimResult) -> dict[str, object]:
    """Return one entry; a condition is its text, and the values of its sides."""
    is_condition = result.condition is not None
    return {
        "name": result.name,
        "title": result.title,
        "kind": result.kind,
        "file": result.file,
        "line": result.line,
        "claimed": result.condition if is_condition else result.claimed,
        "predicted": [side.value for side in result.compared] if is_condition else result.predicted,
        "difference": result.difference,
        "relative_difference": result.relative_difference,
        "unit": str(result.dimension),
        "within": within(result) or None,
        "holds": result.holds,
        "verdict": result.verdict.value,
        "published": result.is_published,
        "source": result.source,
        "note": result.note,
        "fitted": result.fitted,
        "missed": result.missed,
        "excepted": result.excepted,
        "counted": result.counted,
        "interval": result.interval,
        "half_width": None if result.near is None else result.near.half_width,
        "not_told": None if result.near is None else result.near.why,
        "known": result.known,
        "sides_known": [side.known for side in result.compared],
    }
