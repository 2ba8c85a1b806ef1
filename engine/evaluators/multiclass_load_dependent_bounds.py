"""Bounds of closed networks of classes that share pools, from those of their operands.

More of one class may be good or bad for another, and a pool for both. So a box that is no point is
bounded by what a class would have if it never met anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from qps.engine.evaluators.multiclass_bounds import about_point, at_point, is_point, widened
from qps.engine.numerics.sloped_intervals import NOTHING_KNOWN, SlopedInterval
from qps.engine.queueing_networks import multiclass_load_dependent_numbers
from qps.engine.queueing_networks.load_dependent_operands import SPEED, STATION
from qps.engine.queueing_networks.multiclass_load_dependent_operands import (
    BEFORE,
    LIMIT,
    group_size,
    shared_of,
)


def shared_rate(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which rates that of a class lies."""
    if is_point(operands):
        return at_point(multiclass_load_dependent_numbers.shared_rate, operands)
    if not _is_one_form(operands, 2):
        return NOTHING_KNOWN
    classes, of = int(operands[0].low), operands[1].low
    if not (1 <= of <= classes and of == int(of)):
        return NOTHING_KNOWN
    if found := _about_point(multiclass_load_dependent_numbers.shared_rate, operands, 2):
        return found
    k, rest = int(of) - 1, operands[2:]
    groups = range(2 * classes, len(rest), group_size(classes))
    places = [at for at in groups if rest[at].low != LIMIT]
    shortest = rest[classes + k].low + sum(rest[at + BEFORE + k].low for at in places)
    most = rest[k].high / shortest if shortest else inf
    for at in groups[len(places) :]:
        work = rest[at + BEFORE + classes + k].low
        most = min(most, rest[at + 1].high / work) if work else most
    for at in places:
        kind, servers, load, copies = rest[at : at + BEFORE]
        demand = rest[at + BEFORE + k].low
        if demand and kind.low == STATION and _has_one_speed(rest, at + group_size(classes)):
            free = max(servers.high - load.low, 0.0)
            most = min(most, max(copies.high, 1.0) * free / demand)
    return widened(0.0, most)


def shared_time(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which times that of a class at a place lies."""
    if is_point(operands):
        return at_point(multiclass_load_dependent_numbers.shared_time, operands)
    if not _is_one_form(operands, 3):
        return NOTHING_KNOWN
    known = _about_point(multiclass_load_dependent_numbers.shared_time, operands, 3)
    return (known and _as_part_of_cycle(known, operands)) or widened(0.0, inf)


def _as_part_of_cycle(
    known: SlopedInterval, operands: tuple[SlopedInterval, ...]
) -> SlopedInterval | None:
    """Return bounds of a time where operands hardly move: it is off by parts of a whole cycle.

    What is waited at a full resource without a queue is what a cycle lasts longer than anyway.
    """
    classes, which = int(operands[0].low), operands[2].low
    if not _is_limit(operands[3 + 2 * classes :], classes, which):
        return known
    rate = _about_point(
        multiclass_load_dependent_numbers.shared_rate, (*operands[:2], *operands[3:]), 2
    )
    if rate is None or not rate.low > 0:
        return None
    off = (rate.high / rate.low - 1) / 2 * operands[2 + int(operands[1].low)].high / rate.low
    return SlopedInterval(max(0.0, known.low - off), known.high + off, -inf, inf)


def _is_limit(groups: tuple[SlopedInterval, ...], classes: int, which: float) -> bool:
    kinds = groups[:: group_size(classes)]
    return 0 <= which < len(kinds) and kinds[int(which)].low == LIMIT


def shared_wait(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which numbers of service times the wait of open visits lies."""
    if is_point(operands):
        return at_point(multiclass_load_dependent_numbers.shared_wait, operands)
    if not _is_one_form(operands, 2):
        return NOTHING_KNOWN
    known = _about_point(multiclass_load_dependent_numbers.shared_wait, operands, 2)
    return known or widened(0.0, inf)


def _about_point(
    number: Callable[..., float], operands: tuple[SlopedInterval, ...], before: int
) -> SlopedInterval | None:
    """Return bounds where nothing moves much of what stands behind so many operands."""
    classes = int(operands[0].low)
    loads = range(before + 2 * classes + 2, len(operands), group_size(classes))
    return about_point(number, operands, before + classes, loads)


def _has_one_speed(operands: tuple[SlopedInterval, ...], behind: int) -> bool:
    return behind >= len(operands) or operands[behind].low != SPEED


def _is_one_form(operands: tuple[SlopedInterval, ...], before: int) -> bool:
    """Return whether there is a network, the same all over the box but for its numbers."""
    if not is_point(operands[:before]) or operands[0].low != int(operands[0].low):
        return False
    classes, rest = int(operands[0].low), operands[before:]
    if classes < 1 or not is_point(rest[2 * classes :: group_size(classes)]):
        return False
    return all(
        shared_of(classes, [one.high if is_high else one.low for one in rest]) is not None
        for is_high in (False, True)
    )
