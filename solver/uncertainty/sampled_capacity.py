"""The capacity that a share of samples supports, in one model or in two of the same samples."""

from __future__ import annotations

import numpy as np

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.solver.answers.reliable_limits import MetUpTo
from qps.solver.uncertainty.capacity_interval import least, not_below
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.limit_samples import LimitSamples, limits_at_confidence
from qps.solver.uncertainty.prediction_interval import SampledOdds
from qps.solver.uncertainty.sample_draws import drawn_axis, uncertain_numbers
from qps.solver.uncertainty.sample_solver import Sampled, solved_for


def sampled_capacity(
    model: ir.Model, configuration: Configuration, sampling: Sampling
) -> int | None:
    """Return what a share of the samples supports in a model; None for none."""
    found = _solved(model, configuration, sampling)
    if not found.is_answered.any():
        return None
    supported = least(found.largest[found.is_answered], sampling.certainty)
    return not_below(supported, configuration.low)


def sampled_limits(
    model: ir.Model,
    configuration: Configuration,
    sampling: Sampling,
    sampled: SampledOdds,
    names: frozenset[str],
) -> tuple[int | None, MetUpTo]:
    """Return what a share of the samples supports in a model and as `sampled`, and some limits.

    Both are the same samples: a population is supported by one if both support it.
    """
    limits = LimitSamples(samples=sampling.samples, names=names)
    found = _solved(model, configuration, sampling, limits)
    largest = np.minimum(found.largest, sampled.largest)
    is_solved = found.is_answered & sampled.is_solved
    if not is_solved.any():
        return None, {}
    supported = least(largest[is_solved], sampling.certainty)
    met = limits_at_confidence(found.met_up_to, is_solved, sampling.certainty, configuration.high)
    return not_below(supported, configuration.low), met


def _solved(
    model: ir.Model,
    configuration: Configuration,
    sampling: Sampling,
    limits: LimitSamples | None = None,
) -> Sampled:
    numbers = uncertain_numbers(model, configuration)
    axis = drawn_axis(numbers, model, sampling.samples, sampling.seed)
    return solved_for(model, configuration, axis, None, limits=limits)
