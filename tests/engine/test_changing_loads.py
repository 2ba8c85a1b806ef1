"""Queues whose load changes: against exact chains solved elsewhere, and laws."""

from __future__ import annotations

from math import pi, sin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.engine.queueing import changing_load_arrays
from qps.engine.queueing.changing_load_arrays import LoadStep, waits_at_ends
from qps.engine.queueing.erlang_numbers import inverse_erlang

STEPS = 200
SINES = [
    # servers, mean rate, relative amplitude, cycle: the largest mean wait, and where it is
    (10, 7.0, 0.2, 5, 0.1172, 0.25 + 0.196),
    (10, 7.0, 0.2, 100, 0.2881, 0.25 + 0.046),
    (10, 7.5, 0.25, 100, 0.7441, 0.25 + 0.079),
    (4, 2.4, 0.5, 1000, 1.8228, 0.25 + 0.029),
    (50, 40.0, 0.15, 20, 0.0673, 0.25 + 0.096),
    (4, 3.2, 0.5, 100, 6.3486, 0.25 + 0.171),
]
"""Differential equations of M(t)/M/c, solved by others; times in service times."""


@pytest.mark.parametrize(("servers", "mean", "amplitude", "cycle", "wait", "place"), SINES)
def test_the_largest_wait_of_a_cycle_is_that_of_the_exact_chain(
    servers: int, mean: float, amplitude: float, cycle: float, wait: float, place: float
) -> None:
    rates = [mean * (1 + amplitude * sin(2 * pi * (n + 0.5) / STEPS)) for n in range(STEPS)]
    found = waits_at_ends(servers, [LoadStep(cycle / STEPS, rate) for rate in rates])
    assert found is not None
    assert max(found) == pytest.approx(wait, rel=0.005)
    assert (found.index(max(found)) + 1) / STEPS == pytest.approx(place, abs=0.015)


@given(st.integers(1, 20), st.floats(0.05, 0.95))
def test_a_constant_load_is_the_steady_state(servers: int, load: float) -> None:
    found = waits_at_ends(servers, [LoadStep(7.0, load * servers), LoadStep(3.0, load * servers)])
    assert found is not None
    waits_too = 1 / (inverse_erlang(servers, load * servers) * (1 - load) + load)
    steady = waits_too / (servers * (1 - load))
    assert found == pytest.approx([steady, steady], rel=1e-3, abs=1e-9)


@given(st.lists(st.floats(0.0, 0.98), min_size=2, max_size=6), st.floats(0.1, 50))
def test_no_wait_is_longer_than_that_of_the_highest_load_for_ever(
    loads: list[float], duration: float
) -> None:
    found = waits_at_ends(3, [LoadStep(duration, 3 * load) for load in loads])
    most = waits_at_ends(3, [LoadStep(duration, 3 * max(loads))])
    assert found is not None
    assert most is not None
    assert max(found) <= most[0] * (1 + 1e-4) + 1e-9


def test_a_backlog_that_cannot_be_counted_is_left_to_others() -> None:
    assert waits_at_ends(10, [LoadStep(3600, 1_000), LoadStep(3600, 1)]) is None


def test_a_queue_that_hardly_forgets_its_past_is_not_followed_for_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(changing_load_arrays, "_MOST_SUMS", 100)
    nearly_full, hardly_used = LoadStep(1e6, 3.996), LoadStep(1e6, 1.0)
    assert waits_at_ends(4, [hardly_used]) is not None
    assert waits_at_ends(4, [nearly_full, hardly_used]) is None
