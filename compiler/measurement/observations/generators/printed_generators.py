"""What ab, hey, oha, vegeta and redis-benchmark print at the end of a run."""

from __future__ import annotations

import re
from itertools import pairwise

from qps.compiler.measurement.observations.generators.json_reports import interim_notes
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
from qps.compiler.measurement.observations.run_texts import NUMBER, RunText

_KIB = 1024
_FIRST_WRONG = 400
_GO_TIME = rf"(?:{TIME})+"
_VEGETA_KINDS = {"min": "least", "max": "longest"}
_LEAST_PRINTED = 0.01
"""In s: redis-benchmark prints times with two digits behind the point."""
_OHA_TIMES = {"secs": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_OHA_TIME = rf"({NUMBER}) (secs?|ms|us|ns)\b"
_SIZES = {"B": 1.0, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3, "TiB": 1024.0**4}
_SENT = re.compile(
    r"^(\x1b\[2J\x1b\[[\d;]{0,9}H)?Requests\s+\[total, rate[^\]\n]{0,20}\]\s+(\d{1,18}),",
    re.MULTILINE,
)
"""How a report of vegeta begins: an interim one clears the screen; then how many requests."""
_REDIS_KINDS = {"avg": "mean", "min": "least", "max": "longest"}


def ab_runs(text: str, file: str) -> Printed:
    """Return the runs of ab: its concurrency is the users."""
    return printed_runs(text, file, _AB)


def hey_runs(text: str, file: str) -> Printed:
    """Return the runs of hey, which prints no number of users."""
    return printed_runs(text, file, _HEY)


def is_printed_oha(first: str) -> bool:
    """Return whether a first line is no JSON, which oha writes as well."""
    return not first.lstrip().startswith("{")


def oha_printed_runs(text: str, file: str) -> Printed:
    """Return the runs that oha prints, which are without a number of users."""
    return printed_runs(text, file, _OHA)


def vegeta_runs(text: str, file: str) -> Printed:
    """Return the reports of vegeta as text: it sends at a rate, whoever is still waiting.

    With `vegeta report -every`, each report clears the screen and contains what the last one says.
    """
    begun = list(_SENT.finditer(text))
    interim = [
        (one.start(), later.start())
        for one, later in pairwise(begun)
        if one[1] and int(one[2]) <= int(later[2])
    ]
    ends = [0, *(end for _, end in interim)]
    starts = [*(start for start, _ in interim), len(text)]
    last = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    runs, notes = printed_runs(last, file, _VEGETA)
    return runs, [*notes, *interim_notes(len(interim), file)]


def redis_runs(text: str, file: str) -> Printed:
    """Return the tests of redis-benchmark, each a run: clients are the users.

    What it prints while it works ends in a carriage return.
    """
    return printed_runs(text.replace("\r", "\n"), file, _REDIS)


def _ab(run: RunText) -> LoadRun | None:
    done = run.number("Requests per second:")
    count = run.number("Complete requests:")
    seconds = run.number("Time taken for tests:", rf"\s*({NUMBER}) seconds")
    if done is None or not count or not seconds:
        return None
    failed = (run.number("Failed requests:") or 0) + (run.number("Non-2xx responses:") or 0)
    received = run.number("Transfer rate:", rf"\s*({NUMBER}) \[Kbytes/sec\] received")
    octets = run.number("Total transferred:")
    latencies = {}
    mean = run.number("Time per request:", rf"\s*({NUMBER}) \[ms\] \(mean\)")
    if mean is not None:
        latencies["mean"] = mean / 1000
    total = run.found("Total:", rf"\s+\d+\s+\d+\s+({NUMBER})\s+\d+\s+(\d{{1,15}})")
    if total is not None:
        latencies |= {"deviation": float(total[1]) / 1000, "longest": float(total[2]) / 1000}
    for share, time in re.findall(r"^ {1,3}(\d{1,2})% +(\d{1,15})\s*$", run.text, re.MULTILINE):
        if int(time):  # in whole ms: less than a half is none
            latencies[f"p{share}"] = int(time) / 1000
    twice = [rate_twice("request/s", done, count, seconds)]
    if received is not None and octets is not None:
        twice.append(rate_twice("byte/s", received * _KIB, octets, seconds))
    return LoadRun(
        file=run.file,
        place=place_of(run),
        users=run.number("Concurrency Level:"),
        done=done,
        received=None if received is None else received * _KIB,
        failed=min(1.0, failed / count),
        latencies=latencies,
        twice=tuple(twice),
        fields={
            "users": "`Concurrency Level`",
            ITEMS: "`Requests per second`",
            "byte/s": "`Transfer rate`",
            "share failed": "`Failed requests` and `Non-2xx responses`",
            "latency": "`Time per request` and `Percentage of the requests served`",
        },
    )


def _hey(run: RunText) -> LoadRun | None:
    done = run.number("Requests/sec:")
    seconds = run.number("Total:", rf"\s*({NUMBER}) secs")
    if not done or not seconds or re.search(r"^\s+Average:\s+NaN\b", run.text, re.MULTILINE):
        return None
    codes = re.findall(r"^\s+\[(\d{3})\]\s+(\d{1,18}) responses", run.text, re.MULTILINE)
    errors = run.text.partition("Error distribution:")[2]
    broken = sum(map(int, re.findall(r"^\s+\[(\d{1,18})\]\s", errors, re.MULTILINE)))
    answered = sum(int(count) for _, count in codes)
    wrong = sum(int(count) for code, count in codes if int(code) >= _FIRST_WRONG)
    latencies = {}
    for kind, label in (("mean", "Average"), ("least", "Fastest"), ("longest", "Slowest")):
        value = run.number(f"{label}:", rf"\s*({NUMBER}) secs")
        if value:
            latencies[kind] = value
    shares = re.findall(rf"^\s+(\d\d)%+ in ({NUMBER}) secs", run.text, re.MULTILINE)
    latencies |= {f"p{share}": float(value) for share, value in shares if float(value)}
    octets = run.number("Total data:", r"\s*(\d{1,18}) bytes")
    sent = answered + broken
    return LoadRun(
        file=run.file,
        place=place_of(run),
        done=done,
        received=None if octets is None else octets / seconds,
        failed=(wrong + broken) / sent if sent else None,
        latencies=latencies,
        twice=(rate_twice("request/s", done, sent, seconds),) if sent else (),
        fields={
            ITEMS: "`Requests/sec`",
            "byte/s": "`Total data` over `Total`",
            "share failed": "`Status code distribution` and `Error distribution`",
            "latency": "`Average`, `Fastest`, `Slowest` and `Latency distribution`",
        },
    )


def _oha(run: RunText) -> LoadRun | None:
    """Return a run: requests under way at its end are cut off, and are no failures."""
    stated = run.number("Requests/sec:")
    total = run.found("Total:", rf"\s*{_OHA_TIME}")
    if not stated or total is None or not float(total[1]):
        return None
    seconds = float(total[1]) * _OHA_TIMES[total[2]]
    codes = re.findall(r"^\s+\[(\d{3})\]\s+(\d{1,18}) responses", run.text, re.MULTILINE)
    errors = run.text.partition("Error distribution:")[2]
    broken = re.findall(r"^\s+\[(\d{1,18})\]\s(.*)", errors, re.MULTILINE)
    cut = sum(int(count) for count, what in broken if "deadline" in what)
    failures = sum(int(count) for count, _ in broken) - cut
    answered = sum(int(count) for _, count in codes)
    wrong = sum(int(count) for code, count in codes if int(code) >= _FIRST_WRONG)
    done = answered + failures
    latencies = {}
    for kind, label in (("mean", "Average"), ("least", "Fastest"), ("longest", "Slowest")):
        found = run.found(f"{label}:", rf"\s*{_OHA_TIME}")
        if found is not None and float(found[1]):
            latencies[kind] = float(found[1]) * _OHA_TIMES[found[2]]
    shares = re.findall(rf"^\s+(\d\d(?:\.\d+)?)% in {_OHA_TIME}", run.text, re.MULTILINE)
    latencies |= {
        f"p{float(share):g}": float(value) * _OHA_TIMES[unit]
        for share, value, unit in shares
        if float(value)
    }
    size = run.found("Total data:", rf"\s*({NUMBER}) ([KMGT]?i?B)")
    rounding = stated * 0.001
    return LoadRun(
        file=run.file,
        place=place_of(run),
        done=done / seconds if done else stated,
        received=None if size is None else float(size[1]) * _SIZES[size[2]] / seconds,
        failed=(wrong + failures) / done if done else None,
        latencies=latencies,
        twice=(rate_twice("request/s", stated, done + cut, seconds, rounding),) if done else (),
        fields={
            ITEMS: "`Status code distribution` and `Error distribution` over `Total`",
            "byte/s": "`Total data` over `Total`",
            "share failed": "statuses of 400 and above, and `Error distribution`",
            "latency": "`Average`, `Fastest`, `Slowest` and the distribution",
        },
    )


def _vegeta(run: RunText) -> LoadRun | None:
    counts = run.found(
        r"Requests\s+\[total, rate(?:, throughput)?\]", rf"\s+(\d+), ({NUMBER})(?:, ({NUMBER}))?"
    )
    lasts = run.found(r"Duration\s+\[total, attack, wait\]", rf"\s+({_GO_TIME}), ({_GO_TIME})")
    success = run.number(r"Success\s+\[ratio\]", rf"\s+({NUMBER})%")
    if counts is None or lasts is None or not int(counts[1]):
        return None
    seconds = _go_seconds(lasts[1])
    done = int(counts[1]) / seconds
    times = run.found(r"Latencies\s+\[(?=[^\]]*\])", rf"([\w, ]+)\]\s+((?:{_GO_TIME},? ?)+)")
    latencies = {}
    if times is not None:
        values = [_go_seconds(one) for one in times[2].split(", ")]
        for kind, value in zip(times[1].split(", "), values, strict=False):
            latencies[_VEGETA_KINDS.get(kind, f"p{kind}" if kind.isdecimal() else kind)] = value
    octets = run.number(r"Bytes In\s+\[total, mean\]", r"\s+(\d{1,18})")
    twice = []
    if counts[3] is not None and success is not None:
        twice.append(_throughput(float(counts[3]), done * success / 100))
    return LoadRun(
        file=run.file,
        place=place_of(run),
        done=done,
        received=None if octets is None else octets / seconds,
        failed=None if success is None else 1 - success / 100,
        latencies=latencies,
        twice=tuple(twice),
        fields={
            ITEMS: "`Requests` over the total `Duration`",
            "byte/s": "`Bytes In` over the total `Duration`",
            "share failed": "`Success`",
            "latency": "`Latencies`",
        },
    )


def _throughput(stated: float, derived: float) -> Twice:
    return Twice(
        what="the throughput",
        stated=stated,
        derived=derived,
        derived_from="successful requests over the total duration",
        rounding=0.005,
    )


def _redis(run: RunText) -> LoadRun | None:
    title = run.found("====== ", r"(.{1,100}) ======")
    counted = run.found(
        r"(?=\d+ requests completed in )", rf"(\d{{1,18}}) requests completed in ({NUMBER}) seconds"
    )
    done = run.number("throughput summary:") or run.number(
        r"(?=[\d.]+ requests per second)", rf"({NUMBER})"
    )
    if title is None or counted is None or not done:
        return None
    latencies = {}
    table = re.search(
        rf"^\s*latency summary \(msec\):\s*\n((?:\s+\w+)+?)\s*\n((?:\s+{NUMBER})+)\s*$",
        run.text,
        re.MULTILINE,
    )
    if table is not None:
        pairs = zip(table[1].split(), table[2].split(), strict=False)
        latencies = {_REDIS_KINDS.get(kind, kind): float(value) / 1000 for kind, value in pairs}
    return LoadRun(
        file=f"{run.file}: {title[1]}",
        place=place_of(run),
        users=run.number(r"(?=\d+ parallel clients)", r"(\d{1,9})"),
        done=done,
        latencies=latencies,
        twice=_redis_twice(done, float(counted[1]), float(counted[2])),
        fields={
            "users": "`parallel clients`",
            ITEMS: "`throughput summary`",
            "latency": "`latency summary`",
        },
    )


def _redis_twice(done: float, count: float, seconds: float) -> tuple[Twice, ...]:
    """Return the rate by count and time, of which only two digits behind the point are printed."""
    if seconds < _LEAST_PRINTED:
        return ()
    rounding = done * (0.02 + _LEAST_PRINTED / 2 / seconds)
    return (rate_twice("request/s", done, count, seconds, rounding),)


def _go_seconds(text: str) -> float:
    """Return a time as Go writes it: `1m2.5s`."""
    return sum(seconds_of(part) for part in re.findall(TIME, text))


_AB = PrintedLayout(
    begins=("^This is ApacheBench", "^Server Software:"),
    end="^Requests per second:",
    sign="Requests per second:",
    read=_ab,
)
_HEY = PrintedLayout(
    begins=("^Summary:",), end=r"^[ \t]+Requests/sec:", sign="Requests/sec:", read=_hey
)
_OHA = PrintedLayout(
    begins=("^Summary:",), end=r"^[ \t]+Requests/sec:", sign="Requests/sec:", read=_oha
)
_VEGETA = PrintedLayout(
    begins=(r"^Requests\s+\[total, rate",),
    end=r"^Latencies\s+\[",
    sign="Latencies […]",
    read=_vegeta,
)
_REDIS = PrintedLayout(
    begins=(r"^.{0,400}====== .{1,100} ======",),
    end=r"^\s*throughput summary:|^[\d.]+ requests per second",
    sign="throughput summary:",
    read=_redis,
)
