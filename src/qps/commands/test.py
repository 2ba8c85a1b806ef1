"""`qps test`: every expectation and observation, claimed against predicted."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.console import Exit, complain, print_json, show, specs_under
from qps.compiler.diagnostics import Diagnostic
from qps.compiler.pipeline import check_file
from qps.reports.claims import claims_json
from qps.reports.text import claims_text
from qps.solver.claims import ClaimResult, Laboratory


def run(arguments: Namespace) -> Exit:
    """Test every spec that was named; nothing to test is no success."""
    results: list[ClaimResult] = []
    found: list[Diagnostic] = []
    for path in specs_under(arguments.paths):
        outcome = check_file(path)
        found += outcome.diagnostics
        if outcome.value is not None:
            results += Laboratory(outcome.value.model).results()
    show(found, arguments)
    if any(diagnostic.is_error for diagnostic in found):
        return Exit.WRONG
    if not results:
        raise complain(
            "these specs claim nothing that could be tested",
            "add an `expect` block: a published figure, a promise, a planning assumption",
        )
    if arguments.format == "json":
        print_json(claims_json(results))
    else:
        markdown = arguments.format == "markdown"
        sys.stdout.write(claims_text(results, markdown=markdown, quiet=arguments.quiet))
    return Exit.NO if any(result.holds is False for result in results) else Exit.YES
