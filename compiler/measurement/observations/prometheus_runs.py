"""Counters of a Prometheus as runs to fit costs to: a row a window of time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from fractions import Fraction
from math import ceil, floor

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.fit_columns import CORES
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.counter_windows import (
    FIRST,
    GAP,
    RESET,
    STILL,
    Windows,
    readings,
    shift,
    spread_over,
    steps,
    windows,
)
from qps.compiler.measurement.observations.observed_runs import ObservedRuns, moment, written
from qps.compiler.measurement.observations.prometheus_server import (
    MOST_POINTS,
    Grid,
    Prometheus,
    SampledSeries,
)

PARTS = 20
"""A counter is read so often in a window, to see it fall or stop within."""
_MOST_TIMES = 500_000
_MOST_WINDOWS = 100_000
_FEW_READINGS = 4
_FEWEST_READINGS = 2
_FEWEST_DAYS = 4
"""From so many on, rows have their day, so that a fit knows what those of a day have in common."""
_MANY_SERIES = 3
_LONGEST_QUERY = 4_000
_WINDOWED = re.compile(
    r"\b(rate|irate|increase|delta|idelta|deriv|\w+_over_time)\s*\(", re.ASCII | re.IGNORECASE
)
_WHY = {
    RESET: "with a counter reset (restart)",
    GAP: "with a missing sample",
    FIRST: "right after a missing sample",
    STILL: "without CPU time",
}


class RunQueries(Struct, frozen=True, kw_only=True):
    """What is read: the load, a query of seconds of processors; and rates, by their items.

    From `start` to `end`, in s since 1970, in windows of `window` s that begin at its multiples.
    `adds_up` takes all series of a query together; at most `most` rows are kept. With `cores` the
    load is a share of so many.
    """

    cpu: str
    rates: tuple[tuple[str, str], ...]
    start: float
    end: float
    window: Fraction
    adds_up: bool
    most: int
    cores: Fraction | None


def requests_of(queries: RunQueries) -> int:
    """Return how many answers are requested."""
    return (1 + len(queries.rates)) * ceil(_grid(queries).count / MOST_POINTS)


def check_query(flag: str, query: str) -> None:
    """Refuse a query that has a window of its own."""
    found = _WINDOWED.search(query)
    if found is not None:
        raise DataError(
            f"`{flag}` needs a counter, but `{found[1]}(…)` in `{shortened(query)}` has its own "
            "window",
            "name the counter itself; `--window` sets one window for all columns",
        )
    if not query.strip() or len(query) > _LONGEST_QUERY:
        raise DataError(f"`{flag}` must have a query of at most {_LONGEST_QUERY:,} characters")


def prometheus_runs(
    server: Prometheus, queries: RunQueries, on_answer: Callable[[], None]
) -> ObservedRuns:
    """Return the runs that a server has seen; DataError where it has none."""
    grid = _grid(queries)
    flags = [
        ("--cpu", queries.cpu),
        *((f"--rate {item}", query) for item, query in queries.rates),
    ]
    counters = [
        [series.values for series in _series(server, flag, query, queries, grid, on_answer)]
        for flag, query in flags
    ]
    found = windows(counters, PARTS)
    growing = [steps(counter) for counter in counters]
    window = float(queries.window)
    _check(found, growing, queries)
    loads = [growth[0] / window for growth in found.growth]
    chosen = spread_over(loads, queries.most)
    share = 1 if queries.cores is None else 100 / float(queries.cores)
    first = float(grid.start)
    rows = []
    for row in chosen:
        start = first + found.places[row] * window
        rates = [written(grown / window) for grown in found.growth[row][1:]]
        rows.append((moment(start), written(loads[row] * share), *rates))
    load = "cpu in core" if queries.cores is None else "cpu in %"
    headings = ("time", load, *(f"{item}/s" for item, _ in queries.rates))
    days = [datetime.fromisoformat(row[0]).date().isoformat() for row in rows]
    if len(set(days)) >= _FEWEST_DAYS:
        headings = (headings[0], "day", *headings[1:])
        rows = [(row[0], day, *row[1:]) for row, day in zip(rows, days, strict=True)]
    if queries.cores is not None:
        headings = (*headings, CORES)
        rows = [(*row, written(float(queries.cores))) for row in rows]
    notes = [_summary(found, loads, len(chosen)), *_doubts(growing, queries)]
    if server.warnings:
        notes.append(f"warning from Prometheus: {'; '.join(server.warnings)}")
    return ObservedRuns(headings=headings, rows=tuple(rows), notes=tuple(notes))


def _grid(queries: RunQueries) -> Grid:
    """Return the times at which counters are read: whole windows, that begin at multiples."""
    window = float(queries.window)
    first, last = ceil(queries.start / window), floor(queries.end / window)
    if last <= first:
        raise DataError(
            f"the period is shorter than one window of {window:g} s",
            "use a longer `--since`, or a shorter `--window`",
        )
    count = (last - first) * PARTS + 1
    if count > _MOST_TIMES or last - first > _MOST_WINDOWS:
        raise DataError(
            f"{last - first:,} windows are too many",
            "use a shorter `--since`, or a longer `--window`",
        )
    return Grid(first * window, window / PARTS, count)


def _series(
    server: Prometheus,
    flag: str,
    query: str,
    queries: RunQueries,
    grid: Grid,
    on_answer: Callable[[], None],
) -> Sequence[SampledSeries]:
    found = server.samples(query, grid, on_answer)
    if not any(value is not None for one in found for value in one.values):
        raise DataError(
            f"`{flag}`: `{shortened(query)}` has no data in this period",
            "try it in the web interface of the server; counters usually end in `_total`",
        )
    if len(found) > 1 and not queries.adds_up:
        named = ", ".join(one.text for one in found[:_MANY_SERIES])
        more = f" and {len(found) - _MANY_SERIES} more" if len(found) > _MANY_SERIES else ""
        raise DataError(
            f"`{flag}`: `{shortened(query)}` returns {len(found)} series: {named}{more}",
            "select one by its labels, or sum all of them with `--add-up`",
        )
    return found


def _check(found: Windows, growing: Sequence[Sequence[float | None]], queries: RunQueries) -> None:
    """Refuse what holds no windows, or windows that are shorter than from scrape to scrape."""
    if found.dropped.get(RESET, 0) > found.count / 2:
        raise DataError(
            f"in {found.dropped[RESET]:,} of {found.count:,} windows a value decreases",
            "use counters; a gauge has no rate",
        )
    if not found.places:
        raise DataError(
            f"none of {found.count:,} windows is usable: {_reasons(found)}",
            "use a longer `--since`, or another `--window`",
        )
    for place, (item, query) in enumerate(queries.rates, start=1):
        if not any(growth[place] for growth in found.growth):
            raise DataError(
                f"`--rate {item}`: `{shortened(query)}` does not increase in any usable window",
                "name a counter of completed work; counters usually end in `_total`",
            )
    if max(readings(one, PARTS) for one in growing) < _FEWEST_READINGS:
        raise DataError(
            f"a window of {float(queries.window):g} s has fewer than two samples of the counters",
            "use a longer `--window`: ten scrape intervals or more",
        )


def _doubts(growing: Sequence[Sequence[float | None]], queries: RunQueries) -> list[str]:
    """Return what makes the rows doubtful."""
    doubts = []
    count = max(readings(one, PARTS) for one in growing)
    if count < _FEW_READINGS:
        doubts.append(
            f"warning: a window has only {count:g} samples of the counters: use a longer "
            "`--window`, ten scrape intervals or more"
        )
    step = float(queries.window) / PARTS
    for (item, _), rate in zip(queries.rates, growing[1:], strict=True):
        late = shift(growing[0], rate, PARTS)
        if abs(late) > 1:
            side = "after" if late > 0 else "before"
            doubts.append(
                f"warning: {item}/s seems to be {abs(late) * step:g} s {side} utilization, as if "
                "scraped at another time: service demands are underestimated; use a `--window` "
                "twenty times as long, or read both from one exporter"
            )
    return doubts


def _summary(found: Windows, loads: Sequence[float], row_count: int) -> str:
    text = f"{row_count:,} rows of {found.count:,} windows"
    if row_count < len(loads):
        text += f", evenly spread over the utilization of {len(loads):,} usable windows"
    text += f"; {min(loads):.3g} to {max(loads):.3g} cores busy"
    return f"{text}; ignored: {_reasons(found)}" if found.dropped else text


def _reasons(found: Windows) -> str:
    dropped = found.dropped
    return ", ".join(f"{dropped[why]:,} {text}" for why, text in _WHY.items() if why in dropped)
