"""What a page shows as files: any table as CSV, any picture as SVG, PNG and CSV."""

from __future__ import annotations

import base64
import csv
import io
import struct
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING, Opened
from helpers.reports import html_of
from helpers.specs import UNSURE, checked
from qps.compiler.pipeline import load

SPECS = Path(__file__).parents[2] / "specs"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

EVIL = "=HYPERLINK(1)"


@pytest.fixture(scope="module")
def speak_html() -> str:
    return html_of(load(SPECS / "audioconference.qps"), scenarios=["midrange"])


def saved(page: Opened, button: Any) -> tuple[str, bytes]:
    with page.page.expect_download() as download:
        button.click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def rows_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8"))))


def test_every_table_can_be_had_as_it_is_shown(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html)
    page.page.wait_for_selector("#advice button.csv")
    page.run("() => document.querySelectorAll('.fold').forEach((one) => { one.open = true; })")
    without = page.run(
        """() => [...document.querySelectorAll("table")].filter((one) => !one.closest(".picture")
        && !one.parentElement.querySelector(":scope > button.csv")).map((one) => one.textContent)"""
    )
    assert without == []
    name, data = saved(page, page.page.locator("#requirements button.csv"))
    assert name == "requirements.csv"
    head, *rows = rows_of(data)
    assert head == ["Requirement", "At 32", "Limit", "Headroom", "Met up to", "State"]
    shown = page.page.locator("#requirements tbody tr").first.locator("td").all_inner_texts()
    assert [" ".join(cell.split()) for cell in rows[0]] == [" ".join(one.split()) for one in shown]
    # numbers that can be moved are told as they are set; `try` is no part of a table
    page.page.locator("#numbers input[aria-label='mix.cpu.byte']").fill("1234.5")
    _, data = saved(page, page.page.locator("#numbers button.csv"))
    assert any(row[1].startswith("1234.5 ") for row in rows_of(data))
    page.page.wait_for_selector("#advice tbody tr")
    _, data = saved(page, page.page.locator("#advice button.csv"))
    assert all("Try" not in row for row in rows_of(data)[1:])
    # those that no script has written
    name, data = saved(page, page.page.locator("#claims button.csv").first)
    assert name == "claims.csv"
    assert rows_of(data)[0][1:4] == ["Claim", "Claimed", "Predicted"]


def test_a_spreadsheet_runs_nothing_of_it(open_page: Any) -> None:
    spec = checked(
        "users N in 1..100\nmachine box { cpu 1 core }\n"
        f'param p = 10 ms/packet source "{EVIL}"\n'
        "component work { cpu p }\ntopology { node host = box }\n"
        "stream flow { traffic N * 1 packet/s; at host { work } }\n"
    )
    page = open_page(html_of(spec))
    page.page.click(".contents >> text=Assumptions")
    _, data = saved(page, page.page.locator("#numbers button.csv"))
    assert [row[4] for row in rows_of(data) if row[0] == "p"] == [f"'{EVIL}"]


def test_pictures_are_had_as_svg_png_and_numbers(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html)
    page.run("() => qps.drawAll()")
    figure = page.page.locator("#picture-loads")
    figure.scroll_into_view_if_needed()
    name, svg = saved(page, figure.get_by_role("button", name="Download as SVG"))
    assert name == "loads.svg"
    name, data = saved(page, figure.get_by_role("button", name="Download as PNG"))
    assert name == "loads.png"
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    size = [float(svg.split(b' %s="' % one)[1].split(b'"')[0]) for one in (b"width", b"height")]
    assert [width, height] == pytest.approx([2 * one for one in size], abs=1)
    # it is drawn, in the colors of the page: the first line is among them
    colors = page.run(
        """async (data) => {
          const image = new Image();
          image.src = `data:image/png;base64,${data}`;
          await image.decode();
          const sheet = document.createElement("canvas").getContext("2d");
          [sheet.canvas.width, sheet.canvas.height] = [image.naturalWidth, image.naturalHeight];
          sheet.drawImage(image, 0, 0);
          const points = sheet.getImageData(0, 0, image.naturalWidth, image.naturalHeight).data;
          const found = new Map();
          for (let i = 0; i < points.length; i += 4) {
            const key = points.slice(i, i + 4).join();
            found.set(key, (found.get(key) ?? 0) + 1);
          }
          return [...found].sort((a, b) => b[1] - a[1]).slice(0, 60).map(([key]) => key);
        }""",
        base64.b64encode(data).decode(),
    )
    assert colors[0] == "255,255,255,255"
    assert "0,114,178,255" in colors  # --c0
    name, data = saved(page, figure.get_by_role("button", name="Download as CSV"))
    assert name == "loads.csv"
    head, *rows = rows_of(data)
    chart = page.run(
        """() => { const { chart } = qps.pictures.find((one) => one.key === "loads").drawn;
        return [[chart.x.label, ...chart.series.map((one) => one.name)],
          [...chart.x.values], [...chart.series[0].values]]; }"""
    )
    assert head == chart[0]
    assert [float(row[0]) for row in rows] == chart[1]
    assert [float(row[1]) for row in rows] == chart[2]


def test_pictures_without_lines_have_the_numbers_of_their_tables(
    speak_html: str, open_page: Any
) -> None:
    page = open_page(speak_html)
    page.run("() => qps.drawAll()")
    figure = page.page.locator("#picture-tornado")
    figure.scroll_into_view_if_needed()
    _, data = saved(page, figure.get_by_role("button", name="Download as CSV"))
    result = page.run("() => qps.pictures.find((one) => one.key === 'tornado').drawn.table()")
    assert rows_of(data)[0] == result["head"]
    assert len(rows_of(data)) == len(result["rows"]) + 1


def test_ends_of_fans_are_among_the_numbers(open_page: Any) -> None:
    spec = checked("network lan { switched; rate 1 Gbit/s }\n" + UNSURE)
    page = open_page(html_of(spec))
    page.page.locator("#picture-loads").scroll_into_view_if_needed()
    drawn = "qps.pictures.find((one) => one.key === 'loads').drawn"
    page.page.wait_for_function(f"() => {drawn}?.chart.series[0].fan?.samples > 100")
    button = page.page.locator("#picture-loads").get_by_role("button", name="Download as CSV")
    head, *rows = rows_of(saved(page, button)[1])
    first = head[1]
    low, high = head.index(f"{first}, low"), head.index(f"{first}, high")
    assert all(float(row[low]) <= float(row[1]) <= float(row[high]) for row in rows[1:])
