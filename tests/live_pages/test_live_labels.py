"""The live page says of every number how it is known, as `qps solve` does, whatever is set."""

from __future__ import annotations

from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING, Opened
from helpers.answers import answer_of
from helpers.reports import html_of
from helpers.specs import PRELUDE, checked
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.serial_losses import in_series_at
from qps.compiler.quantities.certainty import Certainty, CertaintyKind
from qps.reports.pages.page_rows import first_to_saturate, resource_row
from qps.reports.text.words.certainty_marks import OTHERS_EXACT, known_lines
from qps.reports.text.words.labels import labels_of
from qps.solver.answers.answer_certainty import answer_known
from qps.solver.answers.graph_solution import solve

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

OWN = (
    "users N in 1..100\nmachine box { cpu 1 core }\ncomponent job { cpu 1 s/request }\n"
    "topology { node host = box\n node other = box }\n"
    "stream jobs { traffic LOAD * (1 request/s); at host { job } }\n"
)
UNDERFLOW = OWN.replace("LOAD", "erlang_b(N, 2) / erlang_b(N, 3) / 2")
TURNING = OWN.replace("LOAD", "abs(cos(N))")
TURNING_AND_RISING = OWN.replace("LOAD", "max(abs(cos(N)), N / 50.5)")
BEHIND = TURNING + "stream more { traffic N / 40 * (1 request/s); at other { job } }\n"


def cells(page: Opened, name: str) -> dict[str, list[str]]:
    """Return the rows of a table of the page, by the names that stand behind what is told first."""
    rows = page.run(
        """(id) => [...document.querySelectorAll(`#${id} tbody tr`)]
        .map((row) => [(row.querySelector("code") ?? row.cells[0]).textContent,
          ...[...row.cells].slice(1).map((one) => one.textContent.trim())])""",
        name,
    )
    return {row[0].split(" ")[0]: row[1:] for row in rows}


@pytest.mark.parametrize("text", [UNDERFLOW, TURNING, TURNING_AND_RISING, BEHIND])
def test_an_undecided_saturation_is_reported_as_in_the_solver(text: str, open_page: Any) -> None:
    spec = checked(text)
    answer = answer_of(spec)
    undecided = {one.name for one in answer.resources if one.saturation.not_below is not None}
    assert undecided == {"host.cpu"}
    html = html_of(spec)
    page, static = open_page(html), open_page(html, scripts=False)
    assert page.run("() => qps.shown.trouble") is None
    assert page.page.text_content("#answer") == static.page.text_content("#answer")
    assert page.page.text_content("#answer").endswith(
        labels_of(spec.model).sentence(first_to_saturate(answer))
    )
    rows = cells(page, "resources")
    for resource in answer.resources:
        row = resource_row(answer, resource, resource.name, str)
        assert row.saturates_at == rows[resource.name][1]
        assert resource.saturation_known.is_exact == (resource.name not in undecided)
    known = " ".join(page.page.inner_text("#known").split())
    assert "saturation(host.cpu)" in known
    assert "saturation of host.cpu is ruled out up to N = " in known
    (*_, result) = known_lines(answer)
    assert result == OTHERS_EXACT


def test_the_search_for_a_saturation_ends_where_queues_are_counted(open_page: Any) -> None:
    spec = checked(OWN.replace("LOAD", "erlang_b(N + 5, 3)"))
    solution = solve(lower(spec.model, spec.configuration()))
    page = open_page(html_of(spec))
    assert solution.resources[0].saturation.at is None
    assert page.run("() => qps.shown.solved.resources[0].at") is None
    assert page.run("() => qps.shown.trouble") is None


IN_A_ROW = (
    PRELUDE + "machine slow { cpu 0.5 core }\nparam pace = 1 packet/s in 0.1..9 packet/s\n"
    "topology { node near = box\n node far = slow\n link net = ports between near, far }\n"
    "stream flow {\n traffic N * pace, 125 byte/packet; at near { work }\n over net\n"
    " at far { work }\n}\n"
    "measure lost = 2 * flow.loss\n"
    "require { flow.loss <= 60 % ideal 0 %; lost <= 3 }\nquality euclidean\n"
).replace("1..100", "1..300")

REPORTED = """(n) => {
  const { run, graph } = qps.shown;
  const field = document.getElementById("population-number");
  field.value = String(n);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return [qps.shown.n, document.getElementById("requirements").textContent,
    document.getElementById("measures").textContent, document.getElementById("known").textContent];
}"""


@pytest.mark.parametrize("pace", ["1", "0.5"])
def test_losses_in_a_row_are_known_as_the_solver_knows_them(pace: str, open_page: Any) -> None:
    spec = checked(IN_A_ROW)
    graph = lower(spec.model, spec.configuration(None, [f"pace = {pace} packet/s"]))
    page = open_page(html_of(spec))
    field = "#number-pace"
    page.page.fill(field, pace)
    known = page.run("() => qps.shown.solved.known")
    assert (known or ["exact"])[0] == answer_known(solve(graph)).kind.value
    seen = set()
    for population in (40, 60, 90, 100, 101, 110, 150, 200, 201, 250):
        shown, _, measures, result = page.run(REPORTED, population)
        assert shown == population
        series = in_series_at(graph, population)
        seen.add(bool(series))
        for name, mark in (("flow.loss", "≤ "), ("lost", "≤ "), ("flow.throughput", "≥ ")):
            value = measures.partition(f"{name}")[2]
            assert value.startswith(mark) == bool(series), (population, name, measures)
        reason = "the utilization of near.cpu and far.cpu includes traffic lost at other resources"
        assert (reason in result) == bool(series)
    assert seen == {False, True}
    page.run("() => qps.drawAll()")
    assert "quality (euclidean) (upper bound)" in page.page.text_content("#picture-needs")


IN_STEP = """users N in 1..9
machine box { }
network line { rate 800 kbit/s; queueing periodic }
topology { node here = box
 node there = box
 link net = line between here, there }
param pace = 50 packet/s in 10..100 packet/s
param gain = 2 in 0..9
param loss = 1 in 0..9
param width = 3 in 1..9
stream voice { traffic N * pace, 80 byte/packet; at here { }; over net; at there { } }
stream sound { traffic N * 50 packet/s, 80 byte/packet; at here { }; over net; at there { } }
measure gained = (gain - loss) * voice.latency
measure wide = width * voice.latency
require { voice.latency <= 1 s ideal 0 s }
"""
SHOWN = """() => {
  const { solved, graph } = qps.shown, of = (known) => (known ? known[0] : "exact");
  const stated = graph.criteria.filter((one) => one.stated && one.name !== "quality");
  return {
    ...Object.fromEntries([...stated, ...graph.measures].map((one) => [one.name, of(one.known)])),
    answer: of(solved.known), quality: of(graph.qualityKnown.known),
    latency: of(graph.streams[0].latencyKnown),
    told: document.getElementById("known").textContent,
  };
}"""


UNITS = {"pace": "packet/s", "loss": ""}


def weaker(true: Certainty, shown: str) -> bool:
    """Tell whether a page says no more of a number than is so."""
    return true.is_exact or shown in (true.kind.value, CertaintyKind.APPROXIMATION.value)


def shown_with(page: Opened, name: str, value: str) -> dict[str, str]:
    """Return how a page says that numbers are known after one is typed in."""
    page.page.fill(f"#number-{name}", value)
    assert page.run("() => qps.shown.trouble") is None
    return dict(page.run(SHOWN))


def test_labels_that_rest_on_a_number_are_weaker_where_it_is_changed(open_page: Any) -> None:
    spec = checked(IN_STEP)
    page = open_page(html_of(spec))
    first = page.run(SHOWN)
    assert [first[name] for name in ("answer", "voice.latency", "quality", "gained")] == [
        "exact",
        *3 * ["upper bound"],
    ]
    for name, value, usual in (("pace", "40", "50"), ("loss", "3", "1")):
        graph = lower(spec.model, spec.configuration(None, [f"{name} = {value} {UNITS[name]}"]))
        changed = shown_with(page, name, value)
        assert weaker(graph.measures["gained"].known, changed["gained"])
        assert weaker(graph.analysis.criteria.quality_known, changed["quality"])
        assert weaker(graph.streams["voice"].latency_certainty, changed["latency"])
        assert weaker(answer_known(solve(graph)), changed["answer"])
        assert changed["gained"] == "approximation"
        assert "approximation" in changed["told"]
        assert shown_with(page, name, usual) == first
    assert shown_with(page, "width", "4") == first  # of which only the sign tells, and it stays
    page.page.fill("#number-pace", "")
    page.page.type("#number-pace", "41.5")  # the field stays while labels change
    assert page.page.input_value("#number-pace") == "41.5"
    assert page.run("() => Number(qps.shown.run.numbers.get('pace')[0])") == 83
