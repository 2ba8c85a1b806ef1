"""Until when the forecast is supported with each of the changes that raise the capacity."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.pipeline import Scenarios, Spec
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.solver.answers.answer_parts import Advice
from qps.solver.answers.solution import Solution
from qps.solver.calendar.month_search import calendar_answer
from qps.solver.reliable_changes import changed_by
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.what_if.advice import HelpfulChange

_MOST, _MOST_GOALS = 3, 1
"""Changes whose date is computed, and goals beside them: each has months of its own to solve."""


def with_dates(
    spec: Spec,
    scenario: Scenarios,
    settings: tuple[str, ...],
    solution: Solution,
    changes: Sequence[HelpfulChange],
    advice: Sequence[Advice],
    sampling: Sampling,
) -> tuple[Advice, ...]:
    """Return advice, the best of it with the last month in which the forecast is supported.

    `advice` is that of the `changes`, in their order. It is returned as it is for a spec without a
    forecast.
    """
    if spec.model.forecast is None:
        return tuple(advice)
    pairs = [
        (one, change)
        for one, change in zip(advice, changes, strict=True)
        if one.reliable_capacity is not None
    ]
    ranked = sorted(pairs, key=lambda pair: -(pair[0].reliable_capacity or 0))
    best = [change for _, change in ranked if not change.candidate.is_goal][:_MOST]
    best += [change for _, change in ranked if change.candidate.is_goal][:_MOST_GOALS]
    return tuple(
        replace(one, holds_until=_until(spec, scenario, settings, solution, change, sampling))
        if change in best
        else one
        for one, change in zip(advice, changes, strict=True)
    )


def _until(
    spec: Spec,
    scenario: Scenarios,
    settings: tuple[str, ...],
    solution: Solution,
    change: HelpfulChange,
    sampling: Sampling,
) -> CalendarDate | None:
    """Return the last month up to which all are supported with a change; None if there is none."""
    try:
        model, configuration = changed_by(spec, scenario, settings, solution, change.candidate)
        found = calendar_answer(model, configuration, None, sampling)
    except QpsError:
        return None
    return None if found is None else found.until
