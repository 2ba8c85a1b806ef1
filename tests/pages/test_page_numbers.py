"""Every number that a page shows, live or still, is what `solve` says of the thing it stands by.

Of a few specs that have what pages have; `pytest -m nightly` looks at twenty of the repository.
"""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING, Opened
from browsers.page_numbers import cut_on, shown_on
from helpers.nightly import nightly
from helpers.reports import claims_of, html_of, html_of_text, page_of
from helpers.specs import checked
from live_pages.page_settings import TYPE
from oracles.true_numbers import Truth
from oracles.written_numbers import numbers_in, worth
from qps.compiler.pipeline import Spec, load
from qps.compiler.quantities.dimension import TIME
from qps.reports.pages.html_page import render_html
from qps.solver.answers.worst_mode import solve_model
from qps.solver.details.request_path import LEVEL
from qps.solver.uncertainty.confidence_interface import model_at_confidence

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

SITE = """
users N in 1..20_000
param pace = 0.1 request/s in 0.01..9 request/s
machine server { cpu 4 core, queueing mmc; price 900 $ }
machine store { cpu 2 core, queueing mmc }
network office { switched; rate 1 Gbit/s; queueing md1 }
component answer { cpu 8 ms/request }
component look { cpu 3 ms/request }
topology { node web = server; node db = store; link lan = office between web, db }
stream page for each user {
  traffic pace, 10 kB/request
  at web { answer; call db * (3/2), sends 300 byte/request { look } }
}
stream scan for each user { traffic pace / 10; at db { look } }
measure left = 1 - web.cpu.load
measure both = page.latency + scan.latency
target db.cpu 80 %
require { page.latency <= 60 ms; left >= 10 %; both <= 200 ms; page.loss <= 1 % }
"""
"""Two streams, calls, a link, a price, a target and a floor without an ideal."""
UNSURE = """
users N in 1..10_000
param pace = 1 request/s +- 20 % in 0.1..9 request/s
param times = 1 in 1..4
machine box { cpu 1 core, queueing mm1 }
component work { cpu times * 1 ms/request }
topology { node db = box }
stream ask for each user { traffic pace; at db { work } }
measure left = 1 - db.cpu.load
require { left >= 50 %; ask.latency <= 10 ms }
expect alike "what was measured" {
  ask.latency ~ 1.25 ms within 1 % with N = 200
  db.utilization ~ 21 % within 1 % with N = 200
  capacity > 100
  db.utilization < 10 % with N = 200
  source "a paper"
}
expect far "what it misses" { ask.latency ~ 2 ms within 1 % with N = 200; missed "a cache" }
expect endless "beyond all it can do" { ask.latency ~ 1 s within 1 % with N = 2_000 }
"""
"""What nobody knows, with claims that hold, fail, are missed, and have no finite value."""
MODES = """
users viewers in 1..100
param picture elastic 1..10 frame/s
param pace = 1 request/s in 0.1..9 request/s
network line { shared; rate 10 Mbit/s; price 40 $/month }
machine box { cpu 1 core }
component show { cpu 1 ms/frame }
component work { cpu 10 ms/request }
topology {
  node camera = box; node screen = box * viewers; node host = box
  link wire = line between camera, screen
}
stream film for each user {
  traffic picture, 10_000 byte/frame
  at camera { }
  over wire
  at screen { show }
}
stream flow for each user { traffic pace; at host { work } }
mode idle { pace = 0.5 request/s; host.cpu.load <= 40 %; picture >= 9.5 frame/s }
mode busy { pace = 1 request/s; host.cpu.load <= 60 %; picture = 10 frame/s }
require { picture >= 2 frame/s ideal 10 frame/s; flow.latency <= 50 ms }
quality euclidean
"""
"""Modes, of which one sets what gives way in the other, a running cost and two axes of quality."""
NONE_AT_ALL = """
users N in 1..100
machine server { cpu 4 core }
component answer { cpu 8 ms/request }
topology { node web = server }
stream page for each user { traffic 50 request/s; at web { answer } }
require { page.latency <= 5 ms }
"""
"""What not even one user can have."""


SAMPLED = """() => {
  const { sure } = qps;
  if (!sure?.answers) return true;
  const isDone = [...sure.jobs].every(([key, one]) => key !== "board" || one.isDone || one.isLeft);
  return (sure.answers.isDone || sure.answers.isLeft) && isDone;
}"""
BESIDE = "() => ({ ...qps.beside?.loads, ...qps.beside?.needs })"
MET = "() => qps.beside?.met ?? {}"


def truth_of(spec: Spec, *settings: str, population: int | None = None) -> Truth:
    """Return what is true of a spec with some settings, as its still page is made of it."""
    page = page_of(spec, *settings, most=4, claims=())
    configuration = spec.configuration(None, settings)
    solution = solve_model(model_at_confidence(spec.model, configuration), configuration)
    view, claims = page.view, claims_of(spec)
    return Truth(spec, solution, view, settings, population=population, claims=claims)


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        pytest.param(SITE, "pace = 0.2 request/s", id="site", marks=nightly),
        pytest.param(UNSURE, "times = 2", id="unsure"),
        pytest.param(MODES, "pace = 2 request/s", id="modes"),
        pytest.param(NONE_AT_ALL, "", id="none at all"),
        pytest.param(NONE_AT_ALL.replace("50 request", "1000 request"), "", id="overloaded"),
    ],
)
def test_every_number_of_a_page_is_that_of_the_solver(
    text: str, setting: str, open_page: Any
) -> None:
    compare_page(checked(text), open_page, setting)


def holds(truth: Truth, page: Opened) -> None:
    """Assert that a page says nothing but what is true."""
    wrong = truth.wrong(shown_on(page.page))
    assert not wrong, "\n".join(wrong)


def beyond_saturation(truth: Truth) -> int:
    """Return how many users are too many for a resource, or the end of the range."""
    graph = truth.graph
    found = [one.saturation.at for one in truth.solution.resources if one.saturation.at is not None]
    return max(graph.low, min(graph.high, int(1.1 * min(found, default=graph.high)) + 1))


def compare_page(spec: Spec, open_page: Any, setting: str = "") -> None:
    """Compare the still page, the live one, that for fewer and for too many, and another number."""
    page = page_of(spec, most=4)
    html, truth = render_html(page), truth_of(spec)
    holds(truth, open_page(html, scripts=False))
    live = open_page(html)
    holds(truth, live)
    assert not live.complaints
    for population in (max(truth.graph.low, truth.at // 2), beyond_saturation(truth)):
        live.page.fill("#population-number", str(population))
        elsewhere = Truth(
            spec, truth.solution, truth.view, population=population, claims=truth.claims
        )
        live.page.wait_for_function(SAMPLED)
        elsewhere.own_values, elsewhere.own_limits = live.run(BESIDE), live.run(MET)
        holds(elsewhere, live)
    if setting:
        name, _, amount = setting.partition(" = ")
        live.page.check("text=lock to maximum")
        assert live.run(TYPE, [name, amount.split()[0]])
        live.page.wait_for_function(SAMPLED)
        changed = truth_of(spec, setting)
        changed.draws_own = True
        if changed.view.uncertainty is not None:
            drawn = live.run("() => qps.shown.n")
            assert drawn == pytest.approx(changed.headline, rel=0.05)
            changed = Truth(
                spec, changed.solution, changed.view, population=drawn, claims=changed.claims
            )
            changed.draws_own, changed.headline = True, drawn
            changed.own_values, changed.own_limits = live.run(BESIDE), live.run(MET)
            met = {one.name: one.met_up_to for one in changed.beside.requirements}  # type: ignore[union-attr]
            assert {name: changed.own_limits[name] for name in met} == pytest.approx(met, rel=0.05)
            near = {one.name: one.value for one in changed.beside.utilizations}  # type: ignore[union-attr]
            assert all(
                changed.own_values[name] == pytest.approx(value, rel=0.05)
                for name, value in near.items()
            )
        holds(changed, live)


def test_what_is_not_needed_is_computed_when_it_is_shown(open_page: Any) -> None:
    """What 99 in 100 stay within is no part of any answer."""
    page = open_page(html_of_text(SITE))
    truth = truth_of(checked(SITE))
    values = [
        text for text in shown_on(page.page).reported("picture-waterfall") if text.startswith("~")
    ]
    late = truth.reported(
        truth.here(truth.graph.streams["page"].latency_quantile(LEVEL)),
        TIME,
        truth.graph.streams["page"].quantile_certainty(LEVEL),
    )
    assert late & set(values)


@nightly
def test_fans_end_where_nine_in_ten_of_the_values_do(open_page: Any) -> None:
    """All rests on one number, and rises with it: its quantiles tell those of loads and waits."""
    page = open_page(html_of(checked(UNSURE))).page
    for name in ("loads", "needs"):  # samples are drawn where they are seen
        page.evaluate(f"document.getElementById('picture-{name}').scrollIntoView()")
        page.wait_for_selector(f"#picture-{name} path.fan", state="attached")
    page.wait_for_function(SAMPLED.replace('key !== "board" || ', ""))
    shown = shown_on(page)
    ends = 1 - 1.645 * 0.2 / 1.96, 1 + 1.645 * 0.2 / 1.96  # request/s
    least, most = ([end * 0.97, end * 1.03] for end in ends)

    def load(users: float, pace: float) -> float:
        return 100 * users * pace / 1000

    def latency(users: float, pace: float) -> float:
        """Of M/M/1, in parts of 10 ms."""
        return 10 / (1 - users * pace / 1000) if users * pace < 1000 else inf

    compared = 0
    for of, value in (("picture-loads", load), ("picture-needs", latency)):
        table = shown.table(of)
        assert table is not None
        for users, cell in ((worth(row[0].text), row[1].text) for row in table.rows):
            _, *result = map(worth, numbers_in(cell))
            if not result:
                assert cell.startswith("∞ (∞"), cell
                continue
            for end, (low, high) in zip(result, (least, most), strict=True):
                assert value(users, low) * 0.995 <= end <= value(users, high) * 1.005, cell
            compared += 1
    assert compared > 10


def test_configurations_side_by_side_say_nothing_that_is_undefined(open_page: Any) -> None:
    page = open_page(html_of(checked(SITE), others=[checked(NONE_AT_ALL), checked(MODES)]))
    shown = shown_on(page.page)
    assert Truth.unsaid(shown) == []
    result = set(shown.reported("picture-together"))
    assert {"baseline: ≤ 3,333", "baseline (2): none", "baseline (3): ≤ 12"} <= result


@pytest.mark.parametrize("width", [390, 720])
def test_no_number_is_cut_on_a_phone_or_next_to_an_editor(width: int, open_page: Any) -> None:
    """The playground has 720 px for a page on a screen of 1440."""
    page = open_page(html_of_text(SITE), width=width)
    page.run("() => qps.drawAll()")
    cut = set(cut_on(page.page))
    page.run("() => document.getElementById('gives-out').scrollIntoView()")
    cut |= set(cut_on(page.page))
    assert not cut, "\n".join(cut)


TWENTY = [
    "atm_video", "audioconference", "capacity", "data_path", "flying", "game_server",
    "https_server", "iri", "jitter", "live_stream", "mqtt_broker", "mtp", "problem_solving",
    "sfu", "sfu_router", "turn_relay", "virtual_cockpit", "voip_trunk", "wifi_calls",
    "textbook/courses/information_desk",
]  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("file", TWENTY)
def test_every_number_of_twenty_specs_is_that_of_the_solver(file: str, open_page: Any) -> None:
    compare_page(load(ROOT / "specs" / f"{file}.qps"), open_page)
