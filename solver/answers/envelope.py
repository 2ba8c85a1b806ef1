"""Which of several loads is the highest, and where another one becomes so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, zip_longest
from math import inf, isnan

from qps.engine.bisection import bisected
from qps.engine.floats import number_function
from qps.engine.formulas import Formula
from qps.engine.points import point_of
from qps.solver.answers.solution import BottleneckChange
from qps.solver.search.boxes import Budget, UndecidedError, first_above
from qps.solver.search.certain_signs import NoSignError, sign_at
from qps.solver.search.critical import critical_points

_GRID = 1000
_LITTLE = Fraction(1, 1_000_000)
_SAME = 1e-9


def upper_envelope(
    loads: Mapping[str, Formula], axis: Formula, low: Fraction, high: Fraction
) -> tuple[str, tuple[BottleneckChange, ...]]:
    """Follow the highest of some loads along an axis: the first one, and where others follow.

    Where loads are made of rational functions, maxima and minima, they meet at exact places;
    others are searched by bounds, and where these do not decide, on a grid of 1,000 steps.
    """
    here = low
    current = _highest_at(loads, axis, here, high)
    initially = current
    changes: list[BottleneckChange] = []
    budget = Budget()
    while len(changes) < len(loads) ** 2:
        step = _next_change(loads, axis, current, (here, high), budget)
        if step is None:
            break
        here, current = step
        changes.append(BottleneckChange(float(here), current))
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
    later = at + (high - at) * _LITTLE

    def rank(name: str) -> tuple[float, float]:
        return _value(loads[name], axis, at), _value(loads[name], axis, later)

    return max(loads, key=rank)


def _next_change(
    loads: Mapping[str, Formula],
    axis: Formula,
    current: str,
    ends: tuple[Fraction, Fraction],
    budget: Budget,
) -> tuple[Fraction, str] | None:
    """Return where another load next rises above the current one, and whose it is."""
    high = ends[1]
    found: list[tuple[Fraction, str]] = []
    base = loads[current]
    for name, load in loads.items():
        if name == current:
            continue
        point = _rises_above(load, base, axis, ends, budget)
        if point is not None and point < high:
            found.append((point, name))
    if not found:
        return None
    at = min(point for point, _ in found)
    tied = {name: loads[name] for point, name in found if point == at}
    return at, _highest_at(tied, axis, at, high)


def _rises_above(
    load: Formula,
    base: Formula,
    axis: Formula,
    ends: tuple[Fraction, Fraction],
    budget: Budget,
) -> Fraction | None:
    """Return where a load next rises above another one that is the higher one now."""
    here, high = ends
    gap = load - base
    meetings: Sequence[Fraction] | None = critical_points(gap, axis, here, high)
    if meetings is None:
        try:
            found = first_above(gap, axis, here, high, budget)
        except UndecidedError:
            meetings = _bracketed(gap, axis, here, high)
        else:
            return None if found is None else found.at
    inside = [point for point in meetings if here < point < high]
    for point, following in zip_longest(inside, inside[1:], fillvalue=high):
        if _is_above(gap, axis, (point + following) / 2):
            return point
    return None


def _is_above(gap: Formula, axis: Formula, at: Fraction) -> bool:
    """Return whether a difference is above zero at a point; what no digits tell is a tie."""
    try:
        return sign_at(gap, axis, at) == 1
    except NoSignError:
        return False


def _bracketed(gap: Formula, axis: Formula, low: Fraction, high: Fraction) -> list[Fraction]:
    """Return where a difference that is no rational function changes its sign."""
    value = number_function(axis, gap)
    step = (float(high) - float(low)) / _GRID
    grid = [*(float(low) + step * index for index in range(_GRID)), float(high)]
    found: list[Fraction] = []
    for (start, before), (end, after) in pairwise((at, value(at)) for at in grid):
        if after == 0:
            found.append(Fraction(end))
        elif before * after < 0:
            found.append(Fraction(bisected(lambda at: value(at) * after > 0, start, end)))  # noqa: B023 - asked at once
    return found
