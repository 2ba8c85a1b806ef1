"""A dependency that answers slowly: requests time out even if it has enough servers."""

from __future__ import annotations

from math import exp
from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.simulation.courses.course_agreement import CourseVerdict, course_comparisons
from qps.simulation.courses.course_model import incident_course
from qps.simulation.courses.course_runs import CourseEffort, simulate_course
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.incidents.incident_result import IncidentAnswer

PAYMENT = """
users buyers in 1..10_000
machine vm  {{ cpu 8 core, queueing mmc }}
machine provider {{ cpu 400 core, queueing {queueing} }}
network lan {{ switched; rate 10 Gbit/s }}
topology {{ node shop = vm * 2; node psp = provider; link net = lan between shop, psp }}
component checkout {{ cpu 1 ms/request }}
component pay {{ {time} }}
stream order for each user {{
  traffic 1 request / 100 s, 2 kB/request
  at shop {{ checkout; call psp {{ pay }} }}
}}
require {{ order.latency <= 1500 ms }}
retry order {{ timeout 2 s; retries 2; backoff 1 s }}
incident slow_payment {{ slow psp by 14/15 for 5 minute }}
"""
RATE, LENGTH, AT = 20.0, 300.0, 2000


def _answer(queueing: str, time: str) -> IncidentAnswer:
    text = PAYMENT.format(queueing=queueing, time=time)
    spec = check_source(Source("pay.qps", text)).value
    assert spec is not None
    (incident,) = spec.model.incidents
    return incident_answer(spec.model, spec.configuration((), ()), incident, AT, advice=False)


def test_exponential_services_of_3_s_lose_those_that_take_too_long_three_times() -> None:
    answer = _answer("mmc", "cpu 200 ms/request")
    (stream,) = answer.course.streams
    late = exp(-2 / 3)
    assert stream.lost == pytest.approx(RATE * LENGTH * late**3, rel=0.03)
    attempts = 1 + late + late**2
    slow = exp(-1.5 / 3) - exp(-2 / 3)
    assert stream.late == pytest.approx(RATE * LENGTH * attempts * slow, rel=0.05)
    assert stream.worst == pytest.approx(3 - 2 * late / (1 - late), rel=0.02)
    assert answer.course.cleared_at == pytest.approx(LENGTH, abs=8)


@pytest.mark.parametrize("time", ["cpu 200 ms/request", "delay 200 ms"])
def test_fixed_services_of_3_s_lose_all_requests(time: str) -> None:
    answer = _answer("mdc", time)
    (stream,) = answer.course.streams
    # those sent so late that a retry comes after the end are answered
    assert stream.lost == pytest.approx(RATE * (LENGTH - 7), rel=0.02)
    assert answer.course.returns


def test_half_the_servers_serve_as_fast_as_before() -> None:
    text = PAYMENT.format(queueing="mmc", time="cpu 200 ms/request")
    text = text.replace("slow psp by 14/15", "lose 1 of shop")
    spec = check_source(Source("pay.qps", text)).value
    assert spec is not None
    (incident,) = spec.model.incidents
    answer = incident_answer(spec.model, spec.configuration((), ()), incident, AT, advice=False)
    assert answer.course.lost == 0


def test_the_simulation_agrees() -> None:
    text = PAYMENT.format(queueing="mmc", time="cpu 200 ms/request")
    spec = check_source(Source("pay.qps", text)).value
    assert spec is not None
    (incident,) = spec.model.incidents
    configuration = spec.configuration((), ())
    answer = incident_answer(spec.model, configuration, incident, AT, advice=False)
    course = incident_course(spec.model, configuration, incident, AT, answer.system, answer.course)
    simulation = simulate_course(course, CourseEffort(runs=2, workers=1))
    found = course_comparisons(answer, simulation)
    assert all(one.verdict is not CourseVerdict.DIFFERS for one in found)
    late = next(one for one in found if one.measure.value == "late")
    assert late.simulated is not None
    assert late.fluid == pytest.approx(late.simulated.mean, rel=0.1)


def test_a_slower_delay_is_not_simulated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pay.qps"
    file.write_text(PAYMENT.format(queueing="mmc", time="delay 200 ms"))
    assert main(["simulate", str(file), "--over", "slow_payment", "--at", "100"]) == 2
    assert "has a delay at a node that is slower" in capsys.readouterr().err


def test_parallel_calls_are_named_in_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "both.qps"
    text = PAYMENT.format(queueing="mmc", time="cpu 200 ms/request")
    calls = "call psp { pay }; call psp { pay }"
    file.write_text(text.replace("call psp { pay }", "together { " + calls + " }"))
    main(["incident", str(file), "--at", "100", "--no-advice"])
    found = " ".join(capsys.readouterr().out.split())
    assert "parallel calls of order are followed one after the other" in found
