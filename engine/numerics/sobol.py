"""Sobol's sequences: points that fill a cube more evenly than chance does.

S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections, SIAM
Journal on Scientific Computing 30 (2008); their direction numbers are in `sobol_directions.csv`.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from random import Random

import numpy as np
from numpy.typing import NDArray

_BITS = 32


def sobol_points(count: int, dimensions: int, seed: int) -> NDArray[np.float64]:
    """Return points in the open unit cube, a row each: the same for the same seed, on any machine.

    Each dimension is shifted by digits that the seed draws, so that every point is distributed
    evenly over the cube. Dimensions beyond those that have direction numbers are stratified each by
    itself: Latin hypercubes.
    """
    drawn = Random(seed)  # noqa: S311 - it hides nothing
    random = np.random.Generator(np.random.PCG64(seed))
    found = np.empty((count, dimensions))
    known = min(dimensions, len(_directions()))
    for dimension in range(known):
        whole = _coordinates(dimension, count) ^ np.uint64(drawn.getrandbits(_BITS))
        found[:, dimension] = (whole.astype(float) + 0.5) / float(1 << _BITS)
    for dimension in range(known, dimensions):
        found[:, dimension] = (random.permutation(count) + random.random(count)) / count
    return found


def _coordinates(dimension: int, count: int) -> NDArray[np.uint64]:
    """Return one coordinate of the first points, as whole numbers of `_BITS` bits.

    The n-th is the sum, without carries, of the directions of the bits of n in Gray's code.
    """
    directions = np.array(_directions()[dimension], dtype=np.uint64)
    numbers = np.arange(count, dtype=np.uint64)
    gray = numbers ^ (numbers >> np.uint64(1))
    found = np.zeros(count, dtype=np.uint64)
    for bit in range(max(count - 1, 1).bit_length()):
        has = (gray >> np.uint64(bit)) & np.uint64(1)
        found ^= has * directions[bit]
    return found


@cache
def _directions() -> list[list[int]]:
    """Return the direction numbers of each dimension, by the recurrence of its polynomial."""
    text = files("qps.engine.numerics").joinpath("sobol_directions.csv").read_text(encoding="ascii")
    found = []
    for row in csv.DictReader(text.splitlines()):
        initial = [int(number) for number in row["initial"].split()]
        found.append(_recurrence(int(row["polynomial"]), initial))
    return found


def _recurrence(polynomial: int, initial: list[int]) -> list[int]:
    degree = polynomial.bit_length() - 1
    if degree == 0:  # the first dimension: van der Corput's
        return [1 << (_BITS - 1 - bit) for bit in range(_BITS)]
    numbers = list(initial)
    while len(numbers) < _BITS:
        following = numbers[-degree] ^ (numbers[-degree] << degree)
        for step in range(1, degree):
            if polynomial >> (degree - step) & 1:
                following ^= numbers[-step] << step
        numbers.append(following)
    return [number << (_BITS - 1 - bit) for bit, number in enumerate(numbers)]
