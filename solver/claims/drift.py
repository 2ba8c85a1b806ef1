"""Whether a system is still what its spec says: costs fitted to new runs against those stated.

The numbers together are held against the stated ones by Hotelling's T², where both are uncertain
by other amounts (K. Krishnamoorthy and J. Yu, Modified Nel and Van der Merwe test for the
multivariate Behrens-Fisher problem, Statistics & Probability Letters 66, 2004); each by Welch's t
test, so that all of them together err as seldom (S. Holm, A simple sequentially rejective multiple
test procedure, 1979). Where runs have their times, later ones are tested by themselves, too, each
such question counting as a further one (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from math import inf

import numpy as np
from msgspec import Struct

from qps.compiler.measurement.fit_columns import GROUPS, UnitOf, rate_columns
from qps.compiler.measurement.fit_spread import fit_spread
from qps.compiler.measurement.fits import CostFit, fitted
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable
from qps.compiler.quantities.dimension import INFORMATION_BASE
from qps.solver.claims.chances import MeanDifference, f_chance
from qps.solver.claims.drift_cuts import (
    LEAST_SHARE,
    ChangeTime,
    Matrix,
    SingleCause,
    Vector,
    explained_alone,
    runs_in_numbers,
    since,
)
from qps.solver.claims.stated_costs import StatedCosts

_FEWEST_ROWS = 8
"""Beside a row for each number, of runs that are tested by themselves."""
_FEWEST_DAYS = 3
_MOST_STARTS = 3
_MOST_ROWS_CUT = 20_000
_CONFIDENCE = 0.95
_NOTHING = 1e-9
_MANY = 1e6
_LEAST_FREEDOM = 0.5


class CostDrift(Struct, frozen=True, kw_only=True):
    """A number as stated and as the runs have it (a load, or s of one processor for each item).

    `half_width` is that of the 95 % interval of the difference; `by_chance` how likely one as large
    is where nothing moved, all numbers counted; `share` what of the load the difference makes, at
    the rates of the runs.
    """

    item: str | None
    stated: float
    found: float
    half_width: float
    by_chance: float
    share: float
    has_moved: bool

    @property
    def difference(self) -> float:
        """How much more it is."""
        return self.found - self.stated

    @property
    def relative(self) -> float:
        """The difference as a share of what is stated."""
        return self.difference / self.stated if self.stated else inf


class Drift(Struct, frozen=True, kw_only=True):
    """What runs say of the costs of a spec.

    `by_chance` is how likely it is that all numbers together miss as much where nothing moved, and
    `off` by what share of the load they do, at the rates of the runs (the root of the mean square).
    It is no chance where `is_significant`, and has moved where that is more than what is let pass.
    `alone` names the numbers of which each by itself would explain it. `begin` is the first of the
    `compared_rows` of the numbers, where these are not all `rows`; `since` says when it
    began, if runs do. `sees` is the least change of the load that such runs would have shown.
    """

    stated: StatedCosts
    file: str
    costs: tuple[CostDrift, ...]
    rows: int
    compared_rows: int
    by_chance: float
    off: float
    higher: float
    is_significant: bool
    has_moved: bool
    alone: tuple[tuple[str | None, float], ...]
    begin: datetime | None
    since: ChangeTime | None
    sees: float
    loads: tuple[float, float]
    ends: tuple[datetime, datetime] | None

    @property
    def is_elsewhere(self) -> bool:
        """Whether half the loads of the runs are others than those of the costs, or more."""
        if self.stated.loads is None:
            return False
        low, high = self.loads
        both = min(high, self.stated.loads[1]) - max(low, self.stated.loads[0])
        return both < (high - low) / 2


class _RunFit(Struct, frozen=True, kw_only=True):
    """Runs that are tested by themselves: their fit, its numbers and how well these are known."""

    fit: CostFit
    begin: int
    values: Vector
    covariance: Matrix
    freedom: int


class _JointTest(Struct, frozen=True):
    run_fit: _RunFit
    by_chance: float


def drift(
    table: MeasuredTable, stated: StatedCosts, unit_of: UnitOf, *, chance: float, tolerance: float
) -> Drift:
    """Return whether costs have moved; DataError where the runs do not show it.

    They have where so large a difference comes by chance less often than `chance`, and makes more
    than `tolerance` of the load.
    """
    table = _with_items(table, stated, unit_of)
    times = _times(table)
    if times is not None:
        order = sorted(range(len(times)), key=times.__getitem__)
        table, times = _picked(table, order), [times[row] for row in order]
    starts = _starts(table, is_ordered=times is not None)
    judged = []
    for begin in starts:
        first = _run_fit(_picked(table, range(begin, len(table.lines))), begin, stated, unit_of)
        if first is not None:
            judged.append(_JointTest(first, _either(first, stated)))
    if not judged or judged[0].run_fit.begin != 0:
        raise DataError(
            f"`{table.name}` has too few rows for confidence intervals",
            f"measure at least {len(stated.items) + 2} runs that differ in every rate",
        )
    best = min(judged, key=lambda one: one.by_chance)
    return _drift_of(best, len(judged), judged[0].run_fit, stated, times, chance, tolerance)


def _with_items(table: MeasuredTable, stated: StatedCosts, unit_of: UnitOf) -> MeasuredTable:
    """Return a table with the rates that the spec has costs for."""
    rates = rate_columns(table, unit_of)
    costs = stated.reading.costs
    wanted = {one.item for one in costs} or {item for item in stated.items if item is not None}
    missing = sorted(wanted - {rate.item for rate in rates})
    if missing:
        per = "byte" if missing[0] == INFORMATION_BASE else missing[0]
        raise DataError(
            f"`{table.name}` has no column with a rate of `{per}`, for which the spec has "
            "a service demand",
            f"name it `{per}/s`",
        )
    other = {rate.heading for rate in rates if rate.item not in wanted}
    columns = {name: cells for name, cells in table.columns.items() if name not in other}
    return MeasuredTable(table.name, tuple(columns), table.lines, columns)


def _picked(table: MeasuredTable, rows: Sequence[int]) -> MeasuredTable:
    columns = {name: tuple(cells[row] for row in rows) for name, cells in table.columns.items()}
    return MeasuredTable(
        table.name, table.headings, tuple(table.lines[row] for row in rows), columns
    )


def _times(table: MeasuredTable) -> list[datetime] | None:
    """Return when each row began, by the column `time` or `day`; None where nothing says it."""
    cells = table.columns.get("time", table.columns.get("day"))
    if cells is None:
        return None
    try:
        found = [datetime.fromisoformat(cell) for cell in cells]
    except ValueError:
        return None
    return [at if at.tzinfo else at.replace(tzinfo=UTC) for at in found]


def _starts(table: MeasuredTable, *, is_ordered: bool) -> list[int]:
    """Return from which rows on runs are tested by themselves: all, the later half, and so on.

    Where rows have their days, days are halved, as far as some are left; of other groups all
    are tested together.
    """
    count = len(table.lines)
    if not is_ordered or count > _MOST_ROWS_CUT:
        return [0]
    days = table.columns.get("day")
    if days is None and any(name in table.columns for name in GROUPS):
        return [0]
    firsts = list(range(count)) if days is None else [days.index(d) for d in dict.fromkeys(days)]
    starts: list[int] = []
    left = len(firsts)
    while len(starts) < _MOST_STARTS and left >= (_FEWEST_DAYS if days else _FEWEST_ROWS):
        starts.append(firsts[len(firsts) - left])
        left //= 2
    return starts or [0]


def _run_fit(
    table: MeasuredTable, begin: int, stated: StatedCosts, unit_of: UnitOf
) -> _RunFit | None:
    """Return what runs say; None where later ones are too few, or do not distinguish costs."""
    size = len(stated.items) + (None not in stated.items)
    if begin and len(table.lines) < size + _FEWEST_ROWS:
        return None
    try:
        fit = fitted(table, stated.reading, unit_of)
    except DataError:
        if begin:
            return None
        raise
    spread = fit_spread(fit, may_bend=False)
    found = {None: float(fit.fixed)} | {term.counted: float(term.value) for term in fit.terms}
    names = [*[None] * fit.has_fixed, *(term.counted for term in fit.terms)]
    if None in stated.items and not fit.has_fixed:
        raise DataError(
            f"`{table.name}` shows no idle utilization to compare with that of `{stated.machine}`",
            "add a column for the utilization, such as `cpu in %`",
        )
    places = [names.index(item) for item in stated.items]
    if len(fit.runs.used) <= size:
        return None
    if spread is None:
        covariance, freedom = np.zeros((len(places), len(places))), len(fit.runs.used) - size
    else:
        weights = np.array([spread.weights[place] for place in places])
        covariance, freedom = weights @ weights.T, spread.freedom
    values = np.array([found[item] for item in stated.items])
    return _RunFit(fit=fit, begin=begin, values=values, covariance=covariance, freedom=freedom)


# -- chances ------------------------------------------------------------------------------------


def _either(fit: _RunFit, stated: StatedCosts) -> float:
    """Return how likely runs miss what is stated as much where nothing moved.

    Two tests are made, each counting as one of two: whether the load is another at the mean
    of all rates, which few runs show best, and whether all numbers together are others.
    """
    return min(1.0, 2 * _level(fit, stated).by_chance, 2 * _together(fit, stated))


def _level(fit: _RunFit, stated: StatedCosts) -> MeanDifference:
    """Return by what the load at the mean of all rates differs from what is stated."""
    mean = np.mean(runs_in_numbers(fit.fit, stated).matrix, axis=0)
    values, before = np.array(stated.values), np.array(stated.covariance)
    return MeanDifference(
        float(mean @ (fit.values - values)),
        float(mean @ np.abs(values)) or 1.0,
        (float(mean @ before @ mean), stated.freedom),
        (float(mean @ fit.covariance @ mean), fit.freedom),
    )


def _number(fit: _RunFit, stated: StatedCosts, place: int) -> MeanDifference:
    """Return by what one number differs from what is stated."""
    value, found = stated.values[place], float(fit.values[place])
    return MeanDifference(
        found - value,
        max(abs(value), abs(found)),
        (stated.covariance[place][place], stated.freedom),
        (float(fit.covariance[place, place]), fit.freedom),
    )


def _together(fit: _RunFit, stated: StatedCosts) -> float:
    """Return how likely all numbers miss the stated ones as much where nothing moved."""
    before, after = np.array(stated.covariance), fit.covariance
    moved = fit.values - np.array(stated.values)
    size = np.maximum(np.abs(np.array(stated.values)), np.abs(fit.values))
    error = np.sqrt(np.maximum(np.diag(before + after), 0.0))
    known = error > _NOTHING * _NOTHING * size
    if np.any(np.abs(moved[~known]) > _NOTHING * size[~known]):
        return 0.0
    if not np.any(known):
        return 1.0
    scaled = [
        m[np.ix_(known, known)] / np.outer(error[known], error[known]) for m in (before, after)
    ]
    roots, ways = np.linalg.eigh(scaled[0] + scaled[1])
    is_positive = roots > _NOTHING
    ways = ways[:, is_positive] / np.sqrt(roots[is_positive])
    square = float(np.sum((moved[known] / error[known] @ ways) ** 2))
    count = int(np.count_nonzero(is_positive))
    spent = sum(
        (float(np.sum(part * part.T)) + float(np.trace(part)) ** 2) / freedom
        for matrix, freedom in zip(scaled, (stated.freedom, fit.freedom), strict=True)
        if freedom is not None
        for part in [ways.T @ matrix @ ways]
    )
    freedom = (count + count * count) / spent if spent > 0 else _MANY
    below = max(freedom - count + 1, _LEAST_FREEDOM)
    return f_chance(square * below / (freedom * count), count, below)


def _counted(chances: Sequence[float], times: int) -> list[float]:
    """Return chances so that all of them, tested so many times, err together as seldom (Holm)."""
    order = sorted(range(len(chances)), key=chances.__getitem__)
    most, found = 0.0, [0.0] * len(chances)
    for rank, place in enumerate(order):
        most = max(most, min(1.0, chances[place] * (len(chances) - rank) * times))
        found[place] = most
    return found


def _leading(
    costs: Sequence[CostDrift], alone: Sequence[SingleCause], stated: StatedCosts
) -> int | None:
    """Return the place of what has moved the load most, else of what explains all by itself."""
    moved = [place for place, cost in enumerate(costs) if cost.has_moved]
    if not moved and alone:
        return stated.items.index(alone[0].item)
    return max(moved, key=lambda place: abs(costs[place].share), default=None)


def _drift_of(
    best: _JointTest,
    questions: int,
    whole: _RunFit,
    stated: StatedCosts,
    times: list[datetime] | None,
    chance: float,
    tolerance: float,
) -> Drift:
    by_chance = min(1.0, best.by_chance * questions)
    # Later runs are reported by themselves where something is wrong with them, else all of them.
    run_fit = best.run_fit if by_chance < chance else whole
    rows = runs_in_numbers(run_fit.fit, stated)
    before = np.array(stated.values)
    expected = rows.matrix @ before
    moved = rows.matrix @ (run_fit.values - before)
    base = float(np.mean(np.abs(expected))) or 1.0
    off = float(np.sqrt(np.mean((moved / np.maximum(np.abs(expected), LEAST_SHARE * base)) ** 2)))
    shares = np.mean(rows.matrix, axis=0) * (run_fit.values - before) / base
    has_moved = by_chance < chance and off > tolerance
    each = [_number(run_fit, stated, place) for place in range(len(stated.items))]
    chances = _counted([one.by_chance for one in each], questions)
    costs = tuple(
        CostDrift(
            item=item,
            stated=stated.values[place],
            found=float(run_fit.values[place]),
            half_width=one.half_width(_CONFIDENCE),
            by_chance=likely,
            share=float(shares[place]),
            has_moved=has_moved and likely < chance and abs(float(shares[place])) > tolerance,
        )
        for place, (item, one, likely) in enumerate(zip(stated.items, each, chances, strict=True))
    )
    alone = explained_alone(rows, stated) if has_moved else []
    all_rows = runs_in_numbers(whole.fit, stated)
    in_use = None if times is None else [times[row] for row in whole.fit.runs.used]
    leading = _leading(costs, alone, stated)
    began = None
    if has_moved and in_use is not None and leading is not None:
        began = since(all_rows, before, leading, in_use)
    level = _level(run_fit, stated)
    return Drift(
        stated=stated,
        file=run_fit.fit.file,
        costs=costs,
        rows=len(all_rows.load),
        compared_rows=len(rows.load),
        by_chance=by_chance,
        off=off,
        higher=float(np.mean(moved)) / base,
        is_significant=by_chance < chance,
        has_moved=has_moved,
        alone=tuple((one.item, one.moved) for one in alone if one.explains),
        begin=None if times is None or run_fit.begin == 0 else times[run_fit.begin],
        since=began,
        sees=level.half_width(1 - chance / (2 * questions)) / level.scale,
        loads=(float(np.min(rows.load)), float(np.max(rows.load))),
        ends=None if not in_use else (in_use[0], in_use[-1]),
    )
