"""`qps check`: diagnostics only."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.cache.spec_cache import check_file
from qps.commands.file_dependents import requested_specs
from qps.commands.terminal.console import Exit, show
from qps.commands.terminal.isolated_files import each_apart
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.render import as_json
from qps.compiler.project.exceptions import without_file
from qps.compiler.project.project_file import project_of
from qps.links import resolved_path
from qps.reports.text.words.phrases import phrase


def run(arguments: Namespace) -> Exit:
    """Check every spec that was named; no sympy is imported on the way."""
    found: list[Diagnostic] = []
    paths = requested_specs(arguments)
    projects = (project_of(resolved_path(path)).value for path in arguments.paths if path.is_dir())
    for project in {one.file: one for one in projects if one is not None}.values():
        found += without_file(project)
    outcomes, worst = each_apart(paths, check_file, found.extend)
    found += (one for _, outcome in outcomes for one in outcome.diagnostics)
    if arguments.format == "json":
        sys.stdout.write(as_json(found))
    else:
        show(found, arguments)
    if any(diagnostic.is_error for diagnostic in found):
        worst = max(worst, Exit.WRONG)
    if worst is Exit.YES and not arguments.quiet:
        count = f"{len(paths)} specs" if len(paths) != 1 else "1 spec"
        print(phrase("command.checked", count=count), file=sys.stderr)
    return worst
