"""Nodes that answer errors at once: their clients try again without waiting for a timeout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.specs import checked
from qps.cli import main
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.incidents.incident_result import IncidentAnswer

SITE = """
users rate in 1..100_000
machine server {{ cpu 2 core, queueing mmc }}
component page {{ cpu 5 ms/request }}
component query {{ cpu 4 ms/request }}
network lan {{ propagation 0 s }}
topology {{ node web = server * 4; node db = server * 2; link net = lan between web, db }}
stream browse in all {{ traffic rate * 1 request/s; at web {{ page; call db {{ query }} }} }}
{clients}
incident failing {{ {happens} }}
"""
RETRY = "retry browse {{ timeout 2 s; retries {retries}; backoff {backoff}{budget} }}"


def _text(happens: str, retries: int | None = None, backoff: str = "0 s", budget: str = "") -> str:
    clients = ""
    if retries is not None:
        clients = RETRY.format(retries=retries, backoff=backoff, budget=budget)
    return SITE.format(clients=clients, happens=happens)


def _answer(
    happens: str, retries: int | None = None, backoff: str = "0 s", budget: str = "", at: int = 100
) -> IncidentAnswer:
    spec = checked(_text(happens, retries, backoff, budget))
    configuration = spec.configuration((), ())
    return incident_answer(spec.model, configuration, spec.model.incidents[0], at)


def test_without_retries_all_that_come_are_lost() -> None:
    (stream,) = _answer("fail db for 60 s").course.streams
    assert stream.lost == pytest.approx(100 * 60, rel=0.01)


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_one_of_four_fails_each_attempt_by_its_share(retries: int) -> None:
    answer = _answer("fail 1 of web for 60 s", retries)
    (stream,) = answer.course.streams
    assert stream.lost == pytest.approx(6_000 * 0.25 ** (retries + 1), rel=0.02)
    again = sum(0.25**attempt for attempt in range(1, retries + 1))
    assert stream.retries == pytest.approx(6_000 * again, rel=0.02)


def test_errors_are_retried_after_the_backoff_and_not_after_the_timeout() -> None:
    answer = _answer("fail db for 1 s", retries=1, backoff="5 s")
    most = max(answer.course.points, key=lambda one: one.retries)
    assert most.at == pytest.approx(5.5, abs=0.6)
    assert most.offered + most.retries == pytest.approx(200, rel=0.01)
    assert answer.course.lost == 0
    assert answer.course.cleared_at == pytest.approx(6, abs=0.1)


def test_a_lost_node_has_its_clients_wait_and_a_failing_one_does_not() -> None:
    lost, failing = (_answer(f"{what} db for 30 s", 3, "1 s") for what in ("lose", "fail"))
    assert max(one.backlogs[1] for one in lost.course.points) > 1
    assert max(one.backlogs[1] for one in failing.course.points) == 0


def test_a_budget_limits_retries_of_errors() -> None:
    (stream,) = _answer("fail db for 60 s", 3, "100 ms", "; budget 10 %").course.streams
    assert 600 <= stream.retries <= 700  # 10 % of 60 s, and what was saved before


def test_nothing_is_advised_with_which_more_is_lost() -> None:
    answer = _answer("fail db for 1 s", retries=1, backoff="5 s")
    assert answer.mitigations == ()


@pytest.mark.parametrize(
    ("happens", "retries", "backoff"),
    [("fail 1 of web for 60 s", 2, "500 ms"), ("fail db for 20 s", 3, "2 s")],
)
def test_requests_one_by_one_are_as_the_fluid_model_has_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], happens: str, retries: int, backoff: str
) -> None:
    file = tmp_path / "failing.qps"
    file.write_text(_text(happens, retries, backoff))
    over = ["--over", "failing", "--at", "300", "--runs", "2", "--workers", "1"]
    assert main(["simulate", str(file), *over, "--format", "json"]) == 0
    view = json.loads(capsys.readouterr().out)
    lost = next(one for one in view["results"] if one["measure"] == "lost")
    answer = _answer(happens, retries, backoff, at=300)
    assert lost["simulated"] == pytest.approx(answer.course.lost, rel=0.1)


def test_text_and_json_name_errors_and_attempts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "failing.qps"
    file.write_text(_text("fail 1 of web for 60 s", 1, "1 s"))
    assert main(["incident", str(file), "--at", "100"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 of web answers errors from 0 s to 60 s" in printed
    assert "with retries, up to 125 requests/s" in printed
    assert "by errors or without an answer within 2 s and 1 retry" in printed
