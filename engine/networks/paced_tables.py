"""How fast that is of which there are copies, by how many are there in all: pools, and their own.

What goes on within a pool is told by the rates X(1), X(2), … at which as many as are within end: a
flow-equivalent server (Chandy, Herzog and Woo 1975). Of a pool of one copy these are its speeds.
Where there are several copies, and who comes takes any of them, some may be full while others have
room: of so many in all, the copies are taken to be filled as stations in product form are, each as
fast as if all were equally full. That is exact where all that is within is each copy's own, and one
station.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from math import ceil, floor, inf, log
from typing import Any

from msgspec import Struct

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
    by_chance: Sequence[Number],
    places: int,
    copies: int,
    *,
    variation: Number,
    product: Product,
    most: float = inf,
) -> tuple[list[Number], list[Number]]:
    """Return how many are within, and how many end in a time, by how many are there in all.

    Both from none on; the last value is that of all places. `rates` are those of one, two, … within
    all copies that are equally full, `by_chance` those where they are filled so, which count where
    there are too many places to tell of each copy how full it is. The less the time within varies,
    by the square of its variation, the more alike are the copies: who finds one full waits for a
    rest of (1 + variation)/2 of it. Told of no more than `most`.
    """
    if copies == 1:
        count = int(min(places, most))
        return [*range(count + 1)], [0 * variation, *rates[:count]]
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
    whole = product(weights, fewer, levels + 1)

    def mean(weighed: Sequence[Number]) -> list[Number]:
        top = product(weighed, fewer, levels + 1)
        return [part / every for part, every in zip(top, whole, strict=True)]

    within = [few * one for one in mean(busy)]
    if ratio > 1:
        count = int(min(levels * ratio, max(most, places)))
        within = [ratio * at(within, n / ratio) for n in range(count + 1)]
        within.append(places * copies)
        return within, [at((0 * one, *by_chance), h) for h in within]
    # `each` is what all copies end that are equally full: of one, a part of it.
    ending = mean([(0 * one, *each)[min(n, held)] * weight for n, weight in enumerate(weights)])
    return [*within, places * copies], [*ending, each[-1]]


class Copies(Struct, frozen=True, kw_only=True):
    """Some copies in place of all, which have as much each, and products over them.

    Each of the `few` counts as `ratio` copies; `fewer` is the product of the weights of all of them
    but one, `whole` that of all, of so many `levels` in all.
    """

    few: int
    ratio: Number
    levels: int
    fewer: list[Number]
    whole: list[Number]


def copies_of(
    weights: Sequence[Number],
    places: int,
    copies: int,
    *,
    product: Product,
    most: float = inf,
) -> Copies:
    """Return as many copies as floats tell well, and how their weights multiply.

    `weights` are those of none, one, … at a copy, up to all its `places`. Of many copies as much
    is at each as of some. Told of no more than `most`.
    """
    few = copies
    if copies > _FEW_COPIES:
        lowest = float(min(weights))
        spread = log(float(max(weights))) - log(lowest) if lowest > 0 else inf
        few = min(copies, MOST_COPIES, max(1, int(_MOST_LOG / (spread + 1))))
    ratio = weights[-1] / weights[-1] * copies / few
    levels = min(places * few, ceil(min(places * copies, most) / ratio))
    fewer = powered(weights, few - 1, levels + 1, product)
    whole = product(weights, fewer, levels + 1)
    return Copies(few=few, ratio=ratio, levels=levels, fewer=fewer, whole=whole)


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

    As `copies_of` has them; up to where weights are above a `least` that floats tell well, as if
    none waited.
    """
    some = copies_of(weights, places, copies, product=product, most=most)
    few, ratio, levels, whole = some.few, some.ratio, some.levels, some.whole
    served = [0 * ratio, *weights[:-1]]  # a rate is a weight over that of one more
    top = product(served, some.fewer, levels + 1)
    first = next(n for n in range(1, levels + 1) if top[n] > least)
    found = [few * top[first] / whole[first] * n / first for n in range(first)]
    found += [few * top[n] / whole[n] for n in range(first, levels + 1)]
    if ratio == 1:
        return found[1:]
    count = int(min(places * copies, most))
    return [ratio * at(found, n / ratio) for n in range(1, count + 1)]


def own_waits(
    weights: Sequence[Number],
    waits: Sequence[Number],
    places: int,
    copies: int,
    *,
    product: Product,
    most: float = inf,
    least: float = 0,
) -> list[Number]:
    """Return what is waited at one of such stations, by how many are there in all, from none on.

    `waits` are those with none, one, … at the copy that is come to, times the weights of these:
    who comes finds the copies filled as stations in product form are. Where weights are too small
    for floats to tell, as without any.
    """
    some = copies_of(weights, places, copies, product=product, most=most)
    top = product(waits, some.fewer, some.levels + 1)
    alone = waits[0] / weights[0]
    found = [
        part / every if every > least else alone
        for part, every in zip(top, some.whole, strict=True)
    ]
    if some.ratio == 1:
        return found
    count = int(min(places * copies, most))
    return [at(found, n / some.ratio) for n in range(count + 1)]


def even_rates(
    weights: Sequence[Number], places: int, copies: int, *, most: float = inf, least: float = 0
) -> list[Number]:
    """Return the rates of such stations where as many are at each of them.

    Up to where weights are above a `least` as if none waited.
    """
    one = weights[-1] / weights[-1]
    first = next(n for n, weight in enumerate(weights) if weight > least)
    known = [before / weight for before, weight in pairwise(weights[first:])]
    slow = known[0] / (first + 1) if known else one
    each = [n * slow for n in range(first + 1)] + known
    count = int(min(places * copies, most))
    return [copies * at(each, one * n / copies) for n in range(1, count + 1)]


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
