"""Limits of quantiles along many rows: one look at what is late, and the same capacity."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.specs import checked
from qps.engine.distributions.sum_lateness import lateness
from qps.engine.distributions.sum_numbers import stages_quantile
from qps.engine.execution.array_runs import Values
from qps.engine.numerics.array_blocks import Array
from qps.engine.operations import OPERATIONS
from qps.solver.matrix.limits import first_failures
from qps.solver.matrix.limits.late_shares import LateShare
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_ranges import MatrixSolver

FIXED, EXPONENTIAL = (0, 0, 0, 0, 1, 1.0, 0, 1, 0), (0, 0, 0, 0, 1, 1.0, 1, 1, 0)
QUEUE = (0.5, 0.5, 1.0, 1, 1, 1.0, 1, 1, 0)
CHOICE = ((0, 0, 0, 1, 1, 0, 0, 1, -2), (0, 0, 0, 0, 1, 3.0, 0, 0.3, 0), (*QUEUE[:7], 0.7, 0))
LINES = {
    "a queue": (QUEUE,),
    "a queue behind a fixed time": (FIXED, QUEUE),
    "a fixed time by chance": ((*FIXED[:7], 0.2, 0), EXPONENTIAL),
    "one of two": CHOICE,
    "fixed services": ((0.7, 0.7, 1.0, 0, 1, 1.0, 0, 1, 0),),
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("level", [0.5, 0.99])
def test_what_is_late_changes_sign_at_the_quantile(name: str, level: float) -> None:
    line = [float(one) for stage in LINES[name] for one in stage]
    quantile = stages_quantile(level, *line)
    times = quantile * np.array([0.5, 1 - 1e-6, 1 + 1e-6, 2.0])
    found = lateness(times, level, *line)
    assert list(found > 0) == [True, True, False, False]
    assert list(found) == sorted(found, reverse=True)
    assert -1 <= found.min() <= found.max() <= 1


def test_what_has_no_law_is_not_reported() -> None:
    full = (1.0, 1.0, *QUEUE[2:])
    assert lateness(1.0, 0.9, *full) == np.inf
    assert np.isnan(lateness(1.0, 0.9, *QUEUE[:5]))
    assert np.isnan(lateness(1.0, 1.0, *QUEUE))
    assert np.isnan(lateness(1.0, 0.9, -1.0, *QUEUE[1:]))


def test_rows_of_unlike_ways_are_as_each_of_them() -> None:
    lines = [[*FIXED[:7], share, 0, *QUEUE] for share in (0.0, 0.2, 1.0)]
    several = lateness(4.0, 0.9, *np.array(lines, dtype=float).T)
    assert several == pytest.approx([float(lateness(4.0, 0.9, *line)) for line in lines])


SPEC = """
users N in 1..100_000
param cost = 20 us/request in 10 us/request .. 40 us/request
machine store { cpu 1 core, queueing %s }
network lan { propagation 0.1 ms }
component get { cpu cost }
component scan { cpu 31 ms/request }
topology { node redis = store; node front = store; link net = lan between all }
stream commands in all { traffic N * 0.1 request/s, 100 byte/request; at redis { %s } }
require { %s }
matrix many { cost in 10..40 us/request, 7 values }
"""
STEPS = ("get; 1.4 %: scan", "one of { 30 %: scan; else: call front { get } }")
NAMES = ("commands.p99 <= 100 ms", "commands.p50 + 1 ms <= 2 ms", "2 * commands.p99 <= 200 ms")


def capacities(text: str) -> list[int]:
    model = checked(text).model
    compiled = compile_matrix(model, model.matrices[-1])
    blocks = MatrixSolver(compiled).row_blocks(0, compiled.size)
    return [int(one) for rows in blocks for one in rows.largest]


def capacities_by_both(text: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the capacities of rows by what is late; they are those by quantiles."""
    looked = []
    found_of = LateShare.found
    monkeypatch.setattr(LateShare, "found", lambda *of: looked.append(1) or found_of(*of))
    found = capacities(text)
    assert looked
    monkeypatch.setattr(LateShare, "of", staticmethod(lambda *_: None))
    assert found == capacities(text)
    return found


@pytest.mark.parametrize("limit", NAMES)
@pytest.mark.parametrize("steps", STEPS)
def test_capacities_are_those_of_the_quantiles_themselves(
    steps: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether limits follow from what is late, or from quantiles, the same is found."""
    found = capacities_by_both(SPEC % ("md1", steps, limit), monkeypatch)
    assert found[0] > 1


GUARDED = """
users N in 1..100_000
param cost = 1 ms/request in 0.5 ms/request .. 2 ms/request
machine leaf { cpu 1 core, queueing mm1 }
machine box { cpu 8 core, queueing mmc }
network lan { propagation 0.1 ms }
component work { cpu cost }
component merged { cpu 2 ms/request }
topology { node root = box * 4; node leaves = leaf * 100; link net = lan between all }
stream asks in all {
  traffic N * 0.1 request/s, 100 byte/request
  at root { together %s { call leaves { work } }; merged }
}
require { %s }
matrix many { cost in 500..2000 us/request, 7 values }
"""


@pytest.mark.parametrize("limit", ["asks.p99 <= 100 ms", "3 * asks.p50 + 1 ms <= 90 ms"])
@pytest.mark.parametrize("calls", ["100", "100, first 95 answers"])
def test_capacities_of_quantiles_that_are_guarded_by_their_mean(
    calls: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quantiles of many calls are no longer than Markov's inequality says: both are looked at."""
    found = capacities_by_both(GUARDED % (calls, limit), monkeypatch)
    assert found[0] > found[-1] > 1


def test_capacities_of_calls_that_are_summed_over_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Services of one length, and a step besides: the share that is late is a sum, too."""
    text = GUARDED % ("9", "asks.p99 <= 100 ms")
    text = text.replace("queueing mm1", "queueing md1").replace("7 values", "2 values")
    found = capacities_by_both(text, monkeypatch)
    assert found[0] > found[-1] > 1


def test_what_is_less_than_a_quantile_decides_where_that_is_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is looked at only where the quantile fails; so are rows of which it is always computed."""

    def always_late(time: Array, *_: Array) -> Array:
        return np.ones(np.shape(time))

    text = GUARDED % ("100", "asks.p99 <= 2 s")
    own = capacities(text)
    monkeypatch.setitem(vars(OPERATIONS["order_quantile"]), "lateness", always_late)
    alone = capacities(text)
    monkeypatch.setattr(first_failures, "_latest", first_failures._each)
    assert alone == capacities(text)
    assert own[-1] > alone[-1] > 1


def test_limits_of_one_quantile_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shortest one decides."""
    limits = "commands.p99 <= 100 ms; commands.p99 <= 60 ms; commands.p99 / 2 <= 45 ms"
    text = SPEC % ("md1", STEPS[0], limits)
    found = capacities_by_both(text, monkeypatch)
    monkeypatch.undo()
    assert found == capacities(text.replace("commands.p99 <= 100 ms; ", ""))
    times: list[Array] = []
    found_of = LateShare.found

    def counted(late: LateShare, values: Values, time: Array) -> Array:
        times.append(time)
        return found_of(late, values, time)

    monkeypatch.setattr(LateShare, "found", counted)
    assert found == capacities(text)
    assert np.concatenate([np.ravel(time) for time in times[:4]]).max() < 0.061


def test_a_load_of_kinds_of_services_grows_with_the_population() -> None:
    """That it is met up to some point, and never behind it, is proven for all rows at once."""
    model = checked(SPEC % ("md1", STEPS[0], NAMES[0])).model
    compiled = compile_matrix(model, model.matrices[-1])
    modes = [mode for block in compiled.blocks for group in block.groups for mode in group.modes]
    assert modes
    assert all(all(mode.proven) for mode in modes)
