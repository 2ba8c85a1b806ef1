"""Queues with a finite room as balls: `finite_room_numbers` explains what they are."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, ctx

from qps.engine.evaluators.ball_arithmetic import (
    INFINITE,
    UNKNOWN,
    at_ends,
    by_floats,
    is_infinite,
    is_unknown,
    refuse,
)
from qps.engine.evaluators.queueing.erlang_balls import erlang_c
from qps.engine.queueing import finite_room_numbers, finite_room_quantiles
from qps.engine.queueing.erlang_numbers import inverse_erlang_ball

_SPARE = 64
_MOST_DIGITS = 4000


def room_loss(servers: arb, room: arb, traffic: arb) -> arb:
    """Return the share of arrivals that finds the room full and is lost."""
    return _by_ends(_loss, (0, 1), servers, room, traffic)


def room_wait(servers: arb, room: arb, traffic: arb) -> arb:
    """Return how long those wait on average who get in."""
    return _by_ends(_wait, (0,), servers, room, traffic)


def room_traffic(servers: arb, room: arb, wait: arb) -> arb:
    """Return the traffic at which those who get in wait so long on average."""
    operands = (servers, room, wait)
    refuse(bool(servers <= 0) or bool(room < 0) or bool(wait < 0))
    if is_unknown(*operands) or any(map(is_infinite, operands)):
        return UNKNOWN
    if not (servers > 0 and room >= 0 and wait >= 0):
        return UNKNOWN
    if bool(room <= servers) or bool(wait == 0):
        return arb(0)  # a range around it would hold traffic below none
    return by_floats(finite_room_numbers.room_traffic, (1, -1, 1), *operands)


def room_quantile(servers: arb, room: arb, traffic: arb, level: arb) -> arb:
    """Return the time that a share of those who get in takes at most."""
    operands = (servers, room, traffic, level)
    refuse(bool(servers <= 0) or any(bool(one < 0) for one in operands) or bool(level >= 1))
    if is_unknown(*operands) or any(map(is_infinite, operands)):
        return UNKNOWN
    if not (servers > 0 and room >= 0 and traffic >= 0 and level >= 0 and level < 1):
        return UNKNOWN
    return by_floats(finite_room_quantiles.room_quantile, (-1, 1, 1, 1), *operands)


def _by_ends(
    value: Callable[..., arb], falls: tuple[int, ...], servers: arb, room: arb, traffic: arb
) -> arb:
    """Return the values of what rises with each of its operands, or falls with some."""
    refuse(bool(servers <= 0) or bool(room < 0) or bool(traffic < 0))
    if is_unknown(servers, room, traffic) or not (servers > 0 and room >= 0 and traffic >= 0):
        return UNKNOWN
    if all(one.is_exact() for one in (servers, room, traffic)):
        return value(servers, room, traffic)
    return at_ends(value, servers, room, traffic, falls=falls)


def _loss(servers: arb, room: arb, traffic: arb) -> arb:
    c = min(servers, room)
    if room == INFINITE:
        if traffic == INFINITE:
            refuse(servers == INFINITE)
            return arb(1)
        return arb(0) if traffic <= c else 1 - c / traffic
    if traffic == INFINITE or room.is_zero():
        return arb(1)
    if traffic.is_zero():
        return arb(0)
    return 1 / _weights(c, room - c, traffic)


def _wait(servers: arb, room: arb, traffic: arb) -> arb:
    if servers >= room or traffic.is_zero():
        return arb(0)
    m = room - servers
    if traffic == INFINITE:
        return m / servers
    if room == INFINITE:
        if traffic >= servers:
            return INFINITE
        return erlang_c(servers, traffic) / (servers - traffic)
    x = (servers - traffic) / traffic
    waiting = _stairs(m, x) / traffic
    return waiting / (_weights(servers, m, traffic) - 1)


def _weights(c: arb, m: arb, traffic: arb) -> arb:
    """Return q^m/B + the sum of q^j over j = 0..m - 1: all over how often the room is full."""
    with ctx.extraprec(_SPARE):
        x = (c - traffic) / traffic
        power = m * x.log1p()
        sums = m if x.is_zero() else power.expm1() / x
        return sums + power.exp() * inverse_erlang_ball(c, traffic)


def _stairs(m: arb, x: arb) -> arb:
    """Return the sum of (m - j) (1 + x)^j over j = 0..m - 1."""
    if x.is_zero():
        return m * (m + 1) / 2
    small = float((abs(x) * (m + 1)).log().mid())
    lost = _SPARE + 3 * int(max(0.0, -small))
    with ctx.extraprec(min(_MOST_DIGITS, lost)):
        return ((m + 1) * x.log1p()).expm1() / x**2 - (m + 1) / x
