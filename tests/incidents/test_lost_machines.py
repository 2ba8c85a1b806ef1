"""Machines of autoscaled nodes that fail for a time: what the autoscaler makes of the others."""

from __future__ import annotations

import pytest

from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.incidents.fluid_course import fluid_course
from qps.solver.incidents.horizontal_scaling import HorizontalScaler, wanted_machines
from qps.solver.incidents.incident_model import incident_system
from qps.solver.incidents.incident_system import FluidCourse, ScalingPolicy

SITE = """
users rate in 1..100_000
machine pod {{ cpu 1 core, queueing mmc }}
component page {{ cpu 100 ms/request }}
topology {{ node web = pod * 14 }}
stream browse in all {{ traffic rate * 1 request/s; at web {{ page }} }}
autoscale web in 4..30 {{ target 70 %; startup 60 s }}
incident zone {{ {happens} }}
"""
POLICY = ScalingPolicy(node="web", count=14, at_start=14, least=4, most=30, target=0.7)


def _course(happens: str, at: int = 95) -> FluidCourse:
    outcome = check_source(Source("zone.qps", SITE.format(happens=happens)))
    assert outcome.value is not None, [one.message for one in outcome.diagnostics]
    spec = outcome.value
    configuration = spec.configuration((), ())
    return fluid_course(incident_system(spec.model, configuration, spec.model.incidents[0], at))


@pytest.mark.parametrize(
    ("lost", "waiting", "over", "machines"), [(3, 3479, 258.7, 26), (5, 31_562, 852.7, 30)]
)
def test_a_zone_is_lost_during_a_surge(
    lost: int, waiting: float, over: float, machines: int
) -> None:
    """The numbers are those of `lost_zone` in laboratory/questions/time_simulation.py."""
    happens = f"lose {lost} of web for 10 minute; surge browse by 50 % for 10 minute"
    course = _course(happens)
    most = max(one.backlogs[0] for one in course.points) * 14 / 0.1
    assert most == pytest.approx(waiting, rel=0.05)
    assert course.cleared_at == pytest.approx(over, rel=0.05)
    assert max(one.machines[0] for one in course.points) == machines


def test_nothing_is_measured_if_all_machines_are_lost() -> None:
    course = _course("lose web for 10 minute")
    assert course.returns
    while_lost = [one for one in course.points if one.at < 590]
    assert {one.machines[0] for one in while_lost} == {0}
    after = next(one for one in course.points if one.at > 602)
    assert after.machines[0] == 14, "no machine is removed for want of metrics"


@pytest.mark.parametrize(
    ("count", "ready", "used", "lost", "wanted"),
    [
        (14, 9, 1.0, 5, 14),  # 1/0.7 * 9/14 = 0.92: not above the target
        (14, 11, 1.0, 3, 16),  # 1/0.7 * 11/14 = 1.122, of 14
        (14, 11, 0.3, 3, 9),  # (0.3 * 11 + 3)/0.7 = 9.0
        (14, 14, 0.35, 0, 7),
    ],
)
def test_machines_without_metrics_count_as_idle_or_busy(
    count: int, ready: int, used: float, lost: int, wanted: int
) -> None:
    assert wanted_machines(POLICY, count, ready, used, lost) == wanted


def test_lost_machines_are_removed_first_and_come_back_otherwise() -> None:
    scaler = HorizontalScaler(policy=POLICY, count=14, ready=14, next_sync=15)
    scaler.have_lost(5)
    assert (scaler.count, scaler.ready, scaler.lost) == (14, 9, 5)
    scaler.synchronize(400.0, 0.2)  # (0.2 * 9 + 5)/0.7 = 9.7
    assert (scaler.count, scaler.ready, scaler.lost) == (10, 9, 1)
    scaler.have_lost(0)
    assert (scaler.ready, scaler.lost) == (10, 0)


def test_a_period_limits_what_is_added() -> None:
    policy = ScalingPolicy(
        node="web", count=4, at_start=4, least=1, most=99, target=0.5, step=2, growth=0, period=60
    )
    scaler = HorizontalScaler(policy=policy, count=4, ready=4, next_sync=15)
    counts = []
    for number in range(1, 10):
        scaler.start_up(15.0 * number)
        scaler.synchronize(15.0 * number, 1.0)
        counts.append(scaler.count)
    assert counts == [6, 6, 6, 6, 8, 8, 8, 8, 10]
