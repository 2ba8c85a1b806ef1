"""Closed queueing networks as balls: proven of some hundred customers, else as floats have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import inf, isnan

from flint import arb, ctx

from qps.engine.evaluators.ball_arithmetic import (
    INFINITE,
    UNKNOWN,
    as_ball,
    by_floats,
    exactly,
    is_infinite,
    is_unknown,
    joined,
    refuse,
)
from qps.engine.operand_groups import repeated
from qps.engine.queueing_networks import convolution, cycle_time_quantiles, product_form
from qps.engine.queueing_networks.closed_operands import (
    GROWING_CYCLE,
    GROWING_QUANTILE,
    GROWING_RATE,
    GROWING_ROOM,
    GROWING_WAIT,
    QUANTILE_ERROR,
    ROOM_ERROR,
    Station,
    Value,
    between,
    stations_of,
)

_MOST_TERMS = 4000
"""Customers times stations, and degrees of polynomials, up to which weights are summed up."""
_MORE_BITS = 64
_NOTHING = 1e-300
"""Floats are rounded outwards to less than that where there is nothing."""


class _TooMuchError(Exception):
    """Raised where sums would take too long, or where what counts whole is not known exactly."""


def closed_rate(customers: arb, think: arb, *stations: arb) -> arb:
    """Return how many cycles all customers together end in a time."""
    found = _summed(_rate, customers, think, stations)
    if found is not None:
        return found
    return _by_floats(product_form.closed_rate, GROWING_RATE, customers, think, *stations)


def closed_cycle(customers: arb, think: arb, *stations: arb) -> arb:
    """Return how long a customer takes to come round."""
    alone = customers if is_unknown(customers) or customers < 0 else customers.max(arb(1))
    found = _summed(_cycle, alone, think, stations)
    if found is not None:
        return found
    return _by_floats(product_form.closed_cycle, GROWING_CYCLE, customers, think, *stations)


def closed_wait(customers: arb, think: arb, *stations: arb) -> arb:
    """Return how long a cycle waits at the first station, without service, at all its copies."""
    found = _summed(partial(_wait_of_closed, stations[0]), customers, think, stations)
    if found is not None:
        return found
    return _by_floats(product_form.closed_wait, GROWING_WAIT, customers, think, *stations)


def mixed_wait(customers: arb, think: arb, *stations: arb) -> arb:
    """Return the mean wait of an open visit at the first station, in mean service times."""
    found = _summed(_wait, customers, think, stations)
    if found is not None:
        return found
    return _by_floats(product_form.mixed_wait, GROWING_WAIT, customers, think, *stations)


def mixed_room(limit: arb, customers: arb, think: arb, *stations: arb) -> arb:
    """Return how much more open load a copy of the first station takes, as floats have it."""
    operands = (limit, customers, think, *stations)
    if is_unknown(*operands):
        return UNKNOWN
    refuse(isnan(product_form.mixed_room(*(float(one.mid()) for one in operands))))
    grows = repeated(GROWING_ROOM, 4, len(operands))
    if by_floats(product_form.mixed_room, grows, *operands) < _NOTHING:
        return arb(0)
    return by_floats(product_form.mixed_room, grows, *operands, error=ROOM_ERROR)


def closed_quantile(level: arb, *operands: arb) -> arb:
    """Return what a share of all cycles does not exceed at all stations, as floats have it."""
    numbers = (level, *operands)
    if is_unknown(*numbers):
        return UNKNOWN
    there = [float(one.mid()) if one.is_finite() else float(one) for one in numbers]
    value = cycle_time_quantiles.closed_quantile(*there)
    refuse(isnan(value))
    if value == inf:
        return INFINITE
    grows = repeated(GROWING_QUANTILE, cycle_time_quantiles.OPERANDS, len(numbers))
    # How often a station is visited is the float next to what is known.
    corner = (
        arb(near) if not g else one for g, one, near in zip(grows, numbers, there, strict=True)
    )
    return by_floats(cycle_time_quantiles.closed_quantile, grows, *corner, part=QUANTILE_ERROR)


def _by_floats(number: Callable[..., float], grows: tuple[int, ...], *operands: arb) -> arb:
    return by_floats(number, repeated(grows, 4, len(operands)), *operands)


def _summed(value: Value, customers: arb, think: arb, numbers: Sequence[arb]) -> arb | None:
    """Return a value by sums; None where these would take too long."""
    operands = (customers, think, *numbers)
    servers, copies = numbers[1::4], numbers[3::4]
    refuse(any(is_infinite(one) or bool(one < 0) for one in operands))
    refuse(any(bool(c < 1) for c in servers) or any(bool(m <= 0) for m in copies))
    is_there = all(one >= 0 for one in operands) and all(c >= 1 for c in servers)
    if is_unknown(*operands) or not (is_there and all(m > 0 for m in copies)):
        return UNKNOWN
    try:
        with ctx.extraprec(_MORE_BITS):
            read = tuple(map(_counted, stations_of(_with_known_copies(numbers))))
            if customers.is_exact():
                found: arb = between(value, _exactly(customers), think, read, _on_line)
                return found
            ends = (_exactly(end) for end in (customers.lower(), customers.upper()))
            return joined(*(between(value, end, think, read, _on_line) for end in ends))
    except _TooMuchError:
        return None


def _with_known_copies(operands: Sequence[arb]) -> list[arb]:
    """Return operands of stations, of which each has surely less than one copy, or no less.

    Less than one is one copy that is visited for longer: that is so, too, where it is not known.
    """
    found = list(operands)
    for at in range(0, len(found), 4):
        demand, copies = found[at], found[at + 3]
        if not (copies < 1 or copies >= 1):
            found[at], found[at + 3] = demand / copies.min(arb(1)), copies.max(arb(1))
    return found


def _counted(station: Station) -> Station:
    """Return a station with what counts whole as fractions."""
    demand, servers, load, copies = station
    number = _exactly(servers)
    return demand, number, load, _exactly(copies) if number > 1 else copies


def _exactly(value: arb) -> Fraction:
    found = exactly(value)
    if found is None:
        raise _TooMuchError
    return found


def _on_line(low: arb, high: arb, part: Fraction | arb) -> arb:
    if is_infinite(low) or is_infinite(high):
        return INFINITE
    return low + as_ball(part) * (high - low)


def _rate(customers: int, think: arb, stations: tuple[Station, ...]) -> arb:
    if customers == 0:
        return arb(0)
    visited = [station for station in stations if not station[0].is_zero()]
    if any(demand > 0 and load >= servers for demand, servers, load, _ in visited):
        return arb(0)
    if think.is_zero() and not visited:
        return INFINITE
    if not all(load < servers for _, servers, load, _ in visited):
        return UNKNOWN
    _refuse_many(customers, visited)
    found: arb = convolution.rate_of(customers, think, _in_balls(visited))
    return found


def _cycle(customers: int, think: arb, stations: tuple[Station, ...]) -> arb:
    rate = _rate(customers, think, stations)
    if is_unknown(rate):
        return UNKNOWN
    if is_infinite(rate):
        return arb(0)
    return INFINITE if rate.is_zero() else customers / rate


def _wait_of_closed(demand: arb, customers: int, think: arb, stations: tuple[Station, ...]) -> arb:
    if demand.is_zero():
        return arb(0)
    wait = _wait(max(customers - 1, 0), think, stations)
    longer: arb = stations[0][0]
    if not is_infinite(wait):
        return longer * wait + (longer - demand)
    return INFINITE if demand > 0 else UNKNOWN


def _wait(customers: int, think: arb, stations: tuple[Station, ...]) -> arb:
    own, *others = stations
    if own[2] >= own[1]:
        return INFINITE
    visited = [own, *(station for station in others if not station[0].is_zero() and customers)]
    if any(demand > 0 and load >= servers for demand, servers, load, _ in visited):
        visited, customers = [own], 0  # all are there
    if not all(load < servers for _, servers, load, _ in visited):
        return UNKNOWN
    _refuse_many(customers, visited)
    found: arb = convolution.waits_of(customers, think, _in_balls(visited))[0]
    return found


def _in_balls(stations: Sequence[Station]) -> list[Station]:
    return [(d, c, load, m if isinstance(m, int) else as_ball(m)) for d, c, load, m in stations]


def _refuse_many(customers: int, stations: Sequence[Station]) -> None:
    degree = sum(int(c - 1) * int(m) for _, c, _, m in stations if c > 1)
    least = min(degree, customers)
    beside = sum(int(c) for _, c, load, _ in stations if not load.is_zero())
    if (customers + 1) * len(stations) + least * least * len(stations) + beside > _MOST_TERMS:
        raise _TooMuchError
