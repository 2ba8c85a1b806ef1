"""Incidents that are long beside their steps: backlogs fall slowly, and events come late."""

from __future__ import annotations

import pytest

from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.incidents.incident_result import IncidentAnswer

SHOP = """
users shoppers in 1..20_000
machine vm { cpu 4 core, queueing mmc }
topology { node web = vm * 5 }
component page { cpu 24 ms/request }
stream browse for each user { traffic 0.1 request/s; at web { page } }
require { browse.p99 <= 3 s }
"""
LONG = "timeout 2 s; retries 12; backoff 1 minute"
WORK = 0.1 * 0.024 / 20  # of all cores, for each user


def _answer(incident: str, users: int) -> IncidentAnswer:
    spec = check_source(Source("shop.qps", SHOP + incident)).value
    assert spec is not None
    (one,) = spec.model.incidents
    return incident_answer(spec.model, spec.configuration((), ()), one, users, advice=False)


@pytest.mark.parametrize("users", [2_000, 7_500, 7_900, 8_250])
@pytest.mark.parametrize("hours", [1, 10, 100])
def test_a_backlog_that_falls_slowly_is_cleared(hours: int, users: int) -> None:
    course = _answer(f"incident out {{ lose web for {hours} hour }}", users).course
    load, down = WORK * users, 3600 * hours
    assert course.returns
    assert course.cleared_at == pytest.approx(down + load * down / (1 - load), rel=0.01)


@pytest.mark.parametrize("start", ["0 s", "1 minute", "1 hour", "3 hour"])
def test_an_event_that_comes_late_is_as_one_that_comes_at_once(start: str) -> None:
    course = _answer(f"incident out {{ lose web after {start} for 2 minute }}", 7_500).course
    began = {"0 s": 0, "1 minute": 60, "1 hour": 3_600, "3 hour": 10_800}[start]
    load = WORK * 7_500
    assert max(point.backlogs[0] for point in course.points) == pytest.approx(load * 120, rel=0.01)
    assert course.cleared_at - began == pytest.approx(120 / (1 - load), rel=0.02)


def test_an_event_that_steps_would_miss_is_refused() -> None:
    for text in (
        "incident out { lose web after 100 hour for 1 minute }",
        f"retry browse {{ {LONG} }}\nincident out {{ lose web for 10 s }}",
    ):
        with pytest.raises(QpsError) as error:
            _answer(text, 2_000)
        assert "too short beside" in error.value.diagnostics[0].message
