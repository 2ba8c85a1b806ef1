"""What vmstat prints: a line for each sample, of all processors of a machine."""

from __future__ import annotations

import re
from pathlib import Path

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading, text_of
from qps.compiler.measurement.observations.observed_runs import ObservedRuns, written
from qps.compiler.measurement.usual_headings import CPU_SHARE, TIME

_HINT = "write it with `LC_ALL=C vmstat -t 1 > vmstat.txt`"
_IDLE = ("id", "wa", "st")
"""What is no work of this machine: idle, waiting for a disk, taken by other guests."""
_MOMENT = r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\s*$"


def vmstat_table(path: Path, how: FileReading) -> ObservedRuns:  # noqa: ARG001 - as all readers
    """Return a row a sample; the first one is of the time since the machine was started."""
    file, rows, lacks_times, headings = str(path), list[tuple[str, str]](), 0, list[str]()
    is_first = False
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        words = line.split()
        if not words or words[0].strip("-") == "procs":
            is_first = is_first or bool(words and not headings)
            continue
        if words[0] == "r":
            is_first, headings = is_first or not headings, words
            continue
        moment = re.search(_MOMENT, line)
        cells = dict(zip(headings, words, strict=False))
        shares = [cells.get(name, "0" if name == "st" else "") for name in _IDLE]
        if not headings or not all(one.isascii() and one.isdecimal() for one in shares):
            raise DataError(
                f"`{shortened(file)}`, line {number}: `{shortened(line.strip())}` is not "
                "recognized",
                _HINT,
            )
        if is_first:
            is_first = False
            continue
        busy = 100 - sum(map(float, shares))
        lacks_times += moment is None
        rows.append((f"{moment[1]}T{moment[2]}" if moment else "", written(max(0.0, busy))))
    if not rows:
        raise DataError(f"`{shortened(file)}` contains no samples but the first", _HINT)
    note = (
        f"`{shortened(file)}`: {CPU_SHARE} as 100 less `id`, `wa` and `st`, in whole per cent; the "
        "first sample, of the time since the machine was started, is left out"
    )
    if lacks_times:
        warning = f"warning: `{shortened(file)}` has no times; {_HINT}"
        bare = tuple((busy,) for _, busy in rows)
        return ObservedRuns(headings=(CPU_SHARE,), rows=bare, notes=(note, warning))
    return ObservedRuns(headings=(TIME, CPU_SHARE), rows=tuple(rows), notes=(note,))
