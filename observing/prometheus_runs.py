"""Counters of a Prometheus as runs to fit costs to: a row a window of time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from fractions import Fraction
from math import ceil, floor

from msgspec import Struct

from qps.compiler.data.fit_columns import CORES
from qps.compiler.data.measured_tables import DataError
from qps.compiler.diagnostics.suggest import shortened
from qps.observing.counter_windows import (
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
from qps.observing.observed_runs import ObservedRuns, moment, written
from qps.observing.prometheus_server import MOST_POINTS, Grid, Prometheus, Series

PARTS = 20
"""A counter is read so often in a window, to see it fall or stop within."""
_MOST_TIMES = 500_000
_MOST_WINDOWS = 100_000
_FEW_READINGS = 4
_FEWEST_READINGS = 2
_FEWEST_DAYS = 4
"""From so many on rows tell their day, so that a fit knows what those of a day have in common."""
_MANY_SERIES = 3
_LONGEST_QUERY = 4_000
_WINDOWED = re.compile(
    r"\b(rate|irate|increase|delta|idelta|deriv|\w+_over_time)\s*\(", re.ASCII | re.IGNORECASE
)
_WHY = {
    RESET: "with a counter that fell: its program restarted",
    GAP: "in which a counter was not there all the time",
    FIRST: "that come first after that",
    STILL: "in which no processor time was counted",
}


class Asked(Struct, frozen=True, kw_only=True):
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


def requests_of(asked: Asked) -> int:
    """Return how many answers are asked for."""
    return (1 + len(asked.rates)) * ceil(_grid(asked).count / MOST_POINTS)


def check_query(flag: str, query: str) -> None:
    """Refuse a query that has a window of its own."""
    found = _WINDOWED.search(query)
    if found is not None:
        raise DataError(
            f"`{flag}` takes a counter: `{found[1]}(…)` in `{shortened(query)}` has a window of "
            "its own",
            "name the counter itself: all columns share one window, which `--window` says",
        )
    if not query.strip() or len(query) > _LONGEST_QUERY:
        raise DataError(f"`{flag}` has no query, or one of over {_LONGEST_QUERY:,} characters")


def prometheus_runs(server: Prometheus, asked: Asked, told: Callable[[], None]) -> ObservedRuns:
    """Return the runs that a server has seen; DataError where it has none."""
    grid = _grid(asked)
    queries = [("--cpu", asked.cpu), *((f"--rate {item}", query) for item, query in asked.rates)]
    counters = [
        [series.values for series in _series(server, flag, query, asked, grid, told)]
        for flag, query in queries
    ]
    found = windows(counters, PARTS)
    growing = [steps(counter) for counter in counters]
    window = float(asked.window)
    _check(found, growing, asked)
    loads = [growth[0] / window for growth in found.growth]
    kept = spread_over(loads, asked.most)
    share = 1 if asked.cores is None else 100 / float(asked.cores)
    first = float(grid.start)
    rows = []
    for row in kept:
        start = first + found.places[row] * window
        rates = [written(grown / window) for grown in found.growth[row][1:]]
        rows.append((moment(start), written(loads[row] * share), *rates))
    load = "cpu in core" if asked.cores is None else "cpu in %"
    headings = ("time", load, *(f"{item}/s" for item, _ in asked.rates))
    days = [datetime.fromisoformat(row[0]).date().isoformat() for row in rows]
    if len(set(days)) >= _FEWEST_DAYS:
        headings = (headings[0], "day", *headings[1:])
        rows = [(row[0], day, *row[1:]) for row, day in zip(rows, days, strict=True)]
    if asked.cores is not None:
        headings = (*headings, CORES)
        rows = [(*row, written(float(asked.cores))) for row in rows]
    notes = [_summary(found, loads, len(kept)), *_doubts(growing, asked)]
    if server.warnings:
        notes.append(f"Prometheus warns: {'; '.join(server.warnings)}")
    return ObservedRuns(headings=headings, rows=tuple(rows), notes=tuple(notes))


def _grid(asked: Asked) -> Grid:
    """Return the times at which counters are read: whole windows, that begin at multiples."""
    window = float(asked.window)
    first, last = ceil(asked.start / window), floor(asked.end / window)
    if last <= first:
        raise DataError(
            f"there is no whole window of {window:g} s in that time",
            "take a longer time by `--since`, or a shorter `--window`",
        )
    count = (last - first) * PARTS + 1
    if count > _MOST_TIMES or last - first > _MOST_WINDOWS:
        raise DataError(
            f"{last - first:,} windows are too many to ask for",
            "take a shorter time by `--since`, or a longer `--window`",
        )
    return Grid(first * window, window / PARTS, count)


def _series(
    server: Prometheus, flag: str, query: str, asked: Asked, grid: Grid, told: Callable[[], None]
) -> Sequence[Series]:
    found = server.samples(query, grid, told)
    if not any(value is not None for one in found for value in one.values):
        raise DataError(
            f"`{flag}`: nothing is there of `{shortened(query)}` in that time",
            "look it up on the page of the server; a counter ends in `_total` as a rule",
        )
    if len(found) > 1 and not asked.adds_up:
        named = ", ".join(one.text for one in found[:_MANY_SERIES])
        more = f" and {len(found) - _MANY_SERIES} more" if len(found) > _MANY_SERIES else ""
        raise DataError(
            f"`{flag}`: `{shortened(query)}` is {len(found)} series: {named}{more}",
            "choose one by its labels; or `--add-up` takes all of them together, each with "
            "restarts of its own",
        )
    return found


def _check(found: Windows, growing: Sequence[Sequence[float | None]], asked: Asked) -> None:
    """Refuse what holds no windows, or windows that are shorter than from scrape to scrape."""
    if found.dropped.get(RESET, 0) > found.count / 2:
        raise DataError(
            f"in {found.dropped[RESET]:,} of {found.count:,} windows something falls",
            "a counter only grows: what rises and falls is no rate of anything",
        )
    if not found.places:
        raise DataError(
            f"of {found.count:,} windows none counts: {_reasons(found)}",
            "take a longer time by `--since`, or another `--window`",
        )
    for place, (item, query) in enumerate(asked.rates, start=1):
        if not any(growth[place] for growth in found.growth):
            raise DataError(
                f"`--rate {item}`: `{shortened(query)}` does not grow in any window that counts",
                "name a counter of what was done; it ends in `_total` as a rule",
            )
    if max(readings(one, PARTS) for one in growing) < _FEWEST_READINGS:
        raise DataError(
            f"within a window of {float(asked.window):g} s the counters are read less than twice",
            "take a longer `--window`: ten times as long as between two scrapes, or more",
        )


def _doubts(growing: Sequence[Sequence[float | None]], asked: Asked) -> list[str]:
    """Return what makes the rows doubtful."""
    told = []
    count = max(readings(one, PARTS) for one in growing)
    if count < _FEW_READINGS:
        told.append(
            f"warning: within a window the counters are read only {count:g} times: take a longer "
            "`--window`, ten times as long as between two scrapes"
        )
    step = float(asked.window) / PARTS
    for (item, _), rate in zip(asked.rates, growing[1:], strict=True):
        late = shift(growing[0], rate, PARTS)
        if abs(late) > 1:
            side = "after" if late > 0 else "before"
            told.append(
                f"warning: {item}/s seems to come {abs(late) * step:g} s {side} the load, as where "
                "scrapes are shifted: costs come out too small; take a `--window` that is twenty "
                "times as long as that, or read both from one exporter"
            )
    return told


def _summary(found: Windows, loads: Sequence[float], kept: int) -> str:
    text = f"{kept:,} rows of {found.count:,} windows"
    if kept < len(loads):
        text += f", spread over the loads of the {len(loads):,} that count"
    text += f"; {min(loads):.3g} to {max(loads):.3g} cores were busy"
    return f"{text}; left out: {_reasons(found)}" if found.dropped else text


def _reasons(found: Windows) -> str:
    return ", ".join(f"{count:,} {_WHY[why]}" for why, count in sorted(found.dropped.items()))
