"""Where rows begin to fail, about: a polynomial of what they are made of, fitted to some of them.

By least squares, of the logarithms of the numbers above zero, for the logarithm of the population:
products of powers are met exactly. Of numbers that move together only their principal directions
count (K. Pearson 1901, On lines and planes of closest fit to systems of points in space,
Philosophical Magazine 2), as they do where several come from one that is drawn.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np

from qps.solver.matrix.limits.row_preparation import Floats, Ints, Rows

_LEAST_PART = 1e-9
"""Directions in which numbers move by less than this part of how they move most do not count."""
_MOST_DIRECTIONS, _MOST_ORDER, _MOST_TERMS = 12, 6, 60
_FOR_EACH = 2
"""Points for each term, at least."""
_WORST = 0.05
"""How far off a polynomial may be, as a part of the population, to be of use."""


def predicted(
    rows: Rows, nodes: Ints, points: Floats, others: Ints
) -> tuple[Floats, Floats] | None:
    """Return about where some of the rows begin to fail, and how far off that may be.

    By the `points` at which those at `nodes` do. None where no polynomial serves.
    """
    is_there = np.isfinite(points) & (points > 0)
    if 2 * np.count_nonzero(is_there) < points.size:
        return None
    columns = [np.asarray(one) for one in rows.known.values() if np.ndim(one)]
    numbers = _varying(columns, nodes)
    if numbers is None:
        return None
    used, logs = numbers[nodes[is_there]], np.log(points[is_there])
    found = _fitted(used, logs)
    if found is None:
        return None
    order, weights, off = found
    if off > _WORST:
        return None
    at = np.exp(np.clip(_terms(numbers[others], order) @ weights, logs.min(), logs.max()))
    return at, at * off


def _varying(columns: list[Floats], nodes: Ints) -> Floats | None:
    """Return the directions in which numbers of rows move, a column each, of variance 1."""
    scaled = []
    for column in columns:
        if not np.isfinite(column).all():
            return None
        own = np.log(column) if (column > 0).all() else column
        middle, spread = own[nodes].mean(), own[nodes].std()
        if spread > _LEAST_PART * max(abs(middle), 1.0):
            scaled.append((own - middle) / spread)
    if not scaled:
        return None
    together = np.stack(scaled, axis=1)
    _, lengths, axes = np.linalg.svd(together[nodes], full_matrices=False)
    count = int(np.count_nonzero(lengths > _LEAST_PART * lengths[0]))
    if count > _MOST_DIRECTIONS:
        return None
    return np.asarray(together @ (axes[:count].T * (np.sqrt(nodes.size) / lengths[:count])))


def _fitted(numbers: Floats, logs: Floats) -> tuple[int, Floats, float] | None:
    """Return the order and the weights of the polynomial of as high an order as points allow.

    And its deviation. None where they are too few for any.
    """
    for order in range(_MOST_ORDER, 0, -1):
        terms = comb(numbers.shape[1] + order, order)
        if terms <= _MOST_TERMS and _FOR_EACH * terms <= logs.size:
            own = _terms(numbers, order)
            weights: Floats = np.linalg.lstsq(own, logs, rcond=None)[0].astype(float)
            missed = logs - own @ weights
            return order, weights, float(np.sqrt(np.sum(missed**2) / (logs.size - terms)))
    return None


def _terms(numbers: Floats, order: int) -> Floats:
    """Return the products of up to so many of the numbers, a column each."""
    columns: dict[tuple[int, ...], Floats] = {(): np.ones(len(numbers))}
    for degree in range(1, order + 1):
        for chosen in combinations_with_replacement(range(numbers.shape[1]), degree):
            columns[chosen] = columns[chosen[:-1]] * numbers[:, chosen[-1]]
    return np.stack(list(columns.values()), axis=1)
