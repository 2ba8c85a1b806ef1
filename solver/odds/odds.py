"""The odds of an answer: how many users can be promised, what is likely, what to measure next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, floor, sqrt

import numpy as np

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.solver.answers.solution import Solution
from qps.solver.matrix.prepared import Floats, Ints
from qps.solver.odds.design import Design
from qps.solver.odds.draws import UncertainNumber, axis_of, half_width, uncertain_numbers
from qps.solver.odds.sampling import Sampled, solved_for
from qps.solver.odds.told import (
    PROBABILITY,
    Counted,
    Interval,
    Likely,
    Odds,
    Promise,
    Sampling,
    ShareOfVariance,
)

_STRETCHES = 40
_TOLD = 0.995
"""Of the answers to each side: those beyond are so few that they would squash the others."""


def odds(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    sampling: Sampling,
) -> Odds | None:
    """Return the odds of an answer; None where every number of the spec is known.

    QpsError where not one sample can be.
    """
    numbers = uncertain_numbers(model, configuration)
    if not numbers:
        return None
    certainty, samples, seed = sampling.certainty, sampling.samples, sampling.seed
    design = Design(numbers=numbers, samples=samples, seed=seed)
    axis = axis_of(numbers, design.values, model)
    found = solved_for(model, configuration, axis, solution)
    told = found.is_told[:samples]
    if not told.any():
        raise QpsError.single(
            codes.SPREAD,
            numbers[0].written,
            f"no sample of what is not known can be: {next(iter(found.reasons.values()))}",
            hint="narrow the spread of what must be above zero, or a whole number",
        )
    low, high = configuration.low, configuration.high
    answers = found.largest[:samples][told]
    return Odds(
        interval=Interval(
            probability=PROBABILITY,
            least=_not_below(least(answers, (1 + PROBABILITY) / 2), low),
            most=_not_below(most(answers, (1 + PROBABILITY) / 2), low),
        ),
        promise=Promise(certainty=certainty, largest=_not_below(least(answers, certainty), low)),
        by_slopes=_by_slopes(numbers, solution),
        requirements=tuple(_met(found, samples)),
        bottlenecks=_likely(found.bottlenecks[:samples][told], found.words),
        limits=_likely(found.limits[:samples][told], found.words),
        shares=tuple(_shares(design, found, certainty, low)),
        samples=samples,
        seed=seed,
        left_out=_left_out(found, samples),
        beyond=float(np.mean(answers >= high)),
        distribution=_counted(answers),
        assumed=found.assumed,
        by_surfaces=found.surfaces,
    )


def least(answers: Ints, certainty: float | Fraction) -> int:
    """Return the largest number that a share of answers is not below."""
    return int(np.sort(answers)[floor((1 - certainty) * answers.size)])


def _promise(answers: Floats, certainty: float) -> int:
    return least(answers[~np.isnan(answers)].astype(np.int64), certainty)


def most(answers: Ints, certainty: float) -> int:
    """Return the smallest number that a share of answers is not above."""
    return int(np.sort(answers)[ceil(certainty * answers.size) - 1])


def _counted(answers: Ints) -> Counted:
    """Return how many answers lie where, in at most `_STRETCHES` stretches."""
    start, end = least(answers, _TOLD), most(answers, _TOLD)
    width = max(1, ceil((end - start + 1) / _STRETCHES))
    inside = answers[(answers >= start) & (answers <= end)]
    return Counted(
        start=start, width=width, counts=tuple(np.bincount((inside - start) // width).tolist())
    )


def _not_below(population: int, low: int) -> int | None:
    return None if population < low else population


def _likely(found: Ints, words: Sequence[str]) -> tuple[Likely, ...]:
    """Return how often each word is found, the most likely first."""
    counts = np.bincount(found, minlength=len(words))
    ranked = sorted(
        (number for number in np.flatnonzero(counts).tolist() if number), key=lambda n: -counts[n]
    )
    return tuple(Likely(words[number], float(counts[number] / found.size)) for number in ranked)


def _met(found: Sampled, samples: int) -> Iterator[Likely]:
    """Yield how likely each requirement is met where they are judged."""
    for name, met in found.met.items():
        own = met[:samples]
        told = own[~np.isnan(own)]
        if told.size:
            yield Likely(name, float(told.mean()))


def _left_out(found: Sampled, samples: int) -> tuple[Likely, ...]:
    """Return why samples have no answer, and how often."""
    counts = Counter(reason for row, reason in found.reasons.items() if row < samples)
    return tuple(Likely(reason, count / samples) for reason, count in counts.most_common())


def _shares(
    design: Design, found: Sampled, certainty: float, low: int
) -> Iterator[ShareOfVariance]:
    """Yield what each number has to do with the spread of the answer, the most first."""
    answers = np.where(found.is_told, found.largest.astype(float), np.nan)
    shares = design.shares(answers)
    ranked = sorted(range(len(shares)), key=lambda i: -shares[i].total)
    for i in ranked:
        usual, halved = design.halves(answers, i)
        promise = None
        if halved.size:
            gained = _promise(halved, certainty) - _promise(usual, certainty)
            promise = _not_below(_promise(answers[: design.samples], certainty) + gained, low)
        yield ShareOfVariance(
            number=design.numbers[i].name,
            stated=" ".join(design.numbers[i].written.text.split()),
            first_order=shares[i].first_order,
            total=shares[i].total,
            promise_if_halved=promise,
        )


def _by_slopes(numbers: Sequence[UncertainNumber], solution: Solution) -> Interval | None:
    """Return the interval that the slopes of the answer give: it is straight in all numbers.

    The variance of a straight function of independent numbers is the sum of its parts.
    """
    largest = solution.largest_acceptable
    elasticities = {one.parameter: one.elasticity for one in solution.sensitivity}
    if largest is None or not elasticities:
        return None
    variance = 0.0
    for number in numbers:
        weights = {
            name: elasticities[name] / float(distribution.typical)
            for name, distribution in number.parameters
            if name in elasticities and distribution.typical != 0
        }
        variance += half_width(number, weights, PROBABILITY) ** 2
    width = largest * sqrt(variance)
    ends = max(floor(largest - width), solution.graph.low - 1), floor(largest + width)
    return Interval(
        probability=PROBABILITY,
        least=_not_below(ends[0], solution.graph.low),
        most=min(ends[1], solution.graph.high),
    )
