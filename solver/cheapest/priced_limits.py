"""Limits on sums over all choices, as a price of what they use: lower bounds of the cost.

Where the cost and a requirement are sums of parts that each depend on one choice, such as a mean
response time, each unit of what is limited has a price (a Lagrange multiplier): the cost of what
holds is at least the least cost with that price, less the price of the limit. With the best price
this is close to the cheapest configuration, the closer the more choices there are (Everett 1963).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qps.engine.expressions.formula_parts import terms_of
from qps.engine.expressions.formulas import Formula
from qps.solver.cheapest.option_values import SearchProblem
from qps.solver.cheapest.part_values import Floats, Ints, LeastBetween

_STEPS = 200
_ROUNDED = 1e-12
"""Part of the largest sum that may be rounded off."""


class PricedLimit:
    """A cost with a price for what a requirement limits: the least of each range of options."""

    def __init__(self, values: list[Floats], constant: float, largest: float) -> None:
        self.values = values
        self._constant = constant - _ROUNDED * largest
        self._tables = [LeastBetween(own) for own in values]

    def least(self, low: Ints, high: Ints) -> Floats:
        """Return what configurations in boxes cost at least, if the requirement holds."""
        total: Floats = np.full(low.shape[0], self._constant)
        for axis, table in enumerate(self._tables):
            total += table.between(low[:, axis], high[:, axis])
        return total


def priced_limit(problem: SearchProblem, over: Formula) -> PricedLimit | None:
    """Return the best price of a requirement; None where it or the cost is not such a sum."""
    cost, use = _sum_of(problem, problem.cost), _sum_of(problem, over)
    if cost is None or use is None:
        return None
    if not all(np.isfinite(own).all() for own in (*cost[0], *use[0])):
        return None

    def used(price: float) -> float:
        """Return by how much the limit is exceeded where all is cheapest at a price."""
        places = [int(np.argmin(c + price * u)) for c, u in zip(cost[0], use[0], strict=True)]
        return use[1] + sum(float(u[at]) for u, at in zip(use[0], places, strict=True))

    spread = max(float(np.ptp(own)) for own in use[0])
    scale = max(float(np.ptp(own)) for own in cost[0])
    if spread <= 0 or scale <= 0:
        return None
    low, high = 1e-9 * scale / spread, 1e9 * scale / spread
    if used(low) <= 0 or used(high) > 0:
        return None
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if used(middle) > 0 else (low, middle)
        if high <= low * (1 + 1e-9):
            break
    values = [c + high * u for c, u in zip(cost[0], use[0], strict=True)]
    return PricedLimit(values, cost[1] + high * use[1], _largest(*cost) + high * _largest(*use))


def _largest(values: list[Floats], constant: float) -> float:
    return abs(constant) + sum(float(np.abs(own).max()) for own in values)


def _sum_of(problem: SearchProblem, formula: Formula) -> tuple[list[Floats], float] | None:
    """Return the least that each option adds to a sum, and its constant; None for no sum."""
    found = [np.zeros(own.size) for own in problem.options]
    constant = 0.0
    parts: Mapping[Formula, int] = problem.axes
    values = {one.symbol: one for one in problem.parts if one.symbol in formula.symbols}
    for coefficient, factors in terms_of(formula):
        factor = float(coefficient)
        if not factors:
            constant += factor
            continue
        if len(factors) > 1 or factors[0] not in parts:
            return None
        own = values[factors[0]]
        found[own.axis] += factor * (own.low if factor >= 0 else own.high)
    return found, constant
