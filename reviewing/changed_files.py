"""What a change touches: the base that it is compared with, and the files that are not as there."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from qps.reviewing.git_objects import commit_of, git, is_shallow, refused, top_of

_SHORT = 10
"""Digits of a commit that are told."""
PARENT = "HEAD^"
_MEND = (
    "fetch all of it: `fetch-depth: 0` with actions/checkout, `GIT_DEPTH: 0` in GitLab, "
    "`git fetch --unshallow` elsewhere"
)


class Base(Struct, frozen=True, kw_only=True):
    """The commit that a change is compared with; None, with the reason `why` and the `mend`.

    `name` is what was asked for. Of a first commit there `is_none_needed`.
    """

    top: Path
    name: str
    commit: str | None
    why: str = ""
    mend: str = ""
    is_none_needed: bool = False

    @property
    def short(self) -> str:
        """The first digits of the commit."""
        return "" if self.commit is None else self.commit[:_SHORT]


def base_of(here: Path, asked: str | None, environment: Mapping[str, str] = os.environ) -> Base:
    """Return what to compare with: what is asked for, what CI tells, else the commit before.

    The work is compared with where it was begun from: what the base has got since is no part of
    it. QpsError where a revision that was asked for is none.
    """
    top = top_of(here)
    if top is None:
        raise refused("this is no git repository", "`qps check` and `qps test` need none")
    name = asked or _told(environment) or _pushed(top, environment) or PARENT
    commit = commit_of(top, name)
    if commit is None:
        return _without(top, name, asked)
    begun = git(top, "merge-base", commit, "HEAD")
    if begun is None and is_shallow(top):
        why = f"this clone has the last commits alone, not where the work on `{name}` was begun"
        return Base(top=top, name=name, commit=None, why=why, mend=_MEND)
    found = commit if begun is None else begun.decode().strip()
    return Base(top=top, name=name, commit=found)


def _told(environment: Mapping[str, str]) -> str | None:
    """Return the base that pre-commit tells of a push, GitHub or GitLab of a request to merge."""
    if pushed := environment.get("PRE_COMMIT_FROM_REF"):
        return pushed
    branch = environment.get("GITHUB_BASE_REF")
    return f"origin/{branch}" if branch else environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA")


def _pushed(top: Path, environment: Mapping[str, str]) -> str | None:
    """Return what GitHub or GitLab had before a push, None where git does not know it here.

    Of a branch that is new they tell zeros.
    """
    before: object = environment.get("CI_COMMIT_BEFORE_SHA")
    event = environment.get("GITHUB_EVENT_PATH")
    if event and environment.get("GITHUB_EVENT_NAME") == "push":
        try:
            before = json.loads(Path(event).read_text(encoding="utf-8")).get("before")
        except (OSError, ValueError, AttributeError):
            return None
    is_named = isinstance(before, str) and re.fullmatch("[0-9a-f]{40,64}", before)
    return str(before) if is_named and commit_of(top, str(before)) else None


def _without(top: Path, name: str, asked: str | None) -> Base:
    """Return that there is no base, and why."""
    if is_shallow(top):
        why = f"git knows no `{name}` here: this clone has the last commits alone"
        return Base(top=top, name=name, commit=None, why=why, mend=_MEND)
    if name == PARENT:
        why = "nothing was committed before: all is new"
        return Base(top=top, name=name, commit=None, why=why, is_none_needed=True)
    mend = "name a commit, branch or tag; in CI, fetch more than the last commit"
    if asked:
        raise refused(f"git knows no revision `{asked}` here", mend)
    return Base(top=top, name=name, commit=None, why=f"git knows no `{name}` here", mend=_MEND)


class Since(Struct, frozen=True):
    """A commit, and what was changed since: for each file the name that it had, None for none."""

    top: Path
    commit: str
    changed: Mapping[Path, Path | None]
    same: Mapping[tuple[int, int], Path]
    """Changed files by what the file system knows them by: it may not tell `A.qps` from `a.qps`."""

    @staticmethod
    def of(top: Path, commit: str) -> Since:
        """Return what is not as it was at a commit; files that git does not know yet are new."""
        # With NUL between names they stand as they are, whatever their letters.
        words = ("--name-status", "-z", "--find-renames", "--no-ext-diff", commit, "--")
        found = git(top, "diff", *words)
        others = git(top, "ls-files", "--others", "--exclude-standard", "-z")
        if found is None or others is None:
            raise refused("git cannot tell what was changed", "see what `git status` says")
        new = {top / os.fsdecode(name): None for name in others.split(b"\0") if name}
        changed = {**new, **dict(_changed(top, found.split(b"\0")))}
        there = ((_identity(path), path) for path in changed)
        return Since(top, commit, changed, {known: path for known, path in there if known})

    @property
    def gone(self) -> tuple[Path, ...]:
        """The specs that are no more, and were not renamed."""
        renamed = {old for new, old in self.changed.items() if old is not None and old != new}
        return tuple(
            sorted(
                path
                for path, old in self.changed.items()
                if old == path and path.suffix == ".qps" and path not in renamed
                if not path.exists()
            )
        )

    def name_before(self, path: Path) -> Path | None:
        """Return what a file was called, None where it was not there."""
        own = self._called(path)
        return self.changed.get(own, own)

    def touches(self, path: Path) -> bool:
        """Return whether a file is not as it was."""
        return self._called(path) in self.changed

    def _called(self, path: Path) -> Path:
        """Return a file as git calls it, where it was changed."""
        own = path.parent.resolve() / path.name
        known = None if own in self.changed else _identity(own)
        return own if known is None else self.same.get(known, own)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        about = path.lstat()
    except OSError:
        return None
    return (about.st_dev, about.st_ino) if stat.S_ISREG(about.st_mode) else None


def _changed(top: Path, words: Sequence[bytes]) -> Iterator[tuple[Path, Path | None]]:
    """Yield what `git diff --name-status -z` tells: files as they are called now, and before."""
    left = iter(words)
    for status in left:
        if not status:
            return
        path = top / os.fsdecode(next(left))
        if status[:1] in b"RC":
            yield top / os.fsdecode(next(left)), path
            if status[:1] == b"R":
                yield path, path
        else:
            yield path, None if status == b"A" else path
