"""Quantiles of the time in a finite room, M/M/c/K: a mixture of Erlang's laws, and a service.

Who finds j of m places taken waits for j + 1 services of all servers, so that with r = a/c

    P(W > t) ~ sum of r^j P(X <= j),  X of Poisson's law with mean x = c t,

which is the mean of (r^X - r^m)/(1 - r) over X < m. With an exponential service S behind it that of
g (h^min(Y, m) - 1)/(h - 1) comes besides, with g = c/(c - 1), h = r g and Y of mean (c - 1) t. Sums
are of positive terms around the largest of them, which is taken as a logarithm: all digits are
there near r = 1 and h = 1 too, and far out. Times are counted in services.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, exp, expm1, floor, inf, lgamma, log, log1p, nan

from qps.engine.numerics.falling_roots import falling_root
from qps.engine.queueing.finite_room_numbers import room_wait
from qps.engine.queueing.queue_numbers import inverse_erlang_b

_NOTHING = 1e-17


@lru_cache(maxsize=1 << 14)
def room_quantile(servers: float, room: float, traffic: float, level: float) -> float:
    """Return the time that a share `level` of those who get in takes at most, with the service."""
    if not (servers > 0 and room >= 0 and traffic >= 0 and 0 <= level < 1):
        return nan
    if inf in (room, traffic, servers):
        return nan
    goal = -log1p(-level)
    if level == 0 or room <= max(1.0, servers) or traffic == 0:
        return goal
    later = _later(max(1.0, servers), room, traffic)

    def excess(time: float) -> tuple[float, float]:
        whole, waiting = later(time)
        return whole + goal, expm1(min(0.0, waiting - whole)) if whole > -inf else 0.0

    high = max(goal, room_wait(servers, room, traffic) + 1)
    while excess(high)[0] > 0:
        high *= 2
    return falling_root(excess, 0.0, high, high / 2)


def _later(c: float, room: float, traffic: float) -> Callable[[float], tuple[float, float]]:
    """Return the logarithms of P(T > t) and P(W > t) by the time t."""
    r = traffic / c
    if c == 1:  # a service is one more of those that are waited for
        whole = log(_sum(min(r, 1 / r), room)) - (log(r) if r > 1 else 0.0)

        def alone(time: float) -> tuple[float, float]:
            return _waiting(time, room, r) - whole, _waiting(time, room - 1, r) + min(
                0.0, log(r)
            ) - whole

        return alone
    m = room - c
    scale = m * log(r) if r > 1 else 0.0
    idle = inverse_erlang_b(c, traffic) - 1
    those = _sum(r, m) if r <= 1 else _sum(1 / r, m) / r
    all_in = log(those + idle * exp(-scale))

    def several(time: float) -> tuple[float, float]:
        waiting = _waiting(c * time, m, r)
        parts = [log(idle) - time - scale, waiting, *_served(time, c, m, r, scale)]
        top = max(parts)
        return top + log(sum(exp(part - top) for part in parts)) - all_in, waiting - all_in

    return several


def _waiting(x: float, m: float, r: float) -> float:
    """Return the logarithm of the sum of r^j P(X <= j), over r^m where r is above 1."""
    last = ceil(m) - 1
    if r <= 1:
        return (r - 1) * x + _mean(r * x, 0, last, lambda i: _sum(r, m - i))
    return _mean(x, 0, last, lambda i: _sum(1 / r, m - i)) - log(r)


def _served(time: float, c: float, m: float, r: float, scale: float) -> tuple[float, float]:
    """Return the logarithms of both parts of what is served beyond t and has waited less."""
    g, y, end = c / (c - 1), (c - 1) * time, ceil(m)
    h = r * g
    before = log(g) - scale
    if h <= 1:
        few = _mean(y, 1, end - 1, lambda i: _sum(h, i)) - time
        return before + few, before - time + log(_sum(h, m)) + _mean(y, end, inf, _one)
    few = (r - 1) * c * time + _mean(h * y, 1, end - 1, lambda i: _sum(1 / h, i)) - log(h)
    many = m * log(h) + log(_sum(1 / h, m)) - log(h) - time + _mean(y, end, inf, _one)
    return before + few, before + many


def _one(_: int) -> float:
    return 1.0


def _sum(z: float, n: float) -> float:
    """Return the sum of z^j over j = 0..n - 1, (1 - z^n)/(1 - z), for z up to 1."""
    return n if z == 1 else expm1(n * log(z)) / (z - 1)


def _mean(mean: float, low: int, high: float, weight: Callable[[int], float]) -> float:
    """Return the logarithm of the mean of a weight over Poisson's law, between two numbers."""
    if high < low or mean <= 0:
        return -inf if high < low or low > 0 else log(weight(0))
    peak = max(low, int(min(high, floor(mean))))
    total, part, at = weight(peak), 1.0, peak
    while at < high:
        at += 1
        part *= mean / at
        more = part * weight(at)
        total += more
        if more <= total * _NOTHING:
            break
    part, at = 1.0, peak
    while at > low:
        part *= at / mean
        at -= 1
        more = part * weight(at)
        total += more
        if more <= total * _NOTHING:
            break
    return peak * log(mean) - mean - lgamma(peak + 1) + log(total)
