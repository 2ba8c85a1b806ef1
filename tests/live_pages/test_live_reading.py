"""What a reader does with a live page: move, choose, save, compare, print, and read it unseen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.breakdowns import explain
from helpers.reports import html_of
from helpers.specs import PRELUDE, checked
from live_pages.page_settings import CONTRASTS, EVIL, ROOT
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec, load
from qps.compiler.quantities.dimension import DATA_RATE
from qps.reports.pages.drawings.request_strip import SUMS
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.quantities import quantity
from qps.solver.answers.worst_mode import solve_model

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

# -- what a reader does ------------------------------------------------------------------------


def test_the_slider_moves_every_number(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html).page
    before = page.text_content("#requirements")
    page.focus("#population")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("() => qps.shown.n") == 37
    assert page.text_content("#requirements") != before
    assert "at 37" in page.text_content("#resources")
    assert page.text_content("#answer").startswith("At most 32 users.")
    page.check("text=lock to maximum")
    assert page.evaluate("() => qps.shown.n") == 32


def test_traffic_follows(speak: Spec, speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html).page
    static = open_page(speak_html, scripts=False).page
    said = [" ".join(one.text_content("#traffic table").split()) for one in (page, static)]
    assert "".join(said[0].split()) == "".join(said[1].split())
    page.fill("#population-number", "16")
    rate = page.locator("#traffic tbody td").nth(1).text_content()
    graph = lower(speak.model, speak.configuration("midrange"))
    resource = graph.resources["lan"]
    assert resource.throughput is not None
    assert rate == quantity(graph.at(16).number(resource.throughput), DATA_RATE, 3)


def test_a_requirement_moves_the_answer(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html).page
    page.fill("#number-longest_delay", "250")
    assert not page.text_content("#answer").startswith("At most 32 users.")
    assert "'longest_delay=250 ms'" in page.text_content(".command")
    page.click("text=Reset")
    assert page.text_content("#answer").startswith("At most 32 users.")


def test_wrong_numbers_are_refused_and_reported(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html).page
    for text, result in (
        ("much", "enter a number such as 1200"),
        ("5000", "allowed range 515 to 2,000 byte/packet"),
    ):
        page.fill("#number-implied_size", text)
        assert result in page.text_content("#controls .trouble")
        assert page.get_attribute("#number-implied_size", "aria-invalid") == "true"
        assert page.text_content("#answer").startswith("At most 32 users.")
    page.fill("#number-implied_size", "1200")
    assert page.text_content("#controls .trouble") == ""


def test_what_is_not_in_the_page_cannot_be_chosen_and_is_reported(
    open_page: Any, speak: Spec
) -> None:
    page = open_page(html_of(speak, most=20)).page
    disabled = page.evaluate(
        """() => [...document.querySelectorAll('#controls option')]
        .filter((one) => one.disabled).map((one) => one.textContent)"""
    )
    assert disabled
    assert all("(not available here)" in text for text in disabled)
    assert "This page includes 20 of 217,728 combinations" in page.text_content("#controls")


def test_hover_tables_and_downloads(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html).page
    page.evaluate("() => qps.drawAll()")
    shown = page.evaluate(
        "() => qps.pictures.filter((one) => !one.place.hidden).map((one) => one.key)"
    )
    assert {
        "loads",
        "topology",
        "shares",
        "needs",
        "waterfall",
        "quality",
        "space",
        "tornado",
        "heat",
    } <= set(shown)
    for key in shown:
        figure = page.locator(f"#picture-{key}")
        figure.scroll_into_view_if_needed()
        figure.locator(".chart").first.hover()
        assert figure.locator(".readout").text_content(), key
        figure.locator(".canvas").focus()
        page.keyboard.press("ArrowRight")
        assert figure.locator(".readout").text_content(), key
        figure.locator("summary").click()
        figure.locator("tbody tr").first.wait_for()
        with page.expect_download() as download:
            figure.get_by_role("button", name="Download as SVG").click()
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert text.startswith("<svg"), key
        assert "var(" not in text
        assert figure.locator("figcaption").text_content(), key


def test_settings_can_be_saved_and_compared(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html).page
    assert page.locator("#comparison table").count() == 0
    page.click("#pin")
    page.fill("#number-longest_delay", "300")
    users = page.locator("#comparison tbody tr").first.locator("td").all_text_contents()
    assert users[0] == "Capacity (users)"
    assert users[2] == "≤ 32"
    assert int(users[1].removeprefix("≤ ")) > 32
    page.click("#comparison button.tab >> nth=1")
    assert page.text_content("#answer").startswith("At most 32 users.")


def test_scenarios_and_specs_stand_side_by_side(open_page: Any, speak: Spec) -> None:
    page = open_page(html_of(speak, scenarios=["low_end", "high_end"])).page
    head = page.locator("#comparison thead th").all_text_contents()
    assert head[1:] == ["low_end", "high_end"]
    assert page.locator("#comparison tbody tr").first.locator("td").all_text_contents() == [
        "Capacity (users)",
        "≤ 10",
        "≤ 75",
    ]
    other = load(ROOT / "specs" / "virtual_cockpit.qps")
    two = open_page(html_of(speak, others=[other])).page
    assert two.locator("#comparison tbody tr").first.locator("td").all_text_contents() == [
        "Capacity (users)",
        "≤ 45",
        "≤ 453",
    ]
    two.click("#comparison button.tab >> nth=1")
    assert two.text_content("#answer").startswith("At most 453 users.")


def test_advice_can_be_tried(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html).page
    page.wait_for_selector("#advice button")
    row = page.locator("#advice tbody tr").first.locator("td").all_text_contents()
    page.evaluate("() => { globalThis.before = qps.shown.solved; }")
    page.click("#advice button >> nth=0")
    assert page.inner_text("#small-answer strong") == row[2]
    assert page.evaluate("() => qps.shown.solved !== before")
    page.get_by_role("button", name="Undo", exact=True).click()
    assert page.evaluate("() => qps.shown.solved === before")  # the last answers are known


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_at_any_width(
    speak_html: str, open_page: Any, scheme: str, width: int
) -> None:
    page = open_page(speak_html, width=width, scheme=scheme).page
    page.evaluate("() => qps.drawAll()")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    low = page.evaluate(CONTRASTS)
    assert low == []


def test_every_input_has_a_name(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html).page
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button")].filter((one) =>
        !one.labels?.length && !one.getAttribute("aria-label") && !one.textContent.trim())
        .map((one) => one.outerHTML)"""
    )
    assert nameless == []
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('svg[role=img]')]
        .filter((one) => !one.getAttribute('aria-label')).length"""
    )
    assert unnamed == 0


def test_without_scripts_the_first_answer_can_be_read(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html, scripts=False).page
    assert page.text_content("#answer").startswith("At most 32 users.")
    assert not page.is_visible("#controls")
    for part, picture in (("gives-out", "loads"), ("users-see", "needs")):
        assert not page.is_visible(f"#picture-{picture} svg")
        page.click(f"#{part} summary")
        assert page.is_visible(f"#picture-{picture} svg")
    assert page.locator("#requirements >> text=voice latency").first.is_visible()


def test_a_strangers_text_is_text(open_page: Any) -> None:
    said = EVIL.replace('"', "'")
    spec = checked(
        f'"""{said}\n\n{said}"""\n' + PRELUDE
        + f'"""{said}"""\noption zip = on\nparam p = 3 in 1..9 source "{said}"\n'
        + f'"""{said}"""\nscenario other {{ p = 4 }}\n"""{said}"""\nmeasure m = N * p\n'
        + "topology { node host = box }\n"
        + "stream flow for each host { traffic p * N * 1 packet/s; at host { work } }\n"
        + "require { flow.latency <= 20 ms; m <= 60 }\n"
        + f'expect a "{said}" {{ p == 3; source "{said}"; note "{said}"; fitted "{said}" }}\n'
        + f'figure f "{said}" {{ over N in 1..9; line "{said}" m; source "{said}" }}\n'
    )  # fmt: skip
    opened_page = open_page(html_of(spec))
    page = opened_page.page
    assert page.evaluate("() => document.scripts.length") == 2
    assert page.evaluate("() => document.images.length") == 0
    assert page.evaluate("() => document.querySelectorAll('[onerror]').length") == 0
    assert said in page.text_content("h1")
    page.select_option("#control-start", "1")
    page.evaluate("() => qps.drawAll()")
    assert page.evaluate("() => document.images.length") == 0
    assert said in page.text_content("#measures")


CALLING = """
users N in 1..100
machine box { cpu 1 core }
network wire { switched; rate 1 Gbit/s; propagation 1 ms }
component work(t) { cpu t }
topology {
  node web = box
  node db = box
  node left = box
  link lan = wire between web, db, left
}
stream asked in all {
  traffic N * 1 request/s, 125 byte/request
  at web {
    work(1 ms/request)
    call db * 20 % { work(8 ms/request) }
    together { call left * 3 { work(1 ms/request) }; call db { work(2 ms/request) } }
  }
}
require { asked.latency <= 20 ms }
"""


def test_the_waterfall_of_calls_is_the_tree_that_is_explained(open_page: Any) -> None:
    spec = checked(CALLING)
    page = open_page(html_of(spec)).page
    page.evaluate(
        "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
    )
    page.evaluate("() => qps.drawAll()")
    rows = page.locator("#picture-waterfall tbody tr").all_inner_texts()
    text = [[cell.strip() for cell in row.split("\t")] for row in rows]
    solution = solve_model(spec.model, spec.configuration())
    tree = explain(solution.graph, "asked.latency", solution.at).calls
    rows_of_places = [row for row in text if row[-1]][:-2]  # but for the sums
    assert [row[1] for row in text if row[-1]][-2:] == list(SUMS)
    whole = [[row[1].partition(":")[0], *row[2:4], *row[-2:]] for row in rows_of_places]
    stage = labels_of(spec.model).stage
    assert whole == [[stage(one.name), one.times, one.each, one.start, one.end] for one in tree]
