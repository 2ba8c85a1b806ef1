"""Summaries as JSON: `vegeta report -type=json`, and fio's `--output-format=json`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec import Struct, field

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.load_runs import ITEMS, LoadRun, Twice, percentile_of
from qps.compiler.measurement.observations.printed_layouts import Printed
from qps.compiler.measurement.observations.run_texts import plain_text

_Kind = TypeVar("_Kind")
_NANO, _MILLI = 1e-9, 1e-3
_DIRECTIONS = ("read", "write", "trim")
_SHOWN_PERCENTILES = (50, 90, 95, 99, 99.9)


class _Total(Struct):
    total: float = 0


class _Report(Struct, kw_only=True):
    latencies: dict[str, float]
    duration: float
    requests: int
    success: float
    wait: float = 0
    bytes_in: _Total = field(default_factory=_Total)
    throughput: float | None = None
    earliest: str = ""


def is_json(first: str) -> bool:
    """Return whether a first line begins a JSON."""
    return plain_text(first).lstrip().startswith("{")


def vegeta_json_runs(text: str, file: str) -> Printed:
    """Return the reports of vegeta as JSON, one behind the other.

    With `vegeta report -every`, a later report contains what those before it say.
    """
    what = "what `vegeta report -type=json` writes"
    found = [decoded(line, _Report, file, what) for line in _documents(plain_text(text))]
    last = _without_interim(found, _is_report_continued)
    runs = []
    for number, report in enumerate(last, start=1):
        seconds = (report.duration + report.wait) * _NANO
        if not report.requests or seconds <= 0:
            raise DataError(f"`{shortened(file)}` contains no requests", "run the attack again")
        done = report.requests / seconds
        twice = []
        if report.throughput is not None:
            twice.append(
                Twice(
                    what="the throughput",
                    stated=report.throughput,
                    derived=done * report.success,
                    derived_from="successful requests over duration and wait",
                )
            )
        runs.append(
            LoadRun(
                file=file,
                place="" if number == 1 else f", report {number}",
                done=done,
                start=moment_of(report.earliest),
                received=report.bytes_in.total / seconds,
                failed=1 - report.success,
                latencies={
                    kind: value * _NANO
                    for name, value in report.latencies.items()
                    for kind in [_vegeta_kind(name)]
                    if kind is not None
                },
                twice=tuple(twice),
                fields={
                    ITEMS: "`requests` over `duration` and `wait`",
                    "byte/s": "`bytes_in`",
                    "share failed": "`success`",
                    "latency": "`latencies`",
                },
            )
        )
    return runs, interim_notes(len(found) - len(last), file)


def _documents(text: str) -> Iterator[str]:
    """Yield the JSON documents of a text: one, or one in each line."""
    lines = [line for line in text.splitlines() if line.strip()]
    yield from lines if all(line.lstrip().startswith("{") for line in lines) else [text]


def _vegeta_kind(name: str) -> str | None:
    if name == "total":
        return None
    percentile = re.fullmatch(r"(\d\d)th", name)
    return f"p{percentile[1]}" if percentile else {"min": "least", "max": "longest"}.get(name, name)


def moment_of(text: str) -> float | None:
    """Return a moment in s since 1970; Go writes nine digits of a second."""
    try:
        return datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text)).timestamp()
    except ValueError:
        return None


class _Times(Struct, kw_only=True):
    min: float = 0
    max: float = 0
    mean: float = 0
    stddev: float = 0
    percentile: dict[str, float] = {}


class _Direction(Struct, kw_only=True):
    iops: float = 0
    bw_bytes: float = 0
    total_ios: int = 0
    runtime: float = 0
    lat_ns: _Times = field(default_factory=_Times)
    clat_ns: _Times = field(default_factory=_Times)


class _Job(Struct, kw_only=True):
    jobname: str = ""
    error: int = 0
    elapsed: float = 0
    read: _Direction = field(default_factory=_Direction)
    write: _Direction = field(default_factory=_Direction)
    trim: _Direction = field(default_factory=_Direction)
    options: Mapping[str, str] = field(default_factory=dict, name="job options")


class _Fio(Struct):
    jobs: list[_Job]
    shared: Mapping[str, str] = field(default_factory=dict, name="global options")
    timestamp_ms: float = 0


def fio_runs(text: str, file: str) -> Printed:
    """Return what each job of fio read and wrote: operations as its items, outstanding as users.

    Lines of fio may stand above a JSON, and its printed output below it.
    """
    texts = list(_indented_documents(text)) or [text]
    found = [decoded(one, _Fio, file, "what `fio --output-format=json` writes") for one in texts]
    last = _without_interim(found, _is_continued)
    runs = []
    for one in last:
        for job in one.jobs:
            for name in _DIRECTIONS:
                direction: _Direction = getattr(job, name)
                if direction.total_ios and direction.runtime:
                    runs.append(_fio_run(file, job, name, direction, one.shared))
    if not runs:
        raise DataError(f"`{shortened(file)}` contains no I/O operations", "run the job again")
    return runs, interim_notes(len(found) - len(last), file)


def _indented_documents(text: str) -> Iterator[str]:
    """Yield the JSON documents of a text whose first and last line are not indented."""
    document: list[str] = []
    for line in text.splitlines(keepends=True):
        if document or line.startswith("{"):
            document.append(line)
        if document and line.startswith("}"):
            yield "".join(document)
            document = []


def _is_continued(one: _Fio, later: _Fio) -> bool:
    """Return whether a later result is of the same run, as with `--status-interval`.

    Then nothing has become less, and the run began before the former result was written. `elapsed`
    is rounded up to whole seconds.
    """
    if [job.jobname for job in one.jobs] != [job.jobname for job in later.jobs]:
        return False
    counts = [
        (getattr(job, name).total_ios, getattr(more, name).total_ios)
        for job, more in zip(one.jobs, later.jobs, strict=True)
        for name in _DIRECTIONS
    ]
    between = (later.timestamp_ms - one.timestamp_ms) * _MILLI
    longest = max((job.elapsed for job in later.jobs), default=0)
    return all(count <= more for count, more in counts) and between < longest - 1


def _is_report_continued(one: _Report, later: _Report) -> bool:
    """Return whether a later report of vegeta is of the same requests, and more."""
    return one.earliest == later.earliest and one.requests <= later.requests


def _without_interim(
    found: Sequence[_Kind], is_continued: Callable[[_Kind, _Kind], bool]
) -> list[_Kind]:
    """Return the reports that the next one does not continue."""
    later = [*found[1:], None]
    return [
        one
        for one, after in zip(found, later, strict=True)
        if after is None or not is_continued(one, after)
    ]


def interim_notes(count: int, file: str) -> list[str]:
    """Return the note that so many reports are left out, as later ones contain what they say."""
    what = "report" if count == 1 else "reports"
    return [f"`{shortened(file)}`: {count:,} interim {what} left out"] if count else []


def _fio_run(
    file: str, job: _Job, name: str, found: _Direction, shared: Mapping[str, str]
) -> LoadRun:
    times, complete = found.lat_ns, found.clat_ns
    latencies = {
        "mean": times.mean,
        "deviation": times.stddev,
        "least": times.min,
        "longest": times.max,
    }
    for key, value in {**complete.percentile, **times.percentile}.items():
        share = percentile_of(f"p{key}")
        if share in _SHOWN_PERCENTILES:
            latencies[f"p{share:g}"] = value
    return LoadRun(
        file=f"{file}: {shortened(job.jobname)}, {name}",
        done=found.iops,
        received=found.bw_bytes,
        users=_outstanding(job, shared),
        failed=1.0 if job.error else 0.0,
        latencies={kind: value * _NANO for kind, value in latencies.items()},
        twice=(
            Twice(
                what="request/s",
                stated=found.iops,
                derived=found.total_ios / found.runtime * 1000,
                derived_from="`total_ios` over `runtime`",
            ),
        ),
        fields={
            "users": "`numjobs` times `iodepth`",
            ITEMS: "`iops`",
            "byte/s": "`bw_bytes`",
            "share failed": "`error`",
            "latency": "`lat_ns`, and percentiles of `clat_ns` where it has none",
        },
    )


def _outstanding(job: _Job, shared: Mapping[str, str]) -> float | None:
    """Return how many operations are outstanding at most; None where reads share it with writes.

    Jobs that are not reported as a group are rows of their own, each with one of them.
    """
    options = {"numjobs": "1", "iodepth": "1", **shared, **job.options}
    if sum(bool(one.total_ios) for one in (job.read, job.write, job.trim)) > 1:
        return None
    jobs = options["numjobs"] if "group_reporting" in options else "1"
    counts = (jobs, options["iodepth"])
    if not all(one.isascii() and one.isdecimal() for one in counts):
        return None
    return float(int(counts[0]) * int(counts[1]))


def decoded(text: str, kind: type[_Kind], file: str, what: str) -> _Kind:
    """Return a JSON as values of a kind; DataError where it is not `what` it should be."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(
            f"`{shortened(file)}` is not {what}: {shortened(str(error))}",
            "do not edit the output of the tool; what another program or version writes can be "
            "read as a table: `--as table`",
        ) from error
