"""Runs of matrices that have ended: what was requested of them, and the file that they wrote.

`--resume` of such a run solves nothing again, and compiles nothing either: the request is
identified by the checksums of all that the spec was read from, and the file by a checksum of its
own. One that was changed since, by a bit or by another run, is written anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from qps.build import build
from qps.commands.cache.cache_files import cache_files
from qps.compiler.pipeline import Spec
from qps.links import resolved_path


class FinishedRun(Struct, frozen=True, kw_only=True):
    """The record of a run without its rows.

    `size` are its configurations, `summary` describes them in a line. `unlimited` are those that
    carry any number of users; in none that was kept there are any where not `supports_users`.
    """

    size: int
    unlimited: int
    summary: str
    supports_users: bool


class _CachedRun(Struct, frozen=True):
    """A run, and the checksum of the file that it wrote."""

    run: FinishedRun
    checksum: str


def key_of(spec: Spec, matrix: str, settings: Sequence[str], output: Path) -> str:
    """Return what distinguishes a run from all others, those of another qps among them."""
    files = sorted((str(path), read) for path, read in spec.files.items())
    parts = (spec.model.file, matrix, tuple(settings), str(resolved_path(output)))
    return repr(("finished run", build(), files, parts))


def finished(key: str, output: Path) -> FinishedRun | None:
    """Return the run that has written a file, None where it is not known that one has."""
    files = cache_files()
    data = None if files is None else files.read(key)
    if data is None:
        return None
    try:
        run_record = msgspec.json.decode(data, type=_CachedRun)
        return run_record.run if run_record.checksum == _checksum(output) else None
    except (msgspec.DecodeError, OSError):
        return None


def store_run(key: str, output: Path, run: FinishedRun) -> None:
    """Keep that a run has ended, unless what it wrote is no file that can be read again."""
    files = cache_files()
    if files is None or not output.is_file():
        return
    try:
        run_record = _CachedRun(run, _checksum(output))
    except OSError:
        return
    files.write(key, msgspec.json.encode(run_record))


def _checksum(output: Path) -> str:
    with output.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
