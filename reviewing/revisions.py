"""The revisions of a repository that move a spec: along first parents, through renames.

A spec is read at a revision, with what it reads there; older revisions are the same as long as they
change none of these files. So only revisions that may move the answer are read at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from qps.compiler.diagnostics.diagnostic import Outcome, QpsError
from qps.compiler.pipeline import Spec
from qps.compiler.project.project_location import OWN, SHARED
from qps.reports.text.words.phrases import phrase
from qps.reviewing.git_command import refused
from qps.reviewing.git_objects import tree_at
from qps.reviewing.history_view import History, Point, RevisionState
from qps.reviewing.repository import commit_of, git
from qps.reviewing.spec_answers import headline_of
from qps.solver.answers.solution import SolverFault

_FORMAT = "%x01%H%x02%cs%x02%s"
_STEP = 500
MOST_COMMITS = 20_000
"""Commits that are looked at, whether they move the spec or not."""
_SHORT = 10


class _Commit(Struct, frozen=True, kw_only=True):
    """A commit, and the files that it changes, each with its name before: None for a new one."""

    name: str
    day: str
    subject: str
    changed: dict[PurePosixPath, PurePosixPath | None]


def history(top: Path, path: PurePosixPath, since: str, most: int) -> History:
    """Return what a spec answered at the newest `most` revisions that may have moved it.

    `path` is its path from the `top` at the revision `since`, from which it goes back.
    QpsError where that is no revision, or had no such spec.
    """
    commit = commit_of(top, since)
    if commit is None:
        raise refused(f"unknown git revision `{since}`", "name a commit, branch or tag")
    walk = _CommitHistory(top=top, name=path)
    points: list[Point] = []
    is_whole = True
    for found in _commits(top, commit):
        if len(points) == most:
            is_whole = False
            break
        point = walk.point(found)
        if point is not None:
            points.append(point)
        if walk.is_over:
            break
    else:
        is_whole = walk.count < MOST_COMMITS
    if not points and walk.is_over:
        where = phrase("review.shows_where", path=path)
        raise refused(f"`{path}` does not exist at `{since}`", where)
    return History(
        schema="qps/history/2",
        file=path.as_posix(),
        population=walk.population,
        is_whole=is_whole,
        points=tuple(reversed(points)),
    )


class _CommitHistory(Struct, kw_only=True):
    """Goes back from commit to commit; `name` is what the spec is called where it stands."""

    top: Path
    name: PurePosixPath
    population: str = "users"
    count: int = 0
    is_over: bool = False
    _read: frozenset[PurePosixPath] | None = None
    _answer: _Answer | None = None

    def point(self, commit: _Commit) -> Point | None:
        """Return what the spec answers since a commit, None where that did not change it."""
        self.count += 1
        if self._read is None and not self._look(commit):
            self.is_over = True
            return None
        assert self._read is not None
        touched = self._read.intersection(commit.changed) or any(
            path.name in (OWN, SHARED) and path.parent in self.name.parents
            for path in commit.changed
        )
        if not touched:
            return None
        answer, name = self._answer, self.name
        assert answer is not None
        before = commit.changed.get(name, name)
        self.is_over = before is None
        self.name = before or name
        self._read = self._answer = None
        return Point(
            commit=commit.name,
            day=commit.day,
            subject=commit.subject,
            file=name.as_posix(),
            state=answer.state,
            users=answer.users,
            nominal_users=answer.nominal_users,
            confidence=answer.confidence,
            limited_by=answer.limited_by,
            reason=answer.reason,
        )

    def _look(self, commit: _Commit) -> bool:
        """Read the spec as a commit has it; False where it has none."""
        with tree_at(self.top, commit.name) as tree:
            if not tree.has(self.name):
                return False
            outcome, named = tree.checked(self.name, f"{commit.name[:_SHORT]}:{self.name}")
            self._read = frozenset({self.name, *map(PurePosixPath, named)})
            self._answer = _answer(outcome)
            if outcome.value is not None and not outcome.value.program.is_module:
                self.population = outcome.value.model.population.name
        return True


class _Answer(Struct, frozen=True, kw_only=True):
    """What a spec answers, or why it does not."""

    state: RevisionState
    users: int | None = None
    nominal_users: int | None = None
    confidence: float | None = None
    limited_by: str | None = None
    reason: str | None = None


def _answer(outcome: Outcome[Spec]) -> _Answer:
    spec = outcome.value
    if spec is None:
        return _Answer(state=RevisionState.MISTAKES, reason=outcome.diagnostics[0].message)
    if spec.program.is_module:
        return _Answer(state=RevisionState.MODULE)
    try:
        found = headline_of(spec)
    except QpsError as error:
        return _Answer(state=RevisionState.NO_ANSWER, reason=error.diagnostics[0].message)
    except (SolverFault, ArithmeticError, LookupError, TypeError, ValueError) as error:
        reason = phrase("term.internal_error", name=type(error).__name__, error=error)
        return _Answer(state=RevisionState.NO_ANSWER, reason=reason)
    return _Answer(
        state=RevisionState.ANSWERS,
        users=found.capacity,
        nominal_users=found.nominal_capacity,
        confidence=found.confidence,
        limited_by=found.limited_by,
    )


def _commits(top: Path, commit: str) -> Iterator[_Commit]:
    """Yield commits with what they change, the newest first, along first parents."""
    for skipped in range(0, MOST_COMMITS, _STEP):
        found = git(
            top,
            "log",
            "--first-parent",
            "--diff-merges=first-parent",
            "--name-status",
            "--find-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-mailmap",
            "--no-show-signature",
            "-z",
            f"--format={_FORMAT}",
            f"--skip={skipped}",
            f"--max-count={_STEP}",
            commit,
            "--",
        )
        if found is None:
            raise refused(
                f"git cannot read the history of {commit[:_SHORT]}",
                "run `git fsck`; a shallow or partial clone lacks parts",
            )
        if not found:
            return
        yield from _parsed(found)


def _parsed(log: bytes) -> Iterator[_Commit]:
    """Yield the records of `git log -z --name-status`; names are counted, never guessed at."""
    words = iter(log.split(b"\0"))
    head: bytes | None = None
    changed: dict[PurePosixPath, PurePosixPath | None] = {}
    for word in words:
        message = word.lstrip(b"\n")
        if message.startswith(b"\x01") or not message:
            if head is not None and message:
                yield _commit(head, changed)
            head, changed = (message, {}) if message else (head, changed)
            continue
        path = PurePosixPath(os.fsdecode(next(words)))
        if message[:1] in b"RC":
            changed[PurePosixPath(os.fsdecode(next(words)))] = path
            if message[:1] == b"R":
                changed[path] = path
        else:
            changed[path] = None if message[:1] == b"A" else path
    if head is not None:
        yield _commit(head, changed)


def _commit(head: bytes, changed: dict[PurePosixPath, PurePosixPath | None]) -> _Commit:
    name, day, subject = head[1:].decode("utf-8", "replace").split("\x02", 2)
    return _Commit(name=name, day=day, subject=subject, changed=changed)
