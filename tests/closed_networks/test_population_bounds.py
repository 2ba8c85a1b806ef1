"""Bounds of networks of which only the customers move, against networks solved one by one."""

import numpy as np
import pytest

from helpers.specs import lowered
from qps.engine.evaluators import on_bounds, population_bounds
from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.queueing_networks import load_dependent_mva, pool_networks
from qps.solver.answers.graph_solution import solve

NETWORKS = [
    (1.0, [1, 0.0, 2, 1, 3, -2, 0.04, 1, 0, 3]),  # a pool of several copies, each with a station
    (0.3, [1, 0.01, 4, 1, 1, 0, 0.05, 1, 0.2, 1, 0, 0.02, 3, 0.5, 1]),  # and open visits
    (2.0, [0, 0.1, 4, 0, 1, -1, 0, 7, 0, 1, -1, 0, 2, 0, 1, 0, 0.03, 1, 0, 2]),  # that slows down
    (0.0, [2, 0.01, 3, 1, 1, 1, 0.02, 2, 1, 2, -2, 0.05, 1, 0, 2, 0, 0.004, 1, 0, 1]),  # nested
]
"""Think times and groups, as `load_dependent_operands` has them."""


@pytest.mark.parametrize(("think", "groups"), NETWORKS)
@pytest.mark.parametrize("which", [None, 0, -1])
def test_a_range_of_customers_is_bounded_tightly(think, groups, which):
    random = np.random.default_rng(3)
    low = np.array([0, 1, 7, 40, 3.5, 60.25, *np.floor(random.uniform(0, 90, 12))])
    high = low + np.array([1, 0, 30, 0.5, 0, 2, *random.uniform(0, 30, 12)])
    others = [Bounds(float(one), float(one)) for one in (think, *groups)]
    customers = Bounds(low, high, 1.0, 1.0)

    if which is None:
        found, alone = on_bounds.nested_rate(customers, *others), load_dependent_mva.nested_rate
    else:
        which = len(groups) // 5 - 1 if which else 0
        place = Bounds(float(which), float(which))
        found = on_bounds.nested_time(place, customers, *others)

        def alone(*operands):
            return load_dependent_mva.nested_time(which, *operands)

    for row in range(low.size):
        inside = np.arange(np.ceil(low[row]), np.floor(high[row]) + 1)
        points = np.unique([low[row], *inside, high[row]])
        values = np.array([alone(float(n), think, *groups) for n in points])
        assert found.low[row] <= values.min()
        assert values.max() <= found.high[row]
        assert found.low[row] == pytest.approx(values.min(), rel=1e-8, abs=1e-8)
        assert found.high[row] == pytest.approx(values.max(), rel=1e-8, abs=1e-8)
        slopes = np.diff(values) / np.diff(points)
        assert (found.slope_low[row] <= slopes).all()
        assert (slopes <= found.slope_high[row]).all()


def test_slopes_are_those_of_customers_too():
    think, groups = NETWORKS[0]
    others = [Bounds(float(one), float(one)) for one in (think, *groups)]
    ends = np.arange(10.0, 90.0, 8), np.arange(17.0, 97.0, 8)

    plain = on_bounds.nested_rate(Bounds(*ends, 1.0, 1.0), *others)
    halved = on_bounds.nested_rate(Bounds(*ends, -0.5, -0.5), *others)

    assert halved.slope_low == pytest.approx(-0.5 * plain.slope_high)
    assert halved.slope_high == pytest.approx(-0.5 * plain.slope_low)


def test_networks_that_differ_are_not_one():
    think, groups = NETWORKS[0]
    others = [Bounds(float(one), float(one)) for one in groups]
    customers = Bounds(np.arange(1.0, 9.0), np.arange(3.0, 11.0), 1.0, 1.0)

    def found(thinks):
        return population_bounds.nested_rate(customers, Bounds(thinks, thinks), *others)

    assert found(np.full(8, think)) is not None
    assert found(np.arange(8.0)) is None


@pytest.mark.parametrize("customers", [4095.0, 4096.0, 30_000.0])
def test_tables_of_large_pools_are_those_of_single_networks(customers):
    others = (2.0, 1.0, 0.01, 6000.0, 1.0, 1.0, 0.0, 0.002, 3.0, 0.0, 1.0)
    ends = [Bounds(one, one) for one in others]
    rows = Bounds(np.full(8, customers), np.full(8, customers))

    found = on_bounds.nested_rate(rows, *ends)

    alone = load_dependent_mva.nested_rate(customers, *others)
    assert found.low[0] <= alone <= found.high[0]


def test_a_search_solves_few_networks(monkeypatch):
    counts = []
    original = pool_networks.NetworkSolution.__init__

    def counted(self, *operands):
        counts.append(operands[0])
        original(self, *operands)

    monkeypatch.setattr(pool_networks.NetworkSolution, "__init__", counted)
    solution = solve(
        lowered("""
users N in 1..3000
unit thread
machine a { cpu 1 core, queueing ps; threads 2 thread }
component work { cpu 41 ms/request }
topology { node web = a * 3 }
stream job for each user {
    traffic 1 request, think 1 s; at web { take threads; work; give threads } }
require { job.latency <= 1000 s; quantile(job.latency, 95 %) <= 1000 s }
""")
    )
    assert all(failure.first is None for failure in solution.failures)
    assert len(counts) < 500
