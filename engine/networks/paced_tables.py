"""How fast that is of which there are copies, by how many are there in all: pools, and their own.

What goes on within a pool is told by the rates X(1), X(2), … at which as many as are within end: a
flow-equivalent server (Chandy, Herzog and Woo 1975). Of a pool of one copy these are its speeds.
Where there are several copies, and who comes takes any of them, some may be full while others have
room: of so many in all, the copies are taken to be filled as stations in product form are, each as
fast as if all were equally full. That is exact where copies do not meet within.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import ceil, floor, inf, log
from typing import Any

Number = Any
"""A float or a fraction."""
Product = Callable[[Sequence[Number], Sequence[Number], int], list[Number]]
"""A product of polynomials, so many coefficients of it."""

LEVELS = 64
"""To how many at each of several copies it is told how full they are; beyond they all are."""
MOST_COPIES, MOST_PLACES = 32, 128
"""More are equally full in proportion."""
_MOST_LOG = 600
_FEW_COPIES = 2


def at(values: Sequence[Number], place: Number) -> Number:
    """Return a value on the lines between some, of which the last holds for all places beyond."""
    whole = floor(place)
    if whole >= len(values) - 1:
        return values[-1]
    low = values[whole]
    return low + (place - whole) * (values[whole + 1] - low)


def held_within(
    rates: Sequence[Number],
    places: int,
    copies: int,
    *,
    variation: Number,
    product: Product,
    most: float = inf,
) -> list[Number]:
    """Return how many are within, by how many are there in all, from none on.

    `rates` are those of one, two, … within all copies; the last value is that of all places. The
    less the time within varies, by the square of its variation, the more alike are the copies: who
    finds one full waits for a rest of (1 + variation)/2 of it. Told of no more than `most`.
    """
    if copies == 1:
        return [*range(int(min(places, most)) + 1)]
    one = rates[0] / rates[0]
    held = min(places, MOST_PLACES)
    each = [rates[min(copies * places * n // held, len(rates)) - 1] for n in range(1, held + 1)]
    slower = (each[-1] / rate for rate in each)
    weights = list(accumulate(slower, lambda weight, r: weight * r, initial=one))
    few = min(copies, MOST_COPIES, max(2, int(_MOST_LOG / (log(float(weights[-1])) + 1))))
    ratio = one * copies * places / (few * held)
    levels = int(min(max(LEVELS, 2 * held) * few, max(most / ratio + 1, held)))
    weights += [weights[-1]] * (levels - held)
    weights[:held] = [weight * (1 + variation) / 2 for weight in weights[:held]]
    busy = [min(n, held) * weight for n, weight in enumerate(weights)]
    fewer = powered(weights, few - 1, levels + 1, product)
    top, whole = product(busy, fewer, levels + 1), product(weights, fewer, levels + 1)
    found = [few * part / every for part, every in zip(top, whole, strict=True)]
    if ratio > 1:
        count = int(min(levels * ratio, max(most, places)))
        found = [ratio * at(found, n / ratio) for n in range(count + 1)]
    return [*found, places * copies]


def own_rates(
    weights: Sequence[Number],
    places: int,
    copies: int,
    *,
    product: Product,
    most: float = inf,
    least: float = 0,
) -> list[Number]:
    """Return the rates of stations, one for each copy of a pool, by how many are there in all.

    `weights` are those of none, one, … there, up to all `places` of a copy. Of many copies as much
    ends at each as of some. Told of no more than `most`; up to where weights are above a `least`
    that floats tell well, as if none waited.
    """
    few = copies
    if copies > _FEW_COPIES:
        lowest = float(min(weights))
        spread = log(float(max(weights))) - log(lowest) if lowest > 0 else inf
        few = min(copies, MOST_COPIES, max(1, int(_MOST_LOG / (spread + 1))))
    ratio = weights[-1] / weights[-1] * copies / few
    count = int(min(places * copies, most))
    levels = min(places * few, ceil(count / ratio))
    fewer = powered(weights, few - 1, levels + 1, product)
    whole = product(weights, fewer, levels + 1)
    served = [0 * ratio, *weights[:-1]]  # a rate is a weight over that of one more
    top = product(served, fewer, levels + 1)
    first = next(n for n in range(1, levels + 1) if top[n] > least)
    found = [few * top[first] / whole[first] * n / first for n in range(first)]
    found += [few * top[n] / whole[n] for n in range(first, levels + 1)]
    if ratio == 1:
        return found[1:]
    return [ratio * at(found, n / ratio) for n in range(1, count + 1)]


def powered(values: Sequence[Number], exponent: int, size: int, product: Product) -> list[Number]:
    """Return a power of a polynomial."""
    found, square = [values[-1] / values[-1]], list(values)
    while exponent:
        if exponent % 2:
            found = product(found, square, size)
        exponent //= 2
        if exponent:
            square = product(square, square, size)
    return found
