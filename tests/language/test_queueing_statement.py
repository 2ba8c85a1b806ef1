"""`queueing cpu mmc, link md1`: how what arrives waits, said once for a whole spec."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import re

import pytest

from helpers.specs import checked, lowered
from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.disciplines import DISCIPLINES
from qps.solver.answers.graph_solution import solve

SPEC = """users N in 1..100000
machine api { cpu 2 core%s; disk 500 request/s%s }
machine store { cpu 2 core%s; disk 500 request/s%s }
machine client { }
network net { duplex; rate 100 Mbit/s%s }
component work { cpu 1 ms/request; disk 0.1 request/request }
topology { node user = client * N; node a = api; node b = store; link lan = net between user, a, b }
%s
stream ask for each user { traffic 1 request/s, 1 kB/request; at user { }; at a { work }; at b { work } }
require { ask.latency <= 20 ms; quantile(ask.latency, 99 %%) <= 90 ms }
"""
NOTHING = ("", "", "", "", "")


def _spec(line: str, *stated: str) -> str:
    return SPEC % (
        *(f"{', ' * (i < 4)}{'; ' * (i == 4)}queueing {s}" * bool(s) for i, s in enumerate(stated)),
        line,
    )


def _answer(text: str) -> object:
    graph = lowered(text)
    solution = solve(graph)
    latency = graph.streams["ask"].latency
    return (
        solution.capacity,
        [part.stage for part in latency],
        [graph.at(solution.at).number(c.measure) for c in graph.criteria],
    )


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("queueing cpu mmc", ("mmc", "", "mmc", "", "")),
        ("queueing cpu mmc, link md1", ("mmc", "", "mmc", "", "md1")),
        ("queueing disk mg1 cv 1.5\nqueueing link mm1", ("", "mg1 cv 1.5", "", "mg1 cv 1.5", "mm1")),
        ("queueing a.cpu mm1", ("mm1", "", "", "", "")),
        ("queueing b md1", ("", "", "md1", "md1", "")),
        ("queueing lan mm1, link md1", ("", "", "", "", "mm1")),
        ("queueing lan none, link md1, cpu mmc", ("mmc", "", "mmc", "", "")),
        # the closest one holds, in whatever order
        ("queueing b.cpu md1, b mm1, cpu mmc", ("mmc", "", "md1", "mm1", "")),
        ("queueing cpu mmc\nqueueing b mm1\nqueueing b.cpu md1", ("mmc", "", "md1", "mm1", "")),
    ],
)  # fmt: skip
def test_a_line_says_what_machines_and_networks_would(line: str, stated: tuple[str, ...]) -> None:
    assert _answer(_spec(line, *NOTHING)) == _answer(_spec("", *stated))


def test_whatever_the_discipline_what_waits_is_requested() -> None:
    for word, one in DISCIPLINES.items():
        sentence = "cpu mm1, " if word == "md1" else ""
        text = _spec(
            f"queueing {sentence}{word}{' cv 1.2' * (one.traits.variation is None)}", *NOTHING
        )
        (found,) = check_source(Source("waits.qps", text)).diagnostics
        assert found.message == f"the resource of queueing `{word}` is missing"
        assert found.primary is not None
        assert found.primary.span.text == word
        for fix in re.findall(r"`(queueing [^`]*)`", found.hints[0]):
            lowered(_spec(fix, *NOTHING))


@pytest.mark.parametrize("how", ["priority", "priority preemptive"])
def test_priorities_may_be_said_in_a_line_of_their_own(how: str) -> None:
    text = _spec(f"queueing cpu {how}", *NOTHING)
    (ranked,) = {one.queueing.discipline for one in checked(text).model.waits}
    assert ranked is ir.Discipline.PRIORITY


def test_what_a_machine_states_goes_before_all_and_after_a_place() -> None:
    own = ("md1", "", "none", "", "none")
    assert _answer(_spec("queueing cpu mmc, link mm1", *own)) == _answer(
        _spec("", "md1", "", "", "", "")
    )
    assert _answer(_spec("queueing a.cpu mmc, b.cpu mm1, lan mm1", *own)) == _answer(
        _spec("", "mmc", "", "mm1", "", "mm1")
    )


def test_it_holds_for_what_a_scenario_puts_there() -> None:
    line = _spec("queueing cpu mmc", *NOTHING) + "machine big = api with cpu 8 core\n"
    stated = _spec("", "mmc", "", "mmc", "", "") + "machine big = api with cpu 8 core\n"
    for changes in (("a=big",), ("b=api",), ("a=big", "b=big")):
        answers = [solve(lowered(text, *changes)).capacity for text in (line, stated)]
        assert answers[0] == answers[1]


def test_the_answer_states_that_waiting_is_included() -> None:
    text = _spec("queueing cpu mmc, link md1, disk md1", *NOTHING)
    assert solve(lowered(text)).graph.streams["ask"].uncounted == ()
    assert solve(lowered(_spec("", *NOTHING))).graph.streams["ask"].uncounted != ()


def test_cores_that_wait_as_one_queue_are_whole() -> None:
    text = _spec("queueing cpu mmc", *NOTHING)
    outcome = check_source(
        Source("spec.qps", text.replace("api { cpu 2 core", "api { cpu 2.5 core"))
    )
    assert ["`mmc` must be whole" in d.message for d in outcome.diagnostics] == [True]
    by_parameter = text.replace("api { cpu 2 core", "api { cpu n") + "param n = 2 core\n"
    assert solve(lowered(by_parameter, "n=4 core")).capacity
    with pytest.raises(QpsError, match="must be whole"):
        lowered(by_parameter, "n=2.5 core")
