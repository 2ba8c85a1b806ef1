"""With profiles, an incident happens at the peak, also where a night job may limit capacity."""

from __future__ import annotations

import pytest

from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.incidents.incident_result import IncidentAnswer

SHOP = """
users shoppers in 1..2_000
profile visits over day {{ 08:00..22:00 = 0.6; 18:00..20:00 = 1; else = 0.1 }}
profile nightly over day {{ 01:00..03:00 = 1; else = 0 }}
machine vm {{ cpu 4 core, queueing mmc }}
topology {{ node web = vm * 5; node db = vm * 4 }}
component page {{ cpu 240 ms/request }}
component query {{ cpu 180 ms/request }}
component report {{ cpu 500 ms/request }}
stream browse for each user {{ traffic 0.1 request/s * visits; at web {{ page }} }}
stream search for each user {{ traffic 0.05 request/s * visits; at db {{ query }} }}
stream etl in all {{ traffic {jobs} request/s * nightly; at web {{ report }} }}
require {{ browse.p99 <= 5 s }}
{more}
incident out {{ lose web for 1 minute }}
"""


def _answer(jobs: int, users: int, more: str = "") -> IncidentAnswer:
    spec = check_source(Source("shop.qps", SHOP.format(jobs=jobs, more=more))).value
    assert spec is not None
    (one,) = spec.model.incidents
    return incident_answer(spec.model, spec.configuration((), ()), one, users, advice=False)


@pytest.mark.parametrize("more", ["", "survive any one of web, db", "mode usual { }"])
@pytest.mark.parametrize(
    ("jobs", "users", "moment", "rate"),
    [(10, 400, "18:00", 0.1 * 400), (38, 100, "01:00", 38 + 0.01 * 100)],
)
def test_it_happens_at_the_moment_nearest_to_a_limit(
    jobs: int, users: int, moment: str, rate: float, more: str
) -> None:
    answer = _answer(jobs, users, more)
    assert answer.system.moment == moment
    web = [one.rate for one in answer.system.streams if one.name != "search"]
    assert sum(web) == pytest.approx(rate)
    work = sum(
        one.rate * visit[1]
        for one in answer.system.streams
        for route in one.routes
        for visit in route.visits
        if answer.system.stations[visit[0]].name == "web.cpu"
    )
    most = max(max(point.backlogs) for point in answer.course.points)
    assert most == pytest.approx(60 * work / 20, rel=0.02)


def test_an_autoscaled_node_near_its_capacity_has_the_backlog_of_random_variation() -> None:
    """2 of 4 machines are 96 % utilized: a fluid has no backlog, and requests one by one have."""
    more = "autoscale web in 4..20 { target 70 %; startup 30 s }"
    text = SHOP.format(jobs=1, more=more).replace("lose web for 1", "lose 2 of web for 2")
    spec = check_source(Source("shop.qps", text)).value
    assert spec is not None
    (one,) = spec.model.incidents
    answer = incident_answer(spec.model, spec.configuration((), ()), one, 320, advice=False)
    assert max(max(point.backlogs) for point in answer.course.points) == 0
    (random,) = answer.random_backlogs
    assert random.load == pytest.approx(32 * 0.24 / 8)
    assert 0.3 < random.worst * 20 / 8 < 6
