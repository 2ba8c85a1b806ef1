"""The steps of a request as a strip, for who runs no scripts: from left to right as time goes by.

The scripts draw it, too (`live/charts/waterfall.js`). Below the steps stands what all of them
take on average, and what 99 of 100 requests stay within.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.compiler.quantities.dimension import TIME
from qps.reports.pages.drawings.time_shapes import (
    SPENT,
    SPENT_WITH,
    Segment,
    Stop,
    is_drawn,
    share_of,
)
from qps.reports.text.words.certainty_marks import marked_value
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent, quantity
from qps.solver.details.request_path import PathThere, StepThere

SUMS = phrase("way.average"), phrase("way.late")
MOST_ROWS = 40
WIDTH, LINE = 960, 24
_LETTER, _INDENT, _LEFT = 7, 12, 30
_LABEL_WIDTH = 190  # what stands behind a bar
_MOST_LETTERS = 42


class StripStop(Stop, frozen=True, kw_only=True):
    """A stop that begins at `start`, in s."""

    start: float


class StripRow(Struct, frozen=True, kw_only=True):
    """A step: its number, its name and where that stands, its bars, the text behind them."""

    number: str
    name: str
    left: float
    y: float
    bars: tuple[Segment, ...]
    label: str
    label_x: float


class Strip(Struct, frozen=True, kw_only=True):
    """The drawing; `left_out` names steps that stand in the table alone."""

    width: int
    height: int
    rows: tuple[StripRow, ...]
    left_out: str


def spans_of(steps: Sequence[StepThere], labels: Labels = PLAIN) -> list[StripStop]:
    """Return the stops of a path; calls made together begin at the same time."""
    found: list[StripStop] = []
    at = 0
    is_new = True  # whether what comes next is a stop of its own, be it at the same place

    def line(depth: int, start: float) -> float:
        now = start
        while at < len(steps) and steps[at].depth == depth:
            now = passed(depth, now)
        return now

    def passed(depth: int, start: float) -> float:
        nonlocal at, is_new
        step = steps[at]
        at += 1
        if step.kind == "call":
            is_new = True
            return line(depth + 1, start)
        taken = step.there
        if step.kind == "together":
            is_new = True
            while at < len(steps) and steps[at].depth == depth + 1:
                passed(depth + 1, start)
            return start + taken
        if step.is_apart and taken == 0:
            return start
        name = labels.stage(step.name if step.is_apart or not step.place else step.place)
        spent = dict.fromkeys(SPENT, 0.0) | {SPENT_WITH[step.kind]: taken}
        last = found[-1] if found else None
        if last is not None and not is_new and (last.name, last.depth) == (name, depth):
            both = {word: last.spent[word] + spent[word] for word in spent}
            found[-1] = StripStop(name=name, depth=depth, start=last.start, spent=both)
        else:
            found.append(StripStop(name=name, depth=depth, start=start, spent=spent))
        is_new = False
        return start + taken

    while at < len(steps):
        line(steps[at].depth, 0.0)
    return found


def strip_of(path: PathThere, spans: Sequence[StripStop]) -> Strip:
    """Return the strip of a path, its longest steps where there are very many."""
    total, late = path.mean, path.late
    drawn = [(at, span) for at, span in enumerate(spans) if is_drawn(total, span.value)]
    longest = sorted(drawn, key=lambda one: -one[1].value)[:MOST_ROWS]
    shown = sorted(longest, key=lambda one: one[0])
    ends = [total, late, *(span.start + span.value for _, span in shown)]
    whole = max([end for end in ends if isfinite(end)], default=0.0) or 1.0
    names = [*SUMS, *(_named(span) for _, span in shown)]
    left = (
        _LEFT
        + _LETTER * max(map(len, names))
        + _INDENT * max((s.depth for _, s in shown), default=0)
    )
    scale = (WIDTH - left - _LABEL_WIDTH) / whole
    numbers = {at: number for number, (at, _) in enumerate(drawn, 1)}
    rows = [
        *(_row(span, numbers[at], n, (left, scale, total)) for n, (at, span) in enumerate(shown)),
        *_sums(path, len(shown), (left, scale)),
    ]
    rest = len(drawn) - len(shown)
    return Strip(
        width=WIDTH,
        height=len(rows) * LINE + 8,
        rows=tuple(rows),
        left_out=phrase("report.shorter_steps", count=rest) if rest else "",
    )


def _row(span: StripStop, number: int, n: int, to: tuple[float, float, float]) -> StripRow:
    left, scale, total = to
    x = start = left + scale * (span.start if isfinite(span.start) else 0.0)
    bars = []
    for spent, taken in span.spent.items():
        if taken > 0:
            width = scale * taken if isfinite(taken) else WIDTH - _LABEL_WIDTH - start
            bars.append(Segment(spent, round(x, 1), round(max(width, 1.0), 1)))
            x += width
    return StripRow(
        number=str(number),
        name=_named(span),
        left=_LEFT + _INDENT * span.depth,
        y=8 + n * LINE,
        bars=tuple(bars),
        label=f"{quantity(span.value, TIME, 3)}, {percent(share_of(total, span.value))}",
        label_x=round(min(x, WIDTH - _LABEL_WIDTH) + 5, 1),
    )


def _sums(path: PathThere, n: int, to: tuple[float, float]) -> Iterator[StripRow]:
    """Yield what the path takes on average, and what nearly all requests stay within."""
    left, scale = to
    sums = (path.mean, path.mean_known), (path.late, path.late_known)
    for at, (name, (taken, known)) in enumerate(zip(SUMS, sums, strict=True), n):
        width = scale * taken if isfinite(taken) else WIDTH - _LABEL_WIDTH - left
        yield StripRow(
            number="",
            name=name,
            left=_LEFT,
            y=8 + at * LINE,
            bars=(Segment("all", left, round(max(width, 1.0), 1)),),
            label=marked_value(quantity(taken, TIME, 3), taken, known),
            label_x=round(left + width + 5, 1),
        )


def _named(span: StripStop) -> str:
    name = printable(span.name)
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"
