"""What one more run would measure: numbers that are not known, drawn for many runs.

What is fitted is off once more in each run, all that is fitted to one table by the same factor:
the noise that the table shows is a share of the load, and a load is straight in its costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, field

from qps.compiler import ir
from qps.engine.distributions.gamma_arrays import normal_quantile
from qps.engine.numerics.sobol import sobol_points
from qps.solver.matrix.limits.row_preparation import Floats
from qps.solver.uncertainty.sample_draws import UncertainNumber, chi_squared_root, values_at

RUNS = 4096
"""Draws of each run."""


class SingleRuns(Struct, kw_only=True):
    """Draws runs: the same draws of a number in all of them, and noise of their own in each."""

    seed: int
    count: int = RUNS
    _points: dict[object, Floats] = field(default_factory=dict)
    _drawn: int = 0

    def values(self, numbers: Sequence[UncertainNumber]) -> Mapping[str, Floats]:
        """Return what the parameters are in one more run, so many values of each."""
        points = np.hstack([self._points_of(number) for number in numbers])
        found = dict(values_at(numbers, points))
        self._drawn += 1
        random = np.random.Generator(np.random.PCG64([self.seed, self._drawn]))
        for number in numbers:
            fitted = [one for _, one in number.parameters if isinstance(one, ir.Fitted)]
            if fitted and fitted[0].noise:
                root = chi_squared_root(self._points_of(number), fitted[0].freedom)
                levels = (random.permutation(self.count) + 0.5) / self.count
                factor = np.maximum(1 + fitted[0].noise * normal_quantile(levels) / root, 0.0)
                sizes = [
                    name
                    for name, one in number.parameters
                    if not (isinstance(one, ir.Fitted) and one.is_shape)
                ]
                found |= {name: found[name] * factor for name in sizes}
        return found

    def _points_of(self, number: UncertainNumber) -> Floats:
        """Return the points of a cube that a number is drawn from: its own columns."""
        key = number.key
        if key not in self._points:
            start = sum(own.shape[1] for own in self._points.values())
            whole = sobol_points(self.count, start + number.dimensions, self.seed)
            self._points[key] = whole[:, start:]
        return self._points[key]
