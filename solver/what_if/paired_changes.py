"""Changes that help together: more machines in one place are stopped by the next limit.

Mostly that are two. Where several places are equally full, more machines in fewer than all of these
help nobody, so that all of them have more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.solver.answers.answer_parts import Advice
from qps.solver.what_if.candidates import Candidate, changes_mode, more_machines
from qps.solver.what_if.change_trials import NOTHING, ChangeTrials

_MOST_FIRST, _MOST_SECOND = 2, 2
"""Changes that are looked at, and those that are tried with each of them."""
_MOST_PLACES = 8
"""Equally full places that are changed together."""


def helpful_pair(trials: ChangeTrials, single: Sequence[Advice]) -> tuple[Candidate, Advice] | None:
    """Return the two places to have twice as many machines in that carry the most together.

    Of more than two that are equally full, all. None where one change alone is not stopped by
    another limit, or carries as many.
    """
    most = max((one.capacity for one in single), default=trials.now)
    found: tuple[Candidate, Advice] | None = None
    pairs = _pairs(trials, single)
    for pair in pairs:
        if not trials.supports(pair, most + 1):
            continue
        advice = trials.tried(pair, NOTHING)
        if advice is not None and advice.capacity > most:
            most, found = advice.capacity, (pair, advice)
    if found is None and pairs and most == trials.now:
        found = _of_all_full(trials, pairs[0])
    return found


def _of_all_full(trials: ChangeTrials, pair: Candidate) -> tuple[Candidate, Advice] | None:
    """Return more machines in all places that are as full as those of a pair; None for no help."""
    every = pair
    while not trials.supports(every, trials.now + 1):
        second = next(_stopping(trials, every), None)
        if second is None or len(every.together) == _MOST_PLACES:
            return None
        every = _both(every, second)
    advice = trials.tried(every, NOTHING)
    return None if advice is None else (every, advice)


def _stopping(trials: ChangeTrials, change: Candidate) -> Iterator[Candidate]:
    """Yield more machines where the next limit is that stops a change at the capacity of now."""
    try:
        limit = trials.next_limit(change, trials.now)
    except QpsError:
        return
    if limit is not None:
        yield from _allowed(_there(trials, change, limit), change)


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
        there = _there(trials, first, limit)
        pairs += (_both(first, second) for second in islice(_allowed(there, first), _MOST_SECOND))
    return pairs


def _there(
    trials: ChangeTrials, change: Candidate, limit: tuple[LoadGraph, Criterion]
) -> ChangeTrials:
    """Return the trials of changes besides one, for what limits then."""
    graph, criterion = limit
    return ChangeTrials(
        model=trials.model,
        configuration=change.configuration,
        solution=replace(trials.solution, graph=graph, limited_by=criterion.name),
        outlines=trials.outlines,
    )


def _allowed(trials: ChangeTrials, first: Candidate | None) -> list[Candidate]:
    configuration = trials.configuration
    changed = set() if first is None else {one.name for one in first.together or (first,)}
    return [
        one
        for one in more_machines(trials.model, configuration, trials.solution)
        if one.name not in changed and not changes_mode(trials.model, configuration, one)
    ]


def _both(first: Candidate, second: Candidate) -> Candidate:
    return Candidate(
        name=f"{first.name}, {second.name}",
        text=f"{first.text}, {second.text}",
        configuration=second.configuration,
        is_capacity=True,
        is_setting=False,
        together=(*(first.together or (first,)), second),
    )
