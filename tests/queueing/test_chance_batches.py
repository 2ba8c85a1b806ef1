"""Calls that are made several times at once, and each of which does by chance what it does."""

from __future__ import annotations

import pytest

from helpers.specs import lowered
from oracles.chance_batches import mean_wait
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind

SPEC = """users N in 1..9
machine idle {{ }}
machine server {{ cpu 1 core, queueing {queueing} }}
network wire {{ propagation 0 s }}
component short {{ cpu 10 ms/request }}
component long {{ cpu 20 ms/request }}
component pause {{ delay 50 ms }}
topology {{ node root = idle; node web = server * {machines}; link lan = wire between root, web }}
stream page in all {{ traffic N * 1 request/s; {event} at root {{ {steps} }} }}
measure wait = web.cpu.wait
measure queue = web.cpu.queue
"""
SHORT, LONG = 10e-3, 20e-3


def graph(steps: str, machines: int = 1, queueing: str = "mm1", event: str = "") -> LoadGraph:
    return lowered(SPEC.format(steps=steps, machines=machines, queueing=queueing, event=event))


def wait_and_kind(of: LoadGraph, users: int = 5) -> tuple[float, CertaintyKind]:
    one = of.measures["wait"]
    return float(of.at(users).number(one.value)), one.known.kind


@pytest.mark.parametrize("queueing", ["mm1", "md1", "mg1 cv 2"])
@pytest.mark.parametrize(
    ("steps", "machines", "batches", "services"),
    [
        ("6 { call web { short } }", 1, [(1, 6)], [(1, SHORT)]),
        ("6 { call web { 50 %: short } }", 1, [(1, 6)], [(0.5, SHORT), (0.5, 0)]),
        ("6 { call web * 20 % { short } }", 1, [(1, 6)], [(0.2, SHORT), (0.8, 0)]),
        ("6 { call web { short; 20 %: long } }", 1, [(1, 6)], [(0.8, SHORT), (0.2, 30e-3)]),
        (
            "4 { call web { one of { 30 %: short; 50 %: long } } }",
            1,
            [(1, 4)],
            [(0.3, SHORT), (0.5, LONG), (0.2, 0)],
        ),
        ("7 { call web { short } }", 2, [(0.5, 3), (0.5, 4)], [(1, SHORT)]),
        ("8 { call web { 50 %: short } }", 3, [(2 / 3, 3), (1 / 3, 2)], [(0.5, SHORT), (0.5, 0)]),
        ("3 { call web { 50 %: short } }", 3, [(1, 1)], [(0.5, SHORT), (0.5, 0)]),
    ],
)
def test_copies_wait_for_those_that_come_with_them(
    steps: str,
    machines: int,
    batches: list[tuple[float, int]],
    services: list[tuple[float, float]],
    queueing: str,
) -> None:
    varies = {"mm1": 1, "md1": 0}.get(queueing, 2)
    found, kind = wait_and_kind(graph(f"together {steps}", machines, queueing))
    assert found == pytest.approx(mean_wait(5, batches, services, varies), rel=1e-12)
    assert kind is CertaintyKind.EXACT


def test_copies_of_one_item_see_one_outcome_of_its_event() -> None:
    """All six are served, or none: the batches are whole, and half as many."""
    of = graph("together 6 { call web { hit: short } }", event="event hit = 50 %;")
    found, kind = wait_and_kind(of)
    assert found == pytest.approx(mean_wait(2.5, [(1, 6)], [(1, SHORT)]), rel=1e-12)
    assert kind is CertaintyKind.EXACT


@pytest.mark.parametrize(
    "steps",
    [
        "50 %: pause; short",
        "one of { 30 %: { pause; short }; else: long }",
        "50 %: { short; pause }; long",
        "short; pause; long",
    ],
)
def test_copies_that_come_at_different_times_are_no_batch(steps: str) -> None:
    _, kind = wait_and_kind(graph(f"together 6 {{ call web {{ {steps} }} }}", 1), 2)
    assert kind is CertaintyKind.APPROXIMATION


def test_all_copies_may_pause_before_they_come() -> None:
    of = graph("together 6 { call web { pause; 50 %: short } }")
    assert wait_and_kind(of) == wait_and_kind(graph("together 6 { call web { 50 %: short } }"))


def test_copies_that_differ_make_the_law_of_a_batch_an_approximation() -> None:
    of = graph("together 6 { call web { 50 %: short } }").streams["page"]
    assert of.latency_certainty.kind is CertaintyKind.APPROXIMATION
    alike = graph("together 6 { call web { short } }").streams["page"]
    assert alike.latency_certainty.kind is CertaintyKind.UPPER_BOUND


def test_servers_that_are_shared_serve_fewer_of_a_batch_by_chance() -> None:
    """Kleinrock, Muntz and Rodemich (1971): R = s (1 + others/2)/(1 - load) of exponential ones."""
    of = graph("together 6 { call web { 50 %: short } }", queueing="ps")
    found, _ = wait_and_kind(of)
    busy, others = 5 * 6 * 0.5 * SHORT, 5 * 0.5
    assert found == pytest.approx(SHORT * (1 + others / 2) / (1 - busy) - SHORT, rel=1e-12)
