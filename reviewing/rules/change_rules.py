"""All that a change makes weaker: in specs, by files that are gone or ignored, by project files.

The levels are those of the project file of the base or of the new one, whichever are stricter: who
proposes a change cannot lower them for it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from datetime import date
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path, PurePosixPath

from msgspec import Struct, field

from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.pipeline import Spec
from qps.compiler.project.exceptions import allowed_in, file_of
from qps.compiler.project.project_file import Project, project_of
from qps.compiler.project.project_location import OWN, SHARED
from qps.compiler.project.review_rules import BY_NAME, OFF, Level, stricter
from qps.compiler.syntax.importer import read_spec
from qps.links import resolved_path
from qps.reviewing.changed_files import ChangesSince
from qps.reviewing.findings import FAULT, Finding, path_from
from qps.reviewing.git_objects import CommitTree
from qps.reviewing.rules.condition_reader import ConditionReader
from qps.reviewing.rules.project_rules import comment_weakenings, project_weakenings
from qps.reviewing.rules.spec_rules import claimed_contents, spec_weakenings
from qps.reviewing.rules.weakening import Weakening

_COMPARISON_LIMITS, _LARGEST, _ALIKE = 1_000, 1_000_000, 0.5
"""Files looked at beside a spec that is gone, bytes of each, and the share of equal lines."""
_LONGEST = 20_000
"""Lines of a text in which a place is looked for: a longer one is reported as before."""


def _today() -> date:
    return date.today()  # noqa: DTZ011 - of where this runs


class Touched(Struct, frozen=True, kw_only=True):
    """A spec that a change touches: its file, its name before, and itself where it is sound."""

    file: Path
    before: PurePosixPath | None
    spec: Spec | None


class RevisionChange(Struct, frozen=True, kw_only=True, dict=True):
    """A change since a commit; paths of the commit are from the top of the repository.

    `listed_before` are the specs that the commit has where `qps ci` looks, `listed` those that it
    looks at now.
    """

    tree: CommitTree
    base: str
    since: ChangesSince
    touched: Sequence[Touched]
    listed_before: Sequence[PurePosixPath]
    listed: frozenset[Path]
    today: date = field(default_factory=_today)

    @property
    def top(self) -> Path:
        """The folder of the repository."""
        return self.tree.top

    @cached_property
    def moved_to(self) -> Mapping[PurePosixPath, PurePosixPath]:
        """What specs are called now that were renamed."""
        return {old: new for new, old in self.since.renamed.items()}

    def now(self, path: PurePosixPath) -> Path | None:
        """Return where a file of the commit is now, None where it is gone."""
        there = self.top / self.moved_to.get(path, path)
        return there if there.is_file() else None

    def project_before(self, folder: PurePosixPath) -> Project | None:
        """Return the project that counted for a folder."""
        for parent in (folder, *folder.parents):
            for name in (OWN, SHARED):
                self.tree.fetch(self.tree.folder / parent / name)
        return project_of(self.tree.folder / folder).value

    def path_of(self, file: Path) -> PurePosixPath | None:
        """Return the path in the commit of a file that was fetched of it."""
        if not file.is_relative_to(self.tree.folder):
            return None
        return PurePosixPath(file.relative_to(self.tree.folder).as_posix())


def change_findings(change: RevisionChange) -> Iterator[Finding]:
    """Yield what a change makes weaker, by the levels of the rules; each thing once."""
    seen: set[Hashable] = set()
    for own, one in _weakenings(change):
        finding = one if isinstance(one, Finding) else _finding(change, one, own)
        if finding is None:
            continue
        # A module is read by several specs, which may call what is in it by other names.
        is_own = own is None or finding.file == own
        key = (finding.code, finding.file, finding.line, finding.message if is_own else "")
        if key not in seen:
            seen.add(key)
            yield finding


_Found = tuple[str | None, Weakening | Finding]
"""What is found, with the spec that it is found in."""


def _weakenings(change: RevisionChange) -> Iterator[_Found]:
    pairs = []
    for one in change.touched:
        if one.before is not None and one.spec is not None and change.tree.has(one.before):
            old = _old_spec(change, one.before)
            if old is not None:
                pairs.append((one, old, one.spec))
    contents = _new_contents(change, pairs)
    read = {file for _, _, new in pairs if not new.program.is_module for file in new.files}
    for one, old, new in pairs:
        file = path_from(change.top, str(one.file))
        if new.program.is_module and resolved_path(one.file) in read:
            continue  # specs that read it report it
        try:
            found = [*spec_weakenings(old, new)]
        except (ArithmeticError, LookupError, TypeError, ValueError, QpsError) as error:
            yield file, _fault(file, error)
            continue
        for weakening in found:
            is_moved = bool(weakening.content) and weakening.content <= contents
            if not (weakening.rule == "claim-removed" and is_moved):
                yield file, weakening
    for weakening in (*_files(change, contents), *_projects(change), *_comments(change)):
        yield None, weakening


def _fault(file: str, error: Exception) -> Finding:
    message = f"internal error while looking for weaker checks: {type(error).__name__}: {error}"
    return Finding(
        level=Level.ERROR, code=FAULT, title="internal error of qps", message=message, file=file
    )


def _old_spec(change: RevisionChange, path: PurePosixPath) -> Spec | None:
    try:
        return change.tree.checked(path, f"{change.base}:{path.as_posix()}")[0].value
    except QpsError:
        return None


def _new_contents(
    change: RevisionChange, pairs: Sequence[tuple[Touched, Spec, Spec]]
) -> frozenset[Hashable]:
    """Return what specs claim now that they did not: what was moved there from another one."""
    before = {id(new): claimed_contents(ConditionReader(model=old.model)) for _, old, new in pairs}
    found: set[Hashable] = set()
    for one in change.touched:
        if one.spec is not None:
            own = claimed_contents(ConditionReader(model=one.spec.model))
            found |= own - before.get(id(one.spec), frozenset())
    return frozenset(found)


def _files(change: RevisionChange, contents: frozenset[Hashable]) -> Iterator[Weakening]:
    """Yield the specs that are gone, or no longer looked at."""
    for way in change.listed_before:
        project = change.project_before(way.parent)
        if project is not None and project.ignores(change.tree.folder / way):
            continue
        now = change.now(way)
        if now is not None and resolved_path(now) in change.listed:
            continue
        change.tree.fetch(change.tree.folder / way)
        now = now or _under_another_ending(change, way)
        source = read_spec(change.tree.folder / way).value
        if source is None:
            continue
        whole = Span(source, 0, min(1, len(source.text)))
        if now is not None:
            yield _ignored(change, way, now, whole)
            continue
        old = _old_spec(change, way)
        claimed = frozenset() if old is None else claimed_contents(ConditionReader(model=old.model))
        if old is not None and (claimed <= contents if claimed else old.program.is_module):
            continue
        count = 0 if old is None else sum(len(e.claims) for e in old.model.expectations)
        held = f", along with {count:,} claim{'s' * (count != 1)}" if count else ""
        message = f"spec {way.as_posix()} was removed{held}"
        yield Weakening(rule="spec-deleted", message=message, span=whole, is_before=True)


def _under_another_ending(change: RevisionChange, path: PurePosixPath) -> Path | None:
    """Return the file beside a spec that is gone which has its text, whatever it is called."""
    text = (change.tree.folder / path).read_bytes()
    folder = (change.top / path).parent
    if not folder.is_dir():
        return None
    for file in sorted(folder.iterdir())[:_COMPARISON_LIMITS]:
        own = PurePosixPath(file.relative_to(change.top).as_posix())
        is_new = own not in change.tree.blobs and file.suffix != ".qps"
        if is_new and file.is_file() and not file.is_symlink() and file.stat().st_size < _LARGEST:
            lines = text.split(b"\n"), file.read_bytes().split(b"\n")
            if SequenceMatcher(None, *lines, autojunk=False).quick_ratio() >= _ALIKE:
                return file
    return None


def _ignored(change: RevisionChange, path: PurePosixPath, now: Path, whole: Span) -> Weakening:
    """Return why a spec that is still there is no longer looked at."""
    called = path_from(change.top, str(now))
    moved = "" if called == path.as_posix() else f" as {called}"
    project = project_of(resolved_path(now.parent)).value
    if now.suffix != ".qps":
        message = (
            f"spec {path.as_posix()} still exists{moved}, but `{now.suffix}` files are not specs"
        )
    elif project is not None and project.ignores(now):
        message = f"spec {path.as_posix()} still exists{moved}, but `ignore` matches it"
        place = project.place("ignore")
        return Weakening(rule="spec-ignored", message=message, span=place, about=path.as_posix())
    else:
        message = f"spec {path.as_posix()} still exists{moved}, but `qps ci` does not check it"
    text = whole.source.text
    there = Span(Source(str(now), text, now.parent, now), 0, min(1, len(text)))
    return Weakening(rule="spec-ignored", message=message, span=there, about=path.as_posix())


def _projects(change: RevisionChange) -> Iterator[Weakening]:
    """Yield what the project files let pass now, those that count for specs of both versions."""

    def named(file: Path) -> Sequence[Path]:
        way = change.path_of(file)
        if way is None:
            return [file]
        return [change.top / one for one in dict.fromkeys((way, change.moved_to.get(way, way)))]

    there = [(way.parent, change.now(way)) for way in change.listed_before]
    folders = {(before, resolved_path(now.parent)) for before, now in there if now is not None}
    for path in change.listed:  # a spec that is new is held to what counted for its folder
        if path.parent.is_relative_to(change.top):
            own = PurePosixPath(path.parent.relative_to(change.top).as_posix())
            folders.add((own, path.parent))
    compared: set[tuple[Path | None, Path | None]] = set()
    for before, folder in sorted(folders):
        old = change.project_before(before)
        outcome = project_of(folder)
        if outcome.value is None and outcome.diagnostics:
            continue  # it is wrong, which is reported
        new = outcome.value
        files = (None if old is None else old.file, None if new is None else new.file)
        if files not in compared:
            compared.add(files)
            yield from project_weakenings(old, new, named)


def _comments(change: RevisionChange) -> Iterator[Weakening]:
    """Yield the comments that newly switch a warning off."""
    for way in change.listed_before:
        path = change.now(way)
        is_moved = way in change.moved_to
        if path is None or not (is_moved or change.since.touches(path)):
            continue
        change.tree.fetch(change.tree.folder / way)
        sources = [read_spec(one).value for one in (change.tree.folder / way, path)]
        if sources[0] is not None and sources[1] is not None:
            yield from comment_weakenings(allowed_in(sources[0]), allowed_in(sources[1]))


def _finding(change: RevisionChange, one: Weakening, spec: str | None) -> Finding | None:
    """Return a weakening at its place, None where its rule is off.

    What a project file accepts is a note, as a claim is that may fail.
    """
    source = one.span.source
    own = file_of(source)
    way = None if own is None or not one.is_before else change.path_of(own)
    line, _ = source.position(one.span.start)
    message = one.message
    if way is not None:
        now = change.now(way)
        file = way.as_posix() if now is None else path_from(change.top, str(now))
        if one.rule not in ("spec-deleted", "spec-ignored"):
            message = f"{message} (was at {way.as_posix()}:{line})"
        line = line if now is None else _line_now(source, line, now)
        end_line = line
    else:
        file = path_from(change.top, source.label if own is None else str(own))
        end_line, _ = source.position(max(one.span.start, one.span.end - 1))
    projects = _projects_of(change, file, way)
    usual = BY_NAME[one.rule].level.value
    level = stricter(*(usual if p is None else p.level(one.rule) for p in projects))
    if level == OFF:
        return None
    names = {file, one.about, spec, None if way is None else way.as_posix()}
    accepted = next(_accepted(change, one, projects, names), None)
    return Finding(
        level=Level(level) if accepted is None else Level.NOTE,
        code=one.rule,
        title=one.rule,
        message=message,
        file=file,
        line=line,
        end_line=end_line,
        accepted=accepted,
    )


def _accepted(
    change: RevisionChange,
    one: Weakening,
    projects: Sequence[Project | None],
    names: Collection[str | None],
) -> Iterator[str]:
    """Yield until when, and why, a project file accepts what a rule reports of a spec."""
    for project in projects:
        for entry in () if project is None else project.accepted:
            way = change.path_of(entry.file)
            file = path_from(change.top, str(entry.file)) if way is None else way.as_posix()
            is_meant = entry.rule == one.rule and entry.claim in ("", one.claim) and file in names
            if is_meant and change.today <= entry.until:
                yield f"accepted until {entry.until}: {entry.reason}"


def _line_now(source: Source, line: int, now: Path) -> int:
    """Return the line of a text where one of the old text stood that is gone."""
    read = read_spec(now).value
    if read is None:
        return 1
    before, after = source.text.split("\n"), read.text.split("\n")
    if max(len(before), len(after)) > _LONGEST:
        return min(line, len(after))
    for _, start, end, first, last in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if start <= line - 1 < end:
            at = first + (line - 1 - start) if last - first == end - start else first
            return max(1, min(at + 1, len(after)))
    return 1


def _projects_of(
    change: RevisionChange, file: str, place: PurePosixPath | None
) -> tuple[Project | None, Project | None]:
    """Return the project that counted for a file, and that which counts for it now."""
    path = change.top / file
    if place is None:
        place = change.since.renamed.get(PurePosixPath(file), PurePosixPath(file))
    new = project_of(resolved_path(path.parent)).value if path.parent.is_dir() else None
    return change.project_before(place.parent), new
