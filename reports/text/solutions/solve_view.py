"""The keys of `qps solve --format json`, of an answer."""

from __future__ import annotations

from math import isfinite
from typing import TypeVar

from msgspec import Struct

from qps.compiler.diagnostics.render import as_view
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.compiler.quantities.clock_times import DAY
from qps.reports.text.formulas.formula_text import formula
from qps.reports.text.solutions.answer_values import (
    AvailabilityView,
    CalendarView,
    ElasticView,
    FailingView,
    MeasureView,
    MonthView,
    MoreUsersView,
    PlaceAvailabilityView,
    PopulationView,
    QualityView,
    RequirementView,
    ResourceView,
    SolveView,
    StreamThereView,
    TargetView,
    TrafficView,
)
from qps.reports.text.solutions.change_wording import PLAIN_WORDS, Wording
from qps.reports.text.solutions.course_values import (
    BacklogCourseView,
    BacklogPointView,
    BacklogView,
    CourseView,
    ServerHoursView,
    TimeView,
    TransientQueueView,
)
from qps.reports.text.solutions.limit_reasons import answer_sentence
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import (
    MeasureAnswer,
    MoreUsers,
    RequirementAnswer,
    RequirementThere,
    StreamThere,
)
from qps.solver.answers.solution import ElasticSolution, ResourceSolution
from qps.solver.calendar.calendar_answer import CalendarAnswer
from qps.solver.failures.availability_result import Availability
from qps.solver.profiles.course_answer import BacklogCourse, CourseAnswer
from qps.solver.search.method import SearchMethod


def solve_view(answer: Answer, words: Wording = PLAIN_WORDS) -> SolveView:
    """Return an answer as plain values, with its changes in `words`."""
    return SolveView(
        schema="qps/solve/5",
        file=answer.file,
        model=answer.model,
        scenario=answer.scenario,
        mode=answer.mode,
        case=answer.case,
        settings=answer.settings,
        answer=answer_sentence(answer),
        population=PopulationView(answer.population, answer.low, answer.high),
        resources=tuple(map(_resource, answer.resources)),
        traffic=tuple(_same(TrafficView, one) for one in answer.traffic),
        bottleneck=answer.bottleneck,
        requirements=tuple(map(_requirement, answer.requirements)),
        measures=tuple(map(_measure, answer.measures)),
        quality=_same(QualityView, answer.quality),
        capacity=answer.capacity,
        known=answer.known,
        reliable_capacity=answer.reliable,
        at_reliable_capacity=answer.at_reliable,
        capacity_interval=None if answer.uncertainty is None else answer.uncertainty.interval,
        uncertainty=answer.uncertainty,
        treated_as_exact=answer.counted_as_known,
        limited_by=answer.limited_by,
        at=answer.at,
        next_limit=answer.next_limit,
        more_users=None if answer.more_users is None else _more_users(answer.more_users),
        targets=tuple(_same(TargetView, one) for one in answer.margins),
        best_changes=words.best_changes,
        sensitivity=answer.sensitivity,
        sensitivity_of=answer.sensitivity_of,
        elastic=tuple(map(_elastic, answer.elastic)),
        closed=answer.closed,
        mixes=answer.mixes,
        cost=answer.costs,
        modes=answer.modes,
        advice=words.changes,
        warnings=tuple(as_view(one) for one in (*answer.spec_warnings, *answer.warnings)),
        calendar=None if answer.calendar is None else _calendar(answer.calendar),
        availability=None if answer.availability is None else _available(answer.availability),
        course=None if answer.course is None else _course(answer.course),
    )


def _course(found: CourseAnswer) -> CourseView:
    return CourseView(
        cycle="day" if found.cycle == DAY else "week",
        at=found.at,
        worst_time=found.worst.name,
        times=tuple(
            _same(
                TimeView,
                one,
                values=dict(one.values),
                utilization=one.utilization if isfinite(one.utilization) else None,
                supported=one.is_met,
            )
            for one in found.moments
        ),
        backlogs=tuple(_same(BacklogView, one) for one in found.backlogs),
        backlog_courses=tuple(map(_backlog_course, found.backlog_courses)),
        servers=tuple(_same(ServerHoursView, one) for one in found.servers),
        slow_queues=tuple(_same(TransientQueueView, one) for one in found.transient),
    )


def _backlog_course(found: BacklogCourse) -> BacklogCourseView:
    points = tuple(_same(BacklogPointView, one) for one in found.points)
    return BacklogCourseView(resource=found.resource, points=points)


def _calendar(found: CalendarAnswer) -> CalendarView:
    return CalendarView(
        parameter=found.name,
        verdict=found.verdict.value,
        holds_until=_iso(found.until),
        fails_in=_iso(found.ends),
        limited_by=found.limited_by,
        confidence=found.confidence,
        interval=None
        if found.interval is None
        else (_iso(found.interval[0]), _iso(found.interval[1])),
        known=found.known,
        months=tuple(
            _same(MonthView, one, date=one.date.iso, supported=one.holds) for one in found.months
        ),
    )


def _available(found: Availability) -> AvailabilityView:
    places = tuple(_same(PlaceAvailabilityView, one) for one in found.places)
    return _same(AvailabilityView, found, places=places)


def _iso(date: CalendarDate | None) -> str | None:
    return None if date is None else date.iso


S = TypeVar("S", bound=Struct)


def _same(kind: type[S], value: Struct, **others: object) -> S:
    """Return a view with the fields of a value that it has, and `others`."""
    fields = {name: getattr(value, name) for name in kind.__struct_fields__ if name not in others}
    return kind(**fields, **others)


def _resource(one: ResourceSolution) -> ResourceView:
    found = one.saturation
    return _same(
        ResourceView,
        one,
        utilization=formula(one.load),
        saturates_at=found.at,
        saturates_not_below=found.not_below,
        closed_form=found.method is SearchMethod.CLOSED_FORM,
        method=found.method.value,
        known=one.saturation_known,
    )


def _requirement(one: RequirementAnswer) -> RequirementView:
    return _same(
        RequirementView,
        one,
        measure=one.name,
        operator=("<" if one.at_most else ">") + ("" if one.strict else "="),
        unit=str(one.dimension),
        value_at_limit=one.now.value,
        value_beyond=None if one.beyond is None else one.beyond.value,
        certainty=one.confidence,
        known=one.now.known,
    )


def _measure(one: MeasureAnswer) -> MeasureView:
    return _same(MeasureView, one, unit=str(one.dimension))


def _elastic(one: ElasticSolution) -> ElasticView:
    unit = str(one.dimension)
    return _same(ElasticView, one, parameter=one.name, unit=unit, lowered=one.is_lowered)


def _more_users(more: MoreUsers) -> MoreUsersView:
    return MoreUsersView(
        at=more.at,
        range_ends=more.is_end_of_range,
        quality=None if more.quality is None else more.quality.value,
        fails=tuple(map(_failing, more.failing)),
        streams=tuple(map(_stream, more.streams)),
        beyond_target=more.loads,
    )


def _failing(one: RequirementThere) -> FailingView:
    of, there = one.requirement, one.reading
    unit = str(of.dimension)
    return FailingView(
        requirement=of.name, value=there.value, limit=of.limit, unit=unit, known=there.known
    )


def _stream(one: StreamThere) -> StreamThereView:
    return _same(
        StreamThereView,
        one,
        stream=one.name,
        loss=one.loss[1],
        loss_before=one.loss[0],
        lost_at=one.lost_at if one.loses_more else "",
        latency=one.latency[1],
        latency_before=one.latency[0],
        slower_at=one.slower_at if one.is_later else "",
        rate=one.rate[1],
        rate_before=one.rate[0],
    )
