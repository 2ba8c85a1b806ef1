"""The file in which a plan that may be interrupted stores what its searches have come to.

It is JSON that is read as data, sealed by a checksum, and written whole or not at all. One of
another spec, other flags or another version of QPS is refused: its results may not hold.
"""

from __future__ import annotations

import hashlib
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from qps.atomic_files import LockedError, lock, whole_file
from qps.build import build
from qps.commands.terminal.console import complain
from qps.commands.terminal.output_files import refuse_inputs
from qps.commands.terminal.signals import ended_in_order
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.pipeline import Spec
from qps.links import resolved_path
from qps.reports.text.words.phrases import phrase

if TYPE_CHECKING:
    from qps.solver.cheapest.search_record import SearchRecord

_FLAG = "--resume"
_PAUSE = 1.0
"""Seconds between two writes of the file: what a killed run loses at most."""


class PlanOrigin(Struct, frozen=True, kw_only=True):
    """What a plan is of: the version of QPS, a checksum of all files of the spec, and the flags."""

    version: str
    spec: str
    flags: tuple[str, ...]


class _SealedFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file: what it is of, its content as bytes of JSON, and the checksum of both."""

    origin: PlanOrigin
    checksum: str
    content: msgspec.Raw


@contextmanager
def recorded_searches(spec: Spec, arguments: Namespace) -> Iterator[SearchRecord]:
    """Give the record of a plan's searches; it is stored in a file while the plan is not done.

    Without `--resume`, it is not stored.
    """
    from qps.solver.cheapest.search_record import RecordError, SearchRecord  # noqa: PLC0415

    path: Path | None = arguments.resume
    if path is None:
        yield SearchRecord()
        return
    _check_place(path, spec, arguments)
    with _locked(path), ended_in_order():
        file = _PlanFile(path, _origin(spec, arguments))
        try:
            yield file.record
        except RecordError as error:
            raise file.damaged() from error
        except KeyboardInterrupt:
            file.write()
            print(
                phrase(
                    "plan.interrupted",
                    evaluations=len(file.record.evaluations),
                    searches=len(file.record.searches),
                    file=path,
                ),
                file=sys.stderr,
            )
            raise
        except QpsError:
            if file.has_changed:
                file.write()
            raise
        path.unlink(missing_ok=True)


class _PlanFile:
    """The file of a record, read once, and written now and then."""

    def __init__(self, path: Path, origin: PlanOrigin) -> None:
        self.path = path
        self.origin = origin
        self.record = self._read()
        self.record.changed = self._changed
        self.has_changed = False
        self._written = time.monotonic()

    def damaged(self) -> QpsError:
        """Return the error of a file that is not as it was written."""
        return complain(
            f"`{self.path}` is damaged, or not a file of `qps plan {_FLAG}`",
            f"delete it to start again, or name another file: `{_FLAG} plan.progress`",
        )

    def write(self) -> None:
        """Write the record, whole or not at all."""
        content = msgspec.json.encode(self.record.content)
        sealed = _SealedFile(
            origin=self.origin,
            checksum=_checksum(self.origin, content),
            content=msgspec.Raw(content),
        )
        try:
            with whole_file(self.path) as file:
                file.write(msgspec.json.encode(sealed))
        except OSError as error:
            raise _unwritable(self.path, error) from error
        self._written = time.monotonic()

    def _changed(self) -> None:
        self.has_changed = True
        if time.monotonic() - self._written >= _PAUSE:
            self.write()

    def _read(self) -> SearchRecord:
        from qps.solver.cheapest.search_record import RecordContent, SearchRecord  # noqa: PLC0415

        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return SearchRecord()
        except OSError as error:
            reason = error.strerror or str(error)
            raise complain(f"cannot read `{self.path}`: {reason}", "name another file") from error
        try:
            sealed = msgspec.json.decode(data, type=_SealedFile)
            if sealed.checksum != _checksum(sealed.origin, bytes(sealed.content)):
                raise self.damaged()
            self._refuse_other(sealed.origin)
            content = msgspec.json.decode(sealed.content, type=RecordContent)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self.damaged() from error
        return SearchRecord.of(content)

    def _refuse_other(self, found: PlanOrigin) -> None:
        """Refuse a file of another plan, with what differs."""
        own = self.origin
        if found == own:
            return
        if found.version != own.version:
            reason = phrase(
                "plan.other_version", version=ascii(found.version)[1:-1], own=own.version
            )
        elif found.spec != own.spec:
            reason = phrase("plan.other_spec")
        else:
            flags = " ".join(ascii(flag)[1:-1] for flag in found.flags)
            reason = phrase("plan.other_flags", flags=flags)
        raise complain(
            f"cannot continue from `{self.path}`: {reason}",
            f"delete it to start again, or name another file: `{_FLAG} plan.progress`",
        )


def _origin(spec: Spec, arguments: Namespace) -> PlanOrigin:
    files = sorted((str(path), read) for path, read in spec.files.items())
    flags = [
        *([] if arguments.name is None else [arguments.name]),
        *([] if arguments.users is None else ["--users", arguments.users.strip()]),
        *([] if arguments.budget is None else ["--budget", arguments.budget.strip()]),
        *(part for name in arguments.scenario for part in ("--scenario", name)),
        *(part for setting in arguments.set for part in ("--set", setting)),
    ]
    named = repr((spec.model.file, files)).encode()
    return PlanOrigin(version=build(), spec=hashlib.sha256(named).hexdigest(), flags=tuple(flags))


def _checksum(origin: PlanOrigin, content: bytes) -> str:
    return hashlib.sha256(msgspec.json.encode(origin) + content).hexdigest()


def _check_place(path: Path, spec: Spec, arguments: Namespace) -> None:
    refuse_inputs(path, spec.files, _FLAG)
    if arguments.output is not None and resolved_path(path) == resolved_path(arguments.output):
        raise complain(f"`-o` and `{_FLAG}` name the same file", "name two files")
    if not path.parent.is_dir():
        raise complain(
            f"`{path.parent}` is not a folder", "create it first, or choose another path"
        )
    if path.exists() and not path.is_file():
        raise complain(f"`{path}` is not a file", "name a file")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of the file; refuse one that another plan uses."""
    with ExitStack() as locks:
        try:
            locks.enter_context(lock(resolved_path(path)))
        except LockedError as error:
            raise complain(
                f"`{path}` is being written by another run: {error}",
                "wait until it ends, or name another file",
            ) from error
        except OSError as error:
            raise _unwritable(path, error) from error
        yield


def _unwritable(path: Path, error: OSError) -> QpsError:
    reason = error.strerror or str(error)
    return complain(f"cannot write `{path}`: {reason}", "choose another path")
