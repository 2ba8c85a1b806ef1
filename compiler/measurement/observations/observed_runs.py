"""Runs that somebody measured, as a table that `qps fit` and `observe` blocks take as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from qps.compiler.diagnostics.suggest import listed, shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.cross_checks import warnings_of
from qps.compiler.measurement.observations.load_runs import (
    ITEMS,
    MEAN_USERS,
    LoadRun,
    percentile_of,
)
from qps.compiler.measurement.sheet_cells import csv_of

MOST_TEXT = 20_000_000
"""Bytes of an output that is read as a whole."""
MOST_STRETCHES = 100_000
"""Of time, each a row."""
_MANY_FAILED = 0.01
_MOST_NAMED = 5
_DIGITS = 9


class ObservedRuns(Struct, frozen=True, kw_only=True):
    """A table: headings, rows of cells, and `notes` about the data."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def as_csv(self) -> str:
        """Return the table as CSV, without cells that a spreadsheet would execute."""
        return csv_of((self.headings, *self.rows))


def runs_table(
    runs: Sequence[LoadRun], item: str = "request", notes: Sequence[str] = ()
) -> ObservedRuns:
    """Return runs as a table; a column of which no run says anything is left out.

    A latency that a tool rounds to 0 is left out. What is no rate of items or bytes has a heading
    of several words, so that no fit takes it for one, or for a load.
    """
    kinds = sorted({kind for run in runs for kind in run.latencies}, key=_order)
    columns: dict[str, list[str]] = {
        "time": ["" if run.start is None else moment(run.start) for run in runs],
        "file": [run.file for run in runs],
        "users": [_cell(run.users) for run in runs],
        MEAN_USERS: [_cell(run.mean_users) for run in runs],
        f"{item}/s": [_cell(run.done) for run in runs],
        "byte/s": [_cell(run.received) for run in runs],
        "share failed": [_cell(run.failed) for run in runs],
    }
    for kind in kinds:
        found = (run.latencies.get(kind) for run in runs)
        columns[f"latency {kind}, ms"] = [_cell(1000 * v if v else None) for v in found]
    filled = {heading: cells for heading, cells in columns.items() if any(cells)}
    failing = sorted({run.file for run in runs if (run.failed or 0) > _MANY_FAILED})
    warnings = [
        f"warning: more than 1 % failed in `{file}`; failed requests have another service demand"
        for file in failing
    ]
    rounded = sorted({run.file for run in runs if 0 in run.latencies.values()})
    zeros = [f"`{file}`: latencies that are rounded to 0 are left out" for file in rounded]
    return ObservedRuns(
        headings=tuple(filled),
        rows=tuple(zip(*filled.values(), strict=True)),
        notes=(*_origins(runs, item), *zeros, *notes, *warnings_of(runs), *warnings),
    )


def _origins(runs: Sequence[LoadRun], item: str) -> Iterator[str]:
    """Yield what was taken from which field, once for all runs of which it is the same."""
    files: dict[tuple[tuple[str, str], ...], dict[str, None]] = {}
    for run in runs:
        fields = tuple((what, at) for what, at in run.fields.items() if run.has(what))
        files.setdefault(fields, {})[shortened(run.file)] = None
    for fields, of in files.items():
        named = [*of][:_MOST_NAMED]
        more = f" and {len(of) - len(named)} more files" * (len(of) > len(named))
        of_files = listed(named, "and") + more
        origins = "; ".join(
            f"{f'{item}/s' if what == ITEMS else what} from {at}" for what, at in fields
        )
        if origins:
            yield f"{of_files}: {origins}"


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
        raise DataError(f"{seconds:g} s since 1970 is not a valid time") from error
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def too_many_stretches(file: str) -> DataError:
    """Return the error for a file that would have too many rows."""
    return DataError(
        f"`{shortened(file)}` has more than {MOST_STRETCHES:,} windows",
        "use a longer `--window`",
    )


def _cell(value: float | None) -> str:
    return "" if value is None else written(value)


def _order(kind: str) -> tuple[int, float, str]:
    """Return what sorts latencies: mean, deviation, least, percentiles, longest."""
    percentile = percentile_of(kind)
    if percentile is not None:
        return 3, percentile, kind
    return {"mean": 0, "deviation": 1, "least": 2}.get(kind, 4), 0.0, kind
