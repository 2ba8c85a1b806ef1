"""Tails and quantiles of the wait of N D/D/1, equal periodic flows, on arrays, with their slopes.

As `queue_numbers` has them. P(V > x) is a sum over m = floor(x) + 1 .. n of positive terms, which
are smooth in m but at its ends: some at each end are added one by one, what is between them is an
integral by Gauss's rule, joined with Gregory's corrections. So the work does not grow with n.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import lgamma

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qps.engine.numerics.array_blocks import (
    Array,
    falling_root,
    filled,
    gauss_rule,
    in_blocks,
    triple_in_blocks,
)
from qps.engine.queueing.fluid_decay_arrays import log_growth

_ENDS = 24
"""So many terms at each end are added one by one."""
_JOINT = 4
_MOST_ALL = 2 * (_ENDS + _JOINT)
"""Sums of so many terms are added up whole."""
_SCANNED = 25
_NOTHING = 42.0
_POINTS = 26
"""Of Gauss's rule, so many."""
_WIDEST = 3.0
"""Gauss's rule takes an integral over so many logits at most."""
_NEARLY_WHOLE = 1e-9
_MOST_FLOWS = 2.0**50
"""With more flows no float distinguishes the wait from that of so many."""
_BLOCK_SIZE = 4096
"""So many terms are made at a time: of one element all together, of many one by one."""
# Of 1/d - 1/(2 asinh(d/2)) in d, d^3, d^5, d^7: what a sum has more than the integral between
# halves has, in central differences d.
_GREGORY = (1 / 24, -17 / 5760, 367 / 967680, -27859 / 464486400)
_STIRLING_FROM = 16


@cache
def _differences() -> tuple[float, ...]:
    """Return Gregory's correction as weights of the four values on each side of a half."""
    weights = np.zeros(2 * _JOINT)
    difference = np.array([-1.0, 1.0])
    for coefficient in _GREGORY:
        start = _JOINT - len(difference) // 2
        weights[start : start + len(difference)] += coefficient * difference
        difference = np.convolve(difference, [1.0, -2.0, 1.0])
    return tuple(weights.tolist())


@cache
def _stirling_errors() -> Array:
    m = np.arange(1.0, _STIRLING_FROM)
    exact = np.array([lgamma(n + 1) for n in m])
    exact -= (m + 0.5) * np.log(m) - m + np.log(2 * np.pi) / 2
    return np.concatenate([[0.0], exact])


def periodic_tail(flows: ArrayLike, load: ArrayLike, time: ArrayLike) -> Array:
    """Return P(W > t) of N D/D/1, flows counted whole as of the next number; 1 from load 1 on."""
    return in_blocks(_tail, flows, load, time)


def periodic_tail_slopes(
    flows: ArrayLike, load: ArrayLike, time: ArrayLike
) -> tuple[Array, Array, Array]:
    """Return the derivatives of `periodic_tail`; by the flows not-a-number: they are whole."""
    return triple_in_blocks(_tail_slopes, flows, load, time)


def periodic_quantile(flows: ArrayLike, load: ArrayLike, level: ArrayLike) -> Array:
    """Return the wait of N D/D/1, in service times, that a share of the visits does not exceed."""
    return in_blocks(_quantile, flows, load, level)


def periodic_quantile_slopes(
    flows: ArrayLike, load: ArrayLike, level: ArrayLike
) -> tuple[Array, Array, Array]:
    """Return the derivatives of `periodic_quantile`; by the flows not-a-number: they are whole."""
    return triple_in_blocks(_quantile_slopes, flows, load, level)


# -- terms -------------------------------------------------------------------------------


Sums = tuple[Array, ...]


class _Terms:
    """The terms of P(V > x) for n flows with a period of D services, with spare = D - n.

    Each is the binomial share of m visits in a time of m - x, times (D - n + x)/(D - m + x).
    """

    def __init__(self, flows: Array, spare: Array, work: Array, slopes: int) -> None:
        self.flows, self.spare, self.work, self.slopes = flows, spare, work, slopes
        self.period = flows + spare
        self.head = spare + work
        self.constant = np.log(self.head) + _stirling_error(flows) + np.log(flows / (2 * np.pi)) / 2

    def of(self, is_among: NDArray[np.bool_]) -> _Terms:
        return _Terms(self.flows[is_among], self.spare[is_among], self.work[is_among], self.slopes)

    def logarithm(self, m: Array) -> Array:
        """Return the logarithm of the term m; -inf where it is none."""
        rest = self.flows - m
        apart = (m * self.spare + self.flows * self.work) / self.period
        left = self.period - m + self.work
        below, above = -apart / m, apart / rest
        held = np.where(below < -0.5, self.flows * (m - self.work) / (self.period * m), 1 + below)  # noqa: PLR2004
        bent = m * _log1p(below, held) + rest * _log1p(above, 1 + above)
        stirling = _stirling_error(m) + _stirling_error(rest)
        found = bent + self.constant - stirling - np.log(m * rest * (left * left)) / 2
        if rest.min() > 0:
            return found
        # Stirling's formula has no 0!: the last term is s^n.
        share = self.head / self.period
        held = np.where(share > 0.5, (self.flows - self.work) / self.period, 1 - share)  # noqa: PLR2004
        last = self.flows * _log1p(-share, held)
        return np.where(rest > 0, found, np.where(rest == 0, last, -np.inf))

    def summed(self, m: Array, size: Array) -> Sums:
        """Return the sums over terms, so much of each, of them and of as many slopes as requested.

        The first slope is that by x, the second that by D.
        """
        term = size * np.exp(self.logarithm(m))
        sums = [term.sum(axis=0)]
        if self.slopes:
            left, is_there = self.period - m + self.work, term != 0
            by_work = 1 / self.head - (self.head + 1) / left - self.work / (m - self.work)
            sums.append(np.where(is_there, term * by_work, 0.0).sum(axis=0))
        if self.slopes > 1:
            apart = (m * self.spare + self.flows * self.work) / self.period
            by_period = 1 / self.head - (1 + apart) / left
            sums.append(np.where(is_there, term * by_period, 0.0).sum(axis=0))
        return tuple(sums)


def _log1p(value: Array, added: Array) -> Array:
    """Return log(1 + x), of 1 + x as it is rounded (after Kahan): faster than numpy's."""
    return np.where(added == 1, value, np.log(added) * (value / (added - 1)))


def _stirling_error(m: Array) -> Array:
    """Return log(m!) less Stirling's formula, m whole where it is small."""
    inverse = 1 / m
    square = inverse * inverse
    series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680)))
    if m.min() >= _STIRLING_FROM:
        return series * inverse
    few = _stirling_errors()[np.clip(m, 0, _STIRLING_FROM - 1).astype(int)]
    return np.where(m < _STIRLING_FROM, few, series * inverse)


# -- sums --------------------------------------------------------------------------------


def _sums(flows: Array, spare: Array, work: Array, slopes: int) -> Sums:
    """Return P(V > x), with so many of its slopes by x and D; for 0 <= x < n and spare > 0."""
    totals = tuple(np.zeros(flows.shape) for _ in range(1 + slopes))
    terms, first = _Terms(flows, spare, work, slopes), np.floor(work) + 1
    count = flows - first + 1
    is_short = count <= _MOST_ALL
    _add_some(totals, is_short, terms, first, _all_of)
    is_long = ~is_short
    if is_long.any():
        low, high, is_left, is_right = _reach(terms.of(is_long), first[is_long])
        into = [total[is_long] for total in totals]
        _add_some(into, is_left, terms.of(is_long), first[is_long], _left_end)
        _add_some(into, is_right, terms.of(is_long), first[is_long], _right_end)
        between = _between(terms.of(is_long), low, high)
        for total, one, more in zip(totals, into, between, strict=True):
            total[is_long] = one + more
    return totals


def _add_some(
    totals: tuple[Array, ...] | list[Array],
    is_among: NDArray[np.bool_],
    terms: _Terms,
    first: Array,
    function: Callable[[_Terms, Array], Sums],
) -> None:
    if is_among.any():
        for total, part in zip(totals, function(terms.of(is_among), first[is_among]), strict=True):
            total[is_among] += part


def _rows(count: int, width: int) -> list[NDArray[np.int64]]:
    """Return the numbers from 0 on, in columns of so many as suit arrays of that width."""
    step = max(1, _BLOCK_SIZE // max(1, width))
    return [np.arange(k, min(k + step, count))[:, None] for k in range(0, count, step)]


def _together(parts: list[Sums]) -> Sums:
    """Return what sums are together."""
    return tuple(sum(part[1:], part[0]) for part in zip(*parts, strict=True))


def _added(terms: _Terms, start: Array, sizes: Array) -> Sums:
    """Return the terms from one on, so much of each."""
    rows = _rows(sizes.size, start.size)
    return _together([terms.summed(start + row, sizes[row]) for row in rows])


def _all_of(terms: _Terms, first: Array) -> Sums:
    count = int((terms.flows - first + 1).max())
    return _added(terms, first, np.ones(count))


def _left_end(terms: _Terms, first: Array) -> Sums:
    """Return the first terms, and what the others have more than their integral."""
    sizes = np.zeros(_ENDS + _JOINT)
    sizes[:_ENDS] = 1
    sizes[_ENDS - _JOINT :] += _differences()
    return _added(terms, first, sizes)


def _right_end(terms: _Terms, _first: Array) -> Sums:
    sizes = np.zeros(_ENDS + _JOINT)
    sizes[_JOINT:] = 1
    sizes[: 2 * _JOINT] -= _differences()
    return _added(terms, terms.flows - (_ENDS + _JOINT - 1), sizes)


def _reach(
    terms: _Terms, first: Array
) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return between which points the integral is more than nothing, and whether ends are met.

    Points are stated by their logits, log((m - x)/(n + 1 - m)).
    """
    flows, work = terms.flows, terms.work
    low_end, high_end = first + _ENDS - 0.5, flows - _ENDS + 0.5
    low = np.log((low_end - work) / (flows + 1 - low_end))
    high = np.log((high_end - work) / (flows + 1 - high_end))
    step = (high - low) / (_SCANNED - 1)
    rows = _rows(_SCANNED, low.size)
    heights = np.concatenate([_height(terms, low + row * step) for row in rows])
    is_some = heights > heights.max(axis=0) - _NOTHING
    begin = is_some.argmax(axis=0)
    end = _SCANNED - 1 - is_some[::-1].argmax(axis=0)
    return (
        low + np.maximum(begin - 1, 0) * step,
        low + np.minimum(end + 1, _SCANNED - 1) * step,
        begin == 0,
        end == _SCANNED - 1,
    )


def _point(terms: _Terms, logit: Array) -> tuple[Array, Array]:
    """Return m, and how fast it grows with its logit."""
    whole = terms.flows + 1 - terms.work
    share = 1 / (1 + np.exp(-logit))
    return terms.work + whole * share, whole * share * (1 - share)


def _height(terms: _Terms, logit: Array) -> Array:
    m, growth = _point(terms, logit)
    return terms.logarithm(m) + np.log(growth)


def _between(terms: _Terms, low: Array, high: Array) -> Sums:
    """Return the integral, in as many pieces as it needs."""
    pieces = np.maximum(1.0, np.ceil((high - low) / _WIDEST))
    half = (high - low) / pieces / 2
    totals = _piece(terms, low, half)
    for k in range(1, int(pieces.max())):
        is_there = k < pieces
        start, length = low[is_there] + 2 * k * half[is_there], half[is_there]
        for total, part in zip(totals, _piece(terms.of(is_there), start, length), strict=True):
            total[is_there] += part
    return totals


def _piece(terms: _Terms, low: Array, half: Array) -> Sums:
    parts = []
    nodes, weights = gauss_rule(_POINTS)
    for row in _rows(_POINTS, low.size):
        m, growth = _point(terms, low + half * (1 + nodes[row]))
        parts.append(terms.summed(m, weights[row] * half * growth))
    return _together(parts)


# -- tails -------------------------------------------------------------------------------


def _tail(flows: Array, load: Array, time: Array) -> Array:
    return _tail_parts(flows, load, time, 0)[0]


def _tail_slopes(flows: Array, load: Array, time: Array) -> tuple[Array, Array, Array]:
    _, by_time, by_load = _tail_parts(flows, load, time, 2)
    return np.full(flows.shape, np.nan), by_load, by_time


def _tail_parts(flows: Array, load: Array, time: Array, slopes: int) -> Sums:
    """Return P(W > t), with so many of its slopes by the time and the load."""
    found = tuple(np.full(flows.shape, np.nan) for _ in range(1 + slopes))
    whole = np.minimum(np.ceil(flows - _NEARLY_WHOLE), _MOST_FLOWS)
    is_there = (load >= 0) & (flows >= 0) & np.isfinite(flows) & ~np.isnan(time)
    is_full = is_there & ((load >= 1) | (time < 0))
    is_none = is_there & ~is_full & ((whole <= 1) | np.isinf(whole / load) | (time >= whole - 1))
    for k, part in enumerate(found):
        part[is_full], part[is_none] = 0.0 if k else 1.0, 0.0
    is_plain = is_there & ~is_full & ~is_none
    if is_plain.any():
        n, rho = whole[is_plain], load[is_plain]
        sums = _sums(n - 1, n * ((1 - rho) / rho) + 1, time[is_plain], slopes)
        for into, part in zip(found, sums, strict=True):
            into[is_plain] = part
        found[0][is_plain] = np.minimum(sums[0], 1.0)
        if slopes > 1:
            found[2][is_plain] *= -n / rho / rho
    return found


# -- quantiles ---------------------------------------------------------------------------


def _quantile(flows: Array, load: Array, level: Array) -> Array:
    found = np.full(flows.shape, np.nan)
    whole = np.minimum(np.ceil(flows - _NEARLY_WHOLE), _MOST_FLOWS)
    is_there = (level >= 0) & (level < 1) & (load >= 0) & (flows >= 0) & np.isfinite(flows)
    met = load * ((whole - 1) / whole)  # the share of visits that any wait
    is_wait = is_there & (load < 1) & (whole > 1) & (1 - level < met)
    found[is_there & (load < 1) & ~is_wait] = 0.0
    found[is_there & (load >= 1)] = np.inf
    filled(is_wait, found, _wait, whole, load, level)
    return found


def _wait(whole: Array, load: Array, level: Array) -> Array:
    flows, spare = whole - 1, whole * ((1 - load) / load) + 1
    goal = -np.log1p(-level)
    # As of a Brownian bridge, with the tail that many flows have.
    busy = flows / (flows + spare)
    decay = log_growth(busy, np.zeros(load.shape))
    near = np.maximum(goal + np.log((1 - busy) / (decay - (1 - busy))), goal / 8)
    start = 2 * near / (decay + np.sqrt(decay * decay + 8 * near / flows))
    low, high = np.zeros(load.shape), flows.copy()
    return falling_root(_excess, low, high, np.minimum(start, flows / 2), flows, spare, goal)


def _excess(time: Array, flows: Array, spare: Array, goal: Array) -> tuple[Array, Array]:
    """Return log P(V > t) + goal, and its slope."""
    is_within = time < flows
    share, slope = _sums(flows, spare, np.where(is_within, time, 0.0), 1)
    value = np.where(is_within, np.log(share) + goal, -np.inf)
    return value, slope / share


def _quantile_slopes(flows: Array, load: Array, level: Array) -> tuple[Array, Array, Array]:
    time = _quantile(flows, load, level)
    _, by_time, by_load = _tail_parts(flows, load, time, 2)
    is_wait, is_none = (time > 0) & np.isfinite(time), time == 0
    nothing = np.where(is_none, 0.0, np.nan)
    return (
        np.full(flows.shape, np.nan),
        np.where(is_wait, -by_load / by_time, nothing),
        np.where(is_wait, -1 / by_time, nothing),
    )
