"""Users of one class who hold places of pools while they wait for unlike services.

What they wait longer there, a `longer` time in all, counts as a delay of the cycle. Those who are
in it are nowhere else, and a network is as it would be of so many fewer users: X(N - X' longer) =
X' cycles a second, where X(n) are those of n users in product form (Little 1961). From N a step of
Newton's method finds that N': no network has another delay for each number of users.

A place is held longer, too: L all visits together. Where few are held, that is all there is; where
all are, a cycle holds one no longer than places over cycles a second let it, and waits for one as
much longer as it holds it less. Of a gap G between both it holds one longer by L G / (L + G).
Users who hold all places are a closed network by themselves: no more cycles end than there do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.closed_networks.closed_stations import CyclePool, MovedUsers, UnlikeWork
from qps.compiler.lower.closed_networks.cycle import Cycle
from qps.compiler.lower.queues.service_variation import wait_ratio
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
    total,
)

NEARLY_FULL = number(1 - Fraction(1, 10**6))
NO_TIME = number(Fraction(1, 10**30))
_LEAST = number(Fraction(1, 10**9))

Unlike = Callable[[ClosedNetwork, Mapping[str, Formula]], dict[str, UnlikeWork]]
"""What users of a network find at its stations, for each of which they wait so much elsewhere."""


def has_plain_pools(network: ClosedNetwork, cycle: Cycle) -> bool:
    """Return whether a cycle holds pools one after the other, and waits while it holds each.

    Not where a station is visited inside and outside, nor where waits for a pool are known in
    another way.
    """
    if network.delay_hold is not None or cycle.mixed:
        return False
    return all(
        not one.pools and not one.method and not one.own and one.copies is ONE and one.stations
        for one in network.pools_by_class[0]
    )


def with_unlike_holds(network: ClosedNetwork, unlike_of: Unlike) -> ClosedNetwork:
    """Return a network in which users who hold pools find unlike services."""
    pools, whole = network.pools_by_class[0], network
    network = replace(network, solves_each_time=True)
    more = [_waits_with_pool(network, pool) for pool in pools]
    unlike = unlike_of(network, {at: wait for each in more for at, wait in each.items()})
    if not unlike:
        return whole
    (name,), (jobs,) = network.names, network.jobs
    rate, of_pools = network.rate(name), {one.resource: _for_pool(network, one) for one in pools}
    longer = total((*(one.longer for one in unlike.values()), *of_pools.values()))
    fewer = replace(network, jobs=(maximum(ZERO, jobs - 1),)).rate(name)
    steep = 1 + (rate - fewer) * longer
    moved = maximum(ZERO, jobs - rate * longer / steep)
    there = replace(network, jobs=(moved,))
    scale = apply("mean", rate, there.rate(name) * steep)
    so_far, times = there.rate(name), there.nested_times(name)
    found = {at: replace(one, longer=scale * one.longer) for at, one in unlike.items()}
    waits: dict[str, Formula] = {}
    most: list[Formula] = []
    limits = [_rate_of_full(network, pool, unlike_of) for pool in pools]
    for pool, limit in zip(pools, limits, strict=True):
        now = so_far if limit is None else minimum(so_far, limit)
        over = ZERO if limit is None else maximum(ZERO, so_far - limit)
        beyond = jobs * over / (now * so_far)
        so_far, most = now, most if limit is None else [*most, limit]
        held = total(found[at].longer for at in pool.stations if at in found)
        longest = pool.places / now
        gap = maximum(_LEAST * longest, longest - pool.holding_time(times))
        waits_for = maximum(ZERO, 1 - pool.places / maximum(ONE, jobs))
        part = minimum(
            apply("mean", gap, maximum(gap, held)), 1 - waits_for * apply("mean", held, held + gap)
        )
        for at in pool.stations:
            if at in found:
                found[at] = replace(found[at], longer=found[at].longer * part)
        later = held * (1 - part)
        waits[pool.resource] = scale * of_pools[pool.resource] + later + beyond
    return replace(
        network, unlike=found, moved=MovedUsers(jobs=moved, waits=waits, most=tuple(most))
    )


def longer_wait(alike: Formula, *, whole: Formula, work: Formula, ratio: Formula) -> Formula:
    """Return how much longer than `alike` a cycle waits at a station of unlike services.

    A cycle takes the `whole` time, and the others bring so much `work` in it.
    """
    squared = alike * maximum(ZERO, whole - work)
    apart = whole - alike - work
    root = square_root(apart**2 + 4 * ratio * squared)
    return 2 * (ratio - 1) * squared / maximum(NO_TIME, apart + root)


def _for_pool(network: ClosedNetwork, pool: CyclePool) -> Formula:
    """Return how much longer a cycle waits for a pool whose holds vary more than exponential ones.

    What is waited meanwhile is nearly the same for all: it varies no more.
    """
    (name,), (jobs,) = network.names, network.jobs
    rate, times = network.rate(name), network.nested_times(name)
    held, alike = pool.holding_time(times), times[pool.resource]
    more = maximum(ZERO, pool.variation - 1)
    varied = 1 + more * apply("mean", pool.alone, held) ** 2
    ratio = wait_ratio(varied, pool.places, minimum(NEARLY_FULL, rate * held / pool.places))
    away = maximum(ZERO, jobs / rate - alike - held)
    ratio = maximum(ONE, ratio * apply("mean", away + held, away + held * (1 + varied) / 2))
    work = maximum(ZERO, jobs - 1) * held / pool.places
    return longer_wait(alike, whole=jobs / rate, work=work, ratio=ratio)


def _waits_with_pool(network: ClosedNetwork, pool: CyclePool) -> dict[str, Formula]:
    """Return what a cycle waits for a pool since its holders wait at stations, for each of these.

    What they wait there is a part of the time for which they hold it.
    """
    (name,) = network.names
    times = network.nested_times(name)
    held = pool.holding_time(times)
    return {
        at: times[pool.resource] * apply("mean", network.wait(name, at), held)
        for at in pool.stations
    }


def _rate_of_full(network: ClosedNetwork, pool: CyclePool, unlike_of: Unlike) -> Formula | None:
    """Return how many cycles end while all places are held; None where services are alike there."""
    within = replace(
        network,
        jobs=(pool.places,),
        delays=(pool.delay,),
        stations=tuple(one for one in network.stations if one.resource in pool.stations),
        pools_by_class=((),),
    )
    unlike = unlike_of(within, {})
    if not unlike:
        return None
    delay = pool.delay + total(one.longer for one in unlike.values())
    return replace(within, delays=(delay,)).rate(network.names[0])
