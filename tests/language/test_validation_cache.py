"""What was looked at in one configuration is not looked at again: nothing is missed by that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.specs import PRELUDE, checked
from qps.compiler import ir
from qps.compiler.configure.configuration import base_configuration, changed, in_force
from qps.compiler.configure.placement import Placement
from qps.compiler.configure.validation_cache import Meanings, names_in
from qps.compiler.diagnostics.diagnostic import Diagnostic, Sink
from qps.compiler.quantities.dimension import DIMENSIONLESS

SPEC = (
    PRELUDE
    + """\
machine bare { disk 10 Mbit/s }
machine small { cpu 5 score }
network cable { rate far * 1 Mbit/s }
network slow { rate 10 Mbit/s; header 40 byte/packet }
param share = 50 % in 0 %..100 %
param double = 2 * share in 0 %..300 %
param steps = { average 2; largest 3 }
param far = 10 in 1..100
param near = far / 2 in 1..60
param few = 3
option extra = off
option more = off
group room of few * 2 users
component picky { cpu 1 ms/packet measured on box; keep double / 4 }
component writing { disk 1 byte/byte }
topology {
  node host = box * ceil(near / 50)
  node store = bare * few
  link lan = cable between host, store
}
stream flow in all {
  traffic N * 1 packet/s, 100 byte/packet
  at host { picky * steps; picky if extra and share > 10 % }
  over lan
  at store { writing if more }
}
stream talk for few in each room { traffic 1 packet/s, 100 byte/packet; at host { picky } }
"""
)
CHANGES = [
    "share = 20 %", "share = 90 %", "share = 120 %", "double = 80 %", "double = 500 %", "far = 4",
    "far = 90", "far = -3", "near = 55", "near = 99", "few = 2", "few = 0", "few = 2.5", "few = 3",
    "steps = 4", "steps = -1", "extra = on", "more = on", "host = small", "host = bare",
    "host = box * (few - 3)", "store = box", "store = small * few", "lan = slow",
    "lan = slow * (far - 9.5)", "N = 2..5", "N = 7", "case = largest", "case = least",
    "few = -(far)", "far = few * 3",
]  # fmt: skip

MODEL_SPEC = checked(SPEC)
MADE = {change: MODEL_SPEC.changes([change])[0] for change in CHANGES}


def found(placement: Placement, changes: list[str]) -> list[Diagnostic]:
    made = [MADE[text] for text in changes]
    sink = Sink()
    placement.check(changed(base_configuration(MODEL_SPEC.model), made), sink)
    return sink.found


configurations = st.lists(st.sampled_from(CHANGES), max_size=3)


@given(st.lists(configurations, min_size=2, max_size=6))
def test_validations_before_change_none_of_the_next(requested: list[list[str]]) -> None:
    shared = Placement(MODEL_SPEC.model)
    for changes in requested:
        assert found(shared, changes) == found(Placement(MODEL_SPEC.model), changes)


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_after_the_spec_itself(change: str) -> None:
    shared = Placement(MODEL_SPEC.model)
    assert found(shared, []) == []
    assert found(shared, [change]) == found(Placement(MODEL_SPEC.model), [change])
    assert found(shared, []) == []


def test_the_changes_are_of_both_kinds() -> None:
    wrong = [change for change in CHANGES if found(Placement(MODEL_SPEC.model), [change])]
    assert 8 < len(wrong) < len(CHANGES) - 8


def moved(*changes: str) -> set[str]:
    made = MODEL_SPEC.changes(changes)
    configuration = changed(base_configuration(MODEL_SPEC.model), made)
    return set(Meanings(MODEL_SPEC.model).moved(in_force(configuration)))


def test_what_rests_on_a_change_is_moved_by_it() -> None:
    assert moved() == set()
    assert moved("N = 3", "case = largest") == set()
    assert moved("share = 20 %") == {"share", "double"}
    assert moved("few = 2") == {"few", "room", "store"}
    assert moved("far = 90") == {"far", "near", "host"}
    assert moved("extra = on", "lan = slow") == {"extra", "lan"}


def test_names_stand_in_conditions_too() -> None:
    compares = ir.Compare("<", ir.NodeCount("n"), ir.Members("g"), DIMENSIONLESS)
    condition = ir.AllOf((ir.OptionIs("o", "on"), compares))
    choice = ir.Choice(ir.Negated(condition), ir.ParameterValue("a"), ir.GroupCount("h"))
    assert names_in(choice, None) == {"o", "n", "g", "a", "h"}
