"""Runs that somebody measured, as a table that `qps fit` and `observe` blocks take as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct, field

from qps.compiler.data.measured_tables import DataError
from qps.compiler.data.sheet_cells import csv_of
from qps.compiler.diagnostics.suggest import shortened

MOST_TEXT = 20_000_000
"""Bytes of an output that is read as a whole."""
MOST_STRETCHES = 100_000
"""Of time, each a row."""
_MANY_FAILED = 0.01
_DIGITS = 9


class ObservedRuns(Struct, frozen=True, kw_only=True):
    """A table: headings, rows of cells, and `notes`, what a reader should know of them."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def as_csv(self) -> str:
        """Return the table as CSV, with no cell that a spreadsheet would run."""
        return csv_of((self.headings, *self.rows))


class LoadRun(Struct, frozen=True, kw_only=True):
    """What a load generator tells of a run, or of a stretch of one; None for what it does not.

    `done` items a second and `received` bytes a second, `failed` a share of the items, `latencies`
    in s by what they are (`mean`, `p95`), `start` in s since 1970, `users` as many as were at work.
    """

    file: str
    done: float
    received: float | None = None
    users: float | None = None
    failed: float | None = None
    start: float | None = None
    latencies: Mapping[str, float] = field(default_factory=dict)


def runs_table(
    runs: Sequence[LoadRun], item: str = "request", notes: Sequence[str] = ()
) -> ObservedRuns:
    """Return runs as a table; a column of which no run tells anything is left out.

    What is no rate of items or bytes has a heading of several words, so that no fit takes it for
    one, or for a load.
    """
    kinds = sorted({kind for run in runs for kind in run.latencies}, key=_order)
    columns: dict[str, list[str]] = {
        "time": ["" if run.start is None else moment(run.start) for run in runs],
        "file": [run.file for run in runs],
        "users": [_cell(run.users) for run in runs],
        f"{item}/s": [_cell(run.done) for run in runs],
        "byte/s": [_cell(run.received) for run in runs],
        "share failed": [_cell(run.failed) for run in runs],
    }
    for kind in kinds:
        found = (run.latencies.get(kind) for run in runs)
        columns[f"latency {kind}, ms"] = [_cell(None if v is None else 1000 * v) for v in found]
    kept = {heading: cells for heading, cells in columns.items() if any(cells)}
    failing = sorted({run.file for run in runs if (run.failed or 0) > _MANY_FAILED})
    told = [
        f"warning: more than 1 % failed in `{file}`: failures cost another time than what is served"
        for file in failing
    ]
    return ObservedRuns(
        headings=tuple(kept),
        rows=tuple(zip(*kept.values(), strict=True)),
        notes=(*notes, *told),
    )


def written(value: float) -> str:
    """Return a number as a cell.

    >>> written(59424.42), written(1 / 3), written(1e-7)
    ('59424.42', '0.333333333', '1e-07')
    """
    return f"{value:.{_DIGITS}g}"


def moment(seconds: float) -> str:
    """Return a time since 1970 as a cell, which sorts as it passes.

    >>> moment(1795419519.25)
    '2026-11-23T07:38:39.250Z'
    """
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise DataError(f"{seconds:g} s since 1970 is no time") from error
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def too_many_stretches(file: str) -> DataError:
    """Return the error for a file that would have too many rows."""
    return DataError(
        f"`{shortened(file)}` has over {MOST_STRETCHES:,} stretches of time",
        "make them longer by `--window`",
    )


def _cell(value: float | None) -> str:
    return "" if value is None else written(value)


def _order(kind: str) -> tuple[int, float, str]:
    """Return what sorts latencies: mean, deviation, least, percentiles, longest."""
    if kind.startswith("p") and kind[1:].replace(".", "", 1).isdigit():
        return 3, float(kind[1:]), kind
    return {"mean": 0, "deviation": 1, "least": 2}.get(kind, 4), 0.0, kind
