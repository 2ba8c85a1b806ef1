"""Where rows begin to fail: each is looked for where others like it do.

Some of the rows are closed in on first. Those between them are looked for about where a curve
through these leads, or where rows that follow each other are not alike, as samples are not, where a
polynomial of what they are made of does: two values mostly suffice, that of the population before
and that of the one that fails. Where a prediction is off the row is closed in on as any other, from
a shorter range.
"""

from __future__ import annotations

import numpy as np

from qps.solver.matrix.limits.failure_brackets import Excess, closed_in
from qps.solver.matrix.limits.row_preparation import Floats, Ints, Rows
from qps.solver.matrix.limits.row_regression import predicted

_FEWEST, _STRIDE, _NODES = 48, 9, 4
"""Rows from which some are closed in on first; one of so many; nodes of a curve.

One of an odd number: of an even number all of a Sobol sequence lie on one side.
"""
_ALIKE = 0.02
"""A part of a point by which the middle one of three may be off the line through the others."""
_OF_ERROR = 0.1
"""How far off a curve is about, as a part of by how much it and a line differ."""
_LEAST_STEP, _TRIALS = 2.0, 7
"""Steps to the other side: the least of them but the first, and how many."""


def first_failing(
    rows: Rows, excess: Excess, ends: tuple[Floats, Floats], values: tuple[Floats, Floats]
) -> Floats:
    """Return the least populations that fail, between some that hold and some that fail.

    `values` are the excesses at these `ends`; infinite where it is not so.
    """
    if rows.count < _FEWEST:
        return closed_in(rows, excess, ends, values, is_whole=True)
    found = np.empty(rows.count)
    nodes = np.arange(0, rows.count, _STRIDE)
    nodes = nodes if nodes[-1] == rows.count - 1 else np.append(nodes, rows.count - 1)
    found[nodes] = first_failing(rows.take(nodes), excess, *_of(nodes, ends, values))
    left = np.setdiff1d(np.arange(rows.count), nodes, assume_unique=True)
    own_ends, own_values = _of(left, ends, values)
    some = rows.take(left)
    is_curve = _are_alike(found[nodes])
    at = found[nodes] - 0.5
    about = _between(nodes, at, left) if is_curve else predicted(rows, nodes, at, left)
    if about is not None:
        own_ends, own_values = _narrowed(some, excess, own_ends, own_values, about)
    found[left] = closed_in(some, excess, own_ends, own_values, is_whole=True)
    return found


_Pair = tuple[Floats, Floats]


def _of(index: Ints, ends: _Pair, values: _Pair) -> tuple[_Pair, _Pair]:
    return (ends[0][index], ends[1][index]), (values[0][index], values[1][index])


def _are_alike(points: Floats) -> bool:
    """Return whether rows beside each other begin to fail at about the same, most of them."""
    if points.size < _NODES or not np.isfinite(points).all():
        return False
    off = np.abs(points[1:-1] - (points[:-2] + points[2:]) / 2)
    return bool(np.median(off / points[1:-1]) <= _ALIKE)


def _between(nodes: Ints, points: Floats, left: Ints) -> tuple[Floats, Floats]:
    """Return where a curve through four points leads, and about how far off that is."""
    segment = np.searchsorted(nodes, left) - 1
    first = np.clip(segment - 1, 0, nodes.size - _NODES)
    each = first[:, None] + np.arange(_NODES)
    x, y = nodes[each].astype(float), np.log(points[each])
    at = left.astype(float)
    curve = np.zeros(left.size)
    for k in range(_NODES):
        weight = np.ones(left.size)
        for j in range(_NODES):
            if j != k:
                weight *= (at - x[:, j]) / (x[:, k] - x[:, j])
        curve += weight * y[:, k]
    line = np.interp(at, nodes, np.log(points))
    found = np.exp(curve)
    return found, _OF_ERROR * np.abs(found - np.exp(line))


def _narrowed(
    rows: Rows, excess: Excess, ends: _Pair, values: _Pair, about: _Pair
) -> tuple[_Pair, _Pair]:
    """Return ends that are nearer to each other, and their values, by trying what is predicted.

    `about` is where that is, and how far off it may be.
    """
    at, error = about
    low, high = (end.copy() for end in ends)
    at_low, at_high = (value.copy() for value in values)
    left, point = np.arange(rows.count), np.floor(at)
    farther = np.maximum(_LEAST_STEP, np.ceil(error))
    for times in range(_TRIALS):
        step = 4.0 ** (times - 1) * farther if times else np.where(error < 1, 1.0, farther)
        here = np.clip(point, low[left] + 1, high[left] - 1)
        value = excess(rows.take(left), here)
        fails = value > 0
        failing, holding = left[fails], left[~fails]
        high[failing], at_high[failing] = here[fails], value[fails]
        low[holding], at_low[holding] = here[~fails], value[~fails]
        # Until both sides of it have been met.
        going = (high[left] - low[left] > 1) & (
            (low[left] == ends[0][left]) | (high[left] == ends[1][left])
        )
        point = np.where(fails, here - step[left], here + step[left])[going]
        left = left[going]
        if not left.size:
            break
    return (low, high), (at_low, at_high)
