"""Where resources saturate, for many rows at once: in closed form, else by a bracketed root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qps.engine.bounding import bounds_of
from qps.engine.columns.on_bounds import Bounds
from qps.solver.matrix.prepared import Bools, CompiledCriterion, Floats, Rows
from qps.solver.matrix.proofs import Shape, shape_of

_FARTHEST = 1e15
_MOST_STEPS = 400
_MOST_PIECES = 200
_PIECES_FOR_ANY, _PIECES_FOR_EACH = 8, 4
"""A row that is solved by itself takes as long as so many pieces, at least."""
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
    start, end = np.full(rows.count, float(low)), np.full(rows.count, _FARTHEST)
    is_up = _shape(rows, resource, start, end).rises
    found = Saturations(np.full(rows.count, np.inf), np.zeros(rows.count, dtype=bool))
    for index, search in (
        (np.flatnonzero(is_up), _bracketed),
        (np.flatnonzero(~is_up), _by_pieces),
    ):
        some = rows.take(index)
        own = search(some, resource, low)
        found.at[index] = own.at
        found.is_open[index] = own.is_open
        if not resource.is_filled:
            found.is_open[index] |= _lies_on_its_target(some, resource, low, own.at)
    return found


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


def _shape(rows: Rows, resource: CompiledResource, start: Floats, end: Floats) -> Shape:
    """Return what is proved of a load between two populations of each row."""
    known = {number: Bounds(value, value) for number, value in rows.known.items()}
    program, criterion = rows.runner.program, resource.criterion
    sides = (criterion.measure, criterion.limit)
    found = bounds_of(program, sides, known, {}, (start, end))
    shape = shape_of(program, criterion, found)
    load, target = found[criterion.measure], found[criterion.limit]
    # What fills its resource passes the target or not; all else reaches it where it touches it.
    never = shape.never if resource.is_filled else load.high < target.low * (1 - _ON_TARGET)

    def wide(value: Any) -> Bools:
        return np.broadcast_to(np.asarray(value, dtype=bool), (rows.count,)).copy()

    return Shape(wide(never), wide(shape.rises), wide(shape.falls), wide(shape.either))


def _by_pieces(rows: Rows, resource: CompiledResource, low: int) -> Saturations:
    """Return where loads of which nothing is known beforehand first pass their targets.

    The range is cut into pieces for which it is proved that they do not, or where they do.
    """
    at, is_open = np.full(rows.count, np.inf), np.zeros(rows.count, dtype=bool)
    here, length = np.full(rows.count, float(low)), np.full(rows.count, max(1.0, float(low)))
    excess = _excess(rows, resource, here)
    at[excess > 0] = low
    is_open[_touches(resource, excess)] = True
    active = np.flatnonzero((excess <= 0) & ~is_open)
    for _ in range(min(_MOST_PIECES, _PIECES_FOR_ANY + _PIECES_FOR_EACH * rows.count)):
        if not active.size:
            break
        some, start = rows.take(active), here[active]
        stop = np.minimum(start + length[active], _FARTHEST)
        shape = _shape(some, resource, start, stop)
        excess = _excess(some, resource, stop)
        passes, touches = excess > 0, _touches(resource, excess)
        is_open[active[touches]] = True
        crosses = shape.rises & passes & ~touches
        index = np.flatnonzero(crosses)
        at[active[index]] = _closed_in(some.take(index), resource, start[index], stop[index])
        is_past = shape.never | (shape.either & ~passes)
        here[active] = np.where(is_past, stop, start)
        length[active] = np.where(is_past, 2 * (stop - start), (stop - start) / 2)
        is_over = crosses | touches | (is_past & (stop >= _FARTHEST))
        active = active[~is_over]
    is_open[active] = True
    return Saturations(at, is_open)


def _touches(resource: CompiledResource, excess: Floats) -> Bools:
    """Return where floats do not tell whether a load reaches its target."""
    is_near: Bools = np.abs(excess) <= _ON_TARGET
    return is_near & (not resource.is_filled)


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


def _bracketed(rows: Rows, resource: CompiledResource, low: int) -> Saturations:
    """Return where loads that stay above their targets once they are there pass them."""
    found = np.full(rows.count, np.inf)
    starts = _excess(rows, resource, float(low))
    found[starts > 0] = low
    where = np.flatnonzero(starts <= 0)
    some = rows.take(where)
    below, above = np.full(where.size, float(low)), np.full(where.size, max(2.0 * low, 2.0))
    at_above = _excess(some, resource, above)
    while (short := (at_above <= 0) & (above < _FARTHEST)).any():
        below = np.where(short, above, below)
        above = np.where(short, 2 * above, above)
        at_above = _excess(some, resource, above)
    found[where] = _closed_in(some, resource, below, above)
    return Saturations(found, np.zeros(rows.count, dtype=bool))


def _closed_in(rows: Rows, resource: CompiledResource, below: Floats, above: Floats) -> Floats:
    """Return where loads pass their targets between two populations, infinite where they do not."""
    found = np.full(rows.count, np.inf)
    where = np.arange(rows.count)
    at_below, at_above = _excess(rows, resource, below), _excess(rows, resource, above)
    for step in range(1, _MOST_STEPS):
        reaches = (at_above > 0) & (above - below > _NEAR_ENOUGH * above)
        if not reaches.size or not reaches.all():
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
