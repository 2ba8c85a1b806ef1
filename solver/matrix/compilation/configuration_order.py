"""Which configuration a row is: its number in the product of the axes, and the values there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import overload

import numpy as np

from qps.compiler import ir
from qps.solver.matrix.compilation.mode_templates import Leaves
from qps.solver.matrix.limits.row_preparation import Floats, Ints

_EXACT_COUNT = 20_000
"""Values of an axis up to which each is the float nearest to the exact number."""


def indices(counts: Sequence[int], numbers: Ints) -> tuple[Ints, ...]:
    """Return for each axis which of its values the rows have; the last axis moves fastest."""
    found: list[Ints] = []
    for count in reversed(counts):
        numbers, index = np.divmod(numbers, count)
        found.append(index)
    return tuple(reversed(found))


def joined(counts: Sequence[int], index: Sequence[Ints]) -> Ints:
    """Return the numbers of rows in the product of some axes: `indices` turned round."""
    total = np.zeros(1, dtype=np.int64)
    for count, values in zip(counts, index, strict=True):
        total = total * count + values
    return total


@dataclass(frozen=True)
class RowAxes:
    """What rows vary along: the axes, and last the groups that share a program.

    Inputs are found by the axis that they are on; leaves are all on the last one.
    """

    axes: tuple[ir.Axis, ...]
    leaves: Leaves = ()

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many values each axis has."""
        members = len(self.leaves[0][1]) if self.leaves else 1
        return (*(axis.count for axis in self.axes), members)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """The axis that each input is on."""
        own = {one.name: i for i, axis in enumerate(self.axes) for one in axis.varied}
        return own | {name: len(self.axes) for name, _ in self.leaves}

    @cached_property
    def columns(self) -> tuple[Mapping[str, Floats], ...]:
        """The inputs on each axis, with their values along it."""
        own = [{one.name: numbers_of(one) for one in axis.varied} for axis in self.axes]
        leaves = {name: np.array([float(n) for n in column]) for name, column in self.leaves}
        return (*own, leaves)

    def number(self, name: str, at: int) -> Fraction:
        """Return the exact value of an input at one of the values of its axis."""
        own = self._varied.get(name)
        return self._leaves[name][at] if own is None else own.number(at)

    def numbers(self, name: str) -> ir.Steps | Sequence[Fraction]:
        """Return the exact values of an input along its axis."""
        own = self._varied.get(name)
        return self._leaves[name] if own is None else own.numbers

    def values(self, index: Mapping[int, Ints]) -> dict[str, Floats]:
        """Return the inputs of rows with some values of axes."""
        return {
            name: column[at] for i, at in index.items() for name, column in self.columns[i].items()
        }

    @cached_property
    def _varied(self) -> Mapping[str, ir.Axis]:
        """The parameters that vary along axes, by their names."""
        return {one.name: one for axis in self.axes for one in axis.varied}

    @cached_property
    def _leaves(self) -> Mapping[str, tuple[Fraction, ...]]:
        return dict(self.leaves)


@dataclass(frozen=True, eq=False)
class SampledFloats(Sequence[Fraction]):
    """Values that were drawn as floats: each is the exact number that its float is."""

    floats: Floats

    def __len__(self) -> int:
        return int(self.floats.size)

    @overload
    def __getitem__(self, at: int) -> Fraction: ...
    @overload
    def __getitem__(self, at: slice) -> SampledFloats: ...
    def __getitem__(self, at: int | slice) -> Fraction | SampledFloats:
        if isinstance(at, slice):
            return SampledFloats(self.floats[at])
        return Fraction(float(self.floats[at]))


@lru_cache(maxsize=256)
def numbers_of(axis: ir.Axis) -> Floats:
    """Return the values of an axis of numbers, in base units."""
    if isinstance(axis.numbers, SampledFloats):
        return axis.numbers.floats
    if isinstance(axis.numbers, ir.Steps) and axis.count > _EXACT_COUNT:
        steps = np.arange(axis.count, dtype=float)
        return float(axis.numbers.low) + steps * float(axis.numbers.step)
    return np.array([float(axis.number(index)) for index in range(axis.count)])
