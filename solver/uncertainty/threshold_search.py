"""Where something begins to fail, of a few rows each of which takes long: in few steps.

The point is looked for beside one that is known of the numbers as they are stated; between one that
holds and one that fails it is closed in on by false positions (M. Dowell and P. Jarratt 1971, A
modified regula falsi method for computing the root of an equation, BIT 11: what is kept twice is
halved), on the logarithm of the population.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field

from qps.solver.matrix.limits.failure_brackets import Excess
from qps.solver.matrix.limits.row_preparation import Floats, Rows

FIRST_OFF = 0.1
"""How far off a place may be near which to look, unless that is given."""
_LEAST_OFF = 1e-4
_MOST_STEPS = 60
_TURNS = 4
"""After so many steps a bracket is half as wide, or is halved."""
_RELATIVE_TOLERANCE = 1e-5
"""What is left of a bracket, as a part of the population, or of an excess as one of its limit."""
_LITTLE_EXCESS = 0.05
"""An excess beyond which a line that no longer moves tells nothing: it is bent where it ends."""
_SAFETY = 4.0
_FARTHER = 1.25
"""How much farther a step goes than a shape predicts: it is to lead to the other side."""
_WHOLE_FROM, _SEVERAL = 1000.0, 2.0
"""From so many on whole populations are looked at, if there are several in a bracket."""


class ExcessShape(Struct):
    """How far from the point at which it begins to fail something has which excess.

    In all samples that is much alike, as parts of the population: by what one of them had, an
    excess of others that is flat up to a knee is made nearly straight.
    """

    excess: Floats = field(default_factory=lambda: np.zeros(1))
    offsets: Floats = field(default_factory=lambda: np.zeros(1))

    @property
    def is_known(self) -> bool:
        """Whether points of a row are known on both sides."""
        return bool(self.excess[0] < 0 < self.excess[-1])

    def straight(self, excess: Floats) -> Floats:
        """Return about how far off points are, as logarithms, of the sign of their excess."""
        if not self.is_known:
            return excess
        beyond = excess - np.clip(excess, self.excess[0], self.excess[-1])
        slope = float(np.ptp(self.offsets) / np.ptp(self.excess))
        return np.asarray(np.interp(excess, self.excess, self.offsets) + slope * beyond)

    def learn(self, points: list[tuple[float, float]], root: float) -> None:
        """Take in the populations at which a row was looked at, and its excess at each."""
        offsets = {0.0: 0.0}
        for at, value in points:
            part = float(np.log(at / root))
            if np.isfinite(value) and value * part > 0:
                offsets.setdefault(value, part)
        both = np.array(sorted(offsets.items()))
        is_rising = both[:, 1] >= np.maximum.accumulate(both[:, 1])
        self.excess, self.offsets = both[is_rising].T


def crossings(
    rows: Rows,
    excess: Excess,
    low: float,
    high: float,
    start: float | Floats,
    off: float | Floats = FIRST_OFF,
    shape: ExcessShape | None = None,
) -> Floats:
    """Return where some rows begin to fail between two populations, looked for beside others.

    `low` for those that fail there, infinite for those that do not up to `high`. What once fails is
    taken to stay failing. `start` is where to look first, of all rows or of each, and `off` how far
    off that may be, as a part of it. A `shape` is that of the first row that was looked for by it.
    """
    curve = shape or ExcessShape()
    seen: list[tuple[float, float]] = []

    def straight(some: Rows, at: Floats) -> Floats:
        value = excess(some, at)
        if rows.count == 1:
            seen.append((float(at[0]), float(value[0])))
        is_little = np.abs(value) <= _RELATIVE_TOLERANCE
        return np.where(is_little, value * _RELATIVE_TOLERANCE, curve.straight(value))

    at = _whole(np.full(rows.count, np.clip(start, low, high)), low, high)
    value = straight(rows, at)
    holds, fails = np.where(value > 0, low, at), np.where(value > 0, at, high)
    at_holds, at_fails = np.where(value > 0, np.nan, value), np.where(value > 0, value, np.nan)
    found = np.full(rows.count, np.nan)
    left, step = np.arange(rows.count), np.full(rows.count, 1 + np.maximum(off, _LEAST_OFF))
    if curve.is_known:
        step = np.maximum(np.exp(_FARTHER * np.abs(value)), 1 + _LEAST_OFF)
    while left.size:  # outwards, by steps that grow
        is_up = np.isnan(at_fails[left])
        from_ = np.where(is_up, holds[left], fails[left])
        next_ = np.where(is_up, from_ * step[left], from_ / step[left])
        next_ = _whole(np.clip(next_, low, high), low, high)
        value = straight(rows.take(left), next_)
        is_failing = value > 0
        fails[left[is_failing]], at_fails[left[is_failing]] = next_[is_failing], value[is_failing]
        holds[left[~is_failing]], at_holds[left[~is_failing]] = (
            next_[~is_failing],
            value[~is_failing],
        )
        found[left[is_failing & (next_ <= low)]] = low
        found[left[~is_failing & (next_ >= high)]] = np.inf
        is_open = np.isnan(at_holds[left]) | np.isnan(at_fails[left])
        left, step = left[is_open & np.isnan(found[left])], step * step
    left = np.flatnonzero(np.isnan(found))
    bracket = (holds[left], fails[left]), (at_holds[left], at_fails[left])
    found[left] = _closed_in(rows.take(left), straight, *bracket)
    is_sure = bool(np.all(np.asarray(off) == 0))  # what is only verified shows no shape
    is_first = rows.count == 1 and shape is not None and not (shape.is_known or is_sure)
    if shape is not None and is_first and np.isfinite(found[0]):
        shape.learn(seen, float(found[0]))
    return found


def _whole(at: Floats, low: float, high: float) -> Floats:
    """Return whole populations where there are many: between these, values lie on lines."""
    return np.where(at >= _WHOLE_FROM, np.clip(np.rint(at), low, high), at)


def _closed_in(
    rows: Rows, excess: Excess, ends: tuple[Floats, Floats], values: tuple[Floats, Floats]
) -> Floats:
    """Return roots between points that hold and points that fail, both above zero."""
    low, high = ends[0].copy(), ends[1].copy()
    own_low, own_high = values[0].copy(), values[1].copy()
    at_low, at_high = own_low.copy(), own_high.copy()
    left, before = np.arange(rows.count), np.log(high / low)
    found = low * np.exp(_share(at_low, at_high) * before)
    last = np.zeros(rows.count)
    for turn in range(_MOST_STEPS):
        if not left.size:
            break
        width = np.log(high[left] / low[left])
        share = _share(at_low[left], at_high[left])
        if turn and turn % _TURNS == 0:  # at a jump, false positions creep
            share = np.where(width > before[left] / 2, 0.5, share)
            before[left] = width
        at = low[left] * np.exp(np.clip(share, 1e-3, 1 - 1e-3) * width)
        is_many = (low[left] >= _WHOLE_FROM) & (high[left] - low[left] >= _SEVERAL)
        at = np.where(is_many, np.clip(np.rint(at), low[left] + 1, high[left] - 1), at)
        value = excess(rows.take(left), at)
        is_failing = value > 0
        # The end that is kept twice counts less from now on: it must not be kept for good.
        with np.errstate(all="ignore"):
            part = 1 - value / np.where(is_failing, own_high[left], own_low[left])
        part = np.where((part > 0) & (part < 1), part, 0.5)
        part = np.where((last[left] > 0) == is_failing, part, 1.0)
        part = np.where(last[left] == 0, 1.0, part)
        last[left] = value
        at_high[left] = np.where(is_failing, value, part * at_high[left])
        at_low[left] = np.where(is_failing, part * at_low[left], value)
        fails, holds = left[is_failing], left[~is_failing]
        high[fails], own_high[fails] = at[is_failing], value[is_failing]
        low[holds], own_low[holds] = at[~is_failing], value[~is_failing]
        width, line = np.log(high[left] / low[left]), found[left]
        found[left] = low[left] * np.exp(_share(own_low[left], own_high[left]) * width)
        is_done = np.abs(found[left] / line - 1) <= _RELATIVE_TOLERANCE / _SAFETY
        is_done &= np.abs(value) <= _LITTLE_EXCESS
        is_done |= width <= _RELATIVE_TOLERANCE
        is_done |= (low[left] >= _WHOLE_FROM) & (high[left] - low[left] <= 1)
        left = left[~is_done]
    return found


def _share(at_low: Floats, at_high: Floats) -> Floats:
    """Return where a line meets zero between two points, as a part of the way; else the middle."""
    with np.errstate(all="ignore"):
        share = at_low / (at_low - at_high)
    return np.where(np.isfinite(share) & np.isfinite(at_high), share, 0.5)
