"""The cheapest that meets one limit on a sum, by merging Pareto fronts of one choice after another.

Of some choices, only those configurations are looked at of which no other one costs no more and
uses no more of what is limited (Nemhauser and Ullmann 1969); and of these only what can still meet
the limit and can cost no more than some other configuration that meets it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from qps.solver.cheapest.part_values import Bools, Floats, Ints

_LARGEST = 1 << 20
"""Configurations of some choices that are compared at a time; with more, fronts are not merged."""
_ROUNDED = 1e-12
"""Part of the sizes of what is added that may be rounded off."""


class LimitedSum(Struct, frozen=True, eq=False, kw_only=True):
    """What the options of each choice cost, and what each uses of a limit, which is met up to zero.

    Both sums have a constant; `price` is a price of what is limited.
    """

    cost: Sequence[Floats]
    use: Sequence[Floats]
    constants: tuple[float, float]
    price: float

    def of_options(self, places: Sequence[Ints]) -> LimitedSum:
        """Return the same of some options of each choice."""
        both = list(zip(self.cost, self.use, places, strict=True))
        return LimitedSum(
            cost=[cost[possible] for cost, _, possible in both],
            use=[use[possible] for _, use, possible in both],
            constants=self.constants,
            price=self.price,
        )

    @property
    def priced(self) -> list[Floats]:
        """What each option costs with the price of what it uses."""
        return [c + self.price * u for c, u in zip(self.cost, self.use, strict=True)]


class CheapestSum(Struct, frozen=True, kw_only=True):
    """What everything that meets the limit costs at least, and the places of what costs that."""

    least: float
    places: tuple[int, ...] | None


def merged_fronts(limited: LimitedSum, most: float) -> CheapestSum | None:
    """Return the cheapest; no places where everything that meets the limit costs more than `most`.

    None where the fronts become too large.
    """
    axes = range(len(limited.cost))
    spare = _rounded(limited.use, limited.constants[1])
    off = _rounded(limited.cost, limited.constants[0])
    use_left, priced_left = _sums_of_least(limited.use), _sums_of_least(limited.priced)
    off_priced = off + limited.price * spare
    cost, use = np.array([limited.constants[0]]), np.array([limited.constants[1]])
    steps: list[tuple[Ints, Ints]] = []
    for axis in axes:
        if cost.size * limited.cost[axis].size > _LARGEST:
            return None
        cost, use = (
            np.add.outer(own, more[axis]).ravel()
            for own, more in ((cost, limited.cost), (use, limited.use))
        )
        can_hold = use + use_left[axis] <= spare
        can_hold &= cost + limited.price * use + priced_left[axis] <= most + off_priced
        possible = np.flatnonzero(can_hold)
        order = possible[np.lexsort((use[possible], cost[possible]))]
        order = order[_is_less_than_before(use[order])]
        if not order.size:
            return CheapestSum(least=most, places=None)
        cost, use = cost[order], use[order]
        before, option = np.divmod(order, limited.cost[axis].size)
        steps.append((before, option))
    if cost[0] > most:
        return CheapestSum(least=most, places=None)
    at, places = 0, list[int]()
    for before, option in reversed(steps):
        places.append(int(option[at]))
        at = int(before[at])
    return CheapestSum(least=float(cost[0]) - off, places=tuple(reversed(places)))


def _rounded(values: Sequence[Floats], constant: float) -> float:
    return _ROUNDED * (abs(constant) + sum(float(np.abs(own).max()) for own in values))


def _sums_of_least(values: Sequence[Floats]) -> list[float]:
    """Return for each choice what those after it come to at least."""
    sums = [0.0]
    for own in reversed(values[1:]):
        sums.append(sums[-1] + float(own.min()))
    return sums[::-1]


def _is_less_than_before(numbers: Floats) -> Bools:
    """Return which numbers are less than all before them."""
    least = np.minimum.accumulate(numbers)
    found: Bools = np.append([True], numbers[1:] < least[:-1])[: numbers.size]
    return found
