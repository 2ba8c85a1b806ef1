"""Pools that closed streams take from: what goes on in a cycle while a place of each is held.

Within a pool is a network of its own, with no more items than there are places (`nested_networks`
of the engine). A station that is visited while some is held, and also while none is, stands where
all its visits are: while a place is held, its service is a delay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.lower.closed_stations import ClosedStation, HeldPool
from qps.compiler.lower.held import Hold
from qps.compiler.lower.latency import in_line
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.lower_queues import variation_of
from qps.compiler.lower.pools import room_of
from qps.compiler.lower.traffic_parts import ClassTraffic, StationTraffic
from qps.engine.formulas import ZERO, Formula, maximum, total


class Pools(Struct, frozen=True):
    """The pools of a cycle that are taken first, and the stations that are `mixed`.

    These are visited while a pool is held, and while it is not, by this cycle or by others.
    """

    held: tuple[HeldPool, ...]
    mixed: tuple[str, ...]


class _Taken(Struct, frozen=True):
    """A pool, its holds on the way, and the pool that is held around all of them."""

    name: str
    holds: tuple[Hold, ...]
    around: str | None


class Holding(Struct, frozen=True, kw_only=True):
    """What closed streams hold: the pools of each by its name, in order.

    The `homes` of stations are the innermost pools that are held at all visits of all of them.
    """

    taken: Mapping[str, Sequence[_Taken]]
    homes: Mapping[str, str | None]
    mixed: frozenset[str]


def holding(
    classes: Sequence[tuple[ir.Stream, ClassTraffic]], demands: Mapping[str, StationTraffic]
) -> Holding:
    """Return what closed streams hold of some pools; QpsError where that is not told."""
    taken: dict[str, Sequence[_Taken]] = {}
    first: dict[str, _Taken] = {}
    visited: dict[str, set[str | None]] = {}
    closed = {result.name for _, result in classes}
    for stream, result in classes:
        holds = waited_for(result.name, demands)
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
    return Holding(taken=taken, homes=homes, mixed=mixed)


def pools_of(
    result: ClassTraffic,
    demands: Mapping[str, StationTraffic],
    stations: Sequence[ClosedStation],
    expressions: ExpressionLowering,
    *,
    held: Holding,
    often: Callable[[str, Formula], Formula],
) -> Pools:
    """Return what a cycle of a stream holds, which takes of a pool so `often`."""
    taken = held.taken[result.name]
    told = _Told(result, demands, stations, expressions, taken=taken, homes=held.homes, often=often)
    mixed = tuple(one.resource for one in stations if one.resource in held.mixed)
    return Pools(tuple(told.pool(one) for one in taken if one.around is None), mixed)


def waited_for(of: str, demands: Mapping[str, StationTraffic]) -> list[Hold]:
    """Return the holds of a class that are waited for, in order, the outer ones first."""
    found = [
        hold
        for demand in demands.values()
        for hold in demand.holds
        if hold.stream == of and hold.stage is not None
    ]
    return sorted(found, key=lambda hold: (hold.begins, -hold.ends))


class _Told:
    """What pools come to, each with those within."""

    def __init__(
        self,
        result: ClassTraffic,
        demands: Mapping[str, StationTraffic],
        stations: Sequence[ClosedStation],
        expressions: ExpressionLowering,
        *,
        taken: Sequence[_Taken],
        homes: Mapping[str, str | None],
        often: Callable[[str, Formula], Formula],
    ) -> None:
        self._often = often
        self._result, self._demands, self._expressions = result, demands, expressions
        self._stations = {one.resource: one for one in stations}
        self._taken, self._homes = taken, homes

    def pool(self, taken: _Taken) -> HeldPool:
        """Return a pool with what goes on while it is held."""
        within = [one for one in self._taken if one.around == taken.name]
        pools = tuple(self.pool(one) for one in within)
        here = tuple(
            name for name, at in self._homes.items() if at == taken.name and name in self._stations
        )
        asked = total(self._stations[name].demand for name in here)
        asked = asked + total(pool.asked for pool in pools)
        alone = self._expressions.averaged(total(self._alone(hold) for hold in taken.holds))
        rest = maximum(ZERO, alone - asked)
        demand, first = self._demands[taken.name], taken.holds[0]
        kept = total(part for parts in demand.parts.values() for part in parts)
        room = room_of(kept, demand.capacity, [one.amount for one in taken.holds], ())
        node = taken.name.rpartition(".")[0]
        return HeldPool(
            resource=taken.name,
            taken=self._often(taken.name, first.machines),
            alone=alone,
            asked=asked,
            delay=maximum(ZERO, rest - total(pool.alone - pool.asked for pool in pools)),
            places=room.places,
            copies=first.machines,
            variation=self._variance(taken) / alone**2,
            unit=first.amount * room.unit / first.machines,
            kept=room.kept,
            stations=here,
            own=tuple(name for name in here if name.rpartition(".")[0] == node),
            pools=pools,
        )

    def _alone(self, hold: Hold) -> Formula:
        """Return what is done while something is held, without waits."""
        line = in_line(self._result.latency[hold.begins : hold.ends], hold.depth)
        return total(part.value for part in line)

    def _variance(self, taken: _Taken) -> Formula:
        """Return the variance of what is done, of which each visit varies by itself."""
        found = []
        for hold in taken.holds:
            for index in range(hold.begins, hold.ends):
                visit = self._result.visits.get(index)
                queueing = None if visit is None else self._demands[visit.resource].queueing
                if visit is None or queueing is None:
                    continue
                varied = visit.service * variation_of(visit.resource, queueing, self._expressions)
                found.append(self._result.latency[index].times * varied**2)
        return self._expressions.averaged(total(found))


def _in_order(stream: ir.Stream, holds: Sequence[Hold]) -> list[_Taken]:
    """Return the pools of a way, each with the one around it; the outer ones first."""
    found: dict[str, _Taken] = {}
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
        found[hold.pool] = _Taken(hold.pool, (*before, hold), around)
    return list(found.values())


def _innermost(holds: Sequence[Hold], index: int) -> str | None:
    """Return the pool that is held last at a stage."""
    found = [hold.pool for hold in holds if hold.begins <= index < hold.ends]
    return found[-1] if found else None


def _chain(name: str | None, taken: Mapping[str, _Taken]) -> list[str]:
    """Return the pools that are held where one is, from the outermost one on."""
    found: list[str] = []
    while name is not None:
        found.insert(0, name)
        name = taken[name].around
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
        if hold.stream not in closed:
            raise QpsError.single(
                codes.NO_ANSWER,
                stream.span,
                f"no response time for closed stream `{stream.name}`: open stream "
                f"`{hold.stream}` takes from {hold.pool}, too",
                secondary=[Label(hold.span, "taken here")],
                hint=f"make `{hold.stream}` closed with a think time, or give each stream its "
                "own pool",
            )
        if hold.amount != demand.holds[0].amount:
            raise QpsError.single(
                codes.NO_ANSWER,
                hold.span,
                f"no response time for closed stream `{stream.name}`: amounts taken from "
                f"{hold.pool} differ",
                secondary=[Label(demand.holds[0].span, "taken here, too")],
                hint="take equal amounts, or use a separate pool for each amount",
            )


def _crossing(stream: ir.Stream, one: Hold, other: Hold) -> QpsError:
    return QpsError.single(
        codes.NO_ANSWER,
        other.span,
        f"no response time for closed stream `{stream.name}`: holding times of "
        f"{other.pool} and {one.pool} overlap without nesting",
        secondary=[Label(one.span, "taken here")],
        hint="give pools back in reverse order of taking",
    )
