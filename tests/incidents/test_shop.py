"""The shop: its database is down for ten minutes, its cache is cold, and it scales by itself.

All at once, against a simulation of single requests that shares nothing with QPS.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from math import inf
from pathlib import Path

import pytest

from incidents.request_simulator import Outcome, Scaler, Setting, Simulation, Tier
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.incidents.incident_result import IncidentAnswer

SHOP = """
users shoppers in 1..10_000
machine vm  {{ cpu 4 core, queueing mmc }}
machine big {{ cpu 16 core, queueing mmc }}
network lan {{ switched; rate 10 Gbit/s }}
topology {{
  node web = vm * 5
  node db  = big * {databases}
  link net = lan between web, db
}}
component page  {{ cpu 240 ms/request }}
component query {{ cpu 180 ms/request }}
cache hits {{ items 50_000; zipf 0.8; size 15_000 }}
stream browse for each user {{
  traffic 0.1 request/s, 2 kB/request
  event hit = hits
  at web {{ page; not hit: call db {{ query }} }}
}}
require {{ browse.p99 <= 5 s }}
autoscale web in 4..20 {{ target 70 %; startup 60 s }}
retry browse {{ timeout 2 s; retries 3; backoff 1 s{budget} }}
incident database_down {{
  lose db after 100 s for 10 minute
  empty hits after 100 s
}}
"""
DOWN, UP, USERS = 100.0, 700.0, 490


def _answer(databases: int, budget: str) -> IncidentAnswer:
    text = SHOP.format(databases=databases, budget=budget)
    spec = check_source(Source("shop.qps", text)).value
    assert spec is not None
    (incident,) = spec.model.incidents
    return incident_answer(spec.model, spec.configuration((), ()), incident, USERS, advice=False)


@cache
def _simulated(databases: int, budget: float | None, seconds: int) -> Outcome:
    setting = Setting(
        rate=0.1 * USERS,
        front=Tier(service=0.24, cores=4, ready=5),
        database=Tier(service=0.18, cores=16, ready=databases),
        timeout=2,
        retries=3,
        backoff=1,
        budget=budget,
        down=(DOWN, UP),
        items=50_000,
        exponent=0.8,
        size=15_000,
        empty_at=DOWN,
        scaler=Scaler(least=4, most=20, target=0.7, startup=60, count=5),
    )
    return Simulation(setting, seconds, seed=1).run()


def _backlogs(answer: IncidentAnswer, databases: int) -> list[tuple[float, float]]:
    """Return how many requests wait, at the ends of the points, of which each has the most."""
    web, db = (
        next(i for i, one in enumerate(answer.system.stations) if one.name == f"{node}.cpu")
        for node in ("web", "db")
    )
    width = answer.course.points[1].at
    return [
        (one.at + width, one.backlogs[web] * 20 / 0.24 + one.backlogs[db] * 16 * databases / 0.18)
        for one in answer.course.points
    ]


def test_with_a_budget_of_retries_it_returns() -> None:
    answer, simulated = _answer(1, "; budget 10 %"), _simulated(1, 0.1, 1400)
    assert max(many for _, many in _backlogs(answer, 1)) == pytest.approx(
        max(simulated.backlog), rel=0.1
    )
    cleared = next(s for s in range(int(UP), 1400) if simulated.backlog[s] <= 5)
    assert answer.course.returns
    assert answer.course.cleared_at - UP == pytest.approx(cleared - UP, rel=0.12)
    assert answer.course.lost == pytest.approx(sum(simulated.lost), rel=0.1)


@pytest.mark.parametrize("databases", [1, 2])
def test_without_a_budget_retries_pile_up(databases: int) -> None:
    answer, simulated = _answer(databases, ""), _simulated(databases, None, 1500)
    shown = _backlogs(answer, databases)
    for second in range(200, 1500, 100):
        (start, low), (end, high) = next(
            two for two in pairwise(shown) if two[0][0] <= second < two[1][0]
        )
        many = low + (high - low) * (second - start) / (end - start)
        assert many == pytest.approx(simulated.backlog[second], rel=0.1), second
    machines = [one.machines[0] for one in answer.course.points]
    assert max(machines) == max(simulated.machines) == 20
    for second in (60, 200, 300, 600, 700):
        (now,) = next(one.machines for one in reversed(answer.course.points) if one.at <= second)
        assert abs(now - simulated.machines[second]) <= 1
    points = pairwise(answer.course.points)
    lost = sum(one.failed * (after.at - one.at) for one, after in points if one.at < 1400)
    assert lost == pytest.approx(sum(simulated.lost[:1400]), rel=0.1)


def test_the_command_says_what_happens_and_what_would_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "shop.qps"
    up = DOWN + 120  # sooner than above, as each change is solved, too
    text = SHOP.format(databases=1, budget="").replace("10 minute", "2 minute")
    file.write_text(text)
    main(["incident", str(file), "--at", str(USERS), "--format", "json"])
    view = json.loads(capsys.readouterr().out)
    assert (view["schema"], view["population"], view["at"]) == ("qps/incident/1", "shoppers", USERS)
    (incident,) = view["incidents"]
    assert (incident["starts_at"], incident["ends_at"]) == (DOWN, up)
    assert incident["backlogs"][0]["resource"] == "db.cpu"
    (stream,) = incident["streams"]
    assert stream["lost"] > 0.9 * 0.1 * USERS * (up - DOWN)
    assert stream["worst_response_time"] <= 2
    helping = {one["change"]: one for one in incident["mitigations"]}
    assert helping["retry_budget"]["over_at"] < 0.5 * (incident["over_at"] or inf)
    assert helping["retry_budget"]["lost"] < stream["lost"]


def test_text_and_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "shop.qps"
    file.write_text(SHOP.format(databases=1, budget="; budget 10 %"))
    assert main(["incident", str(file), "database_down", "--at", str(USERS)]) == 0
    text = capsys.readouterr().out
    assert "shop: database_down" in text
    assert "db is lost from 100 s to 11.7 minutes; empty hits at 100 s" in text
    assert "by itself" in text
    assert main(["incident", str(file), "database"]) == 2
    assert "no incident `database`" in capsys.readouterr().err
