"""What a change does to one spec: its answer, its claims, its matrices, against what they were."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import ceil
from pathlib import PurePosixPath

from msgspec import Struct

from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.pipeline import Spec
from qps.reports.text.changes.difference_text import DifferenceView, spec_difference_view
from qps.reports.text.claims.claim_changes import ClaimChanges, claim_changes
from qps.reports.text.words.phrases import phrase
from qps.reviewing.git_objects import CommitTree
from qps.reviewing.matrix_changes import MatrixChange, matrix_changes
from qps.reviewing.spec_answers import SpecAnswer, answer_of, least_claimed, spec_answers
from qps.solver.answers.solution import SolverFault
from qps.solver.claims.claim_evaluation import evaluate_claims
from qps.solver.claims.claim_results import ClaimResult, ClaimResults, ClaimVerdict
from qps.solver.spec_difference import spec_difference


class ChangeState(StrEnum):
    """Change of a spec since the base."""

    NEW = "new"
    GONE = "gone"
    MOVED = "moved"
    SAME = "same"
    MODULE = "module"
    UNKNOWN = phrase("term.not_compared")
    FAULT = "fault"


class ClaimCounts(Struct, frozen=True, kw_only=True):
    """Number of claims of a spec that pass, fail, or fail and are accepted until a date."""

    passed: int = 0
    failed: int = 0
    accepted: int = 0

    @property
    def count(self) -> int:
        """How many were judged."""
        return self.passed + self.failed + self.accepted


class UncertainClaim(Struct, frozen=True, kw_only=True):
    """A claim of `least` users that the capacity passes, and its interval does not; its line."""

    name: str
    least: int
    line: int


class SpecChange(Struct, frozen=True, kw_only=True):
    """A spec that a change touches; `was` is its name before, `view` how its answer moves.

    `before` and `after` are its answers, None where it had or has none. `reason` says why nothing
    is compared, or why it has no answer. Of what is `uncertain`, the interval passed at the base.
    """

    file: str
    was: str | None
    state: ChangeState
    reason: str = ""
    before: SpecAnswer | None = None
    after: SpecAnswer | None = None
    counts: ClaimCounts = ClaimCounts()
    uncertain: tuple[UncertainClaim, ...] = ()
    view: DifferenceView | None = None
    claims: ClaimChanges | None = None
    matrices: tuple[MatrixChange, ...] = ()

    @property
    def users(self) -> int:
        """How many more the spec carries."""
        return 0 if self.view is None else self.view.users


def spec_change(
    new: Spec | None, file: str, before: PurePosixPath | None, tree: CommitTree, known: KnownVersion
) -> SpecChange:
    """Compare a spec with what a commit has of it under a name; None where it has none."""
    counts = claim_counts(known.results)
    if before is None or not tree.has(before):
        return _new(new, file, counts)
    was = before.as_posix()

    def unknown(reason: str, state: ChangeState = ChangeState.UNKNOWN) -> SpecChange:
        return SpecChange(file=file, was=was, state=state, reason=reason, counts=counts)

    if new is None:
        return unknown(phrase("review.has_errors"))
    try:
        old = tree.checked(before, f"{known.base}:{was}")[0]
        if old.value is None:
            return unknown(phrase("review.had_errors", message=old.diagnostics[0].message))
        if new.program.is_module or old.value.program.is_module:
            return unknown("", ChangeState.MODULE)
        found = spec_difference(old.value, new)
        view = spec_difference_view(found)
        now = ClaimResults(tuple(known.results), tuple(known.unanswered))
        earlier = evaluate_claims(old.value)
        claims = claim_changes(earlier, now)
        matrices = matrix_changes(old.value.model, new.model)
    except QpsError as error:
        return unknown(error.diagnostics[0].message)
    except (SolverFault, ArithmeticError, LookupError, TypeError, ValueError) as error:
        return unknown(
            phrase("term.internal_error", name=type(error).__name__, error=error), ChangeState.FAULT
        )
    is_moved = found.difference.is_moved or claims.are_any or any(one.is_moved for one in matrices)
    answers = spec_answers(view)
    return SpecChange(
        file=file,
        was=was,
        state=ChangeState.MOVED if is_moved else ChangeState.SAME,
        before=answers[0],
        after=answers[1],
        counts=counts,
        uncertain=_uncertain(new, known.results, *answers),
        view=view,
        claims=claims,
        matrices=matrices,
    )


def removed_spec(was: PurePosixPath, tree: CommitTree, base: str) -> SpecChange:
    """Return what became of a spec that is no more, with what it answered."""
    file = was.as_posix()
    answer, is_module = None, False
    try:
        old = tree.checked(was, f"{base}:{file}")[0].value
        is_module = old is not None and old.program.is_module
        answer = None if old is None or is_module else answer_of(old)
    except (QpsError, SolverFault, ArithmeticError, LookupError, TypeError, ValueError):
        pass  # that it is gone is reported all the same
    state = ChangeState.MODULE if is_module else ChangeState.GONE
    return SpecChange(file=file, was=file, state=state, before=answer)


def _new(new: Spec | None, file: str, counts: ClaimCounts) -> SpecChange:
    """Return a spec that was not there before, with what it answers."""
    if new is not None and new.program.is_module:
        return SpecChange(file=file, was=None, state=ChangeState.MODULE)
    answer, reason = None, "" if new is not None else phrase("review.has_errors")
    try:
        answer = None if new is None else answer_of(new)
    except QpsError as error:
        reason = error.diagnostics[0].message
    except (SolverFault, ArithmeticError, LookupError, TypeError, ValueError) as error:
        reason = phrase("term.internal_error", name=type(error).__name__, error=error)
        return SpecChange(
            file=file, was=None, state=ChangeState.FAULT, reason=reason, counts=counts
        )
    return SpecChange(
        file=file, was=None, state=ChangeState.NEW, reason=reason, after=answer, counts=counts
    )


def claim_counts(results: Sequence[ClaimResult]) -> ClaimCounts:
    """Count what became of claims; values that are shown and not judged do not count."""
    verdicts = [one.verdict for one in results]
    return ClaimCounts(
        passed=verdicts.count(ClaimVerdict.HOLDS) + verdicts.count(ClaimVerdict.MISSED),
        failed=sum(one.fails for one in results),
        accepted=verdicts.count(ClaimVerdict.ACCEPTED),
    )


def _uncertain(
    new: Spec, results: Sequence[ClaimResult], before: SpecAnswer, after: SpecAnswer
) -> tuple[UncertainClaim, ...]:
    """Return the claims below which the interval of the capacity sank, but not the best guess."""
    if after.interval is None:
        return ()
    lowest = after.interval.least or 0
    earlier = before.nominal_capacity if before.interval is None else before.interval.least
    passing = {one.name: one for one in results if not one.fails}
    return tuple(
        UncertainClaim(name=name, least=ceil(bound), line=passing[name].line)
        for name, bound in least_claimed(new.model, [*passing.values()]).items()
        if lowest < bound <= (earlier or 0)
    )


class KnownVersion(Struct, frozen=True, kw_only=True):
    """What is known of the new version already: its claims; and how the base is called."""

    base: str
    results: Sequence[ClaimResult] = ()
    unanswered: Sequence[Diagnostic] = ()
