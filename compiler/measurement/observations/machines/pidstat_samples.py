"""What pidstat prints: the processor time of each process, in per cent of a core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from qps.compiler.diagnostics.suggest import did_you_mean, listed, shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading, text_of
from qps.compiler.measurement.observations.observed_runs import ObservedRuns, moment, written
from qps.compiler.measurement.observations.sar_texts import (
    SarSection,
    is_month_first,
    section_of,
    time_of,
)
from qps.compiler.measurement.usual_headings import CPU_CORES, TIME

_NEEDED = frozenset(["PID", "%CPU", "Command"])
_PARTS = ("%usr", "%system", "%guest")
"""What `%CPU` adds up; with `-I`, it alone is divided by the number of processors."""
_ROUNDING = 0.02
"""In per cent of a core: the parts are printed with two digits behind the point."""
_HINT = "write it with `LC_ALL=C pidstat -u -h 1 -p PID > pidstat.txt`"
_MOST_NAMED = 8
_LONGEST = 15
"""Characters of a number."""


def pidstat_table(path: Path, how: FileReading) -> ObservedRuns:
    """Return a row a sample: the busy cores of all processes of one name together."""
    file, text = str(path), text_of(path)
    by_name: dict[str, dict[str, float]] = {}
    times: dict[str, None] = {}
    section, headings, month_first = SarSection(), list[str](), is_month_first(text)
    divided = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("Linux"):
            section = section_of(line, is_month_first=month_first)
        words = line.removeprefix("#").replace(",", ".").split()
        at, cells = _cells(words)
        if not cells or words[0].rstrip(":") == "Average":
            continue
        if "TGID" in cells:  # with `-t`: a row of a process, then its threads, which it adds up
            cells = ["PID" if one == "TGID" else one for one in cells]
        if {"PID", "Command"} <= set(cells):  # of memory and disks, without CPU, with `-urd`
            headings = cells if set(cells) >= _NEEDED else []
            continue
        if at is None or not headings:
            continue
        row = dict(zip(headings, cells, strict=False))
        read = [row[name] for name in ("%CPU", *_PARTS) if name in row]
        if not {"%CPU", "Command"} <= set(row) or not all(map(_is_number, read)):
            raise DataError(
                f"`{shortened(file)}`, line {number}: `{shortened(line.strip())}` is not "
                "recognized",
                _HINT,
            )
        if row["PID"] == "-":
            continue
        stamp = moment(float(at)) if at.isdecimal() else _stamp(section, at)
        times[stamp] = None
        of_name = by_name.setdefault(row["Command"], {})
        stated, parts = float(row["%CPU"]), _sum_of_parts(row)
        is_divided = parts > stated + len(_PARTS) * _ROUNDING
        divided = divided or is_divided
        of_name[stamp] = of_name.get(stamp, 0.0) + (parts if is_divided else stated) / 100
    name = _chosen(file, list(by_name), how.process)
    column = "the sum of `%usr`, `%system` and `%guest`" if divided else "`%CPU`"
    warning = (
        f"warning: `%CPU` in `{shortened(file)}` is divided by the number of processors "
        "(`pidstat -I`), and is not used"
    )
    return ObservedRuns(
        headings=(TIME, CPU_CORES),
        rows=tuple((at, written(by_name[name].get(at, 0.0))) for at in times),
        notes=(
            f"`{shortened(file)}`: {CPU_CORES} from {column} of `{shortened(name)}`, % of a core",
            *([warning] if divided else []),
        ),
    )


def _sum_of_parts(row: Mapping[str, str]) -> float:
    return sum(float(row[name]) for name in _PARTS if name in row)


def _cells(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the time of a line, and what stands behind it; before version 12 it is in s."""
    if not words:
        return None, []
    if words[0] == "Time" or (words[0].isdecimal() and len(words[0]) > len("86400")):
        return words[0], list(words[1:])
    at = time_of(words)
    return at, list(words[2:] if len(words) > 1 and words[1] in ("AM", "PM") else words[1:])


def _stamp(section: SarSection, at: str) -> str:
    stamp = section.stamp("CPU", at)
    return f"{stamp.date}T{stamp.time}"


def _chosen(file: str, names: Sequence[str], process: str | None) -> str:
    """Return which processes count; DataError where that is not certain."""
    if not names:
        raise DataError(f"`{shortened(file)}` contains no samples of processes", _HINT)
    if process is None and len(names) == 1:
        return names[0]
    if process in names:
        assert process is not None
        return process
    shown = listed(sorted(names)[:_MOST_NAMED], "and") + " and others" * (len(names) > _MOST_NAMED)
    if process is None:
        raise DataError(
            f"`{shortened(file)}` has several processes: {shown}",
            f"name the one that counts: `--process {min(names)}`",
        )
    raise DataError(
        f"`{shortened(file)}` has no process `{shortened(process)}`",
        did_you_mean(process, names) or f"it has {shown}",
    )


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).isdecimal() and cell.isascii() and len(cell) <= _LONGEST
