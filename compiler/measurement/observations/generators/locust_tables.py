"""Tables of Locust: `--csv NAME` writes NAME_stats.csv, and the course of a run as a history."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import floor

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError, read_table
from qps.compiler.measurement.observations.load_runs import ITEMS, LoadRun, Twice
from qps.compiler.measurement.observations.observed_runs import MOST_STRETCHES, too_many_stretches
from qps.compiler.measurement.observations.printed_layouts import Printed

_ALL = ("Aggregated", "Total")
"""What the row of all requests is called, now and before version 0.13."""
_HINT = "write it with `locust --headless --csv run -u 50 -t 5m`, and do not edit it"
_TIMES = {
    "Average Response Time": "mean",
    "Min Response Time": "least",
    "Max Response Time": "longest",
}


def is_history(first: str) -> bool:
    """Return whether a first line is that of a history."""
    return "User Count" in first


def locust_runs(text: str, file: str) -> Printed:
    """Return the run that a table of statistics is of: its row of all requests."""
    rows = [cells for _, cells in read_table(text, file).rows]
    sums = [row for row in rows if row.get("Name") in _ALL]
    if len(sums) != 1:
        raise DataError(f"`{shortened(file)}` has {len(sums)} rows `Aggregated`", _HINT)
    row = sums[0]
    count, done = _number(row, "Request Count", file), _number(row, "Requests/s", file)
    single = [one for one in rows if one is not row]
    latencies = {
        kind: _number(row, heading, file) / 1000
        for heading, kind in _TIMES.items()
        if heading in row
    }
    latencies |= {
        f"p{heading[:-1]}": float(cell) / 1000
        for heading, cell in row.items()
        if heading.endswith("%") and heading != "100%" and _is_number(cell)
    }
    rates = sum(_number(one, "Requests/s", file) for one in single)
    twice = Twice(
        what="request/s", stated=done, derived=rates, derived_from="the sum of all other rows"
    )
    size = _number(row, "Average Content Size", file) if "Average Content Size" in row else None
    run = LoadRun(
        file=file,
        done=done,
        received=None if size is None else done * size,
        failed=_number(row, "Failure Count", file) / count if count else None,
        latencies=latencies,
        twice=(twice,) if single else (),
        fields={
            ITEMS: "`Requests/s` of `Aggregated`",
            "byte/s": "`Average Content Size`",
            "share failed": "`Failure Count`",
            "latency": "`Average Response Time`, and percentiles in ms",
        },
    )
    return [run], []


class _Moment(Struct, kw_only=True):
    """What was done up to a moment: counts, and the sum of all response times in ms."""

    time: float
    users: float
    count: float
    failed: float
    total: float
    octets: float


def locust_history_runs(
    files: Sequence[Iterable[str]], file: str, window: float | None
) -> tuple[list[LoadRun], list[str]]:
    """Return what was done between two moments a `window` apart, else from the first to the last.

    Rates and means are of the counts since the beginning. Its percentiles are of the last ten
    seconds, and are left out.
    """
    (lines,) = files
    moments = sorted(_moments(lines, file), key=lambda one: one.time)
    if len(moments) < 2 or moments[-1].time <= moments[0].time:  # noqa: PLR2004 - from, to
        raise DataError(
            f"`{shortened(file)}` has no two moments of all requests",
            "write it with `--csv-full-history`, and measure for longer",
        )
    if any(after.count < before.count for before, after in pairwise(moments)):
        raise DataError(
            f"`{shortened(file)}`: `Total Request Count` decreases, as of several runs",
            "keep one run in each file",
        )
    ends = [moments[0], moments[-1]] if window is None else _ends(moments, window, file)
    runs = [
        _between(file, first, last, moments, is_whole=window is None)
        for first, last in pairwise(ends)
    ]
    if not runs:
        raise DataError(
            f"`{shortened(file)}` is shorter than two windows of {window:g} s",
            "use a shorter `--window`",
        )
    return runs, []


def _ends(moments: Sequence[_Moment], window: float, file: str) -> list[_Moment]:
    """Return the first moment of each window."""
    found: dict[int, _Moment] = {}
    for one in moments:
        found.setdefault(floor(one.time / window), one)
        if len(found) > MOST_STRETCHES:
            raise too_many_stretches(file)
    return list(found.values())[1:]


def _between(
    file: str, first: _Moment, last: _Moment, moments: Sequence[_Moment], *, is_whole: bool
) -> LoadRun:
    seconds, count = last.time - first.time, last.count - first.count
    users = max(one.users for one in moments if first.time <= one.time <= last.time)
    return LoadRun(
        file=file,
        start=first.time,
        users=users,
        done=count / seconds,
        received=(last.octets - first.octets) / seconds,
        failed=(last.failed - first.failed) / count if count else None,
        latencies={"mean": (last.total - first.total) / count / 1000} if count else {},
        is_whole=is_whole,
        fields={
            "users": "`User Count` (maximum)",
            ITEMS: "`Total Request Count`",
            "byte/s": "`Total Average Content Size`",
            "share failed": "`Total Failure Count`",
            "latency": "`Total Average Response Time`",
        },
    )


def _moments(lines: Iterable[str], file: str) -> Iterator[_Moment]:
    reader = csv.DictReader(lines)
    try:
        for row in reader:
            if row.get("Name") not in _ALL or None in row.values():
                continue
            count = _number(row, "Total Request Count", file)
            yield _Moment(
                time=_number(row, "Timestamp", file),
                users=_number(row, "User Count", file),
                count=count,
                failed=_number(row, "Total Failure Count", file),
                total=count * _number(row, "Total Average Response Time", file),
                octets=count * _number(row, "Total Average Content Size", file),
            )
    except csv.Error as error:
        raise DataError(f"`{shortened(file)}`, line {reader.line_num}: {error}", _HINT) from error


def _number(row: Mapping[str, str], heading: str, file: str) -> float:
    cell = row.get(heading)
    if cell is None:
        raise DataError(f"`{shortened(file)}` has no column `{heading}` of Locust", _HINT)
    if not _is_number(cell):
        raise DataError(
            f"`{shortened(file)}`: `{shortened(cell)}` in column `{heading}` is not a number", _HINT
        )
    return float(cell)


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).isdecimal() and cell.isascii()
