"""Costs that change along a column by a curve, of which one number is fitted, too.

Curves make the least squares nonlinear. They are solved by the method of Levenberg and Marquardt,
from the best of several starts, as relative errors; then by steps of Gauss and Newton with the
weights that rows have in any fit. At the end each curve has two columns in these least squares:
what its cost is multiplied by, and how the load changes with the number of the curve. That number
is a difference from the one that was found, so it is zero, and all that is known of least squares
(intervals, leverages, rows left out) holds to first order (D. M. Bates and D. G. Watts, Nonlinear
Regression Analysis and Its Applications, 1988, section 2.3).

A thread that sleeps when it has no work needs time to wake up. With the time w for the work and k
for waking up, and of n threads each busy for a share u of the time, u = (w + k (1 - u)) rate / n.
So an item costs (w + k) / (1 + k rate / n).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import ceil, exp, log, log10
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.measurement.cost_columns import CostColumn, CurveColumn
from qps.compiler.measurement.cost_products import CurveKind
from qps.compiler.measurement.fit_terms import FittedCurve, ends
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, NumberColumn
from qps.compiler.measurement.weighted_rows import LEAST_SHARE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qps.compiler.measurement.fit_runs import Runs

    Floats = NDArray[np.float64]

MOST_CURVES = 2
_FEWEST_VALUES = 3
"""Of the column of a curve: two values have many curves through them."""
_LARGEST_POWER = 6.0
_STARTS = (-2.0, -1.0, -0.5, -0.1, 0.3, 1.0, 2.0)
_WAKEUP_STARTS = (0.1, 0.5, 2.0, 10.0)
"""By how much waking up is above the work, where rates are highest."""
_MOST_WAKEUP = 1e4
_NO_WAKEUP = 1e-4
_DIGITS = 15
_SAME = 1e-9
_FARTHEST_STEP = 2.0
"""Of Gauss and Newton, from the minimum of the same squares with nearly the same weights."""


class CurvedCosts(Struct, frozen=True, kw_only=True):
    """Curves of some costs, by the number of the cost, and the runs as least squares have them.

    `bases` are the rates of these costs as they are without a curve.
    """

    curves: dict[int, FittedCurve]
    bases: tuple[NumberColumn, ...]
    along: dict[int, tuple[float, ...]]
    runs: Runs

    def at(self, costs: Sequence[float], moves: Sequence[float]) -> CurvedCosts:
        """Return curves whose numbers are moved by so much; `costs` are loads per base unit."""
        curves = {
            index: replace(curve, value=Fraction(f"{float(curve.value) + move:.12g}"))
            for (index, curve), move in zip(self.curves.items(), moves, strict=True)
        }
        rates, slopes = list(self.bases), []
        for index, curve in curves.items():
            base = [float(value) for value in map(self.bases[index].__getitem__, self._rows)]
            pairs = list(zip(base, self.along[index], strict=True))
            rates[index] = _column([a * curve.at(x) for a, x in pairs])
            slopes.append(_column([costs[index] * a * curve.slope(x) for a, x in pairs]))
        return replace(self, curves=curves, runs=replace(self.runs, rates=(*rates, *slopes)))

    def are_still(self, moves: Sequence[float]) -> bool:
        """Return whether moves are too small to matter, beside the numbers of the curves."""
        return all(
            abs(move) <= _SAME * (_unit(curve) + abs(float(curve.value)))
            for move, curve in zip(moves, self.curves.values(), strict=True)
        )

    def are_lost(self, moves: Sequence[float]) -> bool:
        """Return whether a step would leave what a curve can be: no minimum is near."""
        return any(
            abs(move) > _FARTHEST_STEP * (_unit(curve) + abs(float(curve.value)))
            for move, curve in zip(moves, self.curves.values(), strict=True)
        )

    @property
    def _rows(self) -> range:
        return range(len(self.runs.lines))


def curved(
    table: MeasuredTable,
    columns: Sequence[CostColumn],
    runs: Runs,
    cores: Fraction,
    *,
    has_fixed: bool,
) -> CurvedCosts | None:
    """Return the curves that fit best; None where no cost has one, DataError where none fits."""
    own = {index: one.curve for index, one in enumerate(columns) if one.curve is not None}
    if not own:
        return None
    if len(own) > MOST_CURVES:
        raise DataError(
            f"`{table.name}`: {len(own)} costs have a curve, more than the limit of {MOST_CURVES}",
            "name products of columns instead: `per request * rows`",
        )
    along = {index: _values(table, curve, runs) for index, curve in own.items()}
    curves = {index: _unfitted(curve, along[index], runs, cores) for index, curve in own.items()}
    start = CurvedCosts(curves=curves, bases=runs.rates, along=along, runs=runs)
    costs, values = _least(table, start, has_fixed=has_fixed)
    return start.at(costs, values)


def not_separable(table: MeasuredTable, curves: CurvedCosts) -> DataError:
    """Return what is said where other costs do what a curve does."""
    (curve, *_) = curves.curves.values()
    return DataError(
        f"the curve along `{curve.name}` in `{table.name}` cannot be separated from the other "
        "service demands",
        "remove a demand, or measure more different values",
    )


def _unit(curve: FittedCurve) -> float:
    """Return what is much for the number of a curve."""
    return 1.0 if curve.kind is CurveKind.POWER else float(curve.reference / curve.high)


def _values(table: MeasuredTable, curve: CurveColumn, runs: Runs) -> tuple[float, ...]:
    """Return a column that a cost changes along, DataError where it shows nothing."""
    column = curve.column
    found = tuple(float(column.values[row]) for row in range(len(column.values)))
    if curve.kind is CurveKind.POWER:
        row = next((row for row in runs.used if found[row] <= 0), None)
        if row is not None:
            raise DataError(
                f"`{table.name}`, line {table.lines[row]}: `{column.heading}` is 0, which has no "
                "power",
                "remove the row",
            )
    if len({found[row] for row in runs.used}) < _FEWEST_VALUES:
        raise DataError(
            f"`{column.heading}` in `{table.name}` has fewer than {_FEWEST_VALUES} values: they "
            "show no curve",
            f"measure at more values of `{column.name}`, or name the cost without the curve",
        )
    return found


def _unfitted(
    curve: CurveColumn, along: Sequence[float], runs: Runs, cores: Fraction
) -> FittedCurve:
    """Return a curve before it is fitted: at the value where it is 1 it has no bend."""
    low, high = ends(curve.column.values, runs.used)
    middle = exp(sum(log(along[row]) for row in runs.used if along[row] > 0) / len(runs.used))
    is_power = curve.kind is CurveKind.POWER
    return FittedCurve(
        kind=curve.kind,
        name=curve.column.name,
        dimension=curve.column.dimension,
        low=low,
        high=high,
        reference=Fraction(f"{middle:.2g}") if is_power else cores,
        value=Fraction(0),
    )


def _least(
    table: MeasuredTable, start: CurvedCosts, *, has_fixed: bool
) -> tuple[list[float], list[float]]:
    """Return the costs, as loads per base unit, and the numbers of the curves that fit best."""
    import numpy as np  # noqa: PLC0415 - only fits with curves need it

    from qps.compiler.measurement.scalability.levenberg_marquardt import (  # noqa: PLC0415
        least_point,
    )

    runs = start.runs
    used = list(runs.used)
    loads = np.array([float(runs.load[row]) for row in used])
    loads_at_least = np.maximum(loads, LEAST_SHARE * loads.max())
    bases = [np.array([float(column[row]) for row in used]) for column in start.bases]
    scales = [max(float(base.max()), 1e-300) for base in bases]
    along = {index: np.array(start.along[index])[used] for index in start.curves}
    count = len(bases)

    def matrix(values: Sequence[float]) -> tuple[Floats, list[Floats]]:
        columns = [np.ones(len(used))] * has_fixed
        slopes: list[Floats] = []
        for index, (base, scale) in enumerate(zip(bases, scales, strict=True)):
            curve = start.curves.get(index)
            if curve is None:
                columns.append(base / scale)
                continue
            at = replace(curve, value=Fraction(values[len(slopes)]))
            columns.append(base / scale * np.array([at.at(x) for x in along[index]]))
            slopes.append(base / scale * np.array([at.slope(x) for x in along[index]]))
        return np.column_stack(columns) / loads_at_least[:, None], slopes

    def errors_at(point: Floats) -> tuple[Floats, Floats]:
        found, slopes = matrix([float(one) for one in point[has_fixed + count :]])
        numbers = point[: has_fixed + count]
        moved = [
            numbers[has_fixed + index] * slope / loads_at_least
            for index, slope in zip(start.curves, slopes, strict=True)
        ]
        return found @ numbers - loads / loads_at_least, np.column_stack([found, *moved])

    def best_linear(values: Sequence[float]) -> tuple[float, Floats]:
        found, _ = matrix(values)
        numbers, *_ = np.linalg.lstsq(found, loads / loads_at_least, rcond=None)
        left = found @ numbers - loads / loads_at_least
        return float(left @ left), numbers

    limits = [_limits(curve, along[index].max()) for index, curve in start.curves.items()]
    tried = [(*best_linear(values), values) for values in product(*(one[0] for one in limits))]
    _, numbers, values = min(tried, key=lambda one: one[0])
    free = np.full(has_fixed + count, np.inf)
    low = np.array([*-free, *(one[1] for one in limits)])
    high = np.array([*free, *(one[2] for one in limits)])
    found = least_point(errors_at, np.array([*numbers, *values]), low, high, 1e-12)
    fitted = [float(one) for one in found.point[has_fixed + count :]]
    for (index, curve), value, limit in zip(start.curves.items(), fitted, limits, strict=True):
        _check(table, curve, value, limit, float(along[index].max()))
    costs = found.point[has_fixed : has_fixed + count] / np.array(scales)
    return [float(one) for one in costs], fitted


def _limits(curve: FittedCurve, most: float) -> tuple[tuple[float, ...], float, float]:
    """Return where to start with the number of a curve, and between what it must lie."""
    if curve.kind is CurveKind.POWER:
        return _STARTS, -_LARGEST_POWER, _LARGEST_POWER
    unit = float(curve.reference) / most
    return tuple(one * unit for one in _WAKEUP_STARTS), 0.0, _MOST_WAKEUP * unit


def _check(
    table: MeasuredTable,
    curve: FittedCurve,
    value: float,
    limit: tuple[tuple[float, ...], float, float],
    most: float,
) -> None:
    """Raise where a curve does not have the form of the table."""
    _, low, high = limit
    if curve.kind is CurveKind.POWER:
        if low < value < high:
            return
        raise DataError(
            f"`{table.name}`: the service demand changes with `{curve.name}` by more than its "
            f"power of {_LARGEST_POWER:g}",
            f"check the column `{curve.name}`, or name another cost",
        )
    share = value * most / float(curve.reference)
    if share <= _NO_WAKEUP:
        raise DataError(
            f"`{table.name}` shows no wake-ups: the service demand does not fall as "
            f"`{curve.name}` grows",
            "name the cost without the curve, or `power(rate)` for a demand that grows",
        )
    if share >= _MOST_WAKEUP * (1 - _SAME):
        raise DataError(
            f"`{table.name}`: the service demand falls faster with `{curve.name}` than wake-ups "
            "explain: utilization does not grow with the rate",
            f"check the column `{curve.name}`, or use `power({curve.name})`",
        )


def _column(values: Sequence[float]) -> NumberColumn:
    """Return numbers with fifteen digits of the largest."""
    largest = max(map(abs, values)) or 1.0
    unit = Fraction(10) ** (ceil(log10(largest)) - _DIGITS)
    scale = float(1 / unit) if unit < 1 else 1 / float(unit)
    return NumberColumn(tuple(round(value * scale) for value in values), unit)
