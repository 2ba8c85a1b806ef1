"""Summaries of k6: JSON of each of its three forms, and what it prints at the end of a test.

The forms: that of `--summary-export`, that which `handleSummary` is given, and since version 1.5
the one of `--new-machine-readable-summary`
(https://grafana.com/docs/k6/latest/results-output/end-of-test/).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import TypeGuard

from qps.compiler.data.measured_tables import DataError
from qps.compiler.diagnostics.suggest import shortened
from qps.observing.observed_runs import LoadRun

_HINT = (
    "write one with `k6 run --summary-export=run.json SCRIPT`, or keep what k6 prints at the end"
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
_NUMBER = r"\d{1,18}(?:\.\d{1,18})?"

Values = Mapping[str, float]


def k6_runs(text: str, file: str) -> tuple[list[LoadRun], list[str]]:
    """Return the run of a summary: requests by HTTP, and the virtual users."""
    if text.lstrip().startswith("{"):
        values, seconds = _of_json(text, file)
    else:
        values, seconds = _of_text(text), None
    done = _rate(values.get("http_reqs"), seconds)
    if done is None:
        raise DataError(f"`{shortened(file)}` is no summary of k6 with `http_reqs`", _HINT)
    failed = values.get("http_req_failed", {})
    users = values.get("vus_max", values.get("vus", {}))
    run = LoadRun(
        file=file,
        done=done,
        received=_rate(values.get("data_received"), seconds),
        users=users.get("max", users.get("value")),
        failed=failed.get("rate", failed.get("value")),
        latencies={
            kind: value / 1000
            for name, value in values.get("http_req_duration", {}).items()
            for kind in [_kind(name)]
            if kind is not None
        },
    )
    return [run], []


def _rate(values: Values | None, seconds: float | None) -> float | None:
    """Return the rate of a counter: as it is told, or by the length of the test."""
    if values is None:
        return None
    if "rate" not in values and "count" in values and seconds:
        return values["count"] / seconds
    return values.get("rate")


def _kind(name: str) -> str | None:
    percentile = re.fullmatch(rf"p\(({_NUMBER})\)", name)
    return f"p{float(percentile[1]):g}" if percentile else _KINDS.get(name)


def _of_json(text: str, file: str) -> tuple[dict[str, Values], float | None]:
    """Return the values of each metric, and how many s the test took where that is told."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"`{shortened(file)}` holds no JSON", _HINT) from error
    results, config = found.get("results"), found.get("config")
    if isinstance(results, dict) and isinstance(results.get("metrics"), list):
        listed = [one for one in results["metrics"] if isinstance(one, dict)]
        metrics = {one.get("name"): one for one in listed if isinstance(one.get("name"), str)}
        seconds = config.get("duration") if isinstance(config, dict) else None
    else:
        metrics = found.get("metrics")
        seconds = None
    if not isinstance(metrics, dict):
        raise DataError(f"`{shortened(file)}` is no summary of k6: it has no `metrics`", _HINT)
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


def _of_text(text: str) -> dict[str, Values]:
    """Return the values of what k6 prints; the lines of all scenarios together stand first."""
    values: dict[str, Values] = {}
    for line in text.splitlines():
        match = re.match(r"\s*([a-z][a-z_0-9]*)\.{2,}:\s+(.*)", line[:1000])
        if match is None or match[1] in values:
            continue
        name, told = match.groups()
        if name in ("http_reqs", "data_received"):
            rate = re.search(rf"({_NUMBER})(?: ([kMGT]?B))?/s\s*$", told)
            if rate:
                values[name] = {"rate": float(rate[1]) * _SIZES[rate[2] or "B"]}
        elif name == "http_req_failed":
            share = re.match(rf"({_NUMBER})%", told)
            if share:
                values[name] = {"rate": float(share[1]) / 100}
        elif name.startswith("vus"):
            values[name] = {w: float(v) for w, v in re.findall(rf"(min|max)=({_NUMBER})", told)}
        elif name == "http_req_duration":
            pairs = re.findall(r"([a-z]+|p\([\d.]+\))=(\S+)", told)
            values[name] = {
                word: ms for word, time in pairs for ms in [_ms(time)] if ms is not None
            }
    return values


def _ms(text: str) -> float | None:
    """Return a time as Go writes it (`1m2.5s`) in ms; None for what is none."""
    part = rf"({_NUMBER})(ns|µs|μs|us|ms|s|m|h)"
    if not re.fullmatch(rf"(?:{part})+", text):
        return None
    return 1000 * sum(float(number) * _TIMES[unit] for number, unit in re.findall(part, text))
