"""Formulas as plain numbers, for each kind of users and items by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product as combinations

from qps.compiler.network import itinerary as nodes
from qps.compiler.network.classes import Class, ItemKinds
from qps.compiler.network.network import Network
from qps.compiler.network.passages import passages
from qps.engine.formulas import Formula
from qps.engine.substitution import substituted
from qps.simulation.operating_point import OperatingPoint


class Numbers:
    """Formulas as plain numbers, for one kind of users and items."""

    def __init__(self, point: OperatingPoint, kind: Mapping[Formula, Formula]) -> None:
        self._values = point.values
        self._kind = dict(kind)
        self._put_in = point.elastic

    def __call__(self, formula: Formula) -> float:
        """Return the value of a formula."""
        if self._kind:
            formula = substituted(formula, self._kind)
        return self._values.number(self._put_in(formula))


def kinds_in(network: Network, of: Class) -> tuple[list[ItemKinds], list[ItemKinds]]:
    """Return the kinds that a class rests on: of users, who send for themselves, and of items."""
    if not network.kinds:
        return [], []
    symbols = {one for part in _formulas(network, of) if part is not None for one in part.symbols}
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


def each_of(kinds: Iterable[ItemKinds]) -> Iterator[tuple[float, dict[Formula, Formula]]]:
    """Yield the share of each kind, or of each of several kinds together, and its values."""
    sides = [
        [
            (float(share.exact or 0), {one: values[index] for one, values in all_of.values.items()})
            for index, share in enumerate(all_of.shares)
        ]
        for all_of in kinds
    ]
    for chosen in combinations(*sides):
        share, values = 1.0, dict[Formula, Formula]()
        for part, own in chosen:
            share *= part
            values |= own
        if share > 0:
            yield share, values
