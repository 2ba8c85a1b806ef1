"""Line charts as plain numbers: lines over the population or a parameter, ready for SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from math import isfinite, nan

from msgspec import Struct

from qps.compiler.quantities.dimension import Dimension
from qps.reports.pages.drawings.chart_axes import (
    BOTTOM,
    HEIGHT,
    LEFT,
    LETTER_WIDTH,
    RIGHT,
    TOP,
    WANTED_TICKS,
    WIDTH,
    ChartAxis,
    Tick,
    highest_share,
    population_ticks,
    share_ticks,
    tick_at,
    ticks,
    value_axis,
    without_overlaps,
)
from qps.reports.pages.drawings.line_thinning import line_points
from qps.reports.pages.drawings.stacked_bars import COLORS
from qps.reports.text.words.quantities import number, percent, scale_of, unit_symbols

# These distinguish lines in print.
DASHES = ("", "8 4", "2 4", "10 4 2 4", "5 3", "1 3", "12 3", "6 2 1 2")
_TABLE_ROWS = 12
_LABEL_HEIGHT = 16
_UNSEEN = 0.1
"""By how much of its units a line may lie elsewhere."""


class ChartSeries(Struct, frozen=True):
    """A line: its name, its path, and how it is drawn."""

    name: str
    path: str
    color: str
    dash: str


class ChartMark(Struct, frozen=True, kw_only=True):
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
    series: tuple[ChartSeries, ...]
    marks: tuple[ChartMark, ...] = ()
    region: Region | None = None
    limit_y: float | None = None
    limit_label: str = ""
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    leads: tuple[str, ...] = ()


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
    top = highest_share([value for _, values in lines for value in values])
    x = ChartAxis(low=populations[0], high=populations[-1], start=LEFT, end=WIDTH - RIGHT)
    y = ChartAxis(low=0, high=top, start=HEIGHT - BOTTOM, end=TOP)
    series = chart_series(x, y, populations, lines)
    return LineChart(
        key=key,
        title=title,
        description=description,
        x_label=x_label,
        x_ticks=population_ticks(x),
        y_ticks=share_ticks(y, ticks(0, top, 5)),
        series=series,
        marks=_marks(x, y, series, marks) if top >= 1 else (),
        region=None if region is None else _region(x, region),
        limit_y=y.at(1) if top >= 1 else None,
        limit_label=limit_label,
        rows=chart_rows(populations, lines, number, percent),
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
    x = ChartAxis(
        low=places[0],
        high=places[-1],
        start=LEFT,
        end=WIDTH - RIGHT,
        is_logarithmic="x" in logarithmic,
    )
    y = value_axis([v for _, values in scaled for v in values], "y" in logarithmic)
    return LineChart(
        key=key,
        title=f"{title}, in {unit_symbols(y_unit)}" if y_unit else title,
        description="; ".join(name for name, _ in lines),
        x_label=f"{axis[0]}, {unit_symbols(x_unit)}" if x_unit else axis[0],
        x_ticks=without_overlaps([tick_at(x, v) for v in x.ticks(WANTED_TICKS)]),
        y_ticks=tuple(tick_at(y, v) for v in y.ticks(5)),
        series=chart_series(x, y, places, scaled),
        rows=chart_rows(places, scaled, number, number),
        note=note,
        leads=tuple(leads),
    )


def chart_rows(
    at: Sequence[float],
    lines: Sequence[tuple[str, Sequence[float]]],
    format_x: Callable[[float], str],
    format_y: Callable[[float], str],
) -> tuple[tuple[str, ...], ...]:
    """Return some points of all lines as a table."""
    step = max(1, round((len(at) - 1) / _TABLE_ROWS))
    chosen = sorted({*range(0, len(at), step), len(at) - 1})
    return tuple((format_x(at[i]), *(format_y(values[i]) for _, values in lines)) for i in chosen)


def chart_series(
    x: ChartAxis, y: ChartAxis, at: Sequence[float], lines: Sequence[tuple[str, Sequence[float]]]
) -> tuple[ChartSeries, ...]:
    """Return lines with their paths and colors."""
    looks = zip(cycle(COLORS), cycle(DASHES))
    return tuple(
        ChartSeries(name, _path(x, y, at, values), *look)
        for (name, values), look in zip(lines, looks, strict=False)
    )


def _path(x: ChartAxis, y: ChartAxis, at: Sequence[float], values: Sequence[float]) -> str:
    """Return the path of a line; far above the picture it is cut, where undefined it breaks."""
    across = [x.at(population) for population in at]
    up = [_height(y, value) for value in values]
    return "".join(
        f"{'L' if is_on else 'M'}{across[i]:.1f} {up[i]:.1f}"
        for run in line_points(across, up, _UNSEEN)
        for is_on, i in enumerate(run)
    )


def _height(y: ChartAxis, value: float) -> float:
    """Return where a value lies on the vertical axis, not-a-number for what has no place there."""
    if not isfinite(value) or (y.is_logarithmic and value <= 0):
        return nan
    highest = 4 * y.high
    return y.at(max(min(value, highest), y.low / 10 if y.is_logarithmic else -highest))


def _region(x: ChartAxis, region: tuple[float, float, str]) -> Region:
    low, high, label = region
    start, end = x.at(max(low, x.low)), x.at(min(high, x.high))
    return Region(start, max(end - start, 2.0), label)


def _marks(
    x: ChartAxis, y: ChartAxis, series: Sequence[ChartSeries], marks: Sequence[tuple[str, float]]
) -> tuple[ChartMark, ...]:
    """Return the saturation points in sight; labels that would touch are set lower."""
    drawn: list[ChartMark] = []
    colors = {line.name: line.color for line in series}
    for name, population in sorted(marks, key=lambda mark: mark[1]):
        if name not in colors or not x.low <= population <= x.high:
            continue
        px, py = x.at(population), y.at(1)
        shown = f"{name}: {number(population)}"
        # Loads rise: a line leaves room right below its saturation point, and left above it.
        at_right = px + 8 + len(shown) * LETTER_WIDTH > WIDTH - RIGHT
        label_y, step = (py - 10, -_LABEL_HEIGHT) if at_right else (py + 20, _LABEL_HEIGHT)
        while any(abs(m.label_y - label_y) < _LABEL_HEIGHT for m in drawn):
            label_y += step
        drawn.append(
            ChartMark(
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
