"""Points of k6, as its outputs in real time have them: CSV, and lines of JSON.

`k6 run --out csv=run.csv` and `--out json=run.json`
(https://grafana.com/docs/k6/latest/results-output/real-time/).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from math import isfinite

import msgspec
from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.load_runs import ITEMS, Fields, LoadRun
from qps.compiler.measurement.observations.time_windows import MOST_SAMPLES, Stretch, Stretches

_HINT = "k6 writes it with `k6 run --out csv=run.csv SCRIPT`, or `--out json=run.json`"
_CSV_HEAD = "metric_name,timestamp,metric_value"
_DIGITS = {10: 1000.0, 13: 1.0, 16: 1e-3, 19: 1e-6}
"""By how many digits a time since 1970 has: what makes it ms."""
_COLUMNS = 3
_SECOND = 1000

_Point = tuple[str, float, float]
"""A metric, the moment in ms since 1970, and a value."""


class _Data(Struct):
    time: str = ""
    value: float = 0.0


class _Line(Struct):
    type: str
    metric: str = ""
    data: _Data | None = None


def are_points(first: str) -> bool:
    """Return whether a first line is that of points, and not of a summary."""
    return first.startswith(_CSV_HEAD) or _of_json(first) is not None


def k6_point_runs(
    files: Sequence[Iterable[str]], file: str, window: float | None
) -> tuple[list[LoadRun], list[str]]:
    """Return what was done in each stretch of `window` s, of whole stretches; else in all of it."""
    (lines,) = files
    found, is_rough = Stretches(file, window, _FIELDS), True
    for metric, moment, value in _points(iter(lines), file):
        add = _ADD.get(metric)
        if add is None:
            continue
        found.has_bytes = found.has_bytes or metric == "data_received"
        stretch = found.at(moment)
        add(stretch, value)
        if metric == "http_req_duration":
            is_rough = is_rough and moment % _SECOND == 0
            if not is_rough:
                stretch.first = min(stretch.first, moment - value)
    if window is not None or not is_rough:
        return found.runs(_HINT)
    # Of whole seconds, a run touches one more than it lasts, on average.
    found.grain = _SECOND
    runs, notes = found.runs(_HINT)
    warning = (
        f"warning: `{file}` has times in whole seconds: the length of a run can be wrong by one "
        "second, and so can its rates; set K6_CSV_TIME_FORMAT=unix_milli"
    )
    return runs, [warning, *notes]


def _received(stretch: Stretch, value: float) -> None:
    stretch.received += value


def _failed(stretch: Stretch, value: float) -> None:
    stretch.failed += value


def _users(stretch: Stretch, value: float) -> None:
    stretch.users = max(stretch.users, value)


_FIELDS: Fields = {
    "users": "`vus` (maximum)",
    ITEMS: "the number of `http_req_duration` points",
    "byte/s": "`data_received`",
    "share failed": "`http_req_failed`",
    "latency": "`http_req_duration`",
}
_ADD: dict[str, Callable[[Stretch, float], None]] = {
    "http_req_duration": lambda stretch, value: stretch.elapsed.append(value),
    "http_req_failed": _failed,
    "data_received": _received,
    "vus": _users,
}


def _points(lines: Iterator[str], file: str) -> Iterator[_Point]:
    """Yield the points of a file; a last line may be cut off, no other."""
    first = next(lines, "")
    is_csv = first.startswith(_CSV_HEAD)
    broken = None if is_csv or _of_json(first) is not None else 1
    for number, line in enumerate(lines, start=2):
        if broken is not None:
            raise DataError(f"`{shortened(file)}`, line {broken}: not a k6 data point", _HINT)
        if number > MOST_SAMPLES:
            raise DataError(
                f"`{shortened(file)}` has more than {MOST_SAMPLES:,} points", "split it"
            )
        if is_csv and line.startswith(_CSV_HEAD):
            continue  # another file was put behind
        point = _of_csv(line) if is_csv else _of_json(line)
        if point is None and line.strip():
            broken = number
        elif point:
            yield point


def _of_csv(line: str) -> _Point | None:
    cells = line.split(",", _COLUMNS)  # the first ones hold no quotes
    if len(cells) <= _COLUMNS:
        return None
    moment, value = _moment(cells[1]), _number(cells[2])
    return None if moment is None or value is None else (cells[0], moment, value)


def _of_json(line: str) -> _Point | tuple[()] | None:
    """Return a point, nothing for what is said of a metric, None for what is neither."""
    try:
        found = msgspec.json.decode(line, type=_Line)
    except (msgspec.DecodeError, RecursionError):
        return None
    if found.type == "Metric":
        return ()
    moment = None if found.data is None else _moment(found.data.time)
    if found.type != "Point" or found.data is None or moment is None:
        return None
    return found.metric, moment, found.data.value


def _moment(text: str) -> float | None:
    """Return a time in ms since 1970, of one that k6 writes; None for what is none."""
    if text.isascii() and text.isdecimal():
        return int(text) * _DIGITS[len(text)] if len(text) in _DIGITS else None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None
