"""What load generators print when they are done: wrk, h2load, pgbench, sysbench.

A file may hold the outputs of several runs, one after the other; one that was broken off is left
out, and that is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from qps.compiler.data.measured_tables import DataError
from qps.compiler.diagnostics.suggest import shortened
from qps.observing.observed_runs import LoadRun

_H2LOAD_KINDS = {"min": "least", "max": "longest", "median": "p50", "sd": "deviation"}

Printed = tuple[list[LoadRun], list[str]]
"""The runs of a file, and what to know of them."""

_MOST_RUNS = 10_000
_TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZES = {"B": 2**0, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_NUMBER = r"\d{1,18}(?:\.\d{1,18})?"
_TIME = rf"{_NUMBER}(?:us|ms|s|m|h)"
_SIZE = rf"{_NUMBER}[KMGT]?B"


def wrk_runs(text: str, file: str) -> Printed:
    """Return the runs of wrk, and of wrk2: connections are the users.

    Percentiles are there with its `--latency`.
    """
    return _runs(text, file, ("^Running .* test @",), _wrk, "Requests/sec:")


def h2load_runs(text: str, file: str) -> Printed:
    """Return the runs of h2load: clients are the users; newer versions tell percentiles."""
    return _runs(text, file, ("^starting benchmark", "^finished in "), _h2load, "finished in …")


def pgbench_runs(text: str, file: str) -> Printed:
    """Return the runs of pgbench, transactions as its items; connecting is not counted."""
    return _runs(text, file, ("^transaction type:",), _pgbench, "tps = …")


def sysbench_runs(text: str, file: str) -> Printed:
    """Return the runs of sysbench: its events, which are transactions at a database."""
    return _runs(text, file, (r"^sysbench \d", "^General statistics:"), _sysbench, "total time:")


def _runs(
    text: str,
    file: str,
    begins: tuple[str, ...],
    read: Callable[[str, str], LoadRun | None],
    sign: str,
) -> Printed:
    """Read each part of a text, by the first of some lines to be found that begin one."""
    starts: list[int] = []
    for begin in begins:
        starts = starts or [match.start() for match in re.finditer(begin, text, re.MULTILINE)]
    if len(starts) > _MOST_RUNS:
        raise DataError(f"`{shortened(file)}` holds over {_MOST_RUNS:,} runs", "split it")
    ends = [*starts[1:], len(text)][: len(starts)]
    found = [read(text[start:end], file) for start, end in zip(starts, ends, strict=True)]
    whole = [run for run in found if run is not None]
    if not whole:
        raise DataError(
            f"`{shortened(file)}` holds no result: there is no line `{sign}`",
            "keep all that the tool prints at its end: `… > run.txt`",
        )
    broken = len(found) - len(whole)
    if not broken:
        return whole, []
    verb = "was broken off and is" if broken == 1 else "were broken off and are"
    return whole, [f"warning: {broken} of {len(found)} runs in `{file}` {verb} left out"]


def _wrk(text: str, file: str) -> LoadRun | None:
    done = _number(text, rf"^Requests/sec:\s+({_NUMBER})")
    count = _number(text, r"^[ \t]{0,99}(\d{1,18}) requests in ")
    if done is None or not count:
        return None
    errors = _match(text, r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
    failed = _number(text, r"Non-2xx or 3xx responses: (\d{1,18})") or 0.0
    failed += sum(map(float, errors.groups())) if errors else 0.0
    latencies = {}
    average = _match(text, rf"^[ \t]{{1,99}}Latency\s+({_TIME})\s+({_TIME})\s+({_TIME})\s")
    if average:
        told = map(_seconds, average.groups())
        latencies = dict(zip(("mean", "deviation", "longest"), told, strict=True))
    rows = rf"^[ \t]{{1,99}}(\d{{1,3}}(?:\.\d{{1,6}})?)%\s+({_TIME})\s*$"
    for share, time in re.findall(rows, text, re.MULTILINE):
        if float(share) < 100:  # noqa: PLR2004 - wrk2 tells the longest so
            latencies[f"p{float(share):g}"] = _seconds(time)
    size = _match(text, rf"^Transfer/sec:\s+({_SIZE})")
    return LoadRun(
        file=file,
        users=_number(text, r"(\d{1,18}) connections"),
        done=done,
        received=None if size is None else _bytes(size[1]),
        failed=failed / max(count, failed),
        latencies=latencies,
    )


def _h2load(text: str, file: str) -> LoadRun | None:
    done = _number(text, rf"^finished in {_TIME}, ({_NUMBER}) req/s")
    counts = _match(
        text,
        r"^requests: (\d{1,18}) total, \d+ started, (\d{1,18}) done, (\d{1,18}) succeeded",
    )
    if done is None or counts is None or not int(counts[2]):
        return None
    total, ended, succeeded = map(int, counts.groups())
    received = _number(text, r"^traffic: \S+ \((\d{1,18})\) total")
    clients = re.findall(r"^spawning thread #\d+: (\d{1,9}) total client", text, re.MULTILINE)
    return LoadRun(
        file=file,
        users=sum(map(float, clients)) if clients else None,
        done=done,
        received=None if received is None else done * received / ended,
        failed=1 - succeeded / max(total, ended),
        latencies=_h2load_times(text),
    )


def _h2load_times(text: str) -> dict[str, float]:
    """Return the times of requests by the headings above them, which differ by version."""
    gap = r"[ \t]{1,99}"
    heading = _match(text, rf"^{gap}(min{gap}max[ \ta-z0-9]{{1,199}})[ \t]\+/- sd[ \t]*$")
    times = _match(text, rf"^(?:time for )?request[ \t]{{0,99}}:((?:{gap}{_TIME}){{3,9}})[ \t]")
    if heading is None or times is None:
        return {}
    told = zip(heading[1].split(), times[1].split(), strict=False)
    return {_H2LOAD_KINDS.get(kind, kind): _seconds(time) for kind, time in told}


def _pgbench(text: str, file: str) -> LoadRun | None:
    rates = re.findall(rf"^tps = ({_NUMBER}) \((\w+)", text, re.MULTILINE)
    if not rates:
        return None
    # Before version 14 there are two lines; what counts is that without connecting.
    done = next((rate for rate, word in rates if word in ("without", "excluding")), rates[-1][0])
    latencies = {}
    for kind, word in (("mean", "average"), ("deviation", "stddev")):
        value = _number(text, rf"^latency {word}\s*[=:]\s*({_NUMBER}) ms")
        if value is not None:
            latencies[kind] = value / 1000
    failed = _number(text, rf"^number of failed transactions: \d+ \(({_NUMBER})%\)")
    return LoadRun(
        file=file,
        users=_number(text, r"^number of clients: (\d{1,9})"),
        done=float(done),
        failed=None if failed is None else failed / 100,
        latencies=latencies,
    )


def _sysbench(text: str, file: str) -> LoadRun | None:
    count = _number(text, r"^[ \t]{1,99}total number of events:\s+(\d{1,18})")
    seconds = _number(text, rf"^[ \t]{{1,99}}total time:\s+({_NUMBER})s")
    if count is None or not seconds:
        return None
    told = _number(
        text, rf"^[ \t]{{1,99}}(?:transactions:\s+\d+\s+\(|events per second:\s+)({_NUMBER})"
    )
    latencies = {}
    for kind, word in (("least", "min"), ("mean", "avg"), ("longest", "max")):
        value = _number(text, rf"^[ \t]{{1,99}}{word}:\s+({_NUMBER})$")
        if value is not None:
            latencies[kind] = value / 1000
    percentile = _match(text, rf"^[ \t]{{1,99}}(\d{{1,2}})th percentile:\s+({_NUMBER})$")
    if percentile and float(percentile[1]):
        latencies[f"p{percentile[1]}"] = float(percentile[2]) / 1000
    return LoadRun(
        file=file,
        users=_number(text, r"^Number of threads: (\d{1,9})"),
        done=count / seconds if told is None else told,
        latencies=latencies,
    )


def _match(text: str, pattern: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.MULTILINE)


def _number(text: str, pattern: str) -> float | None:
    found = _match(text, pattern)
    return None if found is None else float(found[1])


def _seconds(text: str) -> float:
    """Return a time of a number and a unit: `25.25ms`."""
    number, unit = re.fullmatch(r"([\d.]+)([a-z]+)", text).groups()  # type: ignore[union-attr]
    return float(number) * _TIMES[unit]


def _bytes(text: str) -> float:
    """Return a size; these tools count 1,024 bytes to a `KB`."""
    number, unit = re.fullmatch(r"([\d.]+)([A-Z]+)", text).groups()  # type: ignore[union-attr]
    return float(number) * _SIZES[unit]
