"""How likely a month is supported: samples of the expected users against those of the capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct, field

from qps.compiler import ir
from qps.engine.distributions.gamma_arrays import normal_quantile
from qps.engine.execution.array_runs import Runner
from qps.engine.execution.program_builder import ProgramBuilder
from qps.engine.numerics.sobol import sobol_points
from qps.solver.calendar.calendar_month import CalendarMonth
from qps.solver.calendar.expected_users import ROUNDING, ExpectedUsers, forecast_formula
from qps.solver.matrix.limits.row_preparation import Floats
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.sample_draws import (
    UncertainNumber,
    dimensions_of,
    uncertain_numbers,
    values_at,
)
from qps.solver.uncertainty.sampled_capacity import CapacitySamples

_NORMAL_95 = 1.6448536269514722
"""The quantile of the normal distribution at which the 90 % interval of a forecast ends."""
_OF_FORECAST = 7
"""Added to the seed of samples for those of a forecast that states an interval."""


class MonthSampler(Struct, kw_only=True, dict=True):
    """Samples the users of months; what is drawn is the same in each, and drawn once.

    The samples of inputs are those that the capacity is solved for.
    """

    model: ir.Model
    sampling: Sampling
    drawn: dict[tuple[object, ...], Mapping[str, Floats]] = field(default_factory=dict)

    def users(self, month: CalendarMonth) -> Floats:
        """Return the users of a month for samples of uncertain inputs, or of an interval."""
        if month.users.has_interval:
            return _of_scores(month.users, self._scores)
        numbers = uncertain_numbers(self.model, month.configuration)
        count, forecast = self.sampling.samples, self.model.forecast
        if forecast is None or forecast.formula is None or not numbers:
            return np.full(count, float(month.users.mid))
        drawn, graph = self._inputs(numbers), month.graphs[0]
        formula, known = forecast_formula(forecast.formula, self.model, month.configuration, graph)
        values = {one.symbol: one.value for one in known if one.name not in drawn}
        inputs = {one.symbol: one.name for one in known if one.name in drawn}
        builder = ProgramBuilder(graph.population, values, inputs)
        output = builder.build(formula)
        with np.errstate(all="ignore"):
            found = Runner(builder.program()).run([output], {}, drawn)[output]
        return np.broadcast_to(np.asarray(found, dtype=float), (count,))

    @cached_property
    def _scores(self) -> Floats:
        points = sobol_points(self.sampling.samples, 1, self.sampling.seed + _OF_FORECAST)
        return normal_quantile(points[:, 0])

    def _inputs(self, numbers: Sequence[UncertainNumber]) -> Mapping[str, Floats]:
        """Return the values of uncertain inputs by their names."""
        key = tuple(number.key for number in numbers)
        if key not in self.drawn:
            points = sobol_points(self.sampling.samples, dimensions_of(numbers), self.sampling.seed)
            self.drawn[key] = values_at(numbers, points)
        return self.drawn[key]


def supported_part(
    users: Floats, capacity: int | None, sampled: CapacitySamples | None, low: int
) -> float:
    """Return the fraction of samples in which the users are supported.

    Without samples of the capacity, it is the same in all. Model errors lower that of every sample
    by the same part as at the confidence level.
    """
    whole = np.ceil(users * (1 - ROUNDING))
    if sampled is None:
        return float(np.mean(whole <= (0 if capacity is None else capacity)))
    plain = sampled.at_confidence.capacity
    part = 1.0 if not plain or capacity is None else capacity / plain
    supported = np.where(sampled.largest < low, -1.0, np.floor(sampled.largest * part))
    return float(np.mean((whole <= supported)[sampled.is_solved]))


def _of_scores(users: ExpectedUsers, scores: Floats) -> Floats:
    """Return users for normal scores: each side of the interval is half of a normal one."""
    up, down = users.most - users.mid, users.mid - users.least
    moved = np.where(scores > 0, scores * up, scores * down) / _NORMAL_95
    return np.maximum(users.mid + moved, 0.0)
