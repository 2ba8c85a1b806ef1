"""Results of JMeter, a line for each sample: what was done in each stretch of time."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

from qps.compiler.data.measured_tables import DataError
from qps.compiler.diagnostics.suggest import shortened
from qps.observing.observed_runs import LoadRun
from qps.observing.time_stretches import MOST_SAMPLES, Stretches

_NEEDED = ("timeStamp", "elapsed")
_HINT = (
    "JMeter writes it with `jmeter -n -t PLAN.jmx -l run.jtl`, as CSV with a heading: "
    "`-Jjmeter.save.saveservice.print_field_names=true`"
)


def jmeter_runs(
    lines: Iterable[str], file: str, window: float | None
) -> tuple[list[LoadRun], list[str]]:
    """Return what was done in each stretch of `window` s, of whole stretches; else in all of it.

    A sample counts where it ended, as a rate is of what was done.
    """
    found = Stretches(file, window)
    for sample in _samples(lines, file):
        begin, elapsed = sample["timeStamp"], sample["elapsed"]
        stretch = found.at(begin + elapsed)
        if window is None:
            stretch.first = min(stretch.first, begin)
        stretch.elapsed.append(elapsed)
        found.has_bytes = found.has_bytes or "bytes" in sample
        stretch.received += sample.get("bytes", 0)
        stretch.failed += not sample.get("success", 1)
        stretch.users = max(stretch.users, sample.get("allThreads", 0))
    return found.runs(_HINT), []


def _samples(lines: Iterable[str], file: str) -> Iterator[dict[str, int]]:
    """Yield the numbers of each sample; DataError where there is none, but for a last broken line.

    Lines of sub-samples (`page-0`) are no different from others: leave them out of the file.
    """
    reader = csv.reader(lines)
    try:
        headings = [heading.strip().lstrip("\ufeff") for heading in next(reader, [])]
        if any(needed not in headings for needed in _NEEDED):
            raise DataError(
                f"`{shortened(file)}` is no CSV of JMeter with `timeStamp` and `elapsed`", _HINT
            )
        if len(set(headings)) < len(headings):
            raise DataError(f"`{shortened(file)}` names a column twice", _HINT)
        wanted = [
            (name, headings.index(name))
            for name in ("timeStamp", "elapsed", "bytes", "success", "allThreads")
            if name in headings
        ]
        broken = None
        for count, row in enumerate(reader):
            if broken is not None:
                raise DataError(f"`{shortened(file)}`, line {broken}: no sample of JMeter", _HINT)
            if not row:
                continue
            if count >= MOST_SAMPLES:
                raise DataError(
                    f"`{shortened(file)}` has over {MOST_SAMPLES:,} samples", "split it"
                )
            sample = _sample(row, wanted, len(headings))
            if sample is None:
                broken = reader.line_num  # the last one may be cut off: JMeter was ended
            else:
                yield sample
    except csv.Error as error:
        raise DataError(f"`{shortened(file)}`, line {reader.line_num}: {error}", _HINT) from error


def _sample(row: list[str], wanted: Sequence[tuple[str, int]], width: int) -> dict[str, int] | None:
    if len(row) != width:
        return None
    found = {}
    for name, place in wanted:
        cell = row[place]
        if name == "success":
            if cell not in ("true", "false"):
                return None
            found[name] = int(cell == "true")
        elif cell.isascii() and cell.isdecimal() and len(cell) <= 15:  # noqa: PLR2004 - ms, bytes
            found[name] = int(cell)
        else:
            return None
    return found
