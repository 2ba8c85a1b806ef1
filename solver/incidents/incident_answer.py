"""What an incident comes to, and what would have made it shorter: each change is solved, too."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.lowering import lower
from qps.solver.incidents.course_steps import step_of
from qps.solver.incidents.fluid_course import fluid_course
from qps.solver.incidents.incident_model import incident_system
from qps.solver.incidents.incident_numbers import incident_modes, modes_of_incidents
from qps.solver.incidents.incident_result import IncidentAnswer, Mitigation, MitigationKind
from qps.solver.incidents.incident_system import (
    FluidCourse,
    IncidentSystem,
    RequestStream,
    ScalingPolicy,
)
from qps.solver.incidents.random_backlogs import random_backlogs
from qps.solver.incidents.random_variation import deciding_variation
from qps.solver.incidents.timeouts_by_chance import timeouts_by_chance

_BUDGET = 0.1
_MOST_TIMES = 16
"""How many times as many machines are tried at most."""
_LEAST_COUNT = 0.5
"""Less than so many requests are none."""
_BETTER = 0.95
"""A change is worth mentioning if it leaves at most this part of what is lost or of the time."""


def incident_answer(
    model: ir.Model,
    configuration: Configuration,
    incident: ir.Incident,
    population: int,
    *,
    advice: bool = True,
) -> IncidentAnswer:
    """Return what an incident comes to for so many users in the worst mode, at nominal inputs."""
    modes = incident_modes(model, configuration, population)
    found = [_in_mode(model, one, incident, population) for one in modes]
    worst, *others = sorted(found, key=lambda one: one.severity, reverse=True)
    answer = replace(worst, others=tuple(others), modes=modes_of_incidents(model))
    return _with_mitigations(answer) if advice else answer


def _in_mode(
    model: ir.Model, configuration: Configuration, incident: ir.Incident, population: int
) -> IncidentAnswer:
    """Return what an incident comes to in a mode."""
    system = incident_system(model, configuration, incident, population)
    course = fluid_course(system)
    return IncidentAnswer(
        name=incident.name, at=population, configuration=configuration,
        system=system, course=course,
        variation=deciding_variation(system, course),
        random_backlogs=random_backlogs(system, course),
        chance_timeouts=timeouts_by_chance(
            model, configuration, lower(model, configuration), population
        ),
    )  # fmt: skip


def _with_mitigations(answer: IncidentAnswer) -> IncidentAnswer:
    """Return an answer with what would have made the incident shorter."""
    if answer.course.cleared_at <= answer.system.start:
        return answer
    found = [one for one in _tried(answer) if _is_better(one.course, answer.course)]
    found.sort(key=lambda one: (one.course.cleared_at, one.course.lost + one.course.late))
    return replace(answer, mitigations=tuple(found))


def _is_better(course: FluidCourse, before: FluidCourse) -> bool:
    if course.returns != before.returns:
        return course.returns
    unserved, unserved_before = course.lost + course.late, before.lost + before.late
    if not course.returns or unserved > unserved_before + _LEAST_COUNT:
        return False
    is_shorter = course.cleared_at < _BETTER * before.cleared_at
    return is_shorter or (
        unserved < _BETTER * unserved_before and course.cleared_at <= before.cleared_at
    )


def _tried(answer: IncidentAnswer) -> Iterator[Mitigation]:
    """Yield changes with what they make of an incident."""
    system = answer.system
    for place, stream in enumerate(system.streams):
        retry = stream.retry
        if retry is None or retry.retries == 0:
            continue
        if retry.budget is None or retry.budget > _BUDGET:
            policy = replace(retry, budget=_BUDGET)
            changed = _with_stream(system, place, replace(stream, retry=policy))
            before = inf if retry.budget is None else retry.budget
            yield _mitigation(
                MitigationKind.RETRY_BUDGET, stream.name, before, _BUDGET, changed, answer
            )
        changed = _with_stream(system, place, replace(stream, retry=replace(retry, retries=0)))
        yield _mitigation(MitigationKind.NO_RETRIES, stream.name, retry.retries, 0, changed, answer)
    if answer.bottleneck is None:
        return
    node = system.stations[answer.bottleneck].node
    scaler = system.scaler_of(node)
    if scaler is None:
        found = _more_machines(answer, node)
        if found is not None:
            yield found
        return
    yield from _of_scaler(answer, scaler)


def _of_scaler(answer: IncidentAnswer, scaler: ScalingPolicy) -> Iterator[Mitigation]:
    """Yield a higher least and largest number of machines."""
    system = answer.system
    place = system.scalers.index(scaler)
    most = max(one.machines[place] for one in answer.course.points)
    if most > scaler.at_start:
        changed = _with_scaler(system, scaler, replace(scaler, least=most, at_start=most))
        yield _mitigation(
            MitigationKind.LEAST_MACHINES, scaler.node, scaler.least, most, changed, answer
        )
    if most >= scaler.most:
        changed = _with_scaler(system, scaler, replace(scaler, most=2 * scaler.most))
        yield _mitigation(
            MitigationKind.MOST_MACHINES, scaler.node, scaler.most, 2 * scaler.most, changed, answer
        )


def _more_machines(answer: IncidentAnswer, node: str) -> Mitigation | None:
    """Return the least number of machines with which the system returns, or twice as many."""
    system = answer.system
    count = system.counts[node]

    def tried(many: int) -> Mitigation:
        changed = with_machines(system, node, many / count)
        return _mitigation(MitigationKind.MACHINES, node, count, many, changed, answer)

    if answer.course.returns:
        return tried(2 * count)
    fails, works = count, None
    while fails < _MOST_TIMES * count:
        works = tried(2 * fails)
        if works.course.returns:
            break
        fails, works = 2 * fails, None
    while works is not None and works.after - fails > max(1, count // 20):
        middle = tried(round((works.after + fails) / 2))
        if middle.course.returns:
            works = middle
        else:
            fails = round(middle.after)
    return works


def with_machines(system: IncidentSystem, node: str, times: float) -> IncidentSystem:
    """Return a system with so many times the machines of a node."""
    return replace(
        system,
        stations=tuple(
            replace(one, servers=one.servers * times) if one.node == node else one
            for one in system.stations
        ),
    )


def _with_stream(system: IncidentSystem, place: int, stream: RequestStream) -> IncidentSystem:
    streams = [*system.streams]
    streams[place] = stream
    return replace(system, streams=tuple(streams))


def _with_scaler(
    system: IncidentSystem, before: ScalingPolicy, after: ScalingPolicy
) -> IncidentSystem:
    return replace(system, scalers=tuple(after if one is before else one for one in system.scalers))


def _mitigation(
    kind: MitigationKind,
    target: str,
    before: float,
    after: float,
    changed: IncidentSystem,
    answer: IncidentAnswer,
) -> Mitigation:
    """Return a change; its course is followed in the same steps, up to the time that is known."""
    course = fluid_course(changed, step_of(answer.system), answer.course.cleared_at)
    return Mitigation(kind=kind, target=target, before=before, after=after, course=course)
