"""What `qps ci` writes: comments, reports for machines, and what stands in the terminal."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from pathlib import Path

from qps.commands.spec_examination import Examination
from qps.commands.terminal.console import complain, show, width_of
from qps.commands.terminal.output import style
from qps.commands.terminal.output_files import write_text
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.words.phrases import phrase
from qps.reviewing.change_review import Review
from qps.reviewing.ci_junit import ci_junit
from qps.reviewing.ci_text import ci_text
from qps.reviewing.ci_view import ci_view
from qps.reviewing.comment import comment
from qps.reviewing.findings import as_github, as_gitlab, as_sarif

_SHORTER = 16_384
_SUMMARY = 1_000_000
"""Bytes of a step summary on GitHub, a little below its 1 MiB."""


def write_outputs(
    review: Review, found: Examination, arguments: Namespace, *, passed: bool
) -> None:
    """Write all that was requested, and print what `--format` says."""
    view = as_json(ci_view(review, passed=passed))
    files = (
        (arguments.comment, comment(review)),
        (arguments.sarif, json_text(as_sarif(review.findings))),
        (arguments.code_quality, json_text(as_gitlab(review.findings))),
        (arguments.json, json_text(view)),
        (arguments.junit, ci_junit(review, found.tested)),
    )
    for file, text in files:
        if file is not None:
            write_text(file, text)
    if arguments.format == "github":
        sys.stdout.write(as_github(review.findings))
        _summarize(review)
    elif arguments.format == "json":
        sys.stdout.write(json_text(view))
    elif arguments.format == "markdown":
        sys.stdout.write(comment(review))
    else:
        show(found.diagnostics, arguments)
        style(sys.stdout, ci_text(review, found.tested.results, width_of(sys.stdout)))
    if review.base.why and not arguments.quiet:
        fix = f"; {review.base.fix}" if review.base.fix else ""
        print(phrase("command.compared_with", text=review.base.text, fix=fix), file=sys.stderr)


def json_text(value: object) -> str:
    """Return JSON in plain ASCII: names of files may hold what is no character."""
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def _summarize(review: Review) -> None:
    """Add the comment to the summary of the step, where GitHub says where that is."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    text = comment(review)
    try:
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(text if len(text.encode()) <= _SUMMARY else comment(review, _SHORTER))
    except OSError as error:
        reason = error.strerror or str(error)
        raise complain(f"cannot write `{file}`: {reason}", "check $GITHUB_STEP_SUMMARY") from error
