"""Queries of a Prometheus server, as people write it, and with which credentials."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping

from qps.compiler.measurement.measured_tables import DataError, number
from qps.compiler.measurement.observations.prometheus_runs import RunQueries, check_query
from qps.compiler.measurement.observations.prometheus_server import CREDENTIALS
from qps.compiler.measurement.observations.time_arguments import (
    LEAST_WINDOW,
    back_to,
    moment_of,
    window_of,
)

_MOST_RATES = 10
_MOST_ROWS = 100_000
_MOST_CORES = 100_000
_MOST_SHOWN = 40


def authorization(environment: Mapping[str, str]) -> str | None:
    """Return what is sent with each request; None where the environment says nothing.

    DataError where that cannot be sent, or is of two sorts.
    """
    token = environment.get("QPS_PROMETHEUS_TOKEN")
    user = environment.get("QPS_PROMETHEUS_USER")
    password = environment.get("QPS_PROMETHEUS_PASSWORD")
    if token and (user or password):
        raise DataError(
            "the environment has two kinds of credentials", f"set only one: {CREDENTIALS}"
        )
    secret = token or f"{user or ''}{password or ''}"
    if not secret.isprintable() or not secret.isascii():
        raise DataError(
            "credentials in the environment have invalid characters",
            "check them for a line break",
        )
    if token:
        return f"Bearer {token}"
    if user:
        both = f"{user}:{password or ''}"
        return f"Basic {b64encode(both.encode()).decode()}"
    if password:
        raise DataError("QPS_PROMETHEUS_PASSWORD is set, but no user", f"set {CREDENTIALS}")
    return None


def queries_of(
    *,
    cpu: str,
    rates: Iterable[str],
    since: str,
    until: str | None,
    window: str,
    rows: int,
    cores: str | None,
    adds_up: bool,
) -> RunQueries:
    """Return the queries in these words; DataError where one of them cannot be."""
    back = back_to(since)
    end = moment_of(until)
    if not 1 <= rows <= _MOST_ROWS:
        raise DataError(f"`--rows` must be from 1 to {_MOST_ROWS:,}", "leave it out for 200")
    processors = None if cores is None else number(cores)
    if cores is not None and (processors is None or not 0 < processors <= _MOST_CORES):
        raise DataError(
            f"`--cores {cores[:_MOST_SHOWN]}` is not a number of cores", "write `--cores 4`"
        )
    check_query("--cpu", cpu)
    return RunQueries(
        cpu=cpu,
        rates=_rates(rates),
        start=end - float(back),
        end=end,
        window=window_of(window, LEAST_WINDOW),
        adds_up=adds_up,
        most=rows,
        cores=processors,
    )


def _rates(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return what is counted, and by which query."""
    found: dict[str, str] = {}
    for text in texts:
        item, equals, query = text.partition("=")
        item = item.strip()
        if not equals or not item.isidentifier():
            raise DataError(
                f"`--rate {text[:_MOST_SHOWN]}` does not name the counted item",
                "write `--rate request=http_requests_total`",
            )
        if item in found:
            raise DataError(f"`--rate {item}` is given twice", "keep one")
        check_query(f"--rate {item}", query)
        found[item] = query
    if len(found) > _MOST_RATES:
        raise DataError(f"more than {_MOST_RATES} rates", "keep those that cause the utilization")
    return tuple(found.items())
