"""Rates within pools of several machines, where all are equally full: by one recursion."""

from __future__ import annotations

import pytest

from qps.engine.queueing_networks.load_dependent_operands import (
    EnclosingPool,
    LoadDependentPool,
    LoadDependentStation,
)
from qps.engine.queueing_networks.pool_networks import _even_rates, network_of, speeds_of

SPEEDS = (1.0, 1.9, 2.8, 3.6, 4.4, 5.1, 5.8, 6.4)
PLACES, COPIES = 20, 4


def _pool(demand: float, delay: float) -> LoadDependentPool:
    """Return a pool of four machines, each with a station of its own, and one that all share."""
    own = LoadDependentStation(
        at=1, demand=demand, servers=1, load=0.0, copies=1, speeds=SPEEDS, is_own=True
    )
    shared = LoadDependentStation(at=2, demand=0.01, servers=2, load=0.3, copies=1)
    return LoadDependentPool(
        at=0, delay=delay, places=PLACES, copies=COPIES, variation=1.0, within=(own, shared)
    )


@pytest.mark.parametrize("delay", [0.0, 0.5])
def test_rates_of_equally_full_copies_are_those_of_each_number_by_itself(delay: float) -> None:
    pool = _pool(0.2, delay)
    around = EnclosingPool(PLACES, COPIES, are_even=True)
    alone = [
        network_of(n, pool.delay, pool.within, around).rate for n in range(1, PLACES * COPIES + 1)
    ]
    assert _even_rates(pool, 1000) == pytest.approx(alone, rel=1e-12)


def test_no_network_is_solved_for_each_number_within() -> None:
    """They took 0.15 s for each pool of 220 places, of which sensitivities need some 40."""
    network_of.cache_clear()
    assert len(speeds_of(_pool(0.3, 0.1), 1000)) > PLACES * COPIES - 1
    assert network_of.cache_info().misses == 0
