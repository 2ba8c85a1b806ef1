"""Whether random variation decides if a system returns by itself: near the limit, it does.

Requests arrive and are served at random. Of N of them, twice the standard deviation of arrivals and
services together is a part 2 √(2/N). If so many more or fewer requests during an incident change
whether it is over by itself, that is not known.
"""

from __future__ import annotations

from math import sqrt

from msgspec.structs import replace

from qps.solver.incidents.course_steps import step_of, tried_for
from qps.solver.incidents.fluid_course import fluid_course
from qps.solver.incidents.incident_system import FluidCourse, IncidentSystem, TrafficChange

_DEVIATIONS = 2.0
_MOST = 0.5


def _variation(system: IncidentSystem) -> float:
    """Return the part by which the requests of an incident may be more or fewer."""
    many = sum(one.rate for one in system.streams) * _length(system)
    return min(_MOST, _DEVIATIONS * sqrt(2 / many)) if many > 0 else 0.0


def deciding_variation(system: IncidentSystem, course: FluidCourse) -> float:
    """Return the part by which requests vary if that decides whether it is over; else 0."""
    if not any(one.retry is not None and one.retry.retries > 0 for one in system.streams):
        return 0.0
    if course.is_extrapolated or not any(one.retries for one in course.streams):
        return 0.0
    part, step = _variation(system), step_of(system)
    factor = 1 + part if course.returns else 1 - part
    is_same = fluid_course(_varied(system, factor), step).returns == course.returns
    return 0.0 if is_same else part


def _varied(system: IncidentSystem, factor: float) -> IncidentSystem:
    """Return a system with other traffic from the start of an incident to its last retries."""
    end = system.start + _length(system)
    changes = [
        TrafficChange(stream=one.name, factor=factor, start=system.start, end=end)
        for one in system.streams
    ]
    return replace(system, traffic_changes=(*system.traffic_changes, *changes))


def _length(system: IncidentSystem) -> float:
    retries = [one.retry for one in system.streams if one.retry is not None]
    tries = [one.timeout + tried_for(one) for one in retries]
    return max(system.end - system.start, *tries)
