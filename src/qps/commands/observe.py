"""`qps observe`: what a Prometheus or a tool has measured, as a table to fit costs to."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import Any

from qps.commands.arguments.observe_arguments import AUTO
from qps.commands.observations.update_spec import refuse_without_spec
from qps.commands.terminal.console import Exit, complain, width_of
from qps.commands.terminal.output_files import refuse_inputs, write_text
from qps.commands.terminal.progress import Progress
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.generators.hidden_secrets import (
    runs_without_secrets,
    without_secrets,
)
from qps.compiler.measurement.observations.observed_files import observed_files
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.measurement.observations.prometheus_requests import authorization, queries_of
from qps.compiler.measurement.observations.prometheus_runs import prometheus_runs, requests_of
from qps.compiler.measurement.observations.prometheus_server import Prometheus
from qps.compiler.measurement.observations.recognized_files import recognized_files
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.words.phrases import phrase


def run(arguments: Namespace) -> Exit:
    """Write the table of one source, or the spec of traces."""
    if arguments.source == "traces":
        from qps.commands.observations.observe_traces import run as run_traces  # noqa: PLC0415 - seldom used

        return run_traces(arguments)
    if arguments.source == "manifests":
        from qps.commands.observations.observe_manifests import run as run_manifests  # noqa: PLC0415

        return run_manifests(arguments)
    if arguments.source == "service-graph":
        from qps.commands.observations.observe_service_graph import run as run_graph  # noqa: PLC0415

        return run_graph(arguments)
    if arguments.output is not None and arguments.source != "prometheus":
        refuse_inputs(arguments.output, arguments.files)
    try:
        if arguments.source == "prometheus":
            found = _prometheus(arguments)
        elif arguments.source == AUTO:
            refuse_without_spec(arguments)
            found = recognized_files(arguments.files, _reading(arguments), arguments.tool)
        else:
            found = observed_files(arguments.source, arguments.files, _reading(arguments))
        found = runs_without_secrets(found)
        if getattr(arguments, "into", None) is not None:
            return _update(found, arguments)
    except DataError as error:
        # They may quote a line of the file.
        hint = None if error.hint is None else without_secrets(error.hint)
        raise complain(without_secrets(error.message), hint) from error
    _write(found, arguments)
    return Exit.YES


def _update(found: ObservedRuns, arguments: Namespace) -> Exit:
    """Bring a spec up to date with runs."""
    from qps.commands.observations.update_demands import run as run_update  # noqa: PLC0415 - seldom used

    _print_notes(found, arguments)
    return run_update(found, arguments)


def _reading(arguments: Namespace) -> FileReading:
    """Return how files are read, by what their source takes."""
    given = {name: getattr(arguments, name, None) for name in FileReading.__struct_fields__}
    texts: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return FileReading(**{name: value for name, value in texts.items() if value is not None})


def _write(found: ObservedRuns, arguments: Namespace) -> None:
    text = found.as_csv()
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_text(arguments.output, text)
    _print_notes(found, arguments)
    if arguments.output is not None and not arguments.quiet:
        rows = len(found.rows)
        message = phrase("observe.written", rows=rows, s="s" * (rows != 1), output=arguments.output)
        print(message, file=sys.stderr)


def _print_notes(found: ObservedRuns, arguments: Namespace) -> None:
    for note in found.notes:
        if not arguments.quiet or note.startswith("warning"):
            # A log has each of them in one line, which programs look for.
            lines = wrapped(note, width_of(sys.stderr), "", "  ")
            print("\n".join(lines if sys.stderr.isatty() else [note]), file=sys.stderr)


def _prometheus(arguments: Namespace) -> ObservedRuns:
    server = Prometheus(arguments.url, authorization(os.environ), arguments.proxy)
    queries = queries_of(
        cpu=arguments.cpu,
        rates=arguments.rate,
        since=arguments.since,
        until=arguments.until,
        window=arguments.window,
        rows=arguments.rows,
        cores=arguments.cores,
        adds_up=arguments.add_up,
    )
    if server.is_exposed:
        message = phrase("observe.unencrypted")
        print(message, file=sys.stderr)
    count = requests_of(queries)
    with Progress(total=count, quiet=arguments.quiet, unit=None) as progress:
        return prometheus_runs(server, queries, lambda: progress.advance(1, server.host))
