"""The kinds of users and items that a class rests on, and closed classes by kind of user.

Users with less think time send more requests, so that no mean over users is that of all: where a
number of a closed class rests on kinds of users, each kind is a class of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as combinations
from typing import cast

from msgspec.structs import replace

from qps.compiler.network import itinerary as nodes
from qps.compiler.network.classes import Class, ItemKinds
from qps.compiler.network.formula_mapping import formulas_changed
from qps.compiler.network.network import Network
from qps.compiler.network.passages import passages
from qps.engine.expressions.formulas import Formula, product, symbol
from qps.engine.expressions.substitution import Substitution


def with_classes_by_kind(network: Network) -> Network:
    """Return a network in which each closed class is one class for each kind of its users."""
    every = (kind for one in network.classes.values() for kind in _by_kind(network, one))
    return replace(network, classes={one.name: one for one in every})


def _by_kind(network: Network, of: Class) -> Iterator[Class]:
    """Yield a class for each kind of its users; the class itself where these do not differ."""
    kinds = kinds_in(network, of)[0] if of.is_closed else []
    if not kinds:
        yield of
        return
    for chosen in combinations(*(range(len(one.names)) for one in kinds)):
        at = list(zip(kinds, chosen, strict=True))
        name = f"{of.name} ({', '.join(one.names[index] for one, index in at)})"
        values = {s: each[index] for one, index in at for s, each in one.values.items()}
        rate = symbol(f"{name} each second")
        found = formulas_changed(of, Substitution(values | {of.arrivals.rate: rate}))
        kind = cast("Class", found)
        share = product(one.shares[index] for one, index in at)
        yield replace(kind, name=name, flows=share * kind.flows, values=values)


def kinds_in(network: Network, of: Class) -> tuple[list[ItemKinds], list[ItemKinds]]:
    """Return the kinds that a class rests on: of users, who send for themselves, and of items."""
    if not network.kinds:
        return [], []
    symbols = {one for part in _formulas(network, of) if part is not None for one in part.symbols}
    symbols -= of.values.keys()
    first: dict[str, ItemKinds] = {}
    for kinds in network.kinds:
        names = [one.name for one in symbols & kinds.values.keys()]
        if names:
            first[min(names)] = kinds
    found = [kinds for _, kinds in sorted(first.items())]
    return [one for one in found if one.of_users], [one for one in found if not one.of_users]


def _formulas(network: Network, of: Class) -> Iterator[Formula | None]:
    """Yield what decides how items come and what happens to them."""
    yield from (of.flows, of.arrivals.rate, of.arrivals.variation, of.amount, of.think, of.rank)
    for passage in passages(of):
        match passage.node:
            case nodes.At(copies=copies):
                yield copies
            case nodes.Serve() as visit if not network.is_store(visit.station):
                yield from (visit.demand, network.stations[visit.station].servers)
            case nodes.Delay(time=time, times=times):
                yield time * times.mean
            case nodes.Cross(ports=ports):
                for port in ports:
                    station = network.stations[port.station]
                    yield from (station.place.copies, station.time_for(port.bits))
                    if port.cap is not None:
                        limit, items = port.cap
                        yield network.stations[limit].time_for(items)
            case nodes.Call(times=times):
                yield None if times is None else times.often
            case nodes.Take(pool=pool, amount=amount):
                yield from (network.pools[pool].place.copies, amount)
            case node:
                yield from _changes(of, node)


def _changes(of: Class, node: nodes.Node) -> Iterator[Formula | None]:
    """Yield what decides how many items there are, or how large bare bytes are."""
    match node:
        case nodes.Lose(chance=chance) | nodes.Restore(chance=chance):
            yield chance
        case nodes.Thin(share=share, on_for=on_for):
            yield from (share, on_for)
        case nodes.Send(copies=copies, receivers=receivers):
            yield from (copies, receivers)
        case nodes.Merge(flows=flows):
            yield flows
        case nodes.Resize(bits=None, share=share) if of.items.primary is None:
            yield share
        case _:
            pass
