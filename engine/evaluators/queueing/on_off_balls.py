"""Waits of flows that are on and off, or come unevenly, as balls, as `on_off_numbers` has them."""

from __future__ import annotations

from functools import reduce
from math import floor
from typing import NamedTuple

from flint import arb, ctx

from qps.engine.evaluators.ball_arithmetic import (
    INFINITE,
    UNKNOWN,
    at_ends,
    by_floats,
    is_infinite,
    is_unknown,
    refuse,
    root,
)
from qps.engine.queueing import on_off_numbers

_DIGITS = 192
"""Binary digits beyond those of the result: decays may lie close together."""


class BallMixture(NamedTuple):
    """What waits: exponentials, each with its weight and its decay."""

    served: arb
    load: arb
    weights: list[arb]
    decays: list[arb]

    @property
    def mean(self) -> arb:
        """The mean wait of an item."""
        parts = (w / s for w, s in zip(self.weights, self.decays, strict=True))
        return sum(parts, start=arb(0)) / self.served / self.load

    def later(self, time: arb) -> tuple[arb, arb]:
        """Return which share of the items waits longer, with its slope."""
        share, slope = arb(0), arb(0)
        for weight, decay in zip(self.weights, self.decays, strict=True):
            part = weight * (-decay * self.served * time).exp() / self.load
            share += part
            slope -= part * decay * self.served
        return share, slope


def mixtures(sources: arb, active: arb, peak: arb) -> list[BallMixture] | None:
    """Return the one or two mixtures of which the longer wait counts, of exact operands.

    None where no digits decide, and of too many sources.
    """
    high = sources.ceil().unique_fmpz()
    low = sources.floor().unique_fmpz()
    if low is None or high is None or high > on_off_numbers.MOST:
        return None
    with ctx.extraprec(_DIGITS):
        found = [_mixture(int(high), active, sources * active * peak)]
        if low != high and not low * peak <= 1:
            found.append(_mixture(int(low), active, low * active * peak))
    return found


def _mixture(count: int, active: arb, load: arb) -> BallMixture:
    served = count * active / load
    spare = count * active * (1 - load) / load
    if served < on_off_numbers.ALONE:
        return BallMixture(served, load, [load], [1 - load])
    starts = active / (1 - active)
    most = count - floor(float(served.mid()) * (1 + on_off_numbers.NEARLY))
    decays = [_decay(count, starts, served, spare, k) for k in range(most)]
    weights = []
    for k, decay in enumerate(decays):
        over = decay - starts - 1
        root = (over * over + 4 * starts * decay).sqrt()
        rises = (over + root) / 2 if over > 0 else 2 * starts * decay / (root - over)
        falls = starts * decay / rises
        some = ((decay - rises) / (falls - starts)) ** k if k else arb(1)
        weight = active**count * (1 + 1 / (starts + rises)) ** (count - k) * some
        for j, other in enumerate(decays):
            if j != k:
                weight *= abs(other / (other - decay))
        weights.append(weight)
    return BallMixture(served, load, weights, decays)


def _decay(count: int, starts: arb, served: arb, spare: arb, k: int) -> arb:
    both = starts + 1
    if k == 0:
        return both * spare * count / (served * (count - served))
    half, over = arb(count) / 2 - k, served - arb(count) / 2
    if half == 0:
        return -count * both / (2 * over)
    square = half * half - over * over
    line = half * half * (4 * starts - 2 * both) - over * count * both
    rest = both * both * (half * half - arb(count) * count / 4)
    root = abs(line * line - 4 * square * rest).sqrt()
    middle = -(line + root if line >= 0 else line - root) / 2
    roots = [rest / middle, middle / square]

    def miss(decay: arb) -> float:
        inner = ((decay - both) ** 2 + 4 * starts * decay).sqrt()
        return abs(float((count * (decay - both) / 2 + half * inner - served * decay).mid()))

    found = [one for one in roots if one > 0]
    return min(found, key=miss) if found else arb.nan()


# -- waits -------------------------------------------------------------------------------


def burst_wait(sources: arb, active: arb, peak: arb) -> arb:
    """Return the mean wait of flows that are on and off."""
    known = _of_bursts(sources, active, peak)
    if known is not None:
        return known

    def mean(*at: arb) -> arb:
        found = mixtures(*at)
        return UNKNOWN if found is None else reduce(arb.max, (one.mean for one in found))

    proven = at_ends(mean, sources, active, peak)
    if proven.is_finite():
        return proven
    return by_floats(on_off_numbers.burst_wait, (1, 1, 1), sources, active, peak)


def burst_quantile(sources: arb, active: arb, peak: arb, level: arb) -> arb:
    """Return the quantile of the wait of flows that are on and off."""
    refuse(bool(level < 0) or bool(level >= 1))
    known = _of_bursts(sources, active, peak)
    if known is not None or not (level >= 0 and level < 1):
        return UNKNOWN if known is None else known
    numbers = on_off_numbers.burst_quantile

    def quantile(*at: arb) -> arb:
        found = mixtures(*at[:3])
        if found is None:
            return UNKNOWN
        late = 1 - at[3]
        start = numbers(*(float(one.mid()) for one in at))
        return reduce(arb.max, (_later_than(one, late, start) for one in found))

    proven = at_ends(quantile, sources, active, peak, level)
    if proven.is_finite():
        return proven
    return by_floats(numbers, (1, 1, 1, 1), sources, active, peak, level)


def _later_than(found: BallMixture, late: arb, start: float) -> arb:
    """Return the time beyond which so few wait."""
    if found.later(arb(0))[0] <= late:
        return arb(0)

    def excess(time: arb) -> tuple[arb, arb]:
        share, slope = found.later(time)
        return (share / late).log(), slope / share

    return root(excess, start)


def _of_bursts(sources: arb, active: arb, peak: arb) -> arb | None:
    """Return the wait where that does not rest on the law of bursts, None where it does."""
    refuse(any(bool(one < 0) for one in (sources, active, peak)) or bool(active > 1))
    if is_unknown(sources, active, peak):
        return UNKNOWN
    if sources.is_zero() or active.is_zero() or peak.is_zero():
        refuse(is_infinite(sources) or is_infinite(peak))
        return arb(0)
    if sources * active * peak >= 1:
        return INFINITE
    is_below = sources * active * peak < 1
    if is_below and sources * peak <= 1:
        return arb(0)
    return None if is_below and sources > 0 and active > 0 and peak > 0 and active <= 1 else UNKNOWN


def uneven(arrivals: arb, service: arb, load: arb) -> arb:
    """Return how long what has to wait does so, where that is 1/(1 - load) of this."""
    operands = (arrivals, service, load)
    refuse(any(bool(one < 0) for one in operands))
    if is_unknown(*operands) or not all(one >= 0 for one in operands):
        return UNKNOWN
    if all(one.is_exact() or is_infinite(one) for one in operands):
        return _uneven(*operands)
    return at_ends(_uneven, *operands)


def _uneven(arrivals: arb, service: arb, load: arb) -> arb:
    half = (arrivals + service) / 2
    if arrivals >= 1 or load >= 1 or is_infinite(half):
        return half
    if half.is_zero() or load.is_zero():
        return arb(0)
    return half * ((load - 1) * (1 - arrivals) ** 2 / (3 * load * half)).exp()
