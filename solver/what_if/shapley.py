"""What each of several changes moves an answer by, over all orders of making them.

L. S. Shapley, A value for n-person games, 1953.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

Answer: TypeAlias = Callable[[frozenset[str]], int | None]
"""The answer with some changes made; None where it does not exist."""


def moved_by(value: int | None, other: int | None) -> int | None:
    """Return by how much an answer has moved; None where one of both does not exist."""
    return None if value is None or other is None else value - other


def shapley(names: Sequence[str], answer: Answer) -> Sequence[float | None] | None:
    """Return by how much each change moves the answer, as the mean over all orders of making them.

    Orders on which an answer does not exist are left out: so the values add up to the difference
    between all changes and none. None where each order has such a place.

    >>> carries = {"": 10, "a": 20, "b": None, "ab": 50}
    >>> shapley("ab", lambda made: carries["".join(sorted(made))])
    [10.0, 30.0]
    """
    count = len(names)
    answers = [
        answer(frozenset(name for place, name in enumerate(names) if made >> place & 1))
        for made in range(1 << count)
    ]
    everything = (1 << count) - 1
    # How many orders lead from no change to some, and, by what is left, from some to all.
    before, after = [0] * (1 << count), [0] * (1 << count)
    before[0] = after[everything] = 1
    for made in range(1, 1 << count):
        if answers[made] is not None:
            before[made] = sum(before[made ^ bit] for bit in _bits(made))
    for made in reversed(range(everything)):
        if answers[made] is not None:
            after[made] = sum(after[made | bit] for bit in _bits(everything ^ made))
    orders = after[0] if answers[0] is not None and answers[everything] is not None else 0
    if not orders:
        return None
    totals = [0] * count
    for made in range(everything):
        for place in range(count):
            bit = 1 << place
            leading = 0 if made & bit else before[made] * after[made | bit]
            if leading:
                totals[place] += leading * (moved_by(answers[made | bit], answers[made]) or 0)
    return [total / orders for total in totals]


def _bits(number: int) -> list[int]:
    return [1 << place for place in range(number.bit_length()) if number >> place & 1]


def steps(names: Sequence[str], answer: Answer) -> list[int | None]:
    """Return by how much each change moves the answer, made after those before it.

    Where an answer on the way does not exist there is None, and the next one that does counts from
    the last one: what there is adds up to the difference between all changes and none.

    >>> carries = {"": 10, "a": None, "ab": 50}
    >>> steps("ab", lambda made: carries["".join(sorted(made))])
    [None, 40]
    """
    found = []
    last = answer(frozenset())
    for many in range(1, len(names) + 1):
        there = answer(frozenset(names[:many]))
        found.append(moved_by(there, last))
        last = last if there is None else there
    return found


def both_orders(names: Sequence[str], answer: Answer) -> Sequence[float | None] | None:
    """Return the mean of what each change moves in an order and in the reverse of it.

    So few orders are evaluated where there are too many changes for all; the values add up as well.
    None where one of both orders meets a place without an answer.
    """
    ways = [steps(names, answer), steps(names[::-1], answer)[::-1]]
    found = []
    for there, back in zip(*ways, strict=True):
        if there is None or back is None:
            return None
        found.append((there + back) / 2)
    return found
