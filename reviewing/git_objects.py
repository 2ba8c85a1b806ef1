"""What git has: its commands, and the files of a commit, fetched as they are asked for."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from shlex import quote
from tempfile import TemporaryDirectory
from typing import IO

from msgspec import Struct

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Outcome, QpsError, Sink
from qps.compiler.diagnostics.source import Source
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.pipeline import Spec, check_source, importer_of
from qps.compiler.project import project_file
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import Importer, read_spec

LONGEST = 60.0
"""Seconds that git may take."""
_LARGEST = 8_000_001
"""Bytes of a file that are fetched: the importer refuses what is larger, and tells so."""
_LINK, _FILES = "120000", ("100644", "100755")
_SHORT = 10

_ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # what it refuses is told apart by its words
}


def refused(message: str, hint: str) -> QpsError:
    """Return the error for what git, or who asked, cannot give."""
    return QpsError.single(codes.COMMAND_LINE, None, message, hint=hint)


def git(folder: Path, *arguments: str, longest: float = LONGEST) -> bytes | None:
    """Return what git prints, None where it refuses; QpsError where it takes so many seconds."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no argument that git takes for a flag
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git
            capture_output=True,
            timeout=longest,
            env=os.environ | _ENVIRONMENT,
            check=False,
        )
    except FileNotFoundError as error:
        hint = "install git; two files can be compared without: `qps diff OLD NEW`"
        raise refused("there is no git here", hint) from error
    except subprocess.TimeoutExpired as error:
        raise refused("git takes too long", "name two files") from error
    if done.returncode and b"dubious ownership" in done.stderr:
        raise refused(
            "git reads no repository that belongs to somebody else",
            f"if you trust it: `git config --global --add safe.directory {_top(done.stderr)}`",
        )
    return done.stdout if done.returncode == 0 else None


def _top(told: bytes) -> str:
    """Return the folder that git names, as a shell takes it."""
    found = re.search(rb"repository at '(.*)'", told)
    return quote(os.fsdecode(found[1])) if found else "FOLDER"


def top_of(folder: Path, longest: float = LONGEST) -> Path | None:
    """Return the folder of the repository that a folder lies in, None where it is in none."""
    found = git(folder, "rev-parse", "--show-toplevel", longest=longest)
    return None if found is None else Path(os.fsdecode(found).rstrip("\n")).resolve()


def commit_of(folder: Path, revision: str) -> str | None:
    """Return the commit that a revision names, None where git knows none."""
    named = f"{revision}^{{commit}}"
    found = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", named)
    return None if found is None else found.decode().strip()


def is_shallow(folder: Path) -> bool:
    """Return whether a clone has the last commits alone."""
    found = git(folder, "rev-parse", "--is-shallow-repository")
    return found is not None and found.strip() == b"true"


class Tree(Struct, frozen=True, kw_only=True):
    """The files of a commit, below a `folder` that holds those that were fetched."""

    top: Path
    commit: str
    folder: Path
    blobs: Mapping[PurePosixPath, str]
    reader: subprocess.Popen[bytes]

    def has(self, path: PurePosixPath) -> bool:
        """Return whether the commit has a file of this path from the top, links followed."""
        own = (self.folder / path).resolve()
        if not own.is_relative_to(self.folder):
            return False
        return PurePosixPath(own.relative_to(self.folder).as_posix()) in self.blobs

    def fetch(self, path: Path) -> None:
        """Put a file of the commit into the folder, by its path there with links followed."""
        if not path.is_relative_to(self.folder) or path.exists():
            return
        name = self.blobs.get(PurePosixPath(path.relative_to(self.folder).as_posix()))
        if name is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("xb")
        except OSError as error:  # a name that this system cannot have, such as `a:b.qps`
            told = shortened(f"{self.commit[:_SHORT]}:{path.relative_to(self.folder).as_posix()}")
            raise refused(
                f"`{told}` cannot be written here: {error.strerror or error}",
                "compare it where such names can be, or see to the room for temporary files",
            ) from error
        with file:
            _copied(name, self.reader, file)

    def checked(self, path: PurePosixPath, label: str) -> tuple[Outcome[Spec], frozenset[Path]]:
        """Check a spec as the commit has it; return also the files that it names, from the top."""
        for parent in path.parents:
            for name in (project_file.OWN, project_file.SHARED):
                self.fetch(self.folder / parent / name)
        file = (self.folder / path).resolve()
        self.fetch(file)
        read = read_spec(file)
        if read.value is None:
            return Outcome(None, read.diagnostics), frozenset()
        source = Source(label, read.value.text, file.parent, file)
        reads = importer_of(source)
        importer = _Fetching(root=reads.root, of_what=reads.of_what, tree=self)
        outcome = check_source(source, importer)
        project = project_file.project_file(file.parent)
        named = [file, *importer.named, *([] if project is None else [project])]
        return outcome, frozenset(one.relative_to(self.folder) for one in named)


class _Fetching(Importer, frozen=True, eq=False, kw_only=True):
    """Reads as others do; what a commit has is fetched before."""

    tree: Tree

    def _inside(self, file: ast.Text, importing: Source, sink: Sink) -> Path | None:
        path = super()._inside(file, importing, sink)
        if path is not None:
            self.tree.fetch(path)
        return path


@contextmanager
def tree_at(top: Path, commit: str) -> Iterator[Tree]:
    """Give the files of a commit as long as the context is open."""
    listed = git(top, "ls-tree", "-r", "-z", "--full-tree", commit)
    if listed is None:
        raise refused(
            f"git cannot read the files of {commit[:_SHORT]}",
            "fetch all of it: of a shallow or partial clone parts are missing (`fetch-depth: 0`)",
        )
    with TemporaryDirectory(prefix="qps-") as name, _reader(top) as reader:
        folder = Path(name).resolve()
        (folder / ".git").mkdir()  # nobody looks for a project file above this folder
        blobs: dict[PurePosixPath, str] = {}
        links: list[tuple[PurePosixPath, str]] = []
        for entry in listed.split(b"\0"):
            about, _, path = entry.partition(b"\t")
            mode, kind, *names = os.fsdecode(about).split() or ("", "")
            way = PurePosixPath(os.fsdecode(path))
            if kind != "blob" or ".." in way.parts or way.is_absolute() or not way.parts:
                continue
            if mode == _LINK:
                links.append((way, names[0]))
            elif mode in _FILES:
                blobs[way] = names[0]
        tree = Tree(top=top, commit=commit, folder=folder, blobs=blobs, reader=reader)
        for way, blob in links:
            _link(tree, way, blob)
        yield tree


def _link(tree: Tree, way: PurePosixPath, blob: str) -> None:
    """Make a link as the commit has it; where it leads, the importer looks."""
    target = bytearray()
    _copied(blob, tree.reader, target)
    path = tree.folder / way
    if not path.parent.resolve().is_relative_to(tree.folder) or not target or b"\0" in target:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(os.fsdecode(bytes(target)))
    except OSError:
        return  # as if it were not there: a system without links has none


@contextmanager
def _reader(top: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Give what tells the content of objects by their names."""
    started = subprocess.Popen(  # noqa: S603 - no shell
        ["git", "-C", str(top), "cat-file", "--batch"],  # noqa: S607 - the user's own git
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | _ENVIRONMENT,
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def _copied(name: str, reader: subprocess.Popen[bytes], target: IO[bytes] | bytearray) -> None:
    """Write what an object holds, as far as anybody reads it."""
    assert reader.stdin is not None
    assert reader.stdout is not None
    reader.stdin.write(name.encode() + b"\n")
    reader.stdin.flush()
    head = reader.stdout.readline().split()
    if len(head) != _HEAD or not head[2].isdigit():
        raise refused(
            f"git has no object {shortened(name)}",
            "fetch all of it: of a partial clone parts are missing",
        )
    left, kept = int(head[2]), _LARGEST
    while left > 0:
        piece = reader.stdout.read(min(left, 1 << 20))
        if not piece:
            break
        left -= len(piece)
        if kept > 0 and isinstance(target, bytearray):
            target += piece[:kept]
        elif kept > 0 and not isinstance(target, bytearray):
            target.write(piece[:kept])
        kept -= len(piece)
    reader.stdout.read(1)


_HEAD = 3
"""Words before an object: its name, kind and size."""
