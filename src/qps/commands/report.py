"""`qps report`: one self-contained HTML file, and its answer on the screen."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from qps.commands.console import Exit, complain
from qps.commands.solving import solved
from qps.reports.html import render_html
from qps.reports.page import page_view
from qps.reports.text import solve_text, title_of
from qps.solver.claims import Laboratory


def run(arguments: Namespace) -> Exit:
    """Write the report of one spec."""
    found = solved(arguments)
    claims = Laboratory(found.model).results()
    output = arguments.output or Path(f"{found.model.name}.html")
    page = page_view(found.model, found.configuration, found.view, found.solution, claims)
    try:
        output.write_text(render_html(page), encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise complain(f"`{output}` cannot be written: {reason}", "choose another place") from error
    if not arguments.quiet:
        sys.stdout.write(solve_text(found.view, found.solution, title_of(found.model)))
        print(f"\nreport written to {output}", file=sys.stderr)
    return Exit.NO if found.solution.largest_acceptable is None else Exit.YES
