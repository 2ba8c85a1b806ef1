"""The capacity that a share of samples supports, in one model or in two of the same samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.solver.answers.answer_parts import Interval
from qps.solver.answers.graph_criteria import in_order, when_it_fails
from qps.solver.answers.reliable_limits import NOTHING_MET, MetUpTo
from qps.solver.answers.saturation import saturation_of
from qps.solver.answers.uncertain_dependence import rests_on
from qps.solver.answers.worst_mode import WorstMode
from qps.solver.matrix.limits.row_preparation import Bools, Ints
from qps.solver.uncertainty.capacity_interval import interval_of, least, not_below
from qps.solver.uncertainty.interval_result import AtConfidence, Sampling
from qps.solver.uncertainty.limit_samples import LimitSamples, limits_at_confidence
from qps.solver.uncertainty.sample_draws import drawn_axis, uncertain_numbers
from qps.solver.uncertainty.sample_solver import (
    LeastOfSamples,
    SampleSolutions,
    nothing_possible,
    solved_for,
)
from qps.solver.uncertainty.surface_modes import StatedPoints


class CapacitySamples(Struct, frozen=True, eq=False, kw_only=True):
    """The capacity of each sample of what is not known; `is_solved` where it has one.

    `met_up_to` tells where criteria are met in the share of the samples that supports the capacity
    `at_confidence`. The samples lie along an `axis`, None for those that a model draws by itself.
    """

    at_confidence: AtConfidence
    met_up_to: MetUpTo
    largest: Ints
    is_solved: Bools
    axis: ir.Axis | None = None


def sampled_capacity(
    model: ir.Model, configuration: Configuration, sampling: Sampling
) -> tuple[int | None, Interval | None]:
    """Return what a share of the samples supports in a model, and between which most lie.

    None for none.
    """
    found = _solved(model, configuration, sampling)
    if not found.is_answered.any():
        return None, None
    answers = found.largest[found.is_answered]
    supported = not_below(least(answers, sampling.certainty), configuration.low)
    return supported, interval_of(answers, configuration.low)


def capacity_samples(
    model: ir.Model, configuration: Configuration, worst: WorstMode, sampling: Sampling
) -> CapacitySamples | None:
    """Return the capacity of each sample, by the worst mode; None where every number is known.

    As in the uncertainty of an answer: samples cannot move a capacity that rests on none of them.
    In a sample no mode is looked at beyond what another one supports, so that there are no limits.
    QpsError where not one sample can be.
    """
    numbers = uncertain_numbers(model, configuration)
    if not numbers:
        return None
    axis = drawn_axis(numbers, model, sampling.samples, sampling.seed)
    end = np.int64(configuration.high + 1)
    first = LeastOfSamples(first=np.full(axis.count, end), mode=worst.graph.mode)
    found = solved_for(
        model,
        configuration,
        axis,
        None,
        known=sampling.known,
        least=first,
        stated=_stated_points(worst),
        certainty=sampling.certainty,
    )
    names = {name for number in numbers for name, _ in number.parameters}
    largest, is_solved = found.largest, found.is_answered
    if worst.capacity is not None and not rests_on(worst.graphs, names):
        largest = np.full_like(largest, worst.capacity)
    if not is_solved.any():
        raise nothing_possible(found.reasons, numbers[0].written)
    capacity = not_below(least(largest[is_solved], sampling.certainty), configuration.low)
    return CapacitySamples(
        at_confidence=AtConfidence(confidence=sampling.certainty, capacity=capacity),
        met_up_to={},
        largest=largest,
        is_solved=is_solved,
        axis=axis,
    )


class _WhenRequested(Mapping[str, float]):
    """Numbers by names, each found when it is requested first; those that are None are not there.

    Only what takes long in samples begins at them.
    """

    def __init__(self, find: Callable[[str], float | None], names: Iterable[str]) -> None:
        self._find = find
        self._names = dict.fromkeys(names)
        self._known: dict[str, float | None] = {}

    def _number(self, name: str) -> float | None:
        if name not in self._known:
            self._known[name] = self._find(name) if name in self._names else None
        return self._known[name]

    def __getitem__(self, name: str) -> float:
        found = self._number(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._names if self._number(name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _stated_points(worst: WorstMode) -> StatedPoints:
    """Return where criteria first fail and resources saturate as stated, in the worst mode."""
    graph, criteria = worst.graph, in_order(worst.graph)

    def failure(name: str) -> float | None:
        own = [when_it_fails(graph, one) for one in criteria if one.name == name]
        found = [one for one in own if one is not None]
        return float(found[-1]) if found else None

    def saturation(name: str) -> float | None:
        at = saturation_of(graph, name).at
        return None if at is None else float(at)

    return StatedPoints(
        _WhenRequested(failure, (one.name for one in criteria)),
        _WhenRequested(saturation, graph.resources),
        worst.at,
    )


def sampled_limits(
    model: ir.Model,
    configuration: Configuration,
    sampling: Sampling,
    sampled: CapacitySamples,
    names: frozenset[str],
) -> tuple[int | None, MetUpTo]:
    """Return what a share of the samples supports in a model and as `sampled`, and some limits.

    Both are the same samples: a population is supported by one if both support it. There are no
    limits where none of the samples before are known.
    """
    limits = LimitSamples(samples=sampling.samples, names=names) if sampled.met_up_to else None
    before = None if limits is not None else LeastOfSamples(first=sampled.largest + 1)
    found = _solved(model, configuration, sampling, limits, sampled.axis, before)
    largest = np.minimum(found.largest, sampled.largest)
    is_solved = found.is_answered & sampled.is_solved
    if not is_solved.any():
        return None, {}
    supported = least(largest[is_solved], sampling.certainty)
    met = NOTHING_MET
    if limits is not None:
        certainty, high = sampling.certainty, configuration.high
        met = limits_at_confidence(found.met_up_to, is_solved, certainty, high)
    return not_below(supported, configuration.low), met


def _solved(
    model: ir.Model,
    configuration: Configuration,
    sampling: Sampling,
    limits: LimitSamples | None = None,
    axis: ir.Axis | None = None,
    before: LeastOfSamples | None = None,
) -> SampleSolutions:
    if axis is None:
        numbers = uncertain_numbers(model, configuration)
        axis = drawn_axis(numbers, model, sampling.samples, sampling.seed)
    return solved_for(
        model,
        configuration,
        axis,
        None,
        limits=limits,
        known=sampling.known,
        least=before,
        certainty=sampling.certainty,
    )
