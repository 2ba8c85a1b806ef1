"""`qps solve`: the answers, as text, Markdown or JSON."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.console import Exit, print_json, show
from qps.compiler.lower import lower
from qps.compiler.pipeline import load
from qps.reports.text import solve_text, title_of
from qps.reports.view import as_json, solve_view
from qps.solver.solve import solve


def run(arguments: Namespace) -> Exit:
    """Solve one spec."""
    spec = load(arguments.file)
    show(spec.warnings, arguments)
    settings = tuple(arguments.set)
    configuration = spec.configuration(arguments.scenario, settings)
    solution = solve(lower(spec.model, configuration))
    view = solve_view(spec.model, configuration, solution, settings)
    if arguments.format == "json":
        print_json(as_json(view))
    else:
        markdown = arguments.format == "markdown"
        title = title_of(spec.model)
        sys.stdout.write(solve_text(view, solution, title, markdown=markdown))
    return Exit.NO if solution.largest_acceptable is None else Exit.YES
