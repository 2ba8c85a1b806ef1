"""In which steps an incident is followed, for how long, and when it counts as over."""

from __future__ import annotations

from collections.abc import Sequence

from qps.solver.incidents.incident_system import IncidentSystem, RetryPolicy

MOST_STEPS = 20_000
_STEPS_IN_TIMEOUT = 8
_STEPS_IN_CHANGE = 400
_LARGEST_STEP = 0.25
_COLD_STEP = 0.03
"""Popular items are in a cache again within seconds."""
_LEAST_STEPS = 20
"""In at least so many steps a change is followed."""
_STEADY = 1e-3
_SPARE = 1e-4
"""The change of a backlog, as a part of it and of the time, below which it does not change."""
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
    return max(min(steps), (system.start + 4 * longest + 8 * calm_of(system)) / MOST_STEPS)


def is_too_coarse(system: IncidentSystem) -> bool:
    """Return whether a change is too short for the steps in which an incident is followed.

    Timeouts may be shorter than a step: then as many requests are sent again, and a little later.
    """
    lengths = [one.end - one.start for one in system.capacity_changes]
    lengths += [one.end - one.start for one in system.traffic_changes]
    step = step_of(system)
    return any(0 < one < _LEAST_STEPS * step for one in lengths)


def is_stuck(before: Sequence[float], after: Sequence[float], seconds: float) -> bool:
    """Return whether the largest backlog has not become less in some time, and no other either.

    As long as one becomes less, its work may be what another one grows by. A long backlog becomes
    less by a small part of it where little capacity is left: so the time counts, too.
    """
    if max(before, default=0.0) <= 0:
        return False
    least = min(_STEADY * max(before), _SPARE * seconds)
    if max(before) - least > max(after):
        return False
    return all(
        now >= then - min(_STEADY * then, _SPARE * seconds)
        for then, now in zip(before, after, strict=True)
    )


def calm_of(system: IncidentSystem) -> float:
    """Return the time in which a change shows whether a backlog grows, in s."""
    retries = [one.retry for one in system.streams if one.retry is not None]
    windows = [2 * (one.timeout + tried_for(one)) for one in retries]
    return max(_CALM, max(windows, default=_CALM))


def tried_for(retry: RetryPolicy) -> float:
    """Return the time from the first attempt of a request to its last one, in s."""
    return retry.timeout * retry.retries + retry.backoff * float(2**retry.retries - 1)
