"""The uncertainty of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:  # it needs numpy
    from qps.solver.uncertainty.surface_refinement import FittedSurface

from qps.solver.answers.answer_parts import Interval

SAMPLES = 10_000
"""How many samples there are unless said otherwise."""
SEED = 1
ALONE = "needs a separate load graph, and too many samples do"
"""Why a sample has no answer though it may be."""
PROBABILITY = 0.9
"""Of an interval that is reported."""
CERTAINTY = 0.95
"""With which a population is promised unless said otherwise."""
CERTAINTIES = (0.5, 0.999)
"""The least and the largest with which one can be."""


class OutcomeProbability(Struct, frozen=True):
    """A possible outcome and its probability."""

    name: str
    probability: float


class RequirementProbability(Struct, frozen=True, kw_only=True):
    """Probability that a requirement is met; `error` is its error, 0 if all samples are solved."""

    name: str
    probability: float
    error: float


class Share(Struct, frozen=True, kw_only=True):
    """Contribution of an uncertain number to the variance of a value.

    `first_order` is the fraction of the variance that disappears if this number is known exactly,
    and `total` the fraction that remains if all others are (Sobol indices). `stated` is its
    distribution, as written in the spec.
    """

    number: str
    stated: str
    first_order: float
    total: float


class ShareOfVariance(Share, frozen=True, kw_only=True):
    """Fraction of the variance that is due to one uncertain number.

    `capacity_if_halved` is the capacity if the distribution of the number were half as wide.
    """

    capacity_if_halved: int | None


class SurrogateModel(Struct, frozen=True, kw_only=True):
    """A requirement that is evaluated with a surrogate model, fitted to `points` samples.

    `error` is the largest relative error in cross-validation, for the population above
    which the requirement is not met.
    """

    requirement: str
    points: int
    error: float


class AtConfidence(Struct, frozen=True, kw_only=True):
    """Capacity at a confidence level; None if even the smallest population is not supported."""

    confidence: float
    capacity: int | None


class SampleHistogram(Struct, frozen=True, kw_only=True):
    """Histogram of samples: the `counts` of bins with a given `width`, starting at `start`.

    The lowest and the highest 0.5 % of samples are omitted. A value below the range of the
    population means that no user is supported.
    """

    start: int
    width: int
    counts: tuple[int, ...]


class Uncertainty(Struct, frozen=True, kw_only=True):
    """Uncertainty of a result, from samples of uncertain inputs.

    `requirements` lists the probability that each requirement is met at capacity, `bottlenecks` the
    probability that each resource saturates first, and `limits` the probability that each limit
    determines the capacity. `linear_interval` is the interval from a linear approximation, or None
    if there is none. `left_out` lists the fractions of samples with an invalid number or without a
    solution, with reasons; `beyond` is the fraction of samples in which no limit is reached within
    the range. `distribution` is the histogram of the capacity. `assumed` lists requirements and
    resources that are assumed to exceed their limits at every larger population once they do so;
    `surrogate_models` evaluate most samples for some of them.
    """

    interval: Interval
    at_confidence: AtConfidence
    linear_interval: Interval | None
    requirements: tuple[RequirementProbability, ...]
    bottlenecks: tuple[OutcomeProbability, ...]
    limits: tuple[OutcomeProbability, ...]
    shares: tuple[ShareOfVariance, ...]
    samples: int
    seed: int
    left_out: tuple[OutcomeProbability, ...]
    beyond: float
    distribution: SampleHistogram
    assumed: tuple[str, ...] = ()
    surrogate_models: tuple[SurrogateModel, ...] = ()


class Ends(Struct, frozen=True):
    """Bounds of an interval, in base units. A bound is infinite if there is none."""

    least: float
    most: float


class ValueUncertainty(Struct, frozen=True, kw_only=True):
    """Uncertainty of a value at a population, if inputs are uncertain.

    The value is within `interval` with a `probability`. `linear_interval` is the interval of a
    linear approximation, None without slopes. `shares` are the contributions of inputs to the
    variance, the largest first. If `of_ranks` is true, this is the variance of the value's rank
    among the samples, because a few samples cause most of the variance of the value, or because it
    is infinite in some samples. Samples with impossible inputs (`left_out`) or an undefined value
    (`undefined`) are excluded; `endless` is the fraction with an infinite value. If samples are
    slow to solve, `surrogate_model` predicts most of them.
    """

    probability: float
    interval: Ends
    linear_interval: Ends | None
    shares: tuple[Share, ...]
    of_ranks: bool
    samples: int
    seed: int
    left_out: tuple[OutcomeProbability, ...]
    undefined: float
    endless: float
    surrogate_model: SurrogateModel | None


class DifferenceUncertainty(Struct, frozen=True, kw_only=True):
    """Uncertainty of a difference: both capacities from the same samples.

    `more` and `fewer` are the probabilities that the new capacity is larger or smaller. `least` and
    `most` are the ends of the prediction interval of the difference. `left_out` is the fraction of
    samples that are invalid in one of the specs, and `unsolved` is the fraction without a solution
    in one of them.
    """

    before: Interval
    after: Interval
    more: float
    fewer: float
    least: int
    most: int
    samples: int
    seed: int
    left_out: float
    unsolved: float


class KnownSurfaces(Struct):
    """Surfaces that were fitted to where criteria fail in samples, of some models of one spec."""

    fitted: list[FittedSurface] = field(default_factory=list)


class Sampling(Struct, frozen=True, kw_only=True):
    """How an answer is sampled: the certainty of a promise, how many samples, by which seed.

    Models that are sampled alike, such as those of changes, share what is `known`.
    """

    certainty: float = CERTAINTY
    samples: int = SAMPLES
    seed: int = SEED
    known: KnownSurfaces | None = None
