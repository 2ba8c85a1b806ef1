"""Which changes of the text of a spec raise the capacity: each is written, checked and solved.

The text is changed as a person would change it, so that the capacity is that of the spec with the
lines that are printed. A change that the checker refuses is no change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain
from math import ceil

from msgspec.structs import replace

from qps.compiler.configure.configuration import uncertain_in_any_mode
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.pipeline import Scenarios, Spec, check_source
from qps.compiler.syntax.text_edits import edited
from qps.solver.answers.answer_parts import Advice, ChangeKind, SpecRewrite
from qps.solver.answers.solution import CapacityVerdict, Solution
from qps.solver.spec_changes.moved_steps import moved_steps
from qps.solver.spec_changes.night_work import night_work
from qps.solver.spec_changes.reservations import reservations
from qps.solver.spec_changes.scheduling import scheduling_changes
from qps.solver.spec_changes.spec_edit import Limited, SpecEdit
from qps.solver.spec_changes.statement_edits import line_changes
from qps.solver.what_if.advice import HelpfulChange
from qps.solver.what_if.candidates import Candidate
from qps.solver.what_if.change_trials import MOST_OF_A_KIND, ChangeTrials
from qps.solver.what_if.infeasibility_screen import Outlines

_LEAST_GAIN, _LEAST_UNCERTAIN_GAIN = Fraction(11, 10), Fraction(21, 20)
MOST_TRIED = 10
"""Changes of one spec that are checked and solved."""


def spec_changes(limited: Limited) -> Iterator[SpecEdit]:
    """Yield the changes that are worth a trial, by what limits."""
    return chain(
        moved_steps(limited),
        scheduling_changes(limited),
        night_work(limited),
        reservations(limited),
    )


def helpful_spec_changes(
    spec: Spec,
    scenario: Scenarios,
    settings: tuple[str, ...],
    solution: Solution,
    known: Iterable[HelpfulChange] = (),
) -> tuple[HelpfulChange, ...]:
    """Return the changes that are `known` to help with those of the text, by their kinds.

    Of each kind there are three at most that are no settings.
    """
    known = tuple(known)
    if solution.verdict is CapacityVerdict.RANGE:
        return known
    limited = Limited(
        spec=spec, configuration=spec.configuration(scenario, settings), solution=solution
    )
    found: dict[ChangeKind, list[Advice]] = {kind: [] for kind in ChangeKind}
    helping: dict[Advice, HelpfulChange] = {}
    least = _least_worth(limited)
    for change in _first_of(spec_changes(limited)):
        one = _tried(limited, (scenario, settings), change, found, least)
        if one is None:
            continue
        helping[one.advice] = one
        ranked = sorted([*found[change.kind], one.advice], key=lambda a: (-a.capacity, a.change))
        found[change.kind] = ranked[:MOST_OF_A_KIND]
    of_text = [helping[one] for kind in ChangeKind for one in found[kind]]
    kinds = list(ChangeKind)
    return tuple(sorted((*known, *of_text), key=lambda one: kinds.index(one.advice.kind)))


def _least_worth(limited: Limited) -> int:
    """Return the capacity that a change of the text must give: a tenth more than now.

    With uncertain inputs it is a twentieth: what can be relied on may grow by more.
    """
    graph = limited.solution.graph
    now = limited.solution.capacity or graph.low - 1
    is_uncertain = uncertain_in_any_mode(limited.model, limited.configuration)
    gain = _LEAST_UNCERTAIN_GAIN if is_uncertain else _LEAST_GAIN
    return min(graph.high, max(now + 1, ceil(now * gain)))


def _first_of(changes: Iterator[SpecEdit]) -> Iterator[SpecEdit]:
    for number, change in enumerate(changes):
        if number == MOST_TRIED:
            return
        yield change


def _tried(
    limited: Limited,
    requested: tuple[Scenarios, tuple[str, ...]],
    change: SpecEdit,
    found: dict[ChangeKind, list[Advice]],
    least: int,
) -> HelpfulChange | None:
    """Return what a change gives, with the scenario and settings that are requested.

    None where it cannot be, or gives less than the least that is worth it.
    """
    (scenario, settings), source = requested, limited.source
    text = edited(source.text, change.edits)
    try:
        checked = check_source(replace(source, text=text)).value
        if checked is None:
            return None
        changed = checked.with_parts_of(settings)
        configuration = changed.configuration(scenario, settings)
    except QpsError:
        return None
    lines = line_changes(source.text, change.edits)
    candidate = Candidate(
        name=change.name,
        text=f"{change.method}: {', '.join(change.parts)}",
        configuration=configuration,
        is_capacity=False,
        is_setting=False,
        kind=change.kind,
        to=change.to,
        rewrite=SpecRewrite(method=change.method, parts=change.parts, lines=lines),
        rewritten=changed.model,
    )
    trials = ChangeTrials(
        model=changed.model,
        configuration=configuration,
        solution=limited.solution,
        outlines=Outlines(changed.model, {}),
    )
    if not trials.supports(candidate, least):
        return None
    advice = trials.tried(candidate, found)
    return None if advice is None else HelpfulChange(advice, candidate)
