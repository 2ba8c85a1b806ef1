"""Queues with a finite room: M/M/c/K, in which K counts all who are there, also those served.

With r = a/c of the traffic a, m = K - c and Erlang's B of c servers,

    loss = r^m / (1/B + r + ... + r^m),

and of those who get in, one who finds j of m places taken waits for j + 1 services of all servers,
with a weight of r^j. More servers than room count as many as there is room. Sums of r^j are taken
in closed form, for r near 1 as (e^(m ln r) - 1)/(r - 1); for r above 1 they are sums of 1/r^j:
nothing overflows. Between whole numbers it is the same formula. Times are counted in services.
"""

from __future__ import annotations

from math import expm1, inf, log1p, nan

from qps.engine.numerics.falling_roots import rising_root
from qps.engine.queueing.queue_numbers import erlang_c, inverse_erlang_b

_TERMS = 22
_SATURATION_DISTANCE = 0.15
"""Up to which the series of what is no whole number of terms has all digits by then."""


_NEARLY_ALL = 1 - 1e-12
"""Of what is offered and served at once together, where more could not be told apart."""


def room_loss(servers: float, room: float, traffic: float) -> float:
    """Return the share of arrivals that finds the room full and is lost."""
    if not (servers > 0 and room >= 0 and traffic >= 0):
        return nan
    c = min(servers, room)
    if inf in (room, traffic):
        if room < inf:
            return 1.0
        if inf in (servers, traffic):
            return 0.0 if traffic < inf else 1.0 if servers < inf else nan
        return 0.0 if traffic <= c else 1 - c / traffic
    m = room - c
    inverse = inverse_erlang_b(c, traffic)
    if m == 0 or inverse == inf:
        return 1 / inverse
    if traffic <= c:
        r = traffic / c
        return float(r**m) / (inverse + r * _powers(m, (traffic - c) / c))
    q = c / traffic
    return 1 / (_powers(m, (c - traffic) / traffic) + float(q**m) * inverse)


def room_wait(servers: float, room: float, traffic: float) -> float:
    """Return how long those wait on average who get in."""
    if not (servers > 0 and room >= 0 and traffic >= 0):
        return nan
    c = min(servers, room)
    m = room - c if room > c else 0.0
    if m == 0 or traffic == 0:
        return 0.0
    if traffic == inf:
        return m / c
    if room == inf:
        return erlang_c(c, traffic) / (c - traffic) if traffic < c else inf
    inverse = inverse_erlang_b(c, traffic)
    if inverse == inf:
        return 0.0
    q, x = c / traffic, (c - traffic) / traffic
    if traffic <= c:  # sum of (j + 1) r^j over 1/p_c - p_K/p_c
        r, y = traffic / c, (traffic - c) / c
        power, sums = float(r**m), _powers(m, y)
        near = (m + 1) * -y < 1
        above = power * _stairs(m, x) * q if near else (sums - m * power) / -y
        return above / c / (inverse + r * sums - power)
    others = _powers(m, x) - 1 + float(q**m) * inverse
    return q * _stairs(m, x) / c / others if others > 0 else m / c  # as where all of it is full


def room_traffic(servers: float, room: float, wait: float) -> float:
    """Return the traffic at which those who get in wait so long on average."""
    if not (servers > 0 and room >= 0 and wait >= 0) or inf in (servers, room):
        return nan
    c = min(servers, room)
    if wait == 0 or room <= c:
        return 0.0
    if wait >= (room - c) / c:
        return inf

    def excess(share: float) -> float:
        return room_wait(servers, room, c * share / (1 - share)) - wait

    share = rising_root(excess, 0.0, _NEARLY_ALL)
    return c * share / (1 - share)


def _log1p(x: float) -> float:
    """Return ln(1 + x), also where x is so near to -1 that no float distinguishes it."""
    return log1p(x) if x > -1 else -inf


def _powers(terms: float, apart: float) -> float:
    """Return the sum of (1 + x)^j over j = 0..m - 1."""
    return terms if apart == 0 else expm1(terms * _log1p(apart)) / apart


def _stairs(terms: float, x: float) -> float:
    """Return the sum of (m - j) (1 + x)^j over j = 0..m - 1: that of C(m + 1, n) x^(n - 2)."""
    if abs(x) * (terms + 1) >= 1 or abs(x) > _SATURATION_DISTANCE:
        return (expm1((terms + 1) * _log1p(x)) - (terms + 1) * x) / (x * x)
    total, term = 0.0, terms * (terms + 1) / 2
    for n in range(2, _TERMS):
        total += term
        term *= (terms + 1 - n) / (n + 1) * x
    return total
