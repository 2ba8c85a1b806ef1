"""Whether a difference between two specs is more than the spread of their numbers.

Both are solved for the same samples: what both write alike has one value in each of them (common
random numbers), so that only what differs, and what it meets with, distinguishes one from the
other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qps.engine.numerics.sobol import sobol_points
from qps.solver.answers.worst_mode import solve_model
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints
from qps.solver.uncertainty.capacity_interval import interval_of, least, most
from qps.solver.uncertainty.interval_result import ALONE, PROBABILITY, DifferenceOdds, Sampling
from qps.solver.uncertainty.sample_draws import (
    UncertainNumber,
    axis_of,
    columns_of,
    dimensions_of,
    uncertain_numbers,
    values_at,
)
from qps.solver.uncertainty.sample_solver import solved_for
from qps.solver.what_if.assumption_changes import Side


def difference_odds(old: Side, new: Side, sampling: Sampling) -> DifferenceOdds | None:
    """Return the odds of both answers and of their difference; None where all is known.

    What cannot be on either side is left out; None where that is every sample, too.
    """
    before, after = (uncertain_numbers(side.model, side.configuration) for side in (old, new))
    if not before and not after:
        return None
    known = {number.key: columns for number, columns in _placed(before)}
    own = [number for number in after if number.key not in known]
    behind = dimensions_of(before)
    points = sobol_points(sampling.samples, behind + dimensions_of(own), sampling.seed)
    shift = dict(zip((number.key for number in own), columns_of(own), strict=True))
    of_new = [
        points[:, known[n.key]] if n.key in known else points[:, behind:][:, shift[n.key]]
        for n in after
    ]
    first, is_first, is_open = _answers(old, before, points[:, :behind])
    own_points = np.hstack(of_new) if of_new else points[:, :0]
    second, is_second, also_open = _answers(new, after, own_points)
    is_answered, is_open = is_first & is_second, is_open | also_open
    if not is_answered.any():
        return None
    lows = [side.configuration.low for side in (old, new)]
    intervals = [
        interval_of(one[is_answered], low) for one, low in zip((first, second), lows, strict=True)
    ]
    # None acceptable is less than any number, whatever the range starts with.
    moved = (
        np.where(second < lows[1], 0, second)[is_answered]
        - np.where(first < lows[0], 0, first)[is_answered]
    )
    return DifferenceOdds(
        before=intervals[0],
        after=intervals[1],
        more=float(np.mean(moved > 0)),
        fewer=float(np.mean(moved < 0)),
        least=least(moved, (1 + PROBABILITY) / 2),
        most=most(moved, (1 + PROBABILITY) / 2),
        samples=sampling.samples,
        seed=sampling.seed,
        left_out=float(np.mean(~is_answered & ~is_open)),
        unsolved=float(np.mean(is_open)),
    )


def _placed(numbers: Sequence[UncertainNumber]) -> list[tuple[UncertainNumber, slice]]:
    return list(zip(numbers, columns_of(numbers), strict=True))


def _answers(
    side: Side, numbers: Sequence[UncertainNumber], points: Floats
) -> tuple[Ints, Bools, Bools]:
    """Return the answer of each sample, which have one, and which may be, but are not solved.

    All alike where nothing is drawn.
    """
    if not numbers:
        return _certain(side, len(points))
    axis = axis_of(numbers, values_at(numbers, points), side.model)
    found = solved_for(side.model, side.configuration, axis, None)
    unsolved = [row for row, reason in found.reasons.items() if reason == ALONE]
    return found.largest, found.is_answered, np.isin(np.arange(len(points)), unsolved)


def _certain(side: Side, count: int) -> tuple[Ints, Bools, Bools]:
    largest = solve_model(side.model, side.configuration).capacity
    answer = side.configuration.low - 1 if largest is None else largest
    every = np.ones(count, dtype=bool)
    return np.full(count, answer, dtype=np.int64), every, ~every
