"""`qps diff`: what changed between two specs, in assumptions and in answers."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.console import Exit, print_json, show
from qps.commands.pages import refuse_inputs, refuse_other_endings, write_text
from qps.commands.progress import Progress
from qps.commands.provenance import made_line
from qps.commands.revision import spec_at
from qps.reports.text.compared_specs import compared
from qps.reports.text.difference_text import difference_text
from qps.reports.text.view import as_json


def run(arguments: Namespace) -> Exit:
    """Compare two specs; `--fail-on worse` is no where fewer users are carried or claims hold."""
    if arguments.output is not None:
        refuse_other_endings(arguments.output)
    with spec_at(arguments.old) as old, spec_at(arguments.new) as new:
        if arguments.output is not None:
            refuse_inputs(arguments.output, {**old.files, **new.files})
        show(new.warnings, arguments)
        with Progress(total=None, quiet=arguments.quiet, unit=None, label="both specs"):
            found, view = compared(
                old,
                new,
                arguments.scenario,
                tuple(arguments.set),
                claims=arguments.claims,
            )
    if arguments.output is not None:
        from qps.reports.pages.difference_page import difference_page  # noqa: PLC0415 - and the templates
        from qps.reports.pages.html import render_difference  # noqa: PLC0415

        write_text(arguments.output, render_difference(difference_page(view), made_line(())))
        if not arguments.quiet:
            print(f"page written to {arguments.output}", file=sys.stderr)
    if arguments.format == "json":
        print_json(as_json(view))
    else:
        sys.stdout.write(difference_text(view, markdown=arguments.format == "markdown"))
    is_worse = found.users < 0 or bool(view.claims and view.claims.now_fail)
    return Exit.NO if arguments.fail_on == "worse" and is_worse else Exit.YES
