"""The capacity that a share of samples supports, in one model or in two of the same samples."""

from __future__ import annotations

import numpy as np

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.solver.uncertainty.capacity_interval import least, not_below
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.prediction_interval import SampledOdds
from qps.solver.uncertainty.sample_draws import drawn_axis, uncertain_numbers
from qps.solver.uncertainty.sample_solver import solved_for


def sampled_capacity(
    model: ir.Model,
    configuration: Configuration,
    sampling: Sampling,
    sampled: SampledOdds | None = None,
) -> int | None:
    """Return what a share of the samples supports in a model, and as `sampled`; None for none.

    Both are the same samples: a population is supported by one if both support it.
    """
    numbers = uncertain_numbers(model, configuration)
    axis = drawn_axis(numbers, model, sampling.samples, sampling.seed)
    found = solved_for(model, configuration, axis, None)
    largest, is_solved = found.largest, found.is_answered
    if sampled is not None:
        largest, is_solved = np.minimum(largest, sampled.largest), is_solved & sampled.is_solved
    if not is_solved.any():
        return None
    return not_below(least(largest[is_solved], sampling.certainty), configuration.low)
