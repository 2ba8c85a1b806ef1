"""The law of a stream whose users or items are of several kinds: an item is of one of them.

So the share of its items that takes longer than a time is that of each kind, weighed by how many of
the items are of it (the law of total probability). The quantile is that of this mixture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from qps.compiler.lower.response_time.latency_paths import LatencyPath
from qps.compiler.lower.response_time.stage_operands import enclosed, one_of
from qps.compiler.quantities.methods import known_by
from qps.engine.distributions.stage_paths import MOST_PATHS
from qps.engine.expressions.formulas import Formula

OF_CLASSES = known_by("mixture-of-classes")


class PathsByKind(Protocol):
    """A stream, or a kind of its users, by the kinds of its items; none where these are alike."""

    @property
    def weights(self) -> Sequence[Formula]:
        """Which share of the items is of each kind."""

    @property
    def kinds(self) -> Sequence[PathsByKind]:
        """What each kind sees."""

    @property
    def tail_paths(self) -> Sequence[LatencyPath]:
        """The ways through its stages of which a sum has the tail."""


def mixture_of(
    weights: Sequence[Formula], kinds: Sequence[PathsByKind]
) -> tuple[Formula, ...] | None:
    """Return the operands of the law of kinds, each of a share of the items and on its own path.

    None where one of them has no single path through stages of which each has a law.
    """
    each = list(_single(weights, kinds))
    alone = [path for _, kind in each for path in kind.tail_paths]
    is_single = all(len(kind.tail_paths) == 1 for _, kind in each)
    if not alone or not is_single or not all(map(_is_sum, alone)):
        return None
    if sum(path.chances for path in alone) > MOST_PATHS:
        return None
    paths = zip(each, alone, strict=True)
    return tuple(one_of(enclosed(weight, path.fixed, path.operands) for (weight, _), path in paths))


def _single(
    weights: Sequence[Formula], kinds: Sequence[PathsByKind]
) -> Iterator[tuple[Formula, PathsByKind]]:
    """Yield kinds with their share of the items: of users also by the kinds of their items."""
    for weight, kind in zip(weights, kinds, strict=True):
        if not kind.kinds:
            yield weight, kind
        for share, one in _single(kind.weights, kind.kinds):
            yield weight * share, one


def _is_sum(path: LatencyPath) -> bool:
    return not path.aside and path.fan_out is None and not path.has_fork
