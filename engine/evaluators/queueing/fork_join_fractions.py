"""Closed networks with calls made together as fractions: known where they have no end."""

from __future__ import annotations

from qps.engine.exact_algebra.exact_values import Exact, as_float, exact_of_float
from qps.engine.queueing_networks import fork_join_mva


def forked_rate(*operands: Exact) -> Exact:
    """Return the rate of a network where that is infinite."""
    return exact_of_float(fork_join_mva.forked_rate(*map(as_float, operands)))


def forked_time(*operands: Exact) -> Exact:
    """Return the time at a place where that is infinite."""
    return exact_of_float(fork_join_mva.forked_time(*map(as_float, operands)))


def forked_wait(*operands: Exact) -> Exact:
    """Return the wait of open visits where that is infinite."""
    return exact_of_float(fork_join_mva.forked_wait(*map(as_float, operands)))
