"""Results of range queries that were saved: `/api/v1/query_range`, `promtool query range`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

import msgspec
from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading, text_of
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
_MATRIX = "matrix"
_NAME = "__name__"
_UNNAMED = "value"
_HINT = (
    "save it with `curl -G URL/api/v1/query_range`, or `promtool query range -o json`; or read "
    "counters directly with `qps observe prometheus URL`"
)


class _Series(Struct, kw_only=True):
    metric: dict[str, str]
    values: list[tuple[float, str]]


class _Data(Struct, kw_only=True):
    kind: str = msgspec.field(name="resultType")
    result: list[msgspec.Raw]


class _Answer(Struct, kw_only=True):
    status: str
    data: _Data | None = None
    error: str = ""


def range_table(path: Path, how: FileReading) -> ObservedRuns:
    """Return a row for each time, a column for each series, headed by what series differ in."""
    file = str(path)
    series = _series(text_of(path), file)
    names = _headings([one.metric for one in series])
    at: dict[float, dict[str, str]] = {}
    for name, one in zip(names, series, strict=True):
        for time, text in one.values:
            value = _value(text, file)
            if value is not None:
                at.setdefault(time, {})[name] = written(value)
    if len(at) > MOST_STRETCHES:
        raise DataError(
            f"`{shortened(file)}` has more than {MOST_STRETCHES:,} times", "use a longer `step`"
        )
    if not at:
        raise DataError(f"`{shortened(file)}` contains no values", _HINT)
    rows = [(moment(time), *(at[time].get(name, "") for name in names)) for time in sorted(at)]
    return table_of(csv_of(((TIME, *names), *rows)), file, how)


def _series(text: str, file: str) -> Sequence[_Series]:
    try:
        if text.lstrip().startswith("["):
            found = msgspec.json.decode(text, type=list[_Series])
        else:
            answer = msgspec.json.decode(text, type=_Answer)
            if answer.data is None or answer.status != "success":
                raise DataError(
                    f"`{shortened(file)}` is an error of Prometheus: {shortened(answer.error)}",
                    "correct the query",
                )
            if answer.data.kind != _MATRIX:
                raise DataError(
                    f"`{shortened(file)}` has results of type `{shortened(answer.data.kind)}`, "
                    "which have no range of times",
                    _HINT,
                )
            found = [msgspec.json.decode(one, type=_Series) for one in answer.data.result]
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(
            f"`{shortened(file)}` is not a result of a range query: {shortened(str(error))}", _HINT
        ) from error
    if len(found) > _MOST_SERIES:
        raise DataError(
            f"`{shortened(file)}` has {len(found):,} series, more than {_MOST_SERIES}",
            "add them up in the query, such as `sum by (pod) (…)`",
        )
    return found


def _headings(metrics: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a name for each series: that of its metric.

    Where several are of the same metric, the labels in which series differ are added.
    """
    labels = {name for metric in metrics for name in metric if name != _NAME}
    names = [metric.get(_NAME, "") for metric in metrics]
    differing = sorted(name for name in labels if len({one.get(name) for one in metrics}) > 1)
    found: dict[str, None] = {}
    for number, metric in enumerate(metrics, start=1):
        own = metric.get(_NAME, "")
        is_single = bool(own) and names.count(own) == 1
        parts = [own, *(metric.get(name, "") for name in differing if not is_single)]
        name = " ".join(part for part in parts if part) or _UNNAMED
        found[f"{name} {number}" if name in found else name] = None
    return list(found)


def _value(text: str, file: str) -> float | None:
    """Return a value; None for what is not a number, such as a ratio without requests."""
    try:
        value = float(text)
    except ValueError:
        raise DataError(
            f"`{shortened(file)}`: `{shortened(text)}` is not a value of Prometheus", _HINT
        ) from None
    return value if isfinite(value) else None
