"""The capacities that a difference compares: those that `solve` prints, of the same samples."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.specs import checked
from qps.compiler.pipeline import Spec
from qps.reports.text.changes.difference_text import (
    DifferenceView,
    difference_text,
    spec_difference_view,
)
from qps.reports.text.solutions.capacity_text import capacity
from qps.reviewing.spec_answers import answer_of, spec_answers
from qps.reviewing.thresholds import threshold
from qps.solver.answer import Answer
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.configured_answer import configured_answer
from qps.solver.spec_difference import spec_difference
from qps.solver.uncertainty import difference_intervals
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.sample_solver import SampleSolutions

SPEC = """
users N in 1..10_000
unit thread
param pool = {pool} thread in 1 thread..200 thread
param held = {held}
machine service {{ threads pool }}
component handle {{ delay held }}
topology {{ node api = service }}
stream request in all {{ traffic N * 1 request/s; at api {{ take threads; handle; give threads }} }}
require {{ {limit} }}
"""
UNSURE, SURE = "10 ms +- 10 % in 1 ms..1 s", "10 ms in 1 ms..1 s"
LOAD, SLOWEST = "api.threads.utilization <= 90 %", "request.p99 <= 20 ms"


def text_of(held: str = UNSURE, pool: int = 55, limit: str = LOAD) -> str:
    return SPEC.format(held=held, pool=pool, limit=limit)


def spec_of(held: str = UNSURE, pool: int = 55, limit: str = LOAD) -> Spec:
    return checked(text_of(held, pool, limit))


def solved(spec: Spec) -> Answer:
    return configured_answer(spec, spec.configuration(), sampling=Sampling()).answer


def compared(old: Spec, new: Spec) -> DifferenceView:
    return spec_difference_view(spec_difference(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (spec_of(), spec_of(pool=70)),
        (spec_of(limit=SLOWEST), spec_of(pool=70, limit=SLOWEST)),
        (spec_of(SURE, limit=SLOWEST), spec_of(limit=SLOWEST)),
        (spec_of(SURE, limit=SLOWEST), spec_of(SURE, pool=70, limit=SLOWEST)),
        (spec_of(), spec_of(limit=f"{LOAD}; {SLOWEST}")),
    ],
    ids=[
        "uncertain",
        "with model error",
        "one of them certain",
        "model error alone",
        "other limit",
    ],
)
def test_the_capacities_and_the_bottlenecks_are_those_that_solve_prints(
    old: Spec, new: Spec
) -> None:
    view = compared(old, new)
    assert view.headlines is not None
    for head, spec in ((view.headlines.before, old), (view.headlines.after, new)):
        alone = solved(spec)
        assert alone.headline is not None
        assert alone.at_reliable is not None
        assert head.capacity == alone.at_reliable.population
        assert head.limited_by == alone.headline.limited_by
        assert head.capacity < (alone.capacity or 0)
    fact = dict(view.pair.facts)["Capacity"]
    assert capacity(solved(new)).partition(" (")[0] in fact
    assert view.users == view.headlines.after.capacity - view.headlines.before.capacity


def test_the_nominal_capacities_are_there_as_well() -> None:
    view = compared(spec_of(), spec_of(pool=110))
    assert view.before.capacity == 4950
    assert view.nominal_users == 4950
    assert view.changes[0].share == view.nominal_users
    text = difference_text(view)
    assert "Nominal      4,950 -> 9,900 users (+4,950, +100 %)" in text
    assert "with nominal inputs, without model error" in " ".join(text.split())


def test_without_uncertain_inputs_and_model_errors_it_is_what_was_computed() -> None:
    view = compared(spec_of(SURE), spec_of(SURE, pool=54))
    assert view.headlines is None
    assert view.users == view.nominal_users == -90
    assert "Nominal" not in difference_text(view)


def test_what_both_have_is_drawn_alike_wherever_it_stands() -> None:
    """An input more before the others moves their columns, but not the capacity of the same."""
    other = "param other = 1 ms +- 50 % in 0.1 ms..1 s\nmeasure idle = other\n"
    view = compared(spec_of(), checked(text_of().replace("param pool", f"{other}param pool")))
    assert view.headlines is not None
    assert view.headlines.before == view.headlines.after


def test_what_did_not_change_is_sampled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    solve = difference_intervals.solved_for

    def counted(*arguments: object, **others: object) -> object:
        calls.append(arguments)
        return solve(*arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(difference_intervals, "solved_for", counted)
    compared(spec_of(), spec_of())
    assert len(calls) == 1
    compared(spec_of(), spec_of(pool=70))
    assert len(calls) == 3


def test_samples_are_looked_for_where_each_side_fails_as_stated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[Solution] = []
    solve = difference_intervals.solved_for

    def noted(*arguments: Any, **others: Any) -> SampleSolutions:
        begun.append(others["beginning_at"])
        return solve(*arguments, **others)

    monkeypatch.setattr(difference_intervals, "solved_for", noted)
    old, new = spec_of(), spec_of(pool=70)
    compared(old, new)
    alone = [solve_model(spec.model, spec.configuration()) for spec in (new, old)]
    assert [one.capacity for one in begun] == [one.capacity for one in alone]
    assert begun[0].capacity != begun[1].capacity


def test_thresholds_are_of_the_same_capacity() -> None:
    before, after = spec_answers(compared(spec_of(), spec_of(UNSURE.replace("10 %", "20 %"))))
    assert before.nominal_capacity == after.nominal_capacity == 4950
    reason = threshold("capacity -5 %").exceeded_by(before, after)
    assert reason is not None
    assert f"{before.capacity:,}" in reason
    assert answer_of(spec_of()).capacity == before.capacity
