"""The first screen: how many, limited by what, what helps, how sure, what breaks next; in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.reports import html_of
from helpers.specs import PRELUDE, checked
from qps.cli import main
from qps.compiler.pipeline import load

SPECS = Path(__file__).parents[2] / "specs"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

ROWS = """() => Object.fromEntries([["", document.querySelector("#decision .many").textContent],
  ...[...document.querySelectorAll("#decision dl > div")].map(
    ({ children: [word, told] }) => [word.textContent, told.textContent.replace(/\\s/g, " ")])])"""
BOUND = (
    PRELUDE.replace("users N in 1..100\n", "users viewers in 1..1000\n")
    + "machine waiting { cpu 1 core, queueing md1 }\n"
    "topology { node host = waiting\n node user = box * viewers }\n"
    "param pace = 2 packet/s in 0.1..9 packet/s\n"
    "stream flow for each user { traffic pace; at host { work } }\n"
)


@pytest.fixture(scope="module")
def speak_html() -> str:
    return html_of(load(SPECS / "audioconference.qps"), scenarios=["midrange"], claims=())


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_the_first_screen_answers_five_questions(
    speak_html: str, open_page: Any, width: int, height: int
) -> None:
    page = open_page(speak_html, width=width, settings=False)
    page.page.set_viewport_size({"width": width, "height": height})
    page.page.wait_for_selector("#advice button")
    result = page.run(ROWS)
    assert result[""] == "32 users (upper bound)"
    # the requirement behind a quality, told once
    assert result["Limit"].startswith(
        "overall quality penalty: voice latency ≥ 227 ms (limit 230 ms)"
    )
    changes = page.page.locator("#advice tbody tr").all_inner_texts()
    assert [" ".join(one.split()) for one in changes[:2]] == [
        "Change deletion: off → on 200+ Try",
        "Change mixing: software → hardware 194 Try",
    ]
    assert "23.2 %" in page.page.inner_text("#gauges tr:has-text('station CPU')")
    assert result["Unverified"].startswith("model error of voice latency; run qps simulate")
    reached = "voice latency: limit of 230 ms reached at ≤ 35 users"
    assert result["Next limit"].startswith(reached)
    seen = "() => document.querySelector('#decision').getBoundingClientRect().bottom"
    assert page.run(seen) <= height


def test_what_is_tried_has_the_price_it_lacks(open_page: Any) -> None:
    page = open_page(html_of(checked(BOUND + "require { flow.latency <= 14 ms }\n")))
    page.page.fill("#number-pace", "4")
    page.page.wait_for_selector("#advice button")
    result = page.run(ROWS)
    assert result["Cost"].startswith("no prices set; add price 0.8 $/hour to waiting")
    options = page.page.locator("#decision code", has_text="price").first.inner_text()
    assert options == "price 0.8\N{NO-BREAK SPACE}$/hour"
    assert result["Accuracy"] == "capacity is exact for this model"


def test_users_are_called_as_the_spec_calls_them_and_all_follows(open_page: Any) -> None:
    spec = checked(BOUND + "require { flow.latency <= 14 ms }\n")
    page = open_page(html_of(spec))
    page.page.wait_for_selector("#advice button")
    result = page.run(ROWS)
    largest = page.run("() => qps.shown.solved.largest")
    assert result[""] == f"{largest} viewers"
    assert result["Limit"].startswith("flow latency")
    assert result["Accuracy"] == "capacity is exact for this model"
    assert page.page.inner_text("#small-answer").startswith(f"{largest} viewers")
    page.page.fill("#number-pace", "4")
    again = page.run("() => qps.shown.solved.largest")
    assert again < largest
    assert page.run(ROWS)[""].startswith(f"{again} viewers")
    page.page.fill("#number-pace", "0.1")
    page.page.wait_for_function(
        "() => document.querySelector('#decision .many').textContent.includes('viewers')"
    )


APPROXIMATE = """
users viewers in 1..100_000
param pace = 0.1 request/s in 0.01..1 request/s
machine server { cpu 4 core, queueing mgc cv 1.5 }
machine home { }
network lan { propagation 0 ms }
component answer { cpu 8 ms/request }
topology {
  node web = server * 2
  node browser = home * viewers
  link wan = lan between web, browser
}
stream replies for each browser { traffic pace; at web { answer }; over wan; at browser { } }
require { replies.latency <= 12 ms }
"""


def test_a_changed_capacity_that_is_approximate_says_what_it_was_rounded_down_from(
    open_page: Any,
) -> None:
    page = open_page(html_of(checked(APPROXIMATE)))
    page.page.fill("#number-pace", "0.09")
    page.page.wait_for_function("() => qps.shown.n > 7000")
    largest = page.run("() => qps.shown.solved.largest")
    assert largest % 10 != 0
    assert page.run(ROWS)[""] == (
        f"{largest // 10 * 10:,} viewers (approximate, rounded down from {largest:,}) what if"
    )
    assert page.complaints == []


def test_a_changed_capacity_with_a_model_error_is_of_samples_and_its_mark_is_explained(
    open_page: Any,
) -> None:
    uncertain = APPROXIMATE.replace("8 ms/request", "8 ms/request +- 10 %")
    page = open_page(html_of(checked(uncertain)))
    # What is written allows for model errors, samples of the page do not.
    assert "at 95 % confidence" in page.run(ROWS)[""]
    assert page.page.inner_text("#beside").endswith("95 % confidence")
    page.page.fill("#number-pace", "0.09")
    page.page.wait_for_function(
        "() => document.querySelector('#decision').textContent.includes('of samples')"
    )
    found = page.run(ROWS)[""]
    assert found.startswith("~ ")
    assert "in 95 % of samples (~: approximate)" in found
    page.page.wait_for_function(
        "() => document.querySelector('#beside').textContent.endsWith('in 95 % of samples')"
    )
    assert page.complaints == []


def test_a_range_that_ends_is_no_limit_of_the_system(open_page: Any) -> None:
    page = open_page(html_of(checked(BOUND.replace("1..1000", "1..20"))))
    result = page.run(ROWS)
    assert result[""] == "20+ viewers"
    assert "Limit" not in result
    assert page.page.inner_text("#advice").startswith("Capacity reaches the end of the range")


def test_what_is_wrong_stands_next_to_what_was_typed(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html)
    page.page.click(".contents >> text=Assumptions")
    field = page.page.locator("#numbers input:enabled").last
    field.scroll_into_view_if_needed()
    field.fill("many")
    trouble = page.page.locator(".trouble.beside")
    assert "enter a number" in trouble.inner_text()
    box, own = trouble.bounding_box(), field.bounding_box()
    assert abs(box["y"] - own["y"]) < 120
    field.fill("0.001")
    assert "enter a number" not in page.page.inner_text("#numbers")


@pytest.mark.parametrize("spec", ["specs/iri.qps", "specs/applications/chat.qps"])
def test_without_scripts_it_says_what_the_terminal_says(
    spec: str,
    open_page: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "page.html"
    monkeypatch.setenv("COLUMNS", "500")
    assert main(["solve", str(SPECS.parent / spec)]) == 0
    solved = " ".join(capsys.readouterr().out.replace("`", "").split())
    assert main(["report", str(SPECS.parent / spec), "-o", str(file), "--variants", "1"]) == 0
    page = open_page(file.read_text(encoding="utf-8"), scripts=False)
    output = [" ".join(page.page.locator("#decision .many").inner_text().split())]
    rows = page.page.locator("#decision dl > div")
    output += [" ".join(rows.nth(k).inner_text().split()) for k in range(rows.count())]
    assert {one.split()[0] for one in output[1:]} & {"Bottleneck", "Limit", "Next"}
    for one in output:
        assert one in solved, one
    where = page.page.locator("#decision").bounding_box()
    assert where["y"] + where["height"] < 900  # of a first screen
