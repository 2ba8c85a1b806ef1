"""`qps fit`: costs fitted to a table of measurements, and how far to trust them."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.console import Exit, complain, print_json
from qps.commands.own_units import units_with
from qps.compiler.data.fit_columns import Reading
from qps.compiler.data.fits import fitted
from qps.compiler.data.measured_tables import MOST_RUNS, DataError, number, read_table
from qps.compiler.data.regression import regression
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.syntax.importer import read_data
from qps.reports.text.fit_text import fit_json, fit_text


def run(arguments: Namespace) -> Exit:
    """Fit costs to one table."""
    cores = number(arguments.cores)
    if cores is None or cores <= 0:
        raise complain(f"`--cores {arguments.cores}` is no number of cores", "such as `--cores 4`")
    read = read_data(arguments.file)
    if read.value is None:
        raise QpsError(read.diagnostics)
    reading = Reading(
        resource=arguments.resource,
        cores=cores,
        processors=cores,
        has_fixed=not arguments.no_fixed,
        is_served=arguments.served,
    )
    try:
        table = read_table(read.value, str(arguments.file), MOST_RUNS)
        found = fitted(table, reading, units_with(arguments.unit))
    except DataError as error:
        raise complain(error.message, error.hint) from error
    result = regression(found)
    if arguments.format == "json":
        print_json(fit_json(result))
    else:
        sys.stdout.write(fit_text(result, markdown=arguments.format == "markdown"))
    return Exit.YES
