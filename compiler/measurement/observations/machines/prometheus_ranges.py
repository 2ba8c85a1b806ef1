"""Results of range queries that were saved: `/api/v1/query_range`, `promtool query range`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading, text_of
from qps.compiler.measurement.observations.machines.saved_series import (
    HINT,
    NAME,
    SavedSeries,
    saved_series,
)
from qps.compiler.measurement.observations.observed_runs import (
    MOST_STRETCHES,
    ObservedRuns,
    moment,
    written,
)
from qps.compiler.measurement.observations.spreadsheets import table_of
from qps.compiler.measurement.sheet_cells import csv_of
from qps.compiler.measurement.usual_headings import TIME

_MOST_SERIES = 100
_UNNAMED = "value"
_COUNTED = ("_total", "_sum", "_count", "_bucket")
"""How names of counters end; those of recording rules have a colon."""


def range_table(path: Path, how: FileReading) -> ObservedRuns:
    """Return a row for each time, a column for each series, headed by what series differ in."""
    file = str(path)
    series = saved_series(text_of(path), file, _MOST_SERIES)
    _refuse_counters(series, file)
    names = _headings([one.metric for one in series])
    at: dict[float, dict[str, str]] = {}
    for name, one in zip(names, series, strict=True):
        for time, value in one.numbers:
            at.setdefault(time, {})[name] = written(value)
    if len(at) > MOST_STRETCHES:
        raise DataError(
            f"`{shortened(file)}` has more than {MOST_STRETCHES:,} times", "use a longer `step`"
        )
    if not at:
        raise DataError(f"`{shortened(file)}` contains no values", HINT)
    rows = [(moment(time), *(at[time].get(name, "") for name in names)) for time in sorted(at)]
    return table_of(csv_of(((TIME, *names), *rows)), file, how)


def _refuse_counters(series: Sequence[SavedSeries], file: str) -> None:
    """Raise DataError where a series is a counter: `rate` drops the name of a metric."""
    for one in series:
        name = one.metric.get(NAME, "")
        if name.endswith(_COUNTED) and ":" not in name:
            raise DataError(
                f"`{shortened(file)}`: `{shortened(name)}` is a counter, which is neither a rate "
                "nor a utilization",
                f"save `rate({shortened(name)}[1m])`, or read counters directly with "
                "`qps observe prometheus URL`",
            )


def _headings(metrics: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a name for each series: that of its metric.

    Where several are of the same metric, the labels in which series differ are added.
    """
    labels = {name for metric in metrics for name in metric if name != NAME}
    names = [metric.get(NAME, "") for metric in metrics]
    differing = sorted(name for name in labels if len({one.get(name) for one in metrics}) > 1)
    found: dict[str, None] = {}
    for number, metric in enumerate(metrics, start=1):
        own = metric.get(NAME, "")
        is_single = bool(own) and names.count(own) == 1
        parts = [own, *(metric.get(name, "") for name in differing if not is_single)]
        name = " ".join(part for part in parts if part) or _UNNAMED
        found[f"{name} {number}" if name in found else name] = None
    return list(found)
