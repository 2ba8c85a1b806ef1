"""Requests one by one, as `vegeta encode` and `hey -o csv` write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from msgspec.structs import replace

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.load_runs import ITEMS, LoadRun
from qps.compiler.measurement.observations.time_windows import MOST_SAMPLES, Stretches

_Sent = tuple[float, float, int, int | None]
"""When a request ended and how long it took, in ms; its status, and bytes that were received."""
_FIRST_RIGHT, _FIRST_WRONG = 100, 400
_JSON = re.compile(
    r'\{"attack":"(?:[^"\\]|\\.){0,1000}","seq":\d{1,18},"code":(\d{1,3}),"timestamp":"([^"]{10,40})",'
    r'"latency":(\d{1,15}),"bytes_out":\d{1,18},"bytes_in":(\d{1,18})\b'
)
_CSV = re.compile(r"(\d{19}),(\d{1,3}),(\d{1,15}),\d{1,18},(\d{1,18}),")
_HEY = re.compile(r"(\d{1,6}\.\d{1,9}),(?:[\d.]{1,20},){5}(\d{3}),(\d{1,9}\.\d{1,9})\s*")
_HINTS = {
    "vegeta": "write it with `vegeta encode --to json`, and do not edit it",
    "hey": "write it with `hey -o csv`, and do not edit it",
}


def is_vegeta_log(first: str) -> bool:
    """Return whether a first line is a request of vegeta."""
    return _vegeta(first) is not None


def is_hey_log(first: str) -> bool:
    """Return whether a first line has the headings of hey."""
    return first.startswith("response-time,")


def vegeta_log_runs(
    files: Sequence[Iterable[str]], file: str, window: float | None
) -> tuple[list[LoadRun], list[str]]:
    """Return what was done in each whole stretch of `window` s, else in all of the run."""
    return _runs(files, file, window, "vegeta", _vegeta)


def hey_log_runs(
    files: Sequence[Iterable[str]], file: str, window: float | None
) -> tuple[list[LoadRun], list[str]]:
    """Return what was done in each whole stretch of `window` s, else in all of the run.

    hey writes times since its beginning, and not when that was.
    """
    runs, notes = _runs(files, file, window, "hey", _hey)
    return [replace(run, start=None) for run in runs], notes


def _runs(
    files: Sequence[Iterable[str]],
    file: str,
    window: float | None,
    tool: str,
    read: Callable[[str], _Sent | None],
) -> tuple[list[LoadRun], list[str]]:
    found = Stretches(
        file,
        window,
        {
            ITEMS: "the number of lines",
            "byte/s": "the bytes received",
            "share failed": "statuses of 400 and above, and none",
            "latency": "the latency of each line",
        },
    )
    is_within, broken, number = False, None, 0
    for line in (line for lines in files for line in lines):
        if is_within:  # a long line is read in pieces: what follows is a body
            is_within = not line.endswith("\n")
            continue
        is_within, number = not line.endswith("\n"), number + 1
        if number > MOST_SAMPLES:
            raise DataError(f"`{shortened(file)}` has more than {MOST_SAMPLES:,} lines", "split it")
        if broken is not None:
            raise DataError(
                f"`{shortened(file)}`, line {broken}: not a request of {tool}", _HINTS[tool]
            )
        sent = read(line)
        if sent is None:
            broken = number if line.strip() and number > 1 else None
            continue
        end, took, status, octets = sent
        stretch = found.at(end)
        stretch.elapsed.append(took)
        stretch.failed += not _FIRST_RIGHT <= status < _FIRST_WRONG
        found.has_bytes = found.has_bytes or octets is not None
        stretch.received += octets or 0
        if window is None:
            stretch.first = min(stretch.first, end - took)
    return found.runs(_HINTS[tool])


def _vegeta(line: str) -> _Sent | None:
    found = _JSON.match(line)
    if found is not None:
        # Of nine digits of a second, datetime reads six.
        clock = re.sub(r"(\.\d{6})\d+", r"\1", found[2])
        try:
            begin = datetime.fromisoformat(clock).timestamp() * 1000
        except (ValueError, OverflowError):
            return None
        took = int(found[3]) / 1e6
        return begin + took, took, int(found[1]), int(found[4])
    cells = _CSV.match(line)
    if cells is None:
        return None
    took = int(cells[3]) / 1e6
    return int(cells[1]) / 1e6 + took, took, int(cells[2]), int(cells[4])


def _hey(line: str) -> _Sent | None:
    found = _HEY.fullmatch(line)
    if found is None:
        return None
    took = float(found[1]) * 1000
    return float(found[3]) * 1000 + took, took, int(found[2]), None
