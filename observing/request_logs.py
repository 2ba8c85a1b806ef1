"""Results of JMeter, a line for each sample: what was done in each stretch of time."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor

from msgspec import Struct, field

from qps.compiler.data.measured_tables import DataError
from qps.compiler.diagnostics.suggest import shortened
from qps.observing.observed_runs import MOST_STRETCHES, LoadRun, too_many_stretches

_PERCENTILES = (50, 90, 95, 99)
_ONE_BEYOND = 100
"""A percentile is told where a sample lies beyond it: the 99th of a hundred on."""
_NEEDED = ("timeStamp", "elapsed")
_MOST_SAMPLES = 20_000_000
_HINT = (
    "JMeter writes it with `jmeter -n -t PLAN.jmx -l run.jtl`, as CSV with a heading: "
    "`-Jjmeter.save.saveservice.print_field_names=true`"
)


class _Stretch(Struct):
    """The samples that began in a stretch of time; elapsed times in ms."""

    elapsed: array[int] = field(default_factory=lambda: array("q"))
    received: int = 0
    failed: int = 0
    users: int = 0
    first: int = 1 << 62
    last: int = 0


def jmeter_runs(
    lines: Iterable[str], file: str, window: float | None
) -> tuple[list[LoadRun], list[str]]:
    """Return what was done in each stretch of `window` s, of whole stretches; else in all of it.

    A sample counts where it ended, as a rate is of what was done. The first and the last stretch
    are left out where there are others: they are cut.
    """
    stretches: dict[int, _Stretch] = {}
    has_bytes = False
    for sample in _samples(lines, file):
        end = sample["timeStamp"] + sample["elapsed"]
        place = 0 if window is None else floor(end / (1000 * window))
        stretch = stretches.setdefault(place, _Stretch())
        if len(stretches) > MOST_STRETCHES:
            raise too_many_stretches(file)
        stretch.elapsed.append(sample["elapsed"])
        has_bytes = has_bytes or "bytes" in sample
        stretch.received += sample.get("bytes", 0)
        stretch.failed += not sample.get("success", 1)
        stretch.users = max(stretch.users, sample.get("allThreads", 0))
        stretch.first = min(stretch.first, sample["timeStamp"])
        stretch.last = max(stretch.last, end)
    if not stretches:
        raise DataError(f"`{shortened(file)}` holds no samples", _HINT)
    if window is not None:
        return _whole_stretches(stretches, file, window, has_bytes=has_bytes)
    [stretch] = stretches.values()
    seconds = (stretch.last - stretch.first) / 1000
    if seconds <= 0:
        raise DataError(f"`{shortened(file)}`: all samples are of one moment", "measure for longer")
    return [_run(stretch, file, stretch.first / 1000, seconds, has_bytes=has_bytes)], []


def _whole_stretches(
    stretches: dict[int, _Stretch], file: str, window: float, *, has_bytes: bool
) -> tuple[list[LoadRun], list[str]]:
    first, last = min(stretches), max(stretches)
    if last - first > MOST_STRETCHES:
        raise too_many_stretches(file)
    if last - first < 2:  # noqa: PLR2004 - none between the first and the last
        raise DataError(
            f"`{shortened(file)}` holds no whole stretch of {window:g} s",
            "take a shorter one by `--window`, or all of it as one run without",
        )
    idle = _Stretch()
    found = [
        _run(stretches.get(place, idle), file, place * window, window, has_bytes=has_bytes)
        for place in range(first + 1, last)
    ]
    return found, []


def _run(stretch: _Stretch, file: str, start: float, seconds: float, *, has_bytes: bool) -> LoadRun:
    ordered = sorted(stretch.elapsed)
    count = len(ordered)
    known = [p for p in _PERCENTILES if count * (100 - p) >= _ONE_BEYOND]
    latencies = {f"p{p}": ordered[ceil(count * p / 100) - 1] / 1000 for p in known}
    if count:
        latencies |= {"mean": sum(ordered) / count / 1000, "longest": ordered[-1] / 1000}
    return LoadRun(
        file=file,
        start=start,
        done=count / seconds,
        received=stretch.received / seconds if has_bytes else None,
        users=stretch.users or None,
        failed=stretch.failed / count if count else None,
        latencies=latencies,
    )


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
            if count >= _MOST_SAMPLES:
                raise DataError(
                    f"`{shortened(file)}` has over {_MOST_SAMPLES:,} samples", "split it"
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
