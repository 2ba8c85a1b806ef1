"""What changed between two specs, and which change moved the answer by how much.

Every difference is a *change* that can be made or left: an option, a number, the range of the
population, what stands in a place, and one for all that remains (other steps, streams,
requirements: the formulas). What they move adds up to the difference of the answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.certainty_requirements import as_stated
from qps.compiler.lower.load_graph import Assumption
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.assumption_changes import (
    AssumptionChange,
    AssumptionChangeKind,
    ConfiguredModel,
    Sides,
)
from qps.solver.what_if.intermediate_answers import ConfidenceModel, IntermediateAnswers
from qps.solver.what_if.model_error import SupportedUsers
from qps.solver.what_if.shapley import both_orders, moved_by, shapley, steps

MOST_SHARED = 8
"""Changes up to which Shapley values are computed: they need 2^n answers."""
_MOST_SAMPLED = 4
"""The same, where each answer is what samples promise."""


class Difference(Struct, frozen=True, kw_only=True):
    """Two solutions, and all that differs between the specs; `added` and `removed` are numbers.

    Where it is `within_error`, the answers differ by less than the model error of what they rest
    on: that is no difference.
    """

    old: Solution
    new: Solution
    added: tuple[Assumption, ...]
    removed: tuple[Assumption, ...]
    changes: tuple[AssumptionChange, ...]
    within_error: bool = False

    @property
    def users(self) -> int:
        """How many more users the new spec carries; none counts as 0."""
        if self.within_error:
            return 0
        return (self.new.capacity or 0) - (self.old.capacity or 0)

    @property
    def is_moved(self) -> bool:
        """Whether the capacity or any number differs."""
        return bool(self.users or self.changes or self.added or self.removed)


def difference(
    old: ConfiguredModel, new: ConfiguredModel, at_confidence: ConfidenceModel | None = None
) -> Difference:
    """Return what differs between two specs, and how much of the answer each change explains.

    Where requirements state a confidence level, `at_confidence` finds what can be promised, of each
    answer on the way as well.
    """
    is_sampled = any(as_stated(s.model, s.configuration) is not s.model for s in (old, new))
    sides = Sides(old, new)
    between = IntermediateAnswers(sides=sides, at_confidence=at_confidence if is_sampled else None)
    changes = sides.changes(is_sampled=between.at_confidence is not None)
    if between.formulas_differ([one for one in changes if one.kind.moves]):
        changes.append(AssumptionChange(name="formulas", kind=AssumptionChangeKind.FORMULAS))
    solutions = [
        solve_model(between.confidence_model(side), side.configuration) for side in (old, new)
    ]
    ends = [_capacity(solution) for solution in solutions]
    within_error = ends[0].differs_within_error_from(ends[1])
    return Difference(
        old=solutions[0],
        new=solutions[1],
        added=tuple(a for name, a in new.numbers.items() if name not in old.numbers),
        removed=tuple(a for name, a in old.numbers.items() if name not in new.numbers),
        changes=(
            *_explained(changes, between, ends, within_error=within_error),
            *sides.disciplines(),
        ),
        within_error=within_error,
    )


def _capacity(solution: Solution) -> SupportedUsers:
    graphs = [each.graph for each in (solution, *solution.others)]
    return SupportedUsers(graphs, solution.capacity or 0)


def _explained(
    changes: Sequence[AssumptionChange],
    between: IntermediateAnswers,
    ends: Sequence[SupportedUsers],
    *,
    within_error: bool,
) -> list[AssumptionChange]:
    """Return changes with what each moves the answer by; those of the formulas move that."""
    moving = [change for change in changes if change.kind.moves]
    keys = [change.key for change in moving]
    known: dict[frozenset[str], SupportedUsers | None] = {
        frozenset(keys): ends[1],
        frozenset(): ends[0],
    }

    def capacity(changes: frozenset[str]) -> SupportedUsers | None:
        if changes not in known:
            known[changes] = between.capacity(changes, moving)
        return known[changes]

    def answer(changes: frozenset[str]) -> int | None:
        if within_error and len(changes) == len(keys):
            return ends[0].users
        found = capacity(changes)
        return None if found is None else found.users

    most = MOST_SHARED if between.at_confidence is None else _MOST_SAMPLED
    shares = (shapley if len(keys) <= most else both_orders)(keys, answer) or [None] * len(keys)
    effects = dict(zip(keys, zip(steps(keys, answer), shares, strict=True), strict=True))

    def explained(change: AssumptionChange) -> AssumptionChange:
        step, share = effects[change.key]
        alone = capacity(frozenset([change.key]))
        return replace(
            change,
            alone=moved_by(answer(frozenset([change.key])), ends[0].users),
            step=step,
            share=share,
            within_error=alone is not None and alone.differs_within_error_from(ends[0]),
        )

    return [explained(change) if change.kind.moves else change for change in changes]
