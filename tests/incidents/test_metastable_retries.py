"""Whether a system returns by itself, against simulations: retries may keep it overloaded."""

from __future__ import annotations

from math import inf, isfinite
from statistics import mean

import pytest

from incidents.request_simulator import Setting, Simulation, Tier
from qps.solver.incidents.fluid_course import fluid_course
from qps.solver.incidents.incident_system import (
    CapacityLoss,
    FluidStation,
    IncidentSystem,
    RequestRoute,
    RequestStream,
    RetryPolicy,
)

CAPACITY, TIMEOUT, START = 100.0, 1.0, 20.0

SETTINGS = [
    (2, 10, 25, (22, 26, 19)),
    (2, 10, 32, (369, 172, 235)),
    (2, 10, 40, (inf, inf, inf)),
    (3, 10, 20, (24, 27, 24)),
    (3, 10, 27, (inf, inf, inf)),
    (1, 10, 40, (23, 32, 27)),
    (1, 10, 53, (inf, inf, inf)),
    (2, 0.5, 25, (0, 0, 0)),
    (2, 0.5, 32, (0, 0, 0)),
    (2, 0.5, 40, (0, 0, 0)),
    (0, 10, 60, (11, 11, 14)),
]
"""Retries, seconds of an outage, requests a second, and after how many seconds three runs of a
simulation of 890 s had returned; it was written without QPS."""


def _system(retries: int, outage: float, rate: float) -> IncidentSystem:
    policy = RetryPolicy(timeout=TIMEOUT, retries=retries)
    route = RequestRoute(share=1, visits=((0, 1 / CAPACITY),))
    stream = RequestStream(name="query", rate=rate, routes=(route,), retry=policy)
    return IncidentSystem(
        stations=(FluidStation(name="db.cpu", node="db", servers=1),),
        streams=(stream,),
        capacity_changes=(CapacityLoss(node="db", factor=0, start=START, end=START + outage),),
    )


@pytest.mark.parametrize(("retries", "outage", "rate", "simulated"), SETTINGS)
def test_a_system_returns_where_simulations_do(
    retries: int, outage: float, rate: float, simulated: tuple[float, ...]
) -> None:
    course = fluid_course(_system(retries, outage, rate))
    assert course.returns == isfinite(max(simulated))
    if not course.returns:
        return
    after = max(0.0, course.in_time_at - START - outage)
    middle = mean(simulated)
    if max(simulated) <= 1.2 * min(simulated):
        assert after == pytest.approx(middle, rel=0.15)
    else:
        assert min(simulated) * 0.85 <= after <= max(simulated) * 1.15


@pytest.mark.parametrize(("retries", "rate"), [(2, 25), (2, 45), (3, 30), (1, 40)])
def test_simulations_of_single_requests_agree(retries: int, rate: float) -> None:
    course = fluid_course(_system(retries, 10, rate))
    after = []
    for seed in range(12):
        setting = Setting(
            rate=rate,
            front=None,
            database=Tier(service=1 / CAPACITY, cores=1, ready=1),
            timeout=TIMEOUT,
            retries=retries,
            down=(START, START + 10),
        )
        run = Simulation(setting, 100, seed).run()
        after.append(run.in_time_at(START + 10) - START - 10)
    assert course.returns == isfinite(max(after))
    if course.returns:
        assert course.in_time_at - START - 10 == pytest.approx(mean(after), rel=0.12)


def test_a_budget_of_retries_prevents_that_they_keep_it_overloaded() -> None:
    stuck = _system(2, 10, 45)
    assert not fluid_course(stuck).returns
    (stream,) = stuck.streams
    policy = RetryPolicy(timeout=TIMEOUT, retries=2, budget=0.1)
    limited = IncidentSystem(
        stations=stuck.stations,
        streams=(RequestStream(name="query", rate=45, routes=stream.routes, retry=policy),),
        capacity_changes=stuck.capacity_changes,
    )
    course = fluid_course(limited)
    # In 10 s, 450 requests and 45 retries (beside those saved before); 50.5/s are left to clear it.
    assert course.returns
    assert course.in_time_at - START - 10 == pytest.approx((45 * 11 + 40 - 100) / 50.5, rel=0.15)


def test_the_backoff_of_retries_doubles() -> None:
    system = _system(2, 10, 20)
    (stream,) = system.streams
    policy = RetryPolicy(timeout=TIMEOUT, retries=2, backoff=2)
    slow = IncidentSystem(
        stations=system.stations,
        streams=(RequestStream(name="query", rate=20, routes=stream.routes, retry=policy),),
        capacity_changes=system.capacity_changes,
    )
    course = fluid_course(slow)
    retried = [(one.at - START, one.retries) for one in course.points]
    # The first retry 1 + 2 s after the first attempt, the second 1 + 4 s after that.
    assert max(many for at, many in retried if at < 2.5) == 0
    assert max(many for at, many in retried if 3.5 < at < 7.5) == pytest.approx(20, rel=0.05)
    assert max(many for at, many in retried if 8.5 < at < 9.5) == pytest.approx(40, rel=0.05)
