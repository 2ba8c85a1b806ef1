"""What a page calls things, where it writes that, and which of its controls are seen."""

from __future__ import annotations

from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.reports import html_of, html_of_text
from helpers.specs import checked

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

SHOP = '''
"""A shop."""
users customers in 1..400
unit page
"""How long the processor is busy with a page. Measured in May."""
param work_time = 40 ms/page in 1..100 ms/page
param copies = 4 in 1..4
param hardly = 0.1 ms/page in 0.01..1 ms/page
"""The computer under the desk: nobody knows its age."""
machine server { cpu 1 core, queueing mm1 }
machine desk { }
network office { duplex; rate 1 Gbit/s }
"""Makes a page of what the database has."""
component render { cpu work_time + hardly }
component ask { cpu 2 ms/page }
topology {
  """Seats in the office"""
  node seat = desk * customers
  node web = server * copies
  node first, second = server
  """The line in the wall"""
  link lan = office between seat, web
  link back = office between web, first
  link other = office between web, second
}
stream pages for each user {
  traffic 0.4 page/s, 10 kB/page
  at seat { }
  at web { render }
  at first { ask }
  at web { }
  at second { ask }
  at web { }
  at seat { }
}
require { pages.latency <= 300 ms ideal 100 ms }
'''
YIELDING = """
users viewers in 1..100
param picture elastic 1..10 frame/s
network line { shared; rate 10 Mbit/s }
machine box { }
component show { }
topology {
  node camera = box
  node screen = box * viewers
  link wire = line between camera, screen
}
stream film for each user {
  traffic picture, 10_000 byte/frame
  at camera { show }
  over wire
  at screen { show }
}
"""
ENDS = """() => [...document.querySelectorAll("#picture-loads .line-end text")].map((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return { text: one.firstChild.textContent, left, right, top, bottom };
})"""


@pytest.fixture(scope="module")
def shop_html() -> str:
    return html_of_text(SHOP)


def test_doc_strings_are_labels_and_identifiers_stand_behind(
    shop_html: str, open_page: Any
) -> None:
    page = open_page(shop_html).page
    page.evaluate("() => qps.drawAll()")
    # a docstring that begins with no noun phrase is no label
    assert page.inner_text("label[for=number-work_time]").startswith("work time")
    assert page.inner_text("label[for=number-copies]") == "copies"
    boxes = page.locator("#picture-topology svg text").all_text_contents()
    assert any("seats in the office" in text for text in boxes)
    assert any(text.startswith("web") for text in boxes)
    resources = page.inner_text("#resources")
    assert "lan from web to seats in the office" in resources
    assert "work time" in page.text_content("#picture-tornado")
    assert "lan" in page.text_content("#picture-waterfall svg")


def test_lines_are_named_at_their_ends_and_those_alike_are_one(
    shop_html: str, open_page: Any
) -> None:
    page = open_page(shop_html, width=1440)
    page.run("() => qps.drawAll()")
    ends = page.run(ENDS)
    assert any(one["text"].startswith("first CPU and ") for one in ends)
    assert page.page.inner_text("#picture-loads .legend") == ""
    lines = page.page.locator("#picture-loads svg path.line:not(.leader)").count()
    assert lines == len(ends)
    assert lines < page.run(
        "() => qps.pictures.find((one) => one.key === 'loads').drawn.chart.series.length"
    )
    for i, one in enumerate(ends):
        for other in ends[:i]:
            assert one["bottom"] <= other["top"] + 3 or other["bottom"] <= one["top"] + 3
    edge = page.run(
        "() => document.querySelector('#picture-loads svg').getBoundingClientRect().right"
    )
    assert all(one["right"] <= edge + 1 for one in ends)


def test_where_there_is_no_room_a_legend_has_the_names(shop_html: str, open_page: Any) -> None:
    page = open_page(shop_html, width=390)
    page.run("() => qps.drawAll()")
    assert page.run(ENDS) == []
    assert "first CPU and second CPU" in page.page.inner_text("#picture-loads .legend")


def test_a_heat_map_has_values_a_limit_and_whole_numbers_once(
    shop_html: str, open_page: Any
) -> None:
    page = open_page(shop_html, width=1440).page
    page.evaluate("() => qps.drawAll()")
    page.select_option("#picture-heat label:nth-of-type(2) select", "work_time")
    page.select_option("#picture-heat label:nth-of-type(3) select", "copies")
    page.evaluate("() => qps.drawAll()")
    counts = page.locator("#picture-heat svg > text[text-anchor=end]").all_text_contents()
    assert counts == ["2", "3", "4"]
    cells = page.locator("#picture-heat .in-cell").all_text_contents()
    values = page.evaluate("() => [...qps.heat.values]")
    assert [text.replace(",", "") for text in cells] == [
        f"{v:.0f}" if v else "none" for v in values
    ]
    assert page.locator("#picture-heat path.limit-line").count() == 1
    assert "current: " in page.inner_text("#picture-heat .legend")


def test_every_picture_shows_its_values_by_keys(shop_html: str, open_page: Any) -> None:
    page = open_page(shop_html).page
    page.evaluate("() => qps.drawAll()")
    shown = page.evaluate(
        "() => qps.pictures.filter((one) => !one.place.hidden).map((one) => one.key)"
    )
    assert {"loads", "topology", "needs", "waterfall", "tornado", "heat"} <= set(shown)
    for key in shown:
        page.focus(f"#picture-{key} .canvas")
        values = []
        for press in ("Home", "ArrowRight", "End", "ArrowLeft"):
            page.keyboard.press(press)
            values.append(page.inner_text(f"#picture-{key} .readout"))
        assert all(values), key
        assert len(set(values)) > 1 or len(page.locator(f"#picture-{key} svg rect").all()) < 3, key


def test_controls_are_the_important_numbers_and_others_are_found(
    shop_html: str, open_page: Any
) -> None:
    page = open_page(shop_html).page
    order = page.locator("#controls .field.number label").evaluate_all(
        "(all) => all.map((one) => one.htmlFor)"
    )
    names = [one.removeprefix("number-") for one in order]
    assert names.index("work_time") < names.index("hardly")
    assert page.locator("#number-ask\\.cpu\\.page").count() == 0
    page.fill("#find-number", "ask page")
    assert page.is_visible("[id='number-ask.cpu.page']")
    assert not page.is_visible("#number-work_time")
    before = page.evaluate("() => qps.shown.solved.largest")
    page.fill("[id='number-ask.cpu.page']", "60")
    assert page.evaluate("() => qps.shown.solved.largest") < before
    page.fill("#find-number", "")
    assert page.is_visible("[id='number-ask.cpu.page']")
    page.fill("#find-number", "nothing of this kind")
    assert "No adjustable input" in page.inner_text(".finder [role=status]")


def test_full_with_elastic_streams_is_a_state_of_its_own(open_page: Any) -> None:
    page = open_page(html_of(checked(YIELDING)), width=1440).page
    page.evaluate("() => qps.drawAll()")
    state = "saturated by elastic traffic"
    assert state in page.inner_text("#decision")
    assert state in page.inner_text("#gauges")
    assert state in page.inner_text("#resources")
    assert page.locator("#picture-topology .place.saturated").count() == 0
    assert page.locator("#picture-topology .canvas .place.gives").count() == 1
    page.fill("#population-number", "5")
    assert state not in page.inner_text("#resources")
