"""Backlogs after outages, against exact Markov chains; the rule of the Kubernetes HPA, by hand."""

from __future__ import annotations

import pytest

from qps.solver.incidents.fluid_course import fluid_course
from qps.solver.incidents.horizontal_scaling import HorizontalScaler, wanted_machines
from qps.solver.incidents.incident_system import (
    CapacityLoss,
    FluidCourse,
    FluidStation,
    IncidentSystem,
    RequestRoute,
    RequestStream,
    ScalingPolicy,
    TrafficChange,
)

OUTAGES = [
    # servers, rate of one, arrivals, outage: exact mean backlog, s until half and until a tenth
    (4, 125, 400, 0.5, 201.59, 1.0081, 1.9897),
    (4, 125, 450, 2, 906.69, 9.0669, 16.8983),
    (40, 12.5, 400, 2, 792.48, 3.9624, 7.2355),
    (10, 1, 8, 100, 799.64, 199.9092, 365.0688),
]
"""Birth-death chains after an outage, solved exactly."""


def _outage(servers: float, rate: float, arrivals: float, outage: float) -> FluidCourse:
    route = RequestRoute(share=1, visits=((0, 1 / rate),))
    system = IncidentSystem(
        stations=(FluidStation(name="db.cpu", node="db", servers=servers),),
        streams=(RequestStream(name="query", rate=arrivals, routes=(route,)),),
        capacity_changes=(CapacityLoss(node="db", factor=0, start=0, end=outage),),
    )
    return fluid_course(system, outage / 100)


@pytest.mark.parametrize(
    ("servers", "rate", "arrivals", "outage", "backlog", "half", "tenth"), OUTAGES
)
def test_an_outage_clears_as_in_exact_chains(
    servers: int,
    rate: float,
    arrivals: float,
    outage: float,
    backlog: float,
    half: float,
    tenth: float,
) -> None:
    course = _outage(servers, rate, arrivals, outage)
    requests = [(one.at, one.backlogs[0] * servers * rate) for one in course.points]
    worst = max(many for _, many in requests)
    assert worst == pytest.approx(backlog, rel=0.1)
    for part, exact in ((0.5, half), (0.1, tenth)):
        # A point has the largest backlog of its steps.
        at = next(at for at, many in requests if at > outage and many <= part * worst)
        assert at - outage == pytest.approx(exact, rel=0.12)


def test_requests_wait_for_all_stations_on_their_way() -> None:
    """Of two stations in a row, the second gets no more than the first one serves."""
    route = RequestRoute(share=1, visits=((0, 0.01), (1, 0.008)))
    system = IncidentSystem(
        stations=(
            FluidStation(name="web.cpu", node="web", servers=1),
            FluidStation(name="db.cpu", node="db", servers=1),
        ),
        streams=(RequestStream(name="page", rate=80, routes=(route,), latency=0.1),),
        capacity_changes=(CapacityLoss(node="web", factor=0, start=0, end=60),),
    )
    course = fluid_course(system)
    # 4,800 requests are behind; the first station clears 20 more in a second than arrive.
    assert course.cleared_at == pytest.approx(60 + 4800 / 20, rel=0.01)
    assert max(one.backlogs[1] for one in course.points) == pytest.approx(0, abs=0.01)
    assert course.streams[0].worst == pytest.approx(60.1, rel=0.02)
    assert course.lost == 0


def test_a_surge_waits_until_it_is_over() -> None:
    route = RequestRoute(share=1, visits=((0, 0.01),))
    system = IncidentSystem(
        stations=(FluidStation(name="web.cpu", node="web", servers=1),),
        streams=(RequestStream(name="page", rate=60, routes=(route,), limit=1),),
        traffic_changes=(TrafficChange(stream="page", factor=2, start=10, end=40),),
    )
    course = fluid_course(system)
    # 20 more in a second than are served, for 30 s; then 40 fewer.
    assert course.cleared_at == pytest.approx(40 + 600 / 40, rel=0.01)
    assert course.streams[0].worst == pytest.approx(6, rel=0.03)
    # Those wait longer than 1 s that find more than 100 before them: from 15 s to 52.5 s.
    assert course.late == pytest.approx(120 * 25 + 60 * 12.5, rel=0.03)


def _scaler(count: int, ready: int | None = None) -> HorizontalScaler:
    policy = ScalingPolicy(
        node="web", count=1, at_start=count, least=2, most=50, target=0.5, startup=60
    )
    return HorizontalScaler(
        policy=policy, count=count, ready=count if ready is None else ready, next_sync=15
    )


@pytest.mark.parametrize(
    ("count", "ready", "utilization", "wanted"),
    [
        (4, 4, 1.0, 8),  # the example of the documentation: twice the target, twice the number
        (4, 4, 0.25, 2),
        (10, 10, 0.545, 10),  # within the tolerance of 10 %
        (10, 10, 0.56, 12),
        (8, 4, 1.0, 8),  # those that start count as idle: 4 of 8 are at 100 %, the mean is 50 %
        (5, 4, 1.0, 8),
        (30, 30, 1.0, 50),  # the limit
        (4, 4, 0.05, 2),
    ],
)
def test_the_rule_of_kubernetes(count: int, ready: int, utilization: float, wanted: int) -> None:
    assert wanted_machines(_scaler(count).policy, count, ready, utilization) == wanted


def test_at_most_four_or_as_many_again_are_added_in_15_seconds() -> None:
    small, large = _scaler(2), _scaler(10)
    small.synchronize(15, 1.0)
    large.synchronize(15, 1.0)
    assert (small.count, large.count) == (4, 20)
    large.starting.clear()
    large.ready = large.count
    large.synchronize(30, 1.0)
    assert large.count == 40
    one = _scaler(3)
    one.policy = ScalingPolicy(
        node="web", count=1, at_start=3, least=2, most=50, target=0.05, startup=0
    )
    one.synchronize(15, 1.0)
    assert one.count == 7


def test_machines_are_removed_after_the_stabilization_window() -> None:
    scaler = _scaler(8)
    scaler.synchronize(15, 0.5)
    counts = {}
    for now in range(30, 400, 15):
        scaler.synchronize(now, 0.2)
        counts[now] = scaler.count
    assert counts[300] == 8
    assert counts[315] == 4  # the last one that wanted 8 was at 15 s


def test_machines_that_start_up_do_not_work_yet() -> None:
    scaler = _scaler(4)
    scaler.synchronize(15, 1.0)
    assert (scaler.count, scaler.ready) == (8, 4)
    scaler.start_up(74)
    assert scaler.ready == 4
    scaler.start_up(75)
    assert scaler.ready == 8
