"""The tail of a sum of independent stages: which share takes longer than a time.

`sum_numbers` says what a stage is, and how its transform is inverted. A quantile knows how small
its tail is, a tail does not: so it is inverted twice, first on the line that Chernoff's bound gives
(no more than E exp(aT) exp(-at) takes longer than t), then on that of the tail that was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf, isnan, log, nan

from msgspec import Struct
from msgspec.structs import replace

from qps.engine.distributions.stage_paths import SAME, PathMixture
from qps.engine.distributions.sum_numbers import (
    Tail,
    is_endless,
    line_of,
    mixed,
    mixture_share_at_fixed,
)


class MixtureTail(Struct, frozen=True, kw_only=True):
    """What of a mixture of ways takes longer than a time.

    The time is `after` its fixed time. `tail` is how that is inverted, None where it need not be:
    then all, or none, or what varies at all takes longer.
    """

    after: float
    share: float
    tail: Tail | None = None


@lru_cache(maxsize=1 << 14)
def stages_tail(time: float, *stages: float) -> float:
    """Return the share that takes longer than `time` to pass stages, one after the other.

    1 where a stage that is passed is loaded 1 or more; not-a-number where `stages_quantile` is,
    for any level.
    """
    line = None if isnan(time) else line_of(stages)
    if line is None:
        return nan
    if time < 0 or is_endless(line):
        return 1.0
    ways = mixed(line)
    if ways is None:
        return nan
    if time == inf:
        return 0.0
    return min(1.0, max(0.0, sum(one.share for one in tails_of(ways, time))))


def tails_of(paths: Sequence[PathMixture], time: float) -> list[MixtureTail]:
    """Return what of each mixture of ways takes longer than a time."""
    return [_tail_of(mixture, time - float(mixture.fixed), time) for mixture in paths]


def _tail_of(mixture: PathMixture, after: float, time: float) -> MixtureTail:
    chance = float(mixture.chance)
    if abs(after) <= SAME * time:
        return MixtureTail(after=0.0, share=chance - mixture_share_at_fixed(mixture))
    if after < 0 or not mixture.line:
        return MixtureTail(after=after, share=chance if after < 0 else 0.0)
    tail = _as_unlikely(Tail.of(mixture, 0.0), after)
    share, _ = tail.at(after)
    if 0 < share < chance:
        tail = replace(tail, goal=max(tail.goal, log(chance / share)))
        share, _ = tail.at(after)
    return MixtureTail(after=after, share=min(max(0.0, share), chance), tail=tail)


def _as_unlikely(tail: Tail, after: float) -> Tail:
    """Return a tail as it is inverted for what is as unlikely as Chernoff's bound says.

    Without a goal its `high` is the logarithm of a transform, over the place where that was taken.
    """
    return replace(tail, goal=max(0.0, tail.place * (after - tail.high)))
