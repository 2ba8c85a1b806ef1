"""By which method it is known how long open classes wait for a pool."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.lower.disciplines.pool_wait import (
    DELAY,
    EXPONENTIAL,
    FLOW_EQUIVALENT,
    PoolMethod,
)
from qps.compiler.lower.label_doubts import Checks
from qps.compiler.lower.labels.labeled_network import NumberFacts
from qps.compiler.lower.pools.holding_times import HoldingTime
from qps.compiler.lower.queues.flow_equivalent_server import PoolSubnetwork
from qps.compiler.quantities.methods import METHODS

_MOST_APART = METHODS[DELAY].up_to["mean"][-1][0]


def pool_method(
    name: str,
    holds: Sequence[HoldingTime],
    network: PoolSubnetwork,
    numbers: NumberFacts,
    checks: Checks,
) -> PoolMethod:
    """Return the method of a pool.

    Where nobody waits while it is held, its places are servers for all who come at random.
    """
    if not all(one.is_delay for one in holds) or checks.of("poisson-at-pool", name):
        return PoolMethod(FLOW_EQUIVALENT)
    if not checks.of("exponential-holds", name):
        return PoolMethod(EXPONENTIAL)
    are_sums = all(one.is_in_line and not one.hold.is_lossy for one in holds)
    if not are_sums or network.lengths is not None or len({o.hold.amount for o in holds}) > 1:
        return PoolMethod(FLOW_EQUIVALENT)
    apart = _apart(network, numbers)
    if apart is None or apart > _MOST_APART:
        return PoolMethod(FLOW_EQUIVALENT)
    return PoolMethod(DELAY, apart)


def _apart(network: PoolSubnetwork, numbers: NumberFacts) -> float | None:
    """Return how far the squared variation of holding times is from 1, where it is known."""
    spread = network.variance / network.alone**2
    if numbers.expressions.population in spread.symbols:
        return None
    return max((abs(one - 1) for (one,) in numbers.at_ends([spread])), default=None)
