"""Pools that closed streams take from: what goes on in a cycle while a place of each is held.

Within a pool is a network of its own, with no more items than there are places
(`load_dependent_operands` of the engine). A station that is visited while some is held, and also
while none is, stands where all its visits are: while a place is held, its service is a delay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.lower.closed_networks.closed_stations import ClosedStation, CyclePool
from qps.compiler.lower.closed_streams.closed_refusals import refused
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.labels.one_service_pools import PoolsOfOneTime
from qps.compiler.lower.queues.pool_holding import Hold, room_of
from qps.compiler.lower.response_time.parallel_stages import in_line
from qps.compiler.lower.traffic.station_queues import variation_of
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, StationTraffic
from qps.engine.expressions.formulas import ZERO, Formula, maximum, total


class _PoolHolds(Struct, frozen=True):
    """A pool, its holds on the way, and the pool that is held around all of them."""

    name: str
    holds: tuple[Hold, ...]
    around: str | None


class Holding(Struct, frozen=True, kw_only=True):
    """What closed streams hold: the pools of each by its name, in order.

    The `homes` of stations are the innermost pools that are held at all visits of all of them. What
    is visited while a pool is held, and while it is not, is `mixed`. Those that are held for one
    time are `of_one_time`.
    """

    holds: Mapping[str, Sequence[_PoolHolds]]
    homes: Mapping[str, str | None]
    mixed: frozenset[str]
    of_one_time: PoolsOfOneTime


def holding(
    classes: Sequence[tuple[ir.Stream, ClassTraffic]],
    demands: Mapping[str, StationTraffic],
    unfilled: frozenset[str],
    of_one_time: PoolsOfOneTime,
) -> Holding:
    """Return what closed streams hold of pools, but `unfilled` ones; QpsError where unknown."""
    demands = {name: one for name, one in demands.items() if name not in unfilled}
    taken: dict[str, Sequence[_PoolHolds]] = {}
    first: dict[str, _PoolHolds] = {}
    visited: dict[str, set[str | None]] = {}
    closed = {result.name for _, result in classes}
    for stream, result in classes:
        holds = waiting_holds(result.name, demands)
        for hold in holds:
            _refuse_others(stream, demands[hold.pool], closed)
        taken[result.name] = own = _in_order(stream, holds)
        for one in own:
            known = first.setdefault(one.name, one)
            if known.around != one.around:
                raise _crossing(stream, known.holds[0], one.holds[0])
        pools = {one.name for one in own}
        for index, visit in result.visits.items():
            if visit.resource not in pools:
                visited.setdefault(visit.resource, set()).add(_innermost(holds, index))
    chains = {name: _chain(name, first) for name in first}
    homes = {
        name: _home([chains.get(at or "", []) for at in where]) for name, where in visited.items()
    }
    mixed = frozenset(name for name, where in visited.items() if len(where) > 1)
    return Holding(holds=taken, homes=homes, mixed=mixed, of_one_time=of_one_time)


def waiting_holds(of: str, demands: Mapping[str, StationTraffic]) -> list[Hold]:
    """Return the holds of a class that are waited for, in order, the outer ones first."""
    found = [
        hold
        for demand in demands.values()
        for hold in demand.holds
        if hold.of == of and hold.stage is not None
    ]
    return sorted(found, key=lambda hold: (hold.begins, -hold.ends))


def pools_of(
    result: ClassTraffic,
    demands: Mapping[str, StationTraffic],
    stations: Sequence[ClosedStation],
    expressions: ExpressionLowering,
    *,
    holding: Holding,
    often: Callable[[str, Formula], Formula],
) -> tuple[CyclePool, ...]:
    """Return the outermost pools of a cycle, which takes of each so `often`."""
    every = holding.holds[result.name]
    demand_of = {one.resource: one.demand for one in stations}

    def pool_of(holds_by_pool: _PoolHolds) -> CyclePool:
        pools = tuple(pool_of(one) for one in every if one.around == holds_by_pool.name)
        here = tuple(
            n for n, at in holding.homes.items() if at == holds_by_pool.name and n in demand_of
        )
        demand_here = total(demand_of[name] for name in here)
        demand_here = demand_here + total(pool.station_demand for pool in pools)
        alone = expressions.averaged(total(_alone(hold, result) for hold in holds_by_pool.holds))
        rest = maximum(ZERO, alone - demand_here)
        demand, first = demands[holds_by_pool.name], holds_by_pool.holds[0]
        load = total(part for parts in demand.parts.values() for part in parts)
        capacity = room_of(load, demand.capacity, [one.amount for one in holds_by_pool.holds], ())
        node = holds_by_pool.name.rpartition(".")[0]
        varied = (
            one
            for hold in holds_by_pool.holds
            for one in _varied(hold, result, demands, expressions)
        )
        of_one = holding.of_one_time.get(holds_by_pool.name)
        return CyclePool(
            resource=holds_by_pool.name,
            visits=often(holds_by_pool.name, first.machines),
            alone=alone,
            station_demand=demand_here,
            delay=maximum(ZERO, rest - total(pool.alone - pool.station_demand for pool in pools)),
            places=capacity.places,
            copies=first.machines,
            variation=expressions.averaged(total(varied)) / alone**2,
            unit=first.amount * capacity.unit / first.machines,
            permanent=capacity.permanent,
            stations=here,
            own=tuple(name for name in here if name.rpartition(".")[0] == node),
            pools=pools,
            is_delay=None if of_one is None else of_one.is_delay,
            method="" if of_one is None else of_one.method,
        )

    return tuple(pool_of(one) for one in every if one.around is None)


def _alone(hold: Hold, result: ClassTraffic) -> Formula:
    """Return how long something is held without waits."""
    line = in_line(result.latency[hold.begins : hold.ends], hold.depth)
    return total(part.value for part in line)


def _varied(
    hold: Hold,
    result: ClassTraffic,
    demands: Mapping[str, StationTraffic],
    expressions: ExpressionLowering,
) -> Iterator[Formula]:
    """Yield the variances of what is done meanwhile: each visit varies by itself."""
    for index in range(hold.begins, hold.ends):
        visit = result.visits.get(index)
        queueing = None if visit is None else demands[visit.resource].queueing
        if visit is not None and queueing is not None:
            varied = visit.service * variation_of(visit.resource, queueing, expressions)
            yield result.latency[index].times * varied**2


def _in_order(stream: ir.Stream, holds: Sequence[Hold]) -> list[_PoolHolds]:
    """Return the pools of a way, each with the one around it; the outer ones first."""
    found: dict[str, _PoolHolds] = {}
    for place, hold in enumerate(holds):
        around = None
        for other in holds[:place]:
            if other.ends <= hold.begins:
                continue
            if other.ends < hold.ends or other.pool == hold.pool:
                raise _crossing(stream, other, hold)
            around = other.pool
        known = found.get(hold.pool)
        if known is not None and known.around != around:
            raise _crossing(stream, known.holds[0], hold)
        before = () if known is None else known.holds
        found[hold.pool] = _PoolHolds(hold.pool, (*before, hold), around)
    return list(found.values())


def _innermost(holds: Sequence[Hold], index: int) -> str | None:
    """Return the pool that is held last at a stage."""
    found = [hold.pool for hold in holds if hold.begins <= index < hold.ends]
    return found[-1] if found else None


def _chain(name: str | None, holds_by_pool: Mapping[str, _PoolHolds]) -> list[str]:
    """Return the pools that are held where one is, from the outermost one on."""
    found: list[str] = []
    while name is not None:
        found.insert(0, name)
        name = holds_by_pool[name].around
    return found


def _home(chains: Sequence[Sequence[str]]) -> str | None:
    """Return the innermost pool that is held at all of some places."""
    found = None
    for together in zip(*chains, strict=False):
        if len(set(together)) > 1:
            break
        found = together[0]
    return found


def _refuse_others(stream: ir.Stream, demand: StationTraffic, closed: Collection[str]) -> None:
    """Refuse a pool that open traffic takes from besides, or that is taken of by other amounts."""
    for hold in demand.holds:
        if hold.of not in closed:
            raise refused(
                stream,
                f"open stream `{hold.of}` takes from {hold.pool}, too",
                f"make `{hold.of}` closed with a think time, or give each stream its own pool",
                secondary=[Label(hold.span, "taken here")],
            )
        if hold.amount != demand.holds[0].amount:
            raise refused(
                stream,
                f"amounts taken from {hold.pool} differ",
                "take equal amounts, or use a separate pool for each amount",
                at=hold.span,
                secondary=[Label(demand.holds[0].span, "taken here, too")],
            )


def _crossing(stream: ir.Stream, one: Hold, other: Hold) -> QpsError:
    return refused(
        stream,
        f"holding times of {other.pool} and {one.pool} overlap without nesting",
        "give pools back in reverse order of taking",
        at=other.span,
        secondary=[Label(one.span, "taken here")],
    )
