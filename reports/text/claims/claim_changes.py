"""Which claims fail now that held before, and which hold: of two versions of a spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from qps.reports.text.claims.claim_quantities import claimed, predicted
from qps.reports.text.layout.table import Table
from qps.reports.text.words.phrases import phrase
from qps.solver.claims.claim_results import ClaimResult, ClaimResults, ClaimVerdict


class ClaimChange(Struct, frozen=True, kw_only=True):
    """A claim with a changed verdict; a verdict is None if the claim does not exist.

    `claimed` and `predicted` are from the new spec, or from the old spec for a removed claim.
    `predicted_before` is from the old spec.
    """

    name: str
    file: str
    line: int
    before: str | None
    after: str | None
    claimed: str
    predicted: str
    predicted_before: str | None


class ClaimChanges(Struct, frozen=True, kw_only=True):
    """Claims with changed verdicts in a new spec; `unchanged` counts the others.

    `unanswered` lists the reasons for claims without a result.
    """

    now_fail: tuple[ClaimChange, ...]
    now_hold: tuple[ClaimChange, ...]
    others: tuple[ClaimChange, ...]
    unchanged: int
    unanswered: tuple[str, ...]

    @property
    def are_any(self) -> bool:
        """True if there is anything to report."""
        return bool(self.now_fail or self.now_hold or self.others or self.unanswered)


def claim_changes(old: ClaimResults, new: ClaimResults) -> ClaimChanges:
    """Return which claims, by their names, fare otherwise in the new spec."""
    before, after = _by_name(old.results), _by_name(new.results)
    fail, hold, others = list[ClaimChange](), list[ClaimChange](), list[ClaimChange]()
    unchanged = 0
    for name in dict.fromkeys([*after, *before]):
        was, is_now = before.get(name), after.get(name)
        if was is not None and is_now is not None and was.verdict is is_now.verdict:
            unchanged += 1
            continue
        group = fail if _fails(is_now) else hold if _fails(was) and is_now is not None else others
        group.append(_change(name, was, is_now))
    reasons = dict.fromkeys(one.message for one in (*new.unanswered, *old.unanswered))
    return ClaimChanges(
        now_fail=tuple(fail),
        now_hold=tuple(hold),
        others=tuple(others),
        unchanged=unchanged,
        unanswered=tuple(reasons),
    )


def _by_name(results: Sequence[ClaimResult]) -> Mapping[str, ClaimResult]:
    """Return claims by their names; rows of a table that share one are numbered."""
    found: dict[str, ClaimResult] = {}
    counts: dict[str, int] = {}
    for one in results:
        count = counts[one.name] = counts.get(one.name, 0) + 1
        found[one.name if count == 1 else f"{one.name} ({count})"] = one
    return found


def _fails(result: ClaimResult | None) -> bool:
    return result is not None and result.verdict in (
        ClaimVerdict.FAILS,
        ClaimVerdict.STALE,
        ClaimVerdict.ACCEPTED,
    )


def _change(name: str, was: ClaimResult | None, is_now: ClaimResult | None) -> ClaimChange:
    result = is_now or was
    assert result is not None
    return ClaimChange(
        name=name,
        file=result.file,
        line=result.line,
        before=None if was is None else was.verdict.value,
        after=None if is_now is None else is_now.verdict.value,
        claimed=claimed(result),
        predicted=predicted(result),
        predicted_before=None if was is None else predicted(was),
    )


def claim_changes_tables(changes: ClaimChanges) -> tuple[Table, ...]:
    """Return the claims that fail now, and those that hold now or fare otherwise."""
    tables = (
        _table(phrase("claims.newly_failing"), changes.now_fail),
        _table(phrase("claims.newly_passing"), changes.now_hold),
        _table(phrase("claims.other_claims"), changes.others),
    )
    return tuple(table for table in tables if table.rows)


def _table(heading: str, changes: Sequence[ClaimChange]) -> Table:
    headings = (heading, "Expected", "Before", "After", "Outcome")
    return Table(
        headings,
        tuple(
            (
                one.name,
                one.claimed,
                one.predicted_before or "–",
                "–" if one.after is None else one.predicted,
                _verdicts(one),
            )
            for one in changes
        ),
        long=frozenset(range(len(headings))),
    )


def _verdicts(one: ClaimChange) -> str:
    """Return both verdicts, or that the claim is new or removed."""
    before, after = (_VERDICTS.get(each or "", each) for each in (one.before, one.after))
    if after is None:
        return "removed"
    return phrase("claims.new_claim", after=after) if before is None else f"{before} -> {after}"


_VERDICTS = {
    "holds": "pass",
    "fails": "fail",
    "stale": "fail",
    "shown": phrase("term.not_compared"),
}
