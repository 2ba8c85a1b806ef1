"""The live page in a real browser: it answers what `qps solve` answers, and asks for nothing."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from browsers.browser import CHROMIUM, MISSING, Opened, SharedBrowser
from browsers.page_answers import differences
from helpers.answers import answer_of
from helpers.breakdowns import explain
from helpers.nightly import draws, examples, nightly
from helpers.reports import html_of, html_of_text, report_of
from helpers.specs import PRELUDE, checked
from pages.test_page_answers import KINDS, one_stream
from qps.compiler.configure.configuration import in_each_mode
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec, load
from qps.compiler.quantities.dimension import DATA_RATE
from qps.engine.expressions.formulas import number
from qps.reports.pages.drawings.request_strip import SUMS
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.solutions.limit_reasons import answer_sentence
from qps.reports.text.solutions.solve_view import solve_view
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.quantities import quantity
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.advice import advise
from solving.test_saturation_search import FILLED
from solving.test_ties import SHOP

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "specs").glob("*.qps"))
SETTINGS = examples(6, least=3)
_SLOW = {
    *("audioconference", "capacity", "atm_video", "iri", "flying", "jitter", "turn_relay"),
    *("virtual_cockpit", "sfu_router", "data_path", "sfu", "mtp", "problem_solving"),
}
"""Most of the time of all: at night. `report_of` and solving them are tested elsewhere, too."""
OF_SPECS = [
    pytest.param(path, id=path.stem, marks=[nightly] if path.stem in _SLOW else [])
    for path in SPECS
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)


@pytest.fixture(scope="module")
def speak() -> Spec:
    return load(ROOT / "specs" / "audioconference.qps")


@pytest.fixture(scope="module")
def speak_html(speak: Spec) -> str:
    return html_of(speak, scenarios=["midrange"])


def test_a_browser_that_has_died_is_replaced(shared_browser: SharedBrowser) -> None:
    started = shared_browser.running()
    assert shared_browser.running() is started
    with pytest.raises(Exception, match="closed"):
        started.new_browser_cdp_session().send("Browser.crash")
    replaced = shared_browser.running()
    assert replaced is not started
    replaced.new_context().close()


# -- it answers what the solver answers ------------------------------------------------------

ANSWERS = """() => {
  const column = qps.shown, { solved, run, graph } = column;
  run.at(solved.at);
  const value = (step) => { const v = run.value(step); return Number.isFinite(v) ? v : String(v); };
  return {
    trouble: column.trouble, largest: solved.largest, limitedBy: solved.limitedBy, at: solved.at,
    mode: graph.mode,
    saturations: Object.fromEntries(solved.resources.map((one) => [one.name, one.at])),
    loads: Object.fromEntries(solved.resources.map((one) => [one.name, value(one.about.load)])),
    met: Object.fromEntries(solved.criteria.map((one) => [one.criterion.name, one.holds])),
    quality: graph.quality === null ? null : value(graph.quality),
    knees: solved.elastic.map((one) => [one.yields?.at ?? null, one.exhausted?.at ?? null]),
    answer: document.getElementById("answer").firstChild.textContent,
  };
}"""

TYPE = """([name, text]) => {
  const label = CSS.escape(name);
  const input = document.getElementById(`number-${name}`)
    ?? document.querySelector(`#numbers input[aria-label="${label}"]`);
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  return input.getAttribute("aria-invalid") !== "true";
}"""


def solved(
    spec: Spec, start: dict[str, Any], picks: list[str], numbers: dict[str, tuple[str, str]]
) -> Solution:
    """Solve what the page was set to: parameters by `--set`, other numbers in the graph."""
    parameters = {p.name for p in spec.model.parameters if p.has_own_name}
    settings = [
        f"{name} = {text} {unit}" for name, (text, unit) in numbers.items() if name in parameters
    ]
    configuration = spec.configuration(start["scenario"], [*picks, *settings])
    solutions = []
    for chosen in in_each_mode(spec.model, configuration):
        graph = lower(spec.model, chosen)
        others = {}
        for name, (text, _) in numbers.items():
            if name not in parameters:
                known = graph.assumptions[name]
                factor = Fraction(*map(int, start["factors"][name]))
                others[name] = structs.replace(known, value=number(Fraction(text) * factor))
        solutions.append(solve(graph.with_assumptions(others)))
    return min(solutions, key=lambda s: (s.capacity or 0, -(s.quality_at_limit or 0.0)))


def random_number(record: dict[str, Any], intervals: dict[str, Any], choose: random.Random) -> str:
    """Return another value of a number, in its unit, within its range; empty for none.

    Parameters have ranges, all others what they are bound to by what they are.
    """
    ends = (record["low"], record["high"])
    if record["bound"] and not record["parameter"]:
        interval = intervals[record["bound"]]
        ends = (interval["least"], interval["most"])
    low, high = [Fraction(*map(int, end)) if end else None for end in ends]
    factor = Fraction(*map(int, record["factor"]))
    value = Fraction(*map(int, record["value"])) * Fraction(
        choose.choice((0.3, 0.7, 0.9, 1.2, 2.5))
    )
    if record["parameter"]:
        value = max(low, value) if low is not None else value
        value = min(high, value) if high is not None else value
    shown = value / factor
    rounded = Fraction(f"{float(shown):.3g}") if shown else Fraction(0)
    is_low = low is not None and rounded * factor < low
    is_high = high is not None and rounded * factor >= high and not record["parameter"]
    is_high |= high is not None and rounded * factor > high
    is_part = bool(record["bound"]) and intervals[record["bound"]]["whole"]
    is_part &= (rounded * factor).denominator > 1 and not record["parameter"]
    return "" if is_low or is_high or is_part else str(float(rounded))


@draws
@pytest.mark.slow
@pytest.mark.parametrize("path", OF_SPECS)
def test_the_page_answers_what_the_solver_answers(path: Path, open_page: Any) -> None:
    """First of all in the same words as without scripts."""
    spec = load(path)
    html = report_of(path)
    page = open_page(html)
    live = page.run("() => document.getElementById('answer').textContent")
    assert open_page(html, scripts=False).page.text_content("#answer") == live
    answers_as_the_solver(page, spec, random.Random(path.stem))
    assert spec.model.file in page.run("() => document.querySelector('.command').textContent")


def answers_as_the_solver(page: Opened, spec: Spec, choose: random.Random) -> None:
    """Set the page to this and that: it must answer what the solver does, or refuse as it does."""
    page.run("() => { qps.work = () => {}; }")  # what would help is not asked each time
    compared = 0
    refused = []
    for turn in range(SETTINGS):
        start, picks, numbers = random_setting(page, spec, choose)
        answers = page.run(ANSWERS)
        try:
            solution = solved(spec, start, picks, numbers)
        except QpsError as error:
            refused.append((answers["trouble"], numbers, error.diagnostics))
            continue
        assert answers["trouble"] is None, (turn, answers["trouble"], numbers)
        assert differences(answers, solution) == [], (turn, start["name"], picks, numbers)
        compared += 1
    page.run("() => { delete qps.work; for (let slice = 0; slice < 9; slice++) qps.work(); }")
    assert compared > SETTINGS / 2
    assert all(trouble for trouble, *_ in refused), refused


def random_setting(
    page: Opened, spec: Spec, choose: random.Random
) -> tuple[dict[str, Any], list[str], dict[str, tuple[str, str]]]:
    """Set the page to something by its own inputs, and return what a reader has set."""
    starts = page.run("() => qps.shown.model.starts")
    index = choose.randrange(len(starts))
    page.run(
        """(index) => {
          const field = document.getElementById("control-start"); // there is none for one start
          if (field) { field.value = String(index); field.dispatchEvent(new Event("change")); }
          else [...document.querySelectorAll("#controls button")]
            .find((one) => one.textContent === "Reset").click();
        }""",
        index,
    )
    start = starts[index]
    selects = page.run("() => qps.shown.model.selects")
    changes: list[str] = []
    for which in choose.sample(range(len(selects)), min(len(selects), choose.choice((0, 1, 2)))):
        held = page.run(
            """(i) => [...document.getElementById(`control-select-${i}`).options]
            .filter((one) => !one.disabled).map((one) => one.value)""",
            which,
        )
        picked = int(choose.choice(held))
        if len(held) < 2:  # what cannot be changed is no control
            assert not page.page.is_visible(f"#control-select-{which}")
            continue
        page.page.select_option(f"#control-select-{which}", str(picked))
        name, text = selects[which]["name"], selects[which]["choices"][picked]
        changes.append(f"{name} = {text}")
    records = [r for r in page.run("() => qps.shown.graph.numbers") if not r["decided"]]
    intervals = page.run("() => qps.shown.model.intervals")
    numbers = {}
    start["factors"] = {record["name"]: record["factor"] for record in records}
    for record in choose.sample(records, min(len(records), choose.choice((0, 1, 3)))):
        text = random_number(record, intervals, choose)
        if text and Fraction(*map(int, record["value"])) != 0:
            assert page.run(TYPE, [record["name"], text]), (record, text)
            numbers[record["name"]] = (text, record["unit"])
            if page.run("() => qps.shown.trouble"):
                break
    return start, changes, numbers


@pytest.mark.parametrize("range_of", ["1..100", "1..1_000_000"])
def test_a_page_has_every_operation_that_its_requirements_need(
    range_of: str, open_page: Any
) -> None:
    """All kinds of them in one page; that each has its answer is known of Node."""
    kinds = [
        re.sub(r"\bm\b", f"m{place}", kind)
        for place, kind in enumerate(KINDS.values())
        if "measure m = " in kind and "quality" not in kind
    ]
    assert len(kinds) > 20
    spec = checked(one_stream("".join(kinds), range_of))
    solution = solve(lower(spec.model, spec.configuration()))
    assert differences(open_page(html_of(spec)).run(ANSWERS), solution) == []


@pytest.mark.parametrize("first", ["1", "100"])
def test_what_stays_full_is_reported_in_the_same_words(first: str, open_page: Any) -> None:
    text = FILLED.replace("FIRST", first).replace("LOAD", "min(most, N / 100)").replace("AT", "")
    html = html_of(checked(text))
    result = open_page(html).run("() => document.getElementById('answer').textContent")
    assert result == open_page(html, scripts=False).page.text_content("#answer")
    assert "its utilization stays at the limit up to N = 150" in result


TIES = [(), ("power = 0.001 core",), ("speed = 1000 Mbit/s",), ("N = 300",), ("N = 20",)]


@pytest.mark.parametrize("settings", TIES)
def test_ties_are_decided_as_in_the_solver(settings: tuple[str, ...], open_page: Any) -> None:
    spec = checked(SHOP)
    solution = solve(lower(spec.model, spec.configuration(None, settings)))
    page = open_page(html_of(spec, *settings))
    assert differences(page.run(ANSWERS), solution) == []
    assert solution.bottleneck is not None
    first = page.run("() => qps.shown.solved.first.name")
    assert first == solution.bottleneck.resource
    assert page.run(ANSWERS)["answer"] == answer_sentence(
        answer_of(spec, *settings), labels_of(spec.model)
    )


def test_what_does_not_depend_on_the_users_is_reported_in_the_page(open_page: Any) -> None:
    spec = checked(SHOP.replace(" for each user", "").replace("0.1 core", "1 core"))
    text = answer_sentence(answer_of(spec))
    assert text.startswith("Capacity does not depend on the number of users")
    assert open_page(html_of(spec)).run(ANSWERS)["answer"] == text


@draws
@pytest.mark.parametrize("machine", ["box", "waiting"])
def test_targets_hold_in_the_page(machine: str, open_page: Any) -> None:
    spec = checked(
        PRELUDE + "machine waiting { cpu 1 core, queueing mm1 }\n"
        "param aim = 75 % in 10..100 %\nparam pace = 1 packet/s in 0.1..9 packet/s\n"
        f"topology {{ node host = {machine}\n node user = box * N\n"
        " link net = ports between host, user }\n"
        "stream flow for each user {\n"
        " traffic pace, 625 byte/packet\n at host { work }\n at user { }\n}\n"
        "target cpu aim, link 40 %\nscenario busy { pace = 2 packet/s }\n"
    )
    html = html_of(spec)
    page = open_page(html)
    answers_as_the_solver(page, spec, random.Random(machine))
    page = open_page(html)
    assert page.run(TYPE, ["aim", "30"])
    answer = page.run(ANSWERS)
    assert (answer["largest"], answer["limitedBy"]) == (30, "host.cpu.utilization")
    assert answer["answer"].endswith("host CPU utilization is 31 %, above its target of 30 %.")
    assert "First to exceed its target: host CPU, above 30 users." in page.page.text_content(
        "#answer"
    )
    assert "host CPU" in page.page.text_content("#gauges")
    live = page.page.text_content("#resources")
    assert "30 %" in live
    assert "Reaches target" in live


def test_cores_that_do_less_together_are_changed_in_the_page(open_page: Any) -> None:
    spec = checked(
        PRELUDE.replace("1..100", "1..5000") + "machine big { cpu 4 core, efficiency 90 % }\n"
        "topology { node host = big }\nstream flow { traffic N * 1 packet/s; at host { work } }\n"
    )
    page = open_page(html_of(spec))
    # 4 · 0.9^2 = 3.24, of which the last is met exactly; 8 · 0.9^3 = 5.832, 8 · 0.81^3 = 4.2515
    for name, typed, largest in [
        ("host.cpu.cores", "4", 324),
        ("host.cpu.cores", "8", 583),
        ("host.cpu.efficiency", "81", 425),
    ]:
        assert page.run(TYPE, [name, typed])
        assert page.run(ANSWERS)["largest"] == largest


def test_what_lies_beyond_the_answer_follows_the_setting(open_page: Any) -> None:
    spec = checked(
        PRELUDE + "param pace = 1 packet/s in 0.1..9 packet/s\nparam aim = 75 % in 10..100 %\n"
        "topology { node host = box\n node user = box * N }\n"
        "stream flow for each user { traffic pace; at host { work } }\ntarget cpu aim\n"
    )
    page = open_page(html_of(spec))

    def result() -> str:
        return str(page.page.text_content("#headroom"))

    first = result()
    assert "With 10 % more users (83)" in first
    page.page.wait_for_selector("#advice table")
    # a wider margin is no help, and not offered as one
    assert "pace" in page.page.inner_text("#advice")
    assert "aim" not in page.page.inner_text("#advice")
    assert page.run(TYPE, ["pace", "2"])
    assert "With 10 % more users (41)" in result()
    page.page.click("text=Reset")
    assert result() == first


@draws
@pytest.mark.parametrize(
    "waits",
    [
        *("mmc", "periodic"),
        *(pytest.param(one, marks=nightly) for one in ("mm1", "md1", "mg1 cv 2", "mg1 cv 0.5")),
    ],
)
def test_what_is_waited_for_is_reported_in_the_page(waits: str, open_page: Any) -> None:
    cores = "2 core" if waits == "mmc" else "1 core"
    spec = checked(
        PRELUDE + f"machine waiting {{ cpu {cores}, queueing {waits} }}\n"
        "topology { node host = waiting\n node user = box * N }\n"
        "param pace = 1 packet/s in 0.1..9 packet/s\n"
        "stream flow for each user { traffic pace, 625 byte/packet; at host { work } }\n"
        "require { quantile(flow.latency, 99 %) <= 120 ms; flow.latency <= 60 ms }\n"
    )
    page = open_page(html_of(spec))
    solution = solve(lower(spec.model, spec.configuration()))
    assert differences(page.run(ANSWERS), solution) == []
    answers_as_the_solver(page, spec, random.Random(waits))


def test_an_endless_wait_is_drawn_to_the_edge(open_page: Any) -> None:
    spec = checked(
        PRELUDE.replace("1..100", "1..300") + "machine waiting { cpu 1 core, queueing mm1 }\n"
        "topology { node host = waiting\n node far = box\n link net = ports between host, far }\n"
        "stream flow for each host {\n traffic N * 1 packet/s, 625 byte/packet\n"
        " at host { work }\n over net\n at far { }\n}\n"
        "require { flow.latency <= 1 s }\n"
    )
    page = open_page(html_of(spec))
    page.page.fill("#population-number", "150")
    page.run("() => qps.drawAll()")
    # that nothing is complained of is looked at by `open_page`
    assert "∞" in page.page.text_content("#picture-waterfall svg")
    ends = page.run(
        """() => [...document.querySelectorAll("#picture-waterfall rect")]
        .map((one) => Number(one.getAttribute("x")) + Number(one.getAttribute("width")))"""
    )
    width = page.run("() => document.querySelector('#picture-waterfall svg').viewBox.baseVal.width")
    assert ends
    assert all(0 < end < width for end in ends), ends
    page.page.click("#picture-waterfall summary")
    assert "100 %" in page.page.locator("#picture-waterfall tbody").text_content()


def test_how_numbers_are_known_follows_the_setting(open_page: Any) -> None:
    spec = checked(
        PRELUDE + "machine waiting { cpu 1 core, queueing md1 }\n"
        "topology { node host = waiting\n node back = box\n node user = box * N }\n"
        "param patience = 50 ms in 1..900 ms\n"
        "stream flow for each user { traffic 1 packet/s, 1 byte/packet; at host { work } }\n"
        "stream plain for each user { traffic 1 packet/s, 1 byte/packet; at back { work } }\n"
        "measure both = flow.latency + plain.latency\n"
        "require { flow.latency <= patience; both <= 900 ms }\n"
    )
    page = open_page(html_of(spec))
    for text in ("50", "1", "900"):
        assert page.run(TYPE, ["patience", text])
        view = qps_view(spec, f"patience = {text} ms")
        known = page.run("() => qps.shown.solved.known")
        assert (known or ["exact", []])[0] == view.known.kind
        output = view.answer.replace("flow.latency", "flow latency")
        assert page.page.text_content("#answer").startswith(output)
    assert view.known.kind == "upper bound"
    assert "≥ " in page.page.inner_text("#requirements")
    output = page.page.inner_text("#known")
    assert "plain.latency" in output
    assert "(true value may be higher): queueing delay at back.cpu is excluded" in output
    assert output.endswith("All other results are exact for this model.")


def qps_view(spec: Spec, *settings: str) -> SolveView:
    return solve_view(answer_of(spec, *settings))


GUARDED = (
    PRELUDE + "param chosen = 3 in 1..30\nparam pace = 2 packet/s in 0.1..9 packet/s\n"
    "param double = 2 * pace in 1..10 packet/s\nparam level = 20 % in 0..100 %\n"
    "component half { keep 1 - 4 * level; cpu 2 ms/packet }\n"
    "topology { node host = box * chosen\n node user = box * N }\n"
    "stream flow for each host { traffic N * double; at host { work } }\n"
    "stream other for each host { traffic pace; at host { half } }\n"
)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("chosen", "2.5", "the count of `host` must be a whole number above zero"),
        ("pace", "6", "`double` is above its range"),
        ("level", "30", "`keep` must be between 0 and 100 %"),
        ("half.cpu.packet", "-1", "a service demand must be zero or more"),
    ],
)
def test_numbers_that_cannot_be_are_refused_as_the_solver_does(
    name: str, text: str, expected: str, open_page: Any
) -> None:
    page = open_page(html_of_text(GUARDED))
    before = page.run("() => qps.shown.solved.largest")
    assert page.run(TYPE, [name, text])
    assert page.page.text_content("#controls .trouble") == f"Not applied: {expected}."
    assert page.run("() => qps.shown.solved.largest") == before


def test_modes_are_solved_and_the_worst_counts(open_page: Any) -> None:
    spec = checked(
        PRELUDE + "topology { node host = box }\nparam pace = 1 packet/s in 0..9 packet/s\n"
        "stream flow for each host { traffic N * pace; at host { work } }\n"
        "mode idle { pace = 1 packet/s; host.cpu.load <= 50 % }\n"
        "mode busy { pace = 2 packet/s; host.cpu.load <= 40 % }\n"
    )
    page = open_page(html_of(spec))
    assert page.run(ANSWERS)["largest"] == 20
    assert page.run(ANSWERS)["mode"] == "busy"
    page.page.select_option("#control-mode", "idle")
    assert page.run(ANSWERS)["largest"] == 50
    assert "idle" in page.run("() => document.querySelector('.command').textContent")


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


MORE_CHANGES = """() => document.querySelectorAll("#advice details")
  .forEach((one) => { one.open = true; })"""
KNOWN_IN_ALL_WAYS = (
    PRELUDE + "machine waiting { cpu 1 core, queueing md1 }\n"
    "machine many { cpu 2 core, queueing mmc }\n"
    "component less { cpu 5 ms/packet }\n"
    "topology { node host = waiting\n node back = box\n node other = many\n"
    " node user = box * N }\n"
    "param patience = 50 ms in 1..900 ms\nparam pace = 1 packet/s in 0.1..9 packet/s\n"
    "stream flow for each user { traffic pace; at host { work } }\n"
    "stream plain for each user { traffic pace; at back { work } }\n"
    "stream rare for each user { traffic pace; at other { work } }\n"
    "stream short for each user { traffic pace; at other { less } }\n"
    "measure both = flow.latency + plain.latency\n"
    "require { flow.latency <= patience; rare.latency <= 1 s; both <= 60 ms }\nquality euclidean\n"
)


def test_what_would_help_is_known_as_the_answer_with_it(open_page: Any) -> None:
    page = open_page(html_of_text(KNOWN_IN_ALL_WAYS))
    marks = set()
    for pace in ("1", "0.85", "2"):
        for index in range(4):
            assert page.run(TYPE, ["pace", pace])
            page.page.wait_for_selector("#advice button")
            page.run(MORE_CHANGES)
            row = page.page.locator("#advice tbody tr").nth(index)
            output = row.locator("td").nth(2).inner_text()
            row.locator("button").click()
            assert page.page.inner_text("#small-answer strong") == output
            marks.add(output.split()[0])
            page.page.click("text=Reset")
    assert "~" in marks


def test_advice_on_exact_and_bounded_answers_is_as_the_solver_has_it(open_page: Any) -> None:
    shared = (
        PRELUDE + "topology { node host = waiting\n node user = box * N }\n"
        "param pace = 2 packet/s in 0.1..9 packet/s\n"
        "stream flow for each user { traffic pace; at host { work } }\n"
        "require { flow.latency <= 15 ms }\n"
    )
    for waiting, mark in (("", "≤ "), (", queueing md1", ""), (", queueing mg1 cv 0.5", "")):
        spec = checked(shared + f"machine waiting {{ cpu 1 core{waiting} }}\n")
        page = open_page(html_of(spec)).page
        page.wait_for_selector("#advice button")
        page.evaluate(MORE_CHANGES)
        row = page.locator("#advice tr", has_text="pace: 2 → 1.8").locator("td")
        configuration = spec.configuration()
        solution = solve_model(spec.model, configuration)
        tried = advise(spec.model, configuration, solution)
        (solved,) = (a for a in tried if a.change == "10 % less pace")
        assert row.nth(2).inner_text() == f"{mark}{solved.capacity}"


def test_pictures_and_sentences_say_how_their_numbers_are_known(open_page: Any) -> None:
    page = open_page(html_of_text(KNOWN_IN_ALL_WAYS)).page
    page.wait_for_selector("#advice button")
    page.evaluate(
        "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
    )
    page.evaluate("() => qps.drawAll()")

    def choose(picture: str, choice: str) -> None:
        page.locator(f"#{picture} select").first.select_option(label=choice)
        page.evaluate("() => qps.drawAll()")

    def result(place: str) -> str:
        return str(page.text_content(f"#{place}"))

    assert "Next limitflow latency: limit of" in result("decision")
    for picture in ("picture-loads", "picture-needs"):
        assert "supported: 1 to 82 (approximate)" in result(picture)
    choose("picture-topology", "rare")
    assert "Latency of rare at N = 82: ~ 15.07 ms" in result("picture-waterfall")
    rows = page.locator("#picture-waterfall tbody tr").all_inner_texts()
    times = [row.split("\t")[3] for row in rows]
    assert times[:-1] == ["~ 15.07 ms", "~ 5.069 ms", "10 ms", "~ 15.07 ms"]
    choose("picture-topology", "plain")
    rows = page.locator("#picture-waterfall tbody tr").all_inner_texts()
    assert [row.split("\t")[3] for row in rows][:-1] == ["10 ms", "≥ 10 ms"]
    page.check("#picture-space .choices input[type=checkbox]")
    page.evaluate("() => qps.drawAll()")
    axes = page.locator("#picture-space svg text").all_text_contents()
    assert {"flow.latency", "rare.latency (approximation)", "both (lower bound)"} <= set(axes)
    points = page.locator("#picture-space tbody td").all_inner_texts()[1:]
    assert points == ["0.6556", "≥ 0.713", "~ 0.01507", "~ 0.9687"]
    users = page.locator("#picture-heat tbody td").all_inner_texts()
    assert "~ 100" in users
    assert not {cell for cell in users if cell.isdecimal()}
    choose("picture-heat", "both")
    rows = page.locator("#picture-heat tbody tr").all_inner_texts()
    cells = [cell for row in rows for cell in row.split("\t")[1:]]
    assert all(cell == "∞" or cell.startswith("≥ ") for cell in cells)
    assert len({*cells}) > 1


def test_without_scripts_pictures_and_formulas_say_how_their_numbers_are_known(
    open_page: Any,
) -> None:
    page = open_page(html_of_text(KNOWN_IN_ALL_WAYS), scripts=False).page
    assert "supported: 1 to 82 (approximate)" in page.text_content("#picture-loads")
    needs = page.text_content("#picture-needs")
    for line in ("rare latency (approximation)", "both (lower bound)"):
        assert line in needs
    text = page.text_content("body")
    assert (
        "A lower bound (true value may be higher): queueing delay at `back.cpu` is excluded."
        in text
    )


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


# WCAG 2.2, 1.4.3: 4.5 to 1 for text, as it is drawn on the paper below it.
CONTRASTS = """() => {
  const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const paper = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const found = parts(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] > 0.99) return found;
    }
    return [255, 255, 255];
  };
  // The colour of all boxes that are drawn below the middle of a text, one upon the other.
  const painted = (text) => {
    const { x, y, width, height } = text.getBoundingClientRect();
    const [across, down] = [x + width / 2, y + height / 2];
    let below = paper(text);
    for (const rect of text.ownerSVGElement.querySelectorAll("rect")) {
      const at = rect.getBoundingClientRect();
      const style = getComputedStyle(rect);
      if (!/^rgb/.test(style.fill) || !(rect.compareDocumentPosition(text) & 4)) continue;
      if (at.left > across || across > at.right || at.top > down || down > at.bottom) continue;
      const [r, g, b, alpha = 1] = parts(style.fill);
      const share = alpha * style.fillOpacity * style.opacity;
      below = [r, g, b].map((one, i) => share * one + (1 - share) * below[i]);
    }
    return below;
  };
  const low = new Set();
  const told = "p, td, th, label, summary, button, h1, h2, h3, code, .light, option, output, li";
  for (const one of document.querySelectorAll(`${told}, figcaption, .chart text`)) {
    if (!one.textContent.trim() || one.closest("[hidden]")) continue;
    const style = getComputedStyle(one);
    const behind = one.matches("text.own") ? painted(one) : paper(one);
    const ink = parts(one instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind)].sort((x, y) => y - x);
    const name = one.className.baseVal ?? one.className;
    const text = one.textContent.slice(0, 20);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.add(`${one.tagName}.${name} ${text}`);
  }
  return [...low];
}"""


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


# -- a stranger's text ------------------------------------------------------------------------

EVIL = (
    "</script></title><script>alert(1)</script>\"'<img src=x onerror=alert(2)>]]>&amp;{{ 7 * 7 }}"
)


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
