"""What the charts of the live page show is what Python says, at every population they draw."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.nightly import nightly
from helpers.reports import html_of
from helpers.specs import PRELUDE, checked
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.lowering import lower
from qps.engine.execution.array_functions import array_function
from qps.engine.expressions.formulas import Formula

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

LINES = """() => {
  qps.drawAll();
  const told = (values) => [...values].map((v) => (Number.isFinite(v) ? v : null));
  return Object.fromEntries(qps.pictures.filter((one) => one.drawn?.chart && !one.place.hidden)
    .map(({ key, drawn: { chart } }) => [key, {
      at: [...chart.x.values], lines: chart.series.map((one) => [one.name, told(one.values)]),
    }]));
}"""

SPACE = """() => {
  const { graph, run } = qps.shown;
  const axes = graph.criteria.filter((one) => one.axis !== null);
  const populations = qps.shown.populations(61);
  const rows = run.sweep(axes.map((one) => one.axis), populations);
  const told = (values) => [...values].map((v) => (Number.isFinite(v) ? v : null));
  return [[...populations], rows.map(told), axes.map((one) => one.name)];
}"""

SWEPT = """() => {
  const { graph, run } = qps.shown;
  const moving = [...graph.order.moving];
  const populations = Float64Array.from({ length: 40 }, (_, i) => 1 + 3.7 * i);
  const rows = run.sweep(moving, populations);
  const off = [];
  moving.forEach((step, k) => populations.forEach((n, j) => {
    const alone = run.at(n).value(step);
    if (!Object.is(alone, rows[k][j])) off.push([step, n, alone, rows[k][j]].map(String));
  }));
  return { count: moving.length, off };
}"""

WAITS = [
    *("mg1 cv 2", "periodic", "none"),
    *(pytest.param(one, marks=nightly) for one in ("mm1", "md1", "mg1 cv 0.5", "mmc")),
]


def waiting_spec(waits: str) -> str:
    cores = "4 core" if waits == "mmc" else "1 core"
    own = "" if waits == "none" else f", queueing {waits}"
    return (
        PRELUDE.replace("1..100", "1..390")
        + f"machine waiting {{ cpu {cores}{own} }}\n"
        + "topology { node host = waiting\n node user = box * N\n"
        " link net = ports between host, user }\n"
        "stream flow for each user {\n"
        " traffic 0.5 packet/s, size; at host { work; each_byte }\n over net\n at user { }\n}\n"
        "param size = 200 byte/packet in 1..1000 byte/packet\n"
        "scenario same { size = 200 byte/packet }\n"
        "measure most = quantile(flow.latency, 50 %)\n"
        "require {\n"
        " quantile(flow.latency, 95 %) <= 120 ms ideal 20 ms; flow.latency <= 60 ms ideal 15 ms\n"
        " most <= 300 ms; flow.loss <= 1 %; flow.throughput >= 50 byte/s\n}\n"
        "quality euclidean\n"
    )


@pytest.mark.parametrize("waits", WAITS)
def test_charts_are_what_python_says(waits: str, open_page: Any) -> None:
    """Lines, the way through the space of quality, and many populations at once."""
    spec = checked(waiting_spec(waits))
    graph = lower(spec.model, spec.configuration())
    page = open_page(html_of(spec))
    drawn = page.run(LINES)
    assert {"loads", "needs", "shares", "quality"} <= set(drawn)
    for key, chart in drawn.items():
        expected = lines_of(graph, key)
        assert chart["at"] == sorted({round(at) for at in chart["at"]})  # whole, each once
        for name, values in chart["lines"]:
            assert_alike(values, columns(graph, chart["at"], [expected[bare(name, expected)]])[0])
    populations, rows, names = page.run(SPACE)
    axes = {one.name: one.axis_value for one in graph.criteria if one.axis_value is not None}
    assert names == list(axes)
    for row, column in zip(rows, columns(graph, populations, list(axes.values())), strict=True):
        assert_alike(row, column)
    swept = page.run(SWEPT)  # each is what it is alone
    assert swept["count"]
    assert swept["off"] == []


def lines_of(graph: LoadGraph, key: str) -> dict[str, Formula]:
    """Return what each line of a chart is of."""
    if key == "loads":
        return {name: one.load / one.target for name, one in graph.resources.items()}
    if key == "shares":
        return {by: part for one in graph.resources.values() for by, part in one.parts.items()}
    quality = {"": graph.quality_value, "quality": graph.quality_value}
    if key == "quality":
        return quality
    return {one.name: near(one) for one in graph.criteria} | quality


def near(criterion: Criterion) -> Formula:
    """Return how near a criterion is to its limit, which is 1."""
    over = criterion.value / criterion.limit
    return over if criterion.at_most else 1 / over


def bare(name: str, expected: dict[str, Formula]) -> str:
    """Return which line it is: a name in a chart goes on with how its values are known."""
    return max((one for one in expected if name.startswith(one)), key=len)


def columns(graph: LoadGraph, at: list[float], exprs: list[Formula]) -> list[np.ndarray]:
    """Return the values of expressions at some populations, as `sweep` computes them."""
    return array_function(graph.population, [graph.valued(expr) for expr in exprs])(np.array(at))


def assert_alike(page: list[float | None], python: np.ndarray) -> None:
    """Hold the page's values against Python's; what is not finite is nothing in both."""
    values = [value if np.isfinite(value) else None for value in python.tolist()]
    assert page == [
        None if one is None else pytest.approx(one, rel=1e-8, abs=1e-12) for one in values
    ]


THINKING = """
users N in 1..400
machine server { cpu 1 core, queueing mm1 }
machine desk { }
network office { rate 1 Gbit/s; switched }
component work { cpu 40 ms/request }
component query { cpu 60 ms/request }
topology {
  node seat = desk * N
  node app, db = server
  link lan = office between seat, app, db
}
stream job for each seat {
  traffic 1 request, 1 kB/request, think 15 s
  at seat { }
  at app { work; call db { query } }
  at seat { }
}
require { job.latency <= 1 s }
"""

OUTSIDE = """(key) => {
  qps.drawAll();
  const svg = qps.pictures.find((one) => one.key === key).place.querySelector("svg");
  return [...svg.querySelectorAll("text")].filter((one) => one.getBBox().x < 0)
    .map((one) => one.textContent);
}"""

CHOSEN = """(value) => {
  const place = qps.pictures.find((one) => one.key === "shares").place;
  const choice = place.querySelector("select");
  const first = choice.value;
  choice.value = value;
  choice.dispatchEvent(new Event("change"));
  return first;
}"""


def test_what_is_hardly_loaded_is_neither_shown_first_nor_cut_off(open_page: Any) -> None:
    # A load of one part has no picture of its own: each of these has two.
    shared = (
        THINKING.replace("call db { query }", "call db { query; sort }")
        + "component sort { cpu 1 ms/request }\nstream note for each seat { "
        "traffic 0.001 request/s, 1 kB/request\n at seat { }\n at app { work } }\n"
    )
    page = open_page(html_of(checked(shared)))
    page.run("() => qps.drawAll()")
    assert page.run(CHOSEN, "lan.seat.out") == "db.cpu"  # nothing saturates: the fullest
    assert page.run(OUTSIDE, "shares") == []
    assert page.run("""() => qps.pictures.find((one) => one.key === "shares").drawn.title""") == (
        "Utilization of lan egress from seat by component, against N"
    )
    result = page.run("""() => qps.pictures.find((one) => one.key === "topology")
        .drawn.svg.textContent""")
    assert re.search(r"lan\d*\D*[\d.]+ % · \w+… 5 more below \d+ %", result), result
