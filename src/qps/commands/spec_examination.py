"""The specs that a change touches, and what is found in each: the material of a review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from qps.commands.file_dependents import reads_any, sound_spec
from qps.commands.fmt import first_difference
from qps.commands.terminal.console import is_skipped, specs_below, specs_under
from qps.commands.terminal.progress import Progress
from qps.commands.test import tested_specs
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.pipeline import Spec
from qps.compiler.project.exceptions import without_file
from qps.compiler.project.project_file import project_of
from qps.compiler.project.project_location import OWN
from qps.compiler.project.review_rules import Level
from qps.links import resolved_path
from qps.reports.text.claims.claim_formats import ClaimOutcomes
from qps.reports.text.words.phrases import phrase
from qps.reviewing.changed_files import ChangesSince
from qps.reviewing.comparison_base import Base
from qps.reviewing.findings import LAYOUT, Finding, of_claims, of_diagnostic, of_faults, path_from
from qps.reviewing.git_objects import CommitTree, tree_at
from qps.reviewing.rules.change_rules import RevisionChange, Touched, change_findings
from qps.reviewing.spec_changes import KnownVersion, SpecChange, removed_spec, spec_change
from qps.solver.uncertainty.interval_result import PROBABILITY


class SpecExamination(Struct, frozen=True, kw_only=True):
    """A spec that was examined: itself, what was found in it, and what became of its claims.

    `before` is its name at the base, from the top; `layout` the first line that `qps fmt` moves.
    """

    path: Path
    before: PurePosixPath | None
    spec: Spec | None
    found: tuple[Diagnostic, ...]
    tested: ClaimOutcomes
    layout: int | None

    @property
    def is_module(self) -> bool:
        """True where it declares things for others, and answers nothing itself."""
        return self.spec is not None and self.spec.program.is_module


class Examination(Struct, frozen=True, kw_only=True):
    """All that was found: `count` specs there are, modules left out; `weaker` is by the rules.

    `projects` are mistakes of project files.
    """

    base: Base
    count: int
    specs: tuple[SpecExamination, ...]
    changes: tuple[SpecChange, ...]
    weaker: tuple[Finding, ...]
    projects: tuple[Diagnostic, ...]

    @property
    def touched(self) -> int:
        """How many specs the change touches."""
        return sum(not one.is_module for one in self.specs)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics."""
        return [*self.projects, *(d for one in self.specs for d in one.found)]

    @property
    def tested(self) -> ClaimOutcomes:
        """What became of all claims."""
        tests = [one.tested for one in self.specs]
        return ClaimOutcomes(
            results=tuple(result for one in tests for result in one.results),
            seconds=tuple(seconds for one in tests for seconds in one.seconds),
            wrong=tuple(wrong for one in tests for wrong in one.wrong),
        )


def examine(
    requested: Sequence[Path], base: Base, progress: Progress, *, everything: bool
) -> Examination:
    """Examine every spec that differs from the base, or every one."""
    paths = _specs(requested)
    touched = _touched(paths, base, everything=everything)
    specs = [_examined(one, progress) for one in touched.specs]
    changes: list[SpecChange] = []
    weaker: list[Finding] = []
    if base.commit is not None:
        with tree_at(base.top, base.commit) as tree:
            changes += _changes(specs, base, tree, touched.gone, progress)
            weaker += _weaker(requested, paths, specs, base, tree, touched.since)
    return Examination(
        base=base,
        count=touched.count,
        specs=tuple(specs),
        changes=tuple(changes),
        weaker=tuple(weaker),
        projects=tuple(_of_projects(requested)),
    )


class _Touched(Struct, frozen=True):
    """The specs that a change touches, each with its name before, and the names of those gone.

    `count` counts those that were looked among, without modules.
    """

    specs: tuple[tuple[Path, PurePosixPath | None], ...]
    count: int
    gone: tuple[PurePosixPath, ...] = ()
    since: ChangesSince | None = None


def _specs(paths: Sequence[Path]) -> list[Path]:
    """Return the specs that are looked among; a change may take the last one away."""
    return specs_under([path for path in paths if not path.is_dir() or specs_below(path)])


def _touched(paths: Sequence[Path], base: Base, *, everything: bool) -> _Touched:
    """Return the specs that read what was changed; without a base that is each."""
    if base.commit is None:
        count = sum(not _is_module(path) for path in paths)
        return _Touched(tuple((path, None) for path in paths), count)
    since = ChangesSince.of(base.top, base.commit)
    found, count = [], 0
    for path in paths:
        count += not _is_module(path)
        if everything or reads_any(path, since):
            before = since.name_before(path)
            is_inside = before is not None and before.is_relative_to(base.top)
            way = PurePosixPath(before.relative_to(base.top)) if before and is_inside else None
            found.append((path, way))
    gone = tuple(PurePosixPath(path_from(base.top, str(path))) for path in since.gone)
    return _Touched(tuple(found), count, gone, since)


def _is_module(path: Path) -> bool:
    spec = sound_spec(path)
    return spec is not None and spec.program.is_module


def _examined(one: tuple[Path, PurePosixPath | None], progress: Progress) -> SpecExamination:
    path, before = one
    progress.advance(0, path.name)
    tested = tested_specs([path], None, None, PROBABILITY)
    return SpecExamination(
        path=path,
        before=before,
        spec=sound_spec(path),
        found=tested.diagnostics,
        tested=tested,
        layout=first_difference(path),
    )


def _changes(
    specs: Sequence[SpecExamination],
    base: Base,
    tree: CommitTree,
    gone: Sequence[PurePosixPath],
    progress: Progress,
) -> Iterator[SpecChange]:
    for one in specs:
        progress.advance(0, one.path.name)
        known = KnownVersion(
            base=base.short,
            results=one.tested.results,
            unanswered=[d for d in one.found if d.is_error],
        )
        file = path_from(base.top, str(one.path))
        yield spec_change(one.spec, file, one.before, tree, known)
    yield from (removed_spec(was, tree, base.short) for was in gone)


def _weaker(
    requested: Sequence[Path],
    paths: Sequence[Path],
    specs: Sequence[SpecExamination],
    base: Base,
    tree: CommitTree,
    since: ChangesSince | None,
) -> Iterator[Finding]:
    """Yield what became weaker since the base, in specs and by what is no longer looked at."""
    if since is None:
        return
    roots = [resolved_path(path) for path in requested]
    listed = [
        way
        for way in sorted(tree.blobs)
        if way.suffix == ".qps" and any(_is_below(base.top / way, root) for root in roots)
    ]
    change = RevisionChange(
        tree=tree,
        base=base.short,
        since=since,
        touched=[Touched(file=o.path, before=o.before, spec=o.spec) for o in specs],
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


def place_findings(found: Examination) -> list[Finding]:
    """Return the findings at places, each thing once, whatever reads the file it is in."""
    top = found.base.top
    findings: dict[Finding, None] = dict.fromkeys(found.weaker)
    findings |= dict.fromkeys(
        of_diagnostic(one, top, path_from(top, OWN)) for one in found.projects
    )
    for one in found.specs:
        file = path_from(top, str(one.path))
        findings |= dict.fromkeys(of_diagnostic(each, top, file) for each in one.found)
        findings |= dict.fromkeys(of_faults(one.tested.wrong, top))
        findings |= dict.fromkeys(of_claims(one.tested.results, top))
        if one.layout is not None:
            findings[_layout(file, one.layout)] = None
    return list(findings)


def _layout(file: str, line: int) -> Finding:
    return Finding(
        level=Level.ERROR,
        code=LAYOUT,
        title="layout",
        message=phrase("command.not_formatted"),
        file=file,
        line=line,
        end_line=line,
    )
