"""Traces as text and as plain values: jitter, compensation curve, best buffer, replays."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isnan

import numpy as np
from msgspec import Struct

from qps.compiler.quantities.dimension import TIME
from qps.reports.text.facts import COLUMNS
from qps.reports.text.quantities import number, percent, quantity
from qps.reports.text.table import Table, joined
from qps.reports.text.text_layout import Layout
from qps.reports.text.trace_limits import Limits
from qps.solver.traces.recorded_jitter import (
    JitterMeasures,
    Trace,
    best_buffer,
    buffer_for,
    compensation_curve,
    correlations,
    measures,
)
from qps.solver.traces.replay import Replay, expanding_time, ignoring_late, monitoring_queue

_CURVE_POINTS = 101
_ALLOWED = tuple(Fraction(n, 1000) for n in (100, 60, 50, 20, 10, 5, 1, 0))
_CORRELATED = (
    "range",
    "variance",
    "standard_deviation",
    "absolute_deviation",
    "gaps",
    "area",
)
"""The measures of Claypool 1997, table 3.2, in its order."""
FEWEST_CORRELATED = 3


USUAL_BUFFER = Fraction(1, 4)


class CurvePoint(Struct, frozen=True):
    """A playout buffer in s, and its share of gaps."""

    buffer: float
    gaps: float


class Tolerance(Struct, frozen=True):
    """A fraction of gaps, and the smallest playout buffer (s) that meets it; None if none does."""

    gaps: float
    buffer: float | None


class BestView(Struct, frozen=True):
    """The best playout buffer within the limits; times in s."""

    buffer: float
    gaps: float
    distance: float
    acceptable: bool


class TraceView(Struct, frozen=True, kw_only=True):
    """A trace and its results; times in s, `variance` in s^2, `gaps` of jitter in 1/s."""

    file: str
    sent: int
    received: int
    lost: int
    loss: float
    duplicates: int
    duration: float
    period: float
    gaps_buffer: float
    jitter: JitterMeasures
    curve: tuple[CurvePoint, ...]
    tolerances: tuple[Tolerance, ...]
    best: BestView
    replay_buffer: float
    replays: tuple[Replay, ...]


class TracesView(Struct, frozen=True, kw_only=True):
    """Several traces, and correlations of their measures; null if undefined."""

    schema: str
    limits: dict[str, float]
    traces: tuple[TraceView, ...]
    correlated: tuple[str, ...]
    correlations: tuple[tuple[float, ...], ...] | None
    acceptable: bool


def traces_view(traces: Sequence[Trace], limits: Limits) -> TracesView:
    """Return everything that is told of some traces."""
    views = tuple(_view(trace, limits) for trace in traces)
    table = None
    if len(views) >= FEWEST_CORRELATED:
        columns = [[float(getattr(v.jitter, name)) for v in views] for name in _CORRELATED]
        table = tuple(tuple(row) for row in correlations(columns))
    return TracesView(
        schema="qps/trace/1",
        limits={"latency": float(limits.latency), "gaps": float(limits.gaps)},
        traces=views,
        correlated=_CORRELATED if table else (),
        correlations=table,
        acceptable=all(view.best.acceptable for view in views),
    )


def _view(trace: Trace, limits: Limits) -> TraceView:
    at = USUAL_BUFFER if limits.buffer is None else limits.buffer
    best = best_buffer(trace, limits.latency, limits.gaps)
    replayed = best.buffer if limits.buffer is None else limits.buffer
    return TraceView(
        file=trace.file,
        sent=trace.sent,
        received=trace.received,
        lost=trace.lost,
        loss=trace.lost / trace.sent,
        duplicates=trace.duplicates,
        duration=trace.duration,
        period=trace.seconds(trace.period),
        gaps_buffer=float(at),
        jitter=measures(trace, at),
        curve=_curve(trace),
        tolerances=tuple(Tolerance(float(share), buffer_for(trace, share)) for share in _ALLOWED),
        best=BestView(float(best.buffer), best.gaps, best.distance, best.distance <= 1),
        replay_buffer=float(replayed),
        replays=(
            ignoring_late(trace, replayed),
            expanding_time(trace, replayed),
            monitoring_queue(trace, replayed, limits.thresholds),
        ),
    )


def _curve(trace: Trace) -> tuple[CurvePoint, ...]:
    """Return the compensation curve at even steps, or at each of its own where these are few."""
    buffers, shares = compensation_curve(trace)
    if len(buffers) > _CURVE_POINTS:
        even = np.linspace(0.0, buffers[-1], _CURVE_POINTS)
        at = np.searchsorted(buffers, even, side="right") - 1
        buffers, shares = even, shares[at]
    return tuple(map(CurvePoint, buffers.tolist(), shares.tolist()))


# -- text --------------------------------------------------------------------------------


def traces_text(view: TracesView, *, markdown: bool = False, width: int = COLUMNS) -> str:
    """Return each trace with its best playout buffer, and how the measures correlate."""
    layouts = [_layout(trace, view) for trace in view.traces]
    if view.correlations is not None:
        title = f"Correlation of the measures over {len(view.traces)} traces"
        layouts.append(Layout(title=title, tables=(_correlations(view),)))
    return joined([layout.printed(markdown=markdown, width=width) for layout in layouts])


def _layout(trace: TraceView, view: TracesView) -> Layout:
    return Layout(
        title="Packet trace: jitter and playout buffer",
        place=trace.file,
        facts=(("Packets", _packets(trace)), ("Best buffer", _best(trace, view))),
        tables=(_jitter(trace), _tolerances(trace), _replays(trace)),
    )


def _packets(trace: TraceView) -> str:
    parts = [f"{trace.sent:,} in {_time(trace.duration)}, one every {_time(trace.period)}"]
    if trace.lost:
        parts.append(f"{trace.lost:,} lost ({percent(trace.loss)})")
    if trace.duplicates:
        parts.append(f"{trace.duplicates:,} duplicate{'s' * (trace.duplicates != 1)}")
    return ", ".join(parts)


_EXPLAINED = {
    "range": "longest minus shortest interval",
    "longest": "longest interval between packets",
    "mean": "mean interval between packets",
    "variance": "of the intervals between packets",
    "standard_deviation": "of the intervals between packets",
    "absolute_deviation": "mean distance from the mean interval",
    "total_absolute_deviation": "sum of these distances",
    "area": "under the curve below: mean lateness",
}


def _jitter(trace: TraceView) -> Table:
    rows = []
    for name in trace.jitter.__struct_fields__:
        value = getattr(trace.jitter, name)
        told = f"with a playout buffer of {_time(trace.gaps_buffer)}"
        shown = f"{number(value)}/s" if name == "gaps" else _time(value)
        if name == "variance":
            shown = quantity(value, TIME * TIME)
        rows.append((name.replace("_", " "), shown, _EXPLAINED.get(name, told)))
    headings = ("Jitter", "Value", "Definition")
    return Table(headings, tuple(rows), frozenset([1]), long=frozenset([2]))


def _tolerances(trace: TraceView) -> Table:
    rows = tuple(
        (percent(item.gaps), "none" if item.buffer is None else _time(item.buffer))
        for item in trace.tolerances
    )
    return Table(("Gaps at most", "Playout buffer"), rows, frozenset([0, 1]))


def _best(trace: TraceView, view: TracesView) -> str:
    """Return the best buffer beside the limits on its delay and its gaps."""
    best = trace.best
    limits = f"{_time(view.limits['latency'])} and {percent(view.limits['gaps'])} gaps"
    found = f"{_time(best.buffer)} with {percent(best.gaps)} gaps"
    distance = f"distance {number(best.distance, 3)}, limit 1"
    if best.acceptable:
        return f"{found}, within the limits of {limits} ({distance})"
    return f"none within the limits of {limits}; nearest: {found} ({distance})"


def _replays(trace: TraceView) -> Table:
    rows = tuple(
        (
            replay.policy,
            f"{replay.shown:,}",
            f"{replay.late:,}",
            f"{replay.discarded:,}",
            f"{replay.gaps:,}",
            _time(replay.mean_latency),
            _time(replay.longest_latency),
            _time(replay.last_latency),
        )
        for replay in trace.replays
    )
    policy = f"Policy at {_time(trace.replay_buffer)}"
    headings = (policy, "Shown", "Late", "Discarded", "Gaps", "Latency", "Longest", "Last")
    return Table(headings, rows, frozenset(range(1, 8)), long=frozenset([0]))


def _correlations(view: TracesView) -> Table:
    assert view.correlations is not None
    names = [name.replace("_", " ") for name in view.correlated]
    rows = tuple(
        (name, *("–" if isnan(value) else f"{value:.2f}" for value in row))
        for name, row in zip(names, view.correlations, strict=True)
    )
    short = (name.replace("standard", "std.").replace("absolute", "abs.") for name in names)
    headings = ("", *(name.replace("deviation", "dev.") for name in short))
    return Table(headings, rows, frozenset(range(1, len(names) + 1)), long=frozenset([0]))


def _time(value: float) -> str:
    return quantity(value, TIME)
