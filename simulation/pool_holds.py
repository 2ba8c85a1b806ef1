"""What items hold of pools, and how they give it back."""

from __future__ import annotations

import math

from simpy import Environment

from qps.simulation.items import Go, Item, PoolHold
from qps.simulation.run_state import SimulationState
from qps.simulation.simulated_model import Give, Take
from qps.simulation.stations import Places


def acquisition_of(state: SimulationState, step: Take, then: Go) -> Go:
    """Let an item wait until it has its amount of a pool."""
    clock, pools = state.clock, state.places[step.station]
    station, amount = step.station, step.amount
    node = step.node if step.node in state.several else None
    capacity = step.capacity if step.waits else math.inf
    note = state.note_wait(station)

    def acquire(item: Item) -> None:
        key = 0 if node is None else item.picks[node]
        pool = pools.get(key)
        if pool is None:
            pool = pools[key] = Places(capacity)
        pool.take(amount, acquired, (item, pool, clock.now))

    def acquired(visit: tuple[Item, Places, float]) -> None:
        item, pool, came = visit
        note(item, clock.now - came)
        item.holds = (*item.holds, (station, amount, clock.now, pool))
        then(item)

    return acquire


def release_of(state: SimulationState, step: Give, then: Go) -> Go:
    """Let an item give back what it holds of a pool."""
    station, clock, busy = step.station, state.clock, state.busy

    def release(item: Item) -> None:
        for one in item.holds:
            if one[0] == station:
                item.holds = tuple(other for other in item.holds if other is not one)
                _release(one, clock, busy)
                break
        then(item)

    return release


def _release(one: PoolHold, clock: Environment, busy: list[float]) -> None:
    station, amount, since, pool = one
    busy[station] += amount * (clock.now - since)
    pool.give(amount)


def release_all(item: Item, clock: Environment, busy: list[float]) -> None:
    """Let an item that goes no further give back all that it holds."""
    held, item.holds = item.holds, ()
    for one in held:
        _release(one, clock, busy)
