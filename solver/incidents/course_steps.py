"""In which steps an incident is followed, for how long, and when it counts as over."""

from __future__ import annotations

from qps.solver.incidents.incident_system import IncidentSystem, RetryPolicy

MOST_STEPS = 20_000
_STEPS_IN_TIMEOUT = 8
_STEPS_IN_CHANGE = 400
_LARGEST_STEP = 0.25
_COLD_STEP = 0.03
"""Popular items are in a cache again within seconds."""
_CALM = 60.0
"""For so long nothing may wait and nothing be lost before an incident is over, in s."""


def step_of(system: IncidentSystem) -> float:
    """Return the step in which an incident is followed, in s."""
    lengths = [one.end - one.start for one in system.capacity_changes]
    lengths += [one.end - one.start for one in system.traffic_changes]
    longest = max((*lengths, system.end - system.start), default=0.0)
    steps = [_LARGEST_STEP, *(one / _STEPS_IN_CHANGE for one in lengths if one > 0)]
    if not lengths:
        steps.append(_COLD_STEP)
    retries = [one.retry for one in system.streams if one.retry is not None]
    steps += [one.timeout / _STEPS_IN_TIMEOUT for one in retries]
    return max(min(steps), (4 * longest + 8 * calm_of(system)) / MOST_STEPS)


def calm_of(system: IncidentSystem) -> float:
    """Return the time in which a change shows whether a backlog grows, in s."""
    retries = [one.retry for one in system.streams if one.retry is not None]
    windows = [2 * (one.timeout + tried_for(one)) for one in retries]
    return max(_CALM, max(windows, default=_CALM))


def tried_for(retry: RetryPolicy) -> float:
    """Return the time from the first attempt of a request to its last one, in s."""
    return retry.timeout * retry.retries + retry.backoff * float(2**retry.retries - 1)
