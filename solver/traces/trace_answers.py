"""What recorded packets come to: jitter, the compensation curve, the best buffer, replays."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from msgspec import Struct, field

from qps.solver.traces.recorded_jitter import (
    JitterMeasures,
    RecordedTrace,
    best_buffer,
    buffer_for,
    compensation_curve,
    correlations,
    measures,
)
from qps.solver.traces.replay import (
    Replay,
    Thresholds,
    expanding_time,
    ignoring_late,
    monitoring_queue,
)

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
_FEWEST_CORRELATED = 3


_USUAL_BUFFER = Fraction(1, 4)


class PlayoutLimits(Struct, frozen=True):
    """Limits on the buffer's delay (s) and on the share of gaps (Claypool 1997, section 5.6.4).

    `buffer` (s) is the one at which gaps are counted and with which is replayed; where it is
    None, these are the 250 ms of table 3.2, and the best buffer.
    """

    latency: Fraction = Fraction(230, 1000)
    gaps: Fraction = Fraction(6, 100)
    buffer: Fraction | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)


class CurvePoint(Struct, frozen=True):
    """A playout buffer in s, and its fraction of gaps."""

    buffer: float
    gaps: float


class GapTolerance(Struct, frozen=True):
    """A gap fraction, and the smallest playout buffer (s) that meets it; None if no buffer does."""

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
    tolerances: tuple[GapTolerance, ...]
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


def trace_answers(traces: Sequence[RecordedTrace], limits: PlayoutLimits) -> TracesView:
    """Return all that is worked out of some traces."""
    views = tuple(_view(trace, limits) for trace in traces)
    table = None
    if len(views) >= _FEWEST_CORRELATED:
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


def _view(trace: RecordedTrace, limits: PlayoutLimits) -> TraceView:
    at = _USUAL_BUFFER if limits.buffer is None else limits.buffer
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
        tolerances=tuple(
            GapTolerance(float(share), buffer_for(trace, share)) for share in _ALLOWED
        ),
        best=BestView(float(best.buffer), best.gaps, best.distance, best.distance <= 1),
        replay_buffer=float(replayed),
        replays=(
            ignoring_late(trace, replayed),
            expanding_time(trace, replayed),
            monitoring_queue(trace, replayed, limits.thresholds),
        ),
    )


def _curve(trace: RecordedTrace) -> tuple[CurvePoint, ...]:
    """Return the compensation curve at even steps, or at each of its own where these are few."""
    buffers, shares = compensation_curve(trace)
    if len(buffers) > _CURVE_POINTS:
        even = np.linspace(0.0, buffers[-1], _CURVE_POINTS)
        at = np.searchsorted(buffers, even, side="right") - 1
        buffers, shares = even, shares[at]
    return tuple(map(CurvePoint, buffers.tolist(), shares.tolist()))
