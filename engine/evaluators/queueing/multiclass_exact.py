"""Closed networks of several classes as balls: as floats have them, with what they can be off."""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import inf, isnan

from flint import arb

from qps.engine.evaluators.ball_arithmetic import INFINITE, UNKNOWN, is_unknown, refuse
from qps.engine.evaluators.multiclass_bounds import FLOAT_ERROR, MOST_SENSITIVE, most_moved
from qps.engine.queueing_networks import (
    multiclass_cycle_times,
    multiclass_load_dependent_numbers,
    multiclass_mva,
)
from qps.engine.queueing_networks.multiclass_load_dependent_operands import group_size

_ROUGHLY = 1e-3
"""Of operands that are known no better, a value is not known."""


def class_rate(*operands: arb) -> arb:
    """Return how many cycles all customers of one class end in a time."""
    return _by_floats(multiclass_mva.class_rate, operands)


def class_wait(*operands: arb) -> arb:
    """Return how long a cycle of one class waits at the first station, without service."""
    return _by_floats(multiclass_mva.class_wait, operands)


def class_open_wait(*operands: arb) -> arb:
    """Return the mean wait of an open visit at the first station, in mean service times."""
    return _by_floats(multiclass_mva.class_open_wait, operands)


def shared_rate(*operands: arb) -> arb:
    """Return how many cycles all customers of a class end in a time that shares pools."""
    return _of_shared(multiclass_load_dependent_numbers.shared_rate, operands)


def shared_time(*operands: arb) -> arb:
    """Return how long a cycle of such a class is at a place, or waits for a pool."""
    return _of_shared(multiclass_load_dependent_numbers.shared_time, operands)


def shared_wait(*operands: arb) -> arb:
    """Return the mean wait of an open visit at a station beside such classes."""
    return _of_shared(multiclass_load_dependent_numbers.shared_wait, operands)


def _of_shared(number: Callable[..., float], operands: tuple[arb, ...]) -> arb:
    size = group_size(_classes(operands))
    first = len(operands) % size + 2
    return by_floats(number, operands, range(first, len(operands), size))


def class_quantile(*operands: arb) -> arb:
    """Return what a share of the cycles of one class does not exceed at all stations."""
    classes = _classes(operands)
    first, size = 3 + 2 * classes, classes + 3 + multiclass_cycle_times.EXTRA_OPERANDS
    return by_floats(
        multiclass_cycle_times.class_quantile, operands, range(first + 1, len(operands), size)
    )


def _by_floats(number: Callable[..., float], operands: tuple[arb, ...]) -> arb:
    classes = _classes(operands)
    size = classes + 3
    first = (len(operands) - 2 * classes) % size + 2 * classes
    return by_floats(number, operands, range(first + 1, len(operands), size))


def _classes(operands: tuple[arb, ...]) -> int:
    """Return how many classes there are."""
    return max(int(float(operands[0].mid())), 0) if operands[0].is_finite() else 0


def by_floats(
    number: Callable[..., float], operands: tuple[arb, ...], loads: Collection[int]
) -> arb:
    """Return a value as floats have it; unknown where operands are.

    At the places `loads` are open loads, each behind the servers that it takes a part of.
    """
    if is_unknown(*operands):
        return UNKNOWN
    middles = [float(one.mid()) if one.is_finite() else float(one) for one in operands]
    off = [float(one.rad()) if one.is_finite() else 0.0 for one in operands]
    if any(radius > _ROUGHLY * abs(middle) for radius, middle in zip(off, middles, strict=True)):
        return UNKNOWN
    found = number(*middles)
    refuse(isnan(found))
    error = max(FLOAT_ERROR, MOST_SENSITIVE * most_moved(middles, off, loads))
    return INFINITE if found == inf else arb(found, error * found)
