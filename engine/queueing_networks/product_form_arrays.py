"""Closed queueing networks on arrays, as `product_form` has them: many rows at once.

Rows of single servers are solved side by side, customer by customer up to some thousand, by an
integral beyond; rates of several servers as networks with pools are; all others one by one. What a
rate and all waits of one network rest on is computed once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qps.engine.numerics.array_blocks import Array, filled, in_blocks, row_by_row
from qps.engine.queueing_networks import cycle_time_quantiles, product_form
from qps.engine.queueing_networks.load_dependent_arrays import cycle_of_stations, rate_of_stations
from qps.engine.queueing_networks.normalizing_integral_arrays import numbers_at_population

_MOST_CUSTOMERS = 2000
"""Up to so many, steps for all rows are quicker than an integral for each."""
_CACHE_SIZE = 128

_cache: OrderedDict[bytes, tuple[list[bytes], Array]] = OrderedDict()


def closed_rate(customers: ArrayLike, think: ArrayLike, *stations: ArrayLike) -> Array:
    """Return how many cycles all customers together end in a time."""
    function = partial(_found, _rate, product_form.closed_rate, of_several=rate_of_stations)
    return in_blocks(function, customers, think, *stations)


def closed_cycle(customers: ArrayLike, think: ArrayLike, *stations: ArrayLike) -> Array:
    """Return how long a customer takes to come round."""
    function = partial(_found, _cycle, product_form.closed_cycle, of_several=cycle_of_stations)
    return in_blocks(function, customers, think, *stations)


def closed_wait(customers: ArrayLike, think: ArrayLike, *stations: ArrayLike) -> Array:
    """Return how long a cycle waits at the first station, without service, at all its copies."""
    function = partial(_found, _wait_of_closed, product_form.closed_wait)
    return in_blocks(function, customers, think, *stations)


def mixed_wait(customers: ArrayLike, think: ArrayLike, *stations: ArrayLike) -> Array:
    """Return the mean wait of an open visit at the first station, in mean service times."""
    function = partial(_found, _wait, product_form.mixed_wait)
    return in_blocks(function, customers, think, *stations)


def mixed_room(
    limit: ArrayLike, customers: ArrayLike, think: ArrayLike, *stations: ArrayLike
) -> Array:
    """Return how much more open load a copy of the first station takes, in erlangs."""
    return in_blocks(row_by_row(product_form.mixed_room), limit, customers, think, *stations)


def closed_quantile(level: ArrayLike, *operands: ArrayLike) -> Array:
    """Return what a share `level` of all cycles does not exceed at all stations together."""
    return in_blocks(row_by_row(cycle_time_quantiles.closed_quantile), level, *operands)


def _found(
    of_many: Callable[..., Array],
    of_one: Callable[..., float],
    *columns: Array,
    of_several: Callable[..., Array] | None = None,
) -> Array:
    customers, think, stations = columns[0], columns[1], columns[2:]
    is_many = (customers >= 0) & (customers < np.inf) & (think >= 0) & (think < np.inf)
    for place in range(0, len(stations), 4):
        demand, servers, load, copies = stations[place : place + 4]
        is_many &= (demand >= 0) & (demand < np.inf) & (servers == 1) & (load >= 0) & (load < 1)
        is_many &= (copies >= 1) & (copies < np.inf)
    found = np.empty(customers.shape)
    filled(is_many, found, partial(_on_lines, of_many), *columns)
    if of_several is not None:
        filled(~is_many, found, of_several, *columns)
        is_many |= ~np.isnan(found)
    filled(~is_many, found, row_by_row(of_one), *columns)
    return found


def _on_lines(function: Callable[..., Array], customers: Array, *others: Array) -> Array:
    """Return values on lines between whole numbers of customers."""
    whole = np.floor(customers)
    low = function(whole, *others)
    part = customers - whole
    if not part.any():
        return low
    high = function(whole + 1, *others)
    return np.where(part > 0, low + part * (high - low), low)


def _rate(customers: Array, think: Array, *operands: Array) -> Array:
    return np.where(customers == 0, 0.0, customers / _cycle(customers, think, *operands))


def _cycle(customers: Array, think: Array, *operands: Array) -> Array:
    cycle = think
    numbers = _numbers(np.maximum(customers - 1, 0.0), think, operands)
    for demand, load, number in zip(operands[::4], operands[2::4], numbers, strict=True):
        cycle = cycle + demand * ((1 + number) / (1 - load))
    return cycle


def _wait_of_closed(customers: Array, think: Array, *operands: Array) -> Array:
    return operands[0] * _wait(np.maximum(customers - 1, 0.0), think, *operands)


def _wait(customers: Array, think: Array, *operands: Array) -> Array:
    load = operands[2]
    found: Array = (load + _numbers(customers, think, operands)[0]) / (1 - load)
    return found


def _numbers(customers: Array, think: Array, operands: Sequence[Array]) -> Sequence[Array]:
    """Return mean numbers at a copy of each station, of whole numbers of customers; remembered."""
    stations = [operands[place : place + 4] for place in range(0, len(operands), 4)]
    if not stations:
        return []
    names = [_named(*station) for station in stations]
    key = _named(np.frombuffer(b"".join(sorted(names)), np.uint8), customers, think)
    if key not in _cache:
        ratios = np.array([demand / copies / (1 - load) for demand, _, load, copies in stations])
        copies = np.array([one[3] for one in stations])
        _cache[key] = names, _solved(customers, think, ratios, copies)
        if len(_cache) > _CACHE_SIZE:
            _cache.popitem(last=False)
    order, numbers = _cache[key]
    return [numbers[order.index(name)] for name in names]


def _named(*columns: NDArray[np.generic]) -> bytes:
    digest = blake2b(digest_size=20)
    for column in columns:
        digest.update(np.ascontiguousarray(column).data)
    return digest.digest()


def _solved(customers: Array, think: Array, ratios: Array, copies: Array) -> Array:
    """Return mean numbers at a copy of each station, of arrays of stations and rows."""
    found, is_few = np.empty_like(ratios), customers <= _MOST_CUSTOMERS
    for among, solve in ((is_few, _step_by_step), (~is_few, numbers_at_population)):
        if among.any():
            some = (np.compress(among, one, axis=-1) for one in (customers, think, ratios, copies))
            found[:, among] = solve(*some)
    return found


def _step_by_step(customers: Array, think: Array, ratios: Array, copies: Array) -> Array:
    """Return the same, customer by customer."""
    order = np.argsort(-customers, kind="stable")
    last, pause = customers[order], think[order]
    ratio, count = np.take(ratios, order, axis=1), np.take(copies, order, axis=1)
    plain = bool((count == 1).all())
    held, total, rate = np.zeros_like(ratio), np.empty_like(pause), np.empty_like(pause)
    left, n = len(last), 0
    while left:
        # Rows that still lack customers come first.
        left = int(np.searchsorted(-last, -n, side="left"))
        until = int(last[left - 1]) if left else n
        own = [(ratio[k, :left], held[k, :left], count[k, :left]) for k in range(len(ratio))]
        for k in range(n + 1, until + 1):
            whole = total[:left]
            whole[:] = pause[:left]
            for part, number, several in own:
                np.add(number, 1, out=number)
                np.multiply(number, part, out=number)
                np.add(whole, number if plain else several * number, out=whole)
            np.divide(k, whole, out=rate[:left])
            for _, number, _ in own:
                np.multiply(number, rate[:left], out=number)
        n = until
    found = np.empty_like(held)
    found[:, order] = held
    return found
