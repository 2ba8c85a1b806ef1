"""Resources without a queue that hold up users who share something else, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.closed_networks.saturated_delays import SaturableResource
from qps.compiler.lower.closed_streams.cycle_demands import ClosedClass
from qps.engine.expressions.formulas import ONE, ZERO, Formula


def saturable_resources(
    classes: Sequence[ClosedClass], networks: Mapping[str, ClosedNetwork]
) -> list[SaturableResource]:
    """Return the resources at which some users would be held up, to the advantage of others.

    Of one class that shares no station the rate is known by each resource alone. What elastic
    parameters take of one moves with the rates, so that these cannot rest on it.
    """
    found: dict[str, SaturableResource] = {}
    for one in classes:
        if networks[one.cycle.name].forks:
            continue
        for limit in one.cycle.limits:
            known = found.get(limit.resource)
            name, before = one.cycle.name, {} if known is None else known.work
            found[limit.resource] = SaturableResource(
                name=limit.resource,
                open_load=limit.open_load,
                work={**before, name: limit.own},
                visits={
                    **({} if known is None else known.visits),
                    name: _visits(one, limit.resource),
                },
            )
    moving = {one.symbol for each in classes for one in each.expressions.elastic.values()}
    return [
        one
        for one in found.values()
        if moving.isdisjoint(one.open_load.symbols)
        if len(one.work) > 1 or any(_meets_others(networks[name]) for name in one.work)
    ]


def _meets_others(network: ClosedNetwork) -> bool:
    """Return whether classes share stations with others, or hold places while held up."""
    is_beside_open_work = any(one.open_load is not ZERO for one in network.stations)
    return not network.is_of_one or is_beside_open_work or any(network.pools_by_class)


def _visits(of: ClosedClass, resource: str) -> dict[str | None, Formula]:
    """Return how often a cycle visits a resource while it holds each pool, the innermost one."""
    found: dict[str | None, Formula] = {}
    for pool, times in _passages(of, resource):
        found[pool] = found.get(pool, ZERO) + times
    return found or {None: ONE}


def _passages(of: ClosedClass, resource: str) -> Iterator[tuple[str | None, Formula]]:
    latency, own = of.traffic.latency, of.holding.holds[of.traffic.name]
    holds = [(hold, one.name) for one in own for hold in one.holds]
    for spent in of.traffic.spent:
        if resource not in spent.on:
            continue
        around = [name for hold, name in holds if hold.begins <= spent.stage < hold.ends]
        times = of.expressions.averaged(latency[spent.stage].times)
        yield (around[-1] if around else None), times
