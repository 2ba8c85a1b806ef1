"""The drawing of the system with the way of a request: it adds up, it follows, it can be read."""

from __future__ import annotations

import re
from functools import cache
from math import isclose
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING, SharedBrowser
from closed_networks.test_shared_pools import JOB, KINDS
from closed_networks.test_shared_pools import SHOP as POOLS
from helpers.reports import html_of, html_of_text
from helpers.specs import checked
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.network.route import BACK, THERE, route_of
from qps.compiler.pipeline import Spec, load
from qps.reports.pages.drawings.drawing_layers import HEIGHT, WIDTHS, laid_out
from qps.reports.pages.drawings.drawing_topology import topology_of
from qps.reports.pages.drawings.system_picture import system_picture
from qps.solver.answers.worst_mode import solve_model
from qps.solver.complete_answer import complete_answer
from qps.solver.details.answer_details import answer_details
from qps.solver.details.request_path import path_of

SPECS = Path(__file__).parents[2] / "specs"
OF_SPECS = [*sorted(SPECS.glob("*.qps")), *sorted(SPECS.glob("applications/*.qps"))]
OF_KINDS = JOB % (" for each user", "1 request", "pause")
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

# Names that plain objects of scripts have, too.
SHOP = """
users N in 1..100
machine box { cpu 4 core, queueing ps }
network lan { switched; rate 1 Gbit/s; propagation 1 ms }
component work(t) { cpu t }
topology {
  node constructor = box
  node valueOf, toString, left = box
  node aside = box
  link wire = lan between all
}
stream asked in all {
  traffic N * 1 request/s, 125 byte/request
  at constructor {
    work(1 ms/request)
    call valueOf * 20 % { work(8 ms/request) }
    together { call toString * 3 { work(1 ms/request) }; call left { work(2 ms/request) } }
  }
}
stream other in all {
  traffic N * 2 request/s, 125 byte/request
  at constructor { work(1 ms/request) }
  at valueOf { work(1 ms/request) }
}
require { asked.latency <= 25 ms }
"""


@cache
def spec_of(path: Path) -> Spec:
    return load(path)


def graph_of(spec: Spec) -> LoadGraph:
    return lower(spec.model, spec.configuration())


@cache
def graph_in(path: Path) -> LoadGraph:
    return graph_of(spec_of(path))


# -- what the page is told ---------------------------------------------------------------------


@pytest.mark.parametrize("path", OF_SPECS, ids=lambda path: path.stem)
def test_what_streams_ask_for_is_all_but_what_nobody_does(path: Path) -> None:
    graph = graph_in(path)
    value = graph.at(graph.low + 1).number
    for name, resource in graph.resources.items():
        streams = sum(value(part) for part in resource.streams.values())
        parts = sum(value(part) for by, part in resource.parts.items() if by != "idle")
        assert isclose(streams, parts, rel_tol=1e-9, abs_tol=1e-12), name
        assert set(resource.streams) <= set(graph.streams), name


@pytest.mark.parametrize("text", [POOLS, POOLS[: POOLS.index("stream browse")] + KINDS + OF_KINDS])
def test_what_streams_ask_for_is_all_of_pools_and_of_kinds_of_users_too(text: str) -> None:
    graph = graph_of(checked(text))
    value = graph.at(40).number
    for name in ("shop.threads", "db.conns", "db.cpu"):
        streams = {of: value(part) for of, part in graph.resources[name].streams.items()}
        assert streams.keys() == graph.streams.keys(), name
        assert all(part > 0 for part in streams.values()), name
        assert sum(streams.values()) == pytest.approx(value(graph.resources[name].load)), name


def test_a_component_that_several_streams_use_is_parted_among_them() -> None:
    graph = graph_of(checked(SHOP))
    value = graph.at(10).number
    by_name = {name: value(part) for name, part in graph.resources["valueOf.cpu"].streams.items()}
    assert by_name == pytest.approx({"asked": 10 * 0.2 * 0.008 / 4, "other": 20 * 0.001 / 4})
    assert len(graph.resources["valueOf.cpu"].parts) == 1


@pytest.mark.parametrize("path", OF_SPECS, ids=lambda path: path.stem)
def test_the_route_passes_whatever_takes_time(path: Path) -> None:
    graph = graph_in(path)
    topology = topology_of(graph.network)
    for name, stream in graph.streams.items():
        path = path_of(stream, graph.network)
        places = set(path.route.places)
        assert {one.place for one in path.steps if one.place} <= places, name
        for join, _ in topology.numbered(path.route):
            assert set(topology.joins[join]) <= places, name


def test_a_link_that_takes_no_time_is_passed_too() -> None:
    text = SHOP.replace("switched; rate 1 Gbit/s; propagation 1 ms", "propagation 0 s")
    network = graph_of(checked(text)).network
    topology = topology_of(network)
    route = route_of(network, "asked")
    assert route.places == ("constructor", "wire", "valueOf", "toString", "left")
    assert topology.numbered(route) == [(at, THERE | BACK) for at in range(4)]
    assert (topology.places[4].name, topology.joins[4]) == ("aside", ("wire", "aside"))


@pytest.mark.parametrize("name", ["", "applications/kafka", "sfu"])
def test_who_runs_no_scripts_has_the_steps_as_a_strip(name: str) -> None:
    """Each bar begins where the one before ends; the numbers are those of the table below."""
    spec = spec_of(SPECS / f"{name}.qps") if name else checked(SHOP)
    configuration = spec.configuration()
    solution = solve_model(spec.model, configuration)
    answer = complete_answer(spec.model, configuration, solution)
    details = answer_details(spec.model, configuration, solution.graph, answer)
    drawn = system_picture(spec.model, details, solution.at)
    assert drawn is not None
    *steps, average, late = drawn.strip.rows
    by_name = {row[0]: (row[1].strip("\u2003"), row[3]) for row in drawn.steps.rows}
    assert [row.number for row in steps] == list(by_name)[: len(steps)]
    assert {row.number: row.label.rpartition(", ")[2] for row in steps} == {
        number: share for number, (_, share) in by_name.items()
    }
    assert (average.name, late.name) == ("mean", "p99")
    ends = [row.bars[-1].x + row.bars[-1].width for row in steps]
    begins = [row.bars[0].x for row in steps]
    assert max(ends) <= average.bars[0].x + average.bars[0].width + len(steps)
    for before, begin in zip(ends, begins[1:], strict=False):
        assert begin <= before + 0.2
    assert all(row.label_x + 6 * len(row.label) < drawn.strip.width for row in drawn.strip.rows)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", OF_SPECS, ids=lambda path: path.stem)
def test_boxes_stand_apart_and_lines_end_at_them(path: Path, width: int) -> None:
    topology = topology_of(graph_in(path).network)
    found = laid_out(topology, width)
    for at, (x, y) in enumerate(found.corners):
        assert 0 <= x <= width - found.box
        assert 0 <= y <= found.height - HEIGHT
        for a, b in found.corners[at + 1 :]:
            assert abs(a - x) >= found.box or abs(b - y) >= HEIGHT, topology.places[at]
    numbers = {place.name: at for at, place in enumerate(topology.places)}
    for names, line in zip(topology.joins, found.lines, strict=True):
        for name, (x, y) in zip(names, (line[0], line[-1]), strict=True):
            left, top = found.corners[numbers[name]]
            assert left <= x <= left + found.box, names
            assert top <= y <= top + HEIGHT, names


# -- in the browser ----------------------------------------------------------------------------

WAY = """(stream) => {
  const picture = (key) => qps.pictures.find((one) => one.key === key);
  const select = document.querySelector("#picture-topology select");
  if (stream) { select.value = stream; select.dispatchEvent(new Event("change")); }
  qps.drawAll();
  const { way } = picture("waterfall").drawn;
  return {
    total: way.total, end: way.end,
    lines: way.rows.filter((row) => row.depth === 0).map((row) => row.value),
    stops: way.rows.filter((row) => row.kind === "stop").map((row) =>
      [row.value, row.stages.reduce((sum, one) => sum + one.value, 0), Object.values(row.spent).reduce((a, b) => a + b)]),
    titles: ["topology", "waterfall"].map((key) => picture(key).drawn.title),
    boxes: document.querySelectorAll("#picture-topology g.box").length,
    passed: [...document.querySelectorAll("#picture-topology g.box:not(.aside)")].map((one) => one.dataset.place),
  };
}"""  # noqa: E501


@in_a_browser
@pytest.mark.parametrize("stream", ["asked", "other"])
def test_a_path_adds_up_to_the_latency_shown(open_page: Any, stream: str) -> None:
    spec = checked(SHOP)
    page = open_page(html_of(spec))
    result = page.run(WAY, stream)
    solution = solve_model(spec.model, spec.configuration())
    latency = solution.graph.at(solution.at).number(solution.graph.streams[stream].mean_latency)
    assert result["total"] == pytest.approx(latency, rel=1e-9)
    assert result["end"] == pytest.approx(latency, rel=1e-9)
    assert sum(result["lines"]) == pytest.approx(latency, rel=1e-9)
    assert all(one == pytest.approx([one[0]] * 3, rel=1e-12) for one in result["stops"])
    assert result["boxes"] == 6
    others = {"toString", "left"} if stream == "asked" else set()
    assert set(result["passed"]) == {"constructor", "wire", "valueOf"} | others
    assert all(stream in title for title in result["titles"])


FILL = """(n) => {
  const input = document.getElementById("population-number");
  input.value = n;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  qps.drawAll();
  const box = (name) => document.querySelector(`#picture-topology g.box[data-place="${name}"]`).textContent;
  return [box("valueOf"), box("aside"), document.querySelector("#picture-topology figcaption").textContent];
}"""  # noqa: E501


@in_a_browser
def test_the_drawing_follows_the_users_shown_and_names_the_cause_of_a_utilization(
    open_page: Any,
) -> None:
    page = open_page(html_of_text(SHOP))
    few, many = page.run(FILL, 10), page.run(FILL, 100)
    assert "cpu 0.9 %" in few[0]
    assert "cpu 9 %" in many[0]
    assert "cpu" not in few[1]
    assert few[2] != many[2]
    page.page.locator("#picture-topology select").nth(1).select_option(label="utilization")
    assert "44.4 % by asked" in page.run(FILL, 100)[0]


@in_a_browser
def test_boxes_are_described_by_keys_those_on_the_path_first(open_page: Any) -> None:
    page = open_page(html_of_text(SHOP)).page
    page.locator("#picture-topology .canvas").focus()
    values = []
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        values.append(page.text_content("#picture-topology .readout"))
    assert values[0].startswith("constructor, box: step 1")
    assert values[-1].startswith("aside, box: idle")
    assert "of latency (" in values[0]


@in_a_browser
def test_without_scripts_the_first_picture_is_there(
    shared_browser: SharedBrowser, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    file.write_text(html_of_text(SHOP), encoding="utf-8")
    page = shared_browser.context(scripts=False).new_page()
    page.goto(file.as_uri())
    assert page.locator("#picture-topology svg.system g.box").count() == 6
    assert page.locator("#picture-topology path.passed").count() == 4
    rows = page.locator("#picture-waterfall tbody tr").all_inner_texts()
    shares = [float(re.sub(r"[^\d.]", "", row.split("\t")[3])) for row in rows]
    assert sum(shares) >= 99  # what is called together is there side by side
    page.close()
