"""What a change touches: the files that are not as they were at a commit."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from qps.reviewing.git_objects import git, refused


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
