"""A graph that is kept, with other numbers put in, is the one that would be lowered."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from helpers.nightly import examples
from helpers.specs import PRELUDE, checked
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, base_configuration, changed
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import load
from qps.engine.expressions.formulas import number

law = settings(max_examples=examples(100), deadline=None)
SPECS = Path(__file__).parents[2] / "specs"
SPEC = checked(
    PRELUDE
    + """\
network cable { rate 10 Mbit/s }
param size = 100 byte/packet in 10..1000 byte/packet
param share = 50 % in 0 %..100 %
param double = 2 * share in 0 %..150 %
param cost = 1 ms/packet
param most = 20 ms
param best = 0 ms
param pace elastic 1..50 packet/s
param steps = { average 2; largest 3 }
kinds audience of users { calm 3; busy 1 }
param pause by audience { calm 2; busy 6 }
option extra = off
costs measured on rated
component picky { cpu cost * steps; keep double / 2 }
component heavy { cpu 2 ms/packet }
topology {
  node host = rated
  link lan = cable between host
}
stream flow {
  traffic N * pace, size
  at host { picky; heavy if extra and size > 200 byte/packet }
  over lan
  at host { picky * pause }
}
measure double_latency = 2 * flow.latency - best
require { flow.latency <= most ideal best; host.cpu.load <= 90 % }
"""
)
SETTINGS = [
    "size = 100 byte/packet", "size = 150 byte/packet", "size = 300 byte/packet",
    "size = 2000 byte/packet", "share = 0 %", "share = 50 %", "share = 70 %", "share = 90 %",
    "cost = 0.1 ms/packet", "cost = 2 ms/packet", "most = 0 ms", "most = 5 ms", "best = 5 ms",
    "pace = 1 packet/s", "pace = 5 packet/s", "pause.busy = 2", "pause.busy = 3", "steps = 4",
    "extra = on", "N = 5..50", "case = largest", "host = twice", "pause = 5",
    "cost = most / 20 packet",
]  # fmt: skip
CHANGES = [change for text in SETTINGS for change in SPEC.changes([text])]


def found(model: ir.Model, configuration: Configuration) -> LoadGraph | str:
    try:
        return lower(model, configuration)
    except QpsError as error:
        return str(error)


def test_a_cached_graph_with_other_numbers_is_the_one_that_is_lowered() -> None:
    slow, fast = (
        SPEC.configuration(None, numbers)
        for numbers in (
            ["pace = 1 packet/s", "cost = 2 ms/packet"],
            ["pace = 5 packet/s", "cost = 0.1 ms/packet"],
        )
    )
    one, other = (lower(SPEC.model, each, by_points=False) for each in (slow, fast))
    assert other.resources is one.resources
    assert other.assumptions["cost"].text == "0.1 ms/packet"
    assert other.assumptions["cost"].value is number(Fraction(1, 10_000))


@law
@given(st.lists(st.lists(st.sampled_from(CHANGES), max_size=4), min_size=2, max_size=6))
def test_what_was_lowered_before_makes_no_difference(requested: list[list[ir.Change]]) -> None:
    shared = structs.replace(SPEC.model)
    for changes in requested:
        configuration = changed(base_configuration(shared), changes)
        result = found(shared, configuration)
        assert result == found(structs.replace(SPEC.model), configuration)


@pytest.mark.parametrize("name", ["flying", "virtual_cockpit", "mtp", "iri"])
def test_claims_of_a_spec_are_lowered_alike_one_by_one(name: str) -> None:
    shared = load(SPECS / f"{name}.qps").model
    claims = [claim for expectation in shared.expectations for claim in expectation.claims]
    for changes in dict.fromkeys(claim.changes for claim in claims):
        configuration = changed(base_configuration(shared), changes)
        assert found(shared, configuration) == found(structs.replace(shared), configuration)
