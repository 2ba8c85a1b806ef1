"""Several configurations on a page: a title, the table first, a picture of all, telling names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.specs import PRELUDE
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source, load
from qps.reports.pages.live.live_page import column_names
from qps.solver.variants.model_variants import ShownCase

SPECS = Path(__file__).parents[2] / "specs"
TEXT = (
    '"""A small shop."""\n' + PRELUDE + "option zip = on or off\nparam pace = 1 packet/s\n"
    "topology { node host = box }\n"
    "stream flow { traffic N * pace * (if zip == on then 1 else 2); at host { work } }\n"
    "require { flow.latency <= 50 ms }\n"
    "scenario busy { pace = 2 packet/s }\nscenario calm { pace = 0.8 packet/s }\n"
)

NAMES = """() => qps.pictures.find((one) => one.key === "together").drawn.chart.series
  .map((one) => one.name)"""

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)


def report(folder: Path, *arguments: str) -> str:
    page = folder / "page.html"
    assert main(["report", *arguments, "-q", "--no-advice", "-o", str(page)]) == 0
    return page.read_text("utf-8")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.qps"
    file.write_text(TEXT, "utf-8")
    return file


@pytest.fixture
def compared_html(shop: Path) -> str:
    names = ("--scenario", "busy", "--scenario", "calm")
    return report(shop.parent, str(shop), *names, "--set", "zip=off")


@needs_browser
@pytest.mark.parametrize("scripts", [True, False])
def test_what_is_compared_is_the_title_and_the_table_is_first(
    compared_html: str, open_page: Any, scripts: bool
) -> None:
    page = open_page(compared_html, scripts=scripts).page
    assert page.title() == "A small shop: busy and calm compared"
    assert page.inner_text("h1") == page.title()
    head = page.locator("#comparison thead th").all_text_contents()
    assert head[1:] == ["busy", "calm"]  # what both are set to tells nothing apart
    users = page.locator("#comparison tbody tr").first.locator("td").all_text_contents()
    assert users == ["Capacity (users)", "≤ 25", "≤ 62"]
    table, answer = (page.locator(one).bounding_box() for one in ("#comparison table", "#decision"))
    assert table["y"] + table["height"] < answer["y"]
    assert "Selected: " in page.inner_text("h2.one")


@needs_browser
def test_all_are_in_one_chart_and_can_be_distinguished(compared_html: str, open_page: Any) -> None:
    page = open_page(compared_html)
    figure = page.page.locator("#picture-together")
    assert "Highest share of a limit by configuration" in figure.inner_text()
    assert page.run(NAMES) == ["busy: ≤ 25", "calm: ≤ 62"]
    table, chart = (
        page.page.locator(one).bounding_box() for one in ("#comparison", "#picture-together")
    )
    assert table["y"] < chart["y"] < page.page.locator("#decision").bounding_box()["y"]
    lines = page.run(
        """() => {
        const { series, x } = qps.pictures.find((one) => one.key === "together").drawn.chart;
        return series.map((one) => { // where each reaches its limit
          const i = one.values.findIndex((v) => v > 1);
          return [x.values[i - 1], x.values[i]];
        }); }"""
    )
    for (before, after), largest in zip(lines, (25, 62), strict=True):
        assert before < largest + 1
        assert after > largest
    page.page.fill("#number-pace", "1.6")
    assert page.page.locator("#comparison thead th").all_inner_texts()[1:] == [
        "busy, pace=1.6 packet/s",
        "calm",
    ]
    page.page.click("#pin")
    page.page.click("text=Reset")
    heads = page.page.locator("#comparison thead th button.tab").all_inner_texts()
    assert heads == ["busy", "calm", "busy, pace=1.6 packet/s"]
    assert len(page.run(NAMES)) == 3
    # a link has all of them, and which is shown
    page.page.click("#comparison button.tab >> nth=1")
    page.page.wait_for_function("() => location.hash.includes('shown=2')")
    other = open_page(compared_html)
    other.page.goto(other.page.url + "#" + page.page.url.partition("#")[2])
    other.page.wait_for_function("() => qps.columns.length === 3")
    assert other.page.locator("#comparison thead th button.tab").all_inner_texts() == heads
    assert other.page.inner_text("#circumstances").startswith(", scenario calm")


@needs_browser
def test_a_saved_setting_has_a_chart_next_to_it(shop: Path, open_page: Any) -> None:
    page = open_page(report(shop.parent, str(shop))).page
    assert not page.locator("#picture-together").is_visible()
    page.select_option("#control-select-0", "off")
    page.click("#pin")
    page.click("text=Reset")
    assert page.locator("#comparison thead th button.tab").all_inner_texts() == [
        "baseline",
        "zip=off",
    ]
    assert len(page.evaluate(NAMES)) == 2


def case(file: str, scenario: str | None = None, *settings: str) -> ShownCase:
    spec = check_source(Source(file, TEXT)).value
    assert spec is not None
    return ShownCase(spec.model, spec.configuration(scenario, settings), settings)


def test_names_say_what_differs() -> None:
    one = load(SPECS / "audioconference.qps")
    assert column_names([ShownCase(one.model, one.configuration(None, ()))]) == ["baseline"]
    assert column_names([case("a.qps", "busy", "zip=off")]) == ["busy, zip=off"]
    both = [case("a.qps", "busy", "zip=off"), case("a.qps", "calm", "zip=off")]
    assert column_names(both) == ["busy", "calm"]
    assert column_names([case("old/a.qps"), case("new/a.qps")]) == ["old/a", "new/a"]
    assert column_names([case("x/old/a.qps"), case("x/new/b.qps")]) == ["a", "b"]
    crossed = [case(file, name) for file in ("a.qps", "b.qps") for name in ("busy", "calm")]
    assert column_names(crossed) == ["a, busy", "a, calm", "b, busy", "b, calm"]


def test_titles_name_files_and_not_crowds(tmp_path: Path) -> None:
    for name in ("before", "after"):
        (tmp_path / f"{name}.qps").write_text(TEXT, "utf-8")
    files = [str(tmp_path / f"{name}.qps") for name in ("before", "after")]
    assert "<h1>before and after compared</h1>" in report(tmp_path, *files)
    four = report(tmp_path, *files, "--scenario", "busy", "--scenario", "calm")
    assert "<h1>4 configurations compared</h1>" in four
    assert "before, busy" in four
