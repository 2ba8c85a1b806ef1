"""Traces as text: jitter, best buffer, replays, and how their measures correlate."""

from __future__ import annotations

from math import isnan

from qps.compiler.quantities.dimension import TIME
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import Table, joined
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import number, percent, quantity
from qps.solver.traces.trace_answers import TracesView, TraceView


def traces_text(view: TracesView, *, markdown: bool = False, width: int = COLUMNS) -> str:
    """Return each trace with its best playout buffer, and how the measures correlate."""
    layouts = [_layout(trace, view) for trace in view.traces]
    if view.correlations is not None:
        title = phrase("trace.correlation", count=len(view.traces))
        layouts.append(TextLayout(title=title, tables=(_correlations(view),)))
    return joined([layout.printed(markdown=markdown, width=width) for layout in layouts])


def _layout(trace: TraceView, view: TracesView) -> TextLayout:
    return TextLayout(
        title=phrase("trace.title"),
        place=trace.file,
        facts=(("Packets", _packets(trace)), (phrase("trace.best_buffer"), _best(trace, view))),
        tables=(_jitter(trace), _tolerances(trace), _replays(trace)),
    )


def _packets(trace: TraceView) -> str:
    parts = [
        phrase(
            "trace.one_every",
            sent=trace.sent,
            length=_time(trace.duration),
            period=_time(trace.period),
        )
    ]
    if trace.lost:
        parts.append(f"{trace.lost:,} lost ({percent(trace.loss)})")
    if trace.duplicates:
        parts.append(f"{trace.duplicates:,} duplicate{'s' * (trace.duplicates != 1)}")
    return ", ".join(parts)


_EXPLAINED = {
    "range": phrase("trace.range"),
    "longest": phrase("trace.longest"),
    "mean": phrase("trace.mean"),
    "variance": phrase("trace.of_intervals"),
    "standard_deviation": phrase("trace.of_intervals"),
    "absolute_deviation": phrase("trace.mean_deviation"),
    "total_absolute_deviation": phrase("trace.sum_of_deviations"),
    "area": phrase("trace.area"),
}


def _jitter(trace: TraceView) -> Table:
    rows = []
    for name in trace.jitter.__struct_fields__:
        value = getattr(trace.jitter, name)
        buffer_text = phrase("trace.with_buffer", time=_time(trace.gaps_buffer))
        shown = f"{number(value)}/s" if name == "gaps" else _time(value)
        if name == "variance":
            shown = quantity(value, TIME * TIME)
        rows.append((name.replace("_", " "), shown, _EXPLAINED.get(name, buffer_text)))
    headings = ("Jitter", "Value", "Definition")
    return Table(headings, tuple(rows), frozenset([1]), long=frozenset([2]))


def _tolerances(trace: TraceView) -> Table:
    rows = tuple(
        (percent(item.gaps), "none" if item.buffer is None else _time(item.buffer))
        for item in trace.tolerances
    )
    return Table(
        (phrase("trace.maximum_gaps"), phrase("trace.playout_buffer")), rows, frozenset([0, 1])
    )


def _best(trace: TraceView, view: TracesView) -> str:
    """Return the best buffer beside the limits on its delay and its gaps."""
    best = trace.best
    limits = phrase(
        "trace.and_gaps", time=_time(view.limits["latency"]), share=percent(view.limits["gaps"])
    )
    found = phrase("trace.with_gaps", time=_time(best.buffer), share=percent(best.gaps))
    distance = phrase("trace.distance", value=number(best.distance, 3))
    if best.acceptable:
        return phrase("trace.within_limits", found=found, limits=limits, distance=distance)
    return phrase("trace.none_within", limits=limits, found=found, distance=distance)


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
    policy = phrase("trace.policy_at", time=_time(trace.replay_buffer))
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
