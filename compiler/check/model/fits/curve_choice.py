"""Whether a curve, or a column that was not used, predicts rows better than what was fitted.

Each shape is judged by its leave-one-out errors, as shares of what was measured: so a curve that
only follows the noise of a few rows is not proposed. A column that is not used may be what costs
depend on: the size of a batch, the length of a context, rows of a result. One that says how runs
went (times, errors, other rates) is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import sqrt

from msgspec.structs import replace

from qps.compiler.measurement.cost_products import RATE, SIZE, CostCurve, CostProduct, CurveKind
from qps.compiler.measurement.fit_columns import NAMED_COLUMN, FitColumns, UnitOf
from qps.compiler.measurement.fits import CostFit, fitted
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable
from qps.compiler.measurement.regression import BetterCosts, Regression, regression
from qps.compiler.measurement.usual_headings import is_result
from qps.compiler.quantities.dimension import INFORMATION_BASE

_BETTER = 0.7
"""Share of the leave-one-out error from which a curve is proposed."""
_LEAST_ERROR = 0.02
"""Leave-one-out error, as a share of the load, below which nothing is looked for."""
_FEWEST_FREE, _FEWEST_OF_CURVE = 2, 3
"""Rows more than numbers: of fewer, those that are left out are predicted by the others' noise."""
_MOST_ROWS = 1000
_MOST_COLUMNS = 5
"""Columns that were not used, which are tried."""


def better_costs(
    table: MeasuredTable, reading: FitColumns, unit_of: UnitOf, found: Regression
) -> BetterCosts | None:
    """Return the costs with a curve or a column that predict rows best; None where none is better.

    Better than the costs that were fitted, without those that are below zero.
    """
    if len(found.fit.runs.used) > _MOST_ROWS:
        return None
    possible = possible_fit(table, reading, unit_of, found.fit)
    plain = found if possible is found.fit else regression(possible)
    before = _unseen(plain)
    if before is None or before < _LEAST_ERROR:
        return None
    best: BetterCosts | None = None
    for column, costs in _shapes(found.fit):
        other = replace(reading, costs=costs, has_fixed=found.fit.has_fixed)
        try:
            tried = fitted(table, other, unit_of)
        except DataError:
            continue
        if _is_impossible(tried):
            continue
        curved = regression(tried)
        fewest = _FEWEST_OF_CURVE if tried.curves else _FEWEST_FREE
        after = _unseen(curved) if curved.degrees_of_freedom >= fewest else None
        if after is not None and after < (_BETTER * before if best is None else best.after):
            best = BetterCosts(
                costs=costs, has_fixed=tried.has_fixed, before=before, after=after, column=column
            )
    return best


def possible_fit(
    table: MeasuredTable, reading: FitColumns, unit_of: UnitOf, found: CostFit
) -> CostFit:
    """Return the costs without those that are below zero, as the help of an error says.

    First without the idle load, then without demands; the fit itself where nothing is below zero,
    or no demand is above it.
    """
    tried, own = found, reading
    while _is_impossible(tried):
        costs = tuple(term.cost for term in tried.terms if term.value >= 0)
        if tried.fixed < 0:
            own = replace(own, has_fixed=False)
        elif costs:
            own = replace(own, costs=costs)
        else:
            return found
        try:
            tried = fitted(table, own, unit_of)
        except DataError:
            return found
    return tried


def _is_impossible(fit: CostFit) -> bool:
    return min([fit.fixed, *(term.value for term in fit.terms)]) < 0


def _unseen(found: Regression) -> float | None:
    """Return the root mean square of leave-one-out errors, as shares of what was measured."""
    shares = found.left_out_shares
    if found.degrees_of_freedom < 1 or not shares:
        return None
    return sqrt(sum(share * share for share in shares) / len(shares))


def _shapes(fit: CostFit) -> Iterator[tuple[str, tuple[CostProduct, ...]]]:
    """Yield costs beside those that were fitted, with the column that they use in addition."""
    costs = tuple(term.cost for term in fit.terms)
    if fit.curves or not costs or costs[0].item == INFORMATION_BASE:
        return
    for shape in _curves(fit, costs):
        yield "", shape
    if len(costs) > 1 or costs[0].factors:
        return
    for column in _unused(fit)[:_MOST_COLUMNS]:
        (cost,) = costs
        for exponent in (-1, 1):
            yield column, (cost, replace(cost, factors=((column, exponent),)))
        yield column, (replace(cost, curve=CostCurve(CurveKind.POWER, column)),)


def _unused(fit: CostFit) -> list[str]:
    """Return the names of columns that costs may depend on, and that were not used."""
    named = (re.fullmatch(NAMED_COLUMN, heading) for heading in fit.left_out)
    return [one["name"] for one in named if one is not None and not is_result(one[0])]


def _curves(fit: CostFit, costs: tuple[CostProduct, ...]) -> Iterator[tuple[CostProduct, ...]]:
    """Yield costs with a curve beside those that were fitted."""
    first, *others = costs
    items = [one for one in others if one.item == INFORMATION_BASE and not one.factors]
    if len(costs) == 1 and not first.factors and fit.has_fixed:
        for kind in (CurveKind.WAKEUPS, CurveKind.POWER):
            yield (replace(first, curve=CostCurve(kind, RATE)),)
    if not first.factors and items and len(items) == len(others):
        curved = replace(first, curve=CostCurve(CurveKind.POWER, SIZE))
        yield (curved,)
        yield (curved, *others)
    for other in others:
        if other.item == first.item and len(other.factors) == 1 and not first.factors:
            ((name, _),) = other.factors
            curved = replace(first, curve=CostCurve(CurveKind.POWER, name))
            yield (curved,)
            yield (curved, *others)
