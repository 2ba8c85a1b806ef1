"""Closed networks with calls made together as fractions: known where they have no end."""

from __future__ import annotations

from qps.engine.exactness import Exact, as_float, exact_of_float
from qps.engine.networks import forked_numbers


def forked_rate(*operands: Exact) -> Exact:
    """Return the rate of a network where that is infinite."""
    return exact_of_float(forked_numbers.forked_rate(*map(as_float, operands)))


def forked_time(*operands: Exact) -> Exact:
    """Return the time at a place where that is infinite."""
    return exact_of_float(forked_numbers.forked_time(*map(as_float, operands)))


def forked_wait(*operands: Exact) -> Exact:
    """Return the wait of open visits where that is infinite."""
    return exact_of_float(forked_numbers.forked_wait(*map(as_float, operands)))
