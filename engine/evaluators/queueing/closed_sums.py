"""Sums of closed networks in fractions, worked out in those of flint."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from qps.engine.exact_algebra.flint_fractions import flint_of, fraction_of
from qps.engine.queueing_networks import convolution
from qps.engine.queueing_networks.closed_operands import Station


def rate_of(customers: int, think: Fraction, stations: Sequence[Station]) -> Fraction:
    """Return how many cycles one customer or more end in a time."""
    return fraction_of(convolution.rate_of(customers, flint_of(think), _of_flint(stations)))


def wait_of(customers: int, think: Fraction, stations: Sequence[Station]) -> Fraction:
    """Return the mean wait of an open visit at the first station, in mean service times."""
    return fraction_of(convolution.waits_of(customers, flint_of(think), _of_flint(stations))[0])


def _of_flint(stations: Sequence[Station]) -> list[Station]:
    return [
        (flint_of(demand), servers, flint_of(load), flint_of(Fraction(copies)))
        for demand, servers, load, copies in stations
    ]
