"""Whether the bottleneck is full before the answer, and no more than full up to it.

What is full is not beyond: such a load is acceptable for as long as it grows no more.
"""

from __future__ import annotations

from enum import StrEnum

from qps.solver.answers.solution import Solution

ALIKE = 1e-12
"""By how much of itself a load may differ from its target to count as equal to it."""


class StaysFull(StrEnum):
    """How the load of a bottleneck lies up to the largest acceptable population.

    `EXACTLY` at its target there, or `AT_MOST` at it, at whole populations.
    """

    EXACTLY = "exactly"
    AT_MOST = "at most"


def bottleneck_stays_full(solution: Solution) -> StaysFull | None:
    """Return how the bottleneck stays full; None where it does not before the answer."""
    found, largest = solution.bottleneck, solution.largest_acceptable
    if found is None or found.saturates_at is None or largest is None:
        return None
    if found.saturates_at >= largest * (1 - ALIKE):
        return None
    there = next(r for r in solution.resources if r.name == found.resource)
    is_exactly = abs(there.load_at_limit - there.target) <= ALIKE * there.target
    return StaysFull.EXACTLY if is_exactly else StaysFull.AT_MOST
