"""What closed queueing networks are asked, in floats, fractions and balls alike.

Their operands are the customers, their think time, and four numbers a station: `D`, the service
that a cycle asks of it, on one server, over all of its `m` equal copies, among which that is
spread; the `c` servers of a copy; the open load `L` of a copy, in erlangs; and `m`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, isfinite
from typing import Any

Number = Any
"""A float, a fraction or a ball."""
Station = tuple[Number, Number, Number, Number]
"""D, c, L and m."""
Value = Callable[[int, Number, tuple[Station, ...]], Number]
"""What is asked of a network in which all that counts whole is whole."""

_SEVERAL = 2
MOST_DEGREE = 8192
"""Servers but one of each copy, or customers if these are fewer, up to which a rate is exact.

Beyond that it is the Linearizer's (`linearizer`), which is the better the more copies there are.
"""


def is_exact(customers: float, more_servers: float) -> bool:
    """Return whether so many customers are told exactly.

    `more_servers` are all of all copies of those with several, but one of each copy.
    """
    return min(customers, more_servers) <= MOST_DEGREE


_BESIDE, _OWN = (-1, 1, -1, 1), (1, -1, 1, -1)
GROWING_RATE = (1, -1, *_BESIDE)
GROWING_WAIT = (1, -1, *_OWN, *_BESIDE)
"""How a rate, and a wait at the first station, move with each operand; the last four come again."""
GROWING_QUANTILE = (1, 1, -1, *_OWN[:-1], 0, 0, 0)  # more copies are visited apart
"""How a quantile moves with each operand; the last six come again."""


def stations_of(told: Sequence[Number]) -> tuple[Station, ...]:
    """Return the stations that operands tell of; less than one copy is one that takes longer."""
    each = zip(told[::4], told[1::4], told[2::4], told[3::4], strict=True)
    return tuple((d / m, c, load, m / m) if m < 1 else (d, c, load, m) for d, c, load, m in each)


def on_line(low: Number, high: Number, part: Number) -> Number:
    """Return a value between two; an infinite one if one is."""
    return low + part * (high - low) if isfinite(low) and isfinite(high) else max(low, high)


def between(
    value: Value,
    customers: Number,
    think: Number,
    stations: tuple[Station, ...],
    line: Callable[[Number, Number, Number], Number] = on_line,
) -> Number:
    """Return a value, on lines between whole numbers of customers, servers and copies.

    Copies of single servers need not be whole.
    """
    whole = floor(customers)
    if whole != customers:
        ends = [between(value, n, think, stations, line) for n in (whole, whole + 1)]
        return line(ends[0], ends[1], customers - whole)
    for place, (asked, servers, load, copies) in enumerate(stations):
        whole = floor(servers)
        if whole != servers:
            either = [(asked, c, load, copies) for c in (whole, whole + 1)]
            part = servers - whole
        elif servers >= _SEVERAL and floor(copies) != copies:
            whole = floor(copies)
            either = [(asked, servers, load, m) for m in (whole, whole + 1)]
            part = copies - whole
        else:
            continue
        before, behind = stations[:place], stations[place + 1 :]
        ends = [between(value, customers, think, (*before, e, *behind), line) for e in either]
        return line(ends[0], ends[1], part)
    counted = ((d, int(c), load, int(m) if c >= _SEVERAL else m) for d, c, load, m in stations)
    return value(int(customers), think, tuple(counted))


def never_ends(station: Station) -> bool:
    """Return whether open visits take all servers of a station that closed ones visit."""
    return bool(station[0] > 0 and station[2] >= station[1])
