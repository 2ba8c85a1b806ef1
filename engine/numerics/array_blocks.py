"""Functions of arrays, a block of elements at a time; roots of many equations at once.

Everything here works on float64, with numpy's broadcasting; a function of numbers alone gives a
number. Nothing warns: what has no value is not-a-number, as with the functions of one number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_BLOCK = 4096
_MOST_STEPS = 120
_ENOUGH = 2e-15
_NEXT_IS_EXACT = 1e-9
_FEWEST_ELEMENTS, _STRIDE = 64, 8
"""Elements from which one of so many is found first."""


@cache
def gauss_rule(points: int) -> tuple[Array, Array]:
    """Return where Gauss's rule looks between -1 and 1, and how much each place counts."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return nodes, weights


def in_blocks(function: Callable[..., Array], *arguments: ArrayLike, size: int = _BLOCK) -> Array:
    """Return a function of flat arrays of one length, for arguments of any shapes.

    A block of elements is done at a time: what is made on the way stays in the processor's cache.
    """
    return slopes_in_blocks(lambda *some: (function(*some),), *arguments, size=size)[0]


def slopes_in_blocks(
    function: Callable[..., tuple[Array, ...]], *arguments: ArrayLike, size: int = _BLOCK
) -> tuple[Array, ...]:
    """Return several results of a function of flat arrays, for arguments of any shapes."""
    wide = np.broadcast_arrays(*(np.asarray(argument, dtype=float) for argument in arguments))
    shape, flat = wide[0].shape, [one.ravel() for one in wide]
    starts = range(0, max(1, flat[0].size), size)
    with np.errstate(all="ignore"):
        blocks = [function(*(one[start : start + size] for one in flat)) for start in starts]
    if len(blocks) == 1:
        return tuple(result.reshape(shape)[()] for result in blocks[0])
    return tuple(np.concatenate(results).reshape(shape) for results in zip(*blocks, strict=True))


def pair_in_blocks(
    function: Callable[..., tuple[Array, Array]], *arguments: ArrayLike
) -> tuple[Array, Array]:
    """Return two results of a function of flat arrays, for arguments of any shapes."""
    first, second = slopes_in_blocks(function, *arguments)
    return first, second


def triple_in_blocks(
    function: Callable[..., tuple[Array, Array, Array]],
    *arguments: ArrayLike,
) -> tuple[Array, Array, Array]:
    """Return three results of a function of flat arrays, for arguments of any shapes."""
    first, second, third = slopes_in_blocks(function, *arguments)
    return first, second, third


def row_by_row(function: Callable[..., float]) -> Callable[..., Array]:
    """Return a function of columns of one that is computed row by row."""

    def found(*columns: Array) -> Array:
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return np.array([function(*row) for row in rows])

    return found


def filled(
    is_among: NDArray[np.bool_], into: Array, function: Callable[..., Array], *arguments: Array
) -> None:
    """Put a function's values into an array, for some elements."""
    if not is_among.any():
        return
    if is_among.all():
        into[:] = function(*arguments)
    else:
        into[is_among] = function(*(argument[is_among] for argument in arguments))


def falling_root(
    function: Callable[..., tuple[Array, Array]],
    low: Array,
    high: Array,
    start: Array,
    *arguments: Array,
    guess: float = _NEXT_IS_EXACT,
) -> Array:
    """Return where falling functions vanish, by Newton's steps; halved where they leave a bracket.

    `function` gives values and slopes for points and `arguments`. Elements that are done leave.
    From so `guess`, as a part of the point, a step is exact.
    """
    found = start.copy()
    left = np.arange(found.size)
    point = start
    for _ in range(_MOST_STEPS):
        value, slope = function(point, *arguments)
        low = np.where(value > 0, point, low)
        high = np.where(value > 0, high, point)
        after = point - value / slope
        is_inside = (after >= low) & (after <= high)
        after = np.where(is_inside, after, (low + high) / 2)
        step = np.abs(after - point)
        # Newton's step from nearby is exact; a halved one is when nothing is left to halve.
        is_done = np.where(is_inside, step <= guess * after, high - low <= _ENOUGH * high)
        # A point that stays, as one beyond all floats does, would stay in each step from there.
        is_done |= (value == 0) | np.isnan(value) | (after == point)
        found[left] = np.where(value == 0, point, after)
        if is_done.all():
            break
        if is_done.any():
            going = ~is_done
            left, low, high, after = left[going], low[going], high[going], after[going]
            arguments = tuple(argument[going] for argument in arguments)
        point = after
    return found


def falling_root_by_neighbors(
    function: Callable[..., tuple[Array, Array]],
    low: Array,
    high: Array,
    start: Array,
    *arguments: Array,
    guess: float = _NEXT_IS_EXACT,
) -> Array:
    """Return the same of many elements of which those that follow each other are mostly alike.

    One of so many is found first; those between them start on a line through two of these.
    """
    count = start.size
    if count < _FEWEST_ELEMENTS:
        return falling_root(function, low, high, start, *arguments, guess=guess)
    nodes = np.unique(np.append(np.arange(0, count, _STRIDE), count - 1))
    left = np.setdiff1d(np.arange(count), nodes, assume_unique=True)
    found = np.empty(count)
    for some in (nodes, left):
        ends = low[some], high[some]
        begin = start[some]
        if some is left:
            near = np.interp(left, nodes, found[nodes])
            begin = np.where((near > ends[0]) & (near < ends[1]), near, begin)
        own = (argument[some] for argument in arguments)
        found[some] = falling_root(function, *ends, begin, *own, guess=guess)
    return found
