"""Inputs of closed networks of several classes: their operands, and lines between whole ones.

Classes are those of customers: class k has N customers who think for Z. A station is `c` servers a
copy, an open load `L` a copy, in erlangs, `m` copies, and the service `D` that a cycle of each
class demands of it, on one server, over all copies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, inf, prod
from typing import NamedTuple, TypeVar

from qps.engine.queueing_networks.closed_operands import on_line

_Value = TypeVar("_Value")

MOST_STATES = 100_000
"""Populations up to those of a network, times its stations, up to which it is solved exactly."""
MOST_POWERS = 400_000
"""The same, of coefficients of its polynomials times their degree."""


class MulticlassStation(NamedTuple):
    """A station: servers and open load of a copy, copies, and the demand of each class."""

    servers: float
    load: float
    copies: float
    demands: tuple[float, ...]


class MulticlassNetwork(NamedTuple):
    """Customers and think times of classes, and the stations."""

    customers: tuple[float, ...]
    think: tuple[float, ...]
    places: tuple[MulticlassStation, ...]


def is_exact(populations: Sequence[float], stations: int, more_servers: int = 0) -> bool:
    """Return whether so many customers of classes at so many stations are solved exactly.

    `more_servers` are all of all copies of those with several, but one of each copy.
    """
    powers = prod(min(n, more_servers) + 1 for n in populations) * more_servers
    states = prod(n + 1 for n in populations) * max(stations, 1)
    return states <= MOST_STATES and powers * len(populations) * max(stations, 1) <= MOST_POWERS


def network_of(classes: float, operands: Sequence[float]) -> MulticlassNetwork | None:
    """Return the network that operands describe, None where there is none.

    Less than one copy is one that takes longer.
    """
    if not (1 <= classes < inf and classes == floor(classes) and len(operands) >= 2 * classes):
        return None
    if not all(0 <= number < inf for number in operands):
        return None
    count = int(classes)
    rest, size = operands[2 * count :], count + 3
    if len(rest) % size:
        return None
    places = []
    for at in range(0, len(rest), size):
        servers, load, copies, *demands = rest[at : at + size]
        if servers < 1 or copies == 0:
            return None
        longer = max(1.0, 1 / copies)
        places.append(
            MulticlassStation(servers, load, max(copies, 1.0), tuple(d * longer for d in demands))
        )
    return MulticlassNetwork(
        tuple(operands[:count]), tuple(operands[count : 2 * count]), tuple(places)
    )


def between(
    value: Callable[[MulticlassNetwork], float],
    network: MulticlassNetwork,
    *,
    in_parts: bool = False,
) -> float:
    """Return a value on lines between whole numbers of customers, servers and copies.

    With customers where it does not say what parts of one do.
    """
    for k, customers in enumerate(() if in_parts else network.customers):
        if customers != floor(customers):
            ends = [
                network._replace(customers=_with(network.customers, k, floor(customers) + more))
                for more in (0.0, 1.0)
            ]
            low, high = (between(value, end) for end in ends)
            return float(on_line(low, high, customers - floor(customers)))
    for i, place in enumerate(network.places):
        if place.servers != floor(place.servers):
            whole, part = floor(place.servers), place.servers - floor(place.servers)
            either = [place._replace(servers=float(whole + more)) for more in (0, 1)]
        elif place.servers > 1 and place.copies != floor(place.copies):
            whole, part = floor(place.copies), place.copies - floor(place.copies)
            either = [place._replace(copies=float(whole + more)) for more in (0, 1)]
        else:
            continue
        ends = [network._replace(places=_with(network.places, i, one)) for one in either]
        low, high = (between(value, end, in_parts=in_parts) for end in ends)
        return float(on_line(low, high, part))
    return value(network)


def _with(values: tuple[_Value, ...], place: int, value: _Value) -> tuple[_Value, ...]:
    return (*values[:place], value, *values[place + 1 :])
