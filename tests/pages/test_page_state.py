"""What a page is set to: in its address, in a link, back and forth, and in lines of the spec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING, SETTINGS_OPEN, Opened
from helpers.nightly import nightly
from helpers.reports import html_of, html_of_text
from helpers.specs import PRELUDE, UNSURE, checked
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, check_source, load
from qps.solver.answers.worst_mode import solve_model

SPECS = Path(__file__).parents[2] / "specs"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

SHOP = (
    PRELUDE.replace("users N in 1..100\n", "users N in 1..1000\n")
    + "machine waiting { cpu 1 core, queueing md1 }\noption zip = on or off\n"
    "topology { node host = waiting\n node user = box * N }\n"
    "param pace = 2 packet/s in 0.1..9 packet/s\n"
    "stream flow for each user { traffic pace * (if zip == on then 1 else 2); at host { work } }\n"
    "require { flow.latency <= 20 ms }\n"
    "scenario busy { pace = 4 packet/s }\n"
    "scenario tried { pace = 3 packet/s }\n"
)
PICTURED = (
    SHOP + "component more { cpu 1 ms/packet }\n"
    "stream others for each user { traffic 1 packet/s; at host { work; more } }\n"
    "stream own for each user { traffic 1 packet/s; at user { work; more } }\n"
    "require { others.latency <= 30 ms; others.rate >= 0.5 packet/s ideal 2 packet/s }\n"
)
CHOICES = {
    "loads.log": "on", "shares.of": "user.cpu", "needs.log": "on", "quality.log": "on",
    "space.across": "others.latency", "space.up": "flow.latency",
    "space.left": "flow.latency", "space.deep": "on", "space.turn": "70",
    "topology.of": "others", "topology.by": "what it loads",
    "heat.show": "load of host.cpu", "heat.across": "more.cpu.packet", "heat.up": "pace",
}  # fmt: skip
"""What may be chosen of pictures, by the words of links, and what they do not come with."""
CHOOSE = """(choices) => {
  for (const [word, text] of Object.entries(choices)) {
    const { control } = qps.looks.controls.get(word);
    const field = control.label.querySelector("select, input");
    if (field.type === "checkbox") field.click();
    else {
      field.value = text;
      const event = field.type === "range" ? "input" : "change";
      field.dispatchEvent(new Event(event, { bubbles: true }));
    }
  }
}"""
LOOKS = """() => Object.fromEntries([...qps.looks.controls].map(([word, { control }]) =>
  [word, [control.said, control.value ?? null]]))"""
OPEN = """() => [...document.querySelectorAll(".fold[open], .picture details[open], #starts[open]")]
  .map((one) => one.closest("[id]").id).sort()"""
STATE = """() => ({
  columns: qps.columns.map((one) => ({
    picks: one.setting.picks, mode: one.setting.mode, start: one.setting.start, n: one.n,
    numbers: [...one.setting.numbers].map(([name, value]) => [name, value.map(String)]).sort(),
    follows: one.follows, largest: one.solved.largest, label: one.label,
  })),
  active: qps.active, answer: document.getElementById("answer").textContent,
})"""
LINKED = f"""() => {{
  const linked = document.getElementById("linked");
  const found = [linked.innerText, linked.querySelectorAll("*").length, ({STATE})()];
  linked.textContent = "";
  return found;
}}"""
"""What is said of a link, in how many elements, and the state; it is taken away."""
DECIDED = "(text) => location.hash.includes(text)"


@pytest.fixture(scope="module")
def shop() -> Spec:
    return checked(SHOP)


@pytest.fixture(scope="module")
def shop_html() -> str:
    return html_of_text(SHOP)


def followed(page: Opened, fragment: str) -> Opened:
    """Open the page anew as a link leads to it."""
    page.page.goto(page.page.url.split("#")[0] + fragment)
    page.page.reload()
    page.page.wait_for_selector("#model:not(:empty)", state="detached")
    page.run(SETTINGS_OPEN)
    return page


def reported(page: Opened) -> str:
    return str(page.page.inner_text("#linked"))


def set_up(page: Opened) -> None:
    """Set this and that, each by its own control."""
    page.page.select_option("#control-start", label="busy")
    page.page.select_option("#control-select-0", "off")
    page.page.fill("#number-pace", "0.3")
    page.page.click(".contents >> text=Assumptions")
    page.page.locator("#numbers input[aria-label='work.cpu.packet']").fill("7.123456")
    page.page.click("#pin")
    page.page.fill("#number-pace", "0.7")
    page.page.fill("#population-number", "17")


def test_a_link_opens_the_page_as_it_was_set(shop_html: str, open_page: Any) -> None:
    page = open_page(shop_html)
    assert "#" not in page.page.url  # as it came
    page.page.select_option("#control-select-0", "off")
    page.page.wait_for_function(DECIDED, arg="set=zip=off")
    set_up(page)
    page.page.wait_for_function(DECIDED, arg="at=17")
    before = page.run(STATE)
    address = page.page.url
    fragment = address[address.index("#") :]
    assert fragment.startswith("#qps1&of=spec~")
    assert "&from=busy&set=zip=off&set=" in fragment
    assert "set=pace=0.7+packet/s" in fragment
    assert "set=work.cpu.packet=7.123456+ms/packet" in fragment
    assert "&keep=1&from=busy&set=zip=off" in fragment
    assert fragment.endswith("&open=assumptions")
    other = followed(open_page(shop_html), fragment)
    assert other.run(STATE) == before
    assert other.run("() => document.querySelector('#assumptions .fold').open")
    assert reported(other) == ""
    # what it shows is what it says
    assert other.page.input_value("#number-pace") == "0.7"
    assert other.page.input_value("#population-number") == "17"


WRONG = {
    "another page": ("#qps1&of=erp~1&set=zip=off", "it belongs to another report, of “erp”"),
    "no page": ("#qps1&set=zip=off", "it belongs to another report"),
    "a later version": ("#qps2&of=spec~1&x", "another version of QPS"),
    "no part of it": ("#qsp1&set=zip=off", "neither a section of this page nor a setting"),
    "a name": ("#qps1&of=spec~1&set=zap=off", "no input “zap”"),
    "a choice": ("#qps1&of=spec~1&set=zip=<img src=x onerror=alert(1)>", "“zip” cannot be “<img"),
    "a scenario": ("#qps1&of=spec~1&from=calm", "no scenario “calm”"),
    "a mode": ("#qps1&of=spec~1&mode=night", "no mode “night”"),
    "a unit": ("#qps1&of=spec~1&set=pace=3", "“pace” needs the unit packet/s"),
    "a range": (
        "#qps1&of=spec~1&set=pace=30+packet/s",
        "“pace” is outside its range: 0.1 to 9 packet/s",
    ),
    "a number": ("#qps1&of=spec~1&set=pace=many+packet/s", "not a valid value of “pace”"),
    "over nothing": ("#qps1&of=spec~1&set=pace=1/0+packet/s", "not a valid value of “pace”"),
    "twice": ("#qps1&of=spec~1&set=zip=on&set=zip=off", "it sets “zip” twice"),
    "a negative cost": ("#qps1&of=spec~1&set=work.cpu.packet=-1+ms/packet", "demand must be zero"),
    "too many users": ("#qps1&of=spec~1&at=5000", "not a population from 1 to 1,000"),
    "a part of a user": ("#qps1&of=spec~1&at=1.5", "not a population"),
    "a column": ("#qps1&of=spec~1&column=7&set=zip=off", "no column “7”"),
    "a tab": ("#qps1&of=spec~1&shown=2", "no column “2”"),
    "a spec": ("#qps1&of=spec~1&keep=9", "no spec “9”"),
    "a word": ("#qps1&of=spec~1&run=alert(1)", "“run” is not recognized"),
    "a picture": ("#qps1&of=spec~1&look=cake.log=on", "no chart option “cake.log”"),
    "no choice": ("#qps1&of=spec~1&look=loads", "no chart option “loads”"),
    "a choice twice": ("#qps1&of=spec~1&look=loads.log=on&look=loads.log=on", "“loads.log” twice"),
    "half a sign": ("#qps1&of=spec~1&set=pace=%E0%A4%A", "is malformed"),
    "no word": ("#qps1&of=spec~1&zip", "“zip” is malformed"),
    "all of it": ("#qps1&of=spec~1&set=zip=" + "x" * 30_000, "it is too long"),
    "a crowd": ("#qps1&of=spec~1" + "&keep=1" * 60, "pins too many configurations"),
}


def test_a_link_that_does_not_fit_is_reported_and_sets_nothing(
    shop_html: str, open_page: Any
) -> None:
    page = open_page(shop_html)
    before = page.run(STATE)
    for name, (fragment, why) in WRONG.items():
        page.page.goto(page.page.url.split("#")[0] + fragment)
        page.page.wait_for_function("() => document.getElementById('linked').textContent")
        answer, elements, state = page.run(LINKED)
        assert why in answer, name
        assert answer.startswith("Link not applied"), name
        assert state == before, name
        assert elements == 0, name
    # what its pictures do not offer is told, and the rest is set
    page.page.goto(
        page.page.url.split("#")[0] + "#qps1&of=spec~1&set=zip=off&look=shares.of=<b>x</b>"
    )
    page.page.wait_for_function("() => document.getElementById('linked').textContent")
    assert "are not available: “shares.of=<b>x</b>”" in reported(page)
    assert page.run("() => qps.shown.label") == "zip=off"
    page.page.click("text=Undo")
    # nor does it when the page is opened with it
    followed(page, WRONG["a range"][0])
    assert "outside its range" in reported(page)
    assert page.run(STATE) == before


def test_a_link_of_another_version_of_the_page_says_so(shop_html: str, open_page: Any) -> None:
    before = open_page(html_of(checked(SHOP.replace("20 ms", "21 ms"))))
    before.page.select_option("#control-select-0", "off")
    before.page.wait_for_function(DECIDED, arg="zip=off")
    page = followed(open_page(shop_html), "#" + before.page.url.partition("#")[2])
    assert reported(page).startswith("The link is from another version of this page")
    assert page.run("() => qps.shown.label") == "zip=off"


def test_what_is_chosen_of_pictures_is_in_the_link_and_goes_back_and_forth(open_page: Any) -> None:
    html = html_of(checked(PICTURED))
    page = open_page(html)
    first = page.run(LOOKS)
    assert set(first) == {*CHOICES, "quality.scenarios"}
    assert all(said is None for said, _ in first.values())
    page.run("() => qps.pictures.forEach((one) => one.redraw())")
    page.run(CHOOSE, CHOICES)
    page.page.click("#told summary")
    page.page.click("#starts summary")
    page.page.get_by_role("checkbox", name="tried").uncheck()
    page.page.click("#picture-loads details > summary")
    page.page.click(".contents >> text=Formulas")
    page.page.wait_for_function(DECIDED, arg="open=told,formulas,picture-loads,starts")
    chosen = page.run(LOOKS)
    fragment = page.page.url[page.page.url.index("#") :]
    wanted = {word: [text, text if text != "on" else True] for word, text in CHOICES.items()}
    wanted["space.turn"][1] = 70
    assert chosen == {**wanted, "quality.scenarios": ["1:-,busy", None]}
    other = followed(open_page(html), fragment)
    other.run("() => qps.pictures.forEach((one) => one.redraw())")
    assert other.run(LOOKS) == chosen
    assert reported(other) == ""
    assert other.run(OPEN) == page.run(OPEN) == ["formulas", "picture-loads", "starts", "told"]
    assert not other.page.get_by_role("checkbox", name="tried").is_checked()
    back = page.page.get_by_role("button", name="Undo")
    for count in range(len(CHOICES) + 5, 0, -1):  # each was an act of its own
        assert page.run("() => qps.past.at") == count
        back.click()
    assert back.is_disabled()
    page.run("() => qps.pictures.forEach((one) => one.redraw())")
    assert page.run(LOOKS) == {
        word: [said, now] for word, (said, now) in first_drawn(html, open_page)
    }
    assert page.run(OPEN) == []


def first_drawn(html: str, open_page: Any) -> Any:
    """Return the choices of pictures that show what they come with."""
    page = open_page(html)
    page.run("() => qps.pictures.forEach((one) => one.redraw())")
    return page.run(LOOKS).items()


def test_one_act_is_one_step_back(shop_html: str, open_page: Any) -> None:
    page = open_page(shop_html)
    back, forth = (page.page.get_by_role("button", name=name) for name in ("Undo", "Redo"))
    states = [page.run(STATE)]
    assert back.is_disabled()
    assert forth.is_disabled()
    # a drag of the slider of the population: many events, one act
    box = page.page.locator("#population").bounding_box()
    page.page.mouse.move(box["x"] + 10, box["y"] + box["height"] / 2)
    page.page.mouse.down()
    for share in (0.2, 0.3, 0.4, 0.5):
        page.page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    page.page.mouse.up()
    states.append(page.run(STATE))
    page.page.select_option("#control-select-0", "off")
    states.append(page.run(STATE))
    page.page.locator("#number-pace").press_sequentially("9")  # 29: refused, nothing is set
    page.page.fill("#number-pace", "")
    page.page.locator("#number-pace").press_sequentially("0.25")
    page.page.locator("#number-pace").blur()
    states.append(page.run(STATE))
    page.page.click("#pin")
    states.append(page.run(STATE))
    assert len({str(one) for one in states}) == len(states)
    for state in states[-2::-1]:
        back.click()
        assert page.run(STATE) == state
    assert back.is_disabled()
    for state in states[1:]:
        forth.click()
        assert page.run(STATE) == state
    assert forth.is_disabled()
    # what is done after a step back takes the place of what was done before
    back.click()
    page.page.select_option("#control-select-0", "on")
    assert forth.is_disabled()


def test_keys_go_back_and_forth_but_not_while_typing(shop_html: str, open_page: Any) -> None:
    page = open_page(shop_html)
    first = page.run(STATE)
    page.page.select_option("#control-select-0", "off")
    second = page.run(STATE)
    page.page.keyboard.press("Control+z")
    assert page.run(STATE) == first
    page.page.keyboard.press("Control+Shift+Z")
    assert page.run(STATE) == second
    page.page.keyboard.press("Control+z")
    page.page.keyboard.press("Control+y")
    assert page.run(STATE) == second
    page.page.focus("#number-pace")
    page.page.keyboard.press("Control+z")
    assert page.run(STATE) == second
    # a slider that keys move is no field to type in, and follows; keys in a row are one act
    page.page.focus("#population")
    for _ in range(3):
        page.page.keyboard.press("ArrowRight")
    assert page.run("() => qps.shown.n") == second["columns"][0]["n"] + 3
    page.page.keyboard.press("Control+z")
    assert page.run(STATE) == second
    assert page.page.input_value("#population") == str(second["columns"][0]["n"] - 1)
    assert page.run("() => document.activeElement.id") == "population"
    # where time counts, keys with a pause between them are two
    page.run("() => { qps.past.together = 0; }")
    for _ in range(2):
        page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("Control+z")
    assert page.run("() => qps.shown.n") == second["columns"][0]["n"] + 1


def test_the_history_of_the_browser_has_an_entry_for_each_act(
    shop_html: str, open_page: Any
) -> None:
    page = open_page(shop_html)
    first = page.run(STATE)
    page.page.select_option("#control-select-0", "off")
    page.page.wait_for_function(DECIDED, arg="zip=off")
    for text in ("0", "0.", "0.2", "0.25"):
        page.page.locator("#number-pace").fill(text)
    page.page.wait_for_function(DECIDED, arg="pace=0.25")
    page.page.click(".contents >> text=Assumptions")  # a part of the page, and what is set stays
    page.page.wait_for_function(DECIDED, arg="open=assumptions")
    assert page.run("() => qps.shown.label") == "zip=off, pace=0.25 packet/s"
    page.page.go_back()
    page.page.go_back()
    page.page.wait_for_function("() => qps.shown.label === 'zip=off'")
    page.page.go_back()
    page.page.wait_for_function("() => qps.shown.label === 'baseline'")
    assert page.run(STATE) == first
    page.page.go_forward()
    page.page.wait_for_function("() => qps.shown.label === 'zip=off'")
    assert page.page.get_by_role("button", name="Redo").is_enabled()


def test_the_link_is_copied_or_shown(shop_html: str, open_page: Any) -> None:
    page = open_page(shop_html)
    page.page.select_option("#control-select-0", "off")
    page.run(
        """() => Object.defineProperty(navigator, "clipboard", { configurable: true,
        value: { writeText: async (text) => { globalThis.copied = text; } } })"""
    )
    page.page.click("text=Copy link")
    page.page.get_by_text("Copied.").wait_for()
    copied = page.run("() => globalThis.copied")
    assert copied.startswith("file:")
    assert "set=zip=off" in copied
    assert page.page.url == copied
    page.run(
        """() => Object.defineProperty(navigator, "clipboard", { configurable: true,
        value: { writeText: async () => { throw new DOMException("no", "NotAllowedError"); } } })"""
    )
    page.page.click("text=Copy link")
    field = page.page.get_by_label("Link to this page with the current settings")
    field.wait_for()
    assert field.input_value() == copied
    assert page.run("() => getSelection().toString()") == copied


def test_the_spec_has_the_same_as_a_scenario(shop: Spec, shop_html: str, open_page: Any) -> None:
    page = open_page(shop_html)
    assert not page.page.get_by_text("As a scenario in the spec").is_visible()
    page.page.select_option("#control-start", label="busy")
    assert not page.page.get_by_text("As a scenario in the spec").is_visible()  # it is there
    page.page.select_option("#control-select-0", "off")
    page.page.fill("#number-pace", "0.3")
    page.page.click(".contents >> text=Assumptions")
    page.page.locator("#numbers input[aria-label='work.cpu.packet']").fill("7.5")
    page.page.locator("#numbers input[aria-label='limit of flow.latency']").fill("30")
    lines = page.page.inner_text("pre.command")
    assert lines.splitlines() == [
        "scenario tried_2 {",
        "  scenario = busy",
        "  zip = off",
        "  pace = 0.3 packet/s",
        "  work.cpu.packet = 7.5 ms/packet",
        "  limit of flow.latency = 30 ms",
        "}",
    ]
    largest = page.run("() => qps.shown.solved.largest")
    again = checked(SHOP + lines + "\n")
    solution = solve_model(again.model, again.configuration("tried_2"))
    assert solution.capacity == largest
    assert shop.model.scenarios[-1].name == "tried"


def test_lines_with_a_mode_and_its_numbers_are_what_the_page_says(open_page: Any) -> None:
    modes = SHOP + "mode day { }\nmode night { pace = 3 packet/s }\n"
    page = open_page(html_of(checked(modes)))
    for start, numbers in (("busy", {}), ("busy", {"pace": "5"}), ("tried", {"pace": "1"})):
        page.page.select_option("#control-start", label=start)
        page.page.select_option("#control-mode", "night")
        for name, text in numbers.items():
            page.page.fill(f"#number-{name}", text)
        lines = page.page.inner_text("pre.command")
        again = checked(modes + lines + "\n")
        solution = solve_model(again.model, again.configuration("tried_2"))
        largest = page.run("() => qps.shown.solved.largest")
        assert solution.capacity == largest, lines


@pytest.mark.parametrize(
    "name",
    ["audioconference", pytest.param("applications/thirteen_services", marks=nightly)],
)
def test_what_is_picked_is_a_scenario_that_the_spec_takes(name: str, open_page: Any) -> None:
    path = SPECS / f"{name}.qps"
    spec = load(path)
    page = open_page(html_of(spec, claims=(), most=30))
    page.run(
        """() => {
          const held = (select) => [...select.options].findLast((one) => !one.disabled).value;
          for (const select of document.querySelectorAll("[id^=control-select-]")) {
            select.value = held(select);
            select.dispatchEvent(new Event("change", { bubbles: true }));
          }
        }"""
    )
    lines, largest = page.page.inner_text("pre.command"), page.run("() => qps.shown.solved.largest")
    assert lines.count("\n") >= 2
    text = path.read_text("utf-8") + "\n" + lines + "\n"
    outcome = check_source(Source("tried.qps", text, path.parent))
    assert outcome.value is not None, outcome.diagnostics
    again = outcome.value
    solution = solve_model(again.model, again.configuration("tried"))
    assert solution.capacity == largest


def test_uncertain_numbers_and_their_samples_are_in_the_link(open_page: Any) -> None:
    spec = checked("network lan { switched; rate 1 Gbit/s }\n" + UNSURE)
    html = html_of(spec)
    page = open_page(html)
    page.page.click("#new-samples")
    page.page.fill("#number-calls", "2")
    page.page.wait_for_function(DECIDED, arg="calls=2")
    other = followed(open_page(html), "#" + page.page.url.partition("#")[2])
    assert other.run(STATE) == page.run(STATE)
    assert other.run("() => qps.sure.seed") == 2
    assert reported(other) == ""
