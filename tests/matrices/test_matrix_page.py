"""The table on the page of a matrix, in a browser: sorted, filtered, downloaded, printed."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from browsers.browser import CHROMIUM, MISSING, Opened
from helpers.cases.matrix_pages import SHOP, SMALL, count, field, html_of, shown, table_of
from helpers.specs import checked
from live_pages.page_settings import CONTRASTS, EVIL
from qps.reports.pages.html_page import render_matrix
from qps.reports.pages.matrices.matrix_page import MOST_ROWS, matrix_page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
LARGE = (
    SHOP
    + """
matrix large {
  host in [cheap, fast]
  hosts in 1..25 by 1
  pace in 0.5..10 packet/s, 100 values
  zip in [on, off]
}
"""
)
ROWS, MANY = 96, 10_000


@pytest.fixture(scope="module")
def large() -> str:
    return html_of(LARGE)


def head(page: Opened, label: str) -> Any:
    return page.page.locator("table.rows th", has_text=label).first


# -- what it says at first --------------------------------------------------------------------


def test_the_answer_stands_first_also_without_scripts(small: str, open_page: Any) -> None:
    page = open_page(small, scripts=False).page
    output = page.text_content("#answer")
    assert "96 configurations; 72 feasible, 24 infeasible." in output
    assert "Cheapest: $100, ≤ 200 users with host cheap, hosts 1, pace 0.5 packets/s" in output
    assert "Query" in page.text_content(".request")
    assert "host in [cheap, fast]" in page.text_content(".request")
    assert page.locator("#rows tbody tr").count() == 50
    assert "The first 50 of 96 rows" in page.text_content("#rows")
    assert not page.is_visible("#filtered")
    with_scripts = open_page(small).page
    assert with_scripts.text_content("#answer") == output


def test_rows_without_an_answer_have_their_reason(small: str, open_page: Any) -> None:
    page = open_page(small)
    reasons = shown(page, "reason")
    assert len(reasons) == ROWS
    assert {one for one in reasons if one} == {"flow.latency is not met at N = 1"}
    field(page, "why infeasible").click()
    page.page.locator(".words-panel label", has_text="none").locator("input").uncheck()
    assert count(page) == "24 of 96 configurations"
    assert None not in shown(page, "reason")
    assert set(shown(page, "capacity")) == {None}


def test_the_end_of_the_range_is_no_answer(open_page: Any) -> None:
    page = open_page(html_of(SMALL.replace("1..100_000", "1..300")))
    output = page.page.text_content("#answer")
    assert "Highest capacity: ~ 300 users" in output or "Highest capacity: 300+ users" in output
    limits = shown(page, "limited_by")
    assert None in limits
    largest = page.run(
        "() => { const one = qps.columns.find((c) => c.name === 'capacity');"
        " return [...qps.view].map((row) => one.textOfRow(row)); }"
    )
    for limit, users in zip(limits, largest, strict=True):
        ends = users in (">= 300", "~ 300")
        assert ends == (limit is None and users != "\N{EN DASH}")


@pytest.mark.parametrize("stored", ["fast", "cheap"])
def test_the_answer_is_of_the_included_rows(small: str, open_page: Any, stored: str) -> None:
    """The box that a filter leaves says of its rows what a matrix of those rows alone says."""
    page = open_page(small)
    before = page.page.inner_text("#answer")
    page.run(
        "(kept) => { const one = qps.columns.find((c) => c.name === 'host');"
        " qps.filters.words(one, new Set([one.values.indexOf(kept) + 1])); qps.change(); }",
        stored,
    )
    output = page.page.inner_text("#answer")
    alone = html_of(SMALL.replace("host in [cheap, fast]", f"host in [{stored}]"))
    other = open_page(alone).page.inner_text("#answer")
    lines = [line.replace(f"host {stored}, ", "") for line in output.splitlines() if line]
    assert lines[0].startswith("48 of 96 configurations match the filters")
    assert lines[1:] == [line for line in other.splitlines() if line][1:]
    page.page.click(".chip")
    assert page.page.inner_text("#answer") == before


# -- sorting ----------------------------------------------------------------------------------


def test_numbers_have_the_marks_of_how_they_are_known(small: str, open_page: Any) -> None:
    """No waiting is counted: fewer users may be carried."""
    for scripts in (True, False):
        page = open_page(small, scripts=scripts).page
        place = "table.rows" if scripts else "#rows table"
        heads = page.locator(f"{place} thead tr").first.locator("th").all_text_contents()
        index = next(i for i, head in enumerate(heads) if head.startswith("capacity"))
        cells = page.locator(f"{place} tbody tr td:nth-child({index + 1})").all_text_contents()
        distinct = {cell for cell in cells if cell not in ("–", "")}
        assert distinct
        assert all(cell.startswith("≤ ") for cell in distinct), distinct


def test_heads_sort_by_click_and_by_key(small: str, open_page: Any) -> None:
    page = open_page(small)
    assert head(page, "cost").get_attribute("aria-sort") == "ascending"
    head(page, "capacity").locator("button").click()
    assert head(page, "capacity").get_attribute("aria-sort") == "descending"
    assert head(page, "cost").get_attribute("aria-sort") == "none"
    found = shown(page, "capacity")
    carried = [one for one in found if one is not None]
    assert carried == sorted(carried, reverse=True)
    assert found[len(carried) :] == [None] * (ROWS - len(carried))
    head(page, "capacity").locator("button").focus()
    page.page.keyboard.press("Enter")
    assert head(page, "capacity").get_attribute("aria-sort") == "ascending"
    carried = [one for one in shown(page, "capacity") if one is not None]
    assert carried == sorted(carried)
    # What is alike stays in its order: the second key is the one sorted by before.
    costs = shown(page, "cost")
    again = list(zip(shown(page, "capacity"), costs, strict=True))[: len(carried)]
    assert again == sorted(again)
    first = page.page.locator("table.rows tbody tr[aria-rowindex='3'] td").all_text_contents()
    assert first[:2] == ["cheap", "1"]


# -- filtering --------------------------------------------------------------------------------


def test_numbers_are_preserved_by_a_limit(small: str, open_page: Any) -> None:
    page = open_page(small)
    everything = shown(page, "capacity")
    limits: dict[str, Callable[[int], bool] | None] = {
        ">= 100": lambda users: users >= 100,
        "> 100": lambda users: users > 100,
        "< 1e2": lambda users: users < 100,
        "<= 100": lambda users: users <= 100,
        "50..100": lambda users: 50 <= users <= 100,
        "= 100": lambda users: users == 100,
        "1,600": lambda users: users == 1600,
        "≥ 1_000": lambda users: users >= 1000,
        "none": None,
        "> 1e9": lambda users: users > 1e9,
    }
    for text, stored in limits.items():
        field(page, "capacity").fill(text)
        if stored is None:
            expected = [users for users in everything if users is None]
        else:
            expected = [users for users in everything if users is not None and stored(users)]
        assert shown(page, "capacity") == expected, text
        assert bool(expected) == (text != "> 1e9")
        assert page.page.locator(".chip").count() == 1
        page.page.click(".chip")
        assert count(page) == "96 configurations"
        assert field(page, "capacity").input_value() == ""


def test_units_are_read_and_wrong_limits_are_reported(small: str, open_page: Any) -> None:
    page = open_page(small)
    wait = field(page, "wait")
    for text in (">= 0.1 s", "100 ms", "100", "50..200 ms", "0.05..0.2 s"):
        wait.fill(text)
        assert set(shown(page, "wait")) == {0.1}, text
    for text, result in (
        ("much", "enter a limit such as"),
        (">= 5 kg", "unknown unit kg: use ms, day, hour, s and us"),
        ("1..2..3", "a range has two ends"),
    ):
        wait.fill(text)
        assert result in page.page.text_content(".trouble")
        assert wait.get_attribute("aria-invalid") == "true"
        assert set(shown(page, "wait")) == {0.1}
    wait.fill("")
    assert page.page.text_content(".trouble") == ""
    assert count(page) == "96 configurations"


def test_names_are_ticked(small: str, open_page: Any) -> None:
    page = open_page(small)
    button = field(page, "host:")
    button.focus()
    page.page.keyboard.press("Enter")
    panel = page.page.locator(".words-panel")
    assert panel.is_visible()
    assert panel.locator("label").all_text_contents() == [" cheap", " fast"]
    page.page.keyboard.press("Space")  # the first tick has the focus
    assert set(shown(page, "host")) == {"fast"}
    page.page.keyboard.press("Escape")
    assert not panel.is_visible()
    assert page.run("() => document.activeElement.className").startswith("words-field")
    assert button.text_content() == "fast"
    button.click()
    panel.get_by_text("none", exact=True).click()
    assert count(page) == "0 of 96 configurations"
    assert page.page.is_disabled("#filtered .tools > button")
    panel.get_by_text("all", exact=True).click()
    assert count(page) == "96 configurations"


def test_filters_together_and_all_taken_away(small: str, open_page: Any) -> None:
    page = open_page(small)
    field(page, "cost").fill("<= 400")
    field(page, "capacity").fill(">= 40")
    expected = [
        cost for cost, users in zip(shown(page, "cost"), shown(page, "capacity"), strict=True)
    ]
    assert expected
    assert max(expected) <= 400
    assert min(shown(page, "capacity")) >= 40
    page.page.click("text=Clear filters")
    assert count(page) == "96 configurations"


# -- keyboard, many rows, download, paper -----------------------------------------------------


def test_keys_choose_rows(large: str, open_page: Any) -> None:
    page = open_page(large)
    page.page.locator(".scroller").focus()
    for key, row in (("ArrowDown", 0), ("ArrowDown", 1), ("End", MANY - 1), ("ArrowUp", MANY - 2)):
        page.page.keyboard.press(key)
        assert page.run("() => qps.chosen") == row
        chosen = page.page.locator("table.rows tr.chosen")
        assert chosen.get_attribute("aria-rowindex") == str(row + 3)
        assert chosen.is_visible()
    page.page.keyboard.press("PageUp")
    assert page.run("() => qps.chosen") < MANY - 5
    page.page.keyboard.press("Home")
    assert page.run("() => qps.chosen") == 0


def test_ten_thousand_rows_stand_in_a_small_page(large: str, open_page: Any) -> None:
    assert len(large.encode()) < 1_000_000
    page = open_page(large)
    assert count(page) == "10,000 configurations"
    assert page.page.locator("table.rows").get_attribute("aria-rowcount") == "10002"
    assert page.page.locator("table.rows tbody tr").count() < 80
    page.run("() => { document.querySelector('.scroller').scrollTop = 29 * 7000; }")
    page.page.wait_for_selector("tr[aria-rowindex='7010']")
    line = page.page.locator("tr[aria-rowindex='7010'] td").all_text_contents()
    row = page.run("() => qps.columns.filter((c) => !c.detail).map((c) => c.textOfRow(7007))")
    assert line == row
    field(page, "capacity").fill(">= 60")
    stored = page.run("() => qps.view.length")
    assert 0 < stored < MANY
    page.run("() => qps.drawAll()")
    page.page.wait_for_function("() => qps.lines.jobs.size === 0")


def test_the_rows_are_those_of_the_matrix(small: str, open_page: Any) -> None:
    page = open_page(small)
    table = table_of(checked(SMALL))
    for name in table.schema.names:
        result = shown(page, name)
        for page_value, value in zip(result, table.column(name).to_pylist(), strict=True):
            if isinstance(value, float):
                assert page_value == pytest.approx(value, rel=1e-5), name
            else:
                assert page_value == value, name


def test_saved_settings_can_be_downloaded(small: str, open_page: Any) -> None:
    page = open_page(small)
    field(page, "capacity").fill(">= 40")
    with page.page.expect_download() as download:
        page.page.click("text=Download matching rows as CSV")
    assert download.value.suggested_filename == "small.csv"
    text = Path(download.value.path()).read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == table_of(checked(SMALL)).schema.names
    assert [int(row["capacity"]) for row in rows] == shown(page, "capacity")
    assert {float(row["wait"]) for row in rows} == {0.015, 0.1}
    assert {row["reason"] for row in rows} == {""}


def test_columns_are_chosen(small: str, open_page: Any) -> None:
    page = open_page(small)
    assert head(page, "host.cpu utilization").count() == 0
    page.page.click("#rows .chooser summary")
    box = page.page.locator("#rows .chooser label", has_text="host.cpu utilization").locator(
        "input"
    )
    box.check()
    assert head(page, "host.cpu utilization, %").count() == 1
    page.page.locator("#rows .chooser label", has_text="hosts").locator("input").uncheck()
    assert head(page, "hosts").count() == 0


def test_paper_holds_the_first_rows_and_says_so(large: str, open_page: Any) -> None:
    page = open_page(large)
    page.page.emulate_media(media="print")
    page.page.wait_for_function(
        "() => document.querySelectorAll('table.rows tbody tr').length > 400"
    )
    note = page.page.locator(".printed")
    assert note.is_visible()
    assert note.text_content().startswith("The first 500 of 10,000 matching rows")
    assert page.page.locator("table.rows tbody tr:not(.spacer)").count() == 500
    assert not page.page.locator(".filter-row").is_visible()
    page.page.emulate_media(media="screen")
    page.page.wait_for_function(
        "() => document.querySelectorAll('table.rows tbody tr').length < 80"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out_and_everything_can_be_read(
    small: str,
    open_page: Any,
    scheme: str,
    width: int,
) -> None:
    page = open_page(small, width=width, scheme=scheme)
    page.run(
        "() => { qps.drawAll(); qps.choose(3);"
        " qps.filters.range(qps.columns[1], 1, 2); qps.change(); }"
    )
    page.run("() => new Promise(requestAnimationFrame)")
    assert page.run("() => document.documentElement.scrollWidth") <= width
    assert page.run(CONTRASTS) == []


def test_everything_has_a_name(small: str, open_page: Any) -> None:
    page = open_page(small)
    page.run("() => qps.drawAll()")
    field(page, "host:").click()
    nameless = page.run(
        """() => [...document.querySelectorAll("input, select, button, svg[role], [role=slider],"
        + "[role=button], [role=region], [role=dialog]")]
        .filter((one) => !one.labels?.length && !one.getAttribute("aria-label"))
        .filter((one) => !one.textContent.trim()).map((one) => one.outerHTML)"""
    )
    assert nameless == []


# -- a stranger's text ------------------------------------------------------------------------


def test_a_strangers_text_is_text(open_page: Any) -> None:
    said = EVIL
    schema = pa.schema(
        [
            pa.field(said, pa.string(), metadata={"role": "axis"}),
            pa.field("size", pa.float64(), metadata={"role": "axis", "unit": said}),
            pa.field("capacity", pa.int64()),
            pa.field("limited_by", pa.string()),
            pa.field("=1+1", pa.float64()),
            pa.field("reason", pa.string()),
        ]
    )
    columns = [[said, "b"], [1.0, 2.0], [3, None], ["=cmd", said], [5.0, 7.0], [None, said]]
    table = pa.table(columns, schema)
    opened = open_page(render_matrix(matrix_page(table, said)))
    page = opened.page
    opened.run(
        "() => { qps.drawAll(); qps.choose(1);"
        " qps.filters.write(qps.columns[1], '>= 1'); qps.change(); }"
    )
    field(opened, said.split(":")[0][:5]).first.click()
    assert opened.run("() => document.scripts.length") == 2
    assert opened.run("() => document.images.length") == 0
    assert opened.run("() => document.querySelectorAll('[onerror], svg image').length") == 0
    assert said in page.text_content("h1")
    assert said in page.text_content(".details")
    assert said in page.text_content(".words-panel")
    page.keyboard.press("Escape")
    page.locator("#filtered").get_by_text("rows as CSV").click()
    with page.expect_download() as download:
        page.locator("#filtered").get_by_text("rows as CSV").click()
    cells = list(csv.reader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))
    assert cells[0][4] == "'=1+1"
    assert cells[1][:4] == [said, "1", "3", "'=cmd"]


def test_an_empty_cache_breaks_nothing(small: str, open_page: Any) -> None:
    page = open_page(small)
    page.run("() => { qps.drawAll(); qps.choose(5); }")
    field(page, "capacity").fill("> 1e9")
    page.run("() => new Promise(requestAnimationFrame)")
    assert count(page) == "0 of 96 configurations"
    figure = page.page.locator("#picture-front")
    figure.locator(".chart").hover()
    figure.locator(".canvas").focus()
    page.page.keyboard.press("ArrowRight")
    assert (
        figure.locator("figcaption").text_content().endswith("0 Pareto-optimal of 0 configurations")
    )
    page.page.locator("#picture-lines .chart").hover()
    page.page.locator(".scroller").focus()
    page.page.keyboard.press("End")
    page.page.set_viewport_size({"width": 700, "height": 800})
    page.page.click(".chip")
    page.page.wait_for_selector("#filtered strong:text-is('96 configurations')")
    page.page.wait_for_function("() => qps.lines.jobs.size === 0")
    assert page.run("() => document.documentElement.scrollWidth") <= 700


def test_a_single_row_has_a_page(open_page: Any) -> None:
    page = open_page(html_of(SHOP + "matrix one { host in [fast] }"))
    assert count(page) == "1 configurations"
    assert not page.page.is_visible("#picture-front")
    assert not page.page.is_visible("#picture-lines")


def test_a_page_holds_a_hundred_thousand_rows(open_page: Any) -> None:
    few = table_of(checked(SMALL))
    table = pa.concat_tables([few] * (MOST_ROWS // len(few)))
    html = render_matrix(matrix_page(table, "spec.qps"))
    assert len(html) < 500_000
    page = open_page(html)
    assert count(page) == f"{len(table):,} configurations"
    head(page, "capacity").locator("button").click()
    carried = shown(page, "capacity")
    assert [*carried] == sorted(carried, key=lambda users: -(users or 0))
    field(page, "cost").fill("<= 100")
    field(page, "cost").dispatch_event("input")
    stored = sum(cost <= 100 for cost in table["cost"].to_pylist())
    assert count(page) == f"{stored:,} of {len(table):,} configurations"
