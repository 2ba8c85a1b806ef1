"""What would have made an incident shorter, as a table."""

from __future__ import annotations

from math import inf, isfinite

from qps.reports.text.layout.table import Table
from qps.reports.text.solutions.course_text import duration
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent
from qps.solver.incidents.incident_result import IncidentAnswer, Mitigation, MitigationKind
from qps.solver.incidents.incident_system import FluidCourse

SHOWN_COUNT = 0.5
"""Fewer requests are none."""
_MOST_CHANGES = 4


def mitigations_table(answer: IncidentAnswer) -> Table:
    """Return what would have made it shorter, the shortest first."""
    shown = answer.mitigations[:_MOST_CHANGES]
    headings = (
        phrase("incident.change"),
        phrase("incident.label.over"),
        phrase("incident.label.lost"),
        phrase("incident.label.late"),
    )
    rows = [
        (
            _change(one),
            over_at(one.course.cleared_at, is_extrapolated=one.course.is_extrapolated),
            _counted(one.course, one.course.lost),
            _counted(one.course, one.course.late),
        )
        for one in shown
    ]
    return Table(headings, tuple(rows), frozenset({1, 2, 3}))


def mitigation_notes(answer: IncidentAnswer) -> tuple[str, ...]:
    """Return until when requests are counted, where more follow with some of the changes."""
    shown = answer.mitigations[:_MOST_CHANGES]
    until = [one.course.counted_until for one in shown if one.course.is_partial]
    return (phrase("incident.counted_until", at=duration(min(until))),) if until else ()


def _counted(course: FluidCourse, count: float) -> str:
    """Return a number of requests, at least as many if more follow than are counted."""
    return f"≥ {amount(count)}" if course.is_partial else amount(count)


def over_at(cleared_at: float, *, is_extrapolated: bool) -> str:
    """Return in few words when it is over."""
    if not isfinite(cleared_at):
        return phrase("incident.never_short")
    if is_extrapolated:
        return phrase("incident.about", at=duration(cleared_at))
    return duration(cleared_at) if cleared_at > 0 else phrase("incident.at_once")


def _change(one: Mitigation) -> str:
    match one.kind:
        case MitigationKind.RETRY_BUDGET:
            if one.before == inf:
                return phrase("incident.budget", after=percent(one.after), target=one.target)
            return phrase(
                "incident.budget_from",
                before=percent(one.before),
                after=percent(one.after),
                target=one.target,
            )
        case MitigationKind.NO_RETRIES:
            return phrase("incident.no_retries", target=one.target)
        case MitigationKind.MACHINES:
            key = "incident.machines"
        case MitigationKind.LEAST_MACHINES:
            key = "incident.least"
        case MitigationKind.MOST_MACHINES:
            key = "incident.most"
    return phrase(key, node=one.target, before=round(one.before), after=round(one.after))


def amount(count: float) -> str:
    """Return a number of requests with as many digits as a fluid model knows.

    >>> amount(1_005_716.9), amount(0.2)
    ('1,010,000', '0')
    """
    return f"{round(float(f'{count:.3g}')):,}" if count >= SHOWN_COUNT else phrase("incident.none")
