"""Limits on sums over all choices, as a price of what they use: lower bounds of the cost.

Where the cost and a requirement are sums of parts that each depend on one choice, such as a mean
response time, each unit of what is limited has a price (a Lagrange multiplier): the cost of what
holds is at least the least cost with that price, less the price of the limit. With the best price
this is close to the cheapest configuration, the closer the more choices there are (Everett 1963).
So most options cannot be in a configuration that costs little more than that bound: they are left
out until nothing so cheap is left (reduced-cost fixing; Nemhauser and Wolsey 1988, chapter II.5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from qps.engine.expressions.formula_parts import terms_of
from qps.engine.expressions.formulas import Formula
from qps.solver.cheapest.merged_fronts import LimitedSum
from qps.solver.cheapest.option_values import SearchProblem
from qps.solver.cheapest.part_values import Floats, Ints, LeastBetween

_STEPS = 200
_WIDEST = 1e60
"""How far prices that are tried may be from the ratio of the largest cost and use."""
_ROUNDED = 1e-12
"""Part of what is added that may be rounded off."""


class PricedLimit:
    """A cost with a price for what a requirement limits: the least of each range of options.

    `holding` is what some configuration costs with which the limit is met, about that at least.
    """

    def __init__(self, limited: LimitedSum, holding: float) -> None:
        self.limited = limited
        self.holding = holding
        price, (cost, use) = limited.price, limited.constants
        self._constant = cost + price * use - _ROUNDED * (abs(cost) + price * abs(use))
        both = zip(limited.priced, limited.cost, limited.use, strict=True)
        self.values = [
            own - _ROUNDED * (np.abs(cost) + price * np.abs(use)) for own, cost, use in both
        ]
        self._tables = [LeastBetween(own) for own in self.values]

    @property
    def lowest(self) -> float:
        """What everything with which the limit is met costs at least."""
        return self._constant + sum(float(own.min()) for own in self.values)

    def places_within(self, cost: float) -> list[Ints]:
        """Return for each axis the options with which something holds that costs no more."""
        lowest = self.lowest
        return [np.flatnonzero(lowest - own.min() + own <= cost) for own in self.values]

    def of_options(self, places: Sequence[Ints]) -> PricedLimit:
        """Return the same of some options of each axis."""
        return PricedLimit(self.limited.of_options(places), self.holding)

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
    high = scale / spread
    while used(high) > 0:
        high *= 16
        if high > _WIDEST * scale / spread:
            return None
    low = high
    while used(low) <= 0:
        low /= 16
        if low < scale / spread / _WIDEST:
            return None
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if used(middle) > 0 else (low, middle)
        if high <= low * (1 + 1e-9):
            break
    limited = LimitedSum(cost=cost[0], use=use[0], constants=(cost[1], use[1]), price=high)
    return PricedLimit(limited, _holding(limited))


def _holding(limited: LimitedSum) -> float:
    """Return what costs little and meets the limit: each option that saves most is exchanged."""
    both = list(zip(limited.cost, limited.use, strict=True))
    places = [int(np.argmin(own)) for own in limited.priced]
    total, used = limited.constants
    total += sum(float(cost[at]) for (cost, _), at in zip(both, places, strict=True))
    used += sum(float(use[at]) for (_, use), at in zip(both, places, strict=True))
    while True:
        found, saved = None, 0.0
        for axis, (cost, use) in enumerate(both):
            is_possible = used + use - use[places[axis]] <= 0
            saves = np.where(is_possible, cost[places[axis]] - cost, 0.0)
            at = int(np.argmax(saves))
            if saves[at] > saved:
                found, saved = (axis, at), float(saves[at])
        if found is None:
            return total
        axis, at = found
        total -= saved
        used += float(both[axis][1][at] - both[axis][1][places[axis]])
        places[axis] = at


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
