"""Closed networks of several classes as fractions: only where nobody waits or nothing moves."""

from __future__ import annotations

from math import isnan

from qps.engine.exactness import Exact, InexactError, NoValueError, as_float
from qps.engine.networks import class_numbers


def class_rate(*operands: Exact) -> Exact:
    """Return the rate of a class where that is infinite."""
    return _known(class_numbers.class_rate(*map(as_float, operands)))


def class_wait(*operands: Exact) -> Exact:
    """Return the wait of a class where that is infinite."""
    return _known(class_numbers.class_wait(*map(as_float, operands)))


def class_open_wait(*operands: Exact) -> Exact:
    """Return the wait of open visits where that is infinite."""
    return _known(class_numbers.class_open_wait(*map(as_float, operands)))


def _known(value: float) -> Exact:
    if isnan(value):
        raise NoValueError
    if value == float("inf"):
        return value
    raise InexactError
