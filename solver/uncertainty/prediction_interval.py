"""The uncertainty of an answer: its interval, its probabilities, and what to measure next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, sqrt

import numpy as np
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.solver.answers.answer_parts import Interval
from qps.solver.answers.solution import Solution
from qps.solver.answers.uncertain_dependence import graphs_of, rests_on
from qps.solver.matrix.limits.row_preparation import Floats, Ints
from qps.solver.uncertainty.capacity_interval import interval_of, least, most, not_below
from qps.solver.uncertainty.criterion_samples import UNDECIDED
from qps.solver.uncertainty.interval_result import (
    PROBABILITY,
    AtConfidence,
    OutcomeProbability,
    RequirementProbability,
    SampleHistogram,
    Sampling,
    ShareOfVariance,
    Uncertainty,
)
from qps.solver.uncertainty.limit_samples import LimitSamples, limits_at_confidence
from qps.solver.uncertainty.sample_design import Design
from qps.solver.uncertainty.sample_draws import (
    UncertainNumber,
    axis_of,
    half_width,
    uncertain_numbers,
)
from qps.solver.uncertainty.sample_solver import (
    SampleSolutions,
    left_out,
    nothing_possible,
    solved_for,
)
from qps.solver.uncertainty.sampled_capacity import CapacitySamples

_STRETCHES = 40
_LEAST_CONFIDENCE = 0.995
"""Of the answers to each side: those beyond are so few that they would squash the others."""


class SampledUncertainty(CapacitySamples, frozen=True, eq=False, kw_only=True):
    """The uncertainty of an answer, and the answer of each sample."""

    uncertainty: Uncertainty


def sampled_uncertainty(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    sampling: Sampling,
) -> SampledUncertainty | None:
    """Return the uncertainty of an answer; None where every number of the spec is known.

    QpsError where not one sample can be.
    """
    numbers = uncertain_numbers(model, configuration)
    if not numbers:
        return None
    certainty, samples, seed = sampling.certainty, sampling.samples, sampling.seed
    design = Design(numbers=numbers, samples=samples, seed=seed)
    axis = axis_of(numbers, design.values, model)
    limits = LimitSamples(samples=samples)
    found = solved_for(
        model,
        configuration,
        axis,
        solution,
        limits=limits,
        known=sampling.known,
        certainty=certainty,
    )
    names = {name for number in numbers for name, _ in number.parameters}
    if solution.capacity is not None and not rests_on(graphs_of(solution), names):
        found = _as_nominal(found, solution.capacity)
    is_answered = found.is_answered[:samples]
    if not is_answered.any():
        raise nothing_possible(found.reasons, numbers[0].written)
    low, high = configuration.low, configuration.high
    answers = found.largest[:samples][is_answered]
    of_answer = Uncertainty(
        interval=interval_of(answers, low),
        at_confidence=AtConfidence(
            confidence=certainty, capacity=not_below(least(answers, certainty), low)
        ),
        linear_interval=_by_slopes(numbers, solution),
        requirements=tuple(_requirement_probabilities(found, samples)),
        bottlenecks=_likely(found.bottlenecks[:samples][is_answered], found.words),
        limits=_likely(found.limits[:samples][is_answered], found.words),
        shares=tuple(_shares(design, found, certainty, low)),
        samples=samples,
        seed=seed,
        left_out=left_out(found.reasons, samples),
        beyond=float(np.mean(answers >= high)),
        distribution=_counted(answers),
        assumed=found.assumed,
        surrogate_models=found.surfaces,
    )
    return SampledUncertainty(
        uncertainty=of_answer,
        at_confidence=of_answer.at_confidence,
        met_up_to=limits_at_confidence(found.met_up_to, is_answered, certainty, high),
        largest=found.largest[:samples],
        is_solved=is_answered,
    )


def _as_nominal(found: SampleSolutions, capacity: int) -> SampleSolutions:
    """Return samples with the capacity that was proved: floats may miss it where limits are met."""
    met = {name: np.ones_like(one) for name, one in found.outcomes.items()}
    return replace(found, largest=np.full_like(found.largest, capacity), outcomes=met)


def capacity_uncertainty(
    model: ir.Model, configuration: Configuration, solution: Solution, sampling: Sampling
) -> Uncertainty | None:
    """Return the uncertainty alone; as `sampled_uncertainty`."""
    found = sampled_uncertainty(model, configuration, solution, sampling)
    return None if found is None else found.uncertainty


def _confident_population(answers: Floats, certainty: float) -> int:
    return least(answers[~np.isnan(answers)].astype(np.int64), certainty)


def _counted(answers: Ints) -> SampleHistogram:
    """Return how many answers lie where, in at most `_STRETCHES` stretches."""
    start, end = least(answers, _LEAST_CONFIDENCE), most(answers, _LEAST_CONFIDENCE)
    width = max(1, ceil((end - start + 1) / _STRETCHES))
    inside = answers[(answers >= start) & (answers <= end)]
    return SampleHistogram(
        start=start, width=width, counts=tuple(np.bincount((inside - start) // width).tolist())
    )


def _likely(found: Ints, words: Sequence[str]) -> tuple[OutcomeProbability, ...]:
    """Return how often each word is found, the most likely first."""
    counts = np.bincount(found, minlength=len(words))
    ranked = sorted(
        (number for number in np.flatnonzero(counts).tolist() if number), key=lambda n: -counts[n]
    )
    return tuple(
        OutcomeProbability(words[number], float(counts[number] / found.size)) for number in ranked
    )


def _requirement_probabilities(
    found: SampleSolutions, samples: int
) -> Iterator[RequirementProbability]:
    """Yield how likely each requirement is met where they are judged."""
    for name, met in found.outcomes.items():
        own = met[:, :samples]
        decided = own[:, own[0] != UNDECIDED]
        if decided.size:
            is_met, surely, maybe = decided.mean(axis=1).tolist()
            error = max(maybe - is_met, is_met - surely)
            yield RequirementProbability(name=name, probability=is_met, error=error)


def _shares(
    design: Design, found: SampleSolutions, certainty: float, low: int
) -> Iterator[ShareOfVariance]:
    """Yield what each number has to do with the spread of the answer, the most first."""
    answers = np.where(found.is_answered, found.largest.astype(float), np.nan)
    shares = design.shares(answers)
    ranked = sorted(range(len(shares)), key=lambda i: -shares[i].total)
    for i in ranked:
        usual, halved = design.halves(answers, i)
        promise = None
        if halved.size:
            # Who knows more can promise as much as before: about what is typical there may be less.
            gained = max(
                0,
                _confident_population(halved, certainty) - _confident_population(usual, certainty),
            )
            promise = not_below(
                _confident_population(answers[: design.samples], certainty) + gained, low
            )
        yield ShareOfVariance(
            number=design.numbers[i].name,
            stated=design.numbers[i].stated,
            first_order=shares[i].first_order,
            total=shares[i].total,
            capacity_if_halved=promise,
        )


def _by_slopes(numbers: Sequence[UncertainNumber], solution: Solution) -> Interval | None:
    """Return the interval that the slopes of the answer give: it is straight in all numbers.

    The variance of a straight function of independent numbers is the sum of its parts. Where the
    range ends first, slopes are those of the first saturation beyond it.
    """
    largest = solution.capacity
    elasticities = {one.parameter: one.elasticity for one in solution.sensitivity}
    if largest is None or not elasticities:
        return None
    middle: float = largest
    if solution.limited_by is None:
        saturations = (one.saturation.at for one in solution.resources)
        middle = min(at for at in saturations if at is not None)
    variance = 0.0
    for number in numbers:
        weights = {
            name: elasticities[name] / float(distribution.typical)
            for name, distribution in number.parameters
            if name in elasticities and distribution.typical != 0
        }
        variance += half_width(number, weights, PROBABILITY) ** 2
    width = middle * sqrt(variance)
    low, high = solution.graph.low, solution.graph.high
    ends = [min(max(floor(end), low - 1), high) for end in (middle - width, middle + width)]
    return Interval(probability=PROBABILITY, least=not_below(ends[0], low), most=ends[1])
