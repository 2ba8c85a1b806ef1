"""Closed networks of several classes with speeds and pools that they share: their operands.

First come the customers of each class, then how long each thinks, then groups of numbers, a kind
first, as `load_dependent_operands` has them of one class: c, L and m are those of all; `demands`
and `weights` have a number for each class. What a class waits at a place is its part of what all
wait there by its weight: how often it comes, or, where all are served at once, its demand.

All classes together are a network of one class, whose cycle is that of each class as often as it is
made (`merged`): so pools and what is within are stated as in `load_dependent_mva`.

Behind all these may stand groups of kind `LIMIT`: resources without a queue, each of which serves
no more than `c` of what cycles demand of it, their `weights`. Where users demand more, each visit
waits until they demand no more than that; `demands` are how often a cycle visits it while it holds
a pool, of which `L` is the group and one more, 0 for none. A group with 0 for `m` is the same
resource as that before it, visited elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, inf, isfinite
from operator import mul
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from qps.engine.queueing_networks.closed_operands import on_line
from qps.engine.queueing_networks.load_dependent_operands import OWN, SPEED, places_of

BEFORE = 4
"""Numbers of a group that are those of all classes."""
LIMIT = -3
"""The kind of a resource without a queue that serves no more than it can."""
_SEVERAL = 2
_ROUNDED = 1e-14
"""What products of a few floats are off that are equal."""


class MulticlassGroup(Struct, frozen=True, kw_only=True):
    """A station, one more speed of it, or a pool, as all classes see it and as each does."""

    kind: float
    servers: float
    load: float
    copies: float
    demands: tuple[float, ...]
    weights: tuple[float, ...]


class CapacityLimit(Struct, frozen=True, kw_only=True):
    """A resource without a queue, by its first group: what it can serve, and what cycles demand.

    They visit it so often while each pool is held, by its group; -1 is none.
    """

    at: int
    capacity: float
    work: tuple[float, ...]
    visits: tuple[tuple[int, tuple[float, ...]], ...]

    def often(self, which: int) -> float:
        """Return how often a cycle of a class visits it in all."""
        return sum(each[which] for _, each in self.visits)


class LoadDependentMulticlassNetwork(NamedTuple):
    """Customers and think times of classes, the groups, and resources without a queue."""

    customers: tuple[float, ...]
    think: tuple[float, ...]
    groups: tuple[MulticlassGroup, ...]
    limits: tuple[CapacityLimit, ...] = ()


def group_size(classes: int) -> int:
    """Return how many numbers a group has."""
    return BEFORE + 2 * classes


def shared_of(classes: float, operands: Sequence[float]) -> LoadDependentMulticlassNetwork | None:
    """Return the network that operands describe; None where they describe none, or too much."""
    if not (1 <= classes < inf and classes == floor(classes) and len(operands) >= 2 * classes):
        return None
    count = int(classes)
    rest, size = operands[2 * count :], group_size(count)
    if len(rest) % size or not all(map(isfinite, operands)):
        return None
    if min(operands[: 2 * count]) < 0 or any(n < 0 for at, n in enumerate(rest) if at % size):
        return None
    groups = tuple(_group(rest[at : at + size], count) for at in range(0, len(rest), size))
    places = tuple(one for one in groups if one.kind != LIMIT)
    limits = _limits_of(places, groups[len(places) :])
    if limits is None:
        return None
    network = LoadDependentMulticlassNetwork(
        tuple(operands[:count]), tuple(operands[count : 2 * count]), places, limits
    )
    return None if places_of(merged(network, (1.0,) * count)) is None else network


def _limits_of(
    places: Sequence[MulticlassGroup], groups: Sequence[MulticlassGroup]
) -> tuple[CapacityLimit, ...] | None:
    """Return the resources without a queue that groups behind all places describe."""
    found: list[CapacityLimit] = []
    for at, one in enumerate(groups, len(places)):
        pool = one.load - 1
        is_known = pool == -1 or (pool in range(len(places)) and places[int(pool)].kind > 0)
        if one.kind != LIMIT or not is_known or one.copies not in (0, 1) or one.servers <= 0:
            return None
        visits = (int(pool), one.demands)
        if one.copies:
            found.append(
                CapacityLimit(at=at, capacity=one.servers, work=one.weights, visits=(visits,))
            )
        elif found:
            found[-1] = replace(found[-1], visits=(*found[-1].visits, visits))
        else:
            return None
    return tuple(found)


def _group(operands: Sequence[float], classes: int) -> MulticlassGroup:
    kind, servers, load, copies, *own = operands
    return MulticlassGroup(
        kind=kind,
        servers=servers,
        load=load,
        copies=copies,
        demands=tuple(own[:classes]),
        weights=tuple(own[classes:]),
    )


def merged(network: LoadDependentMulticlassNetwork, shares: Sequence[float]) -> list[float]:
    """Return groups of one class whose cycles are those of all classes, in shares of all.

    Of a pool, the time that it is held varies by what its classes differ, too.
    """
    numbers: list[float] = []
    for at, one in enumerate(network.groups):
        load = one.load
        if one.kind > 0:
            load = variation_of(network, at, shares)
        numbers += [one.kind, _dot(shares, one.demands), one.servers, load, one.copies]
    return numbers


def variation_of(
    network: LoadDependentMulticlassNetwork, pool: int, shares: Sequence[float]
) -> float:
    """Return the square of the coefficient of variation of the time that a pool is held, alone."""
    group, held = network.groups[pool], holding_alone(network, pool)
    often = [share * weight for share, weight in zip(shares, group.weights, strict=True)]
    each = [time / w if w else 0.0 for time, w in zip(held, group.weights, strict=True)]
    total = sum(often)
    # Parts of all visits: of classes that hardly ever come, squares would be lost.
    parts = [one / total for one in often] if total > 0 else often
    mean = _dot(parts, each)
    if mean <= 0:
        return group.load
    return (1 + group.load) * _dot(parts, map(mul, each, each)) / mean**2 - 1


def holding_alone(network: LoadDependentMulticlassNetwork, pool: int) -> list[float]:
    """Return how long a cycle of each class holds a pool where nobody waits."""
    within = network.groups[pool : pool + 1 + max(int(network.groups[pool].kind), 0)]
    return [sum(each) for each in zip(*(one.demands for one in within), strict=True)]


def blocked(
    network: LoadDependentMulticlassNetwork, waits: Sequence[float]
) -> LoadDependentMulticlassNetwork:
    """Return the network without its limits, in which each visit of one waits so long there.

    What is waited is nearly the same each time: the time that a pool is held varies no more than
    the services did.
    """
    think, groups = list(network.think), list(network.groups)
    for limit, wait in zip(network.limits, waits, strict=True):
        for pool, visits in limit.visits:
            longer = [wait * often for often in visits]
            if pool < 0:
                think = [pause + more for pause, more in zip(think, longer, strict=True)]
            else:
                demands = map(sum, zip(groups[pool].demands, longer, strict=True))
                groups[pool] = replace(groups[pool], demands=tuple(demands))
    found = LoadDependentMulticlassNetwork(network.customers, tuple(think), tuple(groups))
    for at, one in enumerate(network.groups):
        if one.kind > 0:
            before, after = holding_alone(network, at), holding_alone(found, at)
            parts = [b / a for b, a in zip(before, after, strict=True) if a > 0]
            if parts:
                load = one.load * _dot(parts, parts) / len(parts)
                groups[at] = replace(groups[at], load=load)
    return found._replace(groups=tuple(groups))


def are_alike(network: LoadDependentMulticlassNetwork, pool: int) -> bool:
    """Return whether classes that come to a pool differ only by how often they come.

    So what they find there, and how long each stays, does not rest on their shares.
    """
    group = network.groups[pool]
    within = network.groups[pool : pool + 1 + max(int(group.kind), 0)]
    often = max(group.weights)
    own = group.weights.index(often)
    if not often:
        return False
    rows = [row for one in within for row in (one.demands, one.weights)]
    return all(
        abs(number - row[own] * weight / often) <= _ROUNDED * number
        for row in rows
        for number, weight in zip(row, group.weights, strict=True)
    )


def _dot(one: Sequence[float], other: Sequence[float] | map[float]) -> float:
    return float(sum(map(mul, one, other)))


def between(
    value: Callable[[LoadDependentMulticlassNetwork], float],
    network: LoadDependentMulticlassNetwork,
) -> float:
    """Return a value on lines between whole numbers of servers, places and copies.

    Of customers, parts of one are known as they are.
    """
    for at, one in enumerate(network.groups):
        behind = network.groups[at + 1 : at + 2]
        has_speeds = bool(behind) and behind[0].kind == SPEED
        ends = _ends(one, has_speeds=has_speeds)
        if ends is None:
            continue
        low, high, part = ends
        before, after = network.groups[:at], network.groups[at + 1 :]
        first, last = (
            between(value, network._replace(groups=(*before, end, *after))) for end in (low, high)
        )
        return float(on_line(first, last, part))
    return value(network)


def _ends(
    one: MulticlassGroup, *, has_speeds: bool
) -> tuple[MulticlassGroup, MulticlassGroup, float] | None:
    """Return what lies on both sides of what counts whole and is not; None where all is."""
    if one.kind == SPEED:
        return None
    whole = floor(one.servers)
    if not has_speeds and one.servers != whole:
        low, high = (replace(one, servers=whole + more) for more in (0.0, 1.0))
        return low, high, one.servers - whole
    whole = floor(one.copies)
    is_counted = has_speeds or one.kind > 0 or one.kind == OWN or one.servers >= _SEVERAL
    if not is_counted or one.copies < 1 or one.copies == whole:
        return None
    low, high = (replace(one, copies=whole + more) for more in (0.0, 1.0))
    return low, high, one.copies - whole
