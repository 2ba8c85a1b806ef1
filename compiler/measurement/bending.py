"""Whether utilization grows in proportion to rates, or bends: upward or downward.

The test is that of J. B. Ramsey (1969): whether the square of what was fitted explains what the fit
has left over.
"""

from __future__ import annotations

from math import sqrt

from msgspec import Struct

from qps.compiler.measurement.fits import CostFit
from qps.compiler.measurement.student_t import student_quantile

_FEWEST_ROWS = 6
_PARAMETERS = 3
"""Of a parabola."""
_LEVEL = 0.995
"""A straight table bends by chance as much as is reported in 1 of 100 cases."""
_MOST_CHANGE = 1.3
"""Change of the slope between the least and the greatest load from which it is reported."""


class Bend(Struct, frozen=True):
    """How many times as much one more item costs at the greatest load measured as at the least.

    Below zero where the slope at the least load is: it bends so much that no number says it.
    """

    low: float
    high: float

    @property
    def is_upward(self) -> bool:
        """Whether items cost more at high rates."""
        return self.high > self.low


def bend_of(fit: CostFit) -> Bend | None:
    """Return by how much a table bends; None where it is straight as far as it shows."""
    runs = fit.runs
    rows = runs.used
    if len(rows) < _FEWEST_ROWS:
        return None
    unit = float(runs.load.unit)
    measured = [whole * unit for whole in runs.picked(runs.load)]
    costs = [float(term.value / fit.cores) for term in fit.terms]
    fitted = [0.0] * len(rows)
    for cost, rate in zip(costs, runs.rates, strict=False):  # those of curves add nothing
        each = cost * float(rate.unit)
        fitted = [one + each * whole for one, whole in zip(fitted, runs.picked(rate), strict=True)]
    spread = max(fitted) - min(fitted)
    if spread <= 0:
        return None
    middle = (max(fitted) + min(fitted)) / 2
    at = [2 * (one - middle) / spread for one in fitted]
    found = _parabola(at, measured)
    if found is None:
        return None
    _, slope, curvature, error = found
    if abs(curvature) <= student_quantile(_LEVEL, len(rows) - _PARAMETERS) * error:
        return None
    low, high = slope - 2 * curvature, slope + 2 * curvature
    least, most = sorted((low, high))
    if least > 0 and most < _MOST_CHANGE * least:
        return None
    unit = spread / 2
    return Bend(low / unit, high / unit)


def _parabola(at: list[float], values: list[float]) -> tuple[float, float, float, float] | None:
    """Return the least squares of a parabola: constant, slope, curvature, and its standard error.

    >>> at = [-1.0, -0.5, 0.0, 0.5, 1.0]
    >>> [round(one, 9) for one in _parabola(at, [1 + x + 2 * x * x for x in at])]
    [1.0, 1.0, 2.0, 0.0]
    """
    count = len(at)
    mean = sum(at) / count
    one = [x - mean for x in at]
    squares = sum(x * x for x in one)
    if not squares:
        return None
    of_square = [x * x for x in at]
    average = sum(of_square) / count
    tilt = sum(x * (q - average) for x, q in zip(one, of_square, strict=True)) / squares
    bend = [q - average - tilt * x for q, x in zip(of_square, one, strict=True)]
    length = sum(b * b for b in bend)
    if length <= 1e-9 * count:
        return None
    level = sum(values) / count
    curvature = sum(b * v for b, v in zip(bend, values, strict=True)) / length
    rise = sum(x * (v - level) for x, v in zip(one, values, strict=True)) / squares
    slope = rise - curvature * tilt
    constant = level - slope * mean - curvature * average
    left = sum(
        (v - constant - slope * x - curvature * x * x) ** 2 for x, v in zip(at, values, strict=True)
    )
    error = sqrt(max(left, 0.0) / max(count - _PARAMETERS, 1) / length)
    return constant, slope, curvature, error
