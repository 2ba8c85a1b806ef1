"""What is told of the odds of an answer."""

from __future__ import annotations

from msgspec import Struct

SAMPLES = 10_000
"""How many samples there are unless said otherwise."""
SEED = 1
ALONE = "has a load graph of its own, and not so many are solved"
"""Why a sample has no answer though it may be."""
PROBABILITY = 0.9
"""Of an interval that is told."""
CERTAINTY = 0.95
"""With which a population is promised unless said otherwise."""
CERTAINTIES = (0.5, 0.999)
"""The least and the largest with which one can be."""


class Likely(Struct, frozen=True):
    """What may be, and with what probability."""

    name: str
    probability: float


class LikelyMet(Struct, frozen=True, kw_only=True):
    """How likely a requirement is met; `error` is how far that may be off, 0 where samples tell."""

    name: str
    probability: float
    error: float


class Share(Struct, frozen=True, kw_only=True):
    """How much one number that is not known has to do with how uncertain a value is.

    `first_order` is the share of the value's variance that goes where this number is known;
    `total` the share that stays where all others are (Sobol's indices). `stated` is what is said of
    it, as it is written where that is in force.
    """

    number: str
    stated: str
    first_order: float
    total: float


class ShareOfVariance(Share, frozen=True, kw_only=True):
    """The same of the answer; `promise_if_halved` is what could be promised if its spread were.

    That is, half as wide.
    """

    promise_if_halved: int | None


class BySurface(Struct, frozen=True, kw_only=True):
    """A requirement that takes long to tell: of samples it is told by a surface through `points`.

    `error` is the largest of the population at which it fails, as a part of it, where each point is
    told by all others.
    """

    requirement: str
    points: int
    error: float


class Interval(Struct, frozen=True, kw_only=True):
    """Between which values something lies with a probability; None where none is acceptable."""

    probability: float
    least: int | None
    most: int | None


class Promise(Struct, frozen=True, kw_only=True):
    """How many users are carried at least, with a certainty; None where not even the fewest are."""

    certainty: float
    largest: int | None


class Counted(Struct, frozen=True, kw_only=True):
    """How many samples lie where: `counts` of stretches of `width` populations, from `start` on.

    The least and the most of them, 1 % together, are left out; one below the range is none at all.
    """

    start: int
    width: int
    counts: tuple[int, ...]


class Odds(Struct, frozen=True, kw_only=True):
    """What is known of an answer where numbers of the spec are not.

    `requirements` tells how likely each is met at the answer, `bottlenecks` which resource
    saturates first, `limits` what limits the answer. `by_slopes` is the interval that the slopes
    of the answer give, None where there are none. `left_out` is the share of samples in which a
    number is such as none can be, or that are too many to be solved, and why; `beyond` the share in
    which the range ends first.
    `distribution` tells how the samples of the answer are spread.
    `assumed` are requirements and loads that are taken to fail for good once they fail, in the
    samples, and `by_surfaces` those that are told of most samples by a surface.
    """

    interval: Interval
    promise: Promise
    by_slopes: Interval | None
    requirements: tuple[LikelyMet, ...]
    bottlenecks: tuple[Likely, ...]
    limits: tuple[Likely, ...]
    shares: tuple[ShareOfVariance, ...]
    samples: int
    seed: int
    left_out: tuple[Likely, ...]
    beyond: float
    distribution: Counted
    assumed: tuple[str, ...] = ()
    by_surfaces: tuple[BySurface, ...] = ()


class Ends(Struct, frozen=True):
    """Between which values something lies, in base units; infinite where there is no end."""

    least: float
    most: float


class Spread(Struct, frozen=True, kw_only=True):
    """What is known of a value at a population where numbers of the spec are not.

    It lies within `interval` with a `probability`; `by_slopes` is the interval that its slopes
    give, None where there are none. `shares` tell where its variance comes from, the most first;
    `of_ranks` that it is the variance of its rank among the samples, as that of the value itself is
    of a few of them, or without end. All of it is of the samples that can be and in which it has a
    value: `left_out` and `undefined` tell of the shares of the others. In a share of them it is
    `endless`. `by_surface` where it takes long, and is told of most samples by a surface.
    """

    probability: float
    interval: Ends
    by_slopes: Ends | None
    shares: tuple[Share, ...]
    of_ranks: bool
    samples: int
    seed: int
    left_out: tuple[Likely, ...]
    undefined: float
    endless: float
    by_surface: BySurface | None


class DifferenceOdds(Struct, frozen=True, kw_only=True):
    """What is known of a difference where numbers are not: both answers of the same samples.

    `more` and `fewer` tell how likely the new answer is larger, or smaller; within `least` and
    `most` the difference is, with the probability of the intervals. `left_out` is the share of
    samples that cannot be on one of the sides, `unsolved` of those that are not solved on one.
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


class Sampling(Struct, frozen=True, kw_only=True):
    """How an answer is sampled: the certainty of a promise, how many samples, by which seed."""

    certainty: float = CERTAINTY
    samples: int = SAMPLES
    seed: int = SEED
