"""Queues with a finite room on arrays, as `finite_room_numbers` has them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qps.engine.numerics.array_blocks import Array, in_blocks
from qps.engine.queueing import finite_room_numbers, finite_room_quantiles
from qps.engine.queueing.erlang_arrays import erlang_c, inverse_erlang_b

_TERMS = 22
_SATURATION_DISTANCE = 0.15
_TRAFFIC = np.frompyfunc(finite_room_numbers.room_traffic, 3, 1)
_QUANTILE = np.frompyfunc(finite_room_quantiles.room_quantile, 4, 1)


def room_loss(servers: ArrayLike, room: ArrayLike, traffic: ArrayLike) -> Array:
    """Return the share of arrivals that finds the room full and is lost."""
    return in_blocks(_loss, servers, room, traffic)


def room_wait(servers: ArrayLike, room: ArrayLike, traffic: ArrayLike) -> Array:
    """Return how long those wait on average who get in."""
    return in_blocks(_wait, servers, room, traffic)


def room_traffic(servers: ArrayLike, room: ArrayLike, wait: ArrayLike) -> Array:
    """Return the traffic at which those who get in wait so long on average."""
    return in_blocks(lambda *some: _TRAFFIC(*some).astype(float), servers, room, wait)


def room_quantile(
    servers: ArrayLike, room: ArrayLike, traffic: ArrayLike, level: ArrayLike
) -> Array:
    """Return the time that a share of those who get in takes at most."""
    return in_blocks(lambda *some: _QUANTILE(*some).astype(float), servers, room, traffic, level)


def _loss(servers: Array, room: Array, traffic: Array) -> Array:
    c = np.minimum(servers, room)
    m = room - c
    inverse = inverse_erlang_b(c, traffic)
    below = _over(traffic, c) ** m / (inverse + _over(traffic, c) * _powers(m, (traffic - c) / c))
    beyond = 1 / (_powers(m, (c - traffic) / traffic) + _over(c, traffic) ** m * inverse)
    found = np.where(traffic <= c, below, beyond)
    found = np.where((m == 0) | np.isposinf(inverse), 1 / inverse, found)
    endless = np.where(np.isposinf(servers) | (traffic <= c), 0.0, 1 - c / traffic)
    full = np.where(np.isposinf(servers), np.nan, 1.0)
    endless = np.where(np.isposinf(traffic), full, endless)
    found = np.where(np.isposinf(room), endless, np.where(np.isposinf(traffic), 1.0, found))
    return np.where(_is_there(servers, room, traffic), found, np.nan)


def _wait(servers: Array, room: Array, traffic: Array) -> Array:
    c = np.minimum(servers, room)
    m = np.where(room > c, room - c, 0.0)
    inverse = inverse_erlang_b(c, traffic)
    x, y = (c - traffic) / traffic, (traffic - c) / c
    q, r = _over(c, traffic), _over(traffic, c)
    power, sums = r**m, _powers(m, y)
    near, far = power * _stairs(m, x) * (c / traffic), (sums - m * power) / -y
    above = np.where((m + 1) * -y < 1, near, far)
    below = above / c / (inverse + r * sums - power)
    beyond = q * _stairs(m, x) / c / (_powers(m, x) - 1 + q**m * inverse)
    found = np.where(traffic <= c, below, beyond)
    found = np.where(np.isposinf(inverse), 0.0, found)
    endless = np.where(traffic < c, erlang_c(c, traffic) / (c - traffic), np.inf)
    found = np.where(np.isposinf(room), endless, found)
    found = np.where(np.isposinf(traffic), m / c, found)
    found = np.where((m == 0) | (traffic == 0), 0.0, found)
    return np.where(_is_there(servers, room, traffic), found, np.nan)


def _is_there(servers: Array, room: Array, traffic: Array) -> NDArray[np.bool_]:
    return (servers > 0) & (room >= 0) & (traffic >= 0)


def _over(above: Array, below: Array) -> Array:
    """Return a quotient of at most 1: that of the other side is not looked at."""
    return np.minimum(1.0, above / below)


def _powers(terms: Array, apart: Array) -> Array:
    """Return the sum of (1 + x)^j over j = 0..m - 1, for x up to 0."""
    x = np.minimum(0.0, apart)
    return np.where(x == 0, terms, np.expm1(terms * np.log1p(x)) / x)


def _stairs(terms: Array, x: Array) -> Array:
    """Return the sum of (m - j) (1 + x)^j over j = 0..m - 1."""
    total, term = np.zeros(terms.shape), terms * (terms + 1) / 2
    for n in range(2, _TERMS):
        total += term
        term = term * ((terms + 1 - n) / (n + 1) * x)
    far = (np.expm1((terms + 1) * np.log1p(x)) - (terms + 1) * x) / (x * x)
    return np.where((np.abs(x) * (terms + 1) < 1) & (np.abs(x) <= _SATURATION_DISTANCE), total, far)
