"""Queues with a finite room as balls: `room_numbers` tells what they are."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, ctx

from qps.engine.exactness import NoValueError
from qps.engine.queues.gamma_numbers import inverse_erlang_ball

_SPARE = 64
_MOST_DIGITS = 4000
_INFINITE, _UNKNOWN = arb.pos_inf(), arb.nan()


def room_loss(servers: arb, room: arb, traffic: arb) -> arb:
    """Return the share of arrivals that finds the room full and is lost."""
    return _by_ends(_loss, (-1, -1, 1), servers, room, traffic)


def room_wait(servers: arb, room: arb, traffic: arb) -> arb:
    """Return how long those wait on average who get in."""
    return _by_ends(_wait, (-1, 1, 1), servers, room, traffic)


def _by_ends(value: Callable[..., arb], grows: tuple[int, ...], *operands: arb) -> arb:
    """Return the values of what rises or falls with each of its operands."""
    servers, room, traffic = operands
    if bool(servers <= 0) or bool(room < 0) or bool(traffic < 0):
        raise NoValueError
    if any(one.is_nan() for one in operands) or not (servers > 0 and room >= 0 and traffic >= 0):
        return _UNKNOWN
    if all(one.is_exact() for one in operands):
        return value(*operands)
    ends = [
        [one.lower(), one.upper()][:: grow or 1] for one, grow in zip(operands, grows, strict=True)
    ]
    found: arb = value(*(low for low, _ in ends)).union(value(*(high for _, high in ends)))
    return found


def _loss(servers: arb, room: arb, traffic: arb) -> arb:
    c = min(servers, room)
    if room == _INFINITE:
        if traffic == _INFINITE:
            if servers == _INFINITE:
                raise NoValueError
            return arb(1)
        return arb(0) if traffic <= c else 1 - c / traffic
    if traffic == _INFINITE or room.is_zero():
        return arb(1)
    if traffic.is_zero():
        return arb(0)
    return 1 / _weights(c, room - c, traffic)


def _wait(servers: arb, room: arb, traffic: arb) -> arb:
    if servers >= room or traffic.is_zero():
        return arb(0)
    m = room - servers
    if traffic == _INFINITE:
        return m / servers
    if room == _INFINITE:
        if traffic >= servers:
            return _INFINITE
        load = traffic / servers
        inverse = inverse_erlang_ball(servers, traffic)
        return 1 / (inverse * (1 - load) + load) / (servers - traffic)
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
