"""Where resources saturate, for many rows at once: in closed form, else by a bracketed root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qps.engine.bounding import bounds_of
from qps.engine.row_bounds import Bounds
from qps.solver.matrix.prepared import Bools, CompiledCriterion, Floats, Rows
from qps.solver.matrix.proofs import shape_of

_FARTHEST = 1e15
_MOST_STEPS = 400
_NEAR_ENOUGH = 4e-16
_HALVE_EVERY = 3
_DOUBTFUL = 1e-9
_ON_TARGET = 1e-12
_SOMEWHAT = 1e-6


@dataclass(frozen=True, slots=True)
class CompiledResource:
    """A resource: the operations of its load and target, the closed form of where it is full.

    `quadratic` holds operations a, b, c: the load is above its target where a N^2 + b N + c is
    above zero. `criterion` says that the load is at most its target. One that elastic parameters
    fill (`is_filled`) stays at its target by design and saturates where it passes it.
    """

    name: str
    load: int
    target: int
    quadratic: tuple[int, int, int] | None
    criterion: CompiledCriterion
    is_filled: bool


@dataclass(frozen=True, slots=True)
class Saturations:
    """Where loads first pass their targets, infinite for never; open rows could not be told."""

    at: Floats
    is_open: Bools


def saturations(rows: Rows, resource: CompiledResource, low: int) -> Saturations:
    """Return where a load first reaches its target, from `low` on; beyond the range too.

    Rows in which it only just does, at a point or for a while, are left open: floats do not tell.
    """
    if resource.quadratic is not None:
        return _closed_form(rows, resource.quadratic, low)
    is_up = _rises(rows, resource, low)
    at = np.full(rows.count, np.inf)
    index = np.flatnonzero(is_up)
    some = rows.take(index)
    at[index] = _bracketed(some, resource, low)
    if not resource.is_filled:
        is_up[index[_lies_on_its_target(some, resource, low, at[index])]] = False
    return Saturations(at, ~is_up)


def _closed_form(rows: Rows, quadratic: tuple[int, int, int], low: int) -> Saturations:
    values = rows.at(quadratic, None)
    a, b, c = (np.asarray(rows.column(values, number)) for number in quadratic)
    # In x = N - low the start is 0, so that its sign is that of one coefficient.
    b, c = b + 2 * a * low, c + low * (b + a * low)
    with np.errstate(all="ignore"):
        root = np.sqrt(b * b - 4 * a * c)
        half = -(b + np.copysign(root, b)) / 2
        ends = half / a, c / half
        lesser, greater = np.fmin(*ends), np.fmax(*ends)
        linear = np.where(b > 0, -c / b, np.inf)
        # Opening upwards it passes zero at the greater root, else at the lesser one, if at all.
        curved = np.where(a > 0, greater, np.where(lesser >= 0, lesser, np.inf))
        beyond = np.where(a == 0, linear, np.where(np.isnan(root), np.inf, curved))
        at = np.where(c > 0, 0.0, np.maximum(beyond, 0.0)) + low
        level = (a == 0) & (b == 0)
        at = np.where(level, np.where(c >= 0, float(low), np.inf), at)
        # A parabola that just touches the limit: floats cannot tell whether it passes it.
        near = np.abs(c) <= _DOUBTFUL
        touches = (a < 0) & (np.abs(b * b - 4 * a * c) <= _DOUBTFUL * (b * b + np.abs(4 * a * c)))
    # On the limit at the start, and falling from there, it is full at the start alone.
    grazes = near & (b <= 0)
    is_sound = np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & ~touches & ~grazes
    return Saturations(at, ~is_sound)


def _rises(rows: Rows, resource: CompiledResource, low: int) -> Bools:
    """Return for which rows it is proved that the load, once above its target, stays so."""
    known = {number: Bounds(value, value) for number, value in rows.known.items()}
    program, criterion = rows.runner.program, resource.criterion
    sides = (criterion.measure, criterion.limit)
    found = bounds_of(program, sides, known, {}, (float(low), _FARTHEST))
    rises = shape_of(program, criterion, found).rises
    return np.broadcast_to(np.asarray(rises, dtype=bool), (rows.count,)).copy()


def _lies_on_its_target(rows: Rows, resource: CompiledResource, low: int, at: Floats) -> Bools:
    """Return in which rows a load lies on its target somewhat before it passes it, if it does."""
    before = np.maximum(np.minimum(at, _FARTHEST) * (1 - _SOMEWHAT), float(low))
    return (np.abs(_excess(rows, resource, before)) <= _ON_TARGET) & (at > low)


def _excess(rows: Rows, resource: CompiledResource, population: Any) -> Floats:
    """Return by how much a load is above its target; infinite where it has no value."""
    sides = resource.load, resource.target
    values = rows.at(sides, population)
    load, target = (rows.column(values, side) for side in sides)
    value = load - target
    return np.where(np.isnan(value), np.inf, value)


def _bracketed(rows: Rows, resource: CompiledResource, low: int) -> Floats:
    """Return where a load that stays above its target once it is there passes it."""
    found = np.full(rows.count, np.inf)
    starts = _excess(rows, resource, float(low))
    found[starts > 0] = low
    where = np.flatnonzero(starts <= 0)
    rows = rows.take(where)
    below, above = np.full(where.size, float(low)), np.full(where.size, max(2.0 * low, 2.0))
    at_below, at_above = starts[where], _excess(rows, resource, above)
    while (short := (at_above <= 0) & (above < _FARTHEST)).any():
        below, at_below = np.where(short, above, below), np.where(short, at_above, at_below)
        above = np.where(short, 2 * above, above)
        at_above = _excess(rows, resource, above)
    for step in range(1, _MOST_STEPS):
        reaches = (at_above > 0) & (above - below > _NEAR_ENOUGH * above)
        if not reaches.all():
            done = np.flatnonzero(~reaches)
            found[where[done]] = np.where(at_above[done] > 0, above[done], np.inf)
            left = np.flatnonzero(reaches)
            if not left.size:
                break
            where, rows = where[left], rows.take(left)
            below, above = below[left], above[left]
            at_below, at_above = at_below[left], at_above[left]
        share: Any = 0.5
        if step % _HALVE_EVERY:
            share = at_below / (at_below - np.minimum(at_above, 1.0))
        at = np.clip(below + share * (above - below), below, above)
        # A step that stays where it was is moved by the least that shows.
        least = np.nextafter(below, above)
        at = np.clip(at, least, np.maximum(np.nextafter(above, below), least))
        value = _excess(rows, resource, at)
        passes = value > 0
        below, at_below = np.where(passes, below, at), np.where(passes, at_below, value)
        above, at_above = np.where(passes, at, above), np.where(passes, value, at_above)
    return found
