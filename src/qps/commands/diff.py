"""`qps diff`: what changed between two specs, in assumptions and in answers."""

from __future__ import annotations

import sys
from argparse import Namespace

from msgspec.structs import replace

from qps.commands.console import Exit, print_json, show
from qps.commands.pages import refuse_inputs, refuse_other_endings, write_page
from qps.commands.revision import spec_at
from qps.compiler.configure.configuration import uncertain_in
from qps.compiler.lower.certainty_asked import without_certainty
from qps.compiler.pipeline import Scenarios, Spec
from qps.reports.text.difference_text import DifferenceView, difference_text, difference_view
from qps.reports.text.view import as_json, solve_view
from qps.solver.odds.promising import promising
from qps.solver.odds.told import Sampling
from qps.solver.what_if.difference import Difference, Side, difference


def run(arguments: Namespace) -> Exit:
    """Compare two specs; with `--fail-on worse`, fewer users than before are a failure."""
    if arguments.output is not None:
        refuse_other_endings(arguments.output)
    with spec_at(arguments.old) as old, spec_at(arguments.new) as new:
        if arguments.output is not None:
            refuse_inputs(arguments.output, {**old.files, **new.files})
        show(new.warnings, arguments)
        found, view = compared(old, new, arguments.scenario, tuple(arguments.set))
    if arguments.output is not None:
        from qps.reports.pages.difference_page import difference_page  # noqa: PLC0415 - and the templates
        from qps.reports.pages.html import render_difference  # noqa: PLC0415

        write_page(arguments.output, render_difference(difference_page(view)))
        if not arguments.quiet:
            print(f"page written to {arguments.output}", file=sys.stderr)
    if arguments.format == "json":
        print_json(as_json(view))
    else:
        sys.stdout.write(difference_text(view, markdown=arguments.format == "markdown"))
    return Exit.NO if arguments.fail_on == "worse" and found.users < 0 else Exit.YES


def compared(
    old: Spec, new: Spec, scenario: Scenarios = None, settings: tuple[str, ...] = ()
) -> tuple[Difference, DifferenceView]:
    """Return what differs between two specs, each as a scenario and settings change it."""
    before, after = (
        Side(one.model, one.configuration(scenario, settings))
        for one in (spec.with_machines_of(settings) for spec in (old, new))
    )
    found = difference(before, after, promising)
    views = [
        solve_view(side.model, side.configuration, solution, settings)
        for side, solution in ((before, found.old), (after, found.new))
    ]
    odds = None
    if uncertain_in(before.configuration) or uncertain_in(after.configuration):
        from qps.solver.odds.differences import difference_odds  # noqa: PLC0415 - needs numpy

        plain = [replace(side, model=without_certainty(side.model)) for side in (before, after)]
        odds = difference_odds(plain[0], plain[1], Sampling())
    return found, difference_view(found, views[0], views[1], odds)
