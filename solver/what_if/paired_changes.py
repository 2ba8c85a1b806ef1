"""Two changes that help together: more machines in one place are stopped by the next limit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from msgspec.structs import replace

from qps.compiler.diagnostics.diagnostic import QpsError
from qps.solver.answers.answer_parts import Advice
from qps.solver.what_if.candidates import Candidate, changes_mode, more_machines
from qps.solver.what_if.change_trials import NOTHING, ChangeTrials

_MOST_FIRST, _MOST_SECOND = 2, 2
"""Changes that are looked at, and those that are tried with each of them."""


def helpful_pair(trials: ChangeTrials, single: Sequence[Advice]) -> tuple[Candidate, Advice] | None:
    """Return the two places to have twice as many machines in that carry the most together.

    None where one change alone is not stopped by another limit, or carries as many.
    """
    most = max((one.capacity for one in single), default=trials.now)
    found: tuple[Candidate, Advice] | None = None
    for pair in _pairs(trials, single):
        if not trials.supports(pair, most + 1):
            continue
        advice = trials.tried(pair, NOTHING)
        if advice is not None and advice.capacity > most:
            most, found = advice.capacity, (pair, advice)
    return found


def _pairs(trials: ChangeTrials, single: Sequence[Advice]) -> list[Candidate]:
    """Return pairs: what the limit takes, and what the next limit takes then."""
    capacities = {one.change: one.capacity for one in single}
    firsts = sorted(_allowed(trials, None), key=lambda one: -capacities.get(one.text, trials.now))[
        :_MOST_FIRST
    ]
    pairs: list[Candidate] = []
    for first in firsts:
        try:
            limit = trials.next_limit(first, capacities.get(first.text, trials.now))
        except QpsError:
            continue
        if limit is None or limit[1].name == trials.solution.limited_by:
            continue
        graph, criterion = limit
        there = ChangeTrials(
            model=trials.model,
            configuration=first.configuration,
            solution=replace(trials.solution, graph=graph, limited_by=criterion.name),
            outlines=trials.outlines,
        )
        pairs += (_both(first, second) for second in islice(_allowed(there, first), _MOST_SECOND))
    return pairs


def _allowed(trials: ChangeTrials, first: Candidate | None) -> list[Candidate]:
    configuration = trials.configuration
    return [
        one
        for one in more_machines(trials.model, configuration, trials.solution)
        if (first is None or one.name != first.name)
        and not changes_mode(trials.model, configuration, one)
    ]


def _both(first: Candidate, second: Candidate) -> Candidate:
    return Candidate(
        name=f"{first.name}, {second.name}",
        text=f"{first.text}, {second.text}",
        configuration=second.configuration,
        is_capacity=True,
        is_setting=False,
        together=(first, second),
    )
