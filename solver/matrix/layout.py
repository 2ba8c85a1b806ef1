"""Which configuration a row is: its number in the product of the axes, and the values there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from qps.compiler import ir
from qps.solver.matrix.prepared import Floats, Ints

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


@lru_cache(maxsize=256)
def numbers_of(axis: ir.Axis) -> Floats:
    """Return the values of an axis of numbers, in base units."""
    if isinstance(axis.numbers, ir.Steps) and axis.count > _EXACT_COUNT:
        steps = np.arange(axis.count, dtype=float)
        return float(axis.numbers.low) + steps * float(axis.numbers.step)
    return np.array([float(axis.number(index)) for index in range(axis.count)])
