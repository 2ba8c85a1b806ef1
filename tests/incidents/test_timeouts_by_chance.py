"""Retries after waits that are long by chance, against simulations of systems with no incident."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path

import pytest

from helpers.specs import checked
from incidents.request_simulator import Setting, Simulation, Tier
from qps.cli import main
from qps.compiler.diagnostics import codes
from qps.compiler.lower.lowering import lower
from qps.solver.incidents.timeouts_by_chance import timeouts_by_chance

WORKER = """
users rps in 1..1_000
machine vm {{ cpu {cores} core, queueing mmc }}
component work {{ cpu {service} ms/request }}
topology {{ node api = vm }}
stream order for each user {{ traffic 1 request/s; at api {{ work }} }}
require {{ order.p99 <= 5 s }}
retry order {{ timeout 1 s; retries {retries}{more} }}
incident surge_ {{ surge order by 1 % for 1 second }}
"""
SECONDS, RUNS = 1200, 6


def _spec(cores: int = 1, service: int = 50, retries: int = 2, more: str = "") -> str:
    return WORKER.format(cores=cores, service=service, retries=retries, more=more)


def _overloaded(rate: float, cores: int, service: int, retries: int, backoff: float) -> int:
    """Return how many of the runs lose a tenth of their requests or more."""
    found = 0
    for seed in range(RUNS):
        setting = Setting(
            rate=rate,
            front=None,
            database=Tier(service=service / 1000, cores=cores, ready=1),
            timeout=1.0,
            retries=retries,
            backoff=backoff,
        )
        run = Simulation(setting, SECONDS, seed).run()
        found += sum(run.lost) >= 0.1 * sum(run.sent)
    return found


@pytest.mark.parametrize(
    ("rate", "cores", "service", "retries", "backoff"),
    [
        (8, 1, 50, 2, 0.0),
        (16, 1, 50, 2, 0.0),
        (14, 1, 50, 1, 0.0),
        (18, 1, 50, 1, 0.0),
        (24, 4, 100, 2, 0.2),
        (36, 4, 100, 2, 0.2),
        (5, 1, 50, 2, 0.0),  # three times as many are not too many
    ],
)
def test_systems_are_named_that_retries_overload_without_an_incident(
    rate: int, cores: int, service: int, retries: int, backoff: float
) -> None:
    more = f"; backoff {backoff * 1000:g} ms" if backoff else ""
    spec = checked(_spec(cores, service, retries, more))
    configuration = spec.configuration((), ())
    graph = lower(spec.model, configuration)
    found = timeouts_by_chance(spec.model, configuration, graph, rate)
    overloaded = _overloaded(rate, cores, service, retries, backoff)
    if found:
        assert overloaded > 0
    else:
        assert overloaded == 0


def test_the_share_is_that_of_the_queue_before_retries() -> None:
    spec = checked(_spec())
    configuration = spec.configuration((), ())
    (found,) = timeouts_by_chance(spec.model, configuration, lower(spec.model, configuration), 16)
    # M/M/1: a response is exponential at the rate that is left.
    assert found.share == pytest.approx(exp(-4))
    assert found.load == pytest.approx(3 * 16 * 0.05)
    assert (found.stream, found.resource, found.timeout) == ("order", "api.cpu", 1)


def test_an_incident_is_not_over_by_itself_if_random_waits_overload_the_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "worker.qps"
    path.write_text(_spec())
    assert main(["incident", str(path), "--at", "16"]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "retries from random waits alone may overload it, also without an incident" in text
    assert "by itself" not in text
    assert main(["incident", str(path), "--at", "16", "--format", "json"]) == 1
    (incident,) = json.loads(capsys.readouterr().out)["incidents"]
    assert not incident["is_certain"]
    assert [one["stream"] for one in incident["timeouts_by_chance"]] == ["order"]
    assert main(["incident", str(path), "--at", "8"]) == 0


@pytest.mark.parametrize(
    ("text", "is_warned"),
    [
        (_spec(), True),
        (_spec(retries=0), False),
        (_spec(more="; budget 3 %"), False),  # 19 users and 3 % more are not too many
        (_spec(cores=40, service=5), False),  # nobody waits for so long
    ],
)
def test_solve_warns_where_timeouts_by_chance_are_likely_at_capacity(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_warned: bool
) -> None:
    path = tmp_path / "worker.qps"
    path.write_text(text)
    assert main(["solve", str(path), "--format", "json"]) == 0
    printed = capsys.readouterr()
    found = [one["code"] for one in json.loads(printed.out)["warnings"]]
    assert (codes.TIMEOUTS_BY_CHANCE.id in found) is is_warned
