"""What limits, what saturates first, what stays full, which mode is worst: of one row or of many.

A value is a number for one configuration, or a column of a matrix with a number for each of its
rows. Both are judged by this one text: `solve` is a matrix of one row, which needs no arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

from qps.solver.answers.solution import StaysFull

Value: TypeAlias = Any
"""A number, or a column of numbers; of truths, likewise."""

ALIKE = 1e-12
"""By how much of themselves two populations, or two loads, may differ and count as equal."""
NONE = -1
"""The number of a criterion or of a resource where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationTable:
    """Where resources saturate, by their numbers (infinity for never), and their loads.

    `fullness` gives all loads as parts of their targets at a population. It is computed for rows in
    which a condition holds; in the others it may be anything.
    """

    low: int
    high: int
    saturates: Sequence[Value]
    fullness: Callable[[Value, Value], Sequence[Value]]

    def first_of(self, among: Sequence[Value]) -> Value:
        """Return the number of the resource that saturates first among some.

        Of those that are saturated where the range starts, it is the one with the highest load
        there; of equals, the first.
        """
        least = _least([where(own, at, inf) for at, own in zip(self.saturates, among, strict=True)])
        tied = [
            own & (at <= least * (1 + ALIKE)) for at, own in zip(self.saturates, among, strict=True)
        ]
        at_start = (sum(tied) > 1) & (least == self.low)
        if not _anywhere(at_start):
            return _number_of_first(tied)
        loads = [
            where(own, where(load - load == 0, load, inf), -inf)
            for load, own in zip(self.fullness(self.low, at_start), tied, strict=True)
        ]
        enough = _greatest(loads) * (1 - ALIKE)
        heaviest = [
            own & (_not(at_start) | (load >= enough)) for load, own in zip(loads, tied, strict=True)
        ]
        return _number_of_first(heaviest)

    def limiting(self, failing: Sequence[Value], resources: Sequence[int | None]) -> Value:
        """Return the number of the criterion that limits, of those that fail first.

        `resources` says of which resource each of them is, None for one that is stated: that comes
        first. Of resources it is the one that saturates first; what saturates together with it and
        comes before it is its cause, also where that fails one user later.
        """
        found: Value = NONE
        own: list[Value] = [False] * len(self.saturates)
        for fails, resource in zip(failing, resources, strict=True):
            if resource is not None:
                own[resource] = own[resource] | fails
        if own:
            first = self._cause(self.first_of(own), own, {r for r in resources if r is not None})
            for number in reversed(range(len(failing))):
                if resources[number] is not None:
                    found = where(first == resources[number], number, found)
        for number in reversed(range(len(failing))):
            if resources[number] is None:
                found = where(failing[number], number, found)
        return found

    def _cause(self, first: Value, own: Sequence[Value], candidates: Collection[int]) -> Value:
        """Return the first resource that saturates together with the `first` of some.

        At 100 % exactly, a pool is too full while the CPU that keeps it so is not yet.
        """
        least = _least([where(one, at, inf) for at, one in zip(self.saturates, own, strict=True)])
        found = first
        for number in sorted(candidates, reverse=True):
            at = self.saturates[number]
            tied = (at >= least * (1 - ALIKE)) & (at <= least * (1 + ALIKE))
            found = where(
                tied & (least < inf) & (least > self.low) & (number < first), number, found
            )
        return found

    def bottleneck(self) -> Value:
        """Return the number of the resource that saturates first.

        Where none ever does, it is the one with the highest load at the end of the range.
        """
        found = self.first_of([True] * len(self.saturates))
        never = _least(self.saturates) == inf
        if not self.saturates or not _anywhere(never):
            return found
        heaviest = _number_of_greatest(self.fullness(self.high, never))
        return where(never, heaviest, found)

    def stays_full(self, largest: Value, bottleneck: Value) -> Value:
        """Return whether the bottleneck saturates before an answer and is no more than full there.

        0 for not so, else the number of the way in `StaysFull`, from 1 on.
        """
        is_full = _least(self.saturates) < largest * (1 - ALIKE)
        found: Value = where(is_full, 0, 0)
        if not _anywhere(is_full):
            return found
        ways = list(StaysFull)
        exactly, at_most = (1 + ways.index(way) for way in (StaysFull.EXACTLY, StaysFull.AT_MOST))
        for number, load in enumerate(self.fullness(largest, is_full)):
            way = where(abs(load - 1) <= ALIKE, exactly, at_most)
            found = where(is_full & (bottleneck == number), way, found)
        return found


def is_worse(own: tuple[Value, Value], other: tuple[Value, Value]) -> Value:
    """Return whether a mode is worse than another one, by their answers and qualities there.

    It is where less is acceptable (0 for nothing); where that is alike, where quality is poorer.
    """
    (largest, quality), (other_largest, other_quality) = own, other
    return (largest < other_largest) | ((largest == other_largest) & (quality > other_quality))


def largest_of(first_failure: Value, low: int) -> Value:
    """Return the largest acceptable population, 0 for none, by the first that fails."""
    return where(first_failure == low, 0, first_failure - 1)


# -- one number or many ----------------------------------------------------------------------


def where(condition: Value, one: Value, other: Value) -> Value:
    """Return one value where a condition holds, another one elsewhere."""
    if isinstance(condition, bool):
        return one if condition else other
    from numpy import where as chosen  # noqa: PLC0415 - one row needs no arrays

    return chosen(condition, one, other)


def _not(condition: Value) -> Value:
    return condition ^ True


def _anywhere(condition: Value) -> bool:
    return condition if isinstance(condition, bool) else bool(condition.any())


def _least(values: Sequence[Value]) -> Value:
    found: Value = inf
    for value in values:
        found = where(value < found, value, found)
    return found


def _greatest(values: Sequence[Value]) -> Value:
    found: Value = -inf
    for value in values:
        found = where(value > found, value, found)
    return found


def _number_of_greatest(values: Sequence[Value]) -> Value:
    """Return the number of the greatest value, the first of equals, whatever has one."""
    found: Value = 0
    greatest: Value = -inf
    for number, value in enumerate(values):
        is_greater = value > greatest
        found, greatest = where(is_greater, number, found), where(is_greater, value, greatest)
    return found


def _number_of_first(conditions: Sequence[Value]) -> Value:
    """Return the number of the first that is true, `NONE` where none is."""
    found: Value = NONE
    for number in reversed(range(len(conditions))):
        found = where(conditions[number], number, found)
    return found
