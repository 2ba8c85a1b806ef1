"""A network of single servers with many customers, by an integral: no work grows with them.

The weight of n customers is a coefficient of G(z) = exp(Z z) prod (1 - r z)^-m, an integral of
G(z) z^(-n - 1) around zero. Along the path of steepest descent from its saddle the integrand is
positive, and falls as exp(-t^2): the rule of equal steps in t is exact to the last digits with a
few dozen of them (Henrici 1977, Applied and Computational Complex Analysis 2, 11.8; Trefethen and
Weideman, SIAM Review 56, 2014). With z = x exp(w), and b the mean number at a copy for the rate x
of the saddle, the exponent is

  phi(w) = Z x (exp(w) - 1 - w) - sum m (log(1 - b (exp(w) - 1)) + b w) = -t^2.

The rate is the mean of z, and the number at a copy that of r z/(1 - r z).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atan2, comb, cos, exp, expm1, log1p, sin, sqrt
from operator import mul
from typing import Any

STEP, STEPS = 0.125, 50
"""Of the rule along the path: at t = 6.25 the integrand is e^-39."""
PLACES, STOPPING_RULE = 8, 1e-6
"""The next place follows from so many; behind so small a step all is exact to the second order."""
MOST_STEPS = 50
_SIGNS = [[comb(n, j) * (-1) ** (n - 1 - j) for j in range(n)] for n in range(PLACES + 1)]
"""By which the last n places of a polynomial's values determine the next one."""
TOLERANCES, LEAST = 1e-15, 1e-300


def at_population(
    customers: int, think: float, stations: Sequence[tuple[float, float]]
) -> tuple[float, list[float]]:
    """Return the rate with so many customers, and their mean numbers at a copy of each station.

    A station is the ratio of the weights of a copy, and how many copies there are.
    """
    largest = max(ratio for ratio, _ in stations)
    parts = [(ratio / largest, (largest - ratio) / largest, m) for ratio, m in stations]
    spare = _saddle(customers, think / largest, parts)
    rate = 1 / (largest * (1 + spare))
    means = [part / (apart + spare) for part, apart, _ in parts]
    pairs = [(b, m) for b, (_, _, m) in zip(means, parts, strict=True)]
    total, more, own = 0.0, 0.0, [0.0] * len(pairs)
    for weight, ahead in _path(think * rate, pairs):
        total += weight.imag
        more += (weight * ahead).imag
        for k, (b, _) in enumerate(pairs):
            own[k] += (weight * ahead / (1 - b * ahead)).imag
    found = [b + b * (1 + b) * part / total for (b, _), part in zip(pairs, own, strict=True)]
    return rate * (1 + more / total), found


def _saddle(customers: int, think: float, parts: Sequence[tuple[float, float, float]]) -> float:
    """Return 1/x - 1 where the mean number of customers is as stated; the largest ratio is 1.

    The mean falls ever less steeply with it: Newton's steps from below never go too far.
    """
    each = [m * part / customers - apart for part, apart, m in parts]
    spare = max(think / customers - 1, *each, 0.0) or LEAST
    for _ in range(MOST_STEPS):
        held = think / (1 + spare)
        # The slope times `spare`: by itself it may be beyond all floats.
        value, slope = held - customers, held * (spare / (1 + spare))
        for part, apart, m in parts:
            held = m * part / (apart + spare)
            value += held
            slope += held * (spare / (apart + spare))
        step = spare * (value / slope)
        spare += step
        if step <= TOLERANCES * spare:
            break
    return spare


def _path(
    think: float, stations: Sequence[tuple[float, float]]
) -> Iterator[tuple[complex, complex]]:
    """Yield weights of the rule along half of the path, and exp(w) - 1."""
    spread = think + sum(m * b * (1 + b) for b, m in stations)
    skew = think + sum(m * b * (1 + b) * (1 + 2 * b) for b, m in stations)
    size = sqrt(2 / spread)
    first = complex(skew / (6 * spread) * (size * STEP / 2) ** 2, size * STEP / 2)
    known: list[complex] = []
    for k in range(STEPS):
        t = (k + 0.5) * STEP
        w = path_ahead(known) if known else first
        for _ in range(MOST_STEPS):
            value, rate, bend, ahead = _exponent(w, think, stations)
            step = (value + t * t) / rate
            w -= step
            if abs(step) <= STOPPING_RULE * abs(w):
                break
        # What the last step changes, to the second order of it.
        ahead -= (1 + ahead) * step * (1 - step / 2)
        known.append(w)
        yield -2 * t * exp(-t * t) / (rate - step * bend), ahead


def path_ahead(known: Sequence[Any]) -> Any:
    """Return where a path goes on, by its last places; before the saddle they are those behind.

    There the real parts are the same, and the imaginary ones turned round.
    """
    last = known[-PLACES:]
    if len(last) < PLACES:
        last = [*(one.conjugate() for one in last[PLACES - len(last) - 1 :: -1]), *last]
    return sum(map(mul, _SIGNS[len(last)], last))


def _exponent(
    w: complex, think: float, stations: Sequence[tuple[float, float]]
) -> tuple[complex, complex, complex, complex]:
    """Return phi(w), its first and second slope, and exp(w) - 1."""
    u, v = w.real, w.imag
    grown, turned = exp(u), -2 * sin(v / 2) ** 2
    ahead = complex(expm1(u) * cos(v) + turned, grown * sin(v))
    value, slope, more = think * (ahead - w), complex(think), 0j
    for b, m in stations:
        off = -b * ahead
        x, y = off.real, off.imag
        value -= m * (complex(0.5 * log1p(x * (2 + x) + y * y), atan2(y, 1 + x)) + b * w)
        part = m * b * (1 + b) / (1 + off)
        slope += part
        more += part * b / (1 + off)
    return value, ahead * slope, (1 + ahead) * (slope + ahead * more), ahead
