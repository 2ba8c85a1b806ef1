"""Closed queueing networks as fractions: of few customers, and few servers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

from qps.engine.exact_algebra.exact_values import Exact, InexactError, NoValueError, exact_of_float
from qps.engine.queueing_networks import cycle_time_quantiles, product_form
from qps.engine.queueing_networks.closed_operands import Station, between, never_ends, stations_of

_MOST = 64
MOST_BITS = 1 << 14
_ZERO = Fraction(0)


def closed_rate(customers: Exact, think: Exact, *stations: Exact) -> Exact:
    """Return how many cycles all customers together end in a time, of up to 64 customers."""
    found: Exact = between(_rate, *_read(customers, think, stations))
    return found


def closed_cycle(customers: Exact, think: Exact, *stations: Exact) -> Exact:
    """Return how long a customer takes to come round, of up to 64 customers."""
    whole, pause, read = _read(customers, think, stations)
    found: Exact = between(_cycle, max(whole, Fraction(1)), pause, read)
    return found


def closed_wait(customers: Exact, think: Exact, *stations: Exact) -> Exact:
    """Return how long a cycle waits at the first station, of up to 65 customers."""
    whole, pause, read = _read(customers, think, stations)
    if read[0][0] == 0:
        return _ZERO
    wait: Exact = between(_wait, max(whole - 1, _ZERO), pause, read)
    demand, longer = stations[0], read[0][0]
    return wait if isinstance(wait, float) else longer * wait + (longer - demand)


def mixed_wait(customers: Exact, think: Exact, *stations: Exact) -> Exact:
    """Return the mean wait of an open visit at the first station, of up to 64 customers."""
    found: Exact = between(_wait, *_read(customers, think, stations))
    return found


def mixed_room(limit: Exact, customers: Exact, think: Exact, *stations: Exact) -> Exact:
    """Return how much more open load the first station takes: nothing, else no fraction."""
    found = product_form.mixed_room(*map(float, (limit, customers, think, *stations)))
    return exact_of_float(found) if found else _ZERO


def closed_quantile(level: Exact, *operands: Exact) -> Exact:
    """Return a quantile of a cycle: nothing or infinite, else no fraction."""
    found = cycle_time_quantiles.closed_quantile(*map(float, (level, *operands)))
    return exact_of_float(found) if found else _ZERO


def _read(
    customers: Exact, think: Exact, operands: Sequence[Exact]
) -> tuple[Fraction, Fraction, tuple[Station, ...]]:
    finite = [value for value in (customers, think, *operands) if isinstance(value, Fraction)]
    if len(finite) < 2 + len(operands) or min(finite) < 0:
        raise NoValueError
    whole, pause, *numbers = finite
    if 0 in numbers[3::4] or any(servers < 1 for servers in numbers[1::4]):
        raise NoValueError
    return whole, pause, stations_of(numbers)


def _is_too_much(customers: int, think: Fraction, stations: Sequence[Station]) -> bool:
    """Return whether fractions would be too long: their digits grow with the customers."""
    bits = sum(
        value.numerator.bit_length() + value.denominator.bit_length()
        for value in (think, *(number for station in stations for number in map(Fraction, station)))
    )
    counts = (max(servers, copies) for _, servers, _, copies in stations)
    return max(customers, *counts, 0) > _MOST or customers * bits > MOST_BITS


def _rate(customers: int, think: Fraction, stations: tuple[Station, ...]) -> Exact:
    if customers == 0 or any(map(never_ends, stations)):
        return _ZERO
    if think == 0 and all(demand == 0 for demand, *_ in stations):
        return inf
    visited = [station for station in stations if station[0] > 0]
    if _is_too_much(customers, think, visited):
        raise InexactError
    from qps.engine.evaluators.queueing import closed_sums  # noqa: PLC0415 - needs flint

    return closed_sums.rate_of(customers, think, visited)


def _cycle(customers: int, think: Fraction, stations: tuple[Station, ...]) -> Exact:
    rate = _rate(customers, think, stations)
    return inf if rate == 0 else customers / rate if isinstance(rate, Fraction) else _ZERO


def _wait(customers: int, think: Fraction, stations: tuple[Station, ...]) -> Exact:
    own, *others = stations
    if own[2] >= own[1]:
        return inf
    if any(map(never_ends, others)):
        customers = 0  # all are there
    visited = [own, *(station for station in others if station[0] > 0 and customers)]
    if _is_too_much(customers, think, visited):
        raise InexactError
    from qps.engine.evaluators.queueing import closed_sums  # noqa: PLC0415 - needs flint

    return closed_sums.wait_of(customers, think, visited)
