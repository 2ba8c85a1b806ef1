"""`qps test`: every expectation and observation, claimed against predicted."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from qps.commands.console import Exit, complain, print_json, show, specs_under
from qps.compiler.diagnostics import Diagnostic
from qps.compiler.pipeline import check_file
from qps.reports.ci import claims_github, claims_junit, claims_markdown
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
    wrong = any(diagnostic.is_error for diagnostic in found)
    if not results and not wrong:
        raise complain(
            "these specs claim nothing that could be tested",
            "add an `expect` block: a published figure, a promise, a planning assumption",
        )
    _print(results, found, arguments, wrong=wrong)
    if wrong:
        return Exit.WRONG
    return Exit.NO if any(result.fails for result in results) else Exit.YES


def _print(
    results: Sequence[ClaimResult],
    found: Sequence[Diagnostic],
    arguments: Namespace,
    *,
    wrong: bool,
) -> None:
    """Print the results; what is read by machines also says which specs are wrong."""
    if arguments.format == "junit":
        sys.stdout.write(claims_junit(results, found))
    elif arguments.format == "github":
        sys.stdout.write(claims_github(results, found))
    elif wrong:
        return
    elif arguments.format == "json":
        print_json(claims_json(results))
    elif arguments.format == "markdown":
        sys.stdout.write(claims_markdown(results))
    else:
        sys.stdout.write(claims_text(results, quiet=arguments.quiet))
