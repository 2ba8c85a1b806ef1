"""`qps test SPEC --observed RUNS.csv`: is the system still what its spec says?"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from qps.commands.cache.spec_cache import check_file
from qps.commands.terminal.console import Exit, complain, print_json, show, width_of
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.syntax.importer import read_data

_ONLY = {"of": "--of", "resource": "--resource", "tolerance": "--tolerance", "chance": "--chance"}


def is_drift_test(arguments: Namespace) -> bool:
    """Return whether runs are held against a spec; what only then means something is refused."""
    if arguments.observed is not None:
        return True
    for name, flag in _ONLY.items():
        if getattr(arguments, name):
            raise complain(f"`{flag}` requires `--observed FILE.csv`", "add `--observed runs.csv`")
    return False


def run_drift(arguments: Namespace) -> Exit:
    """Tell what has moved: status 1 where something has."""
    from qps.reports.text.claims.drift_text import (  # noqa: PLC0415 - claims do without numpy
        drift_github,
        drift_text,
        drift_view,
    )
    from qps.reports.text.schemas.json_encoding import as_json  # noqa: PLC0415
    from qps.solver.claims.observed_drift import (  # noqa: PLC0415
        chance_of,
        observed_drift,
        tolerance_of,
    )

    path = _one_spec(arguments)
    try:
        tolerance, chance = tolerance_of(arguments.tolerance), chance_of(arguments.chance)
        read = read_data(arguments.observed)
        if read.value is None:
            raise QpsError(read.diagnostics)
        outcome = check_file(path)
        show(outcome.diagnostics, arguments)
        if outcome.value is None:
            return Exit.WRONG
        found = observed_drift(
            outcome.value,
            read.value,
            str(arguments.observed),
            of=arguments.of,
            resource=arguments.resource or "cpu",
            chance=chance,
            tolerance=tolerance,
        )
    except DataError as error:
        raise complain(error.message, error.hint) from error
    spec = str(path)
    match arguments.format:
        case "json":
            print_json(as_json(drift_view(found, spec, tolerance=tolerance, chance=chance)))
        case "github":
            sys.stdout.write(drift_github(found, spec, tolerance))
        case form:
            markdown = form == "markdown"
            sys.stdout.write(
                drift_text(
                    found,
                    spec,
                    tolerance=tolerance,
                    markdown=markdown,
                    width=width_of(sys.stdout),
                )
            )
    return Exit.NO if found.has_moved else Exit.YES


def _one_spec(arguments: Namespace) -> Path:
    if arguments.format == "junit":
        raise complain(
            "`--format junit` does not support `--observed`",
            "use `--format github` or `--format json`",
        )
    finds_specs = arguments.readers or arguments.changed
    if finds_specs or len(arguments.paths) > 1 or arguments.paths[0].is_dir():
        raise complain("`--observed` takes exactly one spec", "name one `.qps` file")
    path: Path = arguments.paths[0]
    return path
