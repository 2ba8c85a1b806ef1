"""Merged Pareto fronts, and searches that leave out what costs more than a limit: all are tried."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest

from qps.engine.expressions.formulas import number, symbol, total
from qps.solver.cheapest.branch_and_bound import BranchAndBound
from qps.solver.cheapest.merged_fronts import LimitedSum, merged_fronts
from qps.solver.cheapest.option_values import PartRequirement, SearchProblem
from qps.solver.cheapest.part_values import PartValues

AXES, OPTIONS = 4, 6


def _limited(seed: int) -> LimitedSum:
    draw = np.random.default_rng(seed)
    whole = draw.integers(1, 9, (AXES, OPTIONS)).astype(float)  # so that many cost as much
    return LimitedSum(
        cost=list(whole if seed % 2 else draw.uniform(1, 9, (AXES, OPTIONS))),
        use=list(draw.uniform(0, 5, (AXES, OPTIONS))),
        constants=(3.0, -draw.uniform(1, 4) * AXES),
        price=float(draw.uniform(0.1, 3)),
    )


def _cost_and_use(limited: LimitedSum, places: tuple[int, ...]) -> tuple[float, float]:
    costs, uses = (
        [float(own[at]) for own, at in zip(values, places, strict=True)]
        for values in (limited.cost, limited.use)
    )
    return limited.constants[0] + sum(costs), limited.constants[1] + sum(uses)


@pytest.mark.parametrize("seed", range(20))
def test_merged_fronts_have_the_cheapest_of_all_that_meets_the_limit(seed: int) -> None:
    """With all options, and where little more may be paid; none where less must be paid."""
    limited = _limited(seed)
    every = [_cost_and_use(limited, one) for one in product(range(OPTIONS), repeat=AXES)]
    best = min((cost for cost, use in every if use <= 0), default=inf)
    found = merged_fronts(limited, 1e9)
    assert found is not None
    if found.places is None:
        assert best == inf
        return
    cost, use = _cost_and_use(limited, found.places)
    assert cost == pytest.approx(best)
    assert use <= 1e-9
    assert best - 1e-6 <= found.least <= best
    within = merged_fronts(limited, best + 0.5)
    assert within is not None
    assert within.places is not None
    assert _cost_and_use(limited, within.places)[0] == pytest.approx(best)
    below = merged_fronts(limited, best - 0.5)
    assert below is not None
    assert below.places is None
    assert below.least == best - 0.5


def _problem(seed: int) -> tuple[SearchProblem, list[float]]:
    """Return a search with two limited sums, and the costs of all that meets both, in order."""
    draw = np.random.default_rng(seed)
    cost = np.sort(draw.integers(1, 12, (AXES, OPTIONS)).astype(float), axis=1)
    uses = np.sort(draw.uniform(0, 5, (2, AXES, OPTIONS)), axis=2)[:, :, ::-1]
    uses[:, :, ::2] += draw.uniform(0, 2, uses[:, :, ::2].shape)
    limits = draw.uniform(1.2, 2.4, 2) * AXES
    parts, symbols = [], []
    for name, values in (("cost", cost), ("cpu", uses[0]), ("disk", uses[1])):
        own = [symbol(f"{name} {axis}") for axis in range(AXES)]
        symbols.append(own)
        parts += [
            PartValues(axis=axis, symbol=one, low=values[axis], high=values[axis])
            for axis, one in enumerate(own)
        ]
    requirements = tuple(
        PartRequirement(name=name, over=total([*own, number(-float(limit))]), strict=False)
        for name, own, limit in zip(("cpu", "disk"), symbols[1:], limits, strict=True)
    )
    problem = SearchProblem(
        options=tuple(np.arange(OPTIONS) for _ in range(AXES)),
        parts=tuple(parts),
        requirements=requirements,
        cost=total(symbols[0]),
    )
    axes = np.arange(AXES)
    holding = [
        float(cost[axes, places].sum())
        for places in map(list, product(range(OPTIONS), repeat=AXES))
        if all(uses[one][axes, places].sum() <= limits[one] for one in range(2))
    ]
    return problem, sorted(holding)


@pytest.mark.parametrize("seed", range(20))
def test_all_that_holds_is_found_in_the_order_of_its_cost(seed: int) -> None:
    """None is left out, and none returned twice, however often the limit of costs is raised."""
    problem, holding = _problem(seed)
    search = BranchAndBound(problem=problem)
    found: list[tuple[int, ...]] = []
    costs = []
    while (least := search.least_cost) < inf:
        chosen = search.step()
        if chosen is not None:
            found.append(chosen)
            costs.append(least)
    assert len(found) == len(set(found))
    prices = {one.symbol: one.low for one in problem.parts}
    able = [
        sum(float(prices[symbol(f"cost {axis}")][at]) for axis, at in enumerate(chosen))
        for chosen in found
    ]
    assert costs == sorted(costs)
    assert able == pytest.approx(costs)
    assert able == pytest.approx(holding)
