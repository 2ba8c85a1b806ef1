"""`qps ci`: what a change touches and does, for people and machines."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from qps.commands.cache.spec_cache import shared_checks
from qps.commands.revisions.ci_output import write_outputs
from qps.commands.spec_examination import Examination, examine, place_findings
from qps.commands.terminal.console import Exit
from qps.commands.terminal.output_files import write_text
from qps.commands.terminal.progress import Progress
from qps.commands.test import status_of
from qps.compiler.project.review_rules import Level
from qps.reports.text.words.phrases import phrase
from qps.reviewing.change_review import Review, capacity_findings
from qps.reviewing.changed_files import is_committed
from qps.reviewing.comparison_base import Base, base_of
from qps.reviewing.findings import FAULT, in_order, path_from
from qps.reviewing.passed_commits import passed_commits
from qps.reviewing.repository import commit_of, top_for
from qps.reviewing.spec_changes import ChangeState
from qps.reviewing.thresholds import ThresholdQuantity, threshold
from qps.solver.claims.accepted_failures import Accepted


def run(arguments: Namespace) -> Exit:
    """Examine every spec that a change touches, and report what it does to each."""
    thresholds = [threshold(text) for text in arguments.fail_on or ()]
    base = base_of(top_for(arguments.paths) or Path(), arguments.base, passed=arguments.passed)
    is_first_record = arguments.passed is not None and base.is_default and not base.has_passed
    everything = arguments.all or is_first_record
    progressing = Progress(
        total=None, quiet=arguments.quiet, unit=None, label=phrase("command.what_changed")
    )
    with progressing as progress, shared_checks():
        found = examine(arguments.paths, base, progress, everything=everything)
    accepted = {
        path_from(base.top, str(one.path)): Accepted(one.spec.accepted)
        for one in found.specs
        if one.spec is not None
    }
    findings = place_findings(found)
    findings += capacity_findings(found.changes, thresholds, accepted)
    review = Review(
        base=base,
        specs=found.count,
        touched=found.touched,
        findings=tuple(in_order(findings)),
        changes=found.changes,
        checks_all=everything or base.commit is None,
    )
    fails_on_warnings = any(one.quantity is ThresholdQuantity.WARNINGS for one in thresholds)
    status = _status(found, review, fails_on_warnings=fails_on_warnings)
    if arguments.passed is not None and status is Exit.YES:
        _record(base, arguments.passed)
    write_outputs(review, found, arguments, passed=status is Exit.YES)
    return status


def _status(found: Examination, review: Review, *, fails_on_warnings: bool) -> Exit:
    statuses = [status_of(one.tested) for one in found.specs]
    is_faulty = any(one.code == FAULT for one in review.findings)
    is_faulty |= any(one.state is ChangeState.FAULT for one in review.changes)
    if is_faulty or Exit.FAULT in statuses:
        return Exit.FAULT
    has_no_base = review.base.commit is None and not review.base.is_none_needed
    if has_no_base or Exit.WRONG in statuses or any(one.is_error for one in found.diagnostics):
        return Exit.WRONG
    has_warnings = any(one.level is Level.WARNING for one in review.findings)
    return Exit.NO if review.errors or (fails_on_warnings and has_warnings) else Exit.YES


def _record(base: Base, file: Path) -> None:
    """Add the commit to those that passed: of the default branch, and without other changes."""
    head = commit_of(base.top, "HEAD")
    if base.is_default and head is not None and is_committed(base.top, head):
        write_text(file, passed_commits(file).text_with(head))
