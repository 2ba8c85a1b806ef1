"""What was changed since a commit: the files at work that are not as there, by their content.

Git would find it by its index and through what attributes name: the one may say that a file is as
before, the other runs programs. So files are compared by the names of their contents.
"""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from msgspec import Struct

from qps.links import real_path, resolved_path
from qps.reviewing.git_command import refused, run_git
from qps.reviewing.git_objects import Blob, blobs_of, content_of
from qps.reviewing.repository import git, repository_at

_IS_ABSENT, _IS_NEW = b"S", b"?"
"""How git marks a file that a sparse checkout leaves out, and one that is untracked."""
_MOST_RENAMES = 1_000
"""Specs that are gone, and new ones, among which the same are looked for."""


class ChangesSince(Struct, frozen=True, kw_only=True):
    """A commit, and what is not as it was there.

    `blobs` are its files; `ignored` the files and folders at work that git is to leave alone;
    `renamed` the specs that are called otherwise now, each with its name before; `gone` the specs
    that are no more.
    """

    top: Path
    commit: str
    blobs: Mapping[PurePosixPath, Blob]
    ignored: frozenset[PurePosixPath]
    renamed: Mapping[PurePosixPath, PurePosixPath]
    gone: tuple[Path, ...]
    _alike: Mapping[str, list[PurePosixPath]]

    @staticmethod
    def of(top: Path, commit: str) -> ChangesSince:
        """Return what is not as it was at a commit; files that git does not know yet are new."""
        blobs = blobs_of(top, commit)
        known = git(top, "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")
        words = ("--others", "--ignored", "--exclude-standard", "--directory")
        ignored = git(top, "ls-files", "-z", *words)
        if known is None or ignored is None:
            raise refused("git cannot list the changed files", "run `git status` for the reason")
        absent = {way for mark, way in _marked(known) if mark == _IS_ABSENT}
        specs = {way for way in blobs if way.suffix == ".qps" and way not in absent}
        gone = {way for way in specs if not os.path.lexists(top / way)}
        renamed: dict[PurePosixPath, PurePosixPath] = {}
        for is_new_to_git in (False, True):  # what git tracks goes first
            new = {
                way
                for mark, way in _marked(known)
                if way.suffix == ".qps" and way not in blobs and (mark == _IS_NEW) is is_new_to_git
            }
            left = gone.difference(renamed.values())
            renamed |= _renamed(top, {way: blobs[way] for way in left}, new)
        alike = defaultdict(list)
        for way in blobs:
            alike[_without_case(way)].append(way)
        return ChangesSince(
            top=top,
            commit=commit,
            blobs=blobs,
            ignored=frozenset(PurePosixPath(os.fsdecode(n)) for n in ignored.split(b"\0") if n),
            renamed=renamed,
            gone=tuple(sorted(top / way for way in gone - set(renamed.values()))),
            _alike=dict(alike),
        )

    def name_before(self, path: Path) -> Path | None:
        """Return what a file was called, None where it was not there."""
        way = self._git_path(path)
        if way is None:
            return resolved_path(path.parent) / path.name
        before = way if way in self.blobs else self.renamed.get(way)
        return None if before is None else self.top / before

    def touches(self, path: Path) -> bool:
        """Return whether a file is not as it was; nobody knows what was elsewhere."""
        way = self._git_path(path)
        if way is None:
            return True
        blob = self.blobs.get(way)
        if blob is not None:
            return not blob.is_in(self.top / way)
        return not any(one in self.ignored for one in (way, *way.parents))

    def _git_path(self, path: Path) -> PurePosixPath | None:
        """Return the path of a file from the top as git has it, None where it lies elsewhere.

        File systems may not distinguish `A.qps` from `a.qps`, or one way to write an accent from
        another.
        """
        parent = real_path(path.parent)
        if parent is None or not parent.is_relative_to(self.top):
            return None
        way = PurePosixPath((parent / path.name).relative_to(self.top).as_posix())
        if way in self.blobs:
            return way
        others = self._alike.get(_without_case(way), ())
        return next((one for one in others if _are_one(self.top / one, self.top / way)), way)


def is_committed(top: Path, commit: str) -> bool:
    """Return whether all that specs are read from is as it was at a commit."""
    read = (way for way in blobs_of(top, commit).items() if way[0].suffix in _READ)
    return all(blob.is_in(top / way) for way, blob in read)


_READ = (".csv", ".qps", ".toml")


def _without_case(path: PurePosixPath) -> str:
    return unicodedata.normalize("NFC", path.as_posix()).casefold()


def _are_one(one: Path, other: Path) -> bool:
    try:
        return os.path.samestat(one.lstat(), other.lstat())
    except OSError:
        return False


def _marked(listed: bytes) -> Iterator[tuple[bytes, PurePosixPath]]:
    """Yield what `git ls-files -t -z` lists: how each file is marked, and its path."""
    for entry in listed.split(b"\0"):
        mark, _, name = entry.partition(b" ")
        way = PurePosixPath(os.fsdecode(name))
        if name and ".." not in way.parts and not way.is_absolute():
            yield mark, way


def _renamed(
    top: Path, gone: Mapping[PurePosixPath, Blob], new: Collection[PurePosixPath]
) -> dict[PurePosixPath, PurePosixPath]:
    """Return which new specs are old ones under another name, as git finds it in their contents.

    None are where git cannot compare them, as of a partial clone.
    """
    contents = {way: content_of(top / way) for way in sorted(new)}
    there = [way for way, content in contents.items() if content is not None]
    before = {way: blob.name for way, blob in gone.items() if not blob.is_link}
    if not there or not before or max(len(there), len(before)) > _MOST_RENAMES:
        return {}
    repository = repository_at(top)
    with TemporaryDirectory(prefix="qps-") as name, suppress(_UnknownError):
        scratch = resolved_path(Path(name))

        def objects_of(*arguments: str, request: bytes = b"") -> bytes:
            found = run_git(repository, *arguments, standard_input=request, scratch=scratch).stdout
            if found is None:
                raise _UnknownError
            return found

        def tree(names: Mapping[PurePosixPath, str]) -> str:
            entries = (
                b"100644 %s\t%s\0" % (blob.encode(), os.fsencode(way.as_posix()))
                for way, blob in names.items()
            )
            (scratch / "index").unlink(missing_ok=True)
            objects_of("update-index", "-z", "--index-info", request=b"".join(entries))
            return objects_of("write-tree", "--missing-ok").decode().strip()

        copies = scratch / "copies"
        copies.mkdir()
        listed = []
        for number, way in enumerate(there):
            content = contents[way] or b""
            (copies / str(number)).write_bytes(content.replace(b"\r\n", b"\n"))
            listed.append(os.fsencode(copies / str(number)) + b"\n")
        names = objects_of(
            "hash-object", "-w", "--no-filters", "--stdin-paths", request=b"".join(listed)
        )
        now = dict(zip(there, names.decode().split(), strict=True))
        words = ("-r", "-z", "--name-status", "--find-renames", "--diff-filter=R")
        found = objects_of("diff-tree", *words, tree(before), tree(now)).split(b"\0")
        ways = [PurePosixPath(os.fsdecode(one)) for one in found]
        return dict(zip(ways[2::3], ways[1::3], strict=False))
    return {}


class _UnknownError(Exception):
    """Raised where git does not report something that is done without."""
