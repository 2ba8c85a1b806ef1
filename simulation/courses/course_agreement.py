"""The fluid model of an incident beside its simulation, number by number."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from math import isfinite

from msgspec import Struct

from qps.simulation.courses.course_runs import CourseSimulation
from qps.simulation.statistics import Estimate
from qps.solver.incidents.incident_result import IncidentAnswer
from qps.solver.profiles.course_answer import CourseAnswer

_MINUTE = 60.0
_BACKLOGS = 0.1
_TIMES = 0.12
_LOSSES = 0.1
"""By how much the fluid model may be off: see the documentation of incidents."""
_COUNTED_BACKLOG = 1.0
"""Backlogs of less, in s, are mostly random variation, which the fluid model does not have."""
_COUNTED_LOSSES = 0.005
"""So are losses of less than this part of the requests."""


class CourseMeasure(StrEnum):
    """What is compared."""

    BACKLOG = "backlog"
    LOST = "lost"
    LATE = "late"
    RESPONSE_TIME = "response_time"
    OVER = "over_at"
    CLEARED = "cleared_at"


class CourseVerdict(StrEnum):
    """Whether the fluid model is as accurate as it states."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_COMPARED = "not_compared"


class CourseComparison(Struct, frozen=True, kw_only=True):
    """A number of the fluid model and of the simulation; None for a time that was not reached.

    Of a time that not all runs reached, `reached` is the number of those that did.
    """

    measure: CourseMeasure
    subject: str
    fluid: float | None
    simulated: Estimate | None
    verdict: CourseVerdict
    reached: int | None = None


def course_comparisons(
    answer: IncidentAnswer, simulation: CourseSimulation
) -> tuple[CourseComparison, ...]:
    """Return all numbers that both have."""
    return (
        *_backlogs(answer, simulation),
        *_of_streams(answer, simulation),
        _over(answer, simulation),
    )


def day_comparisons(
    answer: CourseAnswer, simulation: CourseSimulation, hours: tuple[int, int]
) -> tuple[CourseComparison, ...]:
    """Return the backlogs of a day or a week, and when each is cleared, in s from its start."""
    return tuple(_day_comparisons(answer, simulation, hours))


def _day_comparisons(
    answer: CourseAnswer, simulation: CourseSimulation, hours: tuple[int, int]
) -> Iterator[CourseComparison]:
    start, end = hours
    peaks = {one.resource: one for one in reversed(answer.backlogs) if start <= one.start < end}
    for place, station in enumerate(simulation.course.stations):
        peak, simulated = peaks.get(station.name), simulation.backlog(place)
        worst = 0.0 if peak is None else peak.worst
        if max(worst, simulated.mean) < _COUNTED_BACKLOG:
            continue
        is_inside = peak is not None and peak.worst_at <= end and peak.cleared_at is not None
        yield CourseComparison(
            measure=CourseMeasure.BACKLOG,
            subject=station.name,
            fluid=worst,
            simulated=simulated,
            verdict=_verdict(worst, simulated, _BACKLOGS)
            if is_inside
            else CourseVerdict.NOT_COMPARED,
        )
        if peak is None or peak.cleared_at is None or peak.cleared_at > end:
            continue
        cleared = simulation.cleared_at(place)
        fluid = _MINUTE * (peak.cleared_at - start)
        yield CourseComparison(
            measure=CourseMeasure.CLEARED,
            subject=station.name,
            fluid=fluid,
            simulated=cleared,
            reached=None if cleared is not None else simulation.cleared(place),
            verdict=_cleared(fluid, _MINUTE * (peak.worst_at - start), cleared, simulation),
        )
    for name in dict.fromkeys(one.name for one in simulation.course.streams if one.name):
        yield CourseComparison(
            measure=CourseMeasure.RESPONSE_TIME,
            subject=name,
            fluid=None,
            simulated=simulation.stream(name, "worst"),
            verdict=CourseVerdict.NOT_COMPARED,
        )


def _cleared(
    fluid: float, worst_at: float, simulated: Estimate | None, simulation: CourseSimulation
) -> CourseVerdict:
    if simulated is None:
        return CourseVerdict.DIFFERS
    allowed = _TIMES * (fluid - worst_at) + _half_width(simulated) + 2 * simulation.course.width
    is_close = abs(fluid - simulated.mean) <= allowed
    return CourseVerdict.AGREES if is_close else CourseVerdict.DIFFERS


def _backlogs(answer: IncidentAnswer, simulation: CourseSimulation) -> Iterator[CourseComparison]:
    places = {one.name: place for place, one in enumerate(simulation.course.stations)}
    for number, station in enumerate(answer.system.stations):
        if station.name not in places:
            continue
        fluid = max(one.backlogs[number] for one in answer.course.points)
        simulated = simulation.backlog(places[station.name])
        if max(fluid, simulated.mean) < _COUNTED_BACKLOG:
            continue
        yield CourseComparison(
            measure=CourseMeasure.BACKLOG,
            subject=station.name,
            fluid=fluid,
            simulated=simulated,
            verdict=_verdict(fluid, simulated, _BACKLOGS),
        )


def _of_streams(answer: IncidentAnswer, simulation: CourseSimulation) -> Iterator[CourseComparison]:
    for of, stream in zip(answer.course.streams, answer.system.streams, strict=True):
        for measure, fluid, name in (
            (CourseMeasure.LOST, of.lost, "lost"),
            (CourseMeasure.LATE, of.late, "late"),
            (CourseMeasure.RESPONSE_TIME, of.worst, "worst"),
        ):
            if measure is CourseMeasure.LOST and stream.retry is None:
                continue
            if measure is CourseMeasure.LATE and stream.limit is None:
                continue
            simulated = simulation.stream(of.stream, name)
            is_counted = measure is CourseMeasure.LOST and (
                max(fluid, simulated.mean) > _COUNTED_LOSSES * of.sent
            )
            yield CourseComparison(
                measure=measure,
                subject=of.stream,
                fluid=fluid,
                simulated=simulated,
                verdict=_verdict(fluid, simulated, _LOSSES)
                if is_counted
                else CourseVerdict.NOT_COMPARED,
            )


def _over(answer: IncidentAnswer, simulation: CourseSimulation) -> CourseComparison:
    """Return when it is over; how long that takes after the last change is compared."""
    course, simulated = answer.course, simulation.over_at
    end, width = answer.system.end, simulation.course.width
    if answer.variation:
        verdict = CourseVerdict.NOT_COMPARED
    elif simulated is None:
        was_known = isfinite(course.cleared_at) and not course.is_extrapolated
        differs = was_known or simulation.over > 0
        verdict = CourseVerdict.DIFFERS if differs else CourseVerdict.AGREES
    elif not isfinite(course.cleared_at):
        verdict = CourseVerdict.DIFFERS
    else:
        after, played = (max(0.0, one - end) for one in (course.cleared_at, simulated.mean))
        off = abs(after - played)
        allowed = _TIMES * played + _half_width(simulated) + 2 * width
        verdict = CourseVerdict.AGREES if off <= allowed else CourseVerdict.DIFFERS
    return CourseComparison(
        measure=CourseMeasure.OVER,
        subject=answer.name,
        fluid=course.cleared_at if isfinite(course.cleared_at) else None,
        simulated=simulated,
        verdict=verdict,
        reached=None if simulated is not None else simulation.over,
    )


def _verdict(fluid: float, simulated: Estimate, part: float) -> CourseVerdict:
    allowed = part * abs(simulated.mean) + _half_width(simulated)
    return CourseVerdict.AGREES if abs(fluid - simulated.mean) <= allowed else CourseVerdict.DIFFERS


def _half_width(of: Estimate) -> float:
    width = of.half_width()
    return width if isfinite(width) else 0.0
