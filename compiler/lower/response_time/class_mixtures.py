"""The law of a stream whose users or items are of several kinds: an item is of one of them.

So the share of its items that takes longer than a time is that of each kind, weighed by how many of
the items are of it (the law of total probability). The quantile is that of this mixture.
"""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.lower.response_time.latency_paths import LatencyPath
from qps.compiler.lower.response_time.stage_operands import enclosed, one_of
from qps.compiler.quantities.methods import known_by
from qps.engine.distributions.stage_paths import MOST_PATHS
from qps.engine.expressions.formulas import Formula

OF_CLASSES = known_by("mixture-of-classes")


def mixture_of(
    weights: Sequence[Formula], paths: Sequence[Sequence[LatencyPath]]
) -> tuple[Formula, ...] | None:
    """Return the operands of the law of kinds, each of a share of the items and on its own path.

    None where one of them has no single path through stages of which each has a law.
    """
    alone = [path for each in paths for path in each]
    if not alone or any(len(each) != 1 for each in paths) or not all(map(_is_sum, alone)):
        return None
    if sum(path.chances for path in alone) > MOST_PATHS:
        return None
    kinds = zip(weights, alone, strict=True)
    return tuple(one_of(enclosed(weight, path.fixed, path.operands) for weight, path in kinds))


def _is_sum(path: LatencyPath) -> bool:
    return not path.aside and path.fan_out is None and not path.has_fork
