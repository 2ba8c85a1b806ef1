"""Visits, links and streams under conditions: as if what does not hold were not written."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from browsers.node import needs_node, run_module
from browsers.page_answers import differences
from helpers.specs import checked, lowered
from qps.api import loads
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.pipeline import check_source
from qps.compiler.syntax.format import formatted
from qps.reports.pages.live.live_page import live_page
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.worst_mode import solve_model
from qps.solver.variants.model_variants import ShownCase, model_variants
from qps.solver.what_if.advice import advise

SPEC = """users N in 1..10_000
option cached = on
option far = no or somewhat or yes
option beacons = on
param share = 50 % in 0..1
machine pod { cpu 2 core }
machine browser { }
network mesh { switched; rate 1 Gbit/s; propagation 1 ms; loss 1 % }
network wide { switched; rate 100 Mbit/s; propagation 30 ms }
component work(t) { cpu t }
topology {
  node client = browser * N
  node web    = pod * 4
  node cache  = pod * (if cached then 2 else 0)
  node db     = pod
  link edge   = mesh between client, web
  link lan    = mesh between web, cache, db
  link wan    = wide between web, db
}
stream browse for each client {
  traffic 1 request/s, 2 kB/request
  at client { }
  at web { work(1 ms/request) }
  «over lan if far == no and not cached»
  «at cache if cached { work(0.1 ms/request); call db * 20 % { work(1 ms/request) } }»
  «over wan if far != no and not cached»
  at db { work(1 ms/request) }
  «over lan if share > 70 %»
  «at web if share > 70 % { work(2 ms/request) }»
}
stream beacon for each client «if beacons» {
  traffic 1 message/s, 100 byte/message
  at client { }
  at web { work(0.1 ms/message) }
}
require { browse.latency <= 250 ms«; beacon.latency <= 100 ms» }
quality worst
"""
CHOICES = list(product(("on", "off"), ("no", "somewhat", "yes"), ("on", "off"), ("40 %", "90 %")))


def with_all(text: str = SPEC) -> str:
    """Return the spec with its conditions."""
    return text.replace("«", "").replace("»", "")


def by_hand(cached: str, far: str, beacons: str, share: str) -> str:
    """Return the spec with what does not hold left out, and all else without a condition."""
    is_on, is_near, is_late = cached == "on", far == "no", share == "90 %"
    parts = SPEC.replace("»", "«").split("«")
    stored = [is_near and not is_on, is_on, not is_near and not is_on, is_late, is_late]
    for index, holds in zip((1, 3, 5, 7, 9), stored, strict=True):
        head, brace, rest = parts[index].partition("{")
        parts[index] = f"{head.partition(' if ')[0]} {brace}{rest}" if holds else ""
    parts[11] = ""
    text = "".join(parts)
    if beacons == "off":
        start = text.index("stream beacon")
        text = text[:start] + "require { browse.latency <= 250 ms }\nquality worst\n"
    return text.replace("cached = on", "cached = on or off" if is_on else "cached = off or on")


def reported(graph: LoadGraph) -> object:
    """Return all that a load graph comes to, with the numbers that it rests on."""
    return (
        {n: (r.load, r.parts, r.throughput) for n, r in graph.resources.items()},
        {
            n: (
                [(p.stage, p.value) for p in s.latency],
                [(p.stage, p.value) for p in s.losses],
                s.rate,
                s.throughput,
            )
            for n, s in graph.streams.items()
        },
        [(c.name, c.measure, c.limit, c.axis) for c in graph.criteria],
        graph.quality,
        {n: a.value for n, a in graph.assumptions.items() if n != "share"},
    )


@pytest.mark.parametrize("chosen", CHOICES)
def test_it_is_as_what_is_written_or_left_out(chosen: tuple[str, str, str, str]) -> None:
    names = ("cached", "far", "beacons", "share")
    settings = [f"{name} = {choice}" for name, choice in zip(names, chosen, strict=True)]
    graph, plain = lowered(with_all(), *settings), lowered(by_hand(*chosen))
    assert str(reported(graph)).replace("'", "") == str(reported(plain)).replace("'", "")
    assert solve(graph).capacity == solve(plain).capacity
    assert graph.stated.absent == ({"beacon"} if chosen[2] == "off" else set())


MATRIX = """matrix all {
  cached in [on, off]
  far in [no, yes]
  beacons in [on, off]
  share in [40 %, 90 %]
}
"""


def test_every_row_of_a_matrix_is_what_solve_says() -> None:
    found = loads(with_all() + MATRIX)
    rows = found.matrix("all").to_arrow().to_pylist()
    assert len(rows) == 16
    for row in rows:
        words = {name: row[name] for name in ("cached", "far", "beacons")}
        plain = by_hand(
            words["cached"], words["far"], words["beacons"], f"{row['share'] * 100:g} %"
        )
        assert row["capacity"] == solve(lowered(plain)).capacity, row


def test_advice_tries_the_choices() -> None:
    text = with_all().replace("option cached = on", "option cached = off or on")
    spec = checked(
        text.replace("at db { work(1 ms/request) }", "at db { work(1 ms/request) if not cached }")
    )
    configuration = spec.configuration()
    tried = advise(spec.model, configuration, solve_model(spec.model, configuration))
    found = {one.change: one.capacity for one in tried}
    solved = spec.configuration(None, ["cached = on"])
    assert found["cached = on"] == solve_model(spec.model, solved).capacity


@needs_node
def test_the_page_answers_for_each_choice(tmp_path: Path) -> None:
    spec = checked(with_all())
    configuration = spec.configuration()
    page = live_page(model_variants([ShownCase(spec.model, configuration)]))["models"][0]  # type: ignore[index]
    pages, solutions = [], []
    for choices in product(("on", "off"), ("no", "yes"), ("on", "off")):
        settings = dict(zip(("cached", "far", "beacons"), choices, strict=True))
        own = json.loads(json.dumps(page))
        for at, select in enumerate(own["selects"]):
            if select["name"] in settings:
                chosen = select["choices"].index(settings[select["name"]])
                own["starts"][0]["picks"][at] = chosen
        pages.append(own)
        chosen = spec.configuration(None, [f"{name} = {one}" for name, one in settings.items()])
        solutions.append(solve_model(spec.model, chosen))
    models = tmp_path / "models.json"
    models.write_text(json.dumps(pages), "utf-8")
    printed = run_module(
        'import { readFileSync } from "node:fs";\n'
        'import { answersOf } from "./tests/scripts/answering.js";\n'
        f"const models = JSON.parse(readFileSync({json.dumps(str(models))}));\n"
        "console.log(JSON.stringify(models.map(answersOf)));"
    )
    for one, solution in zip(json.loads(printed), solutions, strict=True):
        assert one["trouble"] is None
        assert differences(one, solution) == []


def errors(text: str) -> list[Diagnostic]:
    """Return the mistakes of a text."""
    return [one for one in check_source(Source("spec.qps", text)).diagnostics if one.is_error]


def test_a_way_that_cannot_be_is_refused_where_it_is_taken() -> None:
    text = with_all().replace("over lan if far == no and not cached", "over lan if not cached")
    spec = checked(text)
    assert solve(lowered(text, "cached = off")).capacity
    with pytest.raises(QpsError, match="are not connected"):
        spec.configuration(None, ["cached = off", "far = yes"])
    base = text.replace("option cached = on", "option cached = off or on")
    (mistake,) = errors(base.replace("far = no or somewhat or yes", "far = yes or no or somewhat"))
    assert "are not connected" in mistake.message


def test_there_may_be_none_of_a_node_that_no_stream_visits_then() -> None:
    assert solve(lowered(with_all(), "cached = off")).capacity
    with pytest.raises(QpsError, match="count of `cache`"):
        checked(with_all()).configuration(None, ["cache = pod * 0"])
    called = with_all().replace(
        "at web { work(1 ms/request) }", "at web { call cache if cached { work(1 us/request) } }", 1
    )
    assert solve(lowered(called, "cached = off")).capacity


@pytest.mark.parametrize("measure", ["latency", "rate", "loss", "throughput", "jitter"])
def test_what_is_not_there_has_no_measures(measure: str) -> None:
    condition = f"beacon.{measure} >= 0 * beacon.{measure} with beacons = off"
    claim = f"expect e {{ {condition}; source model }}\n"
    with pytest.raises(QpsError, match="stream `beacon` does not exist here"):
        loads(with_all() + claim).test()


def test_a_share_and_a_load_of_what_is_not_there_are_0() -> None:
    claim = "expect e { share(beacon, edge) == 0 with beacons = off; source model }\n"
    (result,) = loads(with_all() + claim).test()
    assert result.holds


def test_formatting_keeps_conditions() -> None:
    done = formatted(Source("spec.qps", with_all()))
    assert done.value is not None
    assert done.value.count(" if ") == with_all().count(" if ")
