"""Where resources saturate, for many rows at once: in closed form, else by a bracketed root."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, sqrt
from typing import Any, TypeAlias

import numpy as np

from qps.engine.exact_algebra.exact_values import as_float
from qps.engine.execution.exact_runs import Exact
from qps.engine.expressions.formulas import Formula
from qps.solver.matrix.limits.failure_brackets import closed_in
from qps.solver.matrix.limits.failure_search import Sought, first_failures
from qps.solver.matrix.limits.range_proofs import shape_of
from qps.solver.matrix.limits.row_preparation import (
    Bools,
    Boxes,
    CompiledCriterion,
    Floats,
    Ints,
    Rows,
)

_FARTHEST = 1e15
_DOUBTFUL = 1e-9
_ON_TARGET = 1e-12
_SHORTLY = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledResource:
    """A resource: where its load is at its target, and the closed form of that.

    `quadratic` holds operations a, b, c: the load is above its target where a N^2 + b N + c is
    above zero. `criterion` says that the load is at most its target. One that elastic parameters
    fill (`is_filled`) stays at its target by design and saturates where it passes it. `fullness` is
    what is demanded of it as a part of its target, in symbols: its `load`, but for what users
    demand who wait for an answer. What loses who finds no room `is_never_full`.
    """

    name: str
    quadratic: tuple[int, int, int] | None
    criterion: CompiledCriterion
    is_filled: bool
    load: int
    fullness: Formula
    is_never_full: bool = False

    @property
    def steps(self) -> frozenset[int]:
        """The operations that its saturation rests on."""
        quadratic = self.quadratic or ()
        return frozenset({self.demand, self.target, *self.criterion.tight, *quadratic})

    @property
    def demand(self) -> int:
        """The operation that gives what is demanded of it, whether or not that is served."""
        return self.criterion.measure

    @property
    def target(self) -> int:
        """The operation that gives its target."""
        return self.criterion.limit


@dataclass(frozen=True, slots=True)
class Saturations:
    """Where loads first pass their targets, infinite for never; open rows are undecided."""

    at: Floats
    is_open: Bools


Columns: TypeAlias = Callable[[Sequence[int], Ints, Floats | None], Mapping[int, Sequence[Exact]]]
"""Gives exact values of operations in some rows, at a population of each."""


def saturations(
    rows: Rows,
    resource: CompiledResource,
    low: int,
    exactly: Columns,
    *,
    is_shared: bool = False,
    until: Floats | None = None,
) -> Saturations:
    """Return where a load first reaches its target, from `low` on; beyond the range too.

    Rows in which it only just does, at a point or for a while, are decided exactly. What
    `is_shared` is found for other rows, too. What saturates behind `until` may count as never.
    """
    if resource.is_never_full:
        return Saturations(np.full(rows.count, np.inf), np.full(rows.count, fill_value=False))
    if resource.quadratic is not None:
        return _closed_form(rows, resource, low, exactly)
    farthest = np.full(rows.count, _FARTHEST)
    if until is not None:
        farthest = np.clip(until * (1 + _SHORTLY), float(low), _FARTHEST)
    ends = np.full(rows.count, float(low)), farthest
    sought = Sought(
        excess=partial(crossing_excess, resource),
        is_simple=partial(_is_simple, resource),
        is_whole=False,
        is_shared=is_shared,
    )
    first = first_failures(rows, sought, *ends)
    at = _to_last_digits(rows, resource, first.at, ends[0])
    found = Saturations(at, first.is_open | ~_has_value(rows, resource, at, farthest))
    if not resource.is_filled:
        _separate_rounding(rows, resource, found, exactly)
    return found


def float_saturations(rows: Rows, resource: CompiledResource, low: int, exactly: Columns) -> Floats:
    """Return the same where a load that once reaches its target is taken to stay there."""
    if resource.quadratic is not None:
        return _closed_form(rows, resource, low, exactly).at
    ends = np.full(rows.count, float(low)), np.full(rows.count, _FARTHEST)
    sought = Sought(
        excess=partial(crossing_excess, resource),
        is_simple=lambda some, _start, _stop: np.ones(some.count, dtype=bool),
        is_whole=False,
    )
    return first_failures(rows, sought, *ends).at


def _has_value(rows: Rows, resource: CompiledResource, at: Floats, farthest: Floats) -> Bools:
    """Return where a load has a value at the point found: 0/0 may be what is left by underflow."""
    sides = resource.demand, resource.target
    values = rows.at(sides, np.where(np.isfinite(at), at, farthest))
    load, target = (rows.column(values, side) for side in sides)
    return np.isinf(at) | ~np.isnan(load - target)


def _separate_rounding(
    rows: Rows, resource: CompiledResource, found: Saturations, exactly: Columns
) -> None:
    """Leave open where a load comes to its target within rounding, and exactly does not.

    It comes to it just behind the point found, or at the whole population there and nowhere else.
    """
    later = found.at * (1 + _SHORTLY)
    near = np.abs(crossing_excess(resource, rows, later)) <= 2 * _ON_TARGET
    falls = crossing_excess(resource, rows, later) <= 0
    where = np.flatnonzero(np.isfinite(found.at) & ~found.is_open & (near | falls))
    sides = (resource.demand, resource.target)
    whole = np.round(found.at)
    reaches = np.zeros(where.size, dtype=bool)
    for at in (np.where(np.abs(whole - found.at) <= _SHORTLY * whole, whole, later), later):
        left = np.flatnonzero(~reaches)
        if left.size:
            values = exactly(sides, where[left], at[where[left]])
            for row, (load, target) in zip(
                left, zip(*(values[s] for s in sides), strict=True), strict=True
            ):
                is_exact = not isinstance(load, float) and not isinstance(target, float)
                reaches[row] = is_exact and load >= target
                if reaches[row] and at[where[row]] == whole[where[row]]:
                    found.at[where[row]] = whole[where[row]]
    found.is_open[where[~reaches]] = True


def _exact_form(values: Sequence[Exact], low: int, *, passes: bool) -> float | None:
    """Return where a x^2 + b x + c comes to zero, exactly; None where these are no fractions."""
    if any(isinstance(value, float) for value in values):
        return None
    a, b, c = values
    b, c = b + 2 * a * low, c + low * (b + a * low)
    if c > 0 or (c == 0 and (not passes or (a == 0 and b == 0))):
        return float(low)
    if c == 0 and (b > 0 or (b == 0 and a > 0)):
        return float(low)
    if c == 0:
        return low + as_float(-b / a) if a > 0 else inf
    discriminant = b * b - 4 * a * c
    if a <= 0 and (b <= 0 or discriminant < 0 or (discriminant == 0 and passes)):
        return inf
    root = sqrt(as_float(discriminant))
    if b > 0:
        return low + 2 * as_float(c) / (-as_float(b) - root)
    return low + (root - as_float(b)) / (2 * as_float(a))


def _closed_form(rows: Rows, resource: CompiledResource, low: int, exactly: Columns) -> Saturations:
    quadratic = resource.quadratic
    assert quadratic is not None
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
        # A parabola that just touches the limit: floats cannot determine whether it passes it.
        near = np.abs(c) <= _DOUBTFUL
        touches = (a < 0) & (np.abs(b * b - 4 * a * c) <= _DOUBTFUL * (b * b + np.abs(4 * a * c)))
    # On the limit at the start, and falling from there, it is full at the start alone.
    grazes = near & (b <= 0)
    is_open = ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))
    where = np.flatnonzero((touches | grazes) & ~is_open)
    if where.size:
        exact = exactly(quadratic, where, None)
        each = zip(*(exact[number] for number in quadratic), strict=True)
        for row, own in zip(where, each, strict=True):
            form = _exact_form(own, low, passes=resource.is_filled)
            at[row], is_open[row] = (at[row], True) if form is None else (form, False)
    return Saturations(at, is_open)


def _is_simple(resource: CompiledResource, rows: Boxes, start: Floats, end: Floats) -> Bools:
    """Return of which rows it is proved that loads stay beyond their targets between two points."""
    criterion = resource.criterion
    found = rows.bounds(criterion.tight, start, end)
    shape = shape_of(rows.runner.program, criterion, found)
    load, target = (found[side] for side in criterion.tight)
    # What fills its resource passes the target or not; all else reaches it where it touches it.
    never = shape.never if resource.is_filled else load.high < target.low * (1 - 2 * _ON_TARGET)
    return np.broadcast_to(np.asarray(never | shape.is_simple, dtype=bool), (rows.count,)).copy()


def _rounded_excess(resource: CompiledResource, rows: Rows, population: Any) -> Floats:
    """Return by how much a load is above its target, by floats; infinite where it has no value."""
    sides = resource.demand, resource.target
    values = rows.at(sides, population)
    load, target = (rows.column(values, side) for side in sides)
    value = load - target
    return np.where(np.isnan(value), np.inf, value)


def crossing_excess(resource: CompiledResource, rows: Rows, population: Any) -> Floats:
    """Return the same but for rounding: what fills passes its target, all else reaches it."""
    tolerance = -_ON_TARGET if resource.is_filled else _ON_TARGET
    return _rounded_excess(resource, rows, population) + tolerance


def _to_last_digits(rows: Rows, resource: CompiledResource, found: Floats, low: Floats) -> Floats:
    """Return where loads cross their targets, of points that are near to that.

    Where they lie on them, that begins or ends at the points that were found.
    """
    at = found.copy()
    index = np.flatnonzero(np.isfinite(found) & (found > low))
    near, far = found[index] * (1 - _SHORTLY), found[index] * (1 + _SHORTLY)
    some, near = rows.take(index), np.maximum(low[index], near)
    excess = partial(_rounded_excess, resource)
    values = excess(some, near), excess(some, far)
    exact = closed_in(some, excess, (near, far), values, is_whole=False)
    at[index] = np.where(np.isfinite(exact), exact, found[index])
    return at
