"""Summaries of k6: JSON of each of its three forms, and what it prints at the end of a test.

The forms: that of `--summary-export`, that which `handleSummary` is given, and since version 1.5
the one of `--new-machine-readable-summary`
(https://grafana.com/docs/k6/latest/results-output/end-of-test/).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from math import isfinite
from typing import TypeGuard

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.load_runs import ITEMS, LoadRun, Twice
from qps.compiler.measurement.observations.run_texts import NUMBER, RunText, plain_text

_HINT = (
    "write one with `k6 run --summary-export=run.json SCRIPT`, or save what k6 prints at the end"
)
_TIMES = {
    "ns": 1e-9,
    "µs": 1e-6,
    "μs": 1e-6,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
_SIZES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
_KINDS = {"avg": "mean", "min": "least", "max": "longest", "med": "p50"}
_MOST_OF_LINE = 1000
_ROUNDED_SHARE = 0.0001
"""By how much a share may be off as it is printed: `0.50%`."""

Values = Mapping[str, float]
Metrics = Mapping[str, Values]

_METRIC = re.compile(
    r"(?:^|\s)(http_reqs|http_req_failed|http_req_duration|data_received|iterations"
    r"|iteration_duration|vus|vus_max)\.{2,}:\s+(.*)"
)
_BEGINS = re.compile(r"^[ \t]{0,99}(?:execution: (?:local|cloud)|█ TOTAL RESULTS)", re.MULTILINE)
_OF_PART = re.compile(r"^[ \t]{0,99}█ (?:SCENARIO|GROUP)", re.MULTILINE)
_RAMPED = 0.8
"""Part of the most users that are there on average, below which numbers are not of the most."""


def k6_runs(text: str, file: str) -> tuple[list[LoadRun], list[str]]:
    """Return the runs of a summary: requests by HTTP, and the virtual users."""
    if text.lstrip().startswith("{"):
        run, notes = _run(*_of_json(text, file), file)
        return [run], notes
    parts = list(_parts(RunText(file=file, text=plain_text(text))))
    parts_with_text = [(part, _of_text(part)) for part in parts]
    whole = [
        (part, values) for part, values in parts_with_text if "http_reqs" in values
    ] or parts_with_text[:1]
    found = [_run(values, None, file, part.line) for part, values in whole]
    notes = [note for _, of_run in found for note in of_run]
    if len(whole) < len(parts):
        broken = len(parts) - len(whole)
        notes.append(
            f"warning: {broken} of {len(parts)} runs in `{file}` ended without a summary and "
            f"{'is' if broken == 1 else 'are'} ignored"
        )
    return [run for run, _ in found], notes


def _run(
    values: Metrics, seconds: float | None, file: str, line: int = 1
) -> tuple[LoadRun, list[str]]:
    """Return a run by its metrics, and what to know of it."""
    done = _rate(values.get("http_reqs"), seconds)
    if done is None:
        raise DataError(f"`{shortened(file)}` is not a k6 summary with `http_reqs`", _HINT)
    failed = values.get("http_req_failed", {})
    users, mean_users = _most(values.get("vus")), _mean_users(values, seconds)
    field = "`vus` (maximum)"
    if users is None:
        users, field = _most(values.get("vus_max")), "`vus_max` (initialized)"
    run = LoadRun(
        file=file,
        place="" if line == 1 else f", line {line}",
        done=done,
        received=_rate(values.get("data_received"), seconds),
        users=users,
        mean_users=mean_users,
        failed=failed.get("rate", failed.get("value")),
        latencies={
            kind: value / 1000
            for name, value in values.get("http_req_duration", {}).items()
            for kind in [_kind(name)]
            if kind is not None
        },
        twice=tuple(_twice(values, seconds)),
        fields={
            "users": field,
            "users, mean": "`iterations` per second times `iteration_duration`",
            ITEMS: "`http_reqs`",
            "byte/s": "`data_received`",
            "share failed": "`http_req_failed`",
            "latency": "`http_req_duration`",
        },
    )
    return run, list(_of_users(run, is_pool="vus" not in values))


def _of_users(run: LoadRun, *, is_pool: bool) -> Iterator[str]:
    """Yield what to know of the users of a run: how many there were on average."""
    if run.users is None or run.mean_users is None:
        return
    of_run = f"warning: `{shortened(run.file)}`{run.place}"
    if run.mean_users >= _RAMPED * run.users:
        return
    text = f"{of_run}: {run.mean_users:.3g} users on average"
    if is_pool:
        yield (
            f"{text}, {run.users:g} initialized (`vus_max`): the maximum number of active users is "
            "unknown, because there is no `vus`"
        )
    else:
        yield (
            f"{text}, {run.users:g} at most: rates and latencies are averages over the whole run; "
            "keep the number of users constant, or compare with `users, mean`"
        )


def _most(gauge: Values | None) -> float | None:
    return None if gauge is None else gauge.get("max", gauge.get("value"))


def _mean_users(values: Metrics, seconds: float | None) -> float | None:
    """Return how many users were at work on average, by Little's law."""
    rate = _rate(values.get("iterations"), seconds)
    mean = values.get("iteration_duration", {}).get("avg")
    return None if rate is None or mean is None else rate * mean / 1000


def _twice(values: Metrics, seconds: float | None) -> Iterator[Twice]:
    """Yield what a summary gives twice: rates and counts, and shares and counts."""
    requests, failed = values.get("http_reqs", {}), values.get("http_req_failed", {})
    counted = [values.get(name, {}) for name in ("iterations", "http_reqs")]
    lengths = [
        one["count"] / one["rate"] for one in counted if one.get("count") and one.get("rate")
    ]
    length = seconds or next(iter(lengths), None)
    if length and requests.get("rate") and requests.get("count"):
        yield Twice(
            what="request/s",
            stated=requests["rate"],
            derived=requests["count"] / length,
            derived_from=f"{requests['count']:,g} in {length:.4g} s",
        )
    share = failed.get("rate", failed.get("value"))
    if share is None or "passes" not in failed or "fails" not in failed:
        return
    judged = failed["passes"] + failed["fails"]
    if judged:
        yield Twice(
            what="the fraction of failed requests",
            stated=share,
            derived=failed["passes"] / judged,
            derived_from=f"{failed['passes']:,g} of {judged:,g}",
            rounding=_ROUNDED_SHARE,
        )
    if requests.get("count"):
        yield Twice(
            what="the number of requests",
            stated=requests["count"],
            derived=judged,
            derived_from="`http_req_failed`",
        )


def _rate(values: Values | None, seconds: float | None) -> float | None:
    """Return the rate of a counter: as it is reported, or by the length of the test."""
    if values is None:
        return None
    if "rate" not in values and "count" in values and seconds:
        return values["count"] / seconds
    return values.get("rate")


def _kind(name: str) -> str | None:
    percentile = re.fullmatch(rf"p\(({NUMBER})\)", name)
    return f"p{float(percentile[1]):g}" if percentile else _KINDS.get(name)


def _of_json(text: str, file: str) -> tuple[dict[str, Values], float | None]:
    """Return the values of each metric, and how many s the test took where that is reported."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"`{shortened(file)}` is not JSON", _HINT) from error
    results, config = found.get("results"), found.get("config")
    if isinstance(results, dict) and isinstance(results.get("metrics"), list):
        listed = [one for one in results["metrics"] if isinstance(one, dict)]
        names = [one["name"] for one in listed if isinstance(one.get("name"), str)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"`{shortened(file)}` contains `{shortened(twice)}` twice", _HINT)
        metrics = {one.get("name"): one for one in listed if isinstance(one.get("name"), str)}
        seconds = config.get("duration") if isinstance(config, dict) else None
    else:
        metrics, state = found.get("metrics"), found.get("state")
        took = state.get("testRunDurationMs") if isinstance(state, dict) else None
        seconds = took / 1000 if _is_number(took) else None
    if not isinstance(metrics, dict):
        raise DataError(f"`{shortened(file)}` is not a k6 summary: it has no `metrics`", _HINT)
    values: dict[str, Values] = {}
    for name, metric in metrics.items():
        if isinstance(metric, dict):
            of = metric["values"] if isinstance(metric.get("values"), dict) else metric
            values[name] = {word: float(v) for word, v in of.items() if _is_number(v)}
    return values, seconds if _is_number(seconds) else None


def _is_number(value: object) -> TypeGuard[float]:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < 1e30  # noqa: PLR2004 - beyond all measuring
        and isfinite(value)
    )


def _parts(run: RunText) -> Iterator[RunText]:
    """Yield the text of each summary; DataError where one has no beginning."""
    text = run.text
    found = [(match.start(), "TOTAL" in match[0]) for match in _BEGINS.finditer(text)]
    totals = [start for start, is_total in found if is_total]
    banners = [start for start, is_total in found if not is_total]
    starts = totals if len(totals) > len(banners) else banners
    starts = starts or [0]
    for start, end in pairwise([*starts, len(text)]):
        yield RunText(file=run.file, text=text[start:end], line=1 + text.count("\n", 0, start))


def _of_text(run: RunText) -> dict[str, Values]:
    """Return the values of what k6 prints; the lines of all scenarios together stand first."""
    values: dict[str, Values] = {}
    end = _OF_PART.search(run.text)
    for line in re.finditer(r"^.*$", run.text[: end.start() if end else None], re.MULTILINE):
        match = _METRIC.search(line[0][:_MOST_OF_LINE])
        if match is None:
            continue
        name, value = match.groups()
        found = _VALUES.get(name, _gauge)(value)
        if not found:
            raise run.not_understood(line)
        if name in values:
            number = run.line + run.text.count("\n", 0, line.start())
            raise DataError(
                f"`{shortened(run.file)}`, line {number}: a second `{name}`",
                "save each run to its own file, or keep the complete output of k6",
            )
        values[name] = found
    return values


def _counter(text: str) -> Values:
    """Return the count and the rate of `200 40.25/s`, of `1.4 MB 14 kB/s` the rate."""
    rate = re.search(rf"({NUMBER})(?: ([kMGT]?B))?/s\s*$", text)
    if rate is None:
        return {}
    found = {"rate": float(rate[1]) * _SIZES[rate[2] or "B"]}
    count = re.match(rf"({NUMBER})\s+{NUMBER}/s", text)
    return found | ({} if count is None else {"count": float(count[1])})


def _share(text: str) -> Values:
    """Return the share of `0.50% 1 out of 200`, and of `0.50% ✓ 1 ✗ 199`, with the counts."""
    share = re.match(rf"({NUMBER})%", text)
    if share is None:
        return {}
    of = re.search(r"(\d{1,18}) out of (\d{1,18})", text)
    marks = re.search(r"✓\s*(\d{1,18})\s+✗\s*(\d{1,18})", text)
    found = {"rate": float(share[1]) / 100}
    if of is not None:
        return found | {"passes": float(of[1]), "fails": float(of[2]) - float(of[1])}
    return found | ({"passes": float(marks[1]), "fails": float(marks[2])} if marks else {})


def _trend(text: str) -> Values:
    """Return the times of `avg=1.4s p(95)=2s`, in ms."""
    pairs = re.findall(r"([a-z]+|p\([\d.]+\))=(\S+)", text)
    return {word: ms for word, time in pairs for ms in [_ms(time)] if ms is not None}


def _gauge(text: str) -> Values:
    """Return what `2 min=2 max=100` says."""
    found = {word: float(v) for word, v in re.findall(rf"(min|max|value)=({NUMBER})", text)}
    now = re.match(rf"({NUMBER})(?:\s|$)", text)
    return found | ({} if now is None else {"value": float(now[1])})


_VALUES: Mapping[str, Callable[[str], Values]] = {
    "http_reqs": _counter,
    "iterations": _counter,
    "data_received": _counter,
    "http_req_failed": _share,
    "http_req_duration": _trend,
    "iteration_duration": _trend,
}
"""How the line of a metric is read; others are gauges."""


def _ms(text: str) -> float | None:
    """Return a time as Go writes it (`1m2.5s`) in ms; None for what is none."""
    part = rf"({NUMBER})(ns|µs|μs|us|ms|s|m|h)"
    if not re.fullmatch(rf"(?:{part})+", text):
        return None
    return 1000 * sum(float(number) * _TIMES[unit] for number, unit in re.findall(part, text))
