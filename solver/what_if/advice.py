"""What would help: single changes of a configuration, and the largest population each gives.

The three ways are those of Claypool 1997, section 2.4.1: increasing capacity (better, more or
special hardware), decreasing the demand, and shifting demand from a component that is short of
capacity to one that has some left.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.solver.answers.answer_parts import Advice, ChangeKind
from qps.solver.answers.solution import CapacityVerdict, Solution
from qps.solver.what_if.candidates import Candidate, candidates, changes_mode
from qps.solver.what_if.change_trials import MOST_OF_A_KIND, NOTHING, ChangeTrials
from qps.solver.what_if.first_users import ladders, mildest
from qps.solver.what_if.infeasibility_screen import outlines_for
from qps.solver.what_if.paired_changes import helpful_pair
from qps.solver.what_if.relaxed_goals import goal_ladders


class HelpfulChange(Struct, frozen=True):
    """A change that was tried, and what it gives."""

    advice: Advice
    candidate: Candidate


def advise(model: ir.Model, configuration: Configuration, solution: Solution) -> tuple[Advice, ...]:
    """Return the changes that help most, three of each kind at most, the best first."""
    return tuple(one.advice for one in helpful_changes(model, configuration, solution))


def helpful_changes(
    model: ir.Model, configuration: Configuration, solution: Solution
) -> tuple[HelpfulChange, ...]:
    """Return the same with what was tried.

    Empty where the system does not limit the population: there is nothing to help.
    """
    if solution.verdict is CapacityVerdict.RANGE:
        return ()
    tried = [
        candidate
        for candidate in candidates(model, configuration, solution)
        if not changes_mode(model, configuration, candidate)
    ]
    changed = (candidate.configuration for candidate in tried)
    outlines = outlines_for(model, configuration, solution, changed)
    trials = ChangeTrials(
        model=model, configuration=configuration, solution=solution, outlines=outlines
    )
    found: dict[ChangeKind, list[Advice]] = {kind: [] for kind in ChangeKind}
    by_change: dict[Advice, Candidate] = {}

    def report(candidate: Candidate, advice: Advice | None) -> None:
        if advice is not None:
            by_change[advice] = candidate
            of_its_kind = [*found[advice.kind], advice]
            of_its_kind.sort(key=lambda a: (-a.capacity, a.change))
            found[advice.kind] = of_its_kind[:MOST_OF_A_KIND]

    for candidate in tried:
        report(candidate, trials.tried(candidate, found))
    if solution.capacity is None:
        known = {advice.name for kind in ChangeKind for advice in found[kind]}
        for ladder in ladders(model, configuration, solution):
            step = None
            if ladder and not _has_known(ladder[0].name, known):
                step = mildest(ladder, trials.supports_users)
            if step is not None and not changes_mode(model, configuration, step):
                report(step, trials.tried(step, NOTHING))
                known.add(step.name)
    pair = helpful_pair(trials, found[ChangeKind.CAPACITY])
    if pair is not None:
        by_change[pair[1]] = pair[0]
        found[ChangeKind.CAPACITY] = [pair[1], *found[ChangeKind.CAPACITY]]
    for ladder in goal_ladders(model, configuration, solution):
        report(*trials.relaxed(ladder))
    return tuple(HelpfulChange(one, by_change[one]) for kind in ChangeKind for one in found[kind])


def _has_known(name: str, known: Collection[str]) -> bool:
    """Return whether a change of a number is known, or of one of its own: faster cores, more."""
    return name in known or any(one.startswith(f"{name}.") for one in known)
