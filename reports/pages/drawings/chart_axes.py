"""The axes of a chart: where values lie in the units of its view box, and round numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite, log10

from msgspec import Struct

from qps.reports.text.words.quantities import number

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 80, 16, 34, 46
WANTED_TICKS = 6
_FEW_DECADES = 4
_MOST_DECADES = 8
_HARDLY = 0.01
LETTER_WIDTH = 7.5


class Tick(Struct, frozen=True):
    """A place on an axis and what stands there."""

    at: float
    text: str
    anchor: str = "middle"


class ChartAxis(Struct, frozen=True, kw_only=True):
    """An axis from `low` to `high`, drawn from `start` to `end`, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    is_logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return where a value lies; on a logarithmic axis it must be above zero.

        >>> ChartAxis(low=0, high=10, start=100, end=200).at(5)
        150.0
        >>> ChartAxis(low=1, high=100, start=0, end=200, is_logarithmic=True).at(10)
        100.0
        """
        low, high = self.low, self.high
        if self.is_logarithmic:
            low, high, value = log10(low), log10(high), log10(value)
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def ticks(self, wanted: int) -> tuple[float, ...]:
        """Return round numbers on the axis; on a logarithmic one powers of ten, and parts."""
        if not self.is_logarithmic:
            return ticks(self.low, self.high, wanted)
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        parts = (1, 2, 5) if len(decades) <= _FEW_DECADES else (1,)
        found = [part * 10.0**power for power in decades for part in parts]
        return tuple(v for v in found if self.low * (1 - 1e-9) <= v <= self.high * (1 + 1e-9))


def ticks(low: float, high: float, wanted: int = WANTED_TICKS) -> tuple[float, ...]:
    """Return round numbers between two bounds.

    >>> ticks(0, 100)
    (0, 20, 40, 60, 80, 100)
    """
    step = _round_step((high - low) / wanted)
    first = ceil(low / step - 1e-9)
    last = floor(high / step + 1e-9)
    return tuple(round(i * step) if step == int(step) else i * step for i in range(first, last + 1))


def _round_step(rough: float) -> float:
    power = 10.0 ** floor(log10(rough))
    for factor in (1, 2, 2.5, 5, 10):
        if rough <= factor * power * (1 + 1e-9):
            return factor * power
    return 10 * power


def tick_at(axis: ChartAxis, value: float) -> Tick:
    """Return a tick; the text of the last one stays inside."""
    text, at = number(value), axis.at(value)
    beyond = at + len(text) * LETTER_WIDTH / 2 > WIDTH
    return Tick(at, text, "end" if beyond else "middle")


def without_overlaps(found: Sequence[Tick]) -> tuple[Tick, ...]:
    """Return the ticks whose texts do not touch the one before."""
    shown: list[Tick] = []
    for tick in found:
        before = shown[-1] if shown else None
        width = LETTER_WIDTH * (len(tick.text) + len(before.text) + 2) / 2 if before else 0.0
        if before is None or tick.at - before.at >= width:
            shown.append(tick)
    return tuple(shown)


def value_axis(values: Sequence[float], is_logarithmic: bool) -> ChartAxis:  # noqa: FBT001
    """Return the vertical axis that shows all values; a logarithmic one up to eight decades."""
    finite = [value for value in values if isfinite(value)]
    if is_logarithmic:
        above = [value for value in finite if value > 0] or [1.0, 10.0]
        highest = 10.0 ** ceil(log10(max(above)) - 1e-9)
        lowest = max(10.0 ** floor(log10(min(above)) + 1e-9), highest / 10.0**_MOST_DECADES)
        lowest = min(lowest, highest / 10)
        return ChartAxis(
            low=lowest, high=highest, start=HEIGHT - BOTTOM, end=TOP, is_logarithmic=True
        )
    low, high = min([0.0, *finite]), max([0.0, *finite])
    if low == high:
        high = 1.0
    if low > -_HARDLY * (high - low):
        low = 0.0
    step = _round_step((high - low) / 5)
    return ChartAxis(
        low=step * floor(low / step), high=step * ceil(high / step), start=HEIGHT - BOTTOM, end=TOP
    )


def highest_share(values: Sequence[float]) -> float:
    """Return where the vertical axis ends: just above what there is, at most at 150 %."""
    finite = [value for value in values if isfinite(value)]
    highest = max(finite, default=1.0)
    if highest >= 0.5:  # noqa: PLR2004 - from half on, saturation is worth seeing
        return 1.5 if highest > 1.2 else 1.2  # noqa: PLR2004
    if highest <= 0:
        return 0.1
    step = _round_step(highest * 1.1 / 5)
    return step * ceil(highest * 1.1 / step)


def population_ticks(x: ChartAxis) -> tuple[Tick, ...]:
    """Return ticks at whole populations, the first and last kept off the edges."""
    whole = [value for value in ticks(x.low, x.high) if value == int(value)]
    return tuple(Tick(x.at(value), f"{int(value):,}") for value in whole)


def share_ticks(y: ChartAxis, shares: Sequence[float]) -> tuple[Tick, ...]:
    """Return ticks in percent: the last one says so, the others keep the room of its sign."""
    *others, last = shares
    return (
        *(Tick(y.at(one), f"{one * 100:g}\N{EM SPACE}") for one in others),
        Tick(y.at(last), f"{last * 100:g} %"),
    )
