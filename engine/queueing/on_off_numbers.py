"""Waits of flows that are on and off: the fluid queue of Anick, Mitra and Sondhi (1982).

N sources are on for an exponential time of mean 1 and off for one of mean (1 - a)/a; each sends a
share h of what is served while it is on. What waits is a mixture of exponentials (Bell System
Technical Journal 61(8)): P(V > x) is the sum of w(k) exp(-s(k) x), k = 0..N - floor(1/h) - 1, all
of it positive, where s(k) is a root of a quadratic. An item comes from a source that is on, so that
it finds P(V > x)/load: what is over the mean balances what is under it.

Times are counted in bursts. Waits grow with the number of sources, with the share and with the
peak. Between whole numbers they are those of the one below, or of the one above at the same load,
whichever is longer: so they grow there, too, and end where the load is 1. Of more than `MOST`
sources they are those of as many, whose rate has the same deviation from what is served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import ceil, copysign, exp, floor, inf, isnan, log, log1p, nan, sqrt

from msgspec import Struct

MOST = 200
"""Sources up to which waits are exact."""
_STEPS = 60
_NOTHING = 1e-15
_WHOLE = 2.0**53
ALONE = 1e-8
NEARLY = 1e-12


class WaitMixture(Struct, frozen=True):
    """What waits: exponentials, each with the logarithm of its weight and its decay.

    `logs` are of sources that send 1 each; `served` is how much of that is served at once.
    """

    served: float
    load: float
    logs: tuple[float, ...] = ()
    decays: tuple[float, ...] = ()


def burst_wait(sources: float, active: float, peak: float) -> float:
    """Return the mean wait of an item of so many flows, each on for a share, in bursts."""
    return _between(sources, active, peak, _mean)


def burst_quantile(sources: float, active: float, peak: float, level: float) -> float:
    """Return what a share `level` of the items does not wait longer than, in bursts."""
    if not 0 <= level < 1:
        return nan
    return _between(sources, active, peak, lambda found: _quantile(found, 1 - level))


def _between(
    sources: float, active: float, peak: float, excess: Callable[[WaitMixture], float]
) -> float:
    if not (sources >= 0 and 0 <= active <= 1 and peak >= 0):
        return nan
    load = sources * active * peak
    if isnan(load) or (load == 0 and inf in (sources, peak)):
        return nan
    if load >= 1:
        return inf
    if sources * peak <= 1 or load == 0:
        return 0.0  # all at once are no more than is served
    sources = min(sources, _WHOLE)
    low, high = floor(sources), ceil(sources)
    found = excess(_mixture(high, active, load))
    if low == high or low * peak <= 1:
        return found
    return max(found, excess(_mixture(low, active, low * active * peak)))


def _mean(found: WaitMixture) -> float:
    waiting = sum(exp(w) / s for w, s in zip(found.logs, found.decays, strict=True))
    return waiting / found.served / found.load


def _quantile(found: WaitMixture, late: float) -> float:
    """Return the wait at which so little is left: its logarithm is convex, and Newton is safe."""
    parts = list(zip(found.logs, found.decays, strict=True))
    late *= found.load
    work = 0.0
    for _ in range(_STEPS):
        shares = [exp(w - s * work) for w, s in parts]
        share = sum(shares)
        excess = log(share / late) if share > 0 else 0.0
        if excess <= _NOTHING:
            break
        step = excess * share / sum(p * s for p, (_, s) in zip(shares, parts, strict=True))
        work += step
        if step <= _NOTHING * work:
            break
    return work / found.served


@lru_cache(maxsize=1 << 14)
def _mixture(sources: int, active: float, load: float) -> WaitMixture:
    """Return what waits of a whole number of sources."""
    spare = sources * active * (1 - load) / load  # what is served beyond the mean
    count, scale = sources, 1.0
    if sources > MOST:
        count, scale = MOST, sqrt(sources / MOST)
        spare /= scale
    served = count * active + spare
    of_all = sources * active / load / scale
    if served >= count:
        return WaitMixture(of_all, load)
    if served < ALONE:  # bursts come one by one, each at once: M/M/1
        return WaitMixture(of_all, load, (log(load),), (1 - load,))
    # At a whole number served the last decay is endless, and weighs nothing.
    few = floor(served * (1 + NEARLY))
    decays = [_decay(count, active, served, spare, k) for k in range(count - few)]
    starts = active / (1 - active)  # how often one begins that is off
    logs = []
    for k, decay in enumerate(decays):
        rises, falls = _of_one(decay, starts)
        # The eigenvector, summed up: k of the sources fall, the others rise.
        some = k * log((decay - rises) / (falls - starts)) if k else 0.0
        weight = count * log(active) + (count - k) * log1p(1 / (starts + rises)) + some
        others = (abs(one / (one - decay)) for j, one in enumerate(decays) if j != k)
        logs.append(weight + _log_of_product(others))
    return WaitMixture(of_all, load, tuple(logs), tuple(decays))


def _of_one(decay: float, starts: float) -> tuple[float, float]:
    """Return by what one source makes the exponential grow, and by what it makes it fall."""
    over = decay - starts - 1
    root = sqrt(over * over + 4 * starts * decay)
    rises = (over + root) / 2 if over > 0 else 2 * starts * decay / (root - over)
    return rises, starts * decay / rises


def _log_of_product(factors: Iterable[float]) -> float:
    total, part = 0.0, 1.0
    for factor in factors:
        part *= factor
        if not 1e-200 < part < 1e200:  # noqa: PLR2004 - before it is beyond all floats
            total += log(part)
            part = 1.0
    return total + log(part)


def _decay(count: int, active: float, served: float, spare: float, k: int) -> float:
    """Return s(k): where N - k sources that rise and k that fall make up for what is served."""
    starts = active / (1 - active)
    both = starts + 1
    if k == 0:
        return both * spare * count / (served * (count - served))
    half, over = count / 2 - k, served - count / 2
    if half == 0:
        return -count * both / (2 * over)
    square = half * half - over * over
    line = half * half * (4 * starts - 2 * both) - over * count * both
    rest = both * both * (half * half - count * count / 4)
    middle = -(line + copysign(sqrt(max(0.0, line * line - 4 * square * rest)), line)) / 2
    roots = [rest / middle] if middle else []
    if square:
        roots.append(middle / square)

    def miss(decay: float) -> float:
        """Return by how much a root of the square misses what was squared."""
        root = sqrt((decay - both) ** 2 + 4 * starts * decay)
        return abs(count * (decay - both) / 2 + half * root - served * decay)

    return min((root for root in roots if root > 0), key=miss)
