"""`qps observe`: what a Prometheus or a tool has measured, as a table to fit costs to."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path

from qps.commands.console import Exit, complain
from qps.commands.pages import refuse_inputs, write_text
from qps.commands.progress import Progress
from qps.compiler.data.measured_tables import DataError, number
from qps.extras import need_scapy
from qps.observing.k6_points import are_points, k6_point_runs
from qps.observing.k6_summaries import k6_runs
from qps.observing.observed_runs import MOST_TEXT, LoadRun, ObservedRuns, runs_table
from qps.observing.packet_captures import capture_table
from qps.observing.printed_results import h2load_runs, pgbench_runs, sysbench_runs, wrk_runs
from qps.observing.prometheus_runs import (
    Asked,
    check_query,
    duration,
    prometheus_runs,
    requests_of,
)
from qps.observing.prometheus_server import CREDENTIALS, Prometheus
from qps.observing.request_logs import jmeter_runs
from qps.observing.sar_samples import sar_table

_PRINTED: Mapping[str, Callable[[str, str], tuple[list[LoadRun], list[str]]]] = {
    "k6": k6_runs,
    "wrk": wrk_runs,
    "h2load": h2load_runs,
    "pgbench": pgbench_runs,
    "sysbench": sysbench_runs,
}
_LEAST_WINDOW, _LONGEST_WINDOW = Fraction(1), Fraction(7 * 86_400)
_LEAST_STRETCH = Fraction(1, 1000)
_LONGEST_SINCE = Fraction(5 * 366 * 86_400)
_MOST_RATES = 10
_LONGEST_LINE = 100_000
_MOST_ROWS = 100_000
_MOST_CORES = 100_000


def run(arguments: Namespace) -> Exit:
    """Write what one source tells."""
    if arguments.output is not None and arguments.source != "prometheus":
        refuse_inputs(arguments.output, arguments.files)
    try:
        if arguments.source == "prometheus":
            found = _prometheus(arguments)
        elif arguments.source in ("sar", "pcap"):
            found = _one_table(arguments)
        else:
            found = _runs(arguments)
    except DataError as error:
        raise complain(error.message, error.hint) from error
    _write(found, arguments)
    return Exit.YES


def _write(found: ObservedRuns, arguments: Namespace) -> None:
    text = found.as_csv()
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_text(arguments.output, text)
    for note in found.notes:
        if not arguments.quiet or note.startswith("warning"):
            print(note, file=sys.stderr)
    if arguments.output is not None and not arguments.quiet:
        rows = len(found.rows)
        told = f"{rows:,} row{'s' * (rows != 1)} written to {arguments.output}"
        print(told, file=sys.stderr)


# -- tools --------------------------------------------------------------------------------------


def _runs(arguments: Namespace) -> ObservedRuns:
    """Return the runs of all files, in their order."""
    if not arguments.item.isidentifier():
        raise complain(f"`{arguments.item}` cannot be an item", "one word, such as `request`")
    runs: list[LoadRun] = []
    notes: list[str] = []
    for path in arguments.files:
        if arguments.source == "jmeter":
            found, told = _from_lines(path, arguments.window, jmeter_runs)
        elif arguments.source == "k6" and _starts_with_points(path):
            found, told = _from_lines(path, arguments.window, k6_point_runs)
        elif arguments.source == "k6" and arguments.window is not None:
            raise complain(
                f"`{path}` is a summary, which tells no times",
                "leave `--window` out; or write points by `k6 run --out csv=run.csv`",
            )
        else:
            found, told = _PRINTED[arguments.source](_text(path), str(path))
        runs += found
        notes += told
    return runs_table(runs, arguments.item, notes)


_FromLines = Callable[[Iterable[str], str, float | None], tuple[list[LoadRun], list[str]]]


def _from_lines(
    path: Path, window: str | None, read: _FromLines
) -> tuple[list[LoadRun], list[str]]:
    """Read a file line by line, however long it is."""
    stretch = None if window is None else float(_window(window, _LEAST_STRETCH))
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            lines = iter(partial(file.readline, _LONGEST_LINE), "")
            return read(lines, str(path), stretch)
    except OSError as error:
        raise _unreadable(path, error) from error


def _starts_with_points(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            return are_points(file.readline(_LONGEST_LINE))
    except OSError as error:
        raise _unreadable(path, error) from error


def _one_table(arguments: Namespace) -> ObservedRuns:
    """Return the tables of files, one below the other, where they have the same columns."""
    if arguments.source == "pcap":
        need_scapy("`qps observe pcap`")
        window = float(_window(arguments.window, _LEAST_STRETCH))
    tables = []
    for path in arguments.files:
        if arguments.source == "sar":
            tables.append(sar_table(_text(path), str(path), arguments.interface))
        else:
            try:
                tables.append(capture_table(path, window))
            except OSError as error:
                raise _unreadable(path, error) from error
    for path, table in zip(arguments.files, tables, strict=True):
        if table.headings != tables[0].headings:
            raise complain(
                f"`{path}` tells something else than `{arguments.files[0]}`: "
                f"{', '.join(table.headings)}, not {', '.join(tables[0].headings)}",
                "read them one by one",
            )
    return ObservedRuns(
        headings=tables[0].headings,
        rows=tuple(row for table in tables for row in table.rows),
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
    )


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_TEXT + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > MOST_TEXT:
        raise DataError(f"`{path}` has over {MOST_TEXT // 10**6} MB", "keep what is printed last")
    return content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def _unreadable(path: Path, error: OSError) -> DataError:
    told = error.strerror or str(error)
    return DataError(f"`{path}` cannot be read: {told}", "name a file that is there")


# -- Prometheus ---------------------------------------------------------------------------------


def _prometheus(arguments: Namespace) -> ObservedRuns:
    server = Prometheus(arguments.url, authorization(os.environ))
    asked = _asked(arguments)
    if server.is_exposed:
        told = "warning: credentials go to another machine as they are: use https://"
        print(told, file=sys.stderr)
    count = requests_of(asked)
    with Progress(total=count, quiet=arguments.quiet, unit=None) as progress:
        return prometheus_runs(server, asked, lambda: progress.advance(1, server.host))


def authorization(environment: Mapping[str, str]) -> str | None:
    """Return what is sent with each request; None where the environment says nothing."""
    token = environment.get("QPS_PROMETHEUS_TOKEN")
    user = environment.get("QPS_PROMETHEUS_USER")
    password = environment.get("QPS_PROMETHEUS_PASSWORD")
    if token and (user or password):
        raise complain("there are two sorts of credentials in the environment", CREDENTIALS)
    secret = token or f"{user or ''}{password or ''}"
    if not secret.isprintable() or not secret.isascii():
        raise complain(
            "credentials in the environment have characters that cannot be sent",
            "look for an end of line in them",
        )
    if token:
        return f"Bearer {token}"
    if user:
        both = f"{user}:{password or ''}"
        return f"Basic {b64encode(both.encode()).decode()}"
    if password:
        raise complain("QPS_PROMETHEUS_PASSWORD is there, but no user", CREDENTIALS)
    return None


def _asked(arguments: Namespace) -> Asked:
    since = duration(arguments.since)
    if since is None or not 0 < since <= _LONGEST_SINCE:
        raise complain(f"`--since {arguments.since[:40]}` is no time", "such as `7d`, `12h`, `90m`")
    end = _moment(arguments.until)
    if not 1 <= arguments.rows <= _MOST_ROWS:
        raise complain(f"`--rows` takes from 1 to {_MOST_ROWS:,}", "200 unless said otherwise")
    cores = None if arguments.cores is None else number(arguments.cores)
    if arguments.cores is not None and (cores is None or not 0 < cores <= _MOST_CORES):
        raise complain(f"`--cores {arguments.cores[:40]}` is no number of cores", "such as `4`")
    check_query("--cpu", arguments.cpu)
    return Asked(
        cpu=arguments.cpu,
        rates=_rates(arguments.rate),
        start=end - float(since),
        end=end,
        window=_window(arguments.window, _LEAST_WINDOW),
        adds_up=arguments.add_up,
        most=arguments.rows,
        cores=cores,
    )


def _rates(texts: list[str]) -> tuple[tuple[str, str], ...]:
    """Return what is counted, and by which query."""
    found: dict[str, str] = {}
    for text in texts:
        item, equals, query = text.partition("=")
        item = item.strip()
        if not equals or not item.isidentifier():
            raise complain(
                f"`--rate {text[:40]}` does not say what is counted",
                "such as `--rate request=http_requests_total`",
            )
        if item in found:
            raise complain(f"`--rate {item}` is given twice", "keep one")
        check_query(f"--rate {item}", query)
        found[item] = query
    if len(found) > _MOST_RATES:
        raise complain(f"more than {_MOST_RATES} rates", "keep those that cause the load")
    return tuple(found.items())


def _window(text: str, least: Fraction) -> Fraction:
    found = duration(text)
    if found is None or not least <= found <= _LONGEST_WINDOW:
        raise complain(
            f"`--window {text[:40]}` is no time from {float(least):g} s to a week",
            "such as `5m`, `30s`",
        )
    return found


def _moment(text: str | None) -> float:
    """Return a moment in s since 1970: now where none is said."""
    if text is None:
        return time.time()
    try:
        found = datetime.fromisoformat(text)
        found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        return found.timestamp()
    except (ValueError, OverflowError) as error:
        raise complain(
            f"`--until {text[:40]}` is no moment", "such as `2026-11-16T00:00Z`"
        ) from error
