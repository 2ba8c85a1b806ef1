"""The first screen as a reader finds it: what stands where, what stays in sight, what moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.reports import html_of
from helpers.specs import checked
from qps.compiler.pipeline import load

SPECS = Path(__file__).parents[2] / "specs"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

BOX = """(one) => {
  const { left, top, right, bottom } = document.querySelector(one).getBoundingClientRect();
  return { left, top, right, bottom };
}"""
COVERED = """() => Math.max(...[...document.querySelectorAll("body *")].filter((one) => {
  const { position } = getComputedStyle(one);
  return ["fixed", "sticky"].includes(position) && one.getClientRects().length > 0;
}).map((one) => one.getBoundingClientRect())
  .filter(({ top, bottom }) => top < 1 || bottom > innerHeight - 1)
  .map(({ height }) => height / innerHeight))"""
SHIFTS = """new PerformanceObserver((list) => {
  for (const one of list.getEntries()) globalThis.shifted = (globalThis.shifted ?? 0) + one.value;
}).observe({ type: "layout-shift", buffered: true })"""


@pytest.fixture(scope="module")
def kafka_html() -> str:
    return html_of(load(SPECS / "applications" / "kafka.qps"), most=2, claims=())


def test_the_answer_its_picture_the_state_and_what_to_do_are_one_screen(
    kafka_html: str, open_page: Any
) -> None:
    page = open_page(kafka_html, width=1440, settings=False)
    page.page.set_viewport_size({"width": 1440, "height": 900})
    page.page.wait_for_selector("#advice button")
    number, picture = page.run(BOX, "#decision .figure"), page.run(BOX, "#picture-histogram")
    gauges, card = page.run(BOX, "#gauges tbody tr"), page.run(BOX, "#advice tbody tr")
    assert number["right"] < picture["left"]
    assert gauges["right"] < card["left"]
    assert max(gauges["bottom"], card["bottom"]) < 900
    assert not page.page.is_visible("#controls")
    assert page.page.locator("#advice > .scroll tbody tr").count() == 3


def test_on_a_small_laptop_one_screen_has_three_changes_with_their_intervals(
    kafka_html: str, open_page: Any
) -> None:
    page = open_page(kafka_html, width=1280, settings=False)
    page.page.set_viewport_size({"width": 1280, "height": 800})
    page.page.wait_for_selector("#advice button")
    assert page.run(BOX, "#pin")["bottom"] <= 800
    assert page.run(BOX, "#advice > .scroll tbody tr:nth-child(3)")["bottom"] <= 800
    cards = page.page.locator("#advice > .scroll tbody tr")
    page.page.wait_for_selector("#advice .interval")
    for card in cards.all():
        capacity = card.locator("td.num").inner_text().replace(",", "")
        low, high = card.locator(".ends").inner_text().replace(",", "").split("–")
        assert int(low) == int(capacity) < int(high)
    dots = page.run(
        """() => [...document.querySelectorAll("#advice .interval")].map((one) => {
          const range = one.querySelector("rect"), dot = one.querySelector("circle");
          return parseFloat(dot.getAttribute("cx")) - parseFloat(range.getAttribute("x"));
        })"""
    )
    assert max(map(abs, dots)) < 1  # the capacity at 95 % confidence is the lower end


def test_changes_of_another_setting_have_the_intervals_of_its_samples(open_page: Any) -> None:
    page = open_page(html_of(checked(UNCERTAIN)))
    page.page.fill("#number-cores", "6")
    page.page.wait_for_selector("#advice .interval")
    assert page.page.inner_text("#changes-note") == "in users, with 90 % intervals"
    card = page.page.locator("#advice tbody tr", has_text="web: 1 → 2 servers")
    low, high = card.locator(".ends").inner_text().replace(",", "").split("–")
    assert 0 < int(low) < int(high)


UNCERTAIN = """
users N in 1..100_000
param cores = 4 in 1..16
param work = 10 ms +- 20 %
machine server { cpu cores * 1 core }
component answer { cpu work / 1 request }
topology { node web = server }
stream page for each user { traffic 1 request/s; at web { answer } }
target cpu 80 %
"""


def test_changes_without_intervals_say_so(open_page: Any) -> None:
    page = open_page(html_of(checked(UNCERTAIN.replace(" +- 20 %", ""))), settings=False)
    note = "in users; exact inputs: no intervals"
    assert page.page.inner_text("#changes-note") == note
    page.page.wait_for_selector("#advice button")
    assert page.page.inner_text("#changes-note") == note


DAY = """
users N in 1..100_000
param work = 10 ms/request
profile visits over day { 18:00..21:00 = 1; else = 0.5 }
machine server { cpu 4 core; fails every 90 day for 2 hour }
component answer { cpu work }
topology { node web = server * 3 }
stream page for each user { traffic 0.1 request/s * visits; at web { answer } }
target cpu 80 %
survive any one of web
"""


def test_facts_of_times_and_failures_stay_and_say_that_they_are_of_the_spec_as_written(
    open_page: Any,
) -> None:
    page = open_page(html_of(checked(DAY)))
    facts = page.page.locator(".over-time .facts")
    written = facts.inner_text()
    assert "Worst time" in written
    assert "Availability" in written
    assert page.page.locator(".over-time > p:visible").all_inner_texts() == ["Over time"]
    page.page.fill("#number-work", "5")
    page.page.wait_for_selector(".over-time > p:has-text('as written'):visible")
    assert facts.inner_text() == written
    modes = page.page.inner_text("#modes")
    assert "web_lost" in modes
    assert "web.cpu.utilization" not in modes


def test_what_if_opens_the_settings_next_to_the_answer_and_escape_closes_them(
    kafka_html: str, open_page: Any
) -> None:
    page = open_page(kafka_html, width=1440, settings=False)
    page.page.click("text=What if")
    assert page.page.get_attribute("#what-if", "aria-expanded") == "true"
    number, settings = page.run(BOX, "#decision .figure"), page.run(BOX, "#controls")
    assert number["right"] < settings["left"]
    page.page.keyboard.press("Escape")
    assert not page.page.is_visible("#controls")
    assert page.page.get_attribute("#what-if", "aria-expanded") == "false"


def test_the_first_change_is_recommended_and_no_other(open_page: Any) -> None:
    page = open_page(html_of(checked(UNCERTAIN)), settings=False)
    page.page.wait_for_selector("#advice [data-recommended]")
    first = page.page.locator("#advice [data-recommended]")
    assert first.count() == 1
    assert first.evaluate("(one) => one.closest('tr').rowIndex") == 1


def test_a_page_that_cannot_try_every_choice_recommends_none_and_says_so(
    kafka_html: str, open_page: Any
) -> None:
    page = open_page(kafka_html, settings=False)  # without six brokers, which qps recommends
    page.page.wait_for_selector("#advice .interval")
    assert page.page.locator("#advice [data-recommended]").count() == 0
    assert "does not include" in page.page.inner_text("#advice")


def test_where_the_headline_is_out_of_sight_the_top_bar_has_the_capacity(
    kafka_html: str, open_page: Any
) -> None:
    page = open_page(kafka_html, width=390, settings=False)
    page.page.set_viewport_size({"width": 390, "height": 844})
    hidden = "() => getComputedStyle(document.querySelector('#small-answer')).opacity === '0'"
    assert page.run(hidden)
    page.run("() => scrollTo(0, 3000)")
    page.page.wait_for_function(hidden.replace("===", "!=="))
    assert "1,880" in page.page.inner_text("#small-answer")
    assert page.run(COVERED) <= 0.1
    page.page.click("text=What if")
    assert page.run(COVERED) <= 0.1


# Of these users only the number in a year is uncertain, not how many are supported.
FORECAST = """
users N in 1..1000
calendar date in 2026-12..2029-12
param growth = 6 % +- 1 %
forecast N = 20 * (1 + growth)^date
machine server { cpu 4 core }
component answer { cpu 10 ms/request }
topology { node web = server }
stream page for each user { traffic 1 request/s; at web { answer } }
target cpu 80 %
"""


@pytest.mark.parametrize("scripts", [True, False])
def test_where_uncertain_inputs_do_not_affect_capacity_its_limits_are_drawn(
    scripts: bool, open_page: Any
) -> None:
    page = open_page(html_of(checked(FORECAST)), scripts=scripts, settings=False)
    assert page.page.is_visible("#limits")
    assert not page.page.is_visible("#picture-histogram")


def _measured_tab(html: str, size: tuple[int, int], shared_browser: Any, folder: Path) -> Any:
    """Return a tab of a width and height in which a page is opened, with its layout shifts."""
    file = folder / "page.html"
    file.write_text(html, encoding="utf-8")
    width, height = size
    tab = shared_browser.running().new_page(viewport={"width": width, "height": height})
    tab.add_init_script(SHIFTS)
    tab.goto(file.as_uri())
    return tab


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_nothing_moves_when_the_scripts_take_over(
    width: int, height: int, kafka_html: str, shared_browser: Any, tmp_path: Path
) -> None:
    tab = _measured_tab(kafka_html, (width, height), shared_browser, tmp_path)
    tab.wait_for_selector("#advice button")
    tab.wait_for_timeout(500)
    assert tab.evaluate("() => globalThis.shifted ?? 0") < 0.05
    tab.close()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_nothing_moves_under_a_reader_who_scrolls_at_once(
    width: int, height: int, kafka_html: str, shared_browser: Any, tmp_path: Path
) -> None:
    tab = _measured_tab(kafka_html, (width, height), shared_browser, tmp_path)
    tab.wait_for_function("() => document.body.classList.contains('live')")
    high = tab.evaluate("() => document.documentElement.scrollHeight")
    for top in range(0, high, height):
        tab.evaluate("(top) => scrollTo(0, top)", top)
        tab.wait_for_timeout(50)
    tab.wait_for_selector("#advice button")
    tab.wait_for_timeout(500)
    assert tab.evaluate("() => globalThis.shifted ?? 0") < 0.05
    tab.close()


def test_on_a_phone_the_top_bar_has_the_name_of_the_file_whole(
    kafka_html: str, open_page: Any
) -> None:
    page = open_page(kafka_html, width=390, settings=False)
    page.page.wait_for_selector("body.live")
    name = page.page.locator(".top-bar .files")
    assert name.inner_text() == "kafka.qps"
    assert name.evaluate("(one) => one.scrollWidth <= one.clientWidth")


@pytest.mark.parametrize(("count", "is_open"), [(5, True), (14, False)])
def test_a_request_path_longer_than_a_screen_is_folded_at_first(
    count: int, is_open: bool, open_page: Any
) -> None:
    names = [f"step_{one}" for one in range(count)]
    nodes = "; ".join(f"node {one} = box" for one in names)
    steps = [f"at {one} {{ work }}" for one in names]
    text = f"""
users N in 1..100
machine box {{ cpu 4 core }}
network lan {{ switched; rate 10 Gbit/s }}
component work {{ cpu 1 ms/request }}
topology {{ {nodes}; link net = lan between {", ".join(names)} }}
stream page for each user {{
  traffic 0.1 request/s, 1 kB/request; {"; over net; ".join(steps)}
}}
target cpu 80 %
"""
    page = open_page(html_of(checked(text)), settings=False)
    assert page.page.locator("#system > details").get_attribute("open") == ("" if is_open else None)


NOBODY = """
users N in 1..100
machine server { cpu 4 core }
component answer { cpu 150 ms/request }
topology { node web = server }
stream page for each user { traffic 0.1 request/s; at web { answer } }
require { page.latency <= 100 ms }
"""


@pytest.mark.parametrize("scripts", [True, False])
def test_where_nobody_is_supported_what_is_violated_and_by_how_much_stands_first(
    scripts: bool, open_page: Any
) -> None:
    page = open_page(html_of(checked(NOBODY)), scripts=scripts, settings=False)
    assert "ot even 1 user" in page.page.inner_text("#decision .many")
    assert page.page.inner_text("#limits figcaption").startswith("Requirements at 1 user")
    row = page.page.locator("#limits tbody tr")
    assert row.get_attribute("class") == "is-over"
    assert "150 ms" in row.inner_text()
    tick = float((row.locator(".tick").get_attribute("x") or "").removesuffix("%"))
    assert tick == pytest.approx(100 / 1.5, abs=0.1)
    assert page.run(BOX, ".helps")["top"] < page.run(BOX, "#gauges")["top"] if scripts else True


def test_fixes_stand_side_by_side_on_a_screen_and_below_each_other_on_paper(
    open_page: Any,
) -> None:
    page = open_page(html_of(checked(NOBODY)), width=1440, settings=False)
    page.page.wait_for_selector("#advice button")
    assert page.page.inner_text(".helps h2").startswith("Possible fixes")
    cards = page.page.locator("#advice > .scroll tbody tr")
    tops = "(all) => all.map((one) => one.getBoundingClientRect().top)"
    assert len(cards.evaluate_all(tops)) > 1
    assert len(set(cards.evaluate_all(tops))) == 1
    assert cards.locator("[data-gain]").count() == 0  # all of them are gained
    page.page.emulate_media(media="print")
    assert len(set(cards.evaluate_all(tops))) == cards.count()


def test_on_paper_a_short_change_stands_in_one_line(open_page: Any) -> None:
    page = open_page(html_of(checked(UNCERTAIN)), width=688, settings=False)
    page.page.wait_for_selector("#advice .interval")
    page.page.emulate_media(media="print")
    rows = page.page.locator("#advice > .scroll tbody tr")
    assert rows.count() > 1
    high = """(all) => all.map((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return range.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight);
    })"""
    changes = rows.locator("td[data-label='Change']")
    assert max(changes.evaluate_all(high)) < 1.5
    assert page.page.locator("[data-recommended]").count() == 1


def test_until_scripts_draw_it_the_letters_of_the_histogram_are_read_on_a_phone(
    kafka_html: str, open_page: Any
) -> None:
    page = open_page(kafka_html, width=375, scripts=False, settings=False)
    sizes, colors = page.run(
        """() => {
          const chart = document.querySelector("#picture-histogram svg.chart");
          const scale = chart.getBoundingClientRect().width / chart.viewBox.baseVal.width;
          const letters = [...chart.querySelectorAll("text")];
          const sizes = letters.map((one) => scale * parseFloat(getComputedStyle(one).fontSize));
          const columns = [...chart.querySelectorAll("rect")];
          return [sizes, columns.map((one) => one.getAttribute("fill"))];
        }"""
    )
    assert sizes
    assert min(sizes) >= 10.5
    assert set(colors) == {"var(--c0)"}  # which is lighter on dark paper


def test_a_long_name_of_a_file_is_whole_in_the_top_bar_of_a_phone(
    kafka_html: str, open_page: Any
) -> None:
    page = open_page(kafka_html, width=375, settings=False)
    page.page.wait_for_selector("#what-if")
    fits, height = page.run(
        """() => {
          const files = document.querySelector(".top-bar .files");
          files.querySelector("code").textContent = "fifteen_services.qps";
          const bar = document.querySelector(".top-bar").getBoundingClientRect();
          return [files.scrollWidth <= files.clientWidth, bar.height];
        }"""
    )
    assert fits
    assert height <= 56
