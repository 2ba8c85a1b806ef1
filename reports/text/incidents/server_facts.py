"""How many machines autoscalers have in an incident, and whether they reach their targets."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from qps.reports.text.solutions.course_text import duration
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent
from qps.solver.incidents.incident_system import FluidCourse, IncidentSystem

_ROUNDING = 1e-9


def server_facts(course: FluidCourse, system: IncidentSystem) -> Iterator[tuple[str, str]]:
    """Yield the number of machines of each autoscaled node, with a label at the first."""
    label = phrase("incident.label.servers")
    for place, scaler in enumerate(system.scalers):
        point = max(course.points, key=lambda one: one.machines[place])
        most = point.machines[place]
        servers = phrase(
            "incident.servers" if most > scaler.at_start else "incident.same_servers",
            node=scaler.node,
            first=scaler.at_start,
            most=most,
            at=duration(point.at),
        )
        needed = machines_needed(course, system, place)
        if needed > scaler.most:
            servers = phrase(
                "incident.servers_at_most",
                servers=servers,
                target=percent(scaler.target),
                most=scaler.most,
                needed=f"{needed:,}",
            )
        yield label, servers
        label = ""


def machines_needed(course: FluidCourse, system: IncidentSystem, place: int) -> int:
    """Return how many machines the most work of a second takes at the target of an autoscaler.

    Its largest number if that is within the tolerance.
    """
    scaler = system.scalers[place]
    own = [
        number
        for number, one in enumerate(system.stations)
        if one.node == scaler.node and one.is_processor
    ]
    work = max((point.loads[number] for point in course.points for number in own), default=0.0)
    machines = work * scaler.at_start / scaler.target
    if machines <= scaler.most * (1 + scaler.tolerance):
        return min(scaler.most, ceil(machines))
    return ceil(machines - _ROUNDING)
