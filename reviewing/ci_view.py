"""What `qps ci --format json` prints."""

from __future__ import annotations

from msgspec import Struct

from qps.reports.text.claims.claim_changes import ClaimChanges
from qps.reviewing.change_review import Review
from qps.reviewing.findings import Finding
from qps.reviewing.matrix_changes import MatrixChange
from qps.reviewing.spec_answers import SpecAnswer
from qps.reviewing.spec_changes import ClaimCounts, SpecChange
from qps.solver.what_if.assumption_changes import AssumptionChange


class BaseView(Struct, frozen=True, kw_only=True):
    """Base revision of the comparison. Without one, `why` and `fix` are the reason and the fix.

    `name` is the revision, `commit` its commit, and `text` a description. `repository` is the
    folder of the repository. `is_default` is true on the default branch.
    """

    repository: str
    name: str
    commit: str | None
    text: str
    is_default: bool
    why: str | None
    fix: str | None


class SpecView(Struct, frozen=True, kw_only=True):
    """An affected spec, with the changes in its capacity, its claims and its matrices.

    `before` and `after` are its results; `before` is null for a new spec, and `after` for a removed
    one. If the spec is not compared, `reason` has the reason. `uncertain` lists claims that pass
    although their limit is above the lower bound of the interval.
    """

    file: str
    was: str | None
    state: str
    reason: str | None
    answer: str | None
    before: SpecAnswer | None
    after: SpecAnswer | None
    changes: tuple[AssumptionChange, ...]
    claim_counts: ClaimCounts
    uncertain: tuple[str, ...]
    claims: ClaimChanges | None
    matrices: tuple[MatrixChange, ...]


class CiView(Struct, frozen=True, kw_only=True):
    """The result of `qps ci`; `has_news` is true if there is anything to report."""

    schema: str
    summary: str
    passed: bool
    base: BaseView
    specs: int
    touched: int
    has_news: bool
    findings: tuple[Finding, ...]
    changes: tuple[SpecView, ...]


def ci_view(review: Review, *, passed: bool) -> CiView:
    """Return a review as plain values."""
    base = review.base
    return CiView(
        schema="qps/ci/4",
        summary=review.summary,
        passed=passed,
        base=BaseView(
            repository=base.top.as_posix(),
            name=base.name,
            commit=base.commit,
            text=base.text,
            is_default=base.is_default,
            why=base.why or None,
            fix=base.fix or None,
        ),
        specs=review.specs,
        touched=review.touched,
        has_news=review.has_news,
        findings=review.findings,
        changes=tuple(_spec(one) for one in review.changes),
    )


def _spec(one: SpecChange) -> SpecView:
    view = one.view
    return SpecView(
        file=one.file,
        was=one.was,
        state=one.state.value,
        reason=one.reason or None,
        answer=None if view is None else view.answer,
        before=one.before,
        after=one.after,
        changes=() if view is None else view.changes,
        claim_counts=one.counts,
        uncertain=tuple(claim.name for claim in one.uncertain),
        claims=one.claims,
        matrices=one.matrices,
    )
