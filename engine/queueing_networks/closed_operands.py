"""Inputs and results of closed queueing networks, in floats, fractions and balls alike.

Their operands are the customers, their think time, and four numbers a station: `D`, the service
that a cycle demands of it, on one server, over all of its `m` equal copies, among which that is
spread; the `c` servers of a copy; the open load `L` of a copy, in erlangs; and `m`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, isfinite
from typing import Any, TypeVar

Number = Any
"""A float, a fraction or a ball."""
Station = tuple[Number, Number, Number, Number]
"""D, c, L and m."""
Value = Callable[[int, Number, tuple[Station, ...]], Number]
"""A function of a network in which all that counts whole is whole."""
Line = Callable[[Number, Number, Number], Number]
"""What lies between two values, a part of the way behind the first."""
_Place = TypeVar("_Place")

_SEVERAL = 2
MOST_DEGREE = 8192
"""Servers but one of each copy, or customers if these are fewer, up to which a rate is exact.

Beyond that it is the Linearizer's (`linearizer`), which is the better the more copies there are.
"""


def is_exact(customers: float, more_servers: float) -> bool:
    """Return whether so many customers are determined exactly.

    `more_servers` are all of all copies of those with several, but one of each copy.
    """
    return min(customers, more_servers) <= MOST_DEGREE


_SIGNS, _OWN = (-1, 1, -1, 1), (1, -1, 1, -1)
GROWING_RATE = (1, -1, *_SIGNS)
GROWING_WAIT = (1, -1, *_OWN, *_SIGNS)
GROWING_CYCLE = (1, 1, *(-move for move in _SIGNS))
"""How a rate, a wait at the first station and a cycle move with each operand.

The last four come again."""
GROWING_ROOM = (1, -1, 1, -1, 1, -1, 1, *(-move for move in _SIGNS))
"""The same of the room that closed customers leave: less where more of them come."""
ROOM_ERROR = 1e-12
"""How far off it may be in floats, besides a part of it."""
GROWING_QUANTILE = (1, 1, -1, *_OWN[:-1], 0, 0, 0)  # more copies are visited apart
"""How a quantile moves with each operand; the last six come again."""
QUANTILE_ERROR = 1e-7
"""How far off it may be in floats, as a part of it: a series that is not smooth has some noise."""


def stations_of(operands: Sequence[Number]) -> tuple[Station, ...]:
    """Return the stations that operands describe; less than one copy is one that takes longer."""
    each = zip(operands[::4], operands[1::4], operands[2::4], operands[3::4], strict=True)
    return tuple((d / m, c, load, m / m) if m < 1 else (d, c, load, m) for d, c, load, m in each)


def on_line(low: Number, high: Number, part: Number) -> Number:
    """Return a value between two; an infinite one if one is."""
    return low + part * (high - low) if isfinite(low) and isfinite(high) else max(low, high)


def on_lines(
    value: Callable[[int, Number, tuple[Any, ...]], Number],
    customers: Number,
    think: Number,
    places: tuple[_Place, ...],
    *,
    line: Line,
    not_whole: Callable[[_Place], tuple[_Place, _Place, Number] | None],
    counted: Callable[[_Place], _Place],
) -> Number:
    """Return a value, on lines between whole numbers of customers and what is whole of places.

    `not_whole` returns for a place what lies on both sides of one of these that is not, and how far
    behind the first it is; `counted` is a place with whole numbers.
    """

    def operand(customers: Number, places: tuple[_Place, ...], at: int) -> Number:
        whole = floor(customers)
        if whole != customers:
            ends = [operand(n, places, at) for n in (whole, whole + 1)]
            return line(ends[0], ends[1], customers - whole)
        for number in range(at, len(places)):
            sides = not_whole(places[number])
            if sides is not None:
                before, behind = places[:number], places[number + 1 :]
                ends = [operand(customers, (*before, one, *behind), number) for one in sides[:2]]
                return line(ends[0], ends[1], sides[2])
        return value(int(customers), think, tuple(map(counted, places)))

    return operand(customers, places, 0)


def between(
    value: Value,
    customers: Number,
    think: Number,
    stations: tuple[Station, ...],
    line: Line = on_line,
) -> Number:
    """Return a value, on lines between whole numbers of customers, servers and copies.

    Copies of single servers need not be whole.
    """
    return on_lines(
        value, customers, think, stations, line=line, not_whole=_not_whole, counted=_counted
    )


def _not_whole(station: Station) -> tuple[Station, Station, Number] | None:
    demand, servers, load, copies = station
    whole = floor(servers)
    if whole != servers:
        return (demand, whole, load, copies), (demand, whole + 1, load, copies), servers - whole
    whole = floor(copies)
    if servers >= _SEVERAL and whole != copies:
        return (demand, servers, load, whole), (demand, servers, load, whole + 1), copies - whole
    return None


def _counted(station: Station) -> Station:
    demand, servers, load, copies = station
    return demand, int(servers), load, int(copies) if servers >= _SEVERAL else copies


def never_ends(station: Station) -> bool:
    """Return whether open visits take all servers of a station that closed ones visit."""
    return bool(station[0] > 0 and station[2] >= station[1])
