"""Settings of a live page, what it answers to them, and what the solver answers."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

from msgspec import structs

from browsers.browser import Opened
from browsers.page_answers import differences
from helpers.nightly import examples
from qps.compiler.configure.configuration import in_each_mode
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec
from qps.engine.expressions.formulas import number
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.solution import Solution

ROOT = Path(__file__).parents[2]
SETTINGS = examples(6, least=3)


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
  // The color of all boxes that are drawn below the middle of a text, one upon the other.
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


# -- a stranger's text ------------------------------------------------------------------------

EVIL = (
    "</script></title><script>alert(1)</script>\"'<img src=x onerror=alert(2)>]]>&amp;{{ 7 * 7 }}"
)
