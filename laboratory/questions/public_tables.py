"""Public tables (`tables.md`): each row predicted by a fit to the others, beside a hand fit.

`python laboratory/questions/public_tables.py [NAME…]` prints, for each table, how many rows lie in
their 90 % intervals, the mean interval score of both fits as a share of what was measured (the
width, plus 20 times the distance by which a value lies outside), and what `qps fit` warns of.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from io import StringIO
from math import exp, inf, isfinite, log, sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from scipy.optimize import least_squares

from qps.compiler.check.model.fits.curve_choice import better_costs, possible_fit
from qps.compiler.check.model.fits.table_units import costs_with, units_with
from qps.compiler.measurement.cost_products import RATE, SIZE, CostProduct, CurveKind, item_word
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fit_spread import fit_spread
from qps.compiler.measurement.fits import CostFit, fitted
from qps.compiler.measurement.measured_tables import DataError, read_table
from qps.compiler.measurement.regression import regression
from qps.compiler.measurement.scalability.closed_loop import log_throughput
from qps.compiler.measurement.scalability.closed_tables import closed_table
from qps.compiler.measurement.scalability.scalability_fit import station_fit
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw
from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.quantities.dimension import INFORMATION_BASE

_TABLES = Path(__file__).parent / "tables"
_LEVEL = 0.95
_MISS = 20
_STEP = 1e-5
_PER = {"batch": ("image", "image / batch")}
"""Costs of a table whose last column is this one."""
_CLIENTS = ("threads", "connections", "prompts")
_UNITS = ("transaction", "image", "batch", "token", "sequence", "position")


class Score(Struct, frozen=True):
    """How far a row is from what is predicted, as shares of what was measured."""

    miss: float
    half_width: float

    @property
    def is_held(self) -> bool:
        """Whether the row lies within its interval."""
        return abs(self.miss) <= self.half_width

    @property
    def interval_score(self) -> float:
        """The width, and how far outside the row is."""
        return 2 * self.half_width + _MISS * max(0.0, abs(self.miss) - self.half_width)


class PublicTableFit(Struct, frozen=True, kw_only=True):
    """A table, with both fits to it; an error where a fit was refused."""

    name: str
    ours: tuple[Score | str, ...]
    hand: tuple[Score | str, ...]
    warnings: tuple[str, ...]


def results(names: Sequence[str]) -> Iterator[PublicTableFit]:
    """Yield the result of each table whose name starts so."""
    for path in sorted(_TABLES.glob("*.csv")):
        if not path.stem.startswith(tuple(names)):
            continue
        rows = [*csv.reader(StringIO(path.read_text(encoding="utf-8")))]
        head, body = rows[0], rows[1:]
        labels = [_setting(head, row) for row in body]
        predict = _by_clients if head[0] in _CLIENTS else _by_rates
        ours, hand = [], []
        for row, label in zip(body, labels, strict=True):
            others = [other for other, own in zip(body, labels, strict=True) if own != label]
            mine, by_hand = predict(head, others, row)
            ours.append(mine)
            hand.append(by_hand)
        yield PublicTableFit(
            name=path.stem, ours=tuple(ours), hand=tuple(hand), warnings=_warnings(path, head[0])
        )


def _setting(head: Sequence[str], row: Sequence[str]) -> str:
    if "setting" in head:
        return row[head.index("setting")]
    return row[0] if head[0] in _CLIENTS else ",".join(row)


def _text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([",".join(head), *(",".join(row) for row in rows)]) + "\n"


# -- utilization by rates -----------------------------------------------------------------------


def _by_rates(
    head: Sequence[str], others: Sequence[Sequence[str]], row: Sequence[str]
) -> tuple[Score | str, Score | str]:
    """Return the scores of a row, of both fits with the costs that predict the others best."""
    is_served = head[0].startswith("served")
    measured = 1.0 if is_served else float(row[0]) / 100
    per = _PER.get(head[-1], ())
    reading = FitColumns(
        resource="cpu",
        cores=Fraction(1),
        processors=Fraction(1),
        has_fixed=not is_served,
        is_served=is_served,
        costs=costs_with(per, _UNITS) if per else (),
    )
    table, unit_of = read_table(_text(head, others), "x.csv"), units_with(_UNITS)
    try:
        fit = fitted(table, reading, unit_of)
        better = better_costs(table, reading, unit_of, regression(fit))
        if better is not None:
            fit = fitted(table, replace(reading, costs=better.costs), unit_of)
        else:
            fit = possible_fit(table, reading, unit_of, fit)
    except DataError as error:
        return error.message, _hand_fit(head, others, row, measured, None, is_served=is_served)
    bases = np.array([_base(head, row, term.cost) * _bits(term.cost.item) for term in fit.terms])
    made, moved = [1.0] * fit.has_fixed, []
    for term, base in zip(fit.terms, bases, strict=True):
        curve = term.curve
        along = 0.0 if curve is None else _along(head, row, term.cost) * _bits(curve.name)
        made.append(base if curve is None else base * curve.at(along))
        if curve is not None:
            moved.append(float(term.value) * base * curve.slope(along))
    values = [float(fit.fixed)] * fit.has_fixed + [float(term.value) for term in fit.terms]
    predicted, spread, width = float(np.dot(made, values)), fit_spread(fit), 0.0
    if spread is not None:
        off = np.array(spread.weights).T @ np.array([*made, *moved])
        deviation = sqrt(float(off @ off) + (spread.noise * predicted) ** 2)
        width = student_quantile(_LEVEL, spread.freedom) * deviation
    ours = Score(predicted / measured - 1, width / measured)
    return ours, _hand_fit(head, others, row, measured, fit, is_served=is_served)


def _bits(name: str) -> float:
    """Return how many base units one of a column is."""
    return 8.0 if name in (INFORMATION_BASE, SIZE) else 1.0


def _base(head: Sequence[str], row: Sequence[str], cost: CostProduct) -> float:
    """Return what a cost is multiplied by in a row, but for its curve."""
    word = f"{item_word(cost.item)}/s"
    found = float(row[next(i for i, name in enumerate(head) if name.endswith(word))])
    for name, exponent in cost.factors:
        found *= float(row[head.index(name)]) ** exponent
    return found


def _along(head: Sequence[str], row: Sequence[str], cost: CostProduct) -> float:
    """Return where on its curve a cost is in a row; 1 without a curve."""
    if cost.curve is None:
        return 1.0
    rate = _base(head, row, CostProduct(cost.item))
    if cost.curve.column == SIZE and SIZE not in head:
        return float(row[head.index("byte/s")]) / rate
    return rate if cost.curve.column == RATE else float(row[head.index(cost.curve.column)])


def _hand_fit(
    head: Sequence[str],
    others: Sequence[Sequence[str]],
    row: Sequence[str],
    measured: float,
    fit: CostFit | None,
    *,
    is_served: bool,
) -> Score | str:
    """Return least squares of relative errors, of the same shape, with a textbook's interval."""
    if fit is None:
        rates = [name.removeprefix("served in ") for name in head if name.endswith("/s")]
        items = [INFORMATION_BASE if one == "byte/s" else one[:-2] for one in rates]
        costs = [CostProduct(item) for item in items]
    else:
        costs = [term.cost for term in fit.terms]
    curves = [i for i, cost in enumerate(costs) if cost.curve is not None]
    has_fixed = not is_served if fit is None else fit.has_fixed

    def columns(rows: Sequence[Sequence[str]], shapes: Any) -> Any:
        made = [np.ones(len(rows))] * has_fixed
        for i, cost in enumerate(costs):
            column = np.array([_base(head, one, cost) for one in rows])
            if i in curves:
                at = np.array([_along(head, one, cost) for one in rows])
                shape = shapes[curves.index(i)]
                is_power = cost.curve is not None and cost.curve.kind is CurveKind.POWER
                column = column * (at**shape if is_power else 1 / (1 + shape * at))
            made.append(column)
        return np.column_stack(made)

    loads = np.array([1.0 if is_served else float(one[0]) / 100 for one in others])
    freedom = len(loads) - has_fixed - len(costs) - len(curves)
    if freedom <= 0:
        return "too few rows"
    start = [] if fit is None else [float(one.value) for one in fit.curves]
    linear, *_ = np.linalg.lstsq(
        columns(others, start) / loads[:, np.newaxis], np.ones(len(loads)), rcond=None
    )
    point = np.array([*linear, *start])
    size = len(linear)
    found = least_squares(
        lambda p: columns(others, p[size:]) @ p[:size] / loads - 1,
        point,
        x_scale=np.maximum(np.abs(point), 1e-12),
    )

    def at(p: Any) -> float:
        return float((columns([row], p[size:]) @ p[:size])[0])

    steps = np.maximum(np.abs(found.x), 1e-12) * 1e-4
    ends = [np.eye(len(point))[i] * step for i, step in enumerate(steps)]
    slopes = [(at(found.x + end) - at(found.x - end)) / 2 for end in ends] / steps
    jacobian = found.jac * steps  # alike in size, for the inverse
    off = (slopes * steps) @ np.linalg.pinv(jacobian.T @ jacobian) @ (slopes * steps)
    variance = 2 * found.cost / freedom
    predicted = at(found.x)
    width = student_quantile(_LEVEL, freedom) * sqrt(variance * (float(off) + predicted**2))
    return Score(predicted / measured - 1, width / measured)


# -- throughput by clients ----------------------------------------------------------------------


def _by_clients(
    head: Sequence[str], others: Sequence[Sequence[str]], row: Sequence[str]
) -> tuple[Score | str, Score | str]:
    count, measured = int(row[0]), float(row[1])
    try:
        table = read_table(_text(head, others), "x.csv")
        found = station_fit(closed_table(table, head[0], units_with(_UNITS)))
        names = found.numbers

        def logged(values: dict[str, float]) -> float:
            law = {**{n: getattr(found.law, n) for n in found.law.__struct_fields__}, **values}
            return float(log_throughput(ScalabilityLaw(**law), np.array([count]))[0])

        middle = logged({})
        slopes = []
        for name in names:
            value, step = found.value_of(name), 0.1 * float(np.linalg.norm(found.weights_of(name)))
            slopes.append((logged({name: value + step}) - middle) / step if step else 0.0)
        off = np.array(found.weights).T @ slopes
        deviation = sqrt(float(off @ off) + found.noise**2)
        width = student_quantile(_LEVEL, found.freedom) * deviation
        ours: Score | str = _of_logs(middle, width, measured)
    except DataError as error:
        ours = error.message
    clients = np.array([float(other[0]) for other in others])
    rates = np.array([float(other[1]) for other in others])
    return ours, _hand_law(clients, rates, count, measured)


def _of_logs(middle: float, width: float, measured: float) -> Score:
    low, high = exp(middle - width) / measured, exp(min(middle + width, 700.0)) / measured
    return Score((low + high) / 2 - 1, (high - low) / 2)


def _hand_law(clients: Any, rates: Any, count: int, measured: float) -> Score | str:
    """Return Gunther's law by nonlinear least squares of logarithms; as many numbers as rows allow.

    X(n) = a n / (1 + b (n - 1) + c n (n - 1)).
    """
    size = min(3, len(set(clients)) - 1)
    if size < 1:
        return "too few rows"

    def law(point: Any, at: Any) -> Any:
        b = exp(point[1]) if size > 1 else 0.0
        c = exp(point[2]) if size > 2 else 0.0
        return point[0] + np.log(at) - np.log(1 + b * (at - 1) + c * at * (at - 1))

    start = [log(float((rates / clients).max())), log(0.1), log(1e-4)][:size]
    found = least_squares(lambda p: law(p, clients) - np.log(rates), start)
    freedom = len(rates) - size
    variance = 2 * found.cost / freedom
    at = float(count)
    middle = float(law(found.x, at))
    slopes = np.array(
        [(float(law(found.x + step, at)) - middle) / _STEP for step in np.eye(size) * _STEP]
    )
    off = variance * float(slopes @ np.linalg.pinv(found.jac.T @ found.jac) @ slopes)
    width = student_quantile(_LEVEL, freedom) * sqrt(off + variance)
    return _of_logs(middle, width, measured)


# -- what is printed ----------------------------------------------------------------------------


def _warnings(path: Path, first: str) -> tuple[str, ...]:
    """Return what `qps fit` warns of, as printed, or its error."""
    flags = [part for unit in _UNITS for part in ("--unit", unit)]
    if first in _CLIENTS:
        flags += ["--by", first]
    else:
        flags += ["--cores", "1"]
    if first.startswith("served"):
        flags += ["--no-fixed"]
    command = [sys.executable, "-m", "qps", "fit", str(path), *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = " ".join((done.stdout + done.stderr).split())
    return tuple(part.split(" warning: ")[0][:160] for part in text.split("warning: ")[1:]) or (
        (text[:160],) if done.returncode else ()
    )


def _row(result: PublicTableFit) -> str:
    cells = [result.name]
    for scores in (result.ours, result.hand):
        known = [one for one in scores if isinstance(one, Score)]
        held = f"{sum(one.is_held for one in known)} of {len(known)}"
        mean = fmean(one.interval_score for one in known) if known else inf
        cells += [held, f"{mean:.3g}" if isfinite(mean) and mean < 1e6 else "-"]
    errors = {one for one in result.ours if isinstance(one, str)}
    cells.append("; ".join(sorted(errors)) or "; ".join(result.warnings))
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    found = [*results(sys.argv[1:] or [""])]
    for one in found:
        print(_row(one))
    pairs = [
        (ours, hand)
        for one in found
        for ours, hand in zip(one.ours, one.hand, strict=True)
        if isinstance(ours, Score)
    ]
    print(f"held: {sum(ours.is_held for ours, _ in pairs)} of {len(pairs)}")
    both = [(ours, hand) for ours, hand in pairs if isinstance(hand, Score)]
    print(f"hand: {sum(hand.is_held for _, hand in both)} of {len(both)}")
    print(f"median absolute miss: {np.median([abs(o.miss) for o, _ in both]):.3f}", end=" ")
    print(f"and {np.median([abs(h.miss) for _, h in both]):.3f}")
