"""Which of several loads is the highest, and where another one becomes so."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import zip_longest
from math import inf, isnan

from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.point_values import point_of
from qps.engine.numerics.sloped_intervals import above
from qps.solver.answers.solution import BottleneckChange
from qps.solver.search.bounds import BoundedFunction
from qps.solver.search.boxes import Budget, UndecidedBoxesError, first_above
from qps.solver.search.certain_signs import UndecidedLimitError, sign_at
from qps.solver.search.critical_points import critical_points

_LEAST_BOXES = 100
"""So many boxes are looked at for each load, however many others took."""

_NARROW = Fraction(1, 10**7)
"""Of the range: where bounds do not decide, a meeting is reported in so narrow a place."""

_HALVINGS = 60
_SAME = 1e-9


def upper_envelope(
    loads: Mapping[str, Formula],
    axis: Formula,
    low: Fraction,
    high: Fraction,
    unit: float = 0.0,
) -> tuple[str, tuple[BottleneckChange, ...]]:
    """Follow the highest of some loads along an axis: the first one, and where others follow.

    Where loads are made of rational functions, maxima and minima, they meet at exact places;
    others are searched by bounds, those that take long up to a `unit`. From where on bounds do not
    decide, or so many changes follow that nobody reads them, the last change is to none.
    """
    here, current = low, _highest_at(loads, axis, low, high)
    initially = current
    changes: list[BottleneckChange] = []
    budget = Budget(unit=unit)
    while True:
        at, following = _next_change(
            loads, axis, current, (here, high), budget, is_later=bool(changes)
        )
        if at >= high:
            break
        if len(changes) == len(loads) ** 2:
            following = None
        changes.append(BottleneckChange(float(at), following))
        if following is None:
            break
        here, current = at, following
    return initially, tuple(changes)


def equal_at(
    loads: Mapping[str, Formula], axis: Formula, name: str, at: Fraction
) -> tuple[str, ...]:
    """Return the loads that are as high as one of them at a point, that one first."""
    highest = _value(loads[name], axis, at)
    same = [
        other
        for other, load in loads.items()
        if other != name and abs(_value(load, axis, at) - highest) <= _SAME * max(1.0, abs(highest))
    ]
    return (name, *same)


def _value(load: Formula, axis: Formula, at: Fraction) -> float:
    """Return a load at a point; above all others where it has no value."""
    found = point_of(axis, at).number(load)
    return inf if isnan(found) else found


def _highest_at(loads: Mapping[str, Formula], axis: Formula, at: Fraction, high: Fraction) -> str:
    """Return the highest load at a point, and of several the highest one just after it.

    Of those that are alike there too, the first.
    """
    values = {name: _value(load, axis, at) for name, load in loads.items()}
    most = max(values.values())
    first, *others = (name for name, value in values.items() if value == most)
    for name in others:
        if _is_above_after(loads[name] - loads[first], axis, at, high):
            first = name
    return first


def _is_above_after(gap: Formula, axis: Formula, at: Fraction, high: Fraction) -> bool:
    """Return whether a difference that vanishes at a point is above zero just after it."""
    points = critical_points(gap, axis, at, high)
    if points is not None:
        following = next((point for point in points if point > at), high)
        return _is_above(gap, axis, (at + following) / 2)
    curve, start, end = BoundedFunction(gap, axis), above(float(at)), float(high)
    for _ in range(_HALVINGS):
        if start >= end:  # no float is left between
            break
        bounds = curve.over(start, end)
        if bounds.slow >= 0 or bounds.steep <= 0 or bounds.low > 0 or bounds.high < 0:
            break
        end = float(at) + (end - float(at)) / 2
    return _is_above(gap, axis, (at + Fraction(end)) / 2)


def _next_change(
    loads: Mapping[str, Formula],
    axis: Formula,
    current: str,
    ends: tuple[Fraction, Fraction],
    budget: Budget,
    *,
    is_later: bool,
) -> tuple[Fraction, str | None]:
    """Return where another load next rises above the current one, and whose it is.

    That is the end of the range where none does; None where bounds do not decide from there on.
    """
    found: list[tuple[Fraction, str | None]] = [(ends[1], None)]
    base = loads[current]
    for name, load in loads.items():
        if name == current:
            continue
        try:
            point = _rises_above(load, base, axis, ends, budget, is_later=is_later)
        except UndecidedBoxesError as undecided:
            found.append((max(ends[0], Fraction(undecided.point)), None))
        else:
            found += [] if point is None else [(point, name)]
    at = min(point for point, _ in found)
    names = [name for point, name in found if point == at]
    tied = {name: loads[name] for name in names if name is not None}
    is_decided = at < ends[1] and len(tied) == len(names)
    return at, _highest_at(tied, axis, at, ends[1]) if is_decided else None


def _rises_above(
    load: Formula,
    base: Formula,
    axis: Formula,
    ends: tuple[Fraction, Fraction],
    budget: Budget,
    *,
    is_later: bool,
) -> Fraction | None:
    """Return where a load next rises above another one that is the higher one now.

    That one may have become so there, where this `is_later`. UndecidedError where bounds do not
    decide.
    """
    here, high = ends
    gap = load - base
    meetings = critical_points(gap, axis, here, high)
    if meetings is None:
        if is_later:  # changes within a unit of another are one
            here = min(here + Fraction(budget.unit), high)
            if here == high or (budget.unit and _is_above(gap, axis, here)):
                return None if here == high else here
        own = Budget(max(budget.boxes, _LEAST_BOXES), budget.unit)
        budget.boxes -= own.boxes
        try:
            found = first_above(gap, axis, here, high, own)
        except UndecidedBoxesError as undecided:
            near = max(here, Fraction(undecided.point))
            behind = near + (high - here) * _NARROW
            if behind < high and _is_above(gap, axis, behind):
                return behind  # up to there it has been below, and is above now
            raise
        finally:
            budget.boxes += max(own.boxes, 0)
        return None if found is None else found.at
    inside = [point for point in meetings if here < point < high]
    for point, following in zip_longest(inside, inside[1:], fillvalue=high):
        if _is_above(gap, axis, (point + following) / 2):
            return point
    return None


def _is_above(gap: Formula, axis: Formula, at: Fraction) -> bool:
    """Return whether a difference is above zero at a point; what no digits decide is a tie."""
    try:
        return sign_at(gap, axis, at) == 1
    except UndecidedLimitError:
        return False
