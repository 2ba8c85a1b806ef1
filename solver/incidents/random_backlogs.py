"""Backlogs that random variation alone builds, where a load is near 100 % for a time.

A fluid has no backlog there. The work that waits is a reflected Brownian motion instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import inf, sqrt

from qps.engine.queueing.diffusion_backlogs import mean_backlog, mean_largest_backlog
from qps.solver.incidents.incident_result import RandomBacklog
from qps.solver.incidents.incident_system import FluidCourse, FluidStation, IncidentSystem

_DEVIATIONS_BELOW = 3.0
"""So many standard deviations of the work that comes may a load be below the capacity."""
_MORE = 1.1
"""By so much a backlog is larger than that of a fluid."""


def random_backlogs(system: IncidentSystem, course: FluidCourse) -> tuple[RandomBacklog, ...]:
    """Return the backlogs by random variation that a fluid does not have, the largest first.

    Retries and caches that fill are left out: these are followed as a fluid alone. So are nodes
    while an autoscaler changes their number of machines.
    """
    if system.flushes:
        return ()
    found = []
    for place, station in enumerate(system.stations):
        fluid = max(point.backlogs[place] for point in course.points)
        found += [
            one
            for one in _of_station(system, course, place, station)
            if one.worst > _MORE * fluid
        ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: -one.worst))


def _of_station(
    system: IncidentSystem, course: FluidCourse, place: int, station: FluidStation
) -> Iterator[RandomBacklog]:
    times = {0.0, system.end}
    times |= {time for one in system.capacity_changes for time in (one.start, one.end)}
    times |= {time for one in system.traffic_changes for time in (one.start, one.end)}
    for start, end in pairwise(sorted(times)):
        work, variance = _work(system, place, station, start)
        capacity = _capacity(system, course, place, start, end)
        drift, length = work - capacity, end - start
        if capacity <= 0 or variance <= 0 or drift < -_DEVIATIONS_BELOW * sqrt(variance / length):
            continue
        last = mean_backlog(drift, variance, length)
        spare = _capacity(system, course, place, end, inf) - _work(system, place, station, end)[0]
        yield RandomBacklog(
            place=place,
            load=work / capacity,
            start=start,
            end=end,
            worst=mean_largest_backlog(drift, variance, length) / station.servers,
            last=last / station.servers,
            cleared_at=end + last / spare if spare > 0 else inf,
        )


def _work(
    system: IncidentSystem, place: int, station: FluidStation, now: float
) -> tuple[float, float]:
    """Return the work that comes to a station in a second, and its variance, without retries."""
    mean = variance = 0.0
    for stream in system.streams:
        rate = stream.rate * system.traffic_factor(stream.name, now)
        for route in stream.routes:
            for at, work in route.visits:
                if at == place:
                    mean += rate * route.share * work
                    variance += rate * route.share * work**2 * (1 + station.variation**2)
    return mean, variance


def _capacity(
    system: IncidentSystem, course: FluidCourse, place: int, start: float, end: float
) -> float:
    """Return how much work a station does in a second between two times.

    0 for that of an autoscaled node whose number of machines changes then.
    """
    station = system.stations[place]
    scaler = system.scaler_of(station.node)
    usual = system.usual_capacity(station) * system.capacity_factor(station.node, start)
    if scaler is None:
        return usual
    number = system.scalers.index(scaler)
    width = course.points[1].at - course.points[0].at if len(course.points) > 1 else 0.0
    within = [one for one in course.points if start <= one.at and one.at + width <= end]
    counts = {one.machines[number] for one in within[1:] or within}
    return usual * counts.pop() / scaler.at_start if len(counts) == 1 else 0.0
