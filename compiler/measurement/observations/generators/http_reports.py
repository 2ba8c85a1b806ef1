"""Summaries of HTTP load generators as JSON: oha, fortio, artillery, Gatling."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct, field

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.generators.json_reports import decoded, moment_of
from qps.compiler.measurement.observations.load_runs import ITEMS, LoadRun, Twice, percentile_of
from qps.compiler.measurement.observations.printed_layouts import Printed, rate_twice

_NANO, _MILLI = 1e-9, 1e-3
_FIRST_WRONG = 400
_DEADLINE = "aborted due to deadline"
"""What oha calls requests that were under way when its time was over: they are no failures."""
_FORTIO_RIGHT = {"GRPC": ("1", "SERVING"), "TCP": ("OK",), "UDP": ("OK",)}
"""By protocol, what fortio calls success; former versions write 1 for a healthy server."""
_SHOWN = frozenset([50, 75, 90, 95, 99, 99.9])


class _OhaSummary(Struct, kw_only=True):
    total: float
    requests: float = field(name="requestsPerSec")
    slowest: float | None = None
    fastest: float | None = None
    average: float | None = None
    octets: float | None = field(default=None, name="totalData")


class _Oha(Struct, kw_only=True):
    summary: _OhaSummary
    percentiles: dict[str, float | None] = field(name="latencyPercentiles")
    statuses: dict[str, int] = field(default_factory=dict, name="statusCodeDistribution")
    errors: dict[str, int] = field(default_factory=dict, name="errorDistribution")


def oha_runs(text: str, file: str) -> Printed:
    """Return the report of `oha --output-format json`; failed are errors, and statuses from 400."""
    found = decoded(text, _Oha, file, "what `oha --output-format json` writes")
    summary = found.summary
    cut = found.errors.get(_DEADLINE, 0)
    errors = sum(found.errors.values()) - cut
    done = sum(found.statuses.values()) + errors
    _refuse_empty(done, summary.total, file)
    wrong = sum(n for status, n in found.statuses.items() if _is_wrong(status))
    latencies = {
        "mean": summary.average,
        "least": summary.fastest,
        "longest": summary.slowest,
        **{kind: value for kind, value in found.percentiles.items() if _is_shown(kind)},
    }
    run = LoadRun(
        file=file,
        done=done / summary.total,
        received=None if summary.octets is None else summary.octets / summary.total,
        failed=(wrong + errors) / done,
        latencies={kind: value for kind, value in latencies.items() if value is not None},
        twice=(rate_twice("request/s", summary.requests, done + cut, summary.total),),
        fields={
            ITEMS: "`statusCodeDistribution` and `errorDistribution` over `total`",
            "byte/s": "`totalData`",
            "share failed": "statuses of 400 and above, and `errorDistribution`",
            "latency": "`summary` and `latencyPercentiles`",
        },
    )
    return [run], []


class _Percentile(Struct, kw_only=True):
    rank: float = field(name="Percentile")
    value: float = field(name="Value")


class _FortioTimes(Struct, kw_only=True):
    count: int = field(name="Count")
    least: float = field(name="Min")
    longest: float = field(name="Max")
    total: float = field(name="Sum")
    mean: float = field(name="Avg")
    deviation: float = field(name="StdDev")
    percentiles: list[_Percentile] | None = field(default=None, name="Percentiles")


class _FortioSizes(Struct, kw_only=True):
    total: float = field(default=0, name="Sum")


class _Fortio(Struct, kw_only=True):
    kind: str = field(default="", name="RunType")
    rate: float = field(name="ActualQPS")
    duration: float = field(name="ActualDuration")
    threads: float = field(name="NumThreads")
    times: _FortioTimes = field(name="DurationHistogram")
    start: str = field(default="", name="StartTime")
    codes: dict[str, int] | None = field(default=None, name="RetCodes")
    sizes: _FortioSizes | None = field(default=None, name="Sizes")


def fortio_runs(text: str, file: str) -> Printed:
    """Return the report of `fortio load -json`: its threads are the users."""
    found = decoded(text, _Fortio, file, "what `fortio load -json` writes")
    seconds, times = found.duration * _NANO, found.times
    _refuse_empty(times.count, seconds, file)
    codes = found.codes or {}
    right = _FORTIO_RIGHT.get(found.kind.split(" ")[0])
    wrong = sum(n for code, n in codes.items() if (code not in right if right else _is_wrong(code)))
    latencies = {
        "mean": times.mean,
        "deviation": times.deviation,
        "least": times.least,
        "longest": times.longest,
        **{f"p{one.rank:g}": one.value for one in times.percentiles or () if one.rank in _SHOWN},
    }
    run = LoadRun(
        file=file,
        done=found.rate,
        start=moment_of(found.start),
        users=found.threads,
        received=found.sizes.total / seconds if found.sizes and found.sizes.total else None,
        failed=wrong / times.count if codes else None,
        latencies=latencies,
        twice=(
            rate_twice("request/s", found.rate, times.count, seconds),
            Twice(
                what="the mean latency in s",
                stated=times.mean,
                derived=times.total / times.count,
                derived_from="`Sum` over `Count`",
            ),
        ),
        fields={
            "users": "`NumThreads`",
            ITEMS: "`ActualQPS`",
            "byte/s": "`Sizes`",
            "share failed": "`RetCodes`",
            "latency": "`DurationHistogram`",
        },
    )
    return [run], []


class _ArtilleryTotals(Struct, kw_only=True):
    counters: dict[str, float]
    summaries: dict[str, dict[str, float | None]] = field(default_factory=dict)
    first: float | None = field(default=None, name="firstCounterAt")
    last: float | None = field(default=None, name="lastCounterAt")


class _Artillery(Struct, kw_only=True):
    aggregate: _ArtilleryTotals


def artillery_runs(text: str, file: str) -> Printed:
    """Return the report of `artillery run --output`, of version 2, as one run.

    It counts users who arrived, and not how many were there at a time.
    """
    found = decoded(text, _Artillery, file, "what `artillery run --output` of version 2 writes")
    counters = found.aggregate.counters
    if found.aggregate.first is None or found.aggregate.last is None:
        raise DataError(
            f"`{shortened(file)}` has no `firstCounterAt` and `lastCounterAt`",
            "write it with `artillery run --output report.json`, of version 2",
        )
    seconds = (found.aggregate.last - found.aggregate.first) * _MILLI
    answers = counters.get("http.responses", 0)
    errors = sum(n for name, n in counters.items() if name.startswith("errors."))
    if (sent := counters.get("http.requests")) is not None:
        # Others are no requests, but mistakes in the script, such as functions that are not there.
        errors = min(errors, max(0, sent - answers))
    done = answers + errors
    _refuse_empty(done, seconds, file)
    wrong = sum(
        n for name, n in counters.items() if name.startswith("http.codes.") and _is_wrong(name[11:])
    )
    times = found.aggregate.summaries.get("http.response_time", {})
    octets = counters.get("http.downloaded_bytes")
    statuses = sum(n for name, n in counters.items() if name.startswith("http.codes."))
    twice = Twice(
        what="the number of responses",
        stated=answers,
        derived=statuses,
        derived_from="the sum of `http.codes`",
    )
    run = LoadRun(
        file=file,
        done=done / seconds,
        start=found.aggregate.first * _MILLI,
        received=None if octets is None else octets / seconds,
        failed=(wrong + errors) / done,
        latencies={
            kind: value * _MILLI
            for name, value in times.items()
            for kind in [_ARTILLERY_KINDS.get(name)]
            if kind is not None and value is not None
        },
        twice=(twice,),
        fields={
            ITEMS: "`http.responses` and `errors` of requests from `firstCounterAt` to "
            "`lastCounterAt`",
            "byte/s": "`http.downloaded_bytes`",
            "share failed": "`http.codes` of 400 and above, and `errors` of requests",
            "latency": "`http.response_time`",
        },
    )
    return [run], []


_ARTILLERY_KINDS = {"mean": "mean", "min": "least", "max": "longest"} | {
    name: name.replace("p999", "p99.9") for name in ("p50", "p75", "p90", "p95", "p99", "p999")
}


class _GatlingCount(Struct, kw_only=True):
    total: Any = None
    ko: Any = None


class _GatlingNumbers(Struct, kw_only=True):
    requests: _GatlingCount = field(name="numberOfRequests")
    rate: _GatlingCount = field(name="meanNumberOfRequestsPerSecond")
    mean: _GatlingCount = field(name="meanResponseTime")
    deviation: _GatlingCount = field(name="standardDeviation")
    least: _GatlingCount = field(name="minResponseTime")
    longest: _GatlingCount = field(name="maxResponseTime")


class _GatlingGroup(Struct, kw_only=True):
    stats: _GatlingNumbers


def gatling_stats_runs(text: str, file: str) -> Printed:
    """Return `js/stats.json`, `js/stats.js` or `js/global_stats.json` of a report of Gatling.

    Newer versions write only the script, which has the numbers as JSON. Which percentiles there are
    was configured, and is not stated: they are left out.
    """
    what = "`js/stats.json`, `js/stats.js` or `js/global_stats.json` of Gatling"
    if (script := re.match(r"\s*var stats = \{[^{}]{0,2000}?\bstats: (?=\{)", text)) is not None:
        numbers = decoded(_first_json(text[script.end() :], file), _GatlingNumbers, file, what)
    elif re.search(r'"contents"\s*:', text):
        numbers = decoded(text, _GatlingGroup, file, what).stats
    else:
        numbers = decoded(text, _GatlingNumbers, file, what)
    read: dict[str, float | None] = {
        name: _gatling_number(getattr(numbers, name).total)
        for name in ("requests", "rate", "mean", "deviation", "least", "longest")
    }
    requests, rate = read.pop("requests"), read.pop("rate")
    if not requests or rate is None:
        raise DataError(f"`{shortened(file)}` contains no requests", "run the simulation again")
    failed = _gatling_number(numbers.requests.ko) or 0.0
    run = LoadRun(
        file=file,
        done=rate,
        failed=failed / requests,
        latencies={kind: value * _MILLI for kind, value in read.items() if value is not None},
        fields={
            ITEMS: "`meanNumberOfRequestsPerSecond`",
            "share failed": "`numberOfRequests`",
            "latency": "`meanResponseTime` and others",
        },
    )
    note = (
        f"`{shortened(file)}`: percentiles are left out, because the file does not state their "
        "ranks; read `simulation.log` instead"
    )
    return [run], [note]


def _first_json(text: str, file: str) -> str:
    """Return the JSON with which a text begins."""
    try:
        return text[: json.JSONDecoder().raw_decode(text)[1]]
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"`{shortened(file)}` is not a complete `js/stats.js` of Gatling",
            "do not edit the output of the tool",
        ) from error


def _gatling_number(value: object) -> float | None:
    """Return a number that Gatling writes as such, or as a text; None for `-`."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _is_wrong(status: str) -> bool:
    """Return whether a status is a failure; what is no number from 100 on is one."""
    number = int(status) if re.fullmatch(r"\d{3}", status) else 0
    return not 0 < number < _FIRST_WRONG


def _is_shown(kind: str) -> bool:
    return percentile_of(kind) in _SHOWN


def _refuse_empty(done: float, seconds: float, file: str) -> None:
    if not done or seconds <= 0:
        raise DataError(f"`{shortened(file)}` contains no requests", "run the test again")
