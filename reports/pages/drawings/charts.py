"""Pictures as plain numbers: lines over the population and stacked bars, ready for SVG.

All coordinates are in the units of the picture's own view box. Nothing here knows HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from math import ceil, floor, isfinite, log10, nan

from msgspec import Struct

from qps.compiler.quantities.dimension import Dimension
from qps.reports.pages.drawings.line_thinning import line_points
from qps.reports.text.words.quantities import number, percent, scale_of

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 80, 16, 34, 46

# Okabe and Ito's palette, told apart by colour-blind readers; the dashes tell them apart in print.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7F7F7F", "#B8A800")
DASHES = ("", "8 4", "2 4", "10 4 2 4", "5 3", "1 3", "12 3", "6 2 1 2")

_WANTED_TICKS = 6
_FEW_DECADES = 4
_MOST_DECADES = 8
_TABLE_ROWS = 12
_HARDLY = 0.01
_LABEL_HEIGHT = 16
_LETTER_WIDTH = 7.5
_UNSEEN = 0.1
"""By how much of its units a line may lie elsewhere."""


class Tick(Struct, frozen=True):
    """A place on an axis and what stands there."""

    at: float
    text: str
    anchor: str = "middle"


class Series(Struct, frozen=True):
    """A line: its name, its path, and how it is drawn."""

    name: str
    path: str
    color: str
    dash: str


class Mark(Struct, frozen=True, kw_only=True):
    """A point with a label; `anchor` is the side on which the label is set."""

    x: float
    y: float
    label: str
    label_x: float
    label_y: float
    anchor: str
    color: str


class Region(Struct, frozen=True):
    """A stretch of the horizontal axis with a name."""

    x: float
    width: float
    label: str


class LineChart(Struct, frozen=True, kw_only=True):
    """Lines over an axis; `limit_y` is where 100 % lies, None where it is not in sight.

    `rows` is the same as a table: a place on the axis, and the value of each line there.
    """

    key: str
    title: str
    description: str
    x_label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    region: Region | None = None
    limit_y: float | None = None
    limit_label: str = ""
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    leads: tuple[str, ...] = ()


class Segment(Struct, frozen=True, kw_only=True):
    """A part of a bar, in per cent of its full width."""

    name: str
    share: float
    offset: float
    color: str
    text: str


class Bar(Struct, frozen=True):
    """A bar of segments that add up to 100 %."""

    name: str
    segments: tuple[Segment, ...]


class Axis(Struct, frozen=True, kw_only=True):
    """An axis from `low` to `high`, drawn from `start` to `end`, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    is_logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return where a value lies; on a logarithmic axis it must be above zero.

        >>> Axis(low=0, high=10, start=100, end=200).at(5)
        150.0
        >>> Axis(low=1, high=100, start=0, end=200, is_logarithmic=True).at(10)
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


def ticks(low: float, high: float, wanted: int = _WANTED_TICKS) -> tuple[float, ...]:
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


def line_chart(
    key: str,
    title: str,
    description: str,
    x_label: str,
    populations: Sequence[float],
    lines: Sequence[tuple[str, Sequence[float]]],
    *,
    marks: Sequence[tuple[str, float]] = (),
    region: tuple[float, float, str] | None = None,
    limit_label: str = "100 %",
) -> LineChart:
    """Return a chart of shares (1 is 100 %) over the population.

    `marks` are names of lines with the population at which they reach 1; `region` is from,
    to and name. The vertical axis ends at 150 % at most, so that what lies far beyond
    saturation does not squash the rest.
    """
    top = _top([value for _, values in lines for value in values])
    x = Axis(low=populations[0], high=populations[-1], start=LEFT, end=WIDTH - RIGHT)
    y = Axis(low=0, high=top, start=HEIGHT - BOTTOM, end=TOP)
    series = _series(x, y, populations, lines)
    return LineChart(
        key=key,
        title=title,
        description=description,
        x_label=x_label,
        x_ticks=_population_ticks(x),
        y_ticks=tuple(Tick(y.at(v), f"{v * 100:g} %") for v in ticks(0, top, 5)),
        series=series,
        marks=_marks(x, y, series, marks) if top >= 1 else (),
        region=None if region is None else _region(x, region),
        limit_y=y.at(1) if top >= 1 else None,
        limit_label=limit_label,
        rows=_rows(populations, lines, number, percent),
    )


def figure_chart(
    key: str,
    title: str,
    axis: tuple[str, Dimension],
    at: Sequence[float],
    dimension: Dimension,
    lines: Sequence[tuple[str, Sequence[float]]],
    *,
    logarithmic: frozenset[str],
    note: str = "",
    leads: Sequence[str] = (),
) -> LineChart:
    """Return a chart of quantities over the population or a parameter, each in a unit that suits.

    `axis` is the name of what varies, and its dimension; `logarithmic` names axes, `x` or `y`.
    """
    x_factor, x_unit = scale_of(at[-1], axis[1])
    places = [point / x_factor for point in at]
    finite = [abs(v) for _, values in lines for v in values if isfinite(v)]
    y_factor, y_unit = scale_of(max(finite, default=0.0), dimension)
    scaled = [(name, [value / y_factor for value in values]) for name, values in lines]
    x = Axis(
        low=places[0],
        high=places[-1],
        start=LEFT,
        end=WIDTH - RIGHT,
        is_logarithmic="x" in logarithmic,
    )
    y = _value_axis([v for _, values in scaled for v in values], "y" in logarithmic)
    return LineChart(
        key=key,
        title=f"{title}, in {y_unit}" if y_unit else title,
        description="; ".join(name for name, _ in lines),
        x_label=f"{axis[0]}, {x_unit}" if x_unit else axis[0],
        x_ticks=_apart([_tick(x, v) for v in x.ticks(_WANTED_TICKS)]),
        y_ticks=tuple(_tick(y, v) for v in y.ticks(5)),
        series=_series(x, y, places, scaled),
        rows=_rows(places, scaled, number, number),
        note=note,
        leads=tuple(leads),
    )


def _tick(axis: Axis, value: float) -> Tick:
    """Return a tick; the text of the last one stays inside."""
    text, at = number(value), axis.at(value)
    beyond = at + len(text) * _LETTER_WIDTH / 2 > WIDTH
    return Tick(at, text, "end" if beyond else "middle")


def _apart(found: Sequence[Tick]) -> tuple[Tick, ...]:
    """Return the ticks whose texts do not touch the one before."""
    kept: list[Tick] = []
    for tick in found:
        before = kept[-1] if kept else None
        room = _LETTER_WIDTH * (len(tick.text) + len(before.text) + 2) / 2 if before else 0.0
        if before is None or tick.at - before.at >= room:
            kept.append(tick)
    return tuple(kept)


def _value_axis(values: Sequence[float], is_logarithmic: bool) -> Axis:  # noqa: FBT001
    """Return the vertical axis that shows all values; a logarithmic one up to eight decades."""
    finite = [value for value in values if isfinite(value)]
    if is_logarithmic:
        above = [value for value in finite if value > 0] or [1.0, 10.0]
        highest = 10.0 ** ceil(log10(max(above)) - 1e-9)
        lowest = max(10.0 ** floor(log10(min(above)) + 1e-9), highest / 10.0**_MOST_DECADES)
        lowest = min(lowest, highest / 10)
        return Axis(low=lowest, high=highest, start=HEIGHT - BOTTOM, end=TOP, is_logarithmic=True)
    low, high = min([0.0, *finite]), max([0.0, *finite])
    if low == high:
        high = 1.0
    if low > -_HARDLY * (high - low):
        low = 0.0
    step = _round_step((high - low) / 5)
    return Axis(
        low=step * floor(low / step), high=step * ceil(high / step), start=HEIGHT - BOTTOM, end=TOP
    )


def _rows(
    at: Sequence[float],
    lines: Sequence[tuple[str, Sequence[float]]],
    told_place: Callable[[float], str],
    told: Callable[[float], str],
) -> tuple[tuple[str, ...], ...]:
    """Return some points of all lines as a table."""
    step = max(1, round((len(at) - 1) / _TABLE_ROWS))
    chosen = sorted({*range(0, len(at), step), len(at) - 1})
    return tuple((told_place(at[i]), *(told(values[i]) for _, values in lines)) for i in chosen)


def _top(values: Sequence[float]) -> float:
    """Return where the vertical axis ends: just above what there is, at most at 150 %."""
    finite = [value for value in values if isfinite(value)]
    highest = max(finite, default=1.0)
    if highest >= 0.5:  # noqa: PLR2004 - from half on, saturation is worth seeing
        return 1.5 if highest > 1.2 else 1.2  # noqa: PLR2004
    if highest <= 0:
        return 0.1
    step = _round_step(highest * 1.1 / 5)
    return step * ceil(highest * 1.1 / step)


def _series(
    x: Axis, y: Axis, at: Sequence[float], lines: Sequence[tuple[str, Sequence[float]]]
) -> tuple[Series, ...]:
    looks = zip(cycle(COLORS), cycle(DASHES))
    return tuple(
        Series(name, _path(x, y, at, values), *look)
        for (name, values), look in zip(lines, looks, strict=False)
    )


def _path(x: Axis, y: Axis, at: Sequence[float], values: Sequence[float]) -> str:
    """Return the path of a line; far above the picture it is cut, where undefined it breaks."""
    across = [x.at(population) for population in at]
    up = [_height(y, value) for value in values]
    return "".join(
        f"{'L' if is_on else 'M'}{across[i]:.1f} {up[i]:.1f}"
        for run in line_points(across, up, _UNSEEN)
        for is_on, i in enumerate(run)
    )


def _height(y: Axis, value: float) -> float:
    """Return where a value lies on the vertical axis, not-a-number for what has no place there."""
    if not isfinite(value) or (y.is_logarithmic and value <= 0):
        return nan
    highest = 4 * y.high
    return y.at(max(min(value, highest), y.low / 10 if y.is_logarithmic else -highest))


def _population_ticks(x: Axis) -> tuple[Tick, ...]:
    """Return ticks at whole populations, the first and last kept off the edges."""
    whole = [value for value in ticks(x.low, x.high) if value == int(value)]
    return tuple(Tick(x.at(value), f"{int(value):,}") for value in whole)


def _region(x: Axis, region: tuple[float, float, str]) -> Region:
    low, high, label = region
    start, end = x.at(max(low, x.low)), x.at(min(high, x.high))
    return Region(start, max(end - start, 2.0), label)


def _marks(
    x: Axis, y: Axis, series: Sequence[Series], marks: Sequence[tuple[str, float]]
) -> tuple[Mark, ...]:
    """Return the saturation points in sight; labels that would touch are set lower."""
    drawn: list[Mark] = []
    colors = {line.name: line.color for line in series}
    for name, population in sorted(marks, key=lambda mark: mark[1]):
        if name not in colors or not x.low <= population <= x.high:
            continue
        px, py = x.at(population), y.at(1)
        shown = f"{name}: {number(population)}"
        # Loads rise: a line leaves room right below its saturation point, and left above it.
        at_right = px + 8 + len(shown) * _LETTER_WIDTH > WIDTH - RIGHT
        label_y, step = (py - 10, -_LABEL_HEIGHT) if at_right else (py + 20, _LABEL_HEIGHT)
        while any(abs(m.label_y - label_y) < _LABEL_HEIGHT for m in drawn):
            label_y += step
        drawn.append(
            Mark(
                x=px,
                y=py,
                label=shown,
                label_x=px - 8 if at_right else px + 8,
                label_y=label_y,
                anchor="end" if at_right else "start",
                color=colors[name],
            )
        )
    return tuple(drawn)


def bars(rows: Sequence[tuple[str, dict[str, float]]]) -> tuple[Bar, ...]:
    """Return stacked bars of shares; a component has one colour in all of them."""
    colors: dict[str, str] = {}
    for _, shares in rows:
        for name in shares:
            colors.setdefault(name, COLORS[len(colors) % len(COLORS)])
    built = []
    for name, shares in rows:
        offset = 0.0
        segments = []
        for part, share in shares.items():
            if share <= 0.0005:  # noqa: PLR2004 - invisible at any width
                continue
            segments.append(
                Segment(
                    name=part,
                    share=share * 100,
                    offset=offset,
                    color=colors[part],
                    text=f"{part} {share:.1%}",
                )
            )
            offset += share * 100
        built.append(Bar(name, tuple(segments)))
    return tuple(built)
