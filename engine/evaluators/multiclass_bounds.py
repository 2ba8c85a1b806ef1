"""Bounds of closed networks of several classes, from those of their operands.

More customers of one class may be good or bad for another. So a box that is no point is bounded by
what is true of any mix: a class has no more than it would have alone, nor more than the slowest
station lets through (Muntz and Wong 1975); nobody waits for more than all others at one copy.
Where nothing but numbers of customers moves, and these little, exact values are on lines between
whole ones: the least and the greatest are at corners, and so are the slopes. Where customers do not
move, and all else hardly does, as what other networks come to at one point, a value moves along.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import product
from math import ceil, floor, inf, isfinite, isnan, nan, prod

from qps.engine.numerics.float_overflow import nan_beyond_floats
from qps.engine.numerics.sloped_intervals import NOTHING_KNOWN, SlopedInterval, above, span
from qps.engine.queueing_networks import multiclass_cycle_times, multiclass_mva
from qps.engine.queueing_networks.multiclass_operands import MulticlassNetwork, network_of

FLOAT_ERROR = 1e-9
"""What a value can be off by what floats round off, as a part of it."""
_KNOWN = 1e-14
"""Operands that are known so well are one float: a few roundings do not make a box of them."""
_HARDLY = 1e-4
"""What moves no more, as a part of itself, moves a value in proportion."""
MOST_SENSITIVE = 4.0
"""A value moves at most so many times as much as the operand that moves most does."""
_MOST_CORNERS, _FEW_CORNERS = 36, 9
"""So many whole populations are looked at for bounds; of several servers, which take longer."""


def class_rate(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which rates that of a class lies."""
    if is_point(operands):
        return at_point(multiclass_mva.class_rate, operands)
    if found := _between_whole(multiclass_mva.class_rate, operands, 2):
        return found
    if found := _about_point(multiclass_mva.class_rate, operands, 2):
        return found
    ends = _ends(operands, 2)
    if ends is None:
        return NOTHING_KNOWN
    best, worst, k = *ends, int(operands[1].low) - 1
    alone = best.think[k] + sum(place.demands[k] for place in best.places)
    most = best.customers[k] / alone if alone else inf
    for place in best.places:
        if place.demands[k]:
            most = min(most, place.copies * max(place.servers - place.load, 0.0) / place.demands[k])
    longest = worst.think[k]
    for at, place in enumerate(worst.places):
        longest += place.demands[k] and place.demands[k] * (1 + _longest(best, worst, at))
    least = worst.customers[k] / longest if longest else worst.customers[k] and inf
    return widened(min(least, most), most)


def class_wait(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which times the wait of a class at the first station lies."""
    if is_point(operands):
        return at_point(multiclass_mva.class_wait, operands)
    if found := _between_whole(multiclass_mva.class_wait, operands, 2):
        return found
    if found := _about_point(multiclass_mva.class_wait, operands, 2):
        return found
    ends = _ends(operands, 2)
    if ends is None or not ends[0].places:
        return NOTHING_KNOWN
    best, worst = ends
    demand = worst.places[0].demands[int(operands[1].low) - 1]
    return widened(0.0, demand and demand * (1 + _longest(best, worst, 0)))


def class_open_wait(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which numbers of service times the wait of open visits lies."""
    if is_point(operands):
        return at_point(multiclass_mva.class_open_wait, operands)
    if found := _between_whole(multiclass_mva.class_open_wait, operands, 1):
        return found
    if found := _about_point(multiclass_mva.class_open_wait, operands, 1):
        return found
    ends = _ends(operands, 1)
    if ends is None or not ends[0].places:
        return NOTHING_KNOWN
    return widened(0.0, _longest(*ends, 0))


def class_quantile(*operands: SlopedInterval) -> SlopedInterval:
    """Return what is known of a quantile of a class: of a box no more than its sign."""
    if is_point(operands):
        return at_point(multiclass_cycle_times.class_quantile, operands)
    return SlopedInterval(0.0, inf, -inf, inf)


def is_point(operands: tuple[SlopedInterval, ...]) -> bool:
    """Return whether each operand is one number, but for what a few roundings make of it."""
    return all(map(is_number, operands))


def is_number(one: SlopedInterval) -> bool:
    """Return the same of one operand."""
    low, high = one.low, one.high
    return low == high or high <= above(above(low)) or high - low <= _KNOWN * abs(high)


def at_point(number: Callable[..., float], operands: tuple[SlopedInterval, ...]) -> SlopedInterval:
    """Return what is known of a value where each operand is one number."""
    value = nan_beyond_floats(number)(*map(_float_in, operands))
    if isnan(value):
        return NOTHING_KNOWN
    is_fixed = isfinite(value) and all(one.is_fixed for one in operands)
    slopes = (0.0, 0.0) if is_fixed else (-inf, inf)
    return SlopedInterval(value * (1 - FLOAT_ERROR), value * (1 + FLOAT_ERROR), *slopes)


def about_point(
    number: Callable[..., float],
    operands: tuple[SlopedInterval, ...],
    still: int,
    loads: Collection[int],
) -> SlopedInterval | None:
    """Return bounds of a value where operands hardly move, and the first ones not at all.

    At the places `loads` are open loads, each behind the servers that it takes a part of. None
    where more moves, or there is no value.
    """
    if not is_point(operands[:still]):
        return None
    middles = [_float_in(one) for one in operands[:still]]
    middles += [one.low + (one.high - one.low) / 2 for one in operands[still:]]
    if not all(map(isfinite, middles)):
        return None
    off = [one.high - middle for one, middle in zip(operands, middles, strict=True)]
    moved = most_moved(middles, off, loads)
    value = nan_beyond_floats(number)(*middles) if moved <= _HARDLY else nan
    if not isfinite(value):
        return None
    error = FLOAT_ERROR + MOST_SENSITIVE * moved
    return SlopedInterval(value * (1 - error), value * (1 + error), -inf, inf)


def most_moved(operands: Sequence[float], off: Sequence[float], loads: Collection[int]) -> float:
    """Return how much operands are off at most, each as a part of what counts of it.

    As long as all services and thinking, a rate is as many times less; an open load counts by what
    it leaves of a server.
    """
    moved = 0.0
    for at, (value, radius) in enumerate(zip(operands, off, strict=True)):
        if radius <= _KNOWN * abs(value):
            continue
        by = abs(value)
        if at in loads:
            by = max(operands[at - 1] - value, _KNOWN)
        moved = max(moved, radius / by if by else inf)
    return moved


def _about_point(
    number: Callable[..., float], operands: tuple[SlopedInterval, ...], before: int
) -> SlopedInterval | None:
    """Return bounds where nothing moves much, of operands before the networks and these."""
    if not is_point(operands[:before]) or operands[0].low != int(operands[0].low):
        return None
    classes = int(operands[0].low)
    loads = range(before + 2 * classes + 1, len(operands), classes + 3)
    return about_point(number, operands, before + classes, loads)


def _float_in(one: SlopedInterval) -> float:
    """Return the whole number that an operand may be, else the float in the middle."""
    if not isfinite(one.low):
        return one.low
    whole = ceil(one.low)
    return float(whole) if whole <= one.high else one.low + (one.high - one.low) / 2


def _between_whole(
    number: Callable[..., float], operands: tuple[SlopedInterval, ...], before: int
) -> SlopedInterval | None:
    """Return bounds from whole numbers of customers; None where more moves, or it is too much."""
    count = before + int(operands[0].low) if is_point(operands[:before]) else 0
    if not count or not is_point((*operands[:before], *operands[count:])):
        return None
    moving = operands[before:count]
    if not all(0 <= one.low <= one.high < inf for one in moving):
        return None
    sides = [range(floor(one.low), ceil(one.high) + 1) for one in moving]
    corners = prod(map(len, sides))
    if corners > _MOST_CORNERS:
        return None
    first, last = (list(map(_float_in, part)) for part in (operands[:before], operands[count:]))
    network = network_of(operands[0].low, [*(float(side[-1]) for side in sides), *last])
    if network is None or multiclass_mva.is_linearized(network):
        return None
    if corners > _FEW_CORNERS and any(place.servers > 1 for place in network.places):
        return None
    values = {at: number(*first, *map(float, at), *last) for at in product(*sides)}
    if any(map(isnan, values.values())):
        return NOTHING_KNOWN
    known = widened(min(values.values()), max(values.values()))
    slow = steep = 0.0
    for k, one in enumerate(moving):
        if not one.is_fixed:
            part = span(*_slopes(values, k), one.slow, one.steep)
            slow, steep = slow + part[0], steep + part[1]
    return SlopedInterval(known.low, known.high, slow, steep)


def _slopes(values: dict[tuple[int, ...], float], k: int) -> tuple[float, float]:
    """Return between which slopes values on lines between whole numbers of one class lie."""
    found = []
    for at, value in values.items():
        more = values.get((*at[:k], at[k] + 1, *at[k + 1 :]))
        if more is not None and isfinite(more) and isfinite(value):
            off = 2 * FLOAT_ERROR * max(more, value)
            found += [more - value - off, more - value + off]
        elif more is not None:
            return -inf, inf
    return (min(found), max(found)) if found else (-inf, inf)


def _ends(
    operands: tuple[SlopedInterval, ...], before: int
) -> tuple[MulticlassNetwork, MulticlassNetwork] | None:
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


def _longest(best: MulticlassNetwork, worst: MulticlassNetwork, at: int) -> float:
    """Return what is waited at most, in service times: as if all customers were at one copy."""
    place = worst.places[at]
    if place.load >= place.servers:
        return inf
    found = max(sum(best.customers), best.places[at].servers - 1)
    return (found + 1) / (place.servers - place.load)


def widened(low: float, high: float) -> SlopedInterval:
    """Return what lies between two values that are off by roundings."""
    return SlopedInterval(low * (1 - FLOAT_ERROR), high * (1 + FLOAT_ERROR), -inf, inf)
