"""Pages of specs with numbers that nobody knows: how sure the answer is, and what it rests on."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from browsers.browser import CHROMIUM, MISSING, Opened
from browsers.node import needs_node, run_module
from helpers.reports import html_of, page_of
from helpers.specs import checked
from qps.compiler import ir
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.pipeline import Spec
from qps.reports.pages.drawings.chart_axes import WIDTH
from qps.reports.pages.html_page import render_html
from qps.reports.pages.report_page import PageView
from qps.reports.pages.uncertainty_section import HEIGHT
from qps.reports.text.solutions.uncertainty_text import rounded_ends
from qps.reports.text.words.quantities import rounded_down, rounded_up
from qps.solver.answers.worst_mode import solve_model
from qps.solver.uncertainty.prediction_interval import least, most
from qps.solver.uncertainty.sample_draws import (
    UncertainNumber,
    axis_of,
    quantiles,
    uncertain_numbers,
)
from qps.solver.uncertainty.sample_solver import solved_for
from qps.solver.variants.variant_spreads import spread_of, spreads_of

SITE = """
users N in 1..10_000
param pace  = between 0.08 request/s and 0.12 request/s
param reply = 80 kB/request +- 20 %
machine server { cpu 4 core, queueing mmc }
machine laptop { }
network uplink { switched; rate 1 Gbit/s }
component answer { cpu 8 ms/request +- 1 ms/request }
topology {
  node web = server * 2
  node browser = laptop * N
  link wan = uplink between web, browser
}
stream replies for each browser { traffic pace, reply; at web { answer }; over wan; at browser { } }
require { replies.latency <= 100 ms; web.cpu.load <= 75 % }
"""


@pytest.fixture(scope="module")
def site() -> Spec:
    return checked(SITE)


@pytest.fixture(scope="module")
def site_view(site: Spec) -> PageView:
    return page_of(site)


def test_the_page_says_how_sure_the_answer_is(site_view: PageView) -> None:
    html, uncertainty = render_html(site_view), site_view.view.uncertainty
    assert uncertainty is not None
    labels = [fact.label for fact in site_view.decision.facts]
    assert "Uncertainty" not in labels  # the picture has it
    assert f">5 % of samples: {rounded_up(uncertainty.interval.most or 0)} or more</text>" in html
    assert site_view.view.known.is_exact is False  # a bound has no confidence
    assert " at 95 % confidence" not in html[: html.index("<script")]
    assert (
        f"95 % of samples: {rounded_down(uncertainty.at_confidence.capacity)} or more</text>"
        in html
    )
    assert "Measure next" in html
    assert html.index("Probability of being met at") < html.index("Probability of saturating first")


def test_the_picture_of_the_samples_stays_in_its_frame(site_view: PageView) -> None:
    assert site_view.uncertainty is not None
    picture = site_view.uncertainty.histogram
    for one in picture.columns:
        assert 0 <= one.x < one.x + one.width <= WIDTH
        assert 0 < one.y <= one.y + one.height < HEIGHT
    changes = [one.is_inside != other.is_inside for one, other in pairwise(picture.columns)]
    assert sum(changes) == 2  # it is the middle that lies inside
    assert [row[1] for row in picture.rows] == [one.text.split(": ")[1] for one in picture.columns]
    sure, stated, upper = picture.lines
    assert sure.x < stated.x < upper.x
    assert (picture.dot, picture.interval) == (sure.x, (sure.x, upper.x))


def test_where_no_number_is_acceptable_the_picture_says_none() -> None:
    found = page_of(
        checked(
            SITE.replace("8 ms/request +- 1 ms/request", "between 60 s/request and 90 s/request")
        )
    )
    assert found.uncertainty is not None
    assert found.uncertainty.histogram.rows[0][0] == "none"
    assert not found.uncertainty.histogram.lines


def test_a_page_of_what_is_known_has_nothing_of_it() -> None:
    spec = checked(SITE.replace(" +- 1 ms/request", ""))
    known = page_of(spec, "pace=0.1 request/s", "reply=80 kB/request")
    assert known.uncertainty is None
    html = render_html(known)
    text = html.split("<script")[0]
    assert not re.search("how sure|samples|uncertain input", text, re.IGNORECASE)
    (said,) = (fact.pair[1] for fact in known.decision.facts if fact.label == "Uncertainty")
    assert said.startswith("none stated")


# -- what a page draws -------------------------------------------------------------------------

SPREADS = """
users N in 1..1000
param a = normal(5 ms/request, 1 ms/request)
param b = lognormal(5 ms/request, 0.4)
param c = uniform(2 ms/request, 7 ms/request)
param d = triangular(2 ms/request, 3 ms/request, 9 ms/request)
param e = one of [2 ms/request weight 1, 5 ms/request weight 3, 6 ms/request weight 2]
machine box { cpu 4 core }
component work { cpu a + b + c + d + e }
topology { node host = box }
stream flow { traffic N * 1 request/s; at host { work } }
"""


def reported_by_page(spec: Spec) -> dict[str, list[Any]]:
    found = spreads_of(spec.model, spec.configuration())
    return {one.name: [one.kind, *one.numbers] for number in found[""] for one in number}


@needs_node
def test_the_page_draws_each_distribution_as_the_solver_does() -> None:
    spec = checked(SPREADS)
    levels = [1e-4, 0.025, 0.2, 0.499, 0.5, 0.7, 0.975, 0.9999]
    result = reported_by_page(spec)
    drawn = json.loads(
        run_module(
            'import { valueAt } from "./reports/scripts/engine/samples.js";'
            f"const told = {json.dumps(result)}, levels = {levels};"
            "console.log(JSON.stringify(Object.fromEntries(Object.entries(told).map("
            "([name, one]) => [name, levels.map((level) => valueAt(one, level))]))));"
        )
    )
    known = {
        name: distribution
        for number in uncertain_numbers(spec.model, spec.configuration())
        for name, distribution in number.parameters
    }
    assert {one[0] for one in result.values()} == {
        "normal", "lognormal", "uniform", "triangular", "weighted",
    }  # fmt: skip
    for name, distribution in known.items():
        expected = quantiles(distribution, np.array(levels))
        assert drawn[name] == pytest.approx(expected.tolist(), rel=1e-9), name


def test_what_is_drawn_together_in_a_way_of_its_own_is_in_the_page_as_rows() -> None:
    """Two numbers that were fitted together, one always twice the other, stay so in each row."""
    one, two = (
        ir.Fitted(mean=Fraction(mean), weights=(mean / 10,), freedom=8, table="runs.csv")
        for mean in (1, 2)
    )
    number = UncertainNumber(
        written=Span(Source("spec.qps", ""), 0, 0), parameters=(("a", one), ("b", two))
    )
    first, second = spread_of(number)
    (some,), (others,) = first.numbers, second.numbers
    assert (first.name, second.name, first.kind) == ("a", "b", "sampled")
    assert isinstance(some, tuple)
    assert len(some) == 256 == len(set(some))
    assert others == pytest.approx([2 * value for value in some], rel=1e-8)


# -- live --------------------------------------------------------------------------------------

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
DONE = """() => {
  const { answers, jobs } = qps.sure;
  return answers.isDone && jobs.size && [...jobs.values()].every((one) => one.isDone);
}"""
LINES = "() => [...document.querySelectorAll('#uncertainty li')].map((one) => one.textContent)"
SLIDE = """([name, place]) => {
  const { slider } = qps.controls.fields.get(`number-${name}`);
  slider.value = place;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""
SAMPLES = """() => ({
  values: [...qps.sure.samples.values]
    .map(([name, all]) => [name, all.map((one) => one.map(String))]),
  counting: qps.sure.samples.counting,
  answers: qps.sure.answers.found.map((one) => one.largest),
  interval: qps.sure.uncertainty.interval,
  capacity: qps.sure.uncertainty.atConfidence,
  fans: { ...qps.sure.jobs.get("loads").fans, places: [...qps.sure.jobs.get("loads").fans.places] },
  loads: qps.pictures.find((one) => one.key === "loads").drawn.chart.series.map((one) => one.name),
})"""


@pytest.fixture
def site_page(site_view: PageView, open_page: Any) -> Opened:
    page: Opened = open_page(render_html(site_view))
    page.run("() => document.getElementById('picture-loads').scrollIntoView()")
    page.page.wait_for_function(DONE)
    return page


@needs_browser
def test_samples_of_the_page_have_the_answers_of_the_solver(site: Spec, site_page: Opened) -> None:
    """As many answers as samples, each to the user; interval and fans are quantiles of these."""
    site_page.run(SLIDE, ["reply", 150])
    site_page.page.wait_for_function(DONE)
    found = site_page.run(SAMPLES)
    assert sorted(found["counting"]) == ["answer.cpu", "pace"]
    reply = site_page.run("() => qps.shown.run.numbers.get('reply').map(String)")
    values = {
        name: np.array([float(Fraction(*map(int, one))) for one in all_])
        for name, all_ in found["values"]
    }
    values["reply"] = np.full(256, float(Fraction(*map(int, reply))))
    configuration = site.configuration()
    numbers = uncertain_numbers(site.model, configuration)
    for number in numbers[:1]:  # one in each of as many stretches that are as likely
        ((name, distribution),) = number.parameters
        ends = quantiles(distribution, np.arange(1, 256) / 256)
        assert np.searchsorted(ends, np.sort(values[name])).tolist() == list(range(256))
        assert values[name].tolist() != sorted(values[name])
    axis = axis_of(numbers, values, site.model)
    solution = solve_model(site.model, configuration)
    answers = solved_for(site.model, configuration, axis, solution).largest
    assert found["answers"] == answers.tolist()
    assert found["interval"] == [least(answers, 0.95), most(answers, 0.95)]
    assert found["capacity"] == least(answers, 0.95)
    # The load of the processors is N requests of a pace and a cost each, over eight.
    place = 30
    loads = found["fans"]["places"][place] * values["pace"] * values["answer.cpu"] / 8
    ends = found["fans"]["ends"][found["loads"].index("web.cpu")]
    assert ends["low"][place] == pytest.approx(sorted(loads)[12], rel=1e-9)
    assert ends["high"][place] == pytest.approx(sorted(loads)[243], rel=1e-9)


@needs_browser
def test_the_samples_of_the_page_are_near_those_of_the_solver(
    site_view: PageView, site_page: Opened
) -> None:
    result = site_view.view.uncertainty
    assert result is not None
    assert rounded_ends(result.interval, 10**9) in site_page.page.inner_text("body")
    site_page.run("() => document.getElementById('new-samples').click()")
    site_page.page.wait_for_function(DONE)
    (line,) = site_page.run(LINES)
    assert "256 samples of 3 uncertain inputs, drawn in this page" in line
    ends = site_page.run("() => qps.sure.uncertainty.interval")
    width = (result.interval.most or 0) - (result.interval.least or 0)
    assert ends == pytest.approx([result.interval.least, result.interval.most], abs=0.1 * width)
    site_page.run("() => document.getElementById('new-samples').click()")
    site_page.page.wait_for_function(DONE)
    assert site_page.run("() => qps.sure.uncertainty.interval") != ends


@needs_browser
def test_a_number_that_is_set_counts_as_known_until_it_is_let_go(site_page: Opened) -> None:
    note = "() => qps.controls.fields.get('number-pace').note.textContent"
    before = site_page.run(LINES)
    assert site_page.run(note).startswith("95 % interval 0.07")
    site_page.run(SLIDE, ["pace", 160])
    assert site_page.run(note).startswith("fixed at 0.1")
    assert "--set 'pace=0.1" in site_page.run(
        "() => document.querySelector('.command').textContent"
    )
    assert site_page.run("() => qps.sure.samples.counting.includes('pace')") is False
    assert site_page.run("() => document.getElementById('measure-next').textContent") == ""
    site_page.page.click("text=restore uncertainty")
    site_page.page.wait_for_function(DONE)
    assert site_page.run(LINES) == before
    assert "pace" in site_page.run("() => document.getElementById('measure-next').textContent")
    for name in ("reply", "pace", "answer.cpu"):
        site_page.run(SLIDE, [name, 150])
    assert site_page.run(LINES) == ["No uncertain input affects capacity at these settings."]
    hidden = (
        "() => ['likely', 'limits'].map((id) => document.getElementById(id).closest('[hidden]'))"
    )
    assert [one is not None for one in site_page.run(hidden)] == [True, False]
    site_page.run("() => qps.drawAll()")
    assert site_page.run("() => document.getElementById('picture-histogram').hidden")


@needs_browser
def test_fan_outs_are_described_for_screen_readers(site_page: Opened) -> None:
    text = site_page.run(
        "() => qps.pictures.find((one) => one.key === 'loads').drawn.readout.describe(60)"
    )
    assert re.search(r"web\.cpu [\d.]+ % \([\d.]+ % to [\d.]+ %\)", text)
    assert site_page.run("() => document.querySelectorAll('#picture-loads path.fan').length") == 3
    assert "5th to 95th percentile of 256 samples" in site_page.page.text_content(
        "#picture-loads .legend"
    )
    label = site_page.page.get_attribute("svg.spread", "aria-label")
    assert label.startswith("pace: nominal 0.09798 request/s, 95 % interval 0.077")
    spoken = site_page.run(
        "() => qps.controls.fields.get('number-pace').slider.getAttribute('aria-valuetext')"
    )
    assert "uncertain, 95 % interval" in spoken


@needs_browser
def test_what_takes_too_long_is_left_out_and_said(site_page: Opened) -> None:
    site_page.run("() => document.getElementById('new-samples').click()")
    result = site_page.run(
        """() => {
          const { sure } = qps, long = { done: 3, spent: 1e9 };
          sure.longest = 3000;
          sure.workAt(long, performance.now() + 5, () => { long.done++; });
          sure.answers.isLeft = long.isLeft;
          for (const job of sure.jobs.values()) Object.assign(job, { isLeft: true, fans: null });
          sure.refresh();
          qps.pictures.forEach((one) => one.redraw());
          return [long.isDone, long.isLeft];
        }"""
    )
    assert result == [False, True]
    assert site_page.run(LINES) == [
        "The uncertainty of capacity takes longer to compute than this page allows. Run qps solve."
    ]
    assert "no uncertainty bands" in site_page.page.text_content("#picture-loads .legend")
    assert site_page.run("() => document.querySelectorAll('#picture-loads path.fan').length") == 0


@needs_browser
def test_formulas_that_depend_on_what_is_not_known_are_not_drawn(open_page: Any) -> None:
    spec = checked(
        SITE.replace(
            "component answer { cpu 8 ms/request +- 1 ms/request }",
            "let cost = if reply > 78 kB/request then 9 ms/request else 8 ms/request\n"
            "component answer { cpu cost }",
        )
    )
    page = open_page(html_of(spec))
    page.run("() => document.getElementById('new-samples').click()")
    assert "formulas depend on the uncertain reply" in page.run(LINES)[0]
    assert page.run("() => qps.sure.isSilent")


@needs_browser
def test_in_each_mode_other_numbers_are_not_known(open_page: Any) -> None:
    spec = checked(
        SITE + "mode busy { pace = 0.11 request/s }\nmode calm { reply = 40 kB/request }\n"
    )
    page = open_page(html_of(spec))
    page.page.select_option("#control-mode", "busy")
    page.page.wait_for_function("() => qps.sure.answers.isDone")
    assert sorted(page.run("() => qps.sure.samples.counting")) == ["answer.cpu", "reply"]
    page.page.select_option("#control-mode", "calm")
    page.page.wait_for_function("() => qps.sure.answers.isDone")
    assert sorted(page.run("() => qps.sure.samples.counting")) == ["answer.cpu", "pace"]
