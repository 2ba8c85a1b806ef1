"""The quantile of a sum of independent stages, by the numerical inversion of its transform.

A stage is nine numbers. A share `p` of what comes waits: a geometric sum, of ratio `load`, of what
is left of the `work` before it, of that mean and squared variation `spread`, done by so many
`servers` at once. All of it is served, for a time of mean `service` and squared `variation`. Both
are gamma distributed or, without variation, always the same. With p = load and one server that is
M/G/1 (Pollaczek and Khinchine), with p of Erlang's C and exponential times M/M/c. It is passed so
many `times`, together with as many of the next stages as stand `inside`: once more than the whole
part for a share of what comes. Where that number is negative, these are alternatives: of those that
stand in it directly exactly one is passed, each by the chance that is its `times`, and none of them
by what is left of 1.

Where T has the transform f, P(T > t) has (1 - f(s))/s. That is inverted by a Fourier series and
Euler's summation (Abate and Whitt 1992), on a line moved towards the singularities of f, so that
small shares keep their digits. What is always the same is taken out of T before, on each of the
ways through stages that are passed by chance (`stage_paths`): after that its law is smooth but for
kinks that fixed service times leave in a wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import atan2, comb, cos, exp, expm1, floor, inf, isnan, log, log1p, nan, pi, prod, sin
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from qps.engine.numerics.falling_roots import falling_root
from qps.engine.queueing.stage_paths import SAME, Mixture, mixtures, pieces_of

OPERANDS = 9
"""Of a stage."""

NARROW = 0.2
"""Less varied services leave laws that are less smooth: they take more terms."""

DISCOUNT = 18.0
"""What is beyond three times the time that is asked for is counted with e to the minus this."""

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

SMALL, SMALL_TERMS = 0.01, 6
"""Below that size what is left of a time is told by so many terms, which lose no digits."""
NEARLY_WHOLE = 1e-13
"""A number of passages that is whole but for rounding counts as whole."""

Number = TypeVar("Number")
Staged = TypeVar("Staged")


def weights(plain: int, averaged: int) -> tuple[float, ...]:
    """Return by what the terms of an alternating series count, the last ones averaged (Euler)."""
    total = 2.0**averaged
    behind = [
        sum(comb(averaged, j) for j in range(k, averaged + 1)) for k in range(1, averaged + 1)
    ]
    sizes = [0.5, *([1.0] * plain), *(count / total for count in behind)]
    return tuple(-size if k % 2 else size for k, size in enumerate(sizes))


SMOOTH, KINKED = weights(16, 12), weights(48, 12)


class Stage(Struct, frozen=True, kw_only=True):
    """A stage with those that are passed as often as it is: `whole` times, a `share` once more."""

    waits: float
    load: float
    work: float
    spread: float
    servers: float
    service: float
    variation: float
    whole: int
    share: float
    inside: tuple[Stage, ...]
    is_choice: bool = False

    @property
    def chance(self) -> float:
        """The chance that it is passed, of one of alternatives."""
        return self.whole + self.share

    @property
    def left(self) -> float:
        """The chance that none of the alternatives inside is passed."""
        left = 1 - sum(each.chance for each in self.inside)
        return left if left > NEARLY_WHOLE else 0.0

    @property
    def has_left(self) -> bool:
        """True where it may be that none of the alternatives inside is passed."""
        return self.left > 0

    @property
    def is_late(self) -> bool:
        """True where some of it waits."""
        return self.waits > 0 and self.work > 0

    @property
    def has_share(self) -> bool:
        """True where it may be passed once more."""
        return self.share > 0

    @property
    def own_fixed(self) -> float:
        """What is always the same of one passage, but for what is inside."""
        return 0.0 if self.variation else self.service

    @property
    def is_fixed(self) -> bool:
        """True where a part of its own is always the same."""
        return self.own_fixed > 0

    @property
    def is_random(self) -> bool:
        """True where a part of its own varies."""
        return self.is_late or (self.service > 0 and self.variation > 0)

    @property
    def once(self) -> Stage:
        """Its own part alone, passed once."""
        return replace(self, whole=1, share=0.0, inside=(), is_choice=False)


class Place(Struct, frozen=True, kw_only=True):
    """Where a quantile is: so long beyond the fixed time of the mixture `at`, or right there."""

    at: int
    beyond: float = 0.0


@lru_cache(maxsize=1 << 14)
def stages_quantile(level: float, *stages: float) -> float:
    """Return the time that a share `level` does not exceed to pass stages, one after the other.

    Infinite where one that is passed is loaded 1 or more; not-a-number where chances of
    alternatives exceed 1, or where stages are passed by chance in more than `MOST_WAYS` ways.
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


def line_of(stages: Sequence[float]) -> tuple[Stage, ...] | None:
    """Return the stages of operands; None where these make none."""
    if not stages or len(stages) % OPERANDS or any(map(isnan, stages)):
        return None
    groups = [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]
    line = read(groups) if all(map(_is_stage, groups)) else None
    return None if line is None or any(map(exceeds_one, line)) else line


def is_endless(line: Sequence[Stage]) -> bool:
    """Return whether a stage that is passed takes an infinite time."""
    every = passed(line)
    return any(each.service == inf or (each.is_late and each.load >= 1) for each in every)


def mixed(line: Sequence[Stage]) -> tuple[Mixture, ...] | None:
    """Return the ways through stages by the fixed time of each, None where there are too many."""
    pieced = pieces_of(line)
    return None if pieced is None else mixtures(pieced)


def _is_stage(group: Sequence[float]) -> bool:
    waits, load, work, spread, servers, service, variation, times, inside = group
    return (
        waits >= 0
        and load >= 0
        and 0 <= work < inf
        and 0 <= spread < inf
        and servers > 0
        and service >= 0
        and 0 <= variation < inf
        and 0 <= times < inf
        and abs(inside) < inf
    )


def read_line(
    groups: Sequence[Sequence[Number]],
    stage_of: Callable[[Sequence[Number], tuple[Staged, ...]], Staged],
    how_many: Callable[[Number], float],
) -> tuple[Staged, ...]:
    """Return stages one after the other, those inside others within these.

    A stage is made of its group and what is inside it, `how_many` its last operand says: less than
    none where they are alternatives.
    """
    found = []
    at = 0
    while at < len(groups):
        group = groups[at]
        end = min(len(groups), at + 1 + int(min(abs(how_many(group[-1])), len(groups))))
        found.append(stage_of(group, read_line(groups[at + 1 : end], stage_of, how_many)))
        at = end
    return tuple(found)


def read(groups: Sequence[Sequence[float]]) -> tuple[Stage, ...]:
    """Return stages one after the other, those inside others within these."""
    return read_line(groups, _staged, float)


def _staged(group: Sequence[float], inside: tuple[Stage, ...]) -> Stage:
    waits, load, work, spread, servers, service, variation, times, within = group
    near = round(times)
    whole = near if abs(times - near) <= NEARLY_WHOLE * near else floor(times)
    return Stage(
        waits=min(waits, 1.0),
        load=load,
        work=work,
        spread=spread,
        servers=servers,
        service=service,
        variation=variation,
        whole=whole,
        share=max(0.0, times - whole),
        inside=inside,
        is_choice=within < 0,
    )


def exceeds_one(stage: Stage) -> bool:
    """Return whether the chances of alternatives within a stage exceed 1."""
    chances = sum(each.chance for each in stage.inside) if stage.is_choice else 0.0
    return chances > 1 + SAME or any(map(exceeds_one, stage.inside))


def passed(line: Sequence[Stage]) -> list[Stage]:
    """Return the stages that are passed at all and take a time."""
    found = []
    for each in line:
        if each.whole or each.share:
            found += [each] if each.service or each.is_late else []
            found += passed(each.inside)
    return found


def share_at_fixed(line: Sequence[Stage]) -> float:
    """Return which share takes no longer than what is always the same."""
    found = 1.0
    for stage in line:
        once = _stage_share_at_fixed(stage)
        found *= once**stage.whole * (1 - stage.share + stage.share * once)
    return found


def _stage_share_at_fixed(stage: Stage) -> float:
    if stage.service and stage.variation:
        return 0.0
    own = 1 - stage.waits if stage.is_late else 1.0
    if not stage.is_choice:
        return own * share_at_fixed(stage.inside)
    return own * sum(
        (each.chance * _stage_share_at_fixed(each) for each in stage.inside), stage.left
    )


def mixture_share_at_fixed(mixture: Mixture) -> float:
    """Return which share of all takes the fixed time of a mixture, and no longer."""
    return sum(
        float(chance) * prod(share_at_fixed((stage,)) ** often for stage, often in stages)
        for chance, stages in mixture.paths
    )


# -- where a quantile is -----------------------------------------------------------------


def placed(paths: Sequence[Mixture], level: float) -> Place:
    """Return where the quantile of a mixture of ways is: at the fixed time of one, or beyond it."""
    goal, late = -log1p(-level), 1 - level
    tails = [Tail.of(mixture, goal) for mixture in paths]
    longer = list(accumulate((mixture.chance for mixture in reversed(paths)), initial=0.0))[::-1]
    last = len(paths) - 1
    for k, mixture in enumerate(paths):
        if longer[k + 1] > late * (1 + SAME):
            continue  # more than that take the next fixed time at least
        before = _longer(tails[:k], mixture.fixed)[0]
        if before + longer[k] - mixture_share_at_fixed(mixture) <= late * (1 + SAME):
            return Place(at=k)
        ahead = paths[k + 1].fixed if k < last else inf
        if k < last and _longer(tails[: k + 1], ahead)[0] + longer[k + 1] > late * (1 - SAME):
            continue
        so_far = tails[: k + 1]
        high = max(tail.high + tail.fixed for tail in so_far) - mixture.fixed
        high = min(high, ahead - mixture.fixed)
        near = TOLERANCES if all(tail.terms is SMOOTH for tail in so_far) else NEXT_TO
        start, beyond = mixture.fixed, longer[k + 1]

        def excess(time: float) -> tuple[float, float]:
            """Return log(P(T > t)/(1 - level)), and its slope."""
            found, density = _longer(so_far, start, time)  # noqa: B023 - it is done with here
            found += beyond  # noqa: B023
            return (log(found) + goal, -density / found) if found > 0 else (-1.0, 0.0)

        return Place(at=k, beyond=falling_root(excess, 0.0, high, high, near))
    return Place(at=last)


WeightedPath = tuple[float, tuple[tuple[int, tuple[Stage, ...]], ...]]
"""A chance, and lines of stages that vary, each passed so often."""


class Tail(Struct, frozen=True, kw_only=True):
    """What is needed of a mixture to tell which share takes longer than a time.

    No quantile asked for is further than `high` beyond its fixed time: so says Chernoff's bound at
    a `place` of the transform.
    """

    mixture: Mixture
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
    def of(mixture: Mixture, goal: float) -> Tail:
        """Return what is needed where so much of the logarithm of a share is asked for."""
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

    def at(self, time: float) -> tuple[float, float]:
        """Return the share that takes longer than so much beyond the fixed time, and the density.

        Both are of all that comes.
        """
        if time <= 0 or not self.mixture.line:
            is_longer = time < 0 or (time == 0 and bool(self.mixture.line))
            return (self.mixture.chance if is_longer else 0.0), 0.0
        gap = gap_of(self.nearest, self.goal, time)
        longer = density = 0.0
        for k, weight in enumerate(self.terms):
            at = complex(gap, k * pi) / time
            found = mixed_transform(self.paths, at)
            longer += weight * ((self.mixture.chance - found) / at).real
            density += weight * found.real
        scale = exp(gap) / time
        return longer * scale, density * scale


def _longer(tails: Sequence[Tail], since: float, time: float = 0.0) -> tuple[float, float]:
    """Return what of some mixtures takes longer than a time after another one, and the density."""
    each = [tail.at(since - tail.fixed + time) for tail in tails]
    return sum(one for one, _ in each), sum(one for _, one in each)


def _paths_of(mixture: Mixture) -> tuple[WeightedPath, ...]:
    """Return the chance of each way, and its stages by how often they are passed on it."""
    found = []
    for chance, stages in mixture.paths:
        lines: dict[int, tuple[Stage, ...]] = {}
        for stage, often in stages:
            lines[often] = (*lines.get(often, ()), stage)
        found.append((float(chance), tuple(lines.items())))
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


def served(line: Sequence[Stage]) -> float:
    """Return how long stages serve at most, without waits."""
    return sum((stage.chance * _service_transform(stage) for stage in line), 0.0)


def _service_transform(stage: Stage) -> float:
    if stage.is_choice:
        each = (_service_transform(one) for one in stage.inside if one.chance)
        return stage.service + max(each, default=0.0)
    return stage.service + served(stage.inside)


def gap_of(singularity: float, goal: float, time: float) -> float:
    """Return how far right of zero the line of integration is, as a part of 1/t; not next to it."""
    gap = DISCOUNT / 2 - min(TOWARDS * singularity * time, goal)
    return gap if abs(gap) >= 1 else 1.0


def nearest_singularity(line: Sequence[Stage]) -> float:
    """Return how far left of zero there is no singularity."""
    every = passed(line)
    found = min(map(_decay, every))
    return found if found < inf else 1 / sum(each.service + each.work for each in every)


def terms_of(line: Sequence[Stage]) -> tuple[float, ...]:
    """Return by what the terms of the series count: of what is less smooth there are more."""
    is_narrow = any(
        (each.is_late and each.spread < NARROW) or (0 < each.variation < NARROW)
        for each in passed(line)
    )
    return KINKED if is_narrow else SMOOTH


def _decay(stage: Stage) -> float:
    """Return what the rate at which the tail of a stage falls is at least."""
    own, spread = stage.variation * stage.service, stage.spread
    found = 1 / own if own else inf
    if stage.is_late:
        slower = 2 / (1 + spread) if spread <= 1 else 1 / spread
        found = min(found, (1 - stage.load) * slower * stage.servers / stage.work)
    return found


def transform(line: Sequence[Stage], at: complex) -> complex:
    """Return E exp(-s T) of the time that stages take beyond what is always the same."""
    found = complex(1.0)
    for stage in line:
        if not (stage.whole or stage.share):
            continue
        once = _transform_of_one(stage, at)
        if stage.whole:
            found *= once if stage.whole == 1 else once**stage.whole
        if stage.share:
            found *= 1 - stage.share + stage.share * once
    return found


def _transform_of_one(stage: Stage, at: complex) -> complex:
    """Return the transform of one passage."""
    found = _inside(stage, at) if stage.inside else complex(1.0)
    if stage.service and stage.variation:
        found *= 1 + _less(at * stage.service, stage.variation)
    if stage.is_late:
        found *= _wait(stage, at)
    return found


def _inside(stage: Stage, at: complex) -> complex:
    if not stage.is_choice:
        return transform(stage.inside, at)
    each = (one.chance * _transform_of_one(one, at) for one in stage.inside if one.chance)
    return sum(each, complex(stage.left))


def _wait(stage: Stage, at: complex) -> complex:
    """Return E exp(-s W) for the wait W of all, also of those who do not wait."""
    each = at * stage.work / stage.servers
    rest, spare = _rest(each, stage.spread), 1 - stage.load
    waited = spare * (1 - rest) / (spare + stage.load * rest)
    return 1 - stage.waits + stage.waits * waited


def _rest(size: complex, v: float) -> complex:
    """Return 1 - E exp(-z R) for what is left of a time of mean 1, to all digits."""
    if v == 1:
        return size / (1 + size)
    if abs(size) * (1 + SMALL_TERMS * v) < SMALL:
        found: complex = in_terms(size, v)
        return found
    return 1 + _less(size, v) / size


def in_terms(size: Any, v: Any) -> Any:
    """Return 1 - E exp(-z R) by its series, of numbers or arrays."""
    found = 1 - size * ((1 + SMALL_TERMS * v) / (SMALL_TERMS + 1))
    for k in range(SMALL_TERMS - 1, 1, -1):
        found = 1 - size * ((1 + k * v) / (k + 1)) * found
    return size * ((1 + v) / 2) * found


def _less(size: complex, v: float) -> complex:
    """Return E exp(-z S) - 1 for a time S of mean 1, to all digits where z is small."""
    if v == 1:
        return -size / (1 + size)
    if v:
        x, y = v * size.real, v * size.imag
        a, b = -log1p(x * (2 + x) + y * y) / (2 * v), -atan2(y, 1 + x) / v
    else:
        a, b = -size.real, -size.imag
    half = sin(b / 2)
    return complex(expm1(a) * cos(b) - 2 * half * half, exp(a) * sin(b))
