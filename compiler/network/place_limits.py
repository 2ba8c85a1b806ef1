"""How many may be at a place at once, where all who come there hold a place of some pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qps.compiler.network.passages import Passage
from qps.compiler.network.stations_and_pools import Place, Pool
from qps.engine.expressions.formulas import Formula, maximum, total


def most_within(visits: Iterable[Passage], at: Place, pools: Mapping[str, Pool]) -> Formula | None:
    """Return how many of some visits there may be at one copy of a place; None for any number.

    The last pool that each waited for lets in no more than it has places: of a pool of the same
    machine there are its own ones, of another one those of all its copies.
    """
    most: dict[str, Formula] = {}
    for passage in visits:
        held = [one for one in passage.holds if not pools[one.pool].is_unmodeled]
        if not held:
            return None
        pool = pools[held[-1].pool]
        places = pool.capacity / held[-1].amount
        there = places if pool.place.name == at.name else places * pool.place.copies
        most[pool.name] = maximum(most.get(pool.name, there), there)
    return total(most.values()) if most else None
