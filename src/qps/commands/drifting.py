"""`qps test SPEC --observed RUNS.csv`: is the system still what its spec says?"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from qps.commands.console import Exit, complain, print_json, show
from qps.commands.kept_specs import check_file
from qps.compiler.check.model.check_fits import unit_reader
from qps.compiler.data.fit_columns import rate_columns
from qps.compiler.data.measured_tables import MOST_RUNS, DataError, read_table
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.quantities.quantity import read_quantity
from qps.compiler.syntax.importer import read_data

_ONLY = {"of": "--of", "resource": "--resource", "tolerance": "--tolerance", "chance": "--chance"}
_LEAST_CHANCE, _MOST_CHANCE = 1e-6, 0.5


def asks_for_drift(arguments: Namespace) -> bool:
    """Return whether runs are held against a spec; what only then means something is refused."""
    if arguments.observed is not None:
        return True
    for name, flag in _ONLY.items():
        if getattr(arguments, name):
            raise complain(f"`{flag}` goes with `--observed RUNS.csv`", "name the runs")
    return False


def run_drift(arguments: Namespace) -> Exit:
    """Tell what has moved: status 1 where something has."""
    from qps.reports.text.drift_text import (  # noqa: PLC0415 - claims do without numpy
        drift_github,
        drift_json,
        drift_text,
    )
    from qps.solver.claims.drift import drift  # noqa: PLC0415
    from qps.solver.claims.stated_costs import stated_costs  # noqa: PLC0415

    path = _one_spec(arguments)
    tolerance = _share(arguments.tolerance, "--tolerance", "5 %")
    chance = _share(arguments.chance, "--chance", "1 %")
    if not _LEAST_CHANCE <= chance <= _MOST_CHANCE:
        raise complain("`--chance` takes a share from 0.0001 % to 50 %", "such as `1 %`")
    read = read_data(arguments.observed)
    if read.value is None:
        raise QpsError(read.diagnostics)
    outcome = check_file(path)
    show(outcome.diagnostics, arguments)
    if outcome.value is None:
        return Exit.WRONG
    units = unit_reader(outcome.value.program.main)
    try:
        table = read_table(read.value, str(arguments.observed), MOST_RUNS)
        items = [rate.item for rate in rate_columns(table, units)]
        resource = arguments.resource or "cpu"
        stated = stated_costs(outcome.value.model, resource, items, arguments.of)
        found = drift(table, stated, units, chance=chance, tolerance=tolerance)
    except DataError as error:
        raise complain(error.message, error.hint) from error
    spec = str(path)
    match arguments.format:
        case "json":
            print_json(drift_json(found, spec, tolerance=tolerance, chance=chance))
        case "github":
            sys.stdout.write(drift_github(found, spec, tolerance))
        case form:
            markdown = form == "markdown"
            sys.stdout.write(drift_text(found, spec, tolerance=tolerance, markdown=markdown))
    return Exit.NO if found.has_moved else Exit.YES


def _one_spec(arguments: Namespace) -> Path:
    if arguments.format == "junit":
        raise complain("`--format junit` is for claims", "such as `--format github`, or `json`")
    if arguments.readers or len(arguments.paths) > 1 or arguments.paths[0].is_dir():
        raise complain("`--observed` holds runs against one spec", "name one `.qps` file")
    path: Path = arguments.paths[0]
    return path


def _share(text: str | None, flag: str, usual: str) -> float:
    share = float(read_quantity(usual if text is None else text, DIMENSIONLESS, flag, usual))
    if not 0 <= share < 1:
        raise complain(f"`{flag} {text}` is no share", f"such as `{usual}`")
    return share
