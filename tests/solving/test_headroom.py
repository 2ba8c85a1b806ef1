"""What a planner reads: the next limit, 10 % more users and to whom, the margin, what helps most."""

# ruff: noqa: E501 - specs: one statement a line, however long

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from helpers.answers import answer_of
from helpers.nightly import examples
from helpers.specs import PRELUDE, checked
from helpers.strategies import Drawn, drawn_specs
from qps.cli import main
from qps.reports.text.solutions import limit_facts
from qps.reports.text.solutions.answer_text import solve_text
from qps.reports.text.solutions.change_wording import Wording, wording
from qps.reports.text.solutions.headroom_text import beyond_lines
from qps.reports.text.solutions.limit_reasons import answer_sentence
from qps.reports.text.words.labels import PLAIN
from qps.solver.answer import Answer
from qps.solver.answers.graph_criteria import largest_acceptable
from qps.solver.answers.headroom import MoreUsers, NextLimit, more_users, next_limit
from qps.solver.answers.requirement_readings import requirement_answers
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model

few = settings(max_examples=examples(25), deadline=None)

# Each user loads the server with 1 %, its port with 0.5 %, the back end with 0.4 %.
SPEC = PRELUDE.replace("1..100", "1..1000") + (
    "component store { cpu 4 ms/packet }\n"
    "topology { node web = box\n node back = box\n node user = box * N\n link net = ports between web, user, back }\n"
    "stream pages for each user { traffic 1 packet/s, 625 byte/packet; at web { work }\n at user { } }\n"
    "stream notes for each user { traffic 1 packet/s, 1 byte/packet; at back { store }\n at user { } }\n"
)


def _solution(text: str) -> Solution:
    spec = checked(text)
    return solve_model(spec.model, spec.configuration())


def _answer(text: str) -> Answer:
    return answer_of(checked(text))


def _lines(text: str) -> list[str]:
    return beyond_lines(_answer(text), PLAIN)


def _next_in_words(text: str) -> str:
    return limit_facts.next_limit(_answer(text), PLAIN)


def _reported(text: str) -> str:
    return " ".join(solve_text(_answer(text), "x").split())


def _next(text: str) -> NextLimit | None:
    return next_limit(_solution(text))


def _more(text: str) -> MoreUsers | None:
    solution = _solution(text)
    return more_users(solution, requirement_answers(solution))


# -- the next limit ----------------------------------------------------------------------

NEXT = [
    ("", "net.web.out.utilization", 200),
    ("require { web.cpu.load <= 50 % }", "net.web.out.utilization", 200),
    # the requirement is lifted: what it kept small limits no more
    ("require { pages.loss <= 1 % }", "pages.loss", 101),
    ("require { net.web.out.throughput <= 450 kbit/s }", "web.cpu.utilization", 100),
    ("require { back.cpu.load <= 20 %; web.cpu.load <= 60 % }", "web.cpu.utilization", 60),
    # two limits of one measure: the one to the other side stays
    ("require { pages.rate >= 0.9 packet/s; pages.latency <= 1 s }", "pages.rate", 111),
    ("target cpu 50 %", "back.cpu.utilization", 125),
]  # fmt: skip


@pytest.mark.parametrize(("extra", "requirement", "up_to"), NEXT)
def test_what_would_limit_next(extra: str, requirement: str, up_to: int) -> None:
    found = _next(f"{SPEC}{extra}\n")
    assert found is not None
    assert (found.requirement, found.met_up_to) == (requirement, up_to)


def test_quality_is_without_the_axis_that_is_lifted() -> None:
    # 100 users wait 16 ms; quality is that over 20 ms, and the loss adds to it
    text = SPEC + "measure crowd = N * 1 ms\nrequire { crowd <= 50 ms; pages.latency <= 100 ms }\n"
    found = _next(text + "quality euclidean\n")
    assert found is not None
    # sqrt((N/50)^2 + (latency/100 ms)^2) passes 1 first; without it, crowd at 51
    assert (found.requirement, found.met_up_to) == ("crowd", 50)
    lifted = _next(text.replace("crowd <= 50 ms", "crowd < 40 ms") + "quality worst\n")
    assert lifted is not None
    assert lifted.requirement == "web.cpu.utilization"


def test_nothing_else_limits() -> None:
    found = _next(SPEC.replace("1..1000", "1..110"))
    assert found is not None
    assert (found.requirement, found.met_up_to) == (None, 110)
    assert _next_in_words(SPEC.replace("1..1000", "1..110")) == (
        "none up to 110 users (the maximum of `users N`)"
    )


def test_where_the_range_limits_there_is_no_next_one() -> None:
    answer = _answer(SPEC.replace("1..1000", "1..50"))
    assert (answer.next_limit, answer.more_users) == (None, None)


def test_where_nothing_is_acceptable_the_next_limit_is_reported() -> None:
    text = SPEC + "require { pages.latency <= 1 ms; notes.latency <= 1 ms }\n"
    assert _more(text) is None
    found = _next(text)
    assert found is not None
    assert found.met_up_to is None
    assert ": not met at any population" in _next_in_words(text)


def test_another_mode_may_limit_next() -> None:
    text = (
        SPEC
        + "mode calm { web.cpu.load <= 80 % }\nmode rush { web.cpu.load <= 30 %; back.cpu.load <= 28 % }\n"
    )
    found = _next(text)
    assert found is not None
    # Lifted in both, the load of the server is no limit of `calm` either.
    assert (found.requirement, found.met_up_to, found.mode) == ("back.cpu.utilization", 70, "rush")
    other = _next(text.replace("calm { web", "calm { notes.latency <= 100 ms; back"))
    assert other is not None
    assert other.mode == "rush"


@few
@given(drawn_specs())
def test_the_next_limit_is_the_answer_without_the_first(spec: Drawn) -> None:
    """Without an axis among them, what remains is what a spec without the requirement says."""
    spec = replace(spec, high=min(spec.high, 60))
    bare = spec.text.replace(
        f"require {{ flow.latency <= {spec.latency} ms; flow.loss <= 5 % }}", ""
    )
    whole = f"{bare}\nrequire {{ host.cpu.load <= 40 %; flow.rate >= 1 packet/s }}\n"
    solution = _solution(whole)
    found = next_limit(solution)
    if found is None:
        return
    graph = solution.graph
    left = tuple(c for c in graph.criteria if c.name != solution.limited_by)
    rest = graph.with_criteria(left, graph.quality)
    expected = largest_acceptable(rest)
    assert found.met_up_to == expected
    assert (found.met_up_to or 0) >= (solution.capacity or 0)


# -- more users --------------------------------------------------------------------------


def test_who_loses_how_much_and_where() -> None:
    more = _more(SPEC)
    assert more is not None
    assert (more.at, more.is_end_of_range) == (110, False)
    by_name = {one.name: one for one in more.streams}
    assert by_name["pages"].loss == (0, pytest.approx(1 - 100 / 110))
    assert by_name["pages"].lost_at == "web.cpu saturated"
    assert by_name["pages"].loses_more
    assert not by_name["notes"].loses_more
    assert [(one.resource, one.utilization) for one in more.loads] == [
        ("web.cpu", pytest.approx(1.1))
    ]
    assert _lines(SPEC)[0] == (
        "With 10 % more users (110): web.cpu utilization is 110 %; pages loss rises from 0 % "
        "to 9.09 % (web.cpu saturated) and latency becomes unbounded (waiting for web.cpu)."
    )


def test_who_waits_how_much_longer_and_where() -> None:
    text = (
        SPEC.replace("at web { work }", "at web { work * N }")
        + "require { pages.latency <= 0.1 s }\n"
    )
    line = _lines(text)[0]
    assert "pages latency rises by 10 ms (work at web)" in line
    assert "notes" not in line


def test_a_margin_takes_it() -> None:
    assert _lines(f"target cpu 75 %, link 80 %\n{SPEC}") == [
        "With 10 % more users (83): web.cpu utilization is 83 % (target 75 %); latency and loss unchanged.",
        "Utilization targets: CPU 75 %, link 80 %.",
    ]


def test_an_elastic_rate_gives_way() -> None:
    text = SPEC.replace("traffic 1 packet/s, 625", "traffic pace, 625") + (
        "param pace elastic 0.1..5 packet/s\nrequire { pages.rate >= 0.5 packet/s }\n"
    )
    line = _lines(text)[0]
    assert "pages.rate is 0.455 packets/s, below the minimum of 0.5 packets/s" in line
    assert "pages rate falls from 0.5 packets/s to 0.455 packets/s" in line


def test_quality_that_is_passed_is_reported() -> None:
    text = SPEC + "measure crowd = N * 1 ms\nrequire { crowd <= 50 ms; pages.latency <= 100 ms }\n"
    text += "quality euclidean\n"
    assert "quality is ≥ 1.0" in _lines(text)[0]


def test_streams_that_fare_alike_are_reported_together() -> None:
    text = SPEC.replace("at back { store }", "at web { work }").replace(
        "1 byte/packet", "625 byte/packet"
    )
    assert "pages and notes loss rises from 0 % to 9.09 % (web.cpu saturated)" in _lines(text)[0]


def test_the_end_of_the_range_comes_first() -> None:
    text = SPEC.replace("1..1000", "1..103")
    more = _more(text)
    assert more is not None
    assert (more.at, more.is_end_of_range) == (103, True)
    assert _lines(text)[0].startswith("At the maximum population (103): ")


@pytest.mark.parametrize(("users", "more"), [(1, 2), (9, 10), (10, 11), (11, 13), (100, 110)])
def test_ten_per_cent_more_is_rounded_up(users: int, more: int) -> None:
    found = _more(f"{SPEC}require {{ web.cpu.load <= {users} % }}\n")
    assert found is not None
    assert found.at == more


def test_long_lists_are_shortened() -> None:
    extra = "".join(
        f"require {{ pages.latency + {i} ms <= {40 + 2 * i} ms }}\n" for i in range(1, 7)
    )
    text = SPEC.replace("at web { work }", "at web { work * max(1, N - 50) }") + extra
    assert "4 more;" in _lines(text)[0]


WAITING = """
users N in 1..1000
machine box { cpu 4 core, queueing mmc }
machine pc { }
network wire { switched; rate 1 Gbit/s; queueing mm1 }
component step { cpu 10 ms/request }
topology { node server = box; node user = pc * N; link lan = wire between server, user }
stream p for each user { traffic 1 request/s, 10 kB/request; at server { step }; at user { } }
require { quantile(p.latency, 95 %) <= 50 ms; p.latency <= 1 s }
"""


UNEQUAL = """
users N in 1..1000
machine box { }
network wire { rate 10 Mbit/s; queueing periodic }
topology { node camera = box * N; node far = box; link lan = wire between camera, far }
stream picture for each camera {
  traffic 50 packet/s, 1500 byte/packet; at camera { }; over lan; at far { }
}
stream voice for each camera {
  traffic 50 packet/s, 200 byte/packet; at camera { }; over lan; at far { }
}
require { quantile(voice.latency, 95 %) <= 10 ms; voice.latency <= 1 s }
"""


def test_a_requirement_judged_by_an_upper_bound_is_reported() -> None:
    result = _reported(UNEQUAL)
    assert "At 13 users, voice.p95 is 14.63 ms (upper bound)" in result
    assert (
        "`voice.p95`, `voice.latency` and `quality` are upper bounds (true "
        "value may be lower): " in result
    )
    assert "flows at `lan` differ in size" in result


def test_a_requirement_judged_by_an_approximation_is_reported() -> None:
    result = _reported(WAITING)
    assert "325 users (approximate)" in result
    assert "At 326 users, p.p95 is 50.05 ms (approximation)" in result
    assert "`quality` are approximations (true value may be lower or higher" in result
    result = _reported(WAITING.replace("; queueing mm1", ""))
    assert "upper bounds" not in result
    assert (
        "lower bounds (true value may be higher): queueing delay at `lan.server.out` and `lan.user.in` is excluded"
        in result
    )


def test_the_rating_that_costs_were_measured_at_is_explained() -> None:
    text = PRELUDE + (
        "component timed { cpu 10 ms/packet measured on rated }\n"
        "topology { node host = twice }\nstream talk { traffic N * 1 packet/s; at host { timed } }\n"
    )
    result = _reported(text)
    assert "host.cpu.speed +1.00 %" in result
    assert "rated.score -1.00 %" in result
    assert (
        "rated.score is the rating of the machine that service demands were measured on" in result
    )
    assert "demands were measured on" not in _reported(SPEC)


def test_a_load_just_above_saturation_is_distinguished() -> None:
    text = PRELUDE.replace("1..100", "1..10_000") + (
        "component sync { cpu 12 us/packet }\ntopology { node host = box }\n"
        "stream talk { traffic N * 50 packet/s; at host { sync } }\n"
    )
    # 1,667 users * 600 us
    assert "host.cpu utilization is 100.02 % (saturated)" in answer_sentence(_answer(text))


# -- the margin, and what helps most -----------------------------------------------------


def test_without_any_margin_that_is_said() -> None:
    assert (
        _lines(SPEC)[1] == "Utilization targets: none set (resources may reach 100 % utilization)."
    )


def test_a_target_of_what_nothing_loads_is_reported() -> None:
    disk = "option stored = on or off\nmachine shelf { disk 100 request/s }\n"
    text = SPEC.replace("node back = box", "node back = box\n node rack = shelf").replace(
        "web, user, back", "web, user, back, rack"
    )
    text = (
        disk
        + "component keep_it { disk 1 request/packet }\n"
        + text.replace("at web { work }", "at web { work }\n at rack { keep_it if stored == off }")
    )
    assert _lines(f"target disk 80 %\n{text}")[1] == (
        "Utilization targets: disk 80 % (unused here)."
    )


def test_requirements_on_loads_are_a_margin() -> None:
    lines = _lines(f"target link 80 %\n{SPEC}require {{ web.cpu.load <= 60 % }}\n")
    assert lines[1] == "Utilization targets: link 80 %, web.cpu.utilization 60 %."


def test_the_three_best_changes_come_first() -> None:
    text = (
        "param size = 625 byte/packet in 1..1000 byte/packet\nmachine fast { cpu 3 core }\n" + SPEC
    )
    spec = checked(text)
    answer = answer_of(spec, advice=True)
    words = wording(spec.model, spec.configuration(), answer)
    best = [one.capacity for one in words.best_changes]
    assert best == sorted((one.capacity for one in answer.advice), reverse=True)[:3]
    lines = solve_text(answer, "x", Wording(labels=PLAIN, changes=words.changes)).splitlines()
    assert lines[2] == "  Capacity     100 users"
    assert lines[4].startswith("  Limit        At 101 users, web.cpu utilization is 101 % ")


def test_json_has_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.qps"
    path.write_text(f"target cpu 75 %\n{SPEC}require {{ pages.latency <= 1 s }}\n")
    main(["solve", str(path), "--format", "json"])
    output = json.loads(capsys.readouterr().out)
    assert output["next_limit"] == {
        "requirement": "back.cpu.utilization", "met_up_to": 187, "mode": None,
        "known": {"kind": "exact", "reasons": []},
    }  # fmt: skip
    assert output["more_users"]["at"] == 83
    assert output["more_users"]["beyond_target"] == [
        {"resource": "web.cpu", "utilization": 0.83, "target": 0.75}
    ]
    assert {one["stream"] for one in output["more_users"]["streams"]} == {"pages", "notes"}
    assert output["targets"] == [{"of": "cpu", "at_most": 0.75, "loaded": True}]
    assert output["best_changes"] == sorted(output["advice"], key=lambda a: -a["capacity"])[:3]


def test_markdown_lists_it() -> None:
    text = solve_text(_answer(SPEC), "x", markdown=True)
    assert (
        "- Next limit: net.web.out.utilization: saturated above 200 users (50 % at 100)\n" in text
    )
    assert "\n- More users: With 10 % more users (110): " in text


STEEP = SPEC + "measure crowd = N * 1 ms\nmeasure steep = (1 - (1 - (N/2000)^40)^2) * 1 ms\n"


def test_a_limit_exceeded_by_less_than_floats_resolve_is_reported_with_the_excess() -> None:
    text = f"{STEEP}require {{ crowd <= 50 ms; steep <= 1 ms }}\nquality euclidean\n"
    assert (
        answer_sentence(_answer(text))
        == "49 users. At 50, quality is 1 + 1.368 × 10⁻¹²⁸, above the limit of 1."
    )
    text = f"{STEEP}measure both = crowd + steep\nrequire {{ both <= 50 ms }}\nquality worst\n"
    sentence = "49 users. At 50, both is 50 ms + 1.654 × 10⁻⁶¹ µs, above the limit of 50 ms."
    assert answer_sentence(_answer(text)) == sentence


def test_a_limit_that_must_not_be_reached_is_reported_as_such() -> None:
    text = f"{STEEP}require {{ crowd < 50 ms }}\nquality worst\n"
    answer = _answer(text)
    assert (
        answer_sentence(answer) == "49 users. At 50, crowd is 50 ms, not below the limit of 50 ms."
    )
    assert "crowd is 54 ms, not below the limit of 50 ms" in beyond_lines(answer, PLAIN)[0]
