"""`qps report`: one self-contained HTML file, and its answer on the screen."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from qps.commands.console import Exit, complain, show
from qps.compiler.lower import lower
from qps.compiler.pipeline import load
from qps.reports.html import render_html
from qps.reports.page import page_view
from qps.reports.text import solve_text, title_of
from qps.reports.view import solve_view
from qps.solver.claims import Laboratory
from qps.solver.solve import solve


def run(arguments: Namespace) -> Exit:
    """Write the report of one spec."""
    spec = load(arguments.file)
    show(spec.warnings, arguments)
    settings = tuple(arguments.set)
    configuration = spec.configuration(arguments.scenario, settings)
    solution = solve(lower(spec.model, configuration))
    view = solve_view(spec.model, configuration, solution, settings)
    claims = Laboratory(spec.model).results()
    output = arguments.output or Path(f"{spec.model.name}.html")
    page = render_html(page_view(spec.model, configuration, view, solution, claims))
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise complain(f"`{output}` cannot be written: {error.strerror or error}") from error
    if not arguments.quiet:
        sys.stdout.write(solve_text(view, solution, title_of(spec.model)))
        print(f"\nreport written to {output}", file=sys.stderr)
    return Exit.NO if solution.largest_acceptable is None else Exit.YES
