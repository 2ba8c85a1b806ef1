"""What is told follows whatever is set, or is gone; the page on paper: few sheets, nothing cut."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.nightly import nightly
from helpers.reports import html_of
from helpers.specs import checked
from qps.compiler.pipeline import load

SPECS = Path(__file__).parents[2] / "specs"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)


@pytest.fixture(scope="module")
def speak_html() -> str:
    return html_of(load(SPECS / "audioconference.qps"), scenarios=["midrange"], claims=())


REPORTED = "() => document.getElementById('headroom').textContent"
OF_START = "() => [...document.querySelectorAll('.of-start')].map((one) => one.hidden)"


def test_what_lies_beyond_follows_a_try_and_a_changed_cost(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html)
    first = page.run(REPORTED)
    assert "With 10 % more users (36)" in first
    assert not any(page.run(OF_START))
    page.page.wait_for_selector("#advice button")
    page.page.click("#advice button >> nth=2")
    largest = page.run("() => qps.shown.solved.largest")
    assert f"With 10 % more users ({-(-11 * largest // 10)})" in page.run(REPORTED)
    assert all(page.run(OF_START))
    page.page.click("text=Reset")
    assert page.run(REPORTED) == first
    # a cost is a change, too
    page.page.click(".contents >> text=Assumptions")
    cost = page.page.locator("#numbers input[aria-label='mix.cpu.byte']")
    cost.fill("1000")
    assert page.run("() => qps.shown.solved.largest") != 32
    assert page.run(REPORTED) != first
    assert all(page.run(OF_START))
    assert page.complaints == []


EVERYTHING = """() => {
  document.getElementById("print-all").click();
  dispatchEvent(new Event("beforeprint"));
}"""
"""A reader wants more on paper than the sheet of the decision."""
BEYOND = """() => [...document.querySelectorAll("main *")].filter((one) => {
  const { width, right } = one.getBoundingClientRect();
  const isSeen = one.checkVisibility({ contentVisibilityAuto: false }) && !one.closest("svg");
  return isSeen && width > 0 && right > document.documentElement.clientWidth + 1;
}).map((one) => `${one.tagName} ${one.id || one.className} ${one.textContent.slice(0, 40)}`)"""


def sheets(page: Any) -> int:
    """Return how many sheets of A4 a page takes."""
    return len(re.findall(rb"/Type /Page\b", page.page.pdf(format="A4")))


def test_a_decision_takes_one_sheet_and_nothing_is_cut(speak_html: str, open_page: Any) -> None:
    page = open_page(speak_html)
    assert sheets(page) == 1
    page.page.emulate_media(media="print")
    page.page.set_viewport_size({"width": 680, "height": 1000})  # what margins of A4 leave
    page.run("() => dispatchEvent(new Event('beforeprint'))")
    bar = "() => getComputedStyle(document.querySelector('#controls .bar')).display"
    assert page.run(bar) == "none"
    assert page.run(BEYOND) == []
    assert page.page.is_visible("text=Assumptions and model error")
    assert not page.page.locator(".facts .hint").first.is_visible()  # nobody types on paper
    # who asks for all, and opens what is folded, has it on paper, and not cut either
    page.run(EVERYTHING)
    page.run("() => document.querySelectorAll('.fold').forEach((one) => { one.open = true; })")
    page.run("() => dispatchEvent(new Event('beforeprint'))")
    assert page.run(BEYOND) == []


def test_all_of_a_page_takes_few_sheets(open_page: Any) -> None:
    page = open_page(html_of(load(SPECS / "iri.qps"), most=2, claims=()))
    assert sheets(page) <= 2  # of eleven requirements and three elastic rates
    page.run(EVERYTHING)
    assert 3 <= sheets(page) <= 8
    page.page.emulate_media(media="print")
    page.page.set_viewport_size({"width": 680, "height": 1000})
    page.run("() => dispatchEvent(new Event('beforeprint'))")
    top = "() => document.querySelector('#gives-out').getBoundingClientRect().top"
    assert page.run(top) < 2 * 1000
    assert page.run(BEYOND) == []


@pytest.mark.parametrize(
    "name",
    [
        *("sfu", "https_server"),
        *(pytest.param(name, marks=nightly) for name in ("capacity", "applications/kafka")),
    ],
)
def test_the_decision_comes_first_on_paper_and_nothing_is_cut(name: str, open_page: Any) -> None:
    page = open_page(html_of(load(SPECS / f"{name}.qps"), most=2, claims=()))
    page.page.emulate_media(media="print")
    page.page.set_viewport_size({"width": 680, "height": 1000})
    page.run("() => dispatchEvent(new Event('beforeprint'))")
    assert page.run("() => document.querySelector('footer').getBoundingClientRect().bottom") < 1000
    assert page.run(BEYOND) == []
    page.run(EVERYTHING)
    ends = """() => ["section.first", "#system", "#gives-out"].map((one) => {
      const { top, bottom } = document.querySelector(one).getBoundingClientRect();
      return [top, bottom];
    })"""
    (_, decided), (drawn, _), (appendix, _) = page.run(ends)
    assert decided < 1000  # a sheet; what follows explains it
    assert decided <= drawn < appendix
    page.run("() => document.querySelectorAll('.fold').forEach((one) => { one.open = true; })")
    page.run("() => dispatchEvent(new Event('beforeprint'))")
    assert page.run(BEYOND) == []


MANY = """
users N in 1..1000
machine box {{ cpu 4 core }}
network lan {{ switched; rate 10 Gbit/s }}
component work {{ cpu 1 ms/packet }}
topology {{
  {nodes}
  link net = lan between {names}
}}
stream flow for each user {{ traffic 1 packet/s, 1 kB/packet; {stages} }}
"""

# Boxes one over another or out of the drawing; lines that run behind a box that they do not join.
FAULTS = """() => {
  const svg = document.querySelector("#picture-topology svg");
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const boxes = [...svg.querySelectorAll("rect.place")].map((one) => {
    const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(one.getAttribute(name)));
    return { left: x, right: x + w, top: y, bottom: y + h };
  });
  const found = [];
  boxes.forEach((a, i) => {
    if (a.left < 0 || a.right > width || a.top < 0 || a.bottom > height) found.push(`box ${i} is cut`);
    boxes.slice(i + 1).forEach((b) => {
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) found.push(`box ${i} is covered`);
    });
  });
  for (const way of svg.querySelectorAll("path.join")) {
    for (let k = 0; k <= way.getTotalLength(); k += 3) {
      const { x, y } = way.getPointAtLength(k);
      const inside = boxes.filter((b) => x > b.left + 2 && x < b.right - 2 && y > b.top + 2 && y < b.bottom - 2);
      if (inside.length) found.push("a line is behind a box");
    }
  }
  return { boxes: boxes.length, height, found: [...new Set(found)] };
}"""  # noqa: E501


@pytest.mark.parametrize(
    ("count", "width", "highest"),
    [(13, 1440, 700), (50, 1440, 1100), pytest.param(50, 390, 2500, marks=nightly)],
)
def test_many_machines_on_a_switch_are_drawn_in_layers(
    open_page: Any, count: int, width: int, highest: int
) -> None:
    names = [f"server_{i}" for i in range(count)]
    text = MANY.format(
        nodes="\n  ".join(f"node {name} = box" for name in names),
        names=", ".join(names),
        stages="; ".join(f"at {name} {{ work }}" for name in names),
    )
    page = open_page(html_of(checked(text), most=2), width=width)
    page.page.locator("#picture-topology").scroll_into_view_if_needed()
    page.run("() => qps.drawAll()")
    result = page.run(FAULTS)
    assert result["boxes"] == count + 1
    assert result["found"] == []
    assert result["height"] <= highest


def test_a_tap_on_a_chart_leaves_its_values(open_page: Any) -> None:
    page = open_page(
        html_of(load(SPECS / "textbook" / "courses" / "printers.qps"), most=2, claims=())
    )
    page.page.wait_for_selector("#advice table, #advice p")  # what comes late moves what is below
    page.run("() => qps.drawAll()")
    canvas = page.page.locator("#picture-loads .canvas")
    canvas.scroll_into_view_if_needed()
    text = "() => document.querySelector('#picture-loads .readout').textContent"
    assert page.run(text) == ""
    box = canvas.bounding_box()
    touch = page.page.context.new_cdp_session(page.page.own)
    point = [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}]
    for kind, points in (("touchStart", point), ("touchEnd", [])):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.page.wait_for_function(
        "() => document.querySelector('#picture-loads .readout').textContent"
    )
    assert "%" in page.run(text)
