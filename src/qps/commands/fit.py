"""`qps fit`: costs fitted to a table of measurements, and how far to trust them."""

from __future__ import annotations

import sys
from argparse import Namespace

from msgspec import to_builtins

from qps.commands.terminal.console import Exit, complain, print_json, width_of
from qps.compiler.check.model.fits.fit_requests import fitted_to
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.syntax.importer import read_data
from qps.reports.text.measurements.fit_text import fit_text


def run(arguments: Namespace) -> Exit:
    """Fit costs to one table."""
    read = read_data(arguments.file)
    if read.value is None:
        raise QpsError(read.diagnostics)
    try:
        found = fitted_to(
            read.value,
            str(arguments.file),
            cores=arguments.cores,
            resource=arguments.resource,
            has_fixed=not arguments.no_fixed,
            is_served=arguments.served,
            units=arguments.unit,
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
