"""Between which values one more run lies: what measured rows are judged by, one by one and in all.

A row lies within the interval of its prediction or outside of it. What is not known of the spec is
the same in all rows: where it is off, they are off together. So how odd it is that few lie within
is no question of a binomial distribution: it is estimated from the draws, each of which is a table
that the spec might have measured (G. A. Barnard, discussion of Bartlett, J. R. Stat. Soc. B 25,
1963).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    in_force,
    uncertain_in,
)
from qps.compiler.ir.parts import parts_of
from qps.links import resolved_path
from qps.solver.claims.claim_results import Coverage, PredictionInterval
from qps.solver.claims.sampled_claims import in_its_range, is_answer
from qps.solver.claims.single_populations import at_one_population
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints
from qps.solver.uncertainty.interval_result import SEED
from qps.solver.uncertainty.ranks import ranks
from qps.solver.uncertainty.sample_draws import axis_of, uncertain_numbers
from qps.solver.uncertainty.sampled_values import SampledValues, sampled_values
from qps.solver.uncertainty.single_runs import RUNS, SingleRuns

_ALIKE = 1e-9
"""Part of a value by which the ends of an interval differ where nothing uncertain moves it."""


class _TableCoverage(Struct, kw_only=True):
    """Of one table so far: how many values lie where, and in each draw how many would.

    `tail` is the least probability of a value as far to its side, `tails` the same of each draw.
    """

    without: int = 0
    inside: int = 0
    above: int = 0
    below: int = 0
    tail: float = 1.0
    drawn_above: Ints = field(default_factory=lambda: np.zeros(RUNS, dtype=np.int64))
    drawn_below: Ints = field(default_factory=lambda: np.zeros(RUNS, dtype=np.int64))
    tails: Floats = field(default_factory=lambda: np.ones(RUNS))
    is_answered: Bools = field(default_factory=lambda: np.ones(RUNS, dtype=bool))
    is_fitted: bool = False
    error: float | None = None


class PredictionIntervals(Struct, kw_only=True):
    """Tells the intervals of the rows of observations, and how many of these hold them."""

    model: ir.Model
    probability: float
    _runs: SingleRuns = field(default_factory=lambda: SingleRuns(seed=SEED))
    _coverages: dict[str, _TableCoverage] = field(default_factory=dict)

    def of_row(
        self, observation: ir.Observation, row: ir.ObservedRow
    ) -> tuple[PredictionInterval | None, ...]:
        """Return the interval of each measured column; None where nothing uncertain moves it.

        So it is where the column is empty, and where nothing that was drawn can be.
        """
        base = base_configuration(self.model)
        configuration, population = at_one_population(base, row.changes)
        held = self._coverages.setdefault(observation.name, _TableCoverage())
        held.is_fitted |= _is_fitted(observation, configuration)
        numbers = uncertain_numbers(self.model, configuration)
        axis = axis_of(numbers, self._runs.values(numbers), self.model) if numbers else None
        there = in_its_range(configuration, observation.span)
        at = configuration.low if population is None else population
        intervals: list[PredictionInterval | None] = []
        for column, measured in zip(observation.measured, row.values, strict=True):
            drawn = None
            if axis is not None and measured is not None:
                drawn = self._drawn(column.value, there, axis, at)
            interval = None
            if drawn is not None and measured is not None:
                interval = self._interval(held, drawn, float(measured))
            held.without += measured is not None and interval is None
            intervals.append(interval)
        return tuple(intervals)

    @property
    def coverages(self) -> tuple[Coverage, ...]:
        """How many values lie within their intervals, of each observation evaluated so far."""
        observations = {one.name: one for one in self.model.observations}
        return tuple(
            _coverage(observations[name], held, self.probability)
            for name, held in self._coverages.items()
        )

    def _drawn(
        self, quantity: ir.Quantity, there: Configuration, axis: ir.Axis, at: int
    ) -> SampledValues | None:
        """Return what a column of a row comes to in draws; None where samples do not."""
        parts = list(parts_of(quantity.expr))
        if any(map(_is_of_samples, parts)):
            return None
        model = self.model
        if not any(map(_is_of_requirements, parts)):
            # A measure is that of the model as it stands: nothing is looked for that is required.
            model = replace(model, modes=(), requirements=())
        return sampled_values(model, there, axis, at, quantity)

    def _interval(
        self, coverage: _TableCoverage, drawn: SampledValues, measured: float
    ) -> PredictionInterval | None:
        values = drawn.values
        is_number = ~np.isnan(values)
        if not is_number.any():
            return None
        sides = (1 - self.probability) / 2, (1 + self.probability) / 2
        least, most = map(float, np.quantile(values[is_number], sides, method="inverted_cdf"))
        if most - least <= _ALIKE * max(abs(least), abs(most)) or not np.isfinite(least):
            return None
        rank = float(ranks(np.array([measured]), values[is_number])[0])
        drawn_ranks = ranks(values, values[is_number])
        found = PredictionInterval(
            probability=self.probability,
            least=least,
            most=most,
            rank=rank,
            side=int(measured > most) - int(measured < least),
        )
        coverage.inside += found.side == 0
        coverage.above += found.side > 0
        coverage.below += found.side < 0
        coverage.tail = min(coverage.tail, found.rank, 1 - found.rank)
        coverage.is_answered &= is_number
        if drawn.error is not None:
            coverage.error = max(coverage.error or 0.0, drawn.error)
        coverage.drawn_above += values > most
        coverage.drawn_below += values < least
        coverage.tails = np.minimum(coverage.tails, np.minimum(drawn_ranks, 1 - drawn_ranks))
        return found


def _is_fitted(observation: ir.Observation, configuration: Configuration) -> bool:
    """Return whether numbers were fitted to the very table."""
    table = resolved_path(Path(observation.file))
    uncertain = uncertain_in(in_force(configuration)).values()
    fits = (one.distribution for one in uncertain if isinstance(one.distribution, ir.Fitted))
    return any(table == resolved_path(Path(*one.table.split("\0")[:2])) for one in fits)


def _is_of_requirements(part: ir.Expr) -> bool:
    if isinstance(part, ir.Measured):
        return is_answer(part) or part.kind is ir.MeasureKind.QUALITY
    return isinstance(part, ir.Changed)


def _is_of_samples(part: ir.Expr) -> bool:
    """Return whether a query needs samples, or another configuration does."""
    if isinstance(part, ir.Measured):
        return part.level is not None
    return isinstance(part, ir.Chance | ir.Changed)


def _coverage(
    observation: ir.Observation, coverage: _TableCoverage, probability: float
) -> Coverage:
    is_answered = coverage.is_answered
    return Coverage(
        observation=observation.name,
        file=observation.file,
        probability=probability,
        inside=coverage.inside,
        above=coverage.above,
        below=coverage.below,
        without=coverage.without,
        as_many=_as_many(
            coverage.above,
            coverage.below,
            coverage.drawn_above[is_answered],
            coverage.drawn_below[is_answered],
        ),
        as_far=float(np.mean(coverage.tails[is_answered] <= coverage.tail))
        if is_answered.any()
        else 1.0,
        draws=int(is_answered.sum()),
        is_fitted=coverage.is_fitted,
        error=coverage.error,
    )


def _as_many(above: int, below: int, drawn_above: Ints, drawn_below: Ints) -> float:
    """Return how likely values are to lie outside in as odd a way.

    A way is the odder, the fewer draws have as many to both sides.
    """
    counts = np.zeros((drawn_above.max(initial=above) + 1, drawn_below.max(initial=below) + 1))
    np.add.at(counts, (drawn_above, drawn_below), 1)
    at_least = counts[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]
    if not drawn_above.size:
        return 1.0
    return float(counts[at_least <= at_least[above, below]].sum() / drawn_above.size)
