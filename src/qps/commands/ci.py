"""`qps ci`: what a change touches and does, told to people and machines."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from qps.commands.console import (
    Exit,
    complain,
    is_skipped,
    show,
    specs_below,
    specs_under,
)
from qps.commands.fmt import first_difference
from qps.commands.kept_specs import check_file
from qps.commands.output import style
from qps.commands.pages import write_text
from qps.commands.progress import Progress
from qps.commands.readers import read_by
from qps.commands.test import status_of, tested_specs
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.visible import one_line
from qps.compiler.pipeline import Spec
from qps.compiler.project.exceptions import without_file
from qps.compiler.project.project_file import OWN, project_of
from qps.compiler.project.review_rules import Level
from qps.links import resolved_path
from qps.reports.text.claim_changes import claim_changes_tables
from qps.reports.text.claim_formats import Tested
from qps.reports.text.difference_text import difference_text
from qps.reports.text.verdicts import claims_text
from qps.reports.text.view import as_json
from qps.reviewing.changed_files import Since, is_committed
from qps.reviewing.ci_view import ci_view
from qps.reviewing.comment import Review, comment
from qps.reviewing.comparison_base import Base, base_of
from qps.reviewing.findings import (
    ANSWER,
    FAULT,
    LAYOUT,
    Finding,
    as_github,
    as_gitlab,
    as_sarif,
    of_claims,
    of_diagnostic,
    of_faults,
    path_from,
)
from qps.reviewing.git_objects import tree_at
from qps.reviewing.matrix_changes import MatrixChange
from qps.reviewing.passed_commits import passed_commits
from qps.reviewing.repository import commit_of, top_for
from qps.reviewing.rules.change_rules import Change, Touched, change_findings
from qps.reviewing.spec_changes import SpecChange, State, Told, spec_change
from qps.solver.odds.told import PROBABILITY

_SHORTER = 16_384
_SUMMARY = 1_000_000
"""Bytes of a step summary on GitHub, a little below its 1 MiB."""


def run(arguments: Namespace) -> Exit:
    """Look at every spec that a change touches, and tell what it does to each."""
    here = top_for(arguments.paths) or Path()
    base = base_of(here, arguments.base, passed=arguments.passed)
    is_first_record = arguments.passed is not None and base.is_default and not base.has_passed
    paths = _specs(arguments.paths)
    with Progress(total=None, quiet=arguments.quiet, unit=None, label="what is touched") as told:
        touched = _touched(paths, base, everything=arguments.all or is_first_record)
        looked = [_looked_at(one, told) for one in touched.specs]
        changes = [*_changes(looked, base, told), *touched.gone]
        weaker = [*_weaker(arguments.paths, paths, looked, base, touched.since)]
    projects = [*_of_projects(arguments.paths)]
    found = [*projects, *(d for one in looked for d in one.found)]
    findings = _findings(looked, projects, changes, base, weaker)
    review = Review(
        base=base,
        specs=len(paths),
        touched=len(looked),
        findings=tuple(findings),
        changes=tuple(changes),
    )
    status = _status(looked, found, review, arguments)
    if arguments.passed is not None and status is Exit.YES:
        _record(base, arguments.passed)
    _tell(review, looked, found, status, arguments)
    return status


class _Touched(Struct, frozen=True):
    """The specs that a change touches, each with its name before, and those that are gone."""

    specs: tuple[tuple[Path, PurePosixPath | None], ...]
    gone: tuple[SpecChange, ...]
    since: Since | None = None


class _Looked(Struct, frozen=True, kw_only=True):
    """A spec that was looked at: itself, what was found in it, and what became of its claims."""

    path: Path
    before: PurePosixPath | None
    spec: Spec | None
    found: tuple[Diagnostic, ...]
    tested: Tested
    layout: int | None


def _specs(paths: Sequence[Path]) -> list[Path]:
    """Return the specs that are looked among; a change may take the last one away."""
    return specs_under([path for path in paths if not path.is_dir() or specs_below(path)])


def _touched(paths: Sequence[Path], base: Base, *, everything: bool) -> _Touched:
    """Return the specs that read what was changed; without a base that is each."""
    if base.commit is None:
        return _Touched(tuple((path, None) for path in paths), ())
    since = Since.of(base.top, base.commit)
    found = []
    for path in paths:
        if everything or any(since.touches(file) for file in read_by(path)):
            before = since.name_before(path)
            is_inside = before is not None and before.is_relative_to(base.top)
            way = PurePosixPath(before.relative_to(base.top)) if before and is_inside else None
            found.append((path, way))
    gone = (
        SpecChange(file=path, was=path, state=State.GONE)
        for path in (path_from(base.top, str(path)) for path in since.gone)
    )
    return _Touched(tuple(found), tuple(gone), since)


def _looked_at(one: tuple[Path, PurePosixPath | None], told: Progress) -> _Looked:
    path, before = one
    told.advance(0, path.name)
    tested = tested_specs([path], None, None, PROBABILITY)
    return _Looked(
        path=path,
        before=before,
        spec=check_file(path).value,
        found=tested.diagnostics,
        tested=tested,
        layout=first_difference(path),
    )


def _changes(looked: Sequence[_Looked], base: Base, told: Progress) -> Iterator[SpecChange]:
    if base.commit is None:
        return
    with tree_at(base.top, base.commit) as tree:
        for one in looked:
            told.advance(0, one.path.name)
            known = Told(
                base=base.short,
                results=one.tested.results,
                unanswered=[d for d in one.found if d.is_error],
            )
            file = path_from(base.top, str(one.path))
            yield spec_change(one.spec, file, one.before, tree, known)


def _weaker(
    asked: Sequence[Path],
    paths: Sequence[Path],
    looked: Sequence[_Looked],
    base: Base,
    since: Since | None,
) -> Iterator[Finding]:
    """Yield what became weaker since the base, in specs and by what is no longer looked at."""
    if base.commit is None or since is None:
        return
    roots = [resolved_path(path) for path in asked]
    with tree_at(base.top, base.commit) as tree:
        listed = [
            way
            for way in sorted(tree.blobs)
            if way.suffix == ".qps" and any(_is_below(base.top / way, root) for root in roots)
        ]
        change = Change(
            tree=tree,
            base=base.short,
            since=since,
            touched=[Touched(file=o.path, before=o.before, spec=o.spec) for o in looked],
            listed_before=listed,
            listed=frozenset(resolved_path(path) for path in paths),
        )
        yield from change_findings(change)


def _is_below(path: Path, root: Path) -> bool:
    """Return whether `qps ci` looks at a spec where it is given a file or folder."""
    is_within = path != root and path.is_relative_to(root)
    return path == root or (is_within and not is_skipped(path.relative_to(root)))


def _of_projects(paths: Sequence[Path]) -> Iterator[Diagnostic]:
    projects = (project_of(resolved_path(path)).value for path in paths if path.is_dir())
    for project in {one.file: one for one in projects if one is not None}.values():
        yield from without_file(project)


def _findings(
    looked: Sequence[_Looked],
    projects: Sequence[Diagnostic],
    changes: Sequence[SpecChange],
    base: Base,
    weaker: Sequence[Finding],
) -> Iterator[Finding]:
    """Yield what is to be told at places, each thing once, whatever reads the file it is in."""
    told: dict[Finding, None] = dict.fromkeys(weaker)
    for one in projects:
        told[of_diagnostic(one, base.top, path_from(base.top, OWN))] = None
    for each in looked:
        file = path_from(base.top, str(each.path))
        told |= dict.fromkeys(of_diagnostic(one, base.top, file) for one in each.found)
        told |= dict.fromkeys(of_faults(each.tested.wrong, base.top))
        told |= dict.fromkeys(of_claims(each.tested.results, base.top))
        if each.layout is not None:
            told[
                Finding(
                    level=Level.ERROR,
                    code=LAYOUT,
                    title="layout",
                    message="`qps fmt` would lay this out otherwise",
                    file=file,
                    line=each.layout,
                    end_line=each.layout,
                )
            ] = None
    for change in changes:
        if change.view is not None and change.users:
            told[
                Finding(
                    level=Level.NOTE,
                    code=ANSWER,
                    title="answer",
                    message=change.view.in_words,
                    file=change.file,
                )
            ] = None
    order = list(Level)
    yield from sorted(told, key=lambda one: (order.index(one.level), one.file, one.line))


def _status(
    looked: Sequence[_Looked], found: Sequence[Diagnostic], review: Review, arguments: Namespace
) -> Exit:
    statuses = [status_of(one.tested) for one in looked]
    is_faulty = any(one.code == FAULT for one in review.findings)
    if (
        is_faulty
        or Exit.FAULT in statuses
        or any(one.state is State.FAULT for one in review.changes)
    ):
        return Exit.FAULT
    has_no_base = review.base.commit is None and not review.base.is_none_needed
    if has_no_base or Exit.WRONG in statuses or any(one.is_error for one in found):
        return Exit.WRONG
    is_worse = arguments.fail_on == "worse" and any(one.users < 0 for one in review.changes)
    return Exit.NO if review.errors or is_worse else Exit.YES


def _record(base: Base, file: Path) -> None:
    """Add the commit to those that passed: of the default branch, and without other changes."""
    head = commit_of(base.top, "HEAD")
    if base.is_default and head is not None and is_committed(base.top, head):
        write_text(file, passed_commits(file).text_with(head))


def _tell(
    review: Review,
    looked: Sequence[_Looked],
    found: Sequence[Diagnostic],
    status: Exit,
    arguments: Namespace,
) -> None:
    """Write all that was asked for, and print what `--format` says."""
    view = as_json(ci_view(review, passed=status is Exit.YES))
    files = (
        (arguments.comment, comment(review)),
        (arguments.sarif, json_text(as_sarif(review.findings))),
        (arguments.code_quality, json_text(as_gitlab(review.findings))),
        (arguments.json, json_text(view)),
    )
    for file, text in files:
        if file is not None:
            write_text(file, text)
    if arguments.format == "github":
        sys.stdout.write(as_github(review.findings))
        _summarise(review)
    elif arguments.format == "json":
        sys.stdout.write(json_text(view))
    elif arguments.format == "markdown":
        sys.stdout.write(comment(review))
    else:
        show(found, arguments)
        style(sys.stdout, _text(review, looked))
    if review.base.why and not arguments.quiet:
        mend = f"; {review.base.mend}" if review.base.mend else ""
        print(f"compared with {review.base.text}{mend}", file=sys.stderr)


def json_text(value: object) -> str:
    """Return JSON in plain ASCII: names of files may hold what is no character."""
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def _summarise(review: Review) -> None:
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
        raise complain(
            f"`{file}` cannot be written: {reason}", "see $GITHUB_STEP_SUMMARY"
        ) from error


def _weaker_text(findings: Sequence[Finding]) -> str:
    """Return what became weaker, a line each, with its level and its rule."""
    return "".join(
        one_line(f"{one.level.value}[{one.code}] {one.file}:{one.line}: {one.message}") + "\n"
        for one in findings
    )


def _matrix_text(matrix: MatrixChange) -> str:
    """Return what became of a matrix, empty where it is as before."""
    rows = matrix.table.as_text() if matrix.rows else ""
    return f"\n  matrix {matrix.name}: {matrix.text}\n{rows}" if matrix.is_moved else ""


def _text(review: Review, looked: Sequence[_Looked]) -> str:
    """Return what failed and how answers move, for people who look at a terminal."""
    is_off = "is not laid out as `qps fmt` does it"
    parts = [f"{one_line(str(one.path))} {is_off}\n" for one in looked if one.layout]
    parts += [
        claims_text(one.tested.results, one.tested.untested, quiet=True)
        for one in looked
        if any(result.fails for result in one.tested.results)
    ]
    parts += [_weaker_text(review.weaker)] if review.weaker else []
    for change in review.changes:
        if change.state is State.MOVED and change.view is not None:
            text = difference_text(change.view)
            tables = () if change.claims is None else claim_changes_tables(change.claims)
            text += "".join(f"\n{table.as_text()}" for table in tables)
            parts.append(text + "".join(map(_matrix_text, change.matrices)))
        elif change.reason:
            told = one_line(f"{change.file} cannot be compared: {change.reason}")
            parts.append(f"{told}\n")
        elif change.state in (State.NEW, State.GONE):
            parts.append(f"{one_line(change.file)} is {change.state.value}\n")
    base = review.base
    compared = f"  Repository     {one_line(base.top.name)}\n  Compared with  {base.text}\n"
    return "\n".join([*parts, compared, f"{review.summary}\n"])
