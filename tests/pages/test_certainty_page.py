"""Pages of specs whose requirements ask for certainty: what they answer, and what they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from browsers.node import needs_node, run_module
from helpers.reports import html_of
from helpers.specs import UNSURE, checked
from qps.compiler.pipeline import Spec
from qps.reports.pages.live.live_page import live_page
from qps.solver.answers.answer_certainty import answer_known
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.uncertainty.confidence_interface import model_at_confidence
from qps.solver.variants.model_variants import ShownCase, model_variants

SPEC = (
    UNSURE
    + """
network lan { switched; rate 1 Gbit/s; queueing mm1 }
queueing cpu mm1
scenario slow { cost = lognormal(2 ms/request, 0.1) }
scenario sure { cost = 2 ms/request }
require { replies.latency <= 10 ms with 95 % certainty; web.cpu.load <= 95 % }
"""
)
MODES = """
mode calm { calls = 1 }
mode busy { calls = 2; replies.latency <= 8 ms with 99 % certainty }
"""

ANSWERS = """
import { readFileSync } from "node:fs";
import { solving } from "./reports/scripts/engine/answers.js";
import { finished } from "./reports/scripts/common/slices.js";
import { Model, Run } from "./reports/scripts/engine/model.js";

const model = new Model(JSON.parse(readFileSync(FILE)));
console.log(JSON.stringify(ASKED.map(([name, set]) => {
  const setting = model.setting(model.starts.findIndex((one) => one.name === name));
  for (const [number, ...value] of set) setting.numbers.set(number, value.map(BigInt));
  const solved = finished(solving(new Run(model), setting));
  const unevaluated = solved.unevaluated.map((one) => one.name);
  return [solved.largest, solved.limitedBy, solved.known?.[0] ?? "exact", unevaluated];
})));
"""
Requested = tuple[str, list[tuple[str, int, int]]]


def answers_of(spec: Spec, requested: list[Requested], folder: Path) -> list[list[Any]]:
    page = live_page(model_variants([ShownCase(spec.model, spec.configuration())], 4))
    file = folder / "model.json"
    file.write_text(json.dumps(page["models"][0]), "utf-8")  # type: ignore[index]
    script = ANSWERS.replace("FILE", json.dumps(str(file))).replace("ASKED", json.dumps(requested))
    found: list[list[Any]] = json.loads(run_module(script))
    return found


def solved(spec: Spec, scenario: str | None = None, *settings: str) -> Solution:
    configuration = spec.configuration(scenario, settings)
    return solve_model(model_at_confidence(spec.model, configuration), configuration)


def reported(solution: Solution) -> list[Any]:
    known = answer_known(solution).kind.value
    return [solution.capacity, solution.limited_by, known, []]


@needs_node
@pytest.mark.parametrize("more", ["", MODES])
def test_a_page_answers_what_solve_does_where_readers_start(more: str, tmp_path: Path) -> None:
    spec = checked(SPEC + more)
    found = answers_of(spec, [("", []), ("slow", []), ("sure", [])], tmp_path)
    assert found == [reported(solved(spec, one)) for one in (None, "slow", "sure")]
    assert found[0][1].endswith("% certainty")


@needs_node
def test_a_change_known_from_samples_alone_has_no_verdict(tmp_path: Path) -> None:
    """Without it there may be more than are well served: an upper bound, and it says of what."""
    spec = checked(SPEC)
    name = "replies.latency <= 10 ms with 95 % certainty"
    plain = checked(SPEC.replace("replies.latency <= 10 ms with 95 % certainty; ", ""))
    (found,) = answers_of(spec, [("", [("calls", 2, 1)])], tmp_path)
    largest = solved(plain, None, "calls = 2").capacity
    assert found == [largest, "web.cpu.utilization", "upper bound", [name]]
    assert (solved(spec, None, "calls = 2").capacity or 0) < (largest or 0)


@needs_node
def test_where_a_reader_sets_all_that_is_not_known_it_is_judged_like_others(tmp_path: Path) -> None:
    spec = checked(SPEC.replace("; web.cpu.load <= 95 %", ""))
    (found,) = answers_of(spec, [("", [("cost", 3, 1000), ("calls", 2, 1)])], tmp_path)
    assert found == reported(solved(spec, None, "cost = 3 ms/request", "calls = 2"))


SLIDE = """([name, place]) => {
  const { slider } = qps.controls.fields.get(`number-${name}`);
  slider.value = place;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_the_page_says_what_it_does_not_follow(open_page: Any) -> None:
    spec = checked(SPEC)
    answer = solved(spec).capacity
    page = open_page(html_of(spec))
    texts = """() => ['answer', 'requirements', 'known']
      .map((id) => document.getElementById(id).textContent)"""
    said, requirements, _ = page.run(texts)
    assert said.startswith(f"About {answer:,} users. At {(answer or 0) + 1:,}, replies latency")
    assert "95 % certainty is not met" in said
    assert "At limit" in requirements
    advice = "() => document.getElementById('advice').textContent"
    assert page.run(advice).startswith(
        "A requirement with a confidence level is evaluated by sampling"
    )
    page.run(SLIDE, ["calls", 500])
    said, requirements, known = page.run(texts)
    assert said.startswith("At most ")
    assert "95 % certaintynot evaluated" in requirements
    assert "Not evaluated on this page: replies.latency <= 10 ms with 95 % certainty" in known
