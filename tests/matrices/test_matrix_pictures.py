"""The pictures on the page of a matrix, in a browser: parallel coordinates and the Pareto front."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING, Opened
from helpers.cases.matrix_pages import SHOP, SMALL, count, field, html_of, shown
from qps.cli import main

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)


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
