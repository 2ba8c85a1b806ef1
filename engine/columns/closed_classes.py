"""Closed networks of several classes as balls: as floats have them, with what they can be off."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan

from flint import arb

from qps.engine import class_numbers
from qps.engine.columns.queue_balls import INFINITE, UNKNOWN, is_unknown, refuse

_KNOWN = 1e-14
"""Operands that are known so well are the float next to them."""
_ERROR = 1e-9
"""What a value can be off, as a part of it, by that and by what floats round off."""


def class_rate(*operands: arb) -> arb:
    """Return how many cycles all customers of one class end in a time."""
    return by_floats(class_numbers.class_rate, operands)


def class_wait(*operands: arb) -> arb:
    """Return how long a cycle of one class waits at the first station, without service."""
    return by_floats(class_numbers.class_wait, operands)


def class_open_wait(*operands: arb) -> arb:
    """Return the mean wait of an open visit at the first station, in mean service times."""
    return by_floats(class_numbers.class_open_wait, operands)


def by_floats(number: Callable[..., float], operands: tuple[arb, ...]) -> arb:
    """Return a value as floats have it; unknown where operands are."""
    if is_unknown(*operands):
        return UNKNOWN
    if any(
        float(one.rad()) > _KNOWN * abs(float(one.mid())) for one in operands if one.is_finite()
    ):
        return UNKNOWN
    found = number(*(float(one.mid()) if one.is_finite() else float(one) for one in operands))
    refuse(isnan(found))
    return INFINITE if found == inf else arb(found, _ERROR * found)
