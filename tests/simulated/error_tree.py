"""Errors by operating points: a tree of statements, the branch of what a statement holds of first.

A statement is that a method has a part in a number, or that its operating point is at most so far
out on an axis. What is within a limit must be no further off than what is beyond, so that where
nothing is known of a point the larger error is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from math import inf

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from qps.compiler.quantities.measured_errors import ErrorAxis

LIMITS: Mapping[ErrorAxis, Sequence[float]] = {
    ErrorAxis.WAITING: (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75),
    ErrorAxis.UTILIZATION: (0.5, 0.7, 0.8, 0.9),
    ErrorAxis.METHODS: (1, 2, 4),
    ErrorAxis.RARITY: (4, 50, 200),
}
Statement = str | tuple[ErrorAxis, float]
Numbers = NDArray[np.int64]


class Leaf(Struct, frozen=True, kw_only=True):
    """Numbers of which all of some statements hold."""

    statements: frozenset[Statement]
    members: Numbers


class Tree(Struct, frozen=True, kw_only=True):
    """How numbers are split: `length` says how badly one error tells of some, less is better.

    A number is one of a `networks`; `holds` has a row for each, a column for each statement.
    """

    statements: Sequence[Statement]
    holds: NDArray[np.bool_]
    networks: Numbers
    length: Callable[[Numbers], float]
    error: Callable[[Numbers], float]
    fewest: int
    fewest_apart: int
    """So few may be split off, at least: of others there must be the fewest of which one tells."""
    least_gain: float

    def leaves(self, members: Numbers, path: frozenset[int] = frozenset()) -> Iterator[Leaf]:
        """Yield the leaves, in the order in which the first that holds counts."""
        split = self._best(members, path)
        if split is None:
            result = frozenset(self.statements[one] for one in path)
            yield Leaf(statements=result, members=members)
            return
        chosen, inside = split
        yield from self.leaves(members[inside], path | chosen)
        yield from self.leaves(members[~inside], path)

    def _best(
        self, members: Numbers, path: frozenset[int]
    ) -> tuple[frozenset[int], NDArray[np.bool_]] | None:
        holds, whole = self.holds[members], self.length(members)
        best, gain = None, self.least_gain
        often = np.count_nonzero(holds, axis=0)
        single = [one for one in np.flatnonzero(often >= self.fewest_apart) if one not in path]
        pairs = (two for two in combinations(single, 2) if self._are_apart(*two))
        for chosen in [*((one,) for one in single), *pairs]:
            inside = holds[:, list(chosen)].all(axis=1)
            if not self._are_enough(members, inside):
                continue
            within, beyond = members[inside], members[~inside]
            is_limit = any(isinstance(self.statements[one], tuple) for one in chosen)
            if is_limit and self.error(within) > self.error(beyond):
                continue
            gained = whole - self.length(within) - self.length(beyond)
            if gained > gain:
                best, gain = (frozenset(map(int, chosen)), inside), gained
        return best

    def _are_apart(self, one: int, other: int) -> bool:
        """Return whether two statements are not both limits on the same axis."""
        first, second = self.statements[one], self.statements[other]
        return isinstance(first, str) or isinstance(second, str) or first[0] != second[0]

    def _are_enough(self, members: Numbers, inside: NDArray[np.bool_]) -> bool:
        sides = ((inside, self.fewest_apart), (~inside, self.fewest))
        return all(
            np.count_nonzero(side) >= least
            and len(np.unique(self.networks[members[side]])) >= least
            for side, least in sides
        )


def statements_of(
    methods: frozenset[str], point: Mapping[ErrorAxis, float]
) -> frozenset[Statement]:
    """Return all that is stated of a number made by methods, at an operating point."""
    known = {ErrorAxis.METHODS: float(len(methods)), **point}
    limits = {
        (axis, most)
        for axis, each in LIMITS.items()
        for most in each
        if known.get(axis, inf) <= most
    }
    return methods | limits


def at_most(statements: frozenset[Statement]) -> dict[ErrorAxis, float]:
    """Return the nearest limit of each axis."""
    found: dict[ErrorAxis, float] = {}
    for one in statements:
        if isinstance(one, tuple):
            axis, most = one
            found[axis] = min(most, found.get(axis, inf))
    return found
