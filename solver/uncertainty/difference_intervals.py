"""Whether a difference between two specs is more than the spread of their numbers.

Both are solved for the same samples: what both write alike has one value in each of them (common
random numbers), so that only what differs, and what it meets with, distinguishes one from the
other. The new one is sampled as it is alone; the old one takes over what both have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field

from qps.compiler import ir
from qps.engine.numerics.sobol import sobol_points
from qps.solver.answers.solution import Solution
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints
from qps.solver.uncertainty.capacity_interval import interval_of, least, most, not_below
from qps.solver.uncertainty.interval_result import (
    ALONE,
    PROBABILITY,
    AtConfidence,
    DifferenceUncertainty,
    KnownSurfaces,
    Sampling,
)
from qps.solver.uncertainty.limit_samples import Limits, LimitSamples, limits_at_confidence
from qps.solver.uncertainty.sample_draws import (
    UncertainNumber,
    axis_of,
    columns_of,
    dimensions_of,
    uncertain_numbers,
    values_at,
)
from qps.solver.uncertainty.sample_solver import solved_for
from qps.solver.uncertainty.sampled_capacity import CapacitySamples
from qps.solver.what_if.assumption_changes import ConfiguredModel


class SampledDifference(Struct, frozen=True, eq=False, kw_only=True):
    """The uncertainty of a difference, and the samples of each side, None if it is certain.

    Both are sampled as they are alone where `are_alone`: else the old one takes over samples.
    """

    uncertainty: DifferenceUncertainty
    samples: tuple[CapacitySamples | None, CapacitySamples | None]
    are_alone: bool


class StatedSide(Struct, frozen=True, eq=False, kw_only=True):
    """A side and its solution with the numbers as stated."""

    side: ConfiguredModel
    solution: Solution


def sampled_difference(
    stated: tuple[StatedSide, StatedSide], sampling: Sampling, *, is_same: bool = False
) -> SampledDifference | None:
    """Return the uncertainty of both answers and of their difference; None where all is known.

    The old side is stated first. Samples are looked for where criteria fail as stated.
    What cannot be on either side is left out; None where that is every sample, too. Sides that are
    known to be the same, `is_same`, are sampled once.
    """
    old, new = (one.side for one in stated)
    before, after = (uncertain_numbers(side.model, side.configuration) for side in (old, new))
    if not before and not after:
        return None
    are_alone = [one.key for one in before] == [one.key for one in after]
    is_same = is_same and are_alone
    known = dict(zip((number.key for number in after), columns_of(after), strict=True))
    own = [number for number in before if number.key not in known]
    behind = dimensions_of(after)
    points = sobol_points(sampling.samples, behind + dimensions_of(own), sampling.seed)
    shift = dict(zip((number.key for number in own), columns_of(own), strict=True))
    of_old = [
        points[:, known[n.key]] if n.key in known else points[:, behind:][:, shift[n.key]]
        for n in before
    ]
    second = _answers(stated[1], after, points[:, :behind], sampling.known)
    first = second
    if not is_same:
        own_points = np.hstack(of_old) if of_old else points[:, :0]
        first = _answers(stated[0], before, own_points, sampling.known)
    found = _difference(old, new, first, second, sampling)
    if found is None:
        return None
    uncertainty, samples = found
    return SampledDifference(uncertainty=uncertainty, samples=samples, are_alone=are_alone)


class _Answers(Struct, frozen=True, eq=False, kw_only=True):
    """The answer of each sample, which have one, and which may be, but are not solved.

    There is no `axis` where nothing is drawn.
    """

    largest: Ints
    is_answered: Bools
    is_open: Bools
    axis: ir.Axis | None
    met_up_to: Limits = field(default_factory=dict)


def _difference(
    old: ConfiguredModel,
    new: ConfiguredModel,
    first: _Answers,
    second: _Answers,
    sampling: Sampling,
) -> tuple[DifferenceUncertainty, tuple[CapacitySamples | None, CapacitySamples | None]] | None:
    is_answered = first.is_answered & second.is_answered
    is_open = first.is_open | second.is_open
    if not is_answered.any():
        return None
    lows = [side.configuration.low for side in (old, new)]
    intervals = [
        interval_of(one.largest[is_answered], low)
        for one, low in zip((first, second), lows, strict=True)
    ]
    # None acceptable is less than any number, whatever the range starts with.
    moved = (
        np.where(second.largest < lows[1], 0, second.largest)[is_answered]
        - np.where(first.largest < lows[0], 0, first.largest)[is_answered]
    )
    uncertainty = DifferenceUncertainty(
        before=intervals[0],
        after=intervals[1],
        more=float(np.mean(moved > 0)),
        fewer=float(np.mean(moved < 0)),
        least=least(moved, (1 + PROBABILITY) / 2),
        most=most(moved, (1 + PROBABILITY) / 2),
        samples=sampling.samples,
        seed=sampling.seed,
        left_out=float(np.mean(~is_answered & ~is_open)),
        unsolved=float(np.mean(is_open)),
    )
    samples = [_samples(one, side, sampling) for one, side in ((first, old), (second, new))]
    return uncertainty, (samples[0], samples[1])


def _samples(found: _Answers, side: ConfiguredModel, sampling: Sampling) -> CapacitySamples | None:
    """Return the samples of a side with what a share of its own supports."""
    if found.axis is None:
        return None
    certainty, is_answered = sampling.certainty, found.is_answered
    low, high = side.configuration.low, side.configuration.high
    capacity = not_below(least(found.largest[is_answered], certainty), low)
    return CapacitySamples(
        at_confidence=AtConfidence(confidence=certainty, capacity=capacity),
        met_up_to=limits_at_confidence(found.met_up_to, is_answered, certainty, high),
        largest=found.largest,
        is_solved=is_answered,
        axis=found.axis,
    )


def _answers(
    stated: StatedSide,
    numbers: Sequence[UncertainNumber],
    points: Floats,
    known: KnownSurfaces | None,
) -> _Answers:
    """Return the answer of each sample; all alike where nothing is drawn."""
    if not numbers:
        return _certain(stated, len(points))
    side = stated.side
    axis = axis_of(numbers, values_at(numbers, points), side.model)
    limits = LimitSamples(samples=len(points))
    found = solved_for(
        side.model,
        side.configuration,
        axis,
        None,
        limits=limits,
        known=known,
        beginning_at=stated.solution,
    )
    unsolved = [row for row, reason in found.reasons.items() if reason == ALONE]
    return _Answers(
        largest=found.largest,
        is_answered=found.is_answered,
        is_open=np.isin(np.arange(len(points)), unsolved),
        axis=axis,
        met_up_to=found.met_up_to,
    )


def _certain(stated: StatedSide, count: int) -> _Answers:
    largest = stated.solution.capacity
    answer = stated.side.configuration.low - 1 if largest is None else largest
    every = np.ones(count, dtype=bool)
    return _Answers(
        largest=np.full(count, answer, dtype=np.int64),
        is_answered=every,
        is_open=~every,
        axis=None,
    )
