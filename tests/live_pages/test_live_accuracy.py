"""A live page reports how each of its numbers is known: exactly, as a bound, or approximately."""

from __future__ import annotations

from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.answers import answer_of
from helpers.reports import html_of, html_of_text
from helpers.specs import PRELUDE, checked
from live_pages.page_settings import TYPE
from qps.compiler.pipeline import Spec
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.solutions.solve_view import solve_view
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.advice import advise

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)


def test_how_numbers_are_known_follows_the_setting(open_page: Any) -> None:
    spec = checked(
        PRELUDE + "machine waiting { cpu 1 core, queueing md1 }\n"
        "topology { node host = waiting\n node back = box\n node user = box * N }\n"
        "param patience = 50 ms in 1..900 ms\n"
        "stream flow for each user { traffic 1 packet/s, 1 byte/packet; at host { work } }\n"
        "stream plain for each user { traffic 1 packet/s, 1 byte/packet; at back { work } }\n"
        "measure both = flow.latency + plain.latency\n"
        "require { flow.latency <= patience; both <= 900 ms }\n"
    )
    page = open_page(html_of(spec))
    for text in ("50", "1", "900"):
        assert page.run(TYPE, ["patience", text])
        view = qps_view(spec, f"patience = {text} ms")
        known = page.run("() => qps.shown.solved.known")
        assert (known or ["exact", []])[0] == view.known.kind
        output = view.answer.replace("flow.latency", "flow latency")
        assert page.page.text_content("#answer").startswith(output)
    assert view.known.kind == "upper bound"
    assert "≥ " in page.page.inner_text("#requirements")
    output = page.page.inner_text("#known")
    assert "plain.latency" in output
    assert "(true value may be higher): queueing delay at back.cpu is excluded" in output
    assert output.endswith("All other results are exact for this model.")


def qps_view(spec: Spec, *settings: str) -> SolveView:
    return solve_view(answer_of(spec, *settings))


MORE_CHANGES = """() => document.querySelectorAll("#advice details")
  .forEach((one) => { one.open = true; })"""
KNOWN_IN_ALL_WAYS = (
    PRELUDE + "machine waiting { cpu 1 core, queueing md1 }\n"
    "machine many { cpu 2 core, queueing mmc }\n"
    "component less { cpu 5 ms/packet }\n"
    "topology { node host = waiting\n node back = box\n node other = many\n"
    " node user = box * N }\n"
    "param patience = 50 ms in 1..900 ms\nparam pace = 1 packet/s in 0.1..9 packet/s\n"
    "stream flow for each user { traffic pace; at host { work } }\n"
    "stream plain for each user { traffic pace; at back { work } }\n"
    "stream rare for each user { traffic pace; at other { work } }\n"
    "stream short for each user { traffic pace; at other { less } }\n"
    "measure both = flow.latency + plain.latency\n"
    "require { flow.latency <= patience; rare.latency <= 1 s; both <= 60 ms }\nquality euclidean\n"
)


def test_what_would_help_is_known_as_the_answer_with_it(open_page: Any) -> None:
    page = open_page(html_of_text(KNOWN_IN_ALL_WAYS))
    marks = set()
    for pace in ("1", "0.85", "2"):
        for index in range(4):
            assert page.run(TYPE, ["pace", pace])
            page.page.wait_for_selector("#advice button")
            page.run(MORE_CHANGES)
            row = page.page.locator("#advice tbody tr").nth(index)
            output = row.locator("td").nth(2).inner_text()
            row.locator("button").click()
            assert page.page.inner_text("#small-answer strong") == output
            marks.add(output.split()[0])
            page.page.click("text=Reset")
    assert "~" in marks


def test_advice_on_exact_and_bounded_answers_is_as_the_solver_has_it(open_page: Any) -> None:
    shared = (
        PRELUDE + "topology { node host = waiting\n node user = box * N }\n"
        "param pace = 2 packet/s in 0.1..9 packet/s\n"
        "stream flow for each user { traffic pace; at host { work } }\n"
        "require { flow.latency <= 15 ms }\n"
    )
    for waiting, mark in (("", "≤ "), (", queueing md1", ""), (", queueing mg1 cv 0.5", "")):
        spec = checked(shared + f"machine waiting {{ cpu 1 core{waiting} }}\n")
        page = open_page(html_of(spec)).page
        page.wait_for_selector("#advice button")
        page.evaluate(MORE_CHANGES)
        row = page.locator("#advice tr", has_text="pace: 2 → 1.8").locator("td")
        configuration = spec.configuration()
        solution = solve_model(spec.model, configuration)
        tried = advise(spec.model, configuration, solution)
        (solved,) = (a for a in tried if a.change == "10 % less pace")
        assert row.nth(2).inner_text() == f"{mark}{solved.capacity}"


def test_pictures_and_sentences_say_how_their_numbers_are_known(open_page: Any) -> None:
    page = open_page(html_of_text(KNOWN_IN_ALL_WAYS)).page
    page.wait_for_selector("#advice button")
    page.evaluate(
        "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
    )
    page.evaluate("() => qps.drawAll()")

    def choose(picture: str, choice: str) -> None:
        page.locator(f"#{picture} select").first.select_option(label=choice)
        page.evaluate("() => qps.drawAll()")

    def result(place: str) -> str:
        return str(page.text_content(f"#{place}"))

    assert "Next limitflow latency: limit of" in result("decision") + result("more-facts")
    for picture in ("picture-loads", "picture-needs"):
        assert "supported: 1 to 82 (approximate)" in result(picture)
    choose("picture-topology", "rare")
    assert "Latency of rare at N = 82: ~ 15.07 ms" in result("picture-waterfall")
    rows = page.locator("#picture-waterfall tbody tr").all_inner_texts()
    times = [row.split("\t")[3] for row in rows]
    assert times[:-1] == ["~ 15.07 ms", "~ 5.069 ms", "10 ms", "~ 15.07 ms"]
    choose("picture-topology", "plain")
    rows = page.locator("#picture-waterfall tbody tr").all_inner_texts()
    assert [row.split("\t")[3] for row in rows][:-1] == ["10 ms", "≥ 10 ms"]
    page.check("#picture-space .choices input[type=checkbox]")
    page.evaluate("() => qps.drawAll()")
    axes = page.locator("#picture-space svg text").all_text_contents()
    assert {"flow.latency", "rare.latency (approximation)", "both (lower bound)"} <= set(axes)
    points = page.locator("#picture-space tbody td").all_inner_texts()[1:]
    assert points == ["0.6556", "≥ 0.713", "~ 0.01507", "~ 0.9687"]
    users = page.locator("#picture-heat tbody td").all_inner_texts()
    assert "~ 100" in users
    assert not {cell for cell in users if cell.isdecimal()}
    choose("picture-heat", "both")
    rows = page.locator("#picture-heat tbody tr").all_inner_texts()
    cells = [cell for row in rows for cell in row.split("\t")[1:]]
    assert all(cell == "∞" or cell.startswith("≥ ") for cell in cells)
    assert len({*cells}) > 1


def test_without_scripts_pictures_and_formulas_say_how_their_numbers_are_known(
    open_page: Any,
) -> None:
    page = open_page(html_of_text(KNOWN_IN_ALL_WAYS), scripts=False).page
    assert "supported: 1 to 82 (approximate)" in page.text_content("#picture-loads")
    needs = page.text_content("#picture-needs")
    for line in ("rare latency (approximation)", "both (lower bound)"):
        assert line in needs
    text = page.text_content("body")
    assert (
        "A lower bound (true value may be higher): queueing delay at `back.cpu` is excluded."
        in text
    )
