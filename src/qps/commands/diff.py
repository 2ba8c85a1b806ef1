"""`qps diff`: what changed between two specs, in assumptions and in answers."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence

from qps.commands.revisions.provenance import origin_line
from qps.commands.revisions.revision import spec_at
from qps.commands.terminal.console import Exit, print_json, show, width_of
from qps.commands.terminal.output_files import refuse_inputs, refuse_other_endings, write_text
from qps.commands.terminal.progress import Progress
from qps.compiler.diagnostics.visible_text import one_line
from qps.reports.text.changes.difference_text import (
    DifferenceView,
    difference_text,
    spec_difference_view,
)
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.words.phrases import phrase
from qps.reviewing.spec_answers import spec_answers
from qps.reviewing.thresholds import ANY_DECREASE, Threshold, ThresholdQuantity, threshold
from qps.solver.spec_difference import spec_difference


def run(arguments: Namespace) -> Exit:
    """Compare two specs; with `--fail-on` no is said where the new one exceeds a threshold."""
    thresholds = [threshold(text) for text in arguments.fail_on or ()]
    if arguments.output is not None:
        refuse_other_endings(arguments.output)
    with spec_at(arguments.old) as old, spec_at(arguments.new) as new:
        if arguments.output is not None:
            refuse_inputs(arguments.output, {**old.files, **new.files})
        show(new.warnings, arguments)
        with Progress(
            total=None, quiet=arguments.quiet, unit=None, label=phrase("diff.both_specs")
        ):
            found = spec_difference(
                old,
                new,
                arguments.scenario,
                tuple(arguments.set),
                claims=arguments.claims,
            )
            view = spec_difference_view(found)
    if arguments.output is not None:
        from qps.reports.pages.difference_page import difference_page  # noqa: PLC0415 - and the templates
        from qps.reports.pages.html_page import render_difference  # noqa: PLC0415

        write_text(arguments.output, render_difference(difference_page(view), origin_line(())))
        if not arguments.quiet:
            print(f"{arguments.output} written", file=sys.stderr)
    if arguments.format == "json":
        print_json(as_json(view))
    else:
        sys.stdout.write(
            difference_text(
                view, markdown=arguments.format == "markdown", width=width_of(sys.stdout)
            )
        )
    reasons = [*_reasons(view, thresholds, has_warnings=bool(new.warnings))]
    if not arguments.quiet:
        sys.stderr.write("".join(one_line(f"fails: {reason}") + "\n" for reason in reasons))
    return Exit.NO if reasons else Exit.YES


def _reasons(
    view: DifferenceView, thresholds: Sequence[Threshold], *, has_warnings: bool
) -> Iterator[str]:
    """Yield why the new spec is refused."""
    before, after = spec_answers(view)
    for one in thresholds:
        if reason := one.exceeded_by(before, after, within_error=view.within_error):
            yield reason
        if one == ANY_DECREASE and view.claims and view.claims.now_fail:
            yield phrase(
                "diff.claim_passed_before", name=view.claims.now_fail[0].name, text=one.text
            )
        if one.quantity is ThresholdQuantity.WARNINGS and has_warnings:
            yield phrase("diff.new_warnings", text=one.text)
