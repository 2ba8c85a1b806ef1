"""What each of several changes moves an answer by, over all orders of making them.

L. S. Shapley, A value for n-person games, 1953.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import factorial


def moved_by(value: int | None, other: int | None) -> int | None:
    """Return by how much an answer has moved; None where one of both does not exist."""
    return None if value is None or other is None else value - other


def shapley(
    name: str, names: Sequence[str], answer: Callable[[frozenset[str]], int | None]
) -> float | None:
    """Return the mean of what a change moves the answer by, over all orders of making them."""
    others = [other for other in names if other != name]
    orders = factorial(len(names))
    total = 0.0
    for size in range(len(others) + 1):
        weight = factorial(size) * factorial(len(others) - size) / orders
        for made in combinations(others, size):
            moved = moved_by(answer(frozenset([*made, name])), answer(frozenset(made)))
            if moved is None:
                return None
            total += weight * moved
    return total
