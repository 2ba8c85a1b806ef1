"""What load generators print when they are done: wrk, h2load, pgbench, sysbench.

A file may hold the outputs of several runs, one after the other; one that was broken off is left
out, and that is reported.
"""

from __future__ import annotations

import re

from qps.compiler.measurement.observations.load_runs import ITEMS, LoadRun, Twice
from qps.compiler.measurement.observations.printed_layouts import (
    TIME,
    Printed,
    PrintedLayout,
    place_of,
    printed_runs,
    rate_twice,
    seconds_of,
)
from qps.compiler.measurement.observations.run_texts import NUMBER, RunText, half_digit

_H2LOAD_KINDS = {"min": "least", "max": "longest", "median": "p50", "sd": "deviation"}

_SIZES = {"B": 2**0, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_SIZE = rf"{NUMBER}[KMGT]?B"
_SYSBENCH_MS = rf"\s+({NUMBER})(?:ms)?\s*$"
_CONNECTING = 0.1
"""Part of a run of pgbench that connecting may take, which its rates leave out."""


def wrk_runs(text: str, file: str) -> Printed:
    """Return the runs of wrk, and of wrk2: connections are the users.

    Percentiles are there with its `--latency`; of the two tables of wrk2 that one counts which
    begins with the moment a request was due.
    """
    return printed_runs(text, file, _WRK)


def h2load_runs(text: str, file: str) -> Printed:
    """Return the runs of h2load: clients are the users; newer versions print percentiles."""
    return printed_runs(text, file, _H2LOAD)


def pgbench_runs(text: str, file: str) -> Printed:
    """Return the runs of pgbench, transactions as its items; connecting is not counted."""
    return printed_runs(text, file, _PGBENCH)


def sysbench_runs(text: str, file: str) -> Printed:
    """Return the runs of sysbench: its events, which are transactions at a database."""
    return printed_runs(text, file, _SYSBENCH)


def _wrk(run: RunText) -> LoadRun | None:
    done = run.number("Requests/sec:")
    ended = run.found(r"(?=\d+ requests in )", rf"(\d{{1,18}}) requests in ({TIME}), ({_SIZE})")
    if done is None or ended is None or not int(ended[1]):
        return None
    count, seconds = int(ended[1]), seconds_of(ended[2])
    counts = r"\s*connect (\d+), read (\d+), write (\d+), timeout (\d+)"
    errors = run.found("Socket errors:", counts)
    failed = run.number("Non-2xx or 3xx responses:", r"\s*(\d{1,18})") or 0.0
    failed += sum(map(float, errors.groups())) if errors else 0.0
    size = run.found("Transfer/sec:", rf"\s*({_SIZE})")
    received = None if size is None else _bytes(size[1])
    twice = [rate_twice("request/s", done, count, seconds)]
    if received is not None:
        octets = _bytes(ended[3])
        twice.append(
            Twice(
                what="byte/s",
                stated=received,
                derived=octets / seconds,
                derived_from=f"{ended[3]} in {ended[2]}",
                rounding=_half_digit_of(ended[3]) / seconds,
            )
        )
    latencies, field = _wrk_times(run)
    return LoadRun(
        file=run.file,
        place=place_of(run),
        users=run.number(r"(?=\d+ threads and )", r"\d+ threads and (\d{1,18}) connections"),
        done=done,
        received=received,
        failed=failed / max(count, failed),
        latencies=latencies,
        twice=tuple(twice),
        fields={
            "users": "`connections`",
            ITEMS: "`Requests/sec`",
            "byte/s": "`Transfer/sec`",
            "share failed": "`Non-2xx or 3xx responses` and `Socket errors`",
            "latency": field,
        },
    )


def _wrk_times(run: RunText) -> tuple[dict[str, float], str]:
    """Return the latencies of wrk, and which fields they are from.

    wrk2 prints a second table where it is requested, of times that begin when a request was sent,
    so that what waited to be sent is not in them.
    """
    average = run.found(r"Latency(?! Distribution)", rf"\s+({TIME})\s+({TIME})\s+({TIME})\s")
    found = {}
    if average is not None:
        seconds = map(seconds_of, average.groups())
        found = dict(zip(("mean", "deviation", "longest"), seconds, strict=True))
    tables = re.split(r"^[ \t]{0,99}Latency Distribution", run.text, flags=re.MULTILINE)[1:]
    if not tables:
        return found, "`Latency`"
    table = next((one for one in tables if "Uncorrected" not in one.partition("\n")[0]), tables[0])
    title, _, below = table.partition("\n")
    row = re.compile(rf"[ \t]{{0,99}}(\d{{1,3}}(?:\.\d{{1,6}})?)%\s+({TIME})\s*$")
    for line in below.splitlines():
        cells = row.match(line)
        if cells is None:
            break
        if float(cells[1]) < 100:  # noqa: PLR2004 - wrk2 prints the longest so
            found[f"p{float(cells[1]):g}"] = seconds_of(cells[2])
    exact = re.search(
        rf"^#\[Mean\s*=\s*({NUMBER}), StdDeviation\s*=\s*({NUMBER})\]", below, re.MULTILINE
    )
    if exact is not None:
        found |= {"mean": float(exact[1]) / 1000, "deviation": float(exact[2]) / 1000}
    name = f"Latency Distribution{title}"
    left = "; the second table has other times and is ignored" * (len(tables) > 1)
    return found, f"`Latency` and `{name}`{left}"


def _h2load(run: RunText) -> LoadRun | None:
    ended_at = run.found("finished in ", rf"({TIME}), ({NUMBER}) req/s")
    counts = run.found(
        "requests: ", r"(\d{1,18}) total, \d+ started, (\d{1,18}) done, (\d{1,18}) succeeded"
    )
    if ended_at is None or counts is None or not int(counts[2]):
        return None
    done, seconds = float(ended_at[2]), seconds_of(ended_at[1])
    total, ended, succeeded = map(int, counts.groups())
    received = run.number("traffic: ", r"\S+ \((\d{1,18})\) total")
    clients = re.findall(r"^spawning thread #\d+: (\d{1,9}) total client", run.text, re.MULTILINE)
    return LoadRun(
        file=run.file,
        place=place_of(run),
        users=sum(map(float, clients)) if clients else None,
        done=done,
        received=None if received is None else done * received / ended,
        failed=1 - succeeded / max(total, ended),
        latencies=_h2load_times(run),
        twice=(rate_twice("request/s", done, ended, seconds),),
        fields={
            "users": "`total client`",
            ITEMS: "`finished in …, req/s`",
            "byte/s": "`traffic`",
            "share failed": "`succeeded`",
            "latency": "`request`",
        },
    )


def _h2load_times(run: RunText) -> dict[str, float]:
    """Return the times of requests by the headings above them, which differ by version."""
    gap = r"[ \t]{1,99}"
    heading = re.search(
        rf"^{gap}(min{gap}max[ \ta-z0-9]{{1,199}})[ \t]\+/- sd[ \t]*$", run.text, re.MULTILINE
    )
    times = run.found(r"(?:time for )?request[ \t]{0,99}:", rf"((?:{gap}{TIME}){{3,9}})[ \t]")
    if heading is None or times is None:
        return {}
    pairs = zip(heading[1].split(), times[1].split(), strict=False)
    return {_H2LOAD_KINDS.get(kind, kind): seconds_of(time) for kind, time in pairs}


def _pgbench(run: RunText) -> LoadRun | None:
    rates = re.findall(rf"^tps = ({NUMBER}) \((\w+)", run.text, re.MULTILINE)
    if not rates:
        return None
    # Before version 14 there are two lines; what counts is that without connecting.
    bare = next((rate for rate, word in rates if word in ("without", "excluding")), None)
    done = float(rates[-1][0] if bare is None else bare)
    latencies = {}
    for kind, word in (("mean", "average"), ("deviation", "stddev")):
        value = run.number(f"latency {word}", rf"\s*[=:]\s*({NUMBER}) ms")
        if value is not None:
            latencies[kind] = value / 1000
    shares = [
        run.number(f"number of {label}:", rf"\s*\d+ \(({NUMBER})%\)")
        for label in ("failed transactions", "transactions skipped")
    ]
    stated = [one for one in shares if one is not None]
    count = run.number("number of transactions actually processed:", r"\s*(\d{1,18})")
    seconds = run.number("duration:", r"\s*(\d{1,9}) s")
    twice = []
    if count is not None and seconds:
        twice.append(rate_twice("request/s", done, count, seconds, _CONNECTING * done))
    return LoadRun(
        file=run.file,
        place=place_of(run),
        users=run.number("number of clients:", r"\s*(\d{1,9})"),
        done=done,
        failed=sum(stated) / 100 if stated else None,
        latencies=latencies,
        twice=tuple(twice),
        fields={
            "users": "`number of clients`",
            ITEMS: "`tps`" if bare is None else "`tps` without connection time",
            "share failed": "failed and skipped transactions",
            "latency": "`latency average` and `latency stddev`",
        },
    )


def _sysbench(run: RunText) -> LoadRun | None:
    count = run.number("total number of events:", r"\s+(\d{1,18})")
    seconds = run.number("total time:", rf"\s+({NUMBER})s")
    if count is None or not seconds:
        return None
    transactions = run.number(r"transactions:\s+\d+\s+\(") or run.number("events per second:")
    latencies = {}
    for kind, word in (("least", "min"), ("longest", "max")):
        value = run.number(f"{word}:", _SYSBENCH_MS)
        if value is not None:
            latencies[kind] = value / 1000
    mean = run.found("avg:", _SYSBENCH_MS)
    total = run.number("sum:", _SYSBENCH_MS)
    if total is None:  # as before version 1.0, in s
        taken = run.number("total time taken by event execution:", rf"\s+({NUMBER})s?\s*$")
        total = None if taken is None else 1000 * taken
    twice = [] if transactions is None else [rate_twice("request/s", transactions, count, seconds)]
    field = "`Latency (ms)`"
    if mean is not None:
        latencies["mean"] = float(mean[1]) / 1000
    if mean is not None and total is not None and count:
        exact = Twice(
            what="the mean latency in ms",
            stated=float(mean[1]),
            derived=total / count,
            derived_from=f"a sum of {total:,g} over {count:,g} events",
            rounding=half_digit(mean[1]),
        )
        twice.append(exact)
        if exact.agrees:
            latencies["mean"] = total / count / 1000
            field += ", its mean as `sum` over `total number of events`"
    percentile = run.found(
        r"(?:approx\.\s+)?(?=\d{1,2}(?:th)? percentile:)",
        rf"(\d+)(?:th)? percentile:\s+({NUMBER})(?:ms)?\s*$",
    )
    if percentile and float(percentile[1]):
        latencies[f"p{percentile[1]}"] = float(percentile[2]) / 1000
    return LoadRun(
        file=run.file,
        place=place_of(run),
        users=run.number("Number of threads:", r"\s*(\d{1,9})"),
        done=count / seconds if transactions is None else transactions,
        latencies=latencies,
        twice=tuple(twice),
        fields={
            "users": "`Number of threads`",
            ITEMS: "`total number of events`"
            if transactions is None
            else "`transactions` per second",
            "latency": field,
        },
    )


_WRK = PrintedLayout(
    begins=("^Running .* test @",), end="^Requests/sec:", sign="Requests/sec:", read=_wrk
)
_H2LOAD = PrintedLayout(
    begins=("^starting benchmark", "^finished in "),
    end="^finished in ",
    sign="finished in …",
    read=_h2load,
)
_PGBENCH = PrintedLayout(
    begins=("^transaction type:",),
    end="^number of transactions actually processed:",
    sign="tps = …",
    read=_pgbench,
)
_SYSBENCH = PrintedLayout(
    begins=(r"^sysbench \d", "^General statistics:", "^Test execution summary:"),
    end=r"^[ \t]{1,99}total time:",
    sign="total time:",
    read=_sysbench,
)


def _half_digit_of(size: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)([A-Z]+)", size).groups()  # type: ignore[union-attr]
    return half_digit(number) * _SIZES[unit]


def _bytes(text: str) -> float:
    """Return a size; these tools count 1,024 bytes to a `KB`."""
    number, unit = re.fullmatch(r"([\d.]+)([A-Z]+)", text).groups()  # type: ignore[union-attr]
    return float(number) * _SIZES[unit]
