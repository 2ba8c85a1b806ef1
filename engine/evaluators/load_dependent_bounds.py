"""Bounds of closed networks with speeds and pools, from those of their operands.

Of what moves, a rate grows with each as in `load_dependent_operands`. Where it may do either
with some, no more come than the delay lets through. Times grow with customers as there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import ceil, floor, inf, isnan, prod

from qps.engine.evaluators.multiclass_bounds import at_point, is_number, is_point, widened
from qps.engine.numerics.sloped_intervals import NOTHING_KNOWN, SlopedInterval, span
from qps.engine.queueing_networks import load_dependent_mva
from qps.engine.queueing_networks.load_dependent_operands import (
    GROUP,
    growing,
    places_of,
    times_grow,
)


def nested_rate(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which rates that of a network lies."""
    if is_point(operands):
        return at_point(load_dependent_mva.nested_rate, operands)
    stations = operands[2:]
    if not _is_one_form(stations):
        return NOTHING_KNOWN
    grows = growing(operands)
    uncertain = [k for k, g in enumerate(grows) if not g and not is_number(operands[k])]
    if not uncertain:
        return _of_growing(grows, operands)
    if found := _at_whole_places(grows, operands, uncertain):
        return found
    customers, think = operands[:2]
    if not (
        customers.low >= 0 and think.low >= 0 and all(one.low >= 0 for one in stations[1::GROUP])
    ):
        return NOTHING_KNOWN
    return widened(0.0, customers.high / think.low if think.low else inf)


def _at_whole_places(
    grows: Sequence[int], operands: Sequence[SlopedInterval], uncertain: Sequence[int]
) -> SlopedInterval | None:
    """Return bounds over whole numbers of places, between which a rate is on lines.

    None where more is uncertain, or these are many.
    """
    if not all(k >= _BEFORE and (k - _BEFORE) % GROUP == _PLACES for k in uncertain):
        return None
    if not all(operands[k - _PLACES].low > 0 for k in uncertain):
        return None
    whole = [range(floor(operands[k].low), ceil(operands[k].high) + 1) for k in uncertain]
    if prod(map(len, whole)) > _MOST_CORNERS:
        return None
    found = []
    for corner in product(*whole):
        corner_operands = list(operands)
        for k, places in zip(uncertain, corner, strict=True):
            corner_operands[k] = SlopedInterval(float(places), float(places))
        found.append(_of_growing(grows, corner_operands))
    low, high = min(one.low for one in found), max(one.high for one in found)
    if not all(operands[k].is_fixed for k in uncertain):
        return SlopedInterval(low, high, -inf, inf)
    return SlopedInterval(
        low, high, min(one.slow for one in found), max(one.steep for one in found)
    )


_BEFORE, _PLACES = 2, 2
"""Where groups begin, and the places of a pool in its group."""
_COUNTS = (2, 4)
"""Where a group has what counts whole: servers or places, and copies."""
_MOST_CORNERS = 36
_SLOPES = {1: (0.0, inf), -1: (-inf, 0.0), 0: (-inf, inf)}


def _of_growing(grows: Sequence[int], operands: Sequence[SlopedInterval]) -> SlopedInterval:
    """Return the bounds of a rate that rises or falls with all that moves, and of its slope."""
    pairs = list(zip(grows, operands, strict=True))
    least = load_dependent_mva.nested_rate(*(p.high if g < 0 else p.low for g, p in pairs))
    most = load_dependent_mva.nested_rate(*(p.low if g < 0 else p.high for g, p in pairs))
    if isnan(least) or isnan(most):
        return NOTHING_KNOWN
    slow = steep = 0.0
    for g, p in pairs:
        if not p.is_fixed:
            part = span(p.slow, p.steep, *_SLOPES[g])
            slow, steep = slow + part[0], steep + part[1]
    found = widened(least, most)
    return SlopedInterval(found.low, found.high, slow, steep)


def nested_time(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which times that at a place lies.

    By Little's law, what is not elsewhere: no longer than a cycle without its delay, and for a pool
    that is all there is, no shorter than without those who hold one of its places.
    """
    found = _of_place(load_dependent_mva.nested_time, operands)
    if found.high < inf or found == NOTHING_KNOWN:
        return found
    which, customers, think, *others = operands
    wide = [_counted(one) if k % GROUP in _COUNTS else one for k, one in enumerate(others)]
    counted = _counted(customers)
    rate = nested_rate(counted, think, *wide)
    if not 0 < rate.low < inf:
        return found
    low, high = found.low, counted.high / rate.low - think.low
    kind, _, places, _, copies = wide[:GROUP]
    if which.low == which.high == 0 and kind.low == len(wide) / GROUP - 1 > 0:
        waiting = counted.low - places.high * copies.high
        low = max(low, waiting / rate.high - think.high) if waiting > 0 else low
    return SlopedInterval(*_apart(low, high), found.slow, found.steep)


def _counted(one: SlopedInterval) -> SlopedInterval:
    """Return the whole numbers around what counts whole: between them values are on lines."""
    return SlopedInterval(float(floor(one.low)), float(ceil(one.high)))


def _apart(low: float, high: float) -> tuple[float, float]:
    found = widened(max(low, 0.0), max(low, high, 0.0))
    return found.low, found.high


def nested_wait(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which numbers of service times the wait of open visits lies."""
    return _of_place(load_dependent_mva.nested_wait, operands)


def _of_place(value: Callable[..., float], operands: tuple[SlopedInterval, ...]) -> SlopedInterval:
    """Return the bounds of what is longer the more customers there are, and of its slope."""
    if is_point(operands):
        return at_point(value, operands)
    which, customers, *others = operands
    if not _is_one_form(operands[3:]):
        return NOTHING_KNOWN
    if is_point((which, *others)) and times_grow(tuple(others[1:])):
        ends = [
            at_point(value, (which, SlopedInterval(n, n), *others))
            for n in (customers.low, customers.high)
        ]
        if ends[0].low >= 0 and ends[1].high < inf:
            slopes = span(customers.slow, customers.steep, 0.0, inf)
            is_still = all(one.is_fixed for one in (which, *others))
            return SlopedInterval(ends[0].low, ends[1].high, *(slopes if is_still else (-inf, inf)))
    return widened(0.0, inf)


def _is_one_form(operands: tuple[SlopedInterval, ...]) -> bool:
    """Return whether there is a network, the same all over the box but for its numbers."""
    kinds = operands[::GROUP]
    if len(operands) % GROUP or not is_point(kinds):
        return False
    return all(
        0 <= one.low <= one.high < inf for k, one in enumerate(operands) if k % GROUP
    ) and all(places_of(_ends(operands, high=high)) is not None for high in (False, True))


def _ends(operands: tuple[SlopedInterval, ...], *, high: bool) -> list[float]:
    return [one.high if high and k % GROUP else one.low for k, one in enumerate(operands)]
