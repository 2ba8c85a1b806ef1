"""The page of a matrix in a real browser: sorted, filtered, brushed; it asks for nothing."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from browsers.browser import CHROMIUM, MISSING, Opened
from helpers.specs import PRELUDE, checked
from pages.test_live_page import CONTRASTS, EVIL
from qps.cli import main
from qps.compiler.pipeline import Spec
from qps.reports.pages.html_page import render_matrix
from qps.reports.pages.matrices.matrix_page import MOST_ROWS, matrix_page
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_tables import Tabulator, in_order
from qps.solver.uncertainty.sampled_rows import drawn_in_rows

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

# Each host has its share of what comes; what is bought costs the more, the more there are.
SHOP = (
    PRELUDE.replace("1..100\n", "1..100_000\n")
    + """
machine cheap { cpu 1 core; price 100 $ }
machine fast { cpu 4 core; price 500 $ }
param hosts = 1 in 1..100
param pace = 1 packet/s in 0.1..100 packet/s
param wait = 20 ms in 1..1000 ms
option zip = on
component pack { cpu 10 ms/packet }
topology { node host = cheap * hosts }
stream flow for each host { traffic N * pace / hosts; at host { work; pack if zip } }
require { host.cpu.load <= 100 %; flow.latency <= wait }
"""
)
SMALL = (
    SHOP
    + """
matrix small "What to buy" {
  host in [cheap, fast]
  hosts in [1, 2, 4]
  pace in 0.5..2 packet/s, 4 values
  zip in [on, off]
  wait in [15, 100 ms]
  column spare = largest_acceptable - 40
  order by cost
}
"""
)
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


def table_of(spec: Spec) -> pa.Table:
    """Return all rows of the only matrix of a spec."""
    compiled = compile_matrix(spec.model, spec.model.matrices[0], drawn=drawn_in_rows)
    return in_order(compiled, Tabulator(compiled).table(0, compiled.size))


def html_of(text: str) -> str:
    """Return the page of the only matrix of a text."""
    return render_matrix(matrix_page(table_of(checked(text)), "spec.qps"))


@pytest.fixture(scope="module")
def small() -> str:
    return html_of(SMALL)


@pytest.fixture(scope="module")
def large() -> str:
    return html_of(LARGE)


def shown(page: Opened, name: str) -> list[Any]:
    """Return the values of a column in the rows that are kept, in their order."""
    found = page.run(
        "(name) => { const one = qps.columns.find((c) => c.name === name);"
        " return [...qps.view].map((row) => one.at(row)); }",
        name,
    )
    return list(found)


def head(page: Opened, label: str) -> Any:
    return page.page.locator("table.rows th", has_text=label).first


def field(page: Opened, label: str) -> Any:
    return page.page.locator(f"table.rows [aria-label^='Filter {label}']").first


def count(page: Opened) -> str:
    """Return how many are told, once the frame is drawn in which changes are shown."""
    page.run("() => new Promise(requestAnimationFrame)")
    return str(page.page.text_content("#filtered strong"))


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


# -- pictures ---------------------------------------------------------------------------------


def test_a_range_drawn_along_an_axis_filters_the_table(small: str, open_page: Any) -> None:
    page = open_page(small)
    page.run("() => document.getElementById('picture-lines').scrollIntoView()")
    box = page.run(
        """() => { const { hit } = qps.lines.axes.find((one) => one.column.name === "hosts");
        const { x, y, width, height } = hit.getBoundingClientRect();
        return { x: x + width / 2, y, height }; }"""
    )
    mouse = page.page.mouse
    mouse.move(box["x"], box["y"] + 2)
    mouse.down()
    mouse.move(box["x"], box["y"] + box["height"] * 0.45, steps=4)
    mouse.up()
    assert set(shown(page, "hosts")) == {4}
    assert field(page, "hosts").input_value() == "4"
    assert "32 of 96 configurations" in page.page.text_content("#picture-lines figcaption")
    mouse.click(box["x"], box["y"] + box["height"] * 0.5)
    assert count(page) == "96 configurations"


def test_ends_of_an_axis_move_with_keys_and_follow_the_table(small: str, open_page: Any) -> None:
    page = open_page(small)
    least = page.page.get_by_role("slider", name="hosts: minimum of the filter")
    least.focus()
    page.page.keyboard.press("ArrowUp")
    assert set(shown(page, "hosts")) == {2, 4}
    page.page.get_by_role("slider", name="hosts: minimum of the filter").and_(
        page.page.locator("[aria-valuetext='2']")
    ).wait_for(state="attached")
    page.page.keyboard.press("Delete")
    assert set(shown(page, "hosts")) == {1, 2, 4}
    field(page, "pace").fill(">= 1")
    page.run("() => new Promise(requestAnimationFrame)")
    page.page.get_by_role("slider", name="pace: minimum of the filter").and_(
        page.page.locator("[aria-valuetext='1 packet/s']")
    ).wait_for(state="attached")
    words = page.page.get_by_role("slider", name="host: maximum of the filter")
    words.focus()
    page.page.keyboard.press("ArrowDown")
    assert set(shown(page, "host")) == {"cheap"}


def test_axes_are_turned_moved_chosen_and_downloaded(small: str, open_page: Any) -> None:
    page = open_page(small)
    names = "() => qps.lines.axes.map((one) => one.column.name)"
    before = page.run(names)
    assert before[:5] == ["host", "hosts", "pace", "zip", "wait"]
    page.page.get_by_role("button", name="hosts: flip the axis").focus()
    page.page.keyboard.press("ArrowRight")
    assert page.run(names)[:3] == ["host", "pace", "hosts"]
    levels = "() => [...qps.lines.axes[2].levels.slice(1)]"
    upright = page.run(levels)
    page.page.keyboard.press("Enter")
    assert page.run(levels) == [255 + 14 - level for level in upright]
    page.page.click("#picture-lines .chooser summary")
    page.page.locator("#picture-lines .chooser label", has_text="zip").locator("input").uncheck()
    assert "zip" not in page.run(names)
    page.page.wait_for_function("() => qps.lines.jobs.size === 0")
    with page.page.expect_download() as download:
        page.page.locator("#picture-lines").get_by_role("button", name="Download as SVG").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert text.count("<image") == 2
    assert "data:image/png" in text
    assert 'paint-order="stroke' in text  # letters lie on their rims, not below them
    with page.page.expect_download() as download:
        page.page.locator("#picture-lines").get_by_role("button", name="Download as PNG").click()
    assert download.value.suggested_filename == "lines.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def test_lines_are_painted(small: str, open_page: Any) -> None:
    page = open_page(small)
    page.run("() => qps.drawAll()")
    page.page.wait_for_function("() => qps.lines.jobs.size === 0")
    painted = """() => { const { ahead } = qps.lines;
      const { width, height } = ahead;
      const copy = Object.assign(document.createElement("canvas"), { width, height });
      const pen = copy.getContext("2d", { willReadFrequently: true });
      pen.drawImage(ahead, 0, 0);
      const { data } = pen.getImageData(0, 0, copy.width, copy.height);
      let sum = 0; for (let i = 3; i < data.length; i += 4) sum += data[i] > 0; return sum; }"""
    everything = page.run(painted)
    field(page, "hosts").fill("= 4")
    page.page.wait_for_function(f"(everything) => ({painted})() < everything", arg=everything)
    page.page.wait_for_function("() => qps.lines.jobs.size === 0")
    assert 0 < page.run(painted) < everything


FRONT = """() => {
  const rows = qps.front.points.filter((one) => one.isFront).map(({ row }) => row);
  const value = (row, name) => qps.columns.find((one) => one.name === name).at(row);
  return rows.map((row) => [value(row, "cost"), value(row, "capacity")]);
}"""


def expected_front(page: Opened) -> list[tuple[float, int]]:
    """Return the front by its definition: nothing else is as good in both and better in one."""
    pairs = {
        (cost, users)
        for cost, users in zip(shown(page, "cost"), shown(page, "capacity"), strict=True)
        if users is not None
    }
    return sorted(
        one
        for one in pairs
        if not any(o != one and o[0] <= one[0] and o[1] >= one[1] for o in pairs)
    )


def test_the_front_is_what_nothing_is_better_than(small: str, open_page: Any) -> None:
    page = open_page(small)
    page.run("() => qps.drawAll()")
    assert [tuple(pair) for pair in page.run(FRONT)] == expected_front(page)
    assert len(expected_front(page)) >= 3
    assert "24 without values" in page.page.text_content("#picture-front figcaption")
    field(page, "host:").click()
    page.page.locator(".words-panel label", has_text="fast").locator("input").uncheck()
    page.run("() => new Promise(requestAnimationFrame)")
    assert [tuple(pair) for pair in page.run(FRONT)] == expected_front(page)
    page.page.keyboard.press("Escape")
    page.page.locator("#picture-front").get_by_label("x-axis: minimize or maximize").select_option(
        "maximize"
    )
    (best,) = page.run(FRONT)
    assert best[0] == max(shown(page, "cost"))


def test_points_show_their_values_and_choose_a_row(small: str, open_page: Any) -> None:
    page = open_page(small)
    page.run("() => qps.drawAll()")
    figure = page.page.locator("#picture-front")
    figure.scroll_into_view_if_needed()
    place = page.run(
        """() => { const { x, y } = qps.front.points[0];
        const box = document.querySelector("#picture-front svg.chart").getBoundingClientRect();
        return [box.x + x, box.y + y]; }"""
    )
    page.page.mouse.move(*place)
    output = figure.locator(".readout").text_content()
    assert output.startswith("cost $100, capacity ≤ ")
    assert ", Pareto-optimal: host cheap, hosts 1, pace 0.5 packets/s" in output
    page.page.mouse.click(*place)
    details = page.page.locator(".details")
    assert details.is_visible()
    assert "host cheap" in details.locator("h3").text_content()
    command = details.locator("code").text_content()
    assert command.startswith("qps solve spec.qps --set host=cheap --set hosts=1 --set 'pace=0.5 ")
    assert page.page.locator("table.rows tr.chosen").count() == 1
    figure.locator(".canvas").focus()
    page.page.keyboard.press("ArrowRight")
    assert ", Pareto-optimal" in figure.locator(".readout").text_content()
    figure.locator("summary").click()
    figure.locator("tbody tr").first.wait_for()
    cells = figure.locator("tbody tr").first.locator("td").all_text_contents()
    assert cells[0] == "$100"
    with page.page.expect_download() as download:
        figure.get_by_role("button", name="Download as SVG").click()
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith("<svg")


def test_the_command_of_a_row_answers_as_the_row(
    small: str,
    open_page: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.qps").write_text(SMALL)
    page = open_page(small)
    for row in (0, 17, 50, 95):
        page.run("(row) => qps.choose(row)", row)
        words = shlex.split(page.page.text_content(".details code"))
        assert words[:2] == ["qps", "solve"]
        main([*words[1:], "--format", "json", "--no-advice"])
        solved = json.loads(capsys.readouterr().out)
        result = page.run("(row) => qps.columns.find((c) => c.name === 'capacity').at(row)", row)
        assert solved["capacity"] == result


def test_any_two_measures_make_a_front(small: str, open_page: Any) -> None:
    page = open_page(small)
    page.run("() => qps.drawAll()")
    figure = page.page.locator("#picture-front")
    offered = figure.locator("select").first.locator("option").all_text_contents()
    assert {"hosts", "wait, ms", "cost, $", "spare", "host.cpu utilization, %"} <= set(offered)
    figure.locator("select").nth(0).select_option("wait, ms")
    figure.locator("select").nth(2).select_option("host.cpu utilization, %")
    caption = figure.locator("figcaption").text_content()
    assert caption.startswith("Host.cpu utilization against wait")
    figure.get_by_text("Log scale").click()
    assert figure.locator("svg.chart text").count() > 5


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


QUANTILES = SHOP.replace("param pace", "param unsure = 1 +- 10 %\nparam pace") + (
    'matrix sure "How sure" with wait = 1000 ms { pace in [1, 2 packet/s]; '
    "select largest_acceptable, largest_acceptable.p05, largest_acceptable.p95 }"
)


def test_quantiles_are_distinguished_on_their_axes_and_what_is_alike_is_said_once(
    open_page: Any,
) -> None:
    text = QUANTILES.replace("component work { cpu ", "component work { cpu unsure * ")
    assert "unsure *" in text
    page = open_page(html_of(text))
    heads = page.run(
        "() => [...document.querySelectorAll('svg .head')]"
        ".map((head) => [...head.querySelectorAll('text')].map((one) => one.textContent))"
    )
    assert ["capacity.p05"] in heads
    assert ["capacity.p95"] in heads
    html = html_of(text)
    assert html.count("capacity.p05 and capacity.p95: ") == 1


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
