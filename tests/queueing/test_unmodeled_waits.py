"""A latency that is required and counts no waiting where it would be long: a word about that."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers.answers import answer_of
from helpers.reports import html_of
from helpers.specs import checked
from qps.cli import main
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.reports.text.solutions.answer_text import solve_text
from qps.solver.answers.worst_mode import solve_model
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner

# The core of `web` is full with 100 users, that of `db` with 200; `lan` and `disk` are hardly used.
SPEC = """users N in 1..1000
machine pod { cpu 1 core%s; disk 10000 request/s }
machine client { }
network net { duplex; rate 1 Gbit/s; jitter 1 ms^2 }
component work { cpu 10 ms/request; disk 1 request/request }
component query { cpu 5 ms/request }
topology { node user = client * N; node web = pod; node db = pod; link lan = net between user, web, db }
stream ask for each user { traffic 1 request/s, 1 kB/request; at user { }; at web { work; %s }; at user { } }
%s
"""
CALL = "call db { query }"


def _spec(more: str, machine: str = "", way: str = CALL) -> str:
    return SPEC % (machine, way, more)


def _warned(text: str, *settings: str, scenario: str | None = None) -> list[Diagnostic]:
    spec = checked(text)
    found = solve_model(spec.model, spec.configuration(scenario, settings)).warnings
    return [one for one in found if one.code is codes.UNCOUNTED_WAITS]


def _tested(text: str) -> list[str]:
    runner = ClaimRunner(model=checked(text).model)
    Claims(runner).results()
    return [one.message for one in runner.warnings]


LATENCY = "require { ask.latency <= 1 s }\n"


def test_a_required_latency_without_waiting_warns_where_it_would_be_long() -> None:
    (warning,) = _warned(_spec(LATENCY))
    assert warning.code.id == "QPS0609"
    assert warning.message == (
        "`ask.latency` excludes queueing delay, though web.cpu is at 100 % utilization at N = 100"
    )
    assert warning.hints == (
        "add `queueing cpu mmc`; to exclude it on purpose: `queueing cpu none`",
    )
    assert warning.primary is not None
    assert warning.primary.span.text == "ask.latency <= 1 s"


def test_one_warning_names_all_requirements_and_the_fullest_resources() -> None:
    more = "require { ask.latency <= 1 s; quantile(ask.latency, 99 %) <= 2 s; ask.loss <= 5 % }\n"
    (warning,) = _warned(_spec(more).replace("1 Gbit/s", "2 Mbit/s").replace("5 ms/r", "9 ms/r"))
    assert warning.message == (
        "`ask.latency` and `ask.p99` exclude queueing delay, though "
        "web.cpu is at 100 % utilization at N = 100, db.cpu 90 % and lan.forth 80 %"
    )
    assert "`queueing cpu mmc, link md1`" in warning.hints[0]
    assert "`queueing cpu none, link none`" in warning.hints[0]


@pytest.mark.parametrize("disk", ["10000", "120"])
@pytest.mark.parametrize("which", [0, 1])
def test_each_suggested_fix_removes_the_warning(which: int, disk: str) -> None:
    text = _spec(LATENCY).replace("10000", disk).replace("1 Gbit/s", "1.4 Mbit/s")
    (warning,) = _warned(text)
    fixes = re.findall(r"`(queueing [^`]*)`", warning.hints[0])
    assert len(fixes) == 2
    assert not _warned(text + fixes[which] + "\n")


@pytest.mark.parametrize(
    ("more", "machine"),
    [
        ("", ""),  # nothing is required
        ("require { ask.loss <= 1 %; web.cpu.load <= 90 % }", ""),
        (LATENCY + "target cpu 70 %", ""),  # the load is at most what goes without a word
        (LATENCY + "require { web.cpu.load <= 70 % }", ""),
        ("require { ask.latency <= 20 ms }\nqueueing cpu mmc", ""),  # waiting is counted
        (LATENCY + "queueing cpu none", ""),  # none is meant
        (LATENCY + "queueing web none", ""),
        (LATENCY + "queueing web.cpu none", ""),
        (LATENCY, ", queueing none"),
        (LATENCY, ", queueing md1"),
        ("require { ask.db.latency <= 1 s }", ""),  # the call passes what is half full
        ("require { ask.latency <= 1 ms }", ""),  # nobody is carried anyway
        ("require { ask.jitter <= 1 s^2 }", ", jitter 2 ms^2 * load"),  # the law says it
    ],
)  # fmt: skip
def test_nothing_is_said_where_nothing_is_amiss(more: str, machine: str) -> None:
    assert not _warned(_spec(more + "\n", machine))


@pytest.mark.parametrize(
    "more",
    [
        "target cpu 71 %\n" + LATENCY,
        "require { quantile(ask.latency, 99 %) <= 1 s }",
        "require { ask.jitter <= 1 s^2 }",
        "measure twice = 2 * ask.latency + 1 ms\nrequire { twice <= 1 s }",
        "quality = ask.latency / (1 s)",
        "mode calm { ask.latency <= 1 s }\nmode hurry { ask.latency <= 500 ms }",
        LATENCY + "queueing db.cpu mm1",
    ],
)  # fmt: skip
def test_whatever_asks_for_a_latency_is_warned_of_once(more: str) -> None:
    assert len(_warned(_spec(more + "\n"))) == 1


def test_a_call_is_warned_of_for_what_it_passes() -> None:
    text = _spec("require { ask.db.latency <= 1 s }\n").replace("5 ms/r", "9 ms/r")
    (warning,) = _warned(text)
    assert warning.message == (
        "`ask.db.latency` excludes queueing delay, though db.cpu is at 90 % utilization at N = 100"
    )


def test_a_stream_of_bytes_alone_cannot_wait() -> None:
    text = """users N in 1..1000
network net { shared; rate 1 Gbit/s%s }
machine pc { }
topology { node a = pc; node b = pc; link lan = net between a, b }
stream film in all { traffic N * 1.3 Mbit/s; at a { }; at b { } }
require { film.latency <= 1 s }
"""
    (warning,) = _warned(text % "")
    assert warning.hints[0].startswith("add items to the stream")
    assert not _warned(text % "; queueing none")
    (warning,) = _warned((text % "").replace("Mbit/s; at", "Mbit/s, 1250 byte/packet; at"))
    assert "`queueing link md1`" in warning.hints[0]


def test_ports_of_a_link_are_one() -> None:
    text = _spec(LATENCY).replace("duplex; rate 1 Gbit/s", "switched; rate 1.2 Mbit/s")
    (warning,) = _warned(text.replace("10 ms/request", "1 ms/request"))
    assert warning.message.count("lan.") == 1


def test_a_scenario_is_judged_by_its_own_answer() -> None:
    text = _spec(LATENCY + "scenario strict { db = box }\nmachine box = pod with cpu 0.1 core\n")
    assert not _warned(text.replace("db = box", "N = 1..60"), scenario="strict")
    (warning,) = _warned(text, scenario="strict")
    assert "db.cpu is at 100 % utilization at N = 20" in warning.message
    assert "`queueing cpu mm1`" in warning.hints[0], "a tenth of a core is no core of `mmc`"


def test_claims_on_answers_are_warned_of_once_a_spec() -> None:
    claims = """scenario fast { web = big }
machine big = pod with cpu 1.9 core
expect answers "ours" { source model
  largest_acceptable == 100
  largest_acceptable == 190 with scenario = fast
  ask.latency <= 1 s with N = 10 }
"""
    assert _tested(_spec(LATENCY + claims)) == [
        "`ask.latency` excludes queueing delay, though web.cpu is at 100 % utilization at N = 100"
    ]
    assert not _tested(_spec(LATENCY + "queueing cpu none\n" + claims))


def test_it_is_reported_wherever_warnings_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "shop.qps"
    file.write_text(_spec(LATENCY), encoding="utf-8")
    main(["solve", "--format", "json", "--no-advice", str(file)])
    output = json.loads(capsys.readouterr().out)["warnings"]
    assert [one["code"] for one in output] == ["QPS0609"]
    spec = checked(_spec(LATENCY))
    for text in (solve_text(answer_of(spec), "shop"), html_of(spec)):
        assert "excludes queueing delay" in text
