"""Networks of single servers with many customers, by an integral each: many rows at once.

As `normalizing_integral` has one; arrays of stations have an axis for these before that of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp

import numpy as np
from numpy.typing import NDArray

from qps.engine.numerics.array_blocks import Array
from qps.engine.queueing_networks.normalizing_integral import (
    LEAST,
    MOST_STEPS,
    STEP,
    STEPS,
    STOPPING_RULE,
    TOLERANCES,
    path_ahead,
)

_Complex = NDArray[np.complex128]


def numbers_at_population(customers: Array, think: Array, ratios: Array, copies: Array) -> Array:
    """Return mean numbers at a copy of each station with so many customers.

    `ratios` and `copies` are those of stations and rows: what a copy's weights rise by.
    """
    largest = ratios.max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    part, apart = ratios / largest, (largest - ratios) / largest
    spare = _saddle(customers, think / largest, part, apart, copies)
    b = part / (apart + spare)
    total, own = np.zeros_like(spare), np.zeros_like(b)
    for weight, ahead in _path(think / (largest * (1 + spare)), b, copies):
        total += weight.imag
        own += (weight * ahead / (1 - b * ahead)).imag
    # Where there is no demand at any station, there is no saddle.
    return np.where(ratios > 0, b + b * (1 + b) * own / total, 0.0)


def _saddle(customers: Array, think: Array, part: Array, apart: Array, copies: Array) -> Array:
    """Return 1/x - 1 where the mean number of customers is as stated; the largest ratio is 1."""
    least = (copies * part / customers - apart).max(axis=0)
    spare: Array = np.maximum(np.maximum(least, think / customers - 1), 0.0)
    spare = np.where(spare > 0, spare, LEAST)
    for _ in range(MOST_STEPS):
        each = copies * part / (apart + spare)
        value = think / (1 + spare) - customers + each.sum(axis=0)
        slope = think / (1 + spare) ** 2 + (each / (apart + spare)).sum(axis=0)
        step = value / slope
        spare = spare + step
        if not (step > TOLERANCES * spare).any():
            break
    return spare


def _path(think: Array, b: Array, copies: Array) -> Iterator[tuple[_Complex, _Complex]]:
    """Yield weights of the rule along half of the path, and exp(w) - 1."""
    each = copies * b * (1 + b)
    spread = think + each.sum(axis=0)
    skew = think + (each * (1 + 2 * b)).sum(axis=0)
    size = np.sqrt(2 / spread)
    first = skew / (6 * spread) * (size * STEP / 2) ** 2 + 1j * (size * STEP / 2)
    known: list[_Complex] = []
    for k in range(STEPS):
        t = (k + 0.5) * STEP
        w = path_ahead(known) if known else first
        for _ in range(MOST_STEPS):
            value, rate, bend, ahead = _exponent(w, think, b, copies)
            step = (value + t * t) / rate
            w = w - step
            if not (np.abs(step) > STOPPING_RULE * np.abs(w)).any():
                break
        ahead = ahead - (1 + ahead) * step * (1 - step / 2)
        known.append(w)
        yield -2 * t * exp(-t * t) / (rate - step * bend), ahead


def _exponent(
    w: _Complex, think: Array, b: Array, copies: Array
) -> tuple[_Complex, _Complex, _Complex, _Complex]:
    """Return phi(w), its first and second slope, and exp(w) - 1."""
    u, v = w.real, w.imag
    turned = -2 * np.sin(v / 2) ** 2
    ahead = np.expm1(u) * (1 + turned) + turned + 1j * (np.exp(u) * np.sin(v))
    off = -b * ahead
    x, y = off.real, off.imag
    logs = 0.5 * np.log1p(x * (2 + x) + y * y) + 1j * np.arctan2(y, 1 + x)
    value = think * (ahead - w) - (copies * (logs + b * w)).sum(axis=0)
    parts = copies * b * (1 + b) / (1 + off)
    slope = think + parts.sum(axis=0)
    more = (parts * b / (1 + off)).sum(axis=0)
    return value, ahead * slope, (1 + ahead) * (slope + ahead * more), ahead
