"""What an incident comes to, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

from msgspec import Struct

from qps.solver.incidents.incident_result import IncidentAnswer, Mitigation, RandomBacklog
from qps.solver.incidents.incident_system import (
    CoursePoint,
    FluidCourse,
    IncidentSystem,
    StreamOutcome,
)


class StreamOutcomeView(Struct, frozen=True, kw_only=True):
    """What became of the requests of a stream; times are in s."""

    stream: str
    sent: float
    retries: float
    lost: float
    late: float
    worst_response_time: float
    worst_at: float


class WorstBacklogView(Struct, frozen=True, kw_only=True):
    """The largest backlog of a resource, in s of its work, and when it is there.

    `is_growing` where it still grows then, at the end of what is followed: there is no largest.
    """

    resource: str
    worst: float
    worst_at: float
    is_growing: bool


class RandomBacklogView(Struct, frozen=True, kw_only=True):
    """A backlog that random variation builds alone, at a load near 1 between two times, in s.

    `worst` is the mean of the largest, in s of the work of the resource; without `over_at`, it is
    never cleared.
    """

    resource: str
    load: float
    starts_at: float
    ends_at: float
    worst: float
    over_at: float | None


class ChanceTimeoutView(Struct, frozen=True, kw_only=True):
    """A stream whose retries may overload `resource` by random waits alone, without an incident.

    `share` is the part of its requests that exceeds the timeout (in s) before any retries, and
    `load` that of the resource with all attempts of all clients.
    """

    stream: str
    timeout: float
    share: float
    resource: str
    load: float


class CoursePointView(Struct, frozen=True, kw_only=True):
    """A time of the course: requests in a second, backlogs in s by resource, all else by name.

    Loads and capacities are parts of the capacity before the incident.
    """

    at: float
    offered: float
    retries: float
    answered: float
    lost: float
    wait: float
    backlogs: dict[str, float]
    loads: dict[str, float]
    capacities: dict[str, float]
    utilizations: dict[str, float]
    machines: dict[str, int]
    hit_rates: dict[str, float]


class MitigationView(Struct, frozen=True, kw_only=True):
    """A change, and what the incident comes to with it; without `over_at`, it is never over.

    `over_at` is extrapolated where `is_extrapolated`. Requests are counted until `counted_until`:
    more are lost or late until it is over where that is later.
    """

    change: str
    target: str
    before: float | None
    after: float
    returns: bool
    over_at: float | None
    is_extrapolated: bool
    counted_until: float
    lost: float
    late: float


class IncidentModeView(Struct, frozen=True, kw_only=True):
    """What an incident comes to in a mode; without `over_at`, it is not over by itself."""

    mode: str
    returns: bool
    is_certain: bool
    over_at: float | None
    lost: float
    late: float


class IncidentView(Struct, frozen=True, kw_only=True):
    """An incident; without `over_at`, the system does not return by itself.

    `mode` is the worst mode, in which all numbers are; None where the spec has only one. `moment`
    is the time of the profiles, None without any.
    """

    name: str
    mode: str | None
    moment: str | None
    other_modes: tuple[IncidentModeView, ...]
    starts_at: float
    ends_at: float
    returns: bool
    is_certain: bool
    """Whether that is so in spite of random variation."""
    over_at: float | None
    in_time_at: float | None
    is_extrapolated: bool
    counted_until: float
    """Until when requests are counted; more are lost or late if it is not over then."""
    step: float
    streams: tuple[StreamOutcomeView, ...]
    backlogs: tuple[WorstBacklogView, ...]
    random_backlogs: tuple[RandomBacklogView, ...]
    timeouts_by_chance: tuple[ChanceTimeoutView, ...]
    mitigations: tuple[MitigationView, ...]
    course: tuple[CoursePointView, ...]


class IncidentsView(Struct, frozen=True, kw_only=True):
    """The incidents of a spec at a population."""

    schema: str
    file: str
    population: str
    at: int
    incidents: tuple[IncidentView, ...]


def incidents_view(
    file: str, population: str, at: int, answers: Sequence[IncidentAnswer]
) -> IncidentsView:
    """Return what incidents come to as plain values."""
    return IncidentsView(
        schema="qps/incident/1",
        file=file,
        population=population,
        at=at,
        incidents=tuple(map(_incident, answers)),
    )


def _incident(answer: IncidentAnswer) -> IncidentView:
    course, system = answer.course, answer.system
    return IncidentView(
        name=answer.name,
        mode=system.mode or None,
        moment=system.moment or None,
        other_modes=tuple(map(_mode, answer.others)),
        starts_at=system.start,
        ends_at=system.end,
        returns=course.returns,
        is_certain=answer.is_certain,
        over_at=_finite(course.cleared_at),
        in_time_at=_finite(course.in_time_at),
        is_extrapolated=course.is_extrapolated,
        counted_until=course.counted_until,
        step=course.step,
        streams=tuple(map(_stream, course.streams)),
        backlogs=_backlogs(course, system),
        random_backlogs=tuple(_random(one, system) for one in answer.random_backlogs),
        timeouts_by_chance=tuple(
            ChanceTimeoutView(
                stream=one.stream,
                timeout=one.timeout,
                share=one.share,
                resource=one.resource,
                load=one.load,
            )
            for one in answer.chance_timeouts
        ),
        mitigations=tuple(map(_mitigation, answer.mitigations)),
        course=tuple(_point(one, system) for one in course.points),
    )


def _mode(answer: IncidentAnswer) -> IncidentModeView:
    course = answer.course
    return IncidentModeView(
        mode=answer.system.mode,
        returns=course.returns,
        is_certain=answer.is_certain,
        over_at=_finite(course.cleared_at),
        lost=course.lost,
        late=course.late,
    )


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _stream(one: StreamOutcome) -> StreamOutcomeView:
    return StreamOutcomeView(
        stream=one.stream,
        sent=one.sent,
        retries=one.retries,
        lost=one.lost,
        late=one.late,
        worst_response_time=one.worst,
        worst_at=one.worst_at,
    )


def _backlogs(course: FluidCourse, system: IncidentSystem) -> tuple[WorstBacklogView, ...]:
    found = []
    for place, station in enumerate(system.stations):
        point = max(course.points, key=lambda one: one.backlogs[place])
        if point.backlogs[place] > 0:
            worst = point.backlogs[place]
            found.append(
                WorstBacklogView(
                    resource=station.name,
                    worst=worst,
                    worst_at=point.at,
                    is_growing=course.is_growing(place),
                )
            )
    return tuple(sorted(found, key=lambda one: -one.worst))


def _random(one: RandomBacklog, system: IncidentSystem) -> RandomBacklogView:
    return RandomBacklogView(
        resource=system.stations[one.place].name,
        load=one.load,
        starts_at=one.start,
        ends_at=one.end,
        worst=one.worst,
        over_at=_finite(one.cleared_at),
    )


def _mitigation(one: Mitigation) -> MitigationView:
    return MitigationView(
        change=one.kind.value,
        target=one.target,
        before=None if one.before == inf else one.before,
        after=one.after,
        returns=one.course.returns,
        over_at=_finite(one.course.cleared_at),
        is_extrapolated=one.course.is_extrapolated,
        counted_until=one.course.counted_until,
        lost=one.course.lost,
        late=one.course.late,
    )


def _point(one: CoursePoint, system: IncidentSystem) -> CoursePointView:
    stations = [station.name for station in system.stations]
    return CoursePointView(
        at=one.at,
        offered=one.offered,
        retries=one.retries,
        answered=one.answered,
        lost=one.failed,
        wait=one.wait,
        backlogs=dict(zip(stations, one.backlogs, strict=True)),
        loads=dict(zip(stations, one.loads, strict=True)),
        capacities=dict(zip(stations, one.capacities, strict=True)),
        utilizations=dict(zip(stations, one.utilizations, strict=True)),
        machines=dict(zip((each.node for each in system.scalers), one.machines, strict=True)),
        hit_rates=dict(zip((each.name for each in system.caches), one.hit_rates, strict=True)),
    )
