"""Which mode of each row is the worst: the rule of `solver/answers/worst_mode.py` for many rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qps.compiler.quantities.limit_use import NEARNESS_DECIMALS
from qps.solver.answers.limiting_factors import is_worse, largest_of
from qps.solver.answers.solution import QUALITY
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints, sides_of
from qps.solver.matrix.rows.exact_decisions import Index
from qps.solver.matrix.rows.mode_answers import ModeAnswers
from qps.solver.matrix.rows.mode_rows import ModeSolver

_NEARLY = 1e-9


def worst_modes(
    solvers: Sequence[ModeSolver], answers: Sequence[ModeAnswers], index: Index
) -> Ints:
    """Return the number of the worst mode of each row.

    Where two are too close, their quality counts to the last digit. Of modes that support alike,
    the one nearest to a limit is the worst.
    """
    worst = np.zeros(answers[0].first.size, dtype=np.int64)
    ranks = [_rank(solver, answer) for solver, answer in zip(solvers, answers, strict=True)]
    largest, quality = ranks[0]
    for position in range(1, len(answers)):
        own, own_quality = ranks[position]
        close = (own == largest) & (np.abs(own_quality - quality) <= _NEARLY * np.abs(quality))
        for row in np.flatnonzero(close & (own_quality != quality)):
            best = int(worst[row])
            for number in (best, position):
                each = answers[number]
                limit = max(int(each.first[row]) - 1, each.one_by_one.mode.low)
                ranks[number][1][row] = each.one_by_one.quality(int(row), limit)
            quality[row] = ranks[best][1][row]
        worse = is_worse((own, own_quality), (largest, quality))
        worst[worse] = position
        largest, quality = np.where(worse, own, largest), np.where(worse, own_quality, quality)
    alike = np.array([(own == largest) & (of == quality) for own, of in ranks])
    tied = np.flatnonzero(alike.sum(axis=0) > 1)
    if tied.size:
        worst[tied] = _nearest(solvers, answers, index, tied, alike[:, tied])
    return worst


def _rank(solver: ModeSolver, answer: ModeAnswers) -> tuple[Ints, Floats]:
    largest = largest_of(answer.first, solver.mode.low)
    return largest, np.nan_to_num(answer.quality_at_limit, nan=0.0)


def _nearest(
    solvers: Sequence[ModeSolver],
    answers: Sequence[ModeAnswers],
    index: Index,
    tied: Ints,
    alike: Bools,
) -> Ints:
    """Return of each tied row the first of the modes that are alike which is nearest to a limit."""
    own = tuple(axis[tied] for axis in index)
    nearness = np.full(alike.shape, -np.inf)
    for position, (solver, answer) in enumerate(zip(solvers, answers, strict=True)):
        limit = np.maximum(answer.first[tied] - 1, solver.mode.low)
        nearness[position] = _nearness(solver, own, limit)
    nearness[~alike] = -np.inf
    nearest: Ints = np.argmax(nearness, axis=0)
    return nearest


def _nearness(solver: ModeSolver, index: Index, populations: Ints) -> Floats:
    """Return how near a population of each row comes to the nearest limit, 1 at it.

    It is infinite where a value is not known.
    """
    mode = solver.mode
    rows = solver.prepared(index, populations.size)
    wanted = sides_of(mode.criteria) | ({mode.quality} if mode.quality is not None else set())
    found: Floats = np.zeros(populations.size)
    with np.errstate(all="ignore"):
        values = rows.at(wanted, populations.astype(float))
        for criterion in mode.criteria:
            measure = criterion.measure
            if criterion.name == QUALITY and mode.quality is not None:
                measure = mode.quality
            value, limit = rows.column(values, measure), rows.column(values, criterion.limit)
            used = value / limit if criterion.at_most else _lower_limit_used(value, limit)
            used = np.where((limit > 0) & ~np.isnan(value), used, np.inf)
            found = np.maximum(found, used)
    return found.round(NEARNESS_DECIMALS)


def _lower_limit_used(value: Floats, limit: Floats) -> Floats:
    return np.where(value > 0, limit / value, np.inf)
