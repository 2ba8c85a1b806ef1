"""A spec as a file, or as git has it at some revision (`main:specs/app.qps`)."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from qps.commands.console import complain
from qps.commands.kept_specs import load
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, check_source
from qps.compiler.syntax.importer import read_spec

_LONGEST = 60.0
"""Seconds that git may take."""


@contextmanager
def spec_at(argument: str) -> Iterator[Spec]:
    """Give a checked spec; the files that it names may be read as long as the context is open.

    QpsError where there is no such file or revision, or where the spec has mistakes.
    """
    revision, colon, name = argument.partition(":")
    if Path(argument).exists() or not colon:
        yield load(Path(argument))
        return
    with TemporaryDirectory(prefix="qps-") as folder:
        _extract(revision, Path(name), Path(folder))
        read = read_spec(Path(folder) / Path(name).name)
        if read.value is None:
            raise QpsError(read.diagnostics)
        source = Source(argument, read.value.text, Path(folder).resolve())
        outcome = check_source(source)
        if outcome.value is None:
            raise QpsError(outcome.diagnostics)
        yield outcome.value


def _extract(revision: str, file: Path, target: Path) -> None:
    """Put the folder of a file, as it was at a revision, into a folder."""
    folder = file.parent if file.parent.is_dir() else _nearest(file.parent)
    commit = git(
        folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    if commit is None:
        raise complain(
            f"git knows no revision `{revision}` here",
            "name a commit, branch or tag: `main:specs/app.qps`; a file is named without a colon",
        )
    top = top_of(folder)
    assert top is not None
    parent = file.parent.resolve()
    way = parent.relative_to(top).as_posix() if parent.is_relative_to(top) else "."
    tree = commit.decode().strip() + ("" if way == "." else f":{way}")
    # From the top: elsewhere git archives only what lies below.
    archive = git(top, "archive", "--format=tar", tree)
    if archive is None or file.name not in _names(archive):
        raise complain(
            f"there was no `{file}` at `{revision}`", f"`git log -- {file}` tells where it was"
        )
    with tarfile.open(fileobj=io.BytesIO(archive)) as held:
        held.extractall(target, filter="data")


def _names(archive: bytes) -> frozenset[str]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as held:
        return frozenset(held.getnames())


def _nearest(folder: Path) -> Path:
    """Return the nearest folder that is there: the one that is meant may exist no longer."""
    return next(parent for parent in folder.resolve().parents if parent.is_dir())


def top_of(folder: Path, longest: float = _LONGEST) -> Path | None:
    """Return the folder of the repository that a folder lies in, None where it is in none."""
    found = git(folder, "rev-parse", "--show-toplevel", longest=longest)
    return None if found is None else Path(os.fsdecode(found).rstrip("\n")).resolve()


def git(folder: Path, *arguments: str, longest: float = _LONGEST) -> bytes | None:
    """Return what git prints, None where it refuses; QpsError where it takes so many seconds."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no argument that git takes for a flag
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git
            capture_output=True,
            timeout=longest,
            env=os.environ | {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"},
            check=False,
        )
    except FileNotFoundError as error:
        raise complain("there is no git here", "name two files, or install git") from error
    except subprocess.TimeoutExpired as error:
        raise complain("git takes too long", "name two files") from error
    return done.stdout if done.returncode == 0 else None
