"""What a change does to one spec: its answer, its claims, its matrices, against what they were."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from msgspec import Struct

from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.pipeline import Spec
from qps.reports.text.claim_changes import ClaimChanges, Judged, claim_changes, judged
from qps.reports.text.compared_specs import compared
from qps.reports.text.difference_text import DifferenceView
from qps.reviewing.git_objects import Tree
from qps.reviewing.matrix_changes import MatrixChange, matrix_changes
from qps.solver.answers.solution import SolverFault
from qps.solver.claims.claim_results import ClaimResult


class State(StrEnum):
    """What became of a spec since the base."""

    NEW = "new"
    GONE = "gone"
    MOVED = "moved"
    SAME = "same"
    MODULE = "module"
    UNKNOWN = "not compared"
    FAULT = "fault"


class SpecChange(Struct, frozen=True, kw_only=True):
    """A spec that a change touches; `was` is its name before, `view` how its answer moves.

    `reason` says why nothing is compared.
    """

    file: str
    was: str | None
    state: State
    reason: str = ""
    view: DifferenceView | None = None
    claims: ClaimChanges | None = None
    matrices: tuple[MatrixChange, ...] = ()

    @property
    def users(self) -> int:
        """How many more the spec carries."""
        return 0 if self.view is None else self.view.users


def spec_change(
    new: Spec | None, file: str, before: PurePosixPath | None, tree: Tree, told: Told
) -> SpecChange:
    """Compare a spec with what a commit has of it under a name; None where it has none."""
    if before is None or not tree.has(before):
        return SpecChange(file=file, was=None, state=State.NEW)
    was = before.as_posix()

    def unknown(reason: str, state: State = State.UNKNOWN) -> SpecChange:
        return SpecChange(file=file, was=was, state=state, reason=reason)

    if new is None:
        return unknown("it has mistakes")
    try:
        old = tree.checked(before, f"{told.base}:{was}")[0]
        if old.value is None:
            return unknown(f"it had mistakes: {old.diagnostics[0].message}")
        if new.program.is_module or old.value.program.is_module:
            return unknown("", State.MODULE)
        found, view = compared(old.value, new)
        now = Judged(tuple(told.results), tuple(told.unanswered))
        claims = claim_changes(judged(old.value), now)
        matrices = matrix_changes(old.value.model, new.model)
    except QpsError as error:
        return unknown(error.diagnostics[0].message)
    except (SolverFault, ArithmeticError, LookupError, TypeError, ValueError) as error:
        return unknown(f"a fault of qps: {type(error).__name__}: {error}", State.FAULT)
    is_moved = bool(found.users or found.changes or found.added or found.removed)
    is_moved |= claims.are_any or any(one.is_moved for one in matrices)
    return SpecChange(
        file=file,
        was=was,
        state=State.MOVED if is_moved else State.SAME,
        view=view,
        claims=claims,
        matrices=matrices,
    )


class Told(Struct, frozen=True, kw_only=True):
    """What is known of the new version already: its claims; and how the base is called."""

    base: str
    results: Sequence[ClaimResult] = ()
    unanswered: Sequence[Diagnostic] = ()
