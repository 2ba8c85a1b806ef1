"""How sure the answer of a page is: sentences, a picture of the samples, what to measure next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct

from qps.reports.pages.drawings.chart_axes import LEFT, RIGHT, WIDTH, ChartAxis, Tick, ticks
from qps.reports.pages.plain_sentences import unquoted
from qps.reports.text.layout.table import Table
from qps.reports.text.solutions.accuracy_facts import is_of_forecast_only
from qps.reports.text.solutions.uncertainty_text import (
    likely_text,
    requirement_probabilities,
    samples_text,
    shares_table,
    uncertain_inputs,
    uncertainty_lines,
)
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent, rounded_down, rounded_up
from qps.solver.answer import Answer
from qps.solver.uncertainty.interval_result import AtConfidence, Uncertainty

HEIGHT, TOP, BOTTOM = 226, 62, 40
_TYPICAL = phrase("report.nominal_elsewhere")
_LETTER = 7.5
_LINE = 16
_ONE_BAR, _TOWERING = 0.5, 4
"""Part of the samples in one column, and how many times as high as any other it is then: beside
such a column others do not show."""


class HistogramBar(Struct, frozen=True, kw_only=True):
    """A column of a histogram; `is_inside` where it lies in the interval that is reported."""

    x: float
    y: float
    width: float
    height: float
    text: str
    is_inside: bool


class Line(Struct, frozen=True, kw_only=True):
    """An upright line with a label, which stands to its left or right."""

    x: float
    label: str
    label_x: float
    label_y: float
    anchor: str


class Histogram(Struct, frozen=True, kw_only=True):
    """How the samples of an answer are spread, in the units of the picture's own view box.

    It is `height` high, its axis at `bottom`.
    """

    height: int
    bottom: int
    title: str
    description: str
    x_label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    """Shares, where columns are cumulative: a histogram would have one column that shows."""
    columns: tuple[HistogramBar, ...]
    lines: tuple[Line, ...]
    interval: tuple[float, float]
    """The ends of the bar under the columns: the interval that is reported."""
    dot: float | None
    """The capacity that can be relied on, on that bar."""
    rows: tuple[tuple[str, str], ...]


class UncertaintySection(Struct, frozen=True, kw_only=True):
    """The section of a page on uncertain inputs."""

    lines: tuple[str, ...]
    histogram: Histogram | None
    """None where the uncertain inputs do not affect the capacity: then its limits are drawn."""
    likely: Table
    first: Table
    shares: Table


def uncertainty_section(answer: Answer, labels: Labels) -> UncertaintySection | None:
    """Return how sure the answer is; None where every number of the spec is known."""
    uncertainty = answer.uncertainty
    if uncertainty is None:
        return None
    return UncertaintySection(
        lines=(*_lines(answer, labels), _TYPICAL),
        histogram=None if is_of_forecast_only(answer) else _histogram(answer, uncertainty, labels),
        likely=Table(
            ("Requirement", phrase("page.met_probability", at=f"{answer.at:,}")),
            tuple(
                (labels.of(one.name), likely_text(one))
                for one in requirement_probabilities(answer, uncertainty)
            ),
            frozenset([1]),
        ),
        first=Table(
            ("Resource", phrase("report.probability_saturating_first")),
            tuple(
                (labels.of(one.name), percent(one.probability, 2))
                for one in uncertainty.bottlenecks
            ),
            frozenset([1]),
        ),
        shares=shares_table(answer, labels),
    )


def _lines(answer: Answer, labels: Labels) -> list[str]:
    return [unquoted(labels.sentence(line)) for line in uncertainty_lines(answer)]


def _histogram(answer: Answer, uncertainty: Uncertainty, labels: Labels) -> Histogram:
    found, name = uncertainty.distribution, answer.population
    end = found.start + found.width * len(found.counts)
    x = ChartAxis(low=found.start, high=max(end, found.start + 1), start=LEFT, end=WIDTH - RIGHT)
    is_cumulative = _has_one_bar(found.counts)
    heights = _or_more(found.counts) if is_cumulative else found.counts
    y = ChartAxis(low=0, high=max(heights), start=HEIGHT - BOTTOM, end=TOP)
    least, most = (
        answer.low - 1 if one is None else one
        for one in (uncertainty.interval.least, uncertainty.interval.most)
    )
    columns, rows = [], []
    for i, count in enumerate(heights):
        low = found.start + i * found.width
        high = min(low + found.width - 1, answer.high)
        share = percent(count / (sum(found.counts) if is_cumulative else uncertainty.samples), 2)
        place = _stretch(low, high, answer.low)
        if is_cumulative and high >= answer.low:
            place = phrase("ecdf.place", least=f"{max(low, answer.low):,}")
        columns.append(
            HistogramBar(
                x=x.at(low),
                y=y.at(count),
                width=max(x.at(low + found.width) - x.at(low) - (not is_cumulative), 1.0),
                height=y.at(0) - y.at(count),
                text=f"{place}: {share}",
                is_inside=high >= least and low <= most,
            )
        )
        rows.append((place, share))
    lines = _labeled_lines(answer, uncertainty, x)
    return Histogram(
        height=HEIGHT,
        bottom=HEIGHT - BOTTOM,
        y_ticks=_share_ticks(y) if is_cumulative else (),
        title=phrase(
            "ecdf" if is_cumulative else "histogram",
            noun=noun(name),
            samples=samples_text(uncertainty.samples, uncertain_inputs(uncertainty), labels),
        ),
        description="; ".join(_lines(answer, labels)),
        x_label=f"Capacity ({noun(name)}){_end_of_range(answer, uncertainty)}",
        x_ticks=tuple(_tick(x, int(v)) for v in ticks(x.low, x.high) if v == int(v)),
        columns=tuple(columns),
        lines=tuple(lines),
        interval=(_inside(x, least), _inside(x, most)),
        dot=lines[0].x if uncertainty.at_confidence.capacity is not None else None,
        rows=tuple(rows),
    )


def _labeled_lines(answer: Answer, uncertainty: Uncertainty, x: ChartAxis) -> list[Line]:
    """Return the capacity that can be relied on, the nominal one, and the end of the interval.

    That end has a line where it is above the others, and not the end of the range.
    """
    sure, most, nominal = uncertainty.at_confidence, uncertainty.interval.most, answer.capacity
    lines = []
    if sure.capacity is not None:
        lines.append(_line(x, sure.capacity, _confidence_sentence(answer, sure), 0))
    if nominal is not None:
        lines.append(_line(x, nominal, phrase("page.nominal_line", users=f"{nominal:,}"), 1))
    if most is not None and answer.high > most > max(nominal or 0, sure.capacity or 0):
        rest = percent(1 - sure.confidence)
        label = phrase("page.percentile", sure=rest, least=rounded_up(most))
        lines.append(_line(x, most, label, 2))
    return lines


def _inside(x: ChartAxis, population: int) -> float:
    """Return where a population stands, at an end of the axis where it is beyond it."""
    return min(max(x.at(population), x.start), x.end)


def _has_one_bar(counts: Sequence[int]) -> bool:
    """Return whether one bar is so high that the others do not show beside it."""
    *_, second, first = sorted((0, *counts))
    return first > _ONE_BAR * sum(counts) or first > _TOWERING * second


def _or_more(counts: Sequence[int]) -> list[int]:
    """Return how many samples are in each bin or above it."""
    return list(accumulate(reversed(counts)))[::-1]


def _share_ticks(y: ChartAxis) -> tuple[Tick, ...]:
    """Return ticks of half of the samples, and of all."""
    return tuple(Tick(y.at(y.high * part), percent(part), "start") for part in (0.5, 1.0))


def _confidence_sentence(answer: Answer, confidence: AtConfidence) -> str:
    """Return what as many samples reach as a promise is certain of; of what is exact, a confidence.

    A bound or an approximation has no confidence, as its model error is no matter of samples.
    """
    key = "page.confidence" if answer.known.is_exact else "page.percentile"
    least = rounded_down(confidence.capacity or 0)
    return phrase(key, sure=percent(confidence.confidence), least=least)


def _end_of_range(answer: Answer, uncertainty: Uncertainty) -> str:
    return phrase("page.range_end", high=f"{answer.high:,}") if uncertainty.beyond else ""


def _tick(x: ChartAxis, population: int) -> Tick:
    """Return a tick whose text stays inside."""
    at, text = x.at(population), f"{population:,}"
    return Tick(at, text, "end" if at + len(text) * _LETTER / 2 > WIDTH else "middle")


def _stretch(low: int, high: int, least: int) -> str:
    if high < least:
        return "none"
    return f"{max(low, least):,}" if high <= max(low, least) else f"{max(low, least):,}–{high:,}"


def _line(x: ChartAxis, population: int, label: str, row: int) -> Line:
    """Return a line left of all that carry a population, its label where there is room for it."""
    at = _inside(x, population)
    is_left = at + len(label) * _LETTER > x.end
    side = (at - 6, "end") if is_left else (at + 6, "start")
    return Line(x=at, label=label, label_x=side[0], label_y=12 + _LINE * row, anchor=side[1])
