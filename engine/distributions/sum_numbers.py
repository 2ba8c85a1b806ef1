"""The quantile of a sum of independent stages, by the numerical inversion of its transform.

`stages` says what a stage is.

Where T has the transform f, P(T > t) has (1 - f(s))/s. That is inverted by a Fourier series and
Euler's summation (Abate and Whitt 1992), on a line moved towards the singularities of f, so that
small shares keep their digits. What is always the same is taken out of T before, on each of the
ways through stages that are passed by chance (`stage_paths`): after that its law is smooth but for
kinks that fixed service times leave in a wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from math import comb, exp, inf, isnan, log, log1p, nan, pi, prod
from typing import TYPE_CHECKING

from msgspec import Struct

from qps.engine.distributions.stage_paths import SAME, PathMixture, mixtures, pieces_of
from qps.engine.distributions.stage_transforms import (
    Passage,
    nearest_singularity,
    passages_of,
    served,
    transform,
)
from qps.engine.distributions.stages import (
    OPERANDS,
    Stage,
    is_sound,
    is_stage,
    passed,
    read,
    share_at_fixed,
)
from qps.engine.numerics.falling_roots import falling_root

if TYPE_CHECKING:
    from qps.engine.distributions.inversion_arrays import TailsInArrays

DISCOUNT = 18.0
"""What is beyond three times the requested time is counted with e to the minus this."""

TOWARDS = 0.9
"""How far the line of integration is moved towards the nearest singularity."""

LONG, TINY = 300.0, 1e-300
"""No transform is taken further left of zero than this over the time that is served.

There it is e to the power of twice as much at most; where nothing is served, it is anywhere.
"""

TOLERANCES, NEXT_TO = 1e-6, 1e-9
"""From so near, as a part of it, one step finds a quantile: logarithms of tails hardly bend.

So it is where laws are smooth; slopes of others are not known as well.
"""


def weights(plain: int, averaged: int) -> tuple[float, ...]:
    """Return by what the terms of an alternating series count, the last ones averaged (Euler)."""
    total = 2.0**averaged
    behind = [
        sum(comb(averaged, j) for j in range(k, averaged + 1)) for k in range(1, averaged + 1)
    ]
    sizes = [0.5, *([1.0] * plain), *(count / total for count in behind)]
    return tuple(-size if k % 2 else size for k, size in enumerate(sizes))


SMOOTH, KINKED = weights(16, 12), weights(48, 12)


class QuantilePosition(Struct, frozen=True, kw_only=True):
    """Where a quantile is: so long beyond the fixed time of the mixture `at`, or right there."""

    at: int
    beyond: float = 0.0


@lru_cache(maxsize=1 << 14)
def stages_quantile(level: float, *stages: float) -> float:
    """Return the time that a share `level` does not exceed to pass stages, one after the other.

    Infinite where one that is passed is loaded 1 or more; not-a-number where chances of
    alternatives exceed 1, or where stages are passed by chance in more than `MOST_PATHS` ways.
    """
    line = line_of(stages) if 0 <= level < 1 else None
    if line is None:
        return nan
    if is_endless(line):
        return inf
    ways = mixed(line)
    if ways is None:
        return nan
    place = placed(ways, level)
    return float(ways[place.at].fixed) + place.beyond


def without_law(*stages: float) -> float | None:
    """Return what the time to pass stages is where it has no law: not-a-number, or infinite."""
    line = line_of(stages)
    if line is None:
        return nan
    return inf if is_endless(line) else None


def line_of(stages: Sequence[float]) -> tuple[Stage, ...] | None:
    """Return the stages of operands; None where these make none."""
    if not stages or len(stages) % OPERANDS or any(map(isnan, stages)):
        return None
    groups = [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]
    line = read(groups) if all(map(is_stage, groups)) else None
    return line if line is not None and is_sound(line) else None


def is_endless(line: Sequence[Stage]) -> bool:
    """Return whether a stage that is passed takes an infinite time."""
    return any(each.is_endless for each in passed(line))


def mixed(line: Sequence[Stage]) -> tuple[PathMixture, ...] | None:
    """Return the ways through stages by the fixed time of each, None where there are too many."""
    pieced = pieces_of(line)
    return None if pieced is None else mixtures(pieced)


def mixture_share_at_fixed(mixture: PathMixture) -> float:
    """Return which share of all takes the fixed time of a mixture, and no longer."""
    return sum(
        float(chance) * prod(share_at_fixed((stage,)) ** often for stage, often in stages)
        for chance, stages in mixture.paths
    )


# -- where a quantile is -----------------------------------------------------------------


def placed(paths: Sequence[PathMixture], level: float) -> QuantilePosition:
    """Return where the quantile of a mixture of ways is: at the fixed time of one, or beyond it."""
    goal, late = -log1p(-level), 1 - level
    tails = [Tail.of(mixture, goal) for mixture in paths]
    longer = list(accumulate((mixture.chance for mixture in reversed(paths)), initial=0.0))[::-1]
    last = len(paths) - 1
    for k, mixture in enumerate(paths):
        if longer[k + 1] > late * (1 + SAME):
            continue  # more than that take the next fixed time at least
        before = _Tails(tails[:k]).longer(mixture.fixed)[0]
        if before + longer[k] - mixture_share_at_fixed(mixture) <= late * (1 + SAME):
            return QuantilePosition(at=k)
        ahead = paths[k + 1].fixed if k < last else inf
        so_far = tails[: k + 1]
        together = _Tails(so_far)
        if k < last and together.longer(ahead)[0] + longer[k + 1] > late * (1 - SAME):
            continue
        high = max(tail.high + tail.fixed for tail in so_far) - mixture.fixed
        high = min(high, ahead - mixture.fixed)
        near = TOLERANCES if all(tail.terms is SMOOTH for tail in so_far) else NEXT_TO
        start, beyond = mixture.fixed, longer[k + 1]

        def excess(time: float) -> tuple[float, float]:
            """Return log(P(T > t)/(1 - level)), and its slope."""
            found, density = together.longer(start, time)  # noqa: B023 - it is done with here
            found += beyond  # noqa: B023
            return (log(found) + goal, -density / found) if found > 0 else (-1.0, 0.0)

        return QuantilePosition(at=k, beyond=falling_root(excess, 0.0, high, high, near))
    return QuantilePosition(at=last)


_MANY_TERMS = 120
"""Terms of all mixtures that are quicker in arrays, even where these are imported for them."""

WeightedPath = tuple[float, tuple[tuple[int, tuple[Passage, ...]], ...]]
"""A chance, and lines of stages that vary, each passed so often."""


class Tail(Struct, frozen=True, kw_only=True):
    """What is needed of a mixture to say which share takes longer than a time.

    No requested quantile is further than `high` beyond its fixed time: so says Chernoff's bound at
    a `place` of the transform.
    """

    mixture: PathMixture
    paths: tuple[WeightedPath, ...]
    nearest: float
    goal: float
    terms: tuple[float, ...]
    high: float
    place: float = 0.0

    @property
    def fixed(self) -> float:
        """The fixed time of it."""
        return float(self.mixture.fixed)

    @staticmethod
    def of(mixture: PathMixture, goal: float) -> Tail:
        """Return what is needed where so much of the logarithm of a share is requested."""
        line, ways = mixture.line, _paths_of(mixture)
        if not line:
            return Tail(mixture=mixture, paths=ways, nearest=inf, goal=goal, terms=SMOOTH, high=0.0)
        nearest = nearest_singularity(line)
        # By Chernoff's bound, at a place where it is no power of e that is too long.
        at = min(nearest / 2, LONG / (served(line) or TINY))
        size = max(mixed_transform(ways, complex(-at, 0.0)).real / mixture.chance, 1.0)
        return Tail(
            mixture=mixture,
            paths=ways,
            nearest=nearest,
            goal=goal,
            terms=terms_of(line),
            high=(log(size) + goal) / at,
            place=at,
        )

    def gap(self, time: float) -> float:
        """Return how far right of zero the line of integration is, as a part of 1/t."""
        return gap_of(self.nearest, self.goal, time)

    def at(self, time: float) -> tuple[float, float]:
        """Return the share that takes longer than so much beyond the fixed time, and the density.

        Both are of all that comes.
        """
        if time <= 0 or not self.mixture.line:
            is_longer = time < 0 or (time == 0 and bool(self.mixture.line))
            return (self.mixture.chance if is_longer else 0.0), 0.0
        gap = self.gap(time)
        longer = density = 0.0
        for k, weight in enumerate(self.terms):
            at = complex(gap, k * pi) / time
            found = mixed_transform(self.paths, at)
            longer += weight * ((self.mixture.chance - found) / at).real
            density += weight * found.real
        scale = exp(gap) / time
        return longer * scale, density * scale


class _Tails:
    """The tails of some mixtures together: in arrays, where there are many terms of them."""

    def __init__(self, tails: Sequence[Tail]) -> None:
        self._tails = tails
        self._varied = [tail for tail in tails if tail.mixture.line]
        is_many = sum(len(tail.terms) for tail in self._varied) >= _MANY_TERMS
        self._arrays = _in_arrays(self._varied) if is_many else None

    def longer(self, since: float, time: float = 0.0) -> tuple[float, float]:
        """Return what takes longer than a time after another one, and the density."""
        times = [since - tail.fixed + time for tail in self._varied]
        if self._arrays is None or min(times) <= 0:
            each = [tail.at(since - tail.fixed + time) for tail in self._tails]
            return sum(one for one, _ in each), sum(one for _, one in each)
        longer, density = self._arrays.later(times)
        # Of what never varies nothing is dense.
        same = (tail for tail in self._tails if not tail.mixture.line)
        more = sum(tail.at(since - tail.fixed + time)[0] for tail in same)
        return more + float(longer.sum()), float(density.sum())


def _in_arrays(tails: Sequence[Tail]) -> TailsInArrays | None:
    """Return tails in arrays; None without numpy, as in a browser."""
    try:
        from qps.engine.distributions.inversion_arrays import TailsInArrays  # noqa: PLC0415 - slow to import, seldom needed
    except ImportError:
        return None
    return TailsInArrays(tails)


def _paths_of(mixture: PathMixture) -> tuple[WeightedPath, ...]:
    """Return the chance of each way, and its stages by how often they are passed on it."""
    found = []
    for chance, stages in mixture.paths:
        lines: dict[int, tuple[Stage, ...]] = {}
        for stage, often in stages:
            lines[often] = (*lines.get(often, ()), stage)
        each = tuple((often, passages_of(line)) for often, line in lines.items())
        found.append((float(chance), each))
    return tuple(found)


def mixed_transform(paths: Sequence[WeightedPath], at: complex) -> complex:
    """Return the transform of what varies on some ways, each by its chance."""
    total = complex(0.0)
    for chance, lines in paths:
        found = complex(chance)
        for often, line in lines:
            once = transform(line, at)
            found *= once if often == 1 else once**often
        total += found
    return total


def gap_of(singularity: float, goal: float, time: float) -> float:
    """Return how far right of zero the line of integration is, as a part of 1/t; not next to it."""
    gap = DISCOUNT / 2 - min(TOWARDS * singularity * time, goal)
    return gap if abs(gap) >= 1 else 1.0


def terms_of(line: Sequence[Stage]) -> tuple[float, ...]:
    """Return by what the terms of the series count: of what is less smooth there are more."""
    return KINKED if any(each.is_narrow for each in passed(line)) else SMOOTH
