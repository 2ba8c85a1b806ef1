"""`simulation.log` of Gatling 3 as text: a line for each request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.load_runs import ITEMS, LoadRun
from qps.compiler.measurement.observations.time_windows import MOST_SAMPLES, Stretches

_HINT = "use `simulation.log` as Gatling writes it; newer versions write it as binary"
_LONGEST_NUMBER = 15
_FROM_END = 4
"""Behind the name of a request: when it began, when it ended, its status, a message."""


def is_gatling_log(first: str) -> bool:
    """Return whether a first line begins a log."""
    return first.startswith(("RUN\t", "ASSERTION\t"))


def gatling_log_runs(
    files: Sequence[Iterable[str]], file: str, window: float | None
) -> tuple[list[LoadRun], list[str]]:
    """Return what was done in each whole stretch of `window` s, else in all of the run."""
    found = Stretches(
        file,
        window,
        {
            "users": "`USER` lines (maximum)",
            ITEMS: "`REQUEST` lines",
            "share failed": "`KO`",
            "latency": "the times of each `REQUEST`",
        },
    )
    users, broken = 0, None
    for number, line in enumerate((line for lines in files for line in lines), start=1):
        if number > MOST_SAMPLES:
            raise DataError(f"`{shortened(file)}` has more than {MOST_SAMPLES:,} lines", "split it")
        if broken is not None:
            raise DataError(f"`{shortened(file)}`, line {broken}: not a request of Gatling", _HINT)
        cells = line.rstrip("\r\n").split("\t")
        if cells[0] == "USER":
            users += ("START" in cells[2:4]) - ("END" in cells[2:4])
        elif cells[0] == "REQUEST":
            times = _request(cells)
            if times is None:
                broken = number  # the last one may be cut off: Gatling was ended
                continue
            begin, end, is_right = times
            stretch = found.at(end)
            stretch.elapsed.append(end - begin)
            stretch.failed += not is_right
            stretch.users = max(stretch.users, users)
            if window is None:
                stretch.first = min(stretch.first, begin)
    return found.runs(_HINT)


def _request(cells: Sequence[str]) -> tuple[int, int, bool] | None:
    """Return when a request began and ended, in ms, and whether it succeeded.

    The status stands behind both times, wherever: versions before 3.4 have the user before them.
    """
    for place in range(_FROM_END, len(cells)):
        begin, end = cells[place - 2 : place]
        if cells[place] in ("OK", "KO") and _is_time(begin) and _is_time(end):
            return int(begin), int(end), cells[place] == "OK"
    return None


def _is_time(cell: str) -> bool:
    return cell.isascii() and cell.isdecimal() and len(cell) <= _LONGEST_NUMBER
