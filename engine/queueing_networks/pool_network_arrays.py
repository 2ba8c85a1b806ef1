"""Networks of one class with pools and several servers, of every number of customers, in arrays.

What `station_rates.EveryNumber` does for one network is done for many at once: all numbers of
customers for the price of one, an axis for these before that of the networks. A station of several
servers and a pool are stations by their rates, w(n) the product of u/rate: a polynomial over 1 - r
z. With F(n) the weights of single servers in place of all, and x(n) = F(n - 1)/F(n) their rates,
the weights of all are F(n) times the sum over k of p(k) x(n) x(n - 1) … x(n - k + 1)/u^k.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Literal

import numpy as np
from msgspec import Struct

from qps.engine.numerics.array_blocks import Array

_LEAST = 1e-280
_FEW = 32
"""Networks that are solved sooner by the weights of all customers than customer by customer."""
_MOST_FACTORS, _LARGEST_THINK = 16.0, 400.0
"""Copies of single servers, and thinking beside their ratios, of which all weights are floats."""
_ROUNDED, _LOST = 1e-12, 1e-20
"""What rates are off that do not fall; a part of a term that changes no digit of it."""
_CACHED, _WIDE, _LONG = 1 << 15, 12, 1000
"""Numbers that are computed together, so that they stay in the processor's cache; of fewer networks
than so many, each is together in memory if it has more than so many customers."""


class Rated(Struct, frozen=True):
    """A station by its rates of one, two, … customers, of each network; the last one goes on.

    `rates` have an axis for the number there before that of networks. All have as many `copies`.
    """

    rates: Array
    copies: int = 1


class Single(Struct, frozen=True):
    """A single server: by what the weights of a copy rise, and how many copies there are."""

    ratio: Array
    copies: Array


class NetworkArrays:
    """Networks with none, one, … up to `most` customers; single servers and stations with rates."""

    def __init__(
        self, most: int, think: Array, singles: Sequence[Single], rated: Sequence[Rated]
    ) -> None:
        self._most, self._singles, self._rated = most, singles, rated
        self._think = think
        base = [*singles, *(Single(1 / r.rates[-1], np.full_like(think, r.copies)) for r in rated)]
        self._of_singles, self._at_singles = _single_servers(most, think, base)
        unit = self._of_singles[-1] if base else np.ones_like(think)
        self._steps = self._of_singles / unit
        self._tables = [_Table(one, unit) for one in rated]
        self._powers = [_power(t.own, t.copies) for t in self._tables]
        self._product = reduce(_convolved, self._powers, np.ones((1, think.size)))
        self._whole = self._summed(self._product, None)
        fewer = np.ones_like(self._whole)
        fewer[1:] = self._whole[:-1]
        with np.errstate(all="ignore"):
            self.rates: Array = self._of_singles * (fewer / self._whole)
        self.is_sound = (self._whole > _LEAST).all(axis=0) & np.isfinite(self.rates).all(axis=0)
        for table in self._tables:
            self.is_sound &= table.is_sound

    @property
    def count(self) -> int:
        """How many stations there are."""
        return len(self._at_singles)

    def numbers_at_single(self, which: int) -> Array:
        """Return how many are at all copies of a single server, by how many customers there are."""
        found: Array = self._summed(self._product, self._at_singles[which]) / self._whole
        return self._singles[which].copies * found

    def means(self, which: int, values: Array, *, more: bool = False) -> Array:
        """Return means of values at a station with rates, by how many customers there are.

        `values` are those with none, one, … there, the last one as many as there are rates; it goes
        on. With `more`, each customer beyond counts one more.
        """
        table = self._tables[which]
        weighted = table.full * values
        behind = weighted[1:] - table.ratio * weighted[:-1]
        others = self._others(which)
        found = self._summed(_convolved(others, np.concatenate((weighted[:1], behind))), None)
        if more:
            ahead = np.zeros((len(table.full) - 1, found.shape[1]))
            numbers_of = self._at_singles[len(self._singles) + which]
            found += table.full[-1] * self._summed(np.concatenate((ahead, others)), numbers_of)
        means: Array = found / self._whole
        return means

    def numbers(self, which: int) -> Array:
        """Return how many are at all copies of a station with rates."""
        table = self._tables[which]
        there = np.arange(len(table.full), dtype=float)[:, None]
        return table.copies * self.means(which, there, more=True)

    def _others(self, which: int) -> Array:
        """Return the polynomial of all stations with rates but one copy of one of them."""
        own = self._tables[which]
        fewer = _power(own.own, own.copies - 1)
        others = (one for k, one in enumerate(self._powers) if k != which)
        return reduce(_convolved, others, fewer)

    def _summed(self, polynomial: Array, values: Array | None) -> Array:
        """Return sums over a polynomial, of values where there are fewer single servers' customers.

        By Horner's rule where all values are one. What is later counts no more than what is before,
        which rises with customers: terms at the end that are lost in any before them are left out.
        """
        size = min(_length(polynomial), self._most + 1)
        found = np.empty_like(self._steps)
        width = max(_WIDE, _CACHED // (self._most + 1))
        for start in range(0, found.shape[1], width):
            some = slice(start, start + width)
            of_some = None if values is None else values[:, some]
            found[:, some] = _horner(polynomial[:size, some], self._steps[:, some], of_some)
        return found


def _horner(polynomial: Array, steps: Array, values: Array | None) -> Array:
    """Return sums over a polynomial, by numbers of customers and networks.

    What is there of n customers stands for one more at each step: it stays where it is, and what
    stands for none begins a place before it. Of few networks, each is together in memory.
    """
    size, (length, count) = len(polynomial), steps.shape
    order: Literal["C", "F"] = "F" if count < _WIDE and length > _LONG else "C"
    room = np.zeros((length + size - 1, count), order=order)
    steps = np.asarray(steps[1:], order=order)
    values = None if values is None else np.asarray(values, order=order)
    found = room[size - 1 :]
    found += polynomial[-1] if values is None else polynomial[-1] * values
    for k in range(size - 2, -1, -1):
        before = found[:-1]
        before *= steps
        found = room[k : k + length]
        if values is None:
            found += polynomial[k]
        elif polynomial[k].any():
            found += polynomial[k] * values
    return found


class _Table:
    """A station with rates as a polynomial: `own` over 1 - r z, and the weights that are `full`."""

    def __init__(self, station: Rated, unit: Array) -> None:
        rates = np.maximum.accumulate(station.rates, axis=0)
        self.copies, self.ratio = station.copies, unit / rates[-1]
        with np.errstate(all="ignore"):
            logs = np.cumsum(np.log(unit / rates), axis=0)
            logs = np.concatenate((np.zeros_like(logs[:1]), logs))
            full = np.exp(logs - logs.max(axis=0))
            own = np.concatenate((full[:1], full[1:-1] - self.ratio * full[:-2]))
            own = np.maximum(own, 0.0)
            # Where rates no longer rise nothing is left but what is rounded off.
            own[1:][rates[:-1] >= rates[-1]] = 0.0
            whole = own.sum(axis=0)
            self.own, self.full = own / whole, full / whole
            rises = (station.rates >= rates * (1 - _ROUNDED)).all(axis=0)
        self.is_sound = rises & (full.min(axis=0) > _LEAST) & np.isfinite(whole)


def _single_servers(
    most: int, think: Array, stations: Sequence[Single]
) -> tuple[Array, list[Array]]:
    """Return the rates of single servers, and how many are at a copy of each, by customers."""
    if think.size > _FEW:
        return _one_by_one(most, think, stations)
    ratios = np.array([one.ratio for one in stations]).reshape(-1, think.size)
    copies = np.array([one.copies for one in stations]).reshape(-1, think.size)
    largest = ratios.max(axis=0, initial=0.0)
    is_few = (copies % 1 == 0).all(axis=0) & (copies.sum(axis=0) <= _MOST_FACTORS)
    is_few &= (largest > 0) & (think <= _LARGEST_THINK * largest)
    if is_few.all():
        return _by_series(most, think, ratios, copies)
    rates, numbers = _one_by_one(most, think, stations)
    if is_few.any():
        own = _by_series(most, think[is_few], ratios[:, is_few], copies[:, is_few])
        rates[:, is_few] = own[0]
        for found, some in zip(numbers, own[1], strict=True):
            found[:, is_few] = some
    return rates, numbers


def _by_series(most: int, think: Array, ratios: Array, copies: Array) -> tuple[Array, list[Array]]:
    """Return the same by the weights of all numbers of customers at once: of few, it is quicker.

    Their generating function is exp(Z z) over a product of 1 - r z for each copy (Buzen 1973), of
    which all coefficients are positive: nothing cancels.
    """
    largest = ratios.max(axis=0)
    parts = ratios / largest
    weights = np.ones((most + 1, think.size))
    np.cumprod(think / largest / np.arange(1, most + 1)[:, None], axis=0, out=weights[1:])
    for part, count in zip(parts, copies, strict=True):
        for k in range(int(count.max())):
            weights = _over_rising(weights, np.where(count > k, part, 0.0))
    rates, numbers = np.zeros_like(weights), [np.zeros_like(weights) for _ in parts]
    rates[1:] = weights[:-1] / weights[1:] / largest
    for part, held in zip(parts, numbers, strict=True):
        held[1:] = part * _over_rising(weights, part)[:-1] / weights[1:]
    return rates, numbers


def _over_rising(series: Array, ratio: Array) -> Array:
    """Return a power series over 1 - r z: times 1 + r z, times 1 + (r z)^2, and so on."""
    found, step = series.copy(), 1
    while step < len(found):
        found[step:] += ratio * found[:-step]
        ratio, step = ratio * ratio, 2 * step
    return found


def _one_by_one(most: int, think: Array, stations: Sequence[Single]) -> tuple[Array, list[Array]]:
    """Return the same, customer by customer."""
    rates = np.zeros((most + 1, think.size))
    numbers_of = [np.zeros_like(rates) for _ in stations]
    with np.errstate(all="ignore"):
        whole, one = np.empty_like(think), np.empty_like(think)
        own = [
            (s.ratio, None if (s.copies == 1).all() else s.copies, h)
            for s, h in zip(stations, numbers_of, strict=True)
        ]
        for n in range(1, most + 1):
            whole[:] = think
            for ratio, copies, numbers in own:
                here = numbers[n]
                np.add(numbers[n - 1], 1.0, out=here)
                np.multiply(here, ratio, out=here)
                if copies is None:
                    np.add(whole, here, out=whole)
                else:
                    np.add(whole, np.multiply(here, copies, out=one), out=whole)
            rate = np.divide(n, whole, out=rates[n])
            for _, _, numbers in own:
                np.multiply(numbers[n], rate, out=numbers[n])
    return rates, numbers_of


def _length(polynomial: Array) -> int:
    """Return how many terms of polynomials count, but for those at the end that are lost."""
    size = np.abs(polynomial)
    counts = (size > _LOST * np.maximum.accumulate(size, axis=0)).any(axis=1)
    return int(np.flatnonzero(counts)[-1]) + 1 if counts.any() else 1


def _power(values: Array, exponent: int) -> Array:
    found = np.ones((1, values.shape[1]))
    for _ in range(exponent):
        found = _convolved(found, values)
    return found


def _convolved(one: Array, other: Array) -> Array:
    """Return products of polynomials, of which the first axis counts the powers."""
    if len(one) > len(other):
        one, other = other, one
    found = np.zeros((len(one) + len(other) - 1, other.shape[1]))
    for k, factor in enumerate(one):
        found[k : k + len(other)] += factor * other
    return found
