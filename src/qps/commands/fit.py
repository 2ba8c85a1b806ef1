"""`qps fit`: costs fitted to a table of measurements, and how far to trust them."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from msgspec import to_builtins

from qps.commands.terminal.console import Exit, complain, print_json, width_of
from qps.compiler.check.model.fits.fit_requests import fitted_to, station_fitted_to
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.syntax.importer import read_data
from qps.reports.text.measurements.fit_text import fit_text


def run(arguments: Namespace) -> Exit:
    """Fit costs to one table."""
    text = _text_of(arguments.file)
    if arguments.by is not None:
        return _by_clients(arguments, text)
    try:
        found = fitted_to(
            text,
            str(arguments.file),
            cores=arguments.cores,
            resource=arguments.resource,
            has_fixed=not arguments.no_fixed,
            is_served=arguments.served,
            units=arguments.unit,
            per=arguments.per,
            onto=None if arguments.to is None else (_text_of(arguments.to), str(arguments.to)),
        )
    except DataError as error:
        raise complain(error.message, error.hint) from error
    if arguments.format == "json":
        from qps.reports.text.measurements.fit_view import fit_view  # noqa: PLC0415 - seldom used

        print_json(to_builtins(fit_view(found)))
    else:
        sys.stdout.write(
            fit_text(found, markdown=arguments.format == "markdown", width=width_of(sys.stdout))
        )
    return Exit.YES


def _text_of(path: Path) -> str:
    """Return the text of a table; QpsError where it cannot be read."""
    read = read_data(path)
    if read.value is None:
        raise QpsError(read.diagnostics)
    return read.value


def _by_clients(arguments: Namespace, text: str) -> Exit:
    """Fit throughput by a column of clients."""
    wrong = [
        flag
        for flag, value in (
            ("--cores", arguments.cores),
            ("--resource", arguments.resource),
            ("--per", arguments.per),
            ("--to", arguments.to),
            ("--no-fixed", arguments.no_fixed),
            ("--served", arguments.served),
        )
        if value
    ]
    if wrong:
        raise complain(
            f"`{wrong[0]}` cannot be combined with `--by`",
            "a fit by clients uses only their number and the throughput",
        )
    try:
        found = station_fitted_to(text, str(arguments.file), by=arguments.by, units=arguments.unit)
    except DataError as error:
        raise complain(error.message, error.hint) from error
    if arguments.format == "json":
        from qps.reports.text.measurements.scalability_view import scalability_view  # noqa: PLC0415

        print_json(to_builtins(scalability_view(found)))
    else:
        from qps.reports.text.measurements.scalability_text import scalability_text  # noqa: PLC0415

        is_markdown = arguments.format == "markdown"
        width = width_of(sys.stdout)
        sys.stdout.write(scalability_text(found, markdown=is_markdown, width=width))
    return Exit.YES
