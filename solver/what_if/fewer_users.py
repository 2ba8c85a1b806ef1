"""Whether fewer users are carried wherever so many are: proved for all values of a number.

A criterion that does not fall as users are added holds for fewer where it holds for more: bounds of
its slope tell, over boxes of users and values, which are halved until they do.
"""

from __future__ import annotations

from qps.engine.expressions.formulas import Formula
from qps.engine.numerics.sloped_intervals import Interval
from qps.solver.search.bounds import Curve

_MOST_BOXES = 200
"""Boxes after which a criterion is left untold."""

Ends = tuple[float, float]


def passes_for_fewer(
    over: Formula, symbols: tuple[Formula, Formula], users: Ends, values: Ends, *, strict: bool
) -> bool:
    """Return whether it is proved that a criterion holds for all numbers of users up to the most.

    `over` is above zero where it fails; of its two `symbols` the first is the population, the
    second the number. It holds for the most users at every value between two ends. False where
    bounds do not tell.
    """
    population, number = symbols
    if population not in over.symbols:
        return True
    waiting = [(users, values, True)]  # the last to be added is looked at first: what is above
    for _ in range(_MOST_BOXES):
        if not waiting:
            return True
        (few, many), (low, high), holds_above = waiting.pop()
        curve = Curve(over, population, intervals={number: Interval(low, high)})
        bounds = curve.over(few, many)
        if bounds.high < 0 or (bounds.high == 0 and not strict):
            continue
        if holds_above and bounds.slow >= 0:
            continue
        if _width(few, many) >= _width(low, high):
            middle = few + (many - few) / 2
            waiting.append(((few, middle), (low, high), True))
            waiting.append(((middle, many), (low, high), holds_above))
        else:
            middle = low + (high - low) / 2
            waiting.append(((few, many), (low, middle), holds_above))
            waiting.append(((few, many), (middle, high), holds_above))
    return not waiting


def _width(low: float, high: float) -> float:
    """Return how wide a range is, as a part of what is in it."""
    return (high - low) / (max(abs(low), abs(high)) or 1.0)
