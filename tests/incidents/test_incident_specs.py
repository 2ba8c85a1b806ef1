"""Incidents of whole specs: what they are made of, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.incidents.incident_result import IncidentAnswer, MitigationKind

SITE = """
users N in 1..100_000
machine vm {{ cpu 4 core, queueing mmc }}
network lan {{ switched; rate 10 Gbit/s }}
topology {{ node web = vm * 6; node db = vm * 3; link l = lan between web, db }}
cache first {{ items 1000; zipf 0.8; size 500 }}
cache second {{ items 1000; zipf 0.8; size 500 }}
component page {{ cpu 8 ms/request }}
component query {{ cpu 10 ms/request }}
param patience = 2 s
param factor = 1
stream browse for each user {{
  traffic 0.1 request/s * factor, 1 kB/request
  event a = first
  event b = second
  at web {{ page; not a: call db {{ query }}; not b: call db {{ query; query }} }}
}}
require {{ browse.p99 <= 300 ms }}
{more}
"""


def _answer(more: str, at: int = 10_000, *settings: str, advice: bool = False) -> IncidentAnswer:
    outcome = check_source(Source("site.qps", SITE.format(more=more)))
    assert outcome.value is not None, [one.message for one in outcome.diagnostics]
    spec = outcome.value
    configuration = spec.configuration((), settings)
    incident = spec.model.incidents[-1]
    return incident_answer(spec.model, configuration, incident, at, advice=advice)


def test_the_work_of_a_cold_cache_is_that_of_its_misses() -> None:
    """At a hit rate h of one cache, all of its misses query once; of the other one, twice."""
    answer = _answer("incident one { empty first }", 5_000)
    (stream,) = answer.system.streams
    db = next(i for i, one in enumerate(answer.system.stations) if one.name == "db.cpu")
    (first,) = answer.system.caches
    second = answer.course.points[-1].hit_rates[0]  # both are alike, and warm again
    assert first.name == "first"
    for hits in (0.0, 0.3, 1.0):
        shares = [one.share + one.per_hit * hits for one in stream.routes]
        assert sum(shares) == pytest.approx(1)
        work = sum(
            share * dict(route.visits).get(db, 0.0)
            for share, route in zip(shares, stream.routes, strict=True)
        )
        assert work == pytest.approx(0.010 * (1 - hits) + 0.020 * (1 - second), rel=1e-4)


def test_numbers_are_parameters() -> None:
    more = "retry browse { timeout patience; retries 2 }\nincident one { lose web for 20 s }"
    assert _answer(more).system.streams[0].retry.timeout == 2
    assert _answer(more, 10_000, "patience=5 s").system.streams[0].retry.timeout == 5


def test_part_of_the_machines_is_lost_and_slow_at_the_same_time() -> None:
    answer = _answer("incident one { lose 1 of db for 10 s; slow db by 50 % for 5 s }")
    factors = [(one.factor, one.end) for one in answer.system.capacity_changes]
    assert factors == [(pytest.approx(2 / 3), 10), (0.5, 5)]


def test_states_after_failures_and_times_of_profiles_do_not_matter() -> None:
    plain = _answer("incident one { lose db for 1 minute }")
    more = "survive any one of web, db\nincident one { lose db for 1 minute }"
    assert _answer(more).course == plain.course


def test_what_helps_is_solved() -> None:
    more = "retry browse { timeout 2 s; retries 3 }\nincident one { lose web for 1 minute }"
    answer = _answer(more, 15_000, "first=99 %", "second=99 %", advice=True)
    assert not answer.course.returns
    helping = {one.kind: one for one in answer.mitigations}
    assert helping[MitigationKind.RETRY_BUDGET].course.returns
    assert helping[MitigationKind.NO_RETRIES].course.returns
    machines = helping[MitigationKind.MACHINES]
    assert machines.target == "web"
    # Four attempts of 1,500 requests/s keep 12 machines of 4 cores busy, and some more clear it.
    assert 12 < machines.after <= 16


def test_with_the_advice_left_out_nothing_else_is_solved(tmp_path: Path) -> None:
    file = tmp_path / "site.qps"
    file.write_text(SITE.format(more="incident one { lose web for 10 s }"))
    assert main(["incident", str(file), "--at", "5000", "--no-advice"]) == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("incident one { empty first; empty second }", "depends on several caches"),
        ("incident one { lose 4 of db for 10 s }", "`db` has only 3 machines"),
        (
            "incident one { lose db for 10 s; lose 1 of db after 5 s for 10 s }",
            "`lose db` overlaps an earlier one",
        ),
        (
            "autoscale web in 2..9 { target 70 % }\nincident one { lose 10 of web for 10 s }",
            "`web` has only 9 machines",
        ),
        ("incident one { fail 4 of db for 10 s }", "`db` has only 3 machines"),
        (
            "autoscale web in 2..9 { target 70 % }\nincident one { fail 1 of web for 10 s }",
            "some machines of the autoscaled node `web` fail with errors",
        ),
        (
            "retry browse { timeout 2 s; retries 1_100 }\nincident one { lose db for 10 s }",
            "not supported with more than 100 retries",
        ),
        (
            "retry browse { timeout 1 ms; retries 1 }\nincident one { lose db for 10 s }",
            "the timeout is not above the mean response time of `browse`",
        ),
    ],
)
def test_what_cannot_be_is_refused(more: str, message: str) -> None:
    with pytest.raises(QpsError, match=message) as caught:
        _answer(more)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.primary is not None
    assert diagnostic.hints


def test_an_overload_before_the_incident_is_refused() -> None:
    with pytest.raises(QpsError, match=r"`web\.cpu` is overloaded before the incident"):
        _answer("incident one { lose db for 10 s }", 40_000)


def test_a_hit_rate_that_is_set_cannot_change() -> None:
    with pytest.raises(QpsError, match="the hit rate of `first` is set"):
        _answer("incident one { empty first }", 5_000, "first=50 %")


def test_a_spec_without_incidents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "site.qps"
    file.write_text(SITE.format(more=""))
    assert main(["incident", str(file)]) == 2
    assert "this spec declares no incident" in capsys.readouterr().err


@pytest.mark.parametrize(("percent", "is_refused"), [("9e7", False), ("2e8", True), ("1e30", True)])
def test_a_surge_whose_backlog_would_be_lost_in_rounding_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], percent: str, is_refused: bool
) -> None:
    """A surge of 900,000 times for a minute, at 12 % of the capacity, is cleared in 2,045 hours."""
    spec = tmp_path / "surge.qps"
    spec.write_text(
        "users n in 1..2_000; machine vm { cpu 4 core, queueing mmc }\n"
        "topology { node web = vm * 5 }\n"
        "component page { cpu 240 ms/request }\n"
        "stream browse for each user { traffic 0.1 request/s; at web { page } }\n"
        f"require {{ browse.p99 <= 50 s }}\n"
        f"incident peak {{ surge browse by {percent} % for 1 minute }}\n"
    )
    assert main(["incident", str(spec), "--at", "100", "--no-advice"]) == (2 if is_refused else 0)
    printed = capsys.readouterr()
    if is_refused:
        assert "not supported with more than 1,000,000 times the usual traffic" in printed.err
    else:
        assert "at about 2.05e+03 hours, by itself" in printed.out
