"""What git has: the files of a commit, fetched as they are requested."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from msgspec import Struct, field

from qps.compiler.diagnostics.diagnostic import Outcome, Sink
from qps.compiler.diagnostics.source import Source
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.pipeline import Spec, check_source, importer_of
from qps.compiler.project.project_location import OWN, SHARED, project_file
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import Importer, read_spec
from qps.links import real_path, resolved_path
from qps.reviewing.git_command import conversation, failure, refused
from qps.reviewing.repository import git, repository_at
from qps.supervised_processes import ExitStatus, ExternalProgram

_LARGEST = 8_000_001
"""Bytes of a file that are fetched: the importer refuses what is larger, and says so."""
_LARGEST_AT_WORK = 100_000_000
_LINK, _FILES = "120000", ("100644", "100755")
_SHORT = 10


class Blob(Struct, frozen=True):
    """What a commit has at a path: the name of its content, and whether that is a link's target."""

    name: str
    is_link: bool

    def is_in(self, file: Path) -> bool:
        """Return whether a file holds this: as it is, or with the line ends that git keeps."""
        try:
            if file.is_symlink():
                return self.is_link and _name_of(os.fsencode(file.readlink()), self.name)
        except OSError:
            return False
        # Where a system has no links, what they lead to stands in files.
        content = None if self.is_link and os.name != "nt" else content_of(file)
        if content is None:
            return False
        return any(_name_of(form, self.name) for form in (content, content.replace(b"\r\n", b"\n")))


def content_of(file: Path) -> bytes | None:
    """Return what an ordinary file holds; None for a link, and for what nobody may or can read."""
    try:
        about = file.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST_AT_WORK:
            return None
        return file.read_bytes()
    except OSError:
        return None


def _name_of(content: bytes, name: str) -> bool:
    """Return whether git calls a content so."""
    kind = hashlib.sha256 if len(name) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    return kind(b"blob %d\0" % len(content) + content).hexdigest() == name


def blobs_of(top: Path, commit: str, *paths: str) -> dict[PurePosixPath, Blob]:
    """Return the files of a commit by their paths from the top: of `paths`, where some are named.

    Files of other repositories (submodules) are none. QpsError where git cannot read the commit.
    """
    listed = git(top, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths)
    if listed is None:
        raise refused(
            f"git cannot read the files of {commit[:_SHORT]}",
            "fetch the full history: a shallow or partial clone lacks parts (`fetch-depth: 0`)",
        )
    found = {}
    for entry in listed.split(b"\0"):
        about, _, path = entry.partition(b"\t")
        mode, kind, *names = os.fsdecode(about).split() or ("", "")
        way = PurePosixPath(os.fsdecode(path))
        is_inside = ".." not in way.parts and not way.is_absolute() and way.parts
        if kind == "blob" and is_inside and mode in (_LINK, *_FILES):
            found[way] = Blob(names[0], mode == _LINK)
    return found


class CommitTree(Struct, frozen=True, kw_only=True):
    """The files of a commit, below a `folder` that holds those that were fetched."""

    top: Path
    commit: str
    folder: Path
    blobs: Mapping[PurePosixPath, str]
    reader: ExternalProgram
    _specs: dict[tuple[PurePosixPath, str], tuple[Outcome[Spec], frozenset[Path]]] = field(
        default_factory=dict
    )

    def has(self, path: PurePosixPath) -> bool:
        """Return whether the commit has a file of this path from the top, links followed."""
        own = real_path(self.folder / path)
        if own is None or not own.is_relative_to(self.folder):
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
            address = shortened(
                f"{self.commit[:_SHORT]}:{path.relative_to(self.folder).as_posix()}"
            )
            raise refused(
                f"`{address}` cannot be written here: {error.strerror or error}",
                "use a file system that allows such names, or free space for temporary files",
            ) from error
        with file:
            _copied(name, self.reader, file)

    def checked(self, path: PurePosixPath, label: str) -> tuple[Outcome[Spec], frozenset[Path]]:
        """Check a spec as the commit has it, once; return also the files that it names.

        These are paths from the top.
        """
        if (path, label) not in self._specs:
            self._specs[path, label] = self._check(path, label)
        return self._specs[path, label]

    def _check(self, path: PurePosixPath, label: str) -> tuple[Outcome[Spec], frozenset[Path]]:
        for parent in path.parents:
            for name in (OWN, SHARED):
                self.fetch(self.folder / parent / name)
        file = resolved_path(self.folder / path)
        self.fetch(file)
        read = read_spec(file)
        if read.value is None:
            return Outcome(None, read.diagnostics), frozenset()
        source = Source(label, read.value.text, file.parent, file)
        reads = importer_of(source)
        importer = _Fetching(root=reads.root, of_what=reads.of_what, tree=self)
        outcome = check_source(source, importer)
        project = project_file(file.parent)
        named = [file, *importer.named, *([] if project is None else [project])]
        return outcome, frozenset(one.relative_to(self.folder) for one in named)


class _Fetching(Importer, frozen=True, eq=False, kw_only=True):
    """Reads as others do; what a commit has is fetched before."""

    tree: CommitTree

    def _inside(self, file: ast.Text, importing: Source, sink: Sink) -> Path | None:
        path = super()._inside(file, importing, sink)
        if path is not None:
            self.tree.fetch(path)
        return path


@contextmanager
def tree_at(top: Path, commit: str) -> Iterator[CommitTree]:
    """Give the files of a commit as long as the context is open."""
    listed = blobs_of(top, commit)
    process = conversation(repository_at(top), "cat-file", "--batch")
    with TemporaryDirectory(prefix="qps-") as name, process as reader:
        folder = resolved_path(Path(name))
        (folder / ".git").mkdir()  # nobody looks for a project file above this folder
        blobs = {way: blob.name for way, blob in listed.items() if not blob.is_link}
        tree = CommitTree(top=top, commit=commit, folder=folder, blobs=blobs, reader=reader)
        for way, blob in listed.items():
            if blob.is_link:
                _link(tree, way, blob.name)
        yield tree


def _link(tree: CommitTree, place: PurePosixPath, blob: str) -> None:
    """Make a link as the commit has it; where it leads, the importer looks."""
    content = BytesIO()
    _copied(blob, tree.reader, content)
    target = content.getvalue()
    path = tree.folder / place
    parent = real_path(path.parent)
    is_inside = parent is not None and parent.is_relative_to(tree.folder)
    if not is_inside or not target or b"\0" in target:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(os.fsdecode(target))
    except OSError:
        return  # as if it were not there: a system without links has none


def _copied(name: str, reader: ExternalProgram, target: IO[bytes]) -> None:
    """Write what an object holds, as far as anybody reads it."""
    with reader.time_limit():  # it may wait for what never comes, such as a pipe's end
        if _is_copied(name, reader, target):
            return
        ending = reader.ending()
    if isinstance(ending, ExitStatus):
        raise refused(f"git cannot read the object {shortened(name)}", "run `git fsck`")
    raise failure(ending)


def _is_copied(name: str, reader: ExternalProgram, target: IO[bytes]) -> bool:
    """Write what an object holds; False where git ends meanwhile."""
    try:
        reader.stdin.write(name.encode() + b"\n")
        reader.stdin.flush()
    except BrokenPipeError:
        return False
    head = reader.stdout.readline().split()
    if not head:
        return False
    if len(head) != _HEAD or not head[2].isdigit():
        raise refused(
            f"git has no object {shortened(name)}",
            "fetch the full history: a partial clone lacks parts",
        )
    left, remaining = int(head[2]), _LARGEST
    while left > 0:
        piece = reader.stdout.read(min(left, 1 << 20))
        if not piece:
            return False
        left -= len(piece)
        target.write(piece[:remaining])
        remaining = max(0, remaining - len(piece))
    return bool(reader.stdout.read(1))


_HEAD = 3
"""Words before an object: its name, kind and size."""
