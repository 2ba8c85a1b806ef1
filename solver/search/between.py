"""Does what is told of a function between two points hold at all points between them?

Where a function has no exact treatment its changes of sign are looked for on a grid: what changes
twice between two points of the grid is not seen. Bounds over boxes prove that there is no such
place: a box is settled where its bounds have one sign, or where the function only rises or only
falls there, so that what its ends say holds in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from qps.engine.bisection import halfway
from qps.solver.search.bounds import Curve

Fails = Callable[[Fraction], bool]
"""Says of a point whether the function is above zero there, or has no value."""

_HARDLY_APART = 1e-12
"""As near as this to an end of a stretch there is nothing but its change of sign."""


@dataclass
class Budget:
    """How many boxes may still be looked at, in all stretches together."""

    boxes: int = 1000


def is_settled_between(
    curve: Curve, start: Fraction, end: Fraction, fails: Fails, budget: Budget
) -> bool:
    """Return whether a function is proved to have one sign everywhere between two points.

    False where the boxes do not tell.
    """
    stretch = _Stretch(
        curve=curve,
        start=float(start),
        end=float(end),
        fails=fails,
        is_above=fails((start + end) / 2),
    )
    waiting = [(float(start), float(end))]
    while waiting:
        low, high = waiting.pop()
        budget.boxes -= 1
        if budget.boxes < 0:
            return False
        if stretch.settles(low, high):
            continue
        middle = halfway(low, high)
        if not low < middle < high:
            return False
        waiting += [(middle, high), (low, middle)]
    return True


@dataclass(frozen=True, kw_only=True)
class _Stretch:
    """What is told between two points, and of which function."""

    curve: Curve
    start: float
    end: float
    fails: Fails
    is_above: bool

    def settles(self, low: float, high: float) -> bool:
        """Return whether the function is proved to be in a box as it is told."""
        bounds = self.curve.over(low, high)
        if bounds.low > 0 if self.is_above else bounds.high < 0:
            return True
        near = _HARDLY_APART * max(abs(low), abs(high))
        if high - low <= near:
            # At an end of the stretch the sign changes; elsewhere it must not.
            return low <= self.start + near or high >= self.end - near
        if not (bounds.slow >= 0 or bounds.steep <= 0):
            return False
        # Just inside the stretch: at its end itself the function changes its sign.
        first = low + near if low == self.start else low
        last = high - near if high == self.end else high
        return all(self.fails(Fraction(at)) is self.is_above for at in (first, last))
