"""Bounds of closed networks of several classes, from those of their operands.

More customers of one class may be good or bad for another. So a box that is no point is bounded by
what is true of any mix: a class has no more than it would have alone, nor more than the slowest
station lets through (Muntz and Wong 1975); nobody waits for more than all others at one copy.
Where nothing but numbers of customers moves, and these little, values are on lines between whole
ones: the least and the greatest are at corners.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import ceil, floor, inf, isfinite, isnan, prod

from qps.engine.intervals import NOTHING_KNOWN, Interval, above
from qps.engine.networks import class_numbers
from qps.engine.networks.class_networks import Network, is_exact, network_of

_ERROR = 1e-9
_FEW_CLASSES, _MOST_CORNERS = 2, 36


def class_rate(*operands: Interval) -> Interval:
    """Return between which rates that of a class lies."""
    if is_point(operands):
        return at_point(class_numbers.class_rate, operands)
    if corners := _corners(operands, 2):
        return _at_corners(class_numbers.class_rate, corners)
    ends = _ends(operands, 2)
    if ends is None:
        return NOTHING_KNOWN
    best, worst, k = *ends, int(operands[1].low) - 1
    alone = best.think[k] + sum(place.asked[k] for place in best.places)
    most = best.customers[k] / alone if alone else inf
    for place in best.places:
        if place.asked[k]:
            most = min(most, place.copies * max(place.servers - place.load, 0.0) / place.asked[k])
    longest = worst.think[k]
    for at, place in enumerate(worst.places):
        longest += place.asked[k] and place.asked[k] * (1 + _longest(best, worst, at))
    least = worst.customers[k] / longest if longest else worst.customers[k] and inf
    return widened(min(least, most), most)


def class_wait(*operands: Interval) -> Interval:
    """Return between which times the wait of a class at the first station lies."""
    if is_point(operands):
        return at_point(class_numbers.class_wait, operands)
    if corners := _corners(operands, 2):
        return _at_corners(class_numbers.class_wait, corners)
    ends = _ends(operands, 2)
    if ends is None or not ends[0].places:
        return NOTHING_KNOWN
    best, worst = ends
    asked = worst.places[0].asked[int(operands[1].low) - 1]
    return widened(0.0, asked and asked * (1 + _longest(best, worst, 0)))


def class_open_wait(*operands: Interval) -> Interval:
    """Return between which numbers of service times the wait of open visits lies."""
    if is_point(operands):
        return at_point(class_numbers.class_open_wait, operands)
    if corners := _corners(operands, 1):
        return _at_corners(class_numbers.class_open_wait, corners)
    ends = _ends(operands, 1)
    if ends is None or not ends[0].places:
        return NOTHING_KNOWN
    return widened(0.0, _longest(*ends, 0))


def is_point(operands: tuple[Interval, ...]) -> bool:
    """Return whether each operand is one number, itself a float or between two of them."""
    return all(one.high <= above(above(one.low)) for one in operands)


def at_point(number: Callable[..., float], operands: tuple[Interval, ...]) -> Interval:
    """Return what is known of a value where each operand is one number."""
    value = number(*(one.low for one in operands))
    if isnan(value):
        return NOTHING_KNOWN
    is_fixed = isfinite(value) and all(one.is_fixed for one in operands)
    slopes = (0.0, 0.0) if is_fixed else (-inf, inf)
    return Interval(value * (1 - _ERROR), value * (1 + _ERROR), *slopes)


def _corners(operands: tuple[Interval, ...], before: int) -> list[tuple[float, ...]]:
    """Return the points between which all lies, where that is told by few; else none."""
    count = before + int(operands[0].low) if is_point(operands[:before]) else 0
    if not is_point((*operands[:before], *operands[count:])) or not count:
        return []
    moving = operands[before:count]
    if len(moving) > _FEW_CLASSES or not all(0 <= o.low <= o.high < inf for o in moving):
        return []
    if prod(ceil(one.high) - floor(one.low) + 1 for one in moving) > _MOST_CORNERS:
        return []
    network = network_of(operands[0].low, [one.high for one in operands[before:]])
    if network is None or not _is_quick(network):
        return []
    sides = [
        sorted({one.low, one.high, *map(float, range(ceil(one.low), floor(one.high) + 1))})
        for one in moving
    ]
    first = tuple(one.low for one in operands[:before])
    last = tuple(one.low for one in operands[count:])
    return [(*first, *chosen, *last) for chosen in product(*sides)]


def _is_quick(network: Network) -> bool:
    """Return whether its populations are found at once, all servers being single."""
    is_single = all(place.servers == 1 for place in network.places)
    return is_single and is_exact(network.customers, len(network.places))


def _at_corners(number: Callable[..., float], corners: list[tuple[float, ...]]) -> Interval:
    values = [number(*corner) for corner in corners]
    if any(map(isnan, values)):
        return NOTHING_KNOWN
    return widened(min(values), max(values))


def _ends(operands: tuple[Interval, ...], before: int) -> tuple[Network, Network] | None:
    """Return the network in which all is at its best for a class, and that at its worst.

    Of customers those have the most and the least. What counts whole is so, as between it is on a
    line. None where there may be no value.
    """
    classes, of = operands[0], operands[before - 1]
    if not (is_point((classes, of)) and 1 <= of.low <= max(classes.low, of.low * (before == 1))):
        return None
    count = classes.low
    best, worst = [], []
    for at, one in enumerate(operands[before:]):
        if not 0 <= one.low <= one.high < inf:
            return None
        kind = (at - 2 * count) % (count + 3) if at >= 2 * count else -1
        less = one.low if kind == 2 and one.low < 1 else floor(one.low)  # noqa: PLR2004 - copies
        if at < count or kind in (0, 2):  # customers, servers or copies
            best.append(float(ceil(one.high)))
            worst.append(float(less))
        else:
            best.append(one.low)
            worst.append(one.high)
    found = network_of(count, best), network_of(count, worst)
    return None if found[0] is None or found[1] is None else (found[0], found[1])


def _longest(best: Network, worst: Network, at: int) -> float:
    """Return what is waited at most, in service times: as if all customers were at one copy."""
    place = worst.places[at]
    if place.load >= place.servers:
        return inf
    found = max(sum(best.customers), best.places[at].servers - 1)
    return (found + 1) / (place.servers - place.load)


def widened(low: float, high: float) -> Interval:
    """Return what lies between two values that are off by roundings."""
    return Interval(low * (1 - _ERROR), high * (1 + _ERROR), -inf, inf)
