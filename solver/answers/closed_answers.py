"""What users come to who wait for their answer: how far it carries, and where it levels off.

The bounds are those of operational analysis (Denning and Buzen 1978; Zahorjan and others 1982):
asymptotic ones for any closed network, balanced ones where each station is one server.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from msgspec import Struct

from qps.compiler.lower.closed_networks.closed_stations import ClosedStation, CyclePool
from qps.compiler.lower.closed_networks.closed_stream_solution import ClosedStream
from qps.compiler.lower.closed_networks.fork_join_stations import (
    every,
    longest_alone,
    stations_within,
)
from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.expressions.formulas import total
from qps.engine.expressions.point_values import EvaluationPoint
from qps.solver.answers.solution import ClosedSolution


class _Station(Struct, frozen=True, kw_only=True):
    """A resource in numbers: what a cycle alone is at it, and the least time between two cycles.

    Where speeds go by how many are there, it is `crowded` where they are least, and there is as
    little between two cycles as may be `at_best`.
    """

    resource: str
    alone: float
    between: float
    copies: float
    is_one_server: bool
    crowded: float | None = None
    at_best: float | None = None


def closed_solutions(graph: LoadGraph, at: int) -> tuple[ClosedSolution, ...]:
    """Return what each closed stream comes to at a population."""
    return tuple(_solution(graph, closed, at) for closed in graph.closed.values())


def _solution(graph: LoadGraph, closed: ClosedStream, at: int) -> ClosedSolution:
    there, whole = graph.at(at), graph.streams[closed.stream]
    stream = next((kind for kind in whole.kinds if kind.name == closed.name), whole)
    stations = [_station(there, one) for one in closed.stations]
    stations += [_pool(there, closed, one) for one in closed.pools]
    flows = there.number(closed.flows)
    slowest = {one.resource: one.between for one in stations} | {
        one.resource: there.number(one.longest_alone) / flows for one in closed.limits
    }
    jobs, delay = there.number(closed.jobs), there.number(closed.network_delay)
    forks = closed.network.forks
    within = stations_within(forks)
    alone = sum(one.alone for one in stations if one.resource not in within)
    alone += longest_alone(forks, {one.resource: one.alone for one in stations}, there.number)
    branches = [branch for fork in every(forks) for branch in fork.branches]
    own = total(one.demand for branch in branches for one in branch.own)
    beside = there.number(own + total(branch.delay for branch in branches))
    longest = max(slowest.values(), default=0.0)
    others = [name for name in closed.network.names if name != closed.name]
    others += [
        one.name
        for one in graph.closed.values()
        for limit in one.limits
        if one is not closed and one.name not in others
        if limit.is_shared and any(limit.resource == own.resource for own in closed.limits)
    ]
    is_shared = bool(others)
    least, most = _asymptotic(jobs, (delay, delay + beside), alone, longest, stations)
    return ClosedSolution(
        stream=closed.name,
        item=stream.item,
        jobs=jobs,
        rate=there.number(closed.throughput),
        latency=there.number(stream.mean_latency),
        think=there.number(closed.think),
        rate_known=whole.rate_known,
        latency_known=stream.latency_certainty,
        most=1 / longest if longest else inf,
        levels_off_at=_levels_off_at(closed, there, slowest),
        knee=(delay + alone) / longest if longest else inf,
        asymptotic=(0.0 if is_shared else least, most),
        balanced=None if is_shared or forks else _balanced(jobs, delay, stations),
        meets=tuple(dict.fromkeys(others)),
    )


def _levels_off_at(
    closed: ClosedStream, there: EvaluationPoint, slowest: Mapping[str, float]
) -> tuple[str, ...]:
    """Return what leaves most time between two cycles; of a pool, what makes it do so.

    A pool hands on the limit of a station within: where that alone leaves as much time as the
    places do, with nobody waiting for anything, the pool is full for the station's sake.
    """
    longest = max(slowest.values(), default=0.0)
    between = {one.resource: _station(there, one).between for one in closed.stations}
    pools = {one.resource: one for one in closed.pools}
    found = [name for name, time in slowest.items() if longest and time == longest]
    causes = (_cause(there, pools[n], between) if n in pools else n for n in found)
    return tuple(dict.fromkeys(causes))


def _cause(there: EvaluationPoint, pool: CyclePool, between: Mapping[str, float]) -> str:
    """Return what limits those that hold a pool: a pool for its places, or a station within."""
    times: dict[str, float] = {}
    for one in reversed(pool.every):  # of what limits alike, a station before the pool around it
        times |= {name: between[name] for name in one.stations if name in between}
        places = there.number(one.places) * there.number(one.copies)
        times[one.resource] = _over(there.number(one.alone), places)
    return max(times, key=lambda name: times[name])


def _station(there: EvaluationPoint, station: ClosedStation) -> _Station:
    """Return a station in numbers: what open traffic takes leaves it so much slower."""
    parts = station.demand, station.servers, station.open_load, station.copies
    demand, servers, open_load, copies = map(there.number, parts)
    free = servers - open_load
    is_one = servers == 1 and not station.speeds
    if station.speeds:
        speeds = [there.number(speed) for speed in station.speeds]
        return _Station(
            resource=station.resource,
            alone=demand / speeds[0],
            between=demand / speeds[-1] / copies,
            copies=copies,
            is_one_server=False,
            crowded=demand / min(speeds),
            at_best=demand / max(speeds) / copies,
        )
    return _Station(
        resource=station.resource,
        alone=demand if not is_one else _over(demand, free),
        between=_over(demand, free * copies),
        copies=copies,
        is_one_server=is_one,
    )


def _pool(there: EvaluationPoint, closed: ClosedStream, pool: CyclePool) -> _Station:
    """Return a pool in numbers: a cycle alone is in it for what no station of it takes."""
    rate = closed.network.rate_within(closed.name, pool)
    return _Station(
        resource=pool.resource,
        alone=there.number(pool.delay),
        between=1 / there.number(rate),
        copies=there.number(pool.copies),
        is_one_server=False,
    )


def _over(above: float, below: float) -> float:
    return above / below if below > 0 else inf


def _asymptotic(
    jobs: float,
    delays: tuple[float, float],
    alone: float,
    longest: float,
    stations: list[_Station],
) -> tuple[float, float]:
    """Return the least rate, all of them one after the other, and the greatest, none in a queue.

    Of delays that is the least one, and that of all branches of what is made together.
    """
    delay, longest_delay = delays
    if any(one.at_best is not None for one in stations):
        longest = max(one.between if one.at_best is None else one.at_best for one in stations)
    most = min(_over(jobs, delay + alone), _over(1, longest))
    each = (one.alone if one.crowded is None else one.crowded for one in stations)
    return _over(jobs, longest_delay + jobs * sum(each)), most


def _balanced(jobs: float, delay: float, stations: list[_Station]) -> tuple[float, float] | None:
    """Return the rates of networks of equal stations that are slower and faster than this one."""
    if not stations or not all(one.is_one_server for one in stations) or jobs < 1:
        return None
    alone = sum(one.alone for one in stations)
    count = sum(one.copies for one in stations)
    longest = max(one.between for one in stations)
    if not 0 < alone < inf:
        return None
    least = jobs / (delay + alone + (jobs - 1) * longest / (1 + delay / (jobs * alone)))
    most = jobs / (delay + alone + (jobs - 1) * alone / count / (1 + delay / alone))
    return least, min(most, 1 / longest)
