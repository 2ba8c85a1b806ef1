"""Backlogs of a fluid: by hand, by small steps, and against exact Markov chains."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.solver.profiles.fluid_backlog import LoadPeriod, backlogs

OUTAGES = [
    # servers, rate of one, arrivals, outage: exact mean backlog, s until half and until a tenth
    (4, 125, 400, 0.5, 201.59, 1.0081, 1.9897),
    (4, 125, 450, 2, 906.69, 9.0669, 16.8983),
    (40, 12.5, 400, 2, 792.48, 3.9624, 7.2355),
    (10, 1, 8, 100, 799.64, 199.9092, 365.0688),
]
"""Birth-death chains after an outage, solved exactly."""


@pytest.mark.parametrize(
    ("servers", "rate", "arrivals", "outage", "backlog", "half", "tenth"), OUTAGES
)
def test_an_outage_clears_as_in_exact_chains(
    servers: int,
    rate: float,
    arrivals: float,
    outage: float,
    backlog: float,
    half: float,
    tenth: float,
) -> None:
    capacity = servers * rate
    load = arrivals / capacity
    # Without servers, work arrives beside no capacity: a load that is larger by 1.
    periods = [LoadPeriod(0, outage, 1 + load), LoadPeriod(outage, 1000 * outage, load)]
    ends, (peak,) = backlogs(periods)
    assert ends[0] * capacity == pytest.approx(backlog, rel=0.1)
    assert peak.worst == ends[0]
    assert peak.cleared_at is not None
    empty = peak.cleared_at - peak.worst_at
    assert empty == pytest.approx(arrivals * outage / (capacity - arrivals))
    assert empty / 2 == pytest.approx(half, rel=0.12)
    assert 0.9 * empty == pytest.approx(tenth, rel=0.12)


def test_two_peaks_may_be_one_backlog_or_two() -> None:
    periods = [
        LoadPeriod(0, 2, 1.5),
        LoadPeriod(2, 3, 0.5),
        LoadPeriod(3, 4, 2),
        LoadPeriod(4, 24, 0),
    ]
    ends, (one,) = backlogs(periods)
    assert ends == [1, 0.5, 1.5, 0]
    assert (one.start, one.worst_at, one.worst, one.cleared_at) == (0, 4, 1.5, 5.5)
    periods[1] = LoadPeriod(2, 3, 0)
    _, peaks = backlogs(periods)
    assert [(one.start, one.cleared_at) for one in peaks] == [(0, 3), (3, 5)]


def test_a_backlog_goes_on_into_the_next_cycle() -> None:
    _, (peak,) = backlogs([LoadPeriod(0, 20, 0.5), LoadPeriod(20, 24, 2)])
    assert (peak.start, peak.worst_at, peak.worst, peak.cleared_at) == (20, 24, 4, 32)


def test_a_mean_load_above_capacity_never_clears() -> None:
    _, (peak,) = backlogs([LoadPeriod(0, 12, 0.5), LoadPeriod(12, 24, 1.6)])
    assert peak.cleared_at is None


@given(st.lists(st.integers(0, 30), min_size=2, max_size=24))
def test_small_steps_give_the_same_backlog(loads: list[int]) -> None:
    periods = [LoadPeriod(n, n + 1, load / 10) for n, load in enumerate(loads)]
    ends, peaks = backlogs(periods)
    if sum(loads) > 10 * len(loads):
        assert peaks[0].cleared_at is None
        return
    # In tenths of a period: each brings `load - 10` hundredths, and nothing falls below zero.
    waiting, found = 0, []
    for cycle in range(4):
        for load in loads:
            for _ in range(10):
                waiting = max(0, waiting + load - 10)
            found += [waiting / 100] if cycle == 3 else []
    assert ends == pytest.approx(found, abs=1e-9)
