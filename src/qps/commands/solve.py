"""`qps solve`: the answers, as text, Markdown or JSON."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.console import Exit, print_json
from qps.commands.solving import solved
from qps.reports.text import solve_text, title_of
from qps.reports.view import as_json


def run(arguments: Namespace) -> Exit:
    """Solve one spec."""
    found = solved(arguments)
    if arguments.format == "json":
        print_json(as_json(found.view))
    else:
        markdown = arguments.format == "markdown"
        title = title_of(found.model)
        sys.stdout.write(solve_text(found.view, found.solution, title, markdown=markdown))
    return Exit.NO if found.solution.largest_acceptable is None else Exit.YES
