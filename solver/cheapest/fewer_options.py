"""Options that cannot be in the cheapest configuration, whatever else is chosen.

An option is left out if a requirement surely fails with it whatever the other choices are, or if
another one costs no more and is no worse in any requirement. The second needs a proof: bounds of
the slope say in which direction each part does good, over all options that are left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.expressions.formulas import Formula
from qps.solver.cheapest.option_values import PartRequirement, SearchProblem
from qps.solver.cheapest.part_values import BoundedFormulas, Ints, PartValues
from qps.solver.cheapest.sampled_requirements import SampledBoxes

_LARGEST_PAIRS = 4_000
"""Options of an axis of which all pairs are compared."""


def with_possible_options(problem: SearchProblem) -> SearchProblem | None:
    """Return a search without the options that violate a requirement of their axis alone.

    None where all options of an axis do, or a requirement on which nothing that is chosen has any
    effect is violated.
    """
    own: dict[int, list[PartRequirement]] = {}
    for one in problem.requirements:
        axes = problem.axes_of(one.over)
        if not axes and _is_violated(one.over, strict=one.strict):
            return None
        if len(axes) == 1:
            own.setdefault(min(axes), []).append(one)
    for requirements in own.values():
        found = _without_failures(problem, requirements)
        if found is None:
            return None
        problem = found
    return problem


def with_fewer_options(problem: SearchProblem, compared: Collection[int]) -> SearchProblem | None:
    """Return a search in fewer options; None where a requirement fails with all of an axis.

    Options of the axes to be `compared` are left out, too, if another one is preferred.
    """
    while True:
        before = problem.size
        found = _possible(problem)
        if found is None:
            return None
        problem = _undominated(found, compared)
        if problem.size == before:
            return problem


def _possible(problem: SearchProblem) -> SearchProblem | None:
    """Return the options with which no requirement surely fails; None for none."""
    found = with_possible_options(problem)
    if found is None:
        return None
    of_several = [one for one in found.requirements if len(found.axes_of(one.over)) > 1]
    if of_several:
        found = _without_failures(found, of_several)
    return None if found is None else _without_sampled_failures(found)


def _without_failures(
    problem: SearchProblem, requirements: Sequence[PartRequirement]
) -> SearchProblem | None:
    """Return the options with which none of some requirements surely fails; None for none."""
    formulas = problem.bounded_together(requirements)
    axes = sorted(formulas.axes)
    stops = np.cumsum([problem.options[axis].size for axis in axes])
    fails = np.zeros(stops[-1], dtype=bool)
    held = []
    for one, found in zip(requirements, _by_option(problem, formulas), strict=True):
        if (found.high < 0 if one.strict else found.high <= 0).all():
            held.append(one)
        fails |= found.low >= 0 if one.strict else found.low > 0
    problem = problem.without(held)
    for axis, own in zip(axes, np.split(fails, stops[:-1]), strict=True):
        places = np.flatnonzero(~own)
        if not places.size:
            return None
        if places.size < own.size:
            problem = problem.with_options(axis, places)
    return problem


def _without_sampled_failures(problem: SearchProblem) -> SearchProblem | None:
    """Return the options with which no requirement with a certainty surely fails; None for none."""
    for sampled in problem.sampled:
        boxes = SampledBoxes(sampled, problem.options)
        sizes = np.array([own.size for own in problem.options])
        possible = [_possible_places(boxes, sizes, axis) for axis in range(sizes.size)]
        for axis, places in enumerate(possible):
            if not places.size:
                return None
            if places.size < sizes[axis]:
                problem = problem.with_options(axis, places)
    return problem


def _by_option(problem: SearchProblem, formulas: BoundedFormulas) -> list[Bounds]:
    """Return bounds of formulas with each option of each axis, one axis after the other."""
    count = sum(problem.options[axis].size for axis in formulas.axes)
    starts: dict[int, int] = {}
    for axis in sorted(formulas.axes):
        starts[axis] = sum(problem.options[before].size for before in starts)
    ends = []
    for one in formulas.parts:
        low, high = np.full(count, one.low.min()), np.full(count, one.high.max())
        span = slice(starts[one.axis], starts[one.axis] + one.low.size)
        low[span], high[span] = one.low, one.high
        ends.append((low, high))
    return formulas.bounds_of_each(ends, count)


def _possible_places(boxes: SampledBoxes, sizes: Ints, axis: int) -> Ints:
    """Return the options of an axis with which a requirement with a certainty may hold."""
    low, high = np.zeros((2, sizes[axis], sizes.size), dtype=np.int64)
    high[:] = sizes - 1
    low[:, axis] = high[:, axis] = np.arange(sizes[axis])
    return np.flatnonzero(~boxes.always_fails(low, high))


def _is_violated(over: Formula, *, strict: bool) -> bool:
    value = over.value
    return value is not None and (value >= 0 if strict else value > 0)  # type: ignore[operator]


def _undominated(problem: SearchProblem, compared: Collection[int]) -> SearchProblem:
    """Return a search without the options to which another one of the axis is preferred."""
    directions = _directions(problem) if compared else {}
    for axis, options in enumerate(problem.options):
        parts = [one for one in problem.parts if one.axis == axis and one.symbol in directions]
        if axis not in compared or options.size == 1 or options.size > _LARGEST_PAIRS:
            continue
        places = _front(parts, directions)
        if places.size < options.size:
            problem = problem.with_options(axis, places)
    return problem


def _front(parts: list[PartValues], directions: dict[Formula, int]) -> NDArray[np.int64]:
    """Return the options to which no other is preferred; of equal ones the first."""
    count = parts[0].low.size if parts else 1
    is_as_good = np.ones((count, count), dtype=bool)  # the one of the row as that of the column
    is_equal = np.ones((count, count), dtype=bool)
    for one in parts:
        # Without ends, bounds that are the same say nothing of the values.
        is_known = np.isfinite(one.low) & np.isfinite(one.high)
        same = (one.low[:, None] == one.low) & (one.high[:, None] == one.high) & is_known
        is_equal &= same
        direction = directions[one.symbol]
        if direction > 0:
            same |= one.high[:, None] <= one.low
        elif direction < 0:
            same |= one.low[:, None] >= one.high
        is_as_good &= same
    earlier = np.tri(count, k=-1, dtype=bool).T  # the row stands before the column
    is_preferred = is_as_good & (~is_equal | earlier)
    np.fill_diagonal(is_preferred, val=False)
    return np.flatnonzero(~is_preferred.any(axis=0))


def _directions(problem: SearchProblem) -> dict[Formula, int]:
    """Return for each part in use: 1 where less of it is better, -1 where more is, 0 unknown.

    Better is what lowers the cost and the excess of every requirement.
    """
    found: dict[Formula, int] = {}
    requirements = (one.over for one in problem.requirements if not _holds(one, problem))
    sampled = (over for one in problem.sampled for over in one.apart)
    parts = (*problem.parts, *(drawn for one in problem.sampled for drawn in one.drawn))
    formulas = [one for one in (problem.cost, *requirements, *sampled) if one.symbols]
    if not formulas:
        return found
    together = BoundedFormulas(formulas, parts, problem.known)
    for formula, slopes in zip(formulas, together.slopes_of_each(), strict=True):
        for at, one in enumerate(together.parts):
            if one.symbol not in formula.symbols:
                continue
            own = 1 if slopes.slope_low[at] >= 0 else -1 if slopes.slope_high[at] <= 0 else 0
            before = found.get(one.symbol, own)
            found[one.symbol] = own if before == own else 0
    return found


def _holds(requirement: PartRequirement, problem: SearchProblem) -> bool:
    """Return whether a requirement is certain to hold with every option that is left."""
    parts = problem.bounded(requirement.over).parts
    if len({one.axis for one in parts}) != 1 or requirement.over is not parts[0].symbol:
        return False
    high = parts[0].high.max()
    return bool(high < 0 if requirement.strict else high <= 0)
