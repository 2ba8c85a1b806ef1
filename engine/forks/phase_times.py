"""Times that are passed in exponential phases, on arrays: each phase has a column for all rows.

Phases are passed in their order: each ends at a rate, and its moves lead to later ones or to the
end. So the transform of the time to the end is found from the last phase on,

    f_j(s) = the sum of rate_jl f_l(s) over (s + the sum of rate_jl), with f = 1 at the end,

all of it sums of what has one sign: no digits are lost where rates are equal. A time one after the
other, a mixture, and the longest of independent ones are such times again (Neuts 1981): of the
longest a phase is one of each, or that it has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.engine.distributions.sum_transforms import Complex
from qps.engine.numerics.array_blocks import Array

Moves = tuple[tuple[int, Array], ...]
"""To which phases one moves, and at which rates; beyond the last is the end."""

COLUMNS = 128
_TERMS, _STEP = 12, 0.25
"""So many terms say where phases are after such a step."""


class Phases(Struct, frozen=True, kw_only=True, dict=True):
    """A time: the chance that it begins in each phase, or is `done` at once, and what follows.

    Chances sum to that of the time: its `mass`.
    """

    starts: tuple[Array, ...]
    moves: tuple[Moves, ...]
    done: Array

    @property
    def mass(self) -> Array:
        """The chance that the time is taken at all."""
        return np.asarray(sum(self.starts, self.done))

    @cached_property
    def rates(self) -> list[Array]:
        """How fast each phase ends."""
        return [np.asarray(sum(rate for _, rate in moves)) for moves in self.moves]

    @property
    def nearest(self) -> Array:
        """How far left of zero there is no singularity."""
        return np.asarray(np.min(self.rates, axis=0))

    def transform(self, at: Complex) -> Complex:
        """Return E exp(-s T); terms stand in rows, elements in columns.

        Some columns are done at a time: what is made on the way stays in the processor's cache.
        """
        if at.shape[1] <= COLUMNS:
            return _transform(self, at)
        parts = [slice(k, k + COLUMNS) for k in range(0, at.shape[1], COLUMNS)]
        return np.concatenate([_transform(self._of(one), at[:, one]) for one in parts], axis=1)

    def _of(self, part: slice) -> Phases:
        """Return the times of some elements, which are one for all or as many."""

        def some(column: Array) -> Array:
            return column[part] if column.size > 1 else column

        return Phases(
            starts=tuple(map(some, self.starts)),
            moves=tuple(tuple((to, some(rate)) for to, rate in moves) for moves in self.moves),
            done=some(self.done),
        )

    @property
    def mean(self) -> Array:
        """The mean, times the chance that the time is taken."""
        values: list[Array] = []
        last = len(self.moves)
        for moves, rate in zip(reversed(self.moves), reversed(self.rates), strict=True):
            later = sum((one * values[last - 1 - to] for to, one in moves if to < last), 1.0)
            values.append(later / rate)
        each = zip(self.starts, reversed(values), strict=True)
        return np.asarray(sum((start * one for start, one in each), np.zeros(self.done.shape)))

    def by(self, chance: Array) -> Phases:
        """Return the time, taken by some chance alone."""
        starts = tuple(start * chance for start in self.starts)
        return replace(self, starts=starts, done=self.done * chance)


def _transform(time: Phases, at: Complex) -> Complex:
    values: list[Complex] = []
    last = len(time.moves)
    found = np.zeros(at.shape, dtype=complex)
    found += time.done
    other = np.empty_like(found)
    each = zip(reversed(time.moves), reversed(time.rates), reversed(time.starts), strict=True)
    for moves, rate, start in each:
        above = np.zeros_like(found)
        for to, one in moves:
            above += one if to == last else np.multiply(values[last - 1 - to], one, out=other)
        values.append(np.divide(above, np.add(at, rate, out=other), out=above))
        if start.any():
            found += np.multiply(above, start, out=other)
    return found


def immediate(mass: Array) -> Phases:
    """Return what takes no time."""
    return Phases(starts=(), moves=(), done=mass)


def one_phase(rate: Array, start: Array) -> Phases:
    """Return an exponential time, which some take and the others do not."""
    return Phases(starts=(start,), moves=(((1, rate),),), done=1 - start)


def both(one: Phases, other: Phases) -> Phases:
    """Return one time after the other."""
    if not one.moves:
        return other.by(one.done)
    if not other.moves:
        return one.by(other.done)
    many, more = len(one.moves), len(other.moves)
    end = many + more
    # What begins in none of the other's phases goes to the end: chances of a move sum to 1.
    mass = other.mass
    other = other.by(1 / np.where(mass > 0, mass, 1.0))

    def then(moves: Moves) -> Moves:
        found = [(to, rate) for to, rate in moves if to < many]
        for to, rate in moves:
            if to == many:
                found += [(many + k, rate * start) for k, start in enumerate(other.starts)]
                found.append((end, rate * other.done))
        return tuple(found)

    return Phases(
        starts=tuple(start * mass for start in one.starts)
        + tuple(one.done * start * mass for start in other.starts),
        moves=tuple(map(then, one.moves))
        + tuple(tuple((many + to, rate) for to, rate in moves) for moves in other.moves),
        done=one.done * other.done * mass,
    )


def mixed(times: Sequence[Phases]) -> Phases:
    """Return one of some times, each by its chance."""
    end, before = sum(len(one.moves) for one in times), 0
    starts: list[Array] = []
    found: list[Moves] = []
    for one in times:
        many = len(one.moves)
        starts += one.starts
        found += [
            tuple((end if to == many else before + to, rate) for to, rate in moves)
            for moves in one.moves
        ]
        before += many
    done = np.asarray(sum(one.done for one in times))
    return Phases(starts=tuple(starts), moves=tuple(found), done=done)


def phases_of_longest(times: Sequence[Phases]) -> int:
    """Return how many phases the longest of some times has."""
    return prod(len(one.moves) + 1 for one in times) - 1


def longest(times: Sequence[Phases]) -> Phases:
    """Return the longest of independent times."""
    ends = tuple(len(one.moves) for one in times)
    places = list(product(*(range(end + 1) for end in ends)))
    number = {place: k for k, place in enumerate(places)}
    begins = [(*one.starts, one.done) for one in times]
    starts, found = [], []
    for place in places[:-1]:
        starts.append(prod(begin[at] for begin, at in zip(begins, place, strict=True)))
        found.append(
            tuple(
                (number[*place[:k], to, *place[k + 1 :]], rate)
                for k, one in enumerate(times)
                if place[k] < ends[k]
                for to, rate in one.moves[place[k]]
            )
        )
    done = prod(one.done for one in times)
    return Phases(starts=tuple(map(np.asarray, starts)), moves=tuple(found), done=np.asarray(done))


def later(time: Phases, after: Array) -> Phases:
    """Return what is left of a time when some of it is over.

    Its phases are where they are after that: by squares of what a short step does, of which each
    number is a sum of what has one sign.
    """
    many = len(time.moves)
    if not many or not after.any():
        return time
    fastest = np.max(time.rates, axis=0)
    halves = max(0, int(np.ceil(np.log2(max(1e-300, float((fastest * after).max()) / _STEP)))))
    step = after / 2.0**halves
    there = np.zeros((*after.shape, many + 1, many + 1))
    for j, (moves, rate) in enumerate(zip(time.moves, time.rates, strict=True)):
        there[:, j, j] = (fastest - rate) * step
        for to, one in moves:
            there[:, j, to] += one * step
    there[:, many, many] = fastest * step
    term = np.broadcast_to(np.eye(many + 1), there.shape)
    moved = term
    for k in range(1, _TERMS):
        term = term @ there / k
        moved = moved + term
    moved = moved * np.exp(-fastest * step)[:, None, None]
    for _ in range(halves):
        moved = moved @ moved
    begin = np.stack([*time.starts, time.done], axis=1)
    now = (begin[:, None, :] @ moved)[:, 0, :]
    starts = tuple(np.ascontiguousarray(now[:, k]) for k in range(many))
    return replace(time, starts=starts, done=np.ascontiguousarray(now[:, many]))
