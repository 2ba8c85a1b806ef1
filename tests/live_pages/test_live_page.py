"""The live page in a real browser: it answers what `qps solve` answers, and asks for nothing."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING, SharedBrowser
from browsers.page_answers import differences
from helpers.answers import answer_of
from helpers.nightly import draws, nightly
from helpers.reports import html_of, html_of_text, report_of
from helpers.specs import PRELUDE, checked
from live_pages.page_settings import ANSWERS, ROOT, TYPE, answers_as_the_solver
from pages.test_page_answers import KINDS, one_stream
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import load
from qps.reports.text.solutions.limit_reasons import answer_sentence
from qps.reports.text.words.labels import labels_of
from qps.solver.answers.graph_solution import solve
from solving.saturation_specs import FILLED
from solving.test_ties import SHOP

SPECS = sorted((ROOT / "specs").glob("*.qps"))
_SLOW = {
    *("audioconference", "capacity", "atm_video", "iri", "flying", "jitter", "turn_relay"),
    *("virtual_cockpit", "sfu_router", "data_path", "sfu", "mtp", "problem_solving"),
}
"""Most of the time of all: at night. `report_of` and solving them are tested elsewhere, too."""
OF_SPECS = [
    pytest.param(path, id=path.stem, marks=[nightly] if path.stem in _SLOW else [])
    for path in SPECS
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)


def test_a_browser_that_has_died_is_replaced(shared_browser: SharedBrowser) -> None:
    started = shared_browser.running()
    assert shared_browser.running() is started
    with pytest.raises(Exception, match="closed"):
        started.new_browser_cdp_session().send("Browser.crash")
    replaced = shared_browser.running()
    assert replaced is not started
    replaced.new_context().close()


@draws
@pytest.mark.slow
@pytest.mark.parametrize("path", OF_SPECS)
def test_the_page_answers_what_the_solver_answers(path: Path, open_page: Any) -> None:
    """First of all in the same words as without scripts."""
    spec = load(path)
    html = report_of(path)
    page = open_page(html)
    live = page.run("() => document.getElementById('answer').textContent")
    assert open_page(html, scripts=False).page.text_content("#answer") == live
    answers_as_the_solver(page, spec, random.Random(path.stem))
    assert spec.model.file in page.run("() => document.querySelector('.command').textContent")


@pytest.mark.parametrize("range_of", ["1..100", "1..1_000_000"])
def test_a_page_has_every_operation_that_its_requirements_need(
    range_of: str, open_page: Any
) -> None:
    """All kinds of them in one page; that each has its answer is known of Node."""
    kinds = [
        re.sub(r"\bm\b", f"m{place}", kind)
        for place, kind in enumerate(KINDS.values())
        if "measure m = " in kind and "quality" not in kind
    ]
    assert len(kinds) > 20
    spec = checked(one_stream("".join(kinds), range_of))
    solution = solve(lower(spec.model, spec.configuration()))
    assert differences(open_page(html_of(spec)).run(ANSWERS), solution) == []


@pytest.mark.parametrize("first", ["1", "100"])
def test_what_stays_full_is_reported_in_the_same_words(first: str, open_page: Any) -> None:
    text = FILLED.replace("FIRST", first).replace("LOAD", "min(most, N / 100)").replace("AT", "")
    html = html_of(checked(text))
    result = open_page(html).run("() => document.getElementById('answer').textContent")
    assert result == open_page(html, scripts=False).page.text_content("#answer")
    assert "its utilization stays at the limit up to N = 150" in result


TIES = [(), ("power = 0.001 core",), ("speed = 1000 Mbit/s",), ("N = 300",), ("N = 20",)]


@pytest.mark.parametrize("settings", TIES)
def test_ties_are_decided_as_in_the_solver(settings: tuple[str, ...], open_page: Any) -> None:
    spec = checked(SHOP)
    solution = solve(lower(spec.model, spec.configuration(None, settings)))
    page = open_page(html_of(spec, *settings))
    assert differences(page.run(ANSWERS), solution) == []
    assert solution.bottleneck is not None
    first = page.run("() => qps.shown.solved.first.name")
    assert first == solution.bottleneck.resource
    assert page.run(ANSWERS)["answer"] == answer_sentence(
        answer_of(spec, *settings), labels_of(spec.model)
    )


def test_what_does_not_depend_on_the_users_is_reported_in_the_page(open_page: Any) -> None:
    spec = checked(SHOP.replace(" for each user", "").replace("0.1 core", "1 core"))
    text = answer_sentence(answer_of(spec))
    assert text.startswith("Capacity does not depend on the number of users")
    assert open_page(html_of(spec)).run(ANSWERS)["answer"] == text


@draws
@pytest.mark.parametrize("machine", ["box", "waiting"])
def test_targets_hold_in_the_page(machine: str, open_page: Any) -> None:
    spec = checked(
        PRELUDE + "machine waiting { cpu 1 core, queueing mm1 }\n"
        "param aim = 75 % in 10..100 %\nparam pace = 1 packet/s in 0.1..9 packet/s\n"
        f"topology {{ node host = {machine}\n node user = box * N\n"
        " link net = ports between host, user }\n"
        "stream flow for each user {\n"
        " traffic pace, 625 byte/packet\n at host { work }\n at user { }\n}\n"
        "target cpu aim, link 40 %\nscenario busy { pace = 2 packet/s }\n"
    )
    html = html_of(spec)
    page = open_page(html)
    answers_as_the_solver(page, spec, random.Random(machine))
    page = open_page(html)
    assert page.run(TYPE, ["aim", "30"])
    answer = page.run(ANSWERS)
    assert (answer["largest"], answer["limitedBy"]) == (30, "host.cpu.utilization")
    assert answer["answer"].endswith("host CPU utilization is 31 %, above its target of 30 %.")
    assert "First to exceed its target: host CPU, above 30 users." in page.page.text_content(
        "#answer"
    )
    assert "host CPU" in page.page.text_content("#gauges")
    live = page.page.text_content("#resources")
    assert "30 %" in live
    assert "Reaches target" in live


def test_cores_that_do_less_together_are_changed_in_the_page(open_page: Any) -> None:
    spec = checked(
        PRELUDE.replace("1..100", "1..5000") + "machine big { cpu 4 core, efficiency 90 % }\n"
        "topology { node host = big }\nstream flow { traffic N * 1 packet/s; at host { work } }\n"
    )
    page = open_page(html_of(spec))
    # 4 · 0.9^2 = 3.24, of which the last is met exactly; 8 · 0.9^3 = 5.832, 8 · 0.81^3 = 4.2515
    for name, typed, largest in [
        ("host.cpu.cores", "4", 324),
        ("host.cpu.cores", "8", 583),
        ("host.cpu.efficiency", "81", 425),
    ]:
        assert page.run(TYPE, [name, typed])
        assert page.run(ANSWERS)["largest"] == largest


def test_what_lies_beyond_the_answer_follows_the_setting(open_page: Any) -> None:
    spec = checked(
        PRELUDE + "param pace = 1 packet/s in 0.1..9 packet/s\nparam aim = 75 % in 10..100 %\n"
        "topology { node host = box\n node user = box * N }\n"
        "stream flow for each user { traffic pace; at host { work } }\ntarget cpu aim\n"
    )
    page = open_page(html_of(spec))

    def result() -> str:
        return str(page.page.text_content("#headroom"))

    first = result()
    assert "With 10 % more users (83)" in first
    page.page.wait_for_selector("#advice table")
    # a wider margin is no help, and not offered as one
    assert "pace" in page.page.inner_text("#advice")
    assert "aim" not in page.page.inner_text("#advice")
    assert page.run(TYPE, ["pace", "2"])
    assert "With 10 % more users (41)" in result()
    page.page.click("text=Reset")
    assert result() == first


@draws
@pytest.mark.parametrize(
    "waits",
    [
        *("mmc", "periodic"),
        *(pytest.param(one, marks=nightly) for one in ("mm1", "md1", "mg1 cv 2", "mg1 cv 0.5")),
    ],
)
def test_what_is_waited_for_is_reported_in_the_page(waits: str, open_page: Any) -> None:
    cores = "2 core" if waits == "mmc" else "1 core"
    spec = checked(
        PRELUDE + f"machine waiting {{ cpu {cores}, queueing {waits} }}\n"
        "topology { node host = waiting\n node user = box * N }\n"
        "param pace = 1 packet/s in 0.1..9 packet/s\n"
        "stream flow for each user { traffic pace, 625 byte/packet; at host { work } }\n"
        "require { quantile(flow.latency, 99 %) <= 120 ms; flow.latency <= 60 ms }\n"
    )
    page = open_page(html_of(spec))
    solution = solve(lower(spec.model, spec.configuration()))
    assert differences(page.run(ANSWERS), solution) == []
    answers_as_the_solver(page, spec, random.Random(waits))


def test_an_endless_wait_is_drawn_to_the_edge(open_page: Any) -> None:
    spec = checked(
        PRELUDE.replace("1..100", "1..300") + "machine waiting { cpu 1 core, queueing mm1 }\n"
        "topology { node host = waiting\n node far = box\n link net = ports between host, far }\n"
        "stream flow for each host {\n traffic N * 1 packet/s, 625 byte/packet\n"
        " at host { work }\n over net\n at far { }\n}\n"
        "require { flow.latency <= 1 s }\n"
    )
    page = open_page(html_of(spec))
    page.page.fill("#population-number", "150")
    page.run("() => qps.drawAll()")
    # that nothing is complained of is looked at by `open_page`
    assert "∞" in page.page.text_content("#picture-waterfall svg")
    ends = page.run(
        """() => [...document.querySelectorAll("#picture-waterfall rect")]
        .map((one) => Number(one.getAttribute("x")) + Number(one.getAttribute("width")))"""
    )
    width = page.run("() => document.querySelector('#picture-waterfall svg').viewBox.baseVal.width")
    assert ends
    assert all(0 < end < width for end in ends), ends
    page.page.click("#picture-waterfall summary")
    assert "100 %" in page.page.locator("#picture-waterfall tbody").text_content()


GUARDED = (
    PRELUDE + "param chosen = 3 in 1..30\nparam pace = 2 packet/s in 0.1..9 packet/s\n"
    "param double = 2 * pace in 1..10 packet/s\nparam level = 20 % in 0..100 %\n"
    "component half { keep 1 - 4 * level; cpu 2 ms/packet }\n"
    "topology { node host = box * chosen\n node user = box * N }\n"
    "stream flow for each host { traffic N * double; at host { work } }\n"
    "stream other for each host { traffic pace; at host { half } }\n"
)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("chosen", "2.5", "the count of `host` must be a whole number above zero"),
        ("pace", "6", "`double` is above its range"),
        ("level", "30", "`keep` must be between 0 and 100 %"),
        ("half.cpu.packet", "-1", "a service demand must be zero or more"),
    ],
)
def test_numbers_that_cannot_be_are_refused_as_the_solver_does(
    name: str, text: str, expected: str, open_page: Any
) -> None:
    page = open_page(html_of_text(GUARDED))
    before = page.run("() => qps.shown.solved.largest")
    assert page.run(TYPE, [name, text])
    assert page.page.text_content("#controls .trouble") == f"Not applied: {expected}."
    assert page.run("() => qps.shown.solved.largest") == before


def test_modes_are_solved_and_the_worst_counts(open_page: Any) -> None:
    spec = checked(
        PRELUDE + "topology { node host = box }\nparam pace = 1 packet/s in 0..9 packet/s\n"
        "stream flow for each host { traffic N * pace; at host { work } }\n"
        "mode idle { pace = 1 packet/s; host.cpu.load <= 50 % }\n"
        "mode busy { pace = 2 packet/s; host.cpu.load <= 40 % }\n"
    )
    page = open_page(html_of(spec))
    assert page.run(ANSWERS)["largest"] == 20
    assert page.run(ANSWERS)["mode"] == "busy"
    page.page.select_option("#control-mode", "idle")
    assert page.run(ANSWERS)["largest"] == 50
    assert "idle" in page.run("() => document.querySelector('.command').textContent")
