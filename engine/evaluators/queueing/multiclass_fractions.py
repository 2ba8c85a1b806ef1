"""Closed networks of several classes as fractions: only where nobody waits or nothing moves."""

from __future__ import annotations

from qps.engine.exact_algebra.exact_values import Exact, as_float, exact_of_float
from qps.engine.queueing_networks import (
    multiclass_cycle_times,
    multiclass_load_dependent_numbers,
    multiclass_mva,
)


def class_rate(*operands: Exact) -> Exact:
    """Return the rate of a class where that is infinite."""
    return exact_of_float(multiclass_mva.class_rate(*map(as_float, operands)))


def class_wait(*operands: Exact) -> Exact:
    """Return the wait of a class where that is infinite."""
    return exact_of_float(multiclass_mva.class_wait(*map(as_float, operands)))


def class_open_wait(*operands: Exact) -> Exact:
    """Return the wait of open visits where that is infinite."""
    return exact_of_float(multiclass_mva.class_open_wait(*map(as_float, operands)))


def shared_rate(*operands: Exact) -> Exact:
    """Return the rate of a class that shares pools where that is infinite."""
    return exact_of_float(multiclass_load_dependent_numbers.shared_rate(*map(as_float, operands)))


def shared_time(*operands: Exact) -> Exact:
    """Return the time at a place of such a class where that is infinite."""
    return exact_of_float(multiclass_load_dependent_numbers.shared_time(*map(as_float, operands)))


def shared_wait(*operands: Exact) -> Exact:
    """Return the wait of open visits beside such classes where that is infinite."""
    return exact_of_float(multiclass_load_dependent_numbers.shared_wait(*map(as_float, operands)))


def class_quantile(*operands: Exact) -> Exact:
    """Return the quantile of a cycle of a class where that is infinite."""
    return exact_of_float(multiclass_cycle_times.class_quantile(*map(as_float, operands)))
