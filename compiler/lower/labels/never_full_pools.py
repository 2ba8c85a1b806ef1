"""Pools that are never full: those who may come to one at once need no more than it has.

Who comes are users who wait for their answers, so that no more come than there are. Nobody waits
for such a pool: without it all is as it is with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.labels.labeled_network import NetworkPassages, NumberFacts, is_holders
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import Merge, Send, Take
from qps.compiler.network.network import Network
from qps.compiler.network.passages import Passage
from qps.compiler.network.place_limits import most_within
from qps.compiler.network.stations_and_pools import Pool
from qps.engine.expressions.formulas import Formula, total


def never_full(network: Network, expressions: ExpressionLowering) -> frozenset[str]:
    """Return the names of the pools that are waited for and never full at any population."""
    walked, numbers = NetworkPassages(network=network), NumberFacts(expressions)
    taken: dict[str, list[Passage]] = {}
    several: set[str] = set()
    for name, each in walked.passages.items():
        if not walked.network.classes[name].is_closed or any(map(_makes_several, each)):
            several.add(name)
        for passage in each:
            if isinstance(passage.node, Take):
                taken.setdefault(passage.node.pool, []).append(passage)
    return frozenset(
        name
        for name, pool in network.pools.items()
        if not pool.is_unmodeled
        and several.isdisjoint(one.of.name for one in taken.get(name, ()))
        and _has_places(pool, taken.get(name, ()), network, numbers)
    )


def _makes_several(passage: Passage) -> bool:
    """Return whether more than one part of the request of a user may be under way at a time."""
    return passage.fork is not None or isinstance(passage.node, Send | Merge)


def _has_places(
    pool: Pool, passages: Sequence[Passage], network: Network, numbers: NumberFacts
) -> bool:
    """Return whether a pool has a place for all who may come: all users, or who hold others."""
    amounts = {one.node.amount for one in passages if isinstance(one.node, Take)}
    if len(amounts) != 1:
        return False
    (amount,) = amounts
    if numbers.expressions.largest(amount) is not None:
        return False
    there = pool.capacity * (1 - total(load for _, load in pool.background))
    users = {one.of.name: _users(one.of, pool) for one in passages}
    return any(
        numbers.is_never_above_zero(most * amount - there)
        for most in (total(users.values()), most_within(passages, pool.place, network.pools))
        if most is not None
    )


def _users(of: Class, pool: Pool) -> Formula:
    """Return how many of a class may come to one copy of a pool."""
    assert of.population is not None
    is_own = is_holders(pool.place, of)
    return of.population / pool.place.copies if is_own else of.population
