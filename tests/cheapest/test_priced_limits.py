"""Bounds of a cost with a price for what a requirement limits, against all configurations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from qps.engine.expressions.formulas import Formula, number, symbol, total
from qps.solver.cheapest.branch_and_bound import BranchAndBound
from qps.solver.cheapest.option_values import PartRequirement, PartValues, SearchProblem
from qps.solver.cheapest.priced_limits import priced_limit


def _problem(seed: int, axes: int, options: int) -> SearchProblem:
    draw = np.random.default_rng(seed)
    parts, costs, uses = [], [], []
    for axis in range(axes):
        cost = np.sort(draw.uniform(1, 10, options))
        use = np.sort(draw.uniform(0, 5, options))[::-1]
        for name, values, found in (("cost", cost, costs), ("use", use, uses)):
            own = symbol(f"{name} {axis}")
            parts.append(PartValues(axis=axis, symbol=own, low=values, high=values))
            found.append(own)
    limit = 2.2 * axes
    over = total([*uses, number(-limit)])
    return SearchProblem(
        options=tuple(np.arange(options) for _ in range(axes)),
        parts=tuple(parts),
        requirements=(PartRequirement(name="use", over=over, strict=False),),
        cost=total(costs),
    )


def _all(problem: SearchProblem) -> dict[tuple[int, ...], tuple[float, float]]:
    """Return what each configuration costs, and by how much it exceeds the limit."""
    axes = len(problem.options)
    limit = 2.2 * axes
    values: dict[Formula, PartValues] = {one.symbol: one for one in problem.parts}
    cost = [values[symbol(f"cost {axis}")].low for axis in range(axes)]
    use = [values[symbol(f"use {axis}")].low for axis in range(axes)]
    return {
        places: (
            sum(float(own[at]) for own, at in zip(cost, places, strict=True)),
            sum(float(own[at]) for own, at in zip(use, places, strict=True)) - limit,
        )
        for places in product(*(range(own.size) for own in problem.options))
    }


@pytest.mark.parametrize("seed", range(8))
def test_no_configuration_that_holds_costs_less_than_its_bound(seed: int) -> None:
    """In the whole space and in random boxes of it; and the cheapest of all is found."""
    problem = _problem(seed, axes=4, options=6)
    every = _all(problem)
    holding = {places: cost for places, (cost, over) in every.items() if over <= 0}
    priced = priced_limit(problem, problem.requirements[0].over)
    assert priced is not None
    draw = np.random.default_rng(seed)
    for _ in range(40):
        ends = np.sort(draw.integers(0, 6, (2, 4)), axis=0)
        inside = [
            cost
            for places, cost in holding.items()
            if all(
                low <= at <= high for low, at, high in zip(ends[0], places, ends[1], strict=True)
            )
        ]
        if inside:
            assert priced.least(ends[:1], ends[1:])[0] <= min(inside)
    whole = priced.least(np.zeros((1, 4), dtype=np.int64), np.full((1, 4), 5))[0]
    assert whole > min(cost for cost, _ in every.values())
    search = BranchAndBound(problem=problem)
    found = None
    while found is None:
        found = search.step()
    assert holding[found] == min(holding.values())


def test_a_limit_that_the_cheapest_holds_has_no_price() -> None:
    """Nor has one that nothing holds, or that is no sum."""
    problem = _problem(0, axes=3, options=4)
    uses = [symbol(f"use {axis}") for axis in range(3)]
    for limit in (100, -1):
        assert priced_limit(problem, total([*uses, number(-limit)])) is None
    assert priced_limit(problem, uses[0] * uses[1] - number(1)) is None
