"""Lines over the hours of a day or a week, or over the time since an incident began."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from msgspec import Struct

from qps.compiler.quantities.clock_times import DAY, clock, day_of
from qps.reports.pages.drawings.chart_axes import (
    LEFT,
    RIGHT,
    WANTED_TICKS,
    WIDTH,
    ChartAxis,
    Tick,
    tick_at,
    value_axis,
    without_overlaps,
)
from qps.reports.pages.drawings.charts import LineChart, chart_rows, chart_series
from qps.reports.pages.json_values import Json
from qps.reports.text.solutions.course_text import duration_scale
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import number

_MINUTE = 60.0
_TICKS_OF_A_DAY = 3
_DIGITS = 6
_ABBREVIATED = 3


class TimeChart(Struct, frozen=True, kw_only=True):
    """Lines over times in s: of a `cycle` of so many minutes, or since an incident began, if 0.

    `scale` is the unit of the values that are drawn, and how much it is. With a `course`, scripts
    compute the lines again.
    """

    key: str
    title: str
    at: tuple[float, ...]
    cycle: int = 0
    lines: tuple[tuple[str, tuple[float, ...]], ...]
    scale: tuple[float, str]
    course: Mapping[str, Json] | None = None

    @property
    def heading(self) -> str:
        """The title, with the unit."""
        unit = self.scale[1]
        return phrase("course.chart.in_unit", title=self.title, unit=unit) if unit else self.title

    @property
    def time_scale(self) -> tuple[float, str]:
        """The unit of times: hours of a cycle, otherwise the one in which the last is read."""
        if self.cycle:
            return 60 * _MINUTE, ""
        return duration_scale(self.at[-1])

    @property
    def time_name(self) -> str:
        """What the times are."""
        if not self.cycle:
            return phrase("course.chart.since")
        return phrase("course.chart.of_day" if self.cycle == DAY else "course.chart.of_week")

    def time_text(self, seconds: float) -> str:
        """Return a time as it is read: on a clock, or a number of the unit of times."""
        if not self.cycle:
            return number(seconds / self.time_scale[0])
        minute = round(seconds / _MINUTE)
        if self.cycle == DAY:
            return phrase("course.chart.midnight") if minute == DAY else clock(minute)
        return f"{day_of(minute)[:_ABBREVIATED]} {clock(minute)}"

    def as_line_chart(self) -> LineChart:
        """Return the chart as it stands on a page before its scripts draw it."""
        x_factor, x_unit = self.time_scale
        factor, _ = self.scale
        scaled = [(name, [value / factor for value in values]) for name, values in self.lines]
        x = ChartAxis(low=self.at[0], high=self.at[-1], start=LEFT, end=WIDTH - RIGHT)
        shown = ChartAxis(
            low=x.low / x_factor, high=x.high / x_factor, start=LEFT, end=WIDTH - RIGHT
        )
        y = value_axis([v for _, values in scaled for v in values], is_logarithmic=False)
        ticks = (
            self._clock_ticks(x)
            if self.cycle
            else [tick_at(shown, v) for v in shown.ticks(WANTED_TICKS)]
        )
        return LineChart(
            key=f"figure-{self.key}",
            title=self.heading,
            description="; ".join(name for name, _ in self.lines),
            x_label=self._with_unit(self.time_name, x_unit),
            x_ticks=without_overlaps(ticks),
            y_ticks=tuple(tick_at(y, v) for v in y.ticks(5)),
            series=chart_series(x, y, self.at, scaled),
            rows=chart_rows(self.at, scaled, self.time_text, number),
        )

    def as_json(self) -> Json:
        """Return the chart as the scripts of a page draw it."""
        of_course = {} if self.course is None else {"course": self.course}
        return {
            **of_course,
            "title": self.title,
            "x": {
                "name": self.time_name,
                "values": list(map(_rounded, self.at)),
                "scale": list(self.time_scale),
                "isLog": False,
                "cycle": self.cycle,
                "days": [day_of(day * DAY)[:_ABBREVIATED] for day in range(7)]
                if self.cycle > DAY
                else [],
            },
            "y": {"scale": list(self.scale), "isLog": False},
            "lines": [
                {"name": name, "values": list(map(_rounded, values))} for name, values in self.lines
            ],
        }

    def _clock_ticks(self, x: ChartAxis) -> list[Tick]:
        step = _TICKS_OF_A_DAY * 60 if self.cycle == DAY else DAY
        ticks = []
        for minute in range(0, self.cycle + 1, step):
            text = self.time_text(minute * _MINUTE)
            if self.cycle > DAY:
                text = day_of(minute)[:_ABBREVIATED] if minute < self.cycle else ""
            ticks.append(
                Tick(x.at(minute * _MINUTE), text, "end" if minute == self.cycle else "middle")
            )
        return ticks

    @staticmethod
    def _with_unit(name: str, unit: str) -> str:
        return f"{name}, {unit}" if unit else name


def _rounded(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if isfinite(value) else None
