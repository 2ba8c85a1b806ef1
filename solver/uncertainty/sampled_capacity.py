"""The capacity that a share of samples supports that are judged twice: once more with errors."""

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
    model: ir.Model, configuration: Configuration, sampling: Sampling, sampled: SampledOdds
) -> int | None:
    """Return what a share of the samples supports both in a model and as `sampled`; None for none.

    Both are the same samples: a population is supported by one if both support it.
    """
    numbers = uncertain_numbers(model, configuration)
    axis = drawn_axis(numbers, model, sampling.samples, sampling.seed)
    found = solved_for(model, configuration, axis, None)
    solved = found.is_answered & sampled.is_solved
    if not solved.any():
        return None
    answers = np.minimum(found.largest, sampled.largest)[solved]
    return not_below(least(answers, sampling.certainty), configuration.low)


def capacity_at_confidence(
    model: ir.Model, configuration: Configuration, sampling: Sampling
) -> int | None:
    """Return what a share of the samples supports in a model; None for none."""
    numbers = uncertain_numbers(model, configuration)
    axis = drawn_axis(numbers, model, sampling.samples, sampling.seed)
    found = solved_for(model, configuration, axis, None)
    if not found.is_answered.any():
        return None
    answers = found.largest[found.is_answered]
    return not_below(least(answers, sampling.certainty), configuration.low)
