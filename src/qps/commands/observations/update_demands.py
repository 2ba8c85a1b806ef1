"""`qps observe RESULTS -o NEW.csv --into SPEC`: a spec whose service demands follow new runs."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from qps.commands.cache.spec_cache import check_file
from qps.commands.observations.update_spec import parsed_spec, replace_spec
from qps.commands.terminal.console import Exit, complain, show, width_of
from qps.commands.terminal.output_files import write_text
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.syntax import ast
from qps.links import resolved_path
from qps.reports.text.claims.drift_text import drift_text
from qps.reports.text.systems.updates.demand_update import DemandUpdate, demand_update
from qps.reports.text.systems.updates.update_text import line_changes
from qps.reports.text.words.phrases import phrase
from qps.solver.claims.drift import Drift
from qps.solver.claims.observed_drift import chance_of, observed_drift, tolerance_of


def run(found: ObservedRuns, arguments: Namespace) -> Exit:
    """Compare runs with a spec; where they have drifted, write their table and refer to it."""
    path: Path = arguments.into
    table = _table_path(path, arguments.output)
    outcome = check_file(path)
    show(outcome.diagnostics, arguments)
    if outcome.value is None:
        return Exit.WRONG
    module = parsed_spec(path, arguments)
    names = {one.name.text for one in module.every(ast.Component)}
    tolerance = tolerance_of(None)
    drift = observed_drift(
        outcome.value,
        found.as_csv(),
        table,
        of=[one for one in arguments.replace if one in names],
        resource="cpu",
        chance=chance_of(None),
        tolerance=tolerance,
    )
    text = drift_text(drift, str(path), tolerance=tolerance, width=width_of(sys.stdout))
    sys.stdout.write(text)
    if not drift.has_moved and not arguments.replace:
        return Exit.YES
    changed = demand_update(module, drift, table, len(found.rows), arguments.replace)
    return _write(changed, drift, found, arguments)


def _table_path(spec: Path, output: Path | None) -> str:
    """Return the path by which a spec reaches the new table, which must not be there yet."""
    if output is None:
        raise complain(
            "`--into` requires `-o FILE.csv`: the spec refers to the table of runs",
            "name a new file beside the spec, such as `-o runs_2.csv`",
        )
    if output.exists():
        raise complain(
            f"`{output}` exists, and may be what the spec is fitted to now",
            "name a new file, such as `-o runs_2.csv`; the old one stays beside it",
        )
    try:
        return resolved_path(output).relative_to(resolved_path(spec).parent).as_posix()
    except ValueError:
        raise complain(
            f"`{output}` is outside the folder of `{spec}`, which could not read it",
            "write the table beside the spec",
        ) from None


def _write(changed: DemandUpdate, drift: Drift, found: ObservedRuns, arguments: Namespace) -> Exit:
    path, output = arguments.into, arguments.output
    notes = [phrase("update.demand_own", name=name) for name in changed.own]
    is_changed = changed.text != changed.before
    if is_changed and not arguments.dry_run:
        write_text(output, found.as_csv())
        replace_spec(path, changed.text)
    if changed.tables:
        tables = ", ".join(changed.tables)
        notes.append(phrase("update.tables", spec=path, table=drift.file, tables=tables))
    if is_changed:
        key = "update.not_written" if arguments.dry_run else "update.written"
        notes.append(phrase(key, spec=path))
    sys.stdout.write("".join(f"\n  {note}\n" for note in notes))
    if not (is_changed and arguments.dry_run):
        return Exit.YES
    sys.stdout.write(f"\n{line_changes(changed.before, changed.text, str(path))}")
    return Exit.NO
