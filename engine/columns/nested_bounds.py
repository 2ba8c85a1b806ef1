"""Bounds of closed networks with speeds and pools, from those of their operands.

Where no speed may be above the last one of its station, a rate grows as `nested_networks` tells.
Else more customers may be bad: then no more come than a station or the delay lets through.
"""

from __future__ import annotations

from math import inf, isnan

from qps.engine.columns.class_bounds import at_point, is_point, widened
from qps.engine.intervals import NOTHING_KNOWN, Interval, span
from qps.engine.networks import nested_numbers
from qps.engine.networks.nested_networks import GROUP, GROWING, Station, every, places_of
from qps.engine.repeating import repeated


def nested_rate(*operands: Interval) -> Interval:
    """Return between which rates that of a network lies."""
    if is_point(operands):
        return at_point(nested_numbers.nested_rate, operands)
    told = operands[2:]
    if not _is_one_form(told):
        return NOTHING_KNOWN
    if _is_rising(told):
        return _of_rising(operands)
    customers, think = operands[:2]
    if not (customers.low >= 0 and think.low >= 0 and all(one.low >= 0 for one in told[1::GROUP])):
        return NOTHING_KNOWN
    return widened(0.0, customers.high / think.low if think.low else inf)


def _of_rising(operands: tuple[Interval, ...]) -> Interval:
    """Return the bounds of a rate that rises or falls with each operand, and those of its slope."""
    pairs = list(zip(repeated(GROWING, GROUP, len(operands)), operands, strict=True))
    least = nested_numbers.nested_rate(*(p.high if g < 0 else p.low for g, p in pairs))
    most = nested_numbers.nested_rate(*(p.low if g < 0 else p.high for g, p in pairs))
    if isnan(least) or isnan(most):
        return NOTHING_KNOWN
    slow = steep = 0.0
    for g, p in pairs:
        if not p.is_fixed:
            part = span(p.slow, p.steep, *((0.0, inf) if g > 0 else (-inf, 0.0)))
            slow, steep = slow + part[0], steep + part[1]
    found = widened(least, most)
    return Interval(found.low, found.high, slow, steep)


def nested_time(*operands: Interval) -> Interval:
    """Return between which times that at a place lies."""
    if is_point(operands):
        return at_point(nested_numbers.nested_time, operands)
    return widened(0.0, inf) if _is_one_form(operands[3:]) else NOTHING_KNOWN


def nested_wait(*operands: Interval) -> Interval:
    """Return between which numbers of service times the wait of open visits lies."""
    if is_point(operands):
        return at_point(nested_numbers.nested_wait, operands)
    return widened(0.0, inf) if _is_one_form(operands[3:]) else NOTHING_KNOWN


def _is_one_form(told: tuple[Interval, ...]) -> bool:
    """Return whether there is a network, the same all over the box but for its numbers."""
    kinds = told[::GROUP]
    if len(told) % GROUP or not is_point(kinds):
        return False
    return all(0 <= one.low <= one.high < inf for k, one in enumerate(told) if k % GROUP) and all(
        places_of(_ends(told, high=high)) is not None for high in (False, True)
    )


def _ends(told: tuple[Interval, ...], *, high: bool) -> list[float]:
    return [one.high if high and k % GROUP else one.low for k, one in enumerate(told)]


def _is_rising(told: tuple[Interval, ...]) -> bool:
    """Return whether no speed in the box is above the last one of its station."""
    least, most = (places_of(_ends(told, high=high)) for high in (False, True))
    assert least is not None
    assert most is not None
    return all(
        max(other.speeds[:-1], default=0.0) <= one.speeds[-1]
        for one, other in zip(every(least), every(most), strict=True)
        if isinstance(one, Station) and isinstance(other, Station) and one.speeds
    )
