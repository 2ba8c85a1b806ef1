"""Waits of flows that are on and off as balls, as `burst_numbers` has them."""

from __future__ import annotations

from math import floor
from typing import NamedTuple

from flint import arb, ctx

from qps.engine.queues import burst_numbers

_DIGITS = 192
"""Binary digits more than are told: decays may lie close together."""


class Mixture(NamedTuple):
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


def mixtures(sources: arb, active: arb, peak: arb) -> list[Mixture] | None:
    """Return the one or two mixtures of which the longer wait counts, of exact operands.

    None where no digits tell, and of too many sources.
    """
    high = sources.ceil().unique_fmpz()
    low = sources.floor().unique_fmpz()
    if low is None or high is None or high > burst_numbers.MOST:
        return None
    with ctx.extraprec(_DIGITS):
        found = [_mixture(int(high), active, sources * active * peak)]
        if low != high and not low * peak <= 1:
            found.append(_mixture(int(low), active, low * active * peak))
    return found


def _mixture(count: int, active: arb, load: arb) -> Mixture:
    served = count * active / load
    spare = count * active * (1 - load) / load
    if served < burst_numbers.ALONE:
        return Mixture(served, load, [load], [1 - load])
    starts = active / (1 - active)
    most = count - floor(float(served.mid()) * (1 + burst_numbers.NEARLY))
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
    return Mixture(served, load, weights, decays)


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
