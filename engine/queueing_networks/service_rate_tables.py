"""How fast that is of which there are copies, by how many are there in all: pools, and their own.

What goes on within a pool follows from the rates X(1), X(2), … at which as many as are within end:
a flow-equivalent server (Chandy, Herzog and Woo 1975). Of a pool of one copy these are its speeds.
Where there are several copies, and who comes takes any of them, some may be full while others have
room: of so many in all, the copies are taken to be filled as stations in product form are, each as
fast as if all were equally full. What then ends is what ends where copies are as busy while nobody
waits for a place. That is exact where all that is within is each copy's own, and one station.

The less the time varies that a place is held, the more alike are the copies: each who waits there
for a place makes so many there more or less likely by a `queue_factor`. Times vary more than
exponential ones since services do, for which others wait within; they vary less since they are
sums. So it is exact, too, where nobody waits for a place. Of 900 networks that were simulated, with
exponential services and up to 12 places at each of up to 8 copies, 95 % of the rates were within
3 %, all within 6 %; where times vary more 95 % were within 8 %, all within 17 %.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil, floor, inf, log
from operator import mul
from typing import Any

from msgspec import Struct

Number = Any
"""A float or a fraction."""
Product = Callable[[Sequence[Number], Sequence[Number], int], list[Number]]
"""A product of polynomials, so many coefficients of it."""

LEVELS = 64
"""Up to how many at each of several copies tables go; beyond they all are."""
MOST_COPIES, MOST_PLACES = 32, 128
"""More are equally full in proportion."""
MOST_RATES = 256
"""Rates within a pool that are computed one by one; of more, on lines between some."""
_FINER = 1.03
_MOST_LOG = 600
_FEW_COPIES = 2


def at(values: Sequence[Number], place: Number) -> Number:
    """Return a value on the lines between some, of which the last holds for all places beyond."""
    whole = floor(place)
    if whole >= len(values) - 1:
        return values[-1]
    low = values[whole]
    return low + (place - whole) * (values[whole + 1] - low)


def composite_rates(
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
    all copies that are equally full, `by_chance` those where they are filled as who comes takes any
    of them. `variation` is the square of that of the time within. Told of no more than `most`.
    """
    if copies == 1:
        count = int(min(places, most))
        return [*range(count + 1)], [0 * variation, *rates[:count]]
    one = rates[0] / rates[0]
    held = min(places, MOST_PLACES)
    each = [rates[min(copies * places * n // held, len(rates)) - 1] for n in range(1, held + 1)]
    plain = list(accumulate((each[-1] / rate for rate in each), mul, initial=one))
    weights = list(accumulate(_queue_weights(each, variation), mul, initial=one))
    spread = max(log(float(max(some) / min(some))) for some in (plain, weights))
    few = min(copies, MOST_COPIES, max(2, int(_MOST_LOG / (spread + 1))))
    ratio = one * copies * places / (few * held)
    levels = int(min(max(LEVELS, 2 * held) * few, max(most / ratio + 1, held)))
    weights += [weights[-1]] * (levels - held)
    busy, alone = [*range(held), *[held] * (levels + 1 - held)], [0 * one, *each]
    within = _mean(busy, weights, few, levels + 1, product)
    ending = _mean([alone[n] for n in busy], weights, few, levels + 1, product)
    as_busy = _mean(alone, plain, few, min(few * held, levels + held) + 1, product)
    filled = [_place_of(rate, as_busy) for rate in ending]
    if ratio > 1:
        counts = [n / ratio for n in range(int(min(levels * ratio, max(most, places))) + 1)]
        within, filled = ([ratio * at(some, n) for n in counts] for some in (within, filled))
    ends = [0 * one, *by_chance]
    return [*within, places * copies], [*(at(ends, one) for one in filled), ends[-1]]


def queue_factor(variation: Number, servers: Number) -> Number:
    """Return by which factor each who waits for some servers makes a number there more likely.

    `variation` is the square of that of the time that is waited for; of an exponential one the
    factor is 1. Of one server the mean wait is that of Pollaczek and Khinchine; of several it was
    fitted to simulations.
    """
    more = variation - 1
    if more <= 0:
        return 1 + 2 * more / (servers + 3)
    return 1 + more / (2 * servers + more * (servers - 1) / 3)


def _queue_weights(each: Sequence[Number], variation: Number) -> Iterator[Number]:
    """Yield the weights of one, two, … at a copy as parts of those of one less.

    In parts of what that is where there are more than places. As many servers are busy as a copy is
    faster than with one; who makes it no faster waits within.
    """
    first = each[0]
    most = queue_factor(variation, max(each[-1] / first, 1))
    before = 0 * first
    for rate in each:
        waiting = 1 - min(max((rate - before) / first, 0), 1) if variation > 1 else 0
        longer = queue_factor(variation, max(rate / first, 1)) - 1
        yield each[-1] / rate * (1 + longer * waiting) / most
        before = rate


def _mean(
    values: Sequence[Number], weights: Sequence[Number], few: int, size: int, product: Product
) -> list[Number]:
    """Return means at a few copies together, by how many are there, from values at one of them."""
    fewer = powered(weights, few - 1, size, product)
    top = product(list(map(mul, values, weights)), fewer, size)
    whole = product(weights, fewer, size)
    return [few * part / every for part, every in zip(top, whole, strict=True)]


def _place_of(value: Number, rising: Sequence[Number]) -> Number:
    """Return where a value stands on the lines between some that rise; the last one if beyond."""
    place = bisect_left(rising, value)
    if place == len(rising):
        return place - 1
    if place == 0:
        return place
    low, high = rising[place - 1 : place + 1]
    return place - 1 + (value - low) / (high - low)


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
    """Return as many copies as floats resolve well, and how their weights multiply.

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

    As `copies_of` has them; up to where weights are above a `least` that floats resolve well, as if
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
    for floats, as without any.
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


def on_grid(value: Callable[[int], float], most: int) -> list[float]:
    """Return values of one, two, … up to `most`: one by one up to some, then on lines."""
    found = [value(n) for n in range(1, min(most, MOST_RATES) + 1)]
    n = MOST_RATES
    while n < most:
        following = min(most, int(n * _FINER) + 1)
        low, high = found[-1], value(following)
        steps = following - n
        found += [low + (high - low) * k / steps for k in range(1, steps + 1)]
        n = following
    return found
