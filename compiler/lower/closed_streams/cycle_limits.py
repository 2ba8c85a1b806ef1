"""Resources on a cycle that state no queueing and yet serve no more than they can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from qps.compiler.lower.closed_networks.cycle import ThroughputLimit
from qps.compiler.lower.closed_streams.load_parts import LoadParts
from qps.compiler.lower.expressions.exact_order import compare
from qps.engine.expressions.formulas import ONE, Formula


def limits_of(
    rate: Formula, parted: Mapping[str, LoadParts], elastic: AbstractSet[Formula]
) -> Iterator[ThroughputLimit]:
    """Yield the resources that limit the stream of a rate, with the parts of their loads.

    What others demand of one moves, so that it may be the tightest whatever this stream demands; so
    does what an elastic parameter takes of it.
    """
    own: list[ThroughputLimit] = []
    for name, part in parted.items():
        work = part.by.get(rate)
        if work is None:
            continue
        limit = ThroughputLimit(resource=name, work=work, open_load=part.open_load, own=work)
        if len(part.by) > 1 or not elastic.isdisjoint(part.open_load.symbols):
            yield limit
        else:
            own.append(limit)
    yield from _tightest(own)


def _tightest(limits: list[ThroughputLimit]) -> Iterator[ThroughputLimit]:
    """Yield the limits but those that another one is sure to be within."""
    for at, limit in enumerate(limits):
        others = limits[:at] + [one for one in limits[at + 1 :] if one.work is not limit.work]
        if not any(_is_within(other, limit) for other in others):
            yield limit


def _is_within(one: ThroughputLimit, other: ThroughputLimit) -> bool:
    """Return whether one limit leaves no more than another, whatever the numbers."""
    ratio = one.work / other.work
    return ratio.is_constant and one.open_load is other.open_load and compare(">=", ratio, ONE)
