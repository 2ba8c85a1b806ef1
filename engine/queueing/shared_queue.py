"""Closed networks of several classes with one queue of single servers, exactly, by an integral.

The normalizing constant of a product form with one place of `m` equal single servers is that of
independent customers, of which each is there for a time that all have in common: with `u` of the
gamma distribution of shape `m`, class k has a factor `(Z_k + d_k u)^N_k / N_k!`, of its think time
and its demand at a server (McKenna and Mitra, Journal of the ACM 31, 1984). So it takes as long for
many customers as for few, and needs no table of all populations below.

As a function of the logarithm of `u` the integrand is analytic, and has one peak; it vanishes on
both sides, so that sums over equal steps converge exponentially (Trefethen and Weideman, SIAM
Review 56, 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, log, sqrt

_VANISHED = 42.0
"""Logarithm of by how much the integrand falls to both ends: to 1e-18 of its peak."""
_STEP, _WIDEST = 0.25, 0.12
"""Steps, of the width of the peak, and at most: they are off by roundings alone."""
_TURNS, _PRECISION = 200, 1e-6


def mean_number(
    customers: Sequence[float], think: Sequence[float], demands: Sequence[float], servers: float
) -> float:
    """Return how many customers are at each of so many single servers, on average.

    A cycle of a class takes its think time and demands its part of each server, in the same unit.
    """
    import numpy as np  # noqa: PLC0415 - seldom needed

    classes = [one for one in zip(customers, think, demands, strict=True) if one[0] and one[2]]
    if not classes:
        return 0.0
    peak = _peak(classes, servers)
    top = _log_of(classes, servers, peak)
    ends = [_end(classes, servers, peak, top, side) for side in (-1.0, 1.0)]
    step = min(_STEP * _width(classes, peak), _WIDEST)
    logs = np.arange(ceil((ends[1] - ends[0]) / step) + 1) * step + ends[0]
    common = np.exp(logs)
    weights, held = servers * logs - common - top, np.zeros_like(logs)
    for count, pause, demand in classes:
        there = demand * common
        weights += count * np.log(pause + there)
        held += count * there / (pause + there)
    shares = np.exp(weights)
    return float(shares @ held / shares.sum() / servers)


_Classes = list[tuple[float, float, float]]


def _peak(classes: _Classes, servers: float) -> float:
    """Return the logarithm at which the integrand is highest: Newton's method, kept in a range.

    How it rises there is a concave function of `u`, which is positive at zero.
    """
    low, high = servers, servers + sum(count for count, _, _ in classes)
    here = high
    for _ in range(_TURNS):
        rise, slope = servers - here, -1.0
        for count, pause, demand in classes:
            whole = pause + demand * here
            rise += count * demand * here / whole
            slope += count * demand * pause / whole**2
        low, high = (here, high) if rise > 0 else (low, here)
        after = here - rise / slope if slope < 0 else low
        after = after if low <= after <= high else (low + high) / 2
        if abs(after - here) <= _PRECISION * here:
            break
        here = after
    return log(here)


def _width(classes: _Classes, peak: float) -> float:
    """Return how wide the peak is, as the standard deviation of a normal one."""
    bend = common = exp(peak)
    for count, pause, demand in classes:
        there = demand * common
        bend -= count * pause * there / (pause + there) ** 2
    return 1 / sqrt(bend) if bend > 0 else 1.0


def _log_of(classes: _Classes, servers: float, at: float) -> float:
    """Return the logarithm of the integrand where `u` has the logarithm `at`."""
    common = exp(at)
    each = (count * log(pause + demand * common) for count, pause, demand in classes)
    return servers * at - common + sum(each)


def _end(classes: _Classes, servers: float, peak: float, top: float, side: float) -> float:
    """Return a place on one side of the peak at which the integrand has vanished."""
    far = _width(classes, peak)
    while top - _log_of(classes, servers, peak + side * far) < _VANISHED:
        far *= 1.25
    return peak + side * far
