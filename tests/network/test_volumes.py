"""What links and network cards carry: bit/s beside loads, volumes beside rates."""

# ruff: noqa: E501 - specs: one statement a line, however long

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.answers import answer_of
from helpers.breakdowns import explain
from helpers.nightly import examples
from helpers.specs import PRELUDE, at, checked, lowered
from helpers.strategies import Drawn, drawn_specs
from oracles.plain_model import plain_model
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.lowering import lower
from qps.reports.text.explanations.explanation_text import explanation_text
from qps.reports.text.solutions.answer_text import solve_text
from qps.solver.answers.worst_mode import solve_model

TWO = "topology { node web = card * 2\n node user = box * N\n link net = %s between web, user }\n"
FLOW = (
    "machine card { nic 10 Mbit/s, idle 5 %%; disk 100 request/s }\ncomponent out { nic 1 byte/byte; disk 1 request/packet }\n"
    + TWO
    + "stream flow for each user { traffic 1 packet/s, 125 byte/packet; at web { out }\n at user { } }\n"
)

# medium, resource, bit/s of one of them with 6 users of 1 kbit/s, how many there are
CARRIED = [
    ("wire", "net", 6000, 1),
    ("wire * 3", "net", 2000, 3),
    ("pair", "net.forth", 6000, 1),
    ("pair * 2", "net.forth", 3000, 2),
    ("ports", "net.web.out", 3000, 2),
    ("ports", "net.user.in", 1000, 6),
    ("ports * 2", "net.web.out", 1500, 4),
    # 3 flows on each of two machines, and 5 % of 10 Mbit/s are always there
    ("wire", "web.nic", 3000 + 500_000, 2),
    ("wire", "web.disk", None, 1),
]  # fmt: skip


@pytest.mark.parametrize(("medium", "name", "rate", "count"), CARRIED)
def test_what_is_carried_is_counted_by_hand(
    medium: str, name: str, rate: int | None, count: int
) -> None:
    graph = lowered(PRELUDE + FLOW % medium)
    resource = graph.resources[name]
    if rate is None:
        assert resource.throughput is None
        return
    assert resource.throughput is not None
    assert at(graph, resource.throughput, 6) == rate
    assert at(graph, resource.count, 6) == count


def test_headers_are_carried_too() -> None:
    text = "network head { rate 1 Mbit/s; header 25 byte/packet }\n" + PRELUDE + FLOW % "head"
    assert at(lowered(text), lowered(text).resources["net"].throughput, 6) == 6 * 1200


def test_measures_of_throughput_and_volume() -> None:
    text = (
        PRELUDE
        + FLOW % "ports"
        + (
            "measure outward = net.web.out.throughput\nmeasure most = net.throughput\n"
            "measure hourly = net.web.out.throughput * 1 hour\nmeasure card_rate = web.nic.throughput\n"
        )
    )
    graph = lowered(text)
    by_name = {name: at(graph, measure.value, 6) for name, measure in graph.measures.items()}
    assert by_name == {"outward": 3000, "most": 3000, "hourly": 3000 * 3600, "card_rate": 503_000}


def test_a_link_that_nothing_crosses_carries_nothing() -> None:
    text = PRELUDE + FLOW % "ports" + "measure spare = other.throughput\n"
    graph = lowered(
        text.replace("link net", "link other = wire between web, user\n link net").replace(
            "at user { } }", "over net\n at user { } }"
        )
    )
    assert at(graph, graph.measures["spare"].value, 6) == 0


def test_throughput_of_what_carries_no_bits_is_refused() -> None:
    with pytest.raises(QpsError, match=r"`user\.cpu` has no throughput in bit/s"):
        lowered(
            PRELUDE
            + FLOW.replace("at user { }", "at user { work }") % "ports"
            + "measure x = user.cpu.throughput\n"
        )


def test_a_requirement_on_a_throughput() -> None:
    text = PRELUDE + FLOW % "ports" + "require { net.web.out.throughput <= 10 kbit/s }\n"
    spec = checked(text)
    solution = solve_model(spec.model, spec.configuration())
    assert solution.capacity == 20


def test_elastic_rates_are_carried_as_they_settle() -> None:
    text = PRELUDE + (
        "param pace elastic 1..1000 packet/s\ntopology { node user = box * N\n node web = box\n link net = wire between user, web }\n"
        "stream flow for each user { traffic pace, 125 byte/packet; at user { }\n at web { } }\n"
    )
    graph = lowered(text)
    assert at(graph, graph.resources["net"].throughput, 50) == 10**6
    assert at(graph, graph.resources["net"].throughput, 1) == 10**6
    assert (
        at(
            lowered(text, "pace = 2 packet/s"),
            lowered(text, "pace = 2 packet/s").resources["net"].throughput,
            50,
        )
        == 100_000
    )


def test_the_text_lists_volumes() -> None:
    spec = checked(PRELUDE + FLOW % "ports" + "require { net.web.out.throughput <= 10 kbit/s }\n")
    answer = answer_of(spec)
    text = solve_text(answer, "x")
    reported_rows = [line.split() for line in text.splitlines()]
    assert [
        "net.web.out",
        "10",
        "kbit/s",
        "4.5",
        "MB",
        "3.29",
        "GB",
        "each",
        "of",
        "2",
    ] in reported_rows
    rows = {row.resource: row for row in answer.traffic}
    assert rows["net.web.out"].byte_per_hour == 4.5e6
    assert rows["net.web.out"].byte_per_month == pytest.approx(4.5e6 * 730.5)
    assert (rows["net.user.in"].bit_per_s, rows["net.user.in"].count) == (1000, 20)


def test_json_lists_traffic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.qps"
    path.write_text(PRELUDE + FLOW % "wire")
    main(["solve", str(path), "--format", "json", "--no-advice"])
    carried = json.loads(capsys.readouterr().out)["traffic"]
    assert [entry["resource"] for entry in carried] == ["web.nic", "net"]
    assert set(carried[0]) == {
        "resource",
        "bit_per_s",
        "byte_per_hour",
        "byte_per_month",
        "count",
        "known",
    }


def test_explain_states_a_throughput() -> None:
    text = explanation_text(explain(lowered(PRELUDE + FLOW % "ports"), "net.web.out.throughput", 6))
    assert "throughput, in bit/s" in text
    assert "3 kbit/s at N = 6" in text


@settings(max_examples=examples(40), deadline=None)
@given(drawn_specs(), st.integers(2, 200))
def test_what_is_carried_is_the_load_of_the_rate(spec: Drawn, population: int) -> None:
    whole = checked(spec.text)
    graph = lower(whole.model, whole.configuration())
    plain = plain_model(whole.model, whole.configuration(), population)
    carried = {n: r.throughput for n, r in graph.resources.items() if r.throughput is not None}
    assert set(carried) == {name for name in graph.resources if name.startswith("lan")}
    for name, throughput in carried.items():
        assert at(graph, throughput, population) == plain.carried[name]
        load = at(graph, graph.resources[name].load, population)
        assert at(graph, throughput, population) == load * Fraction(spec.rate * 10**6)
