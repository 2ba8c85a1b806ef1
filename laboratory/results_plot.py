"""The picture of the results: what was predicted of each setting, beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from predictions import Prediction
from results import LaboratoryResult

_COLUMNS = 4
_SIZE = 2.6
_HIT, _MISSED, _NO_INTERVAL = "#0072B2", "#D55E00", "#444444"
"""Okabe and Ito's: held by the interval, missed by it, none stated."""
_FACTORS = {"%": 100.0, "ms": 1000.0}


def draw(found: dict[str, LaboratoryResult], path: Path) -> None:
    """Write a panel for each row of the table: predictions over measurements, on logarithmic axes.

    On the line both are the same; the band is 15 % to both sides of it.
    """
    panels = [
        (title, predictions)
        for one in found.values()
        for title, predictions in one.predictions.items()
        if predictions
    ]
    rows = ceil(len(panels) / _COLUMNS)
    settings = {"svg.fonttype": "none", "svg.hashsalt": "laboratory", "font.size": 7}
    with mpl.rc_context(settings):
        figure, axes = plt.subplots(
            rows,
            _COLUMNS,
            figsize=(_COLUMNS * _SIZE, rows * _SIZE),
            squeeze=False,
            layout="constrained",
        )
        places = [one for row in axes for one in row]
        for place, (title, predictions) in zip(places, panels, strict=False):
            _panel(place, title, predictions)
        for place in places[len(panels) :]:
            place.set_axis_off()
        figure.suptitle(
            "One point per setting, with its 90 % prediction interval: blue inside, orange "
            "outside, gray without interval. The band is ±15 %.",
            fontsize=8,
        )
        figure.supxlabel("measured")
        figure.supylabel("predicted")
        figure.savefig(path, metadata={"Date": None}, facecolor="white")
        plt.close(figure)


def _panel(place: Any, title: str, predictions: Sequence[Prediction]) -> None:
    unit = predictions[0].unit
    factor = _FACTORS.get(unit, 1.0)
    values = [factor * v for one in predictions for v in (one.measured, one.predicted)]
    low, high = 0.7 * min(values), 1.4 * max(values)
    ends = [low, high]
    place.fill_between(
        ends, [0.85 * v for v in ends], [1.15 * v for v in ends], color="#0072B2", alpha=0.12, lw=0
    )
    place.plot(ends, ends, color="#999999", lw=0.8)
    for one in predictions:
        color = {None: _NO_INTERVAL, True: _HIT, False: _MISSED}[one.is_held]
        measured, predicted = factor * one.measured, factor * one.predicted
        if one.half_width is not None:
            width = factor * one.half_width
            bottom = max(predicted - width, low / 10)
            place.plot([measured] * 2, [bottom, predicted + width], color=color, lw=0.8)
        place.plot([measured], [predicted], "o", ms=3, color=color)
    place.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal")
    steps = (1.0, 2.0, 5.0) if high < 100 * low else (1.0,)
    for axis in (place.xaxis, place.yaxis):
        axis.set_major_locator(LogLocator(subs=steps))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    place.set_title(_wrapped(title), fontsize=7)
    place.set_xlabel(unit, fontsize=6, labelpad=1)


def _wrapped(title: str) -> str:
    """Return a title in lines that are no longer than a panel is wide."""
    lines = [""]
    for word in title.split():
        if lines[-1] and len(lines[-1]) + len(word) > 30:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)
