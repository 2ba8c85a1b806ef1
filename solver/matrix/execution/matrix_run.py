"""A whole matrix solved: part by part, on all cores or on a cluster, to be resumed where broken.

A part is a stretch of rows as the bytes of a Parquet file, made by the same function wherever it
runs, so that the results are the same bytes. It is sealed by a checksum behind them, which is
looked at wherever it is read: what a disk or a network has changed is made again. Parts are
written under a temporary name and then renamed: one that is there is whole.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED as FIRST
from concurrent.futures import BrokenExecutor, CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from io import BytesIO
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import pyarrow as pa
from pyarrow import parquet

from qps.atomic_files import temporary
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.row_tables import Tabulator, layout_of
from qps.supervised_processes import ProcessEnding
from qps.worker_processes import WorkersLostError

PART = 65_536
"""Rows of a part, before any is left out."""
_LOOK = 1.0
"""Seconds after which to look whether anybody still works at a part."""
_MOST_LOST = 3
"""Times that workers may be lost one after the other, with nothing done in between."""

Place: TypeAlias = tuple[int, int]
"""The rows of a part: its first, and the one after its last."""
PartContent: TypeAlias = bytes | Path
"""A part that was made: as bytes, or as a file of the worker's."""
_Result = TypeVar("_Result")

_FINGERPRINT = b"qps:fingerprint"
_SEAL = hashlib.sha256().digest_size
_NAME = "part-*.sealed"


class Work(Protocol):
    """Where parts are made: `submit` starts one and returns its future."""

    @property
    def ahead(self) -> int:
        """How many parts are started before one is waited for."""

    def submit(self, start: int, stop: int) -> Future[PartContent]:
        """Start the part of some rows; its future fails by BrokenExecutor with a lost worker."""

    def check(self) -> None:
        """Look whether there still is somebody to work; WorkersLostError where there is not."""

    def explained(self, error: BaseException) -> BaseException:
        """Return what is the matter with a part.

        BrokenExecutor where it is to be made again, WorkersLostError where that would not help.
        """


def part_bytes(tabulator: Tabulator, fingerprint: str, start: int, stop: int) -> bytes:
    """Return a part: its rows as a Parquet file, marked as part of this very matrix, sealed."""
    table = tabulator.table(start, stop)
    about = {
        **(table.schema.metadata or {}),
        _FINGERPRINT: f"{fingerprint}:{start}:{stop}".encode(),
    }
    output = BytesIO()
    table = table.replace_schema_metadata(about)
    parquet.write_table(table, output, **layout_of(table.schema))
    data = output.getvalue()
    return data + hashlib.sha256(data).digest()


def unsealed(content: PartContent) -> BytesIO:
    """Return the Parquet file of a part; DamagedPartError where its checksum is another one."""
    sealed = memoryview(content if isinstance(content, bytes) else content.read_bytes())
    data, seal = sealed[:-_SEAL], sealed[-_SEAL:]
    if hashlib.sha256(data).digest() != seal:
        raise DamagedPartError(content if isinstance(content, Path) else None)
    return BytesIO(data)


def read_part(content: PartContent) -> pa.Table:
    """Return the rows of a part; DamagedPartError where they are not those that were made."""
    source = unsealed(content)
    # Without threads of Arrow's own, for buffers neither: where one is at work as this process
    # ends, it aborts (apache/arrow#34314).
    return parquet.ParquetFile(source, pre_buffer=False).read(use_threads=False)


def content_bytes(content: PartContent) -> bytes:
    """Return a part as bytes; a file of the worker's is taken away."""
    if isinstance(content, bytes):
        return content
    data = content.read_bytes()
    content.unlink()
    return data


def put(data: bytes, path: Path) -> None:
    """Write a file to the disk, or nothing at all."""
    try:
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


class PartState(Enum):
    """What is there of a part."""

    NOTHING = auto()
    DAMAGED = auto()
    WHOLE = auto()


@dataclass(frozen=True)
class Parts:
    """The parts of a matrix in a folder of their own."""

    compiled: CompiledMatrix
    fingerprint: str
    folder: Path

    size: int = PART

    @property
    def count(self) -> int:
        """How many parts there are."""
        return -(-self.compiled.size // self.size)

    def places(self) -> Iterator[Place]:
        """Yield the rows of each part."""
        total = self.compiled.size
        return ((start, min(total, start + self.size)) for start in range(0, total, self.size))

    @property
    def part_count(self) -> int:
        """How many parts are there, of whatever matrix."""
        return len(list(self.folder.glob(_NAME)))

    def path(self, start: int) -> Path:
        """Return where a part is kept."""
        return self.folder / f"part-{start // self.size:010d}.sealed"

    def found(self, start: int, stop: int) -> PartState:
        """Return what is there of a part; ForeignPartError where it is of another matrix."""
        path = self.path(start)
        if not path.exists():
            return PartState.NOTHING
        try:
            about = parquet.read_schema(unsealed(path)).metadata
        except (DamagedPartError, pa.ArrowInvalid):
            return PartState.DAMAGED
        if about.get(_FINGERPRINT) != f"{self.fingerprint}:{start}:{stop}".encode():
            raise ForeignPartError(path)
        return PartState.WHOLE

    def write(self, start: int, content: PartContent) -> None:
        """Keep a part; it is there under its name only when it is whole."""
        path = self.path(start)
        own = content if isinstance(content, Path) else temporary(path)
        if isinstance(content, bytes):
            put(content, own)
        own.replace(path)

    def clear(self) -> None:
        """Remove what a killed run was writing."""
        for own in self.folder.glob("*.tmp"):
            own.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove all parts, and their folder if nothing else is in it."""
        self.clear()
        for own in self.folder.glob(_NAME):
            own.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


class ForeignPartError(Exception):
    """Raised for a part that belongs to another matrix, or to another version of this one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(str(path))


class DamagedPartError(Exception):
    """Raised for a part whose bytes are not those that were made."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        super().__init__("a part that was sent" if path is None else str(path))


def as_done(work: Work, places: Iterable[Place]) -> Iterator[tuple[Place, PartContent]]:
    """Yield parts as they are done; few are started ahead, so that few are ever in memory.

    What a lost worker was at is made again; WorkersLostError where that does not help.
    """
    waiting: dict[Future[PartContent], Place] = {}
    left, again, lost = iter(places), list[Place](), 0
    ending: ProcessEnding | None = None
    try:
        while True:
            while len(waiting) < work.ahead:
                following = again.pop() if again else next(left, None)
                if following is None:
                    break
                waiting[work.submit(*following)] = following
            if not waiting:
                return
            work.check()
            done, _ = wait(waiting, timeout=_LOOK, return_when=FIRST)
            for future in sorted(done, key=waiting.__getitem__):
                place = waiting.pop(future)
                error = CancelledError() if future.cancelled() else future.exception()
                if error is not None:
                    why = work.explained(error)
                    if not isinstance(why, BrokenExecutor):
                        raise why
                    ending = getattr(why, "ending", None)
                    again.append(place)
                    continue
                lost = 0
                yield place, future.result()
            lost += bool(again)
            if lost > _MOST_LOST:
                raise WorkersLostError("were killed repeatedly", ending)
    finally:
        for future in waiting:
            future.cancel()


def solved_parts(
    parts: Parts, work: Work, damaged: Callable[[Path], None]
) -> Iterator[tuple[Place, Path]]:
    """Make every part that is not there yet and keep it; yield where each one is, once it is.

    `damaged` is called with what is made again. OSError where a part cannot be kept; the others
    stay.
    """
    there: list[Place] = []

    def missing() -> Iterator[Place]:
        for place in parts.places():
            found = parts.found(*place)
            if found is PartState.WHOLE:
                there.append(place)
                continue
            if found is PartState.DAMAGED:
                damaged(parts.path(place[0]))
            yield place

    for place, made in as_done(work, missing()):
        parts.write(place[0], made)
        for whole in (*there, place):
            yield whole, parts.path(whole[0])
        there.clear()
    for whole in there:
        yield whole, parts.path(whole[0])


def in_turn(found: Iterable[tuple[Place, _Result]]) -> Iterator[tuple[Place, _Result]]:
    """Yield what is found of parts in the order of their rows, each as soon as it is its turn."""
    early: dict[int, tuple[Place, _Result]] = {}
    following = 0
    for place, result in found:
        early[place[0]] = place, result
        while following in early:
            yield (one := early.pop(following))
            following = one[0][1]
