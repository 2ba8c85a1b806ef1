"""Results of JMeter, a line for each sample: what was done in each stretch of time."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain

from qps.compiler.diagnostics.suggest import listed, shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.generators.jmeter_samples import JmeterSample, Nesting
from qps.compiler.measurement.observations.generators.jmeter_xml import xml_samples
from qps.compiler.measurement.observations.load_runs import ITEMS, Fields, LoadRun
from qps.compiler.measurement.observations.time_windows import MOST_SAMPLES, Stretch, Stretches

_NEEDED = ("timeStamp", "elapsed")
_NUMBERS = ("elapsed", "bytes", "allThreads")
_TEXTS = ("threadName", "label", "responseMessage", "URL", "dataType")
_SEPARATORS = (",", ";", "\t", "|")
"""What JMeter may be told to write between columns: `jmeter.save.saveservice.default_delimiter`."""
_DATE = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{3})?", re.ASCII)
"""Moments as JMeter writes them by `jmeter.save.saveservice.timestamp_format`."""
_LONGEST_NUMBER = 15
"""Digits: ms since 1970, bytes."""
_HINT = (
    "write it with `jmeter -n -t PLAN.jmx -l run.jtl`, as CSV with a header: "
    "`-Jjmeter.save.saveservice.print_field_names=true`"
)
_TIME_HINT = "write times in ms: `-Jjmeter.save.saveservice.timestamp_format=ms`"
_FIELDS: Fields = {
    "users": "`allThreads` (maximum)",
    ITEMS: "samples by `timeStamp` and `elapsed`",
    "byte/s": "`bytes`",
    "share failed": "`success`",
    "latency": "`elapsed`",
}

_XML_HINT = "write it with `jmeter -n -t PLAN.jmx -l run.jtl`"
_XML_FIELDS: Fields = {
    "users": "`na` (maximum)",
    ITEMS: "samples by `ts` and `t`",
    "byte/s": "`by`",
    "share failed": "`s`",
    "latency": "`t`",
}


def jmeter_runs(
    files: Sequence[Iterable[str]], file: str, window: float | None
) -> tuple[list[LoadRun], list[str]]:
    """Return what was done in each stretch of `window` s, of whole stretches; else in each run.

    A sample counts where it ended, as a rate is of what was done. One that holds others is left
    out, as each of these counts: a transaction, and what was redirected or has parts.
    """
    (lines,) = files
    samples = ((sample, False) for sample in _samples(lines, file))
    return _runs(samples, file, window, _HINT, _FIELDS)


def jmeter_xml_runs(
    files: Sequence[Iterable[str]], file: str, window: float | None
) -> tuple[list[LoadRun], list[str]]:
    """Return the same of results as XML, where samples stand within those that hold them."""
    (lines,) = files
    return _runs(xml_samples(lines, file), file, window, _XML_HINT, _XML_FIELDS)


def _runs(
    samples: Iterable[tuple[JmeterSample, bool]],
    file: str,
    window: float | None,
    hint: str,
    fields: Fields,
) -> tuple[list[LoadRun], list[str]]:
    """Return the runs of samples, of which some are known to hold others."""
    requests, sums = (Stretches(file, window, fields) for _ in range(2))
    nesting = Nesting()
    for sample, is_sum in nesting.classified(samples):
        _add(sample, sums if is_sum else requests, is_run=window is None)
        if is_sum:
            _stretch(sample, requests, is_run=window is None).nested += 1
    found = sums if requests.is_empty else requests
    runs, notes = found.runs(hint)
    if nesting.labels and found is requests:
        notes.append(
            f"warning: `{shortened(file)}`: samples that contain others, such as "
            f"{listed([*nesting.labels], 'and')}, are ignored, so that requests are counted once: "
            + "; ".join(f"{run.done:.4g} of {run.done + run.nested:.4g} per second" for run in runs)
        )
    if nesting.overlapping:
        some = "sample overlaps" if nesting.overlapping == 1 else "samples overlap"
        notes.append(
            f"warning: `{shortened(file)}`: {nesting.overlapping:,} {some} with another "
            "of the same thread: some contain others and are counted twice, or threads of several "
            "generators have the same name"
        )
    return runs, notes


def _add(sample: JmeterSample, found: Stretches, *, is_run: bool) -> None:
    stretch = _stretch(sample, found, is_run=is_run)
    stretch.elapsed.append(sample.elapsed)
    found.has_bytes = found.has_bytes or sample.octets is not None
    stretch.received += sample.octets or 0
    stretch.failed += not sample.is_success
    stretch.users = max(stretch.users, sample.threads)


def _stretch(sample: JmeterSample, found: Stretches, *, is_run: bool) -> Stretch:
    stretch = found.at(sample.end)
    if is_run:
        stretch.first = min(stretch.first, sample.start)
    return stretch


def _samples(lines: Iterable[str], file: str) -> Iterator[JmeterSample]:
    """Yield each sample; DataError where there is none, but for a last broken line.

    A heading may stand there again, where files were put one behind the other.
    """
    rest = iter(lines)
    first = next(rest, "")
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(chain([first], rest), delimiter=separator)
    try:
        headings = [heading.strip().lstrip("\ufeff") for heading in next(reader, [])]
        if any(needed not in headings for needed in _NEEDED):
            raise DataError(
                f"`{shortened(file)}` is not a JMeter CSV with `timeStamp` and `elapsed`", _HINT
            )
        if len(set(headings)) < len(headings):
            raise DataError(f"`{shortened(file)}` has two columns with the same name", _HINT)
        places = {heading: place for place, heading in enumerate(headings)}
        broken = None
        hint = _HINT
        for count, row in enumerate(reader):
            if broken is not None:
                raise DataError(f"`{shortened(file)}`, line {broken}: not a JMeter sample", hint)
            if not row or row == headings:
                continue
            if count >= MOST_SAMPLES:
                raise DataError(
                    f"`{shortened(file)}` has more than {MOST_SAMPLES:,} samples", "split it"
                )
            sample = _sample(row, places) if len(row) == len(headings) else None
            if sample is None:
                is_whole = len(row) == len(headings)
                is_timed = is_whole and _moment(row[places["timeStamp"]]) is not None
                hint = _TIME_HINT if is_whole and not is_timed else _HINT
                broken = reader.line_num  # the last one may be cut off: JMeter was ended
            else:
                yield sample
    except csv.Error as error:
        raise DataError(f"`{shortened(file)}`, line {reader.line_num}: {error}", _HINT) from error


def _sample(row: Sequence[str], places: dict[str, int]) -> JmeterSample | None:
    """Return what a line says, None where it is no sample."""
    start = _moment(row[places["timeStamp"]])
    if start is None:
        return None
    numbers: dict[str, int] = {}
    for name in _NUMBERS:
        if name not in places:
            continue
        cell = row[places[name]]
        if not _is_count(cell):
            return None
        numbers[name] = int(cell)
    success = row[places["success"]].lower() if "success" in places else "true"
    if success not in ("true", "false"):  # a spreadsheet writes them large
        return None
    texts = {name: row[places[name]] if name in places else "" for name in _TEXTS}
    return JmeterSample(
        start=start,
        elapsed=numbers["elapsed"],
        octets=numbers.get("bytes"),
        is_success=success == "true",
        threads=numbers.get("allThreads", 0),
        thread=texts["threadName"],
        label=texts["label"],
        message=texts["responseMessage"],
        url=texts["URL"],
        kind=texts["dataType"],
    )


def _is_count(cell: str) -> bool:
    return cell.isascii() and cell.isdecimal() and len(cell) <= _LONGEST_NUMBER


def _moment(cell: str) -> int | None:
    """Return a moment in ms since 1970; a date is taken for UTC. None for what is none."""
    if _is_count(cell):
        return int(cell)
    if not _DATE.fullmatch(cell):
        return None
    try:
        moment = datetime.fromisoformat(cell.replace("/", "-").replace(",", "."))
    except ValueError:
        return None
    return round(moment.replace(tzinfo=UTC).timestamp() * 1000)
