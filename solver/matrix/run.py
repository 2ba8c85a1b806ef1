"""A whole matrix solved: part by part, on all cores or on a cluster, to be resumed where broken.

A part is a stretch of rows as the bytes of a Parquet file, made by the same function wherever it
runs, so that the results are the same bytes. Parts are written under a temporary name and then
renamed: one that is there is whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED as FIRST
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import pyarrow as pa
from pyarrow import parquet

from qps.solver.matrix.compiling import CompiledMatrix
from qps.solver.matrix.tables import Tabulator, layout_of

PART = 65_536
"""Rows of a part, before any is left out."""
_MOST_LOST = 3
"""Times that workers may be lost one after the other, with nothing done in between."""

Place: TypeAlias = tuple[int, int]
"""The rows of a part: its first, and the one after its last."""
Made: TypeAlias = bytes | Path
"""A part that was made: as bytes, or as a file of the worker's."""
_Told = TypeVar("_Told")

_FINGERPRINT = b"qps:fingerprint"


class Work(Protocol):
    """Where parts are made: `submit` starts one and returns its future."""

    @property
    def ahead(self) -> int:
        """How many parts are started before one is waited for."""

    def submit(self, start: int, stop: int) -> Future[Made]:
        """Start the part of some rows; its future fails by BrokenExecutor with a lost worker."""


def part_bytes(tabulator: Tabulator, fingerprint: str, start: int, stop: int) -> bytes:
    """Return a part: its rows as a Parquet file, marked as part of this very matrix."""
    table = tabulator.table(start, stop)
    about = {
        **(table.schema.metadata or {}),
        _FINGERPRINT: f"{fingerprint}:{start}:{stop}".encode(),
    }
    output = BytesIO()
    table = table.replace_schema_metadata(about)
    parquet.write_table(table, output, **layout_of(table.schema))
    return output.getvalue()


def read_part(made: Made) -> pa.Table:
    """Return the rows of a part."""
    source = BytesIO(made) if isinstance(made, bytes) else made
    # Without threads of Arrow's own, for buffers neither: where one is at work as this process
    # ends, it aborts (apache/arrow#34314).
    return parquet.ParquetFile(source, pre_buffer=False).read(use_threads=False)


def taken(made: Made) -> bytes:
    """Return a part as bytes; a file of the worker's is taken away."""
    if isinstance(made, bytes):
        return made
    data = made.read_bytes()
    made.unlink()
    return data


def put(data: bytes, path: Path) -> None:
    """Write a file to the disk, or nothing at all."""
    try:
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


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
    def kept(self) -> int:
        """How many parts are there, of whatever matrix."""
        return len(list(self.folder.glob("part-*.parquet")))

    def path(self, start: int) -> Path:
        """Return where a part is kept."""
        return self.folder / f"part-{start // self.size:010d}.parquet"

    def is_whole(self, start: int, stop: int) -> bool:
        """Return whether a part is there; ForeignPartError where it is of another matrix."""
        path = self.path(start)
        if not path.exists():
            return False
        try:
            found = parquet.read_schema(path).metadata.get(_FINGERPRINT, b"").decode()
        except (pa.ArrowInvalid, AttributeError):
            return False
        if found != f"{self.fingerprint}:{start}:{stop}":
            raise ForeignPartError(path)
        return True

    def write(self, start: int, made: Made) -> None:
        """Keep a part; it is there under its name only when it is whole."""
        path = self.path(start)
        temporary = made if isinstance(made, Path) else path.with_suffix(".tmp")
        if isinstance(made, bytes):
            put(made, temporary)
        temporary.replace(path)

    def remove(self) -> None:
        """Remove all parts, and their folder if nothing else is in it."""
        for own in (*self.folder.glob("part-*.parquet"), *self.folder.glob("*.tmp")):
            own.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


class ForeignPartError(Exception):
    """Raised for a part that belongs to another matrix, or to another version of this one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(str(path))


class WorkersLostError(Exception):
    """Raised where workers cannot be had, or are lost again and again; its text tells which."""


def as_done(work: Work, places: Iterable[Place]) -> Iterator[tuple[Place, Made]]:
    """Yield parts as they are done; few are started ahead, so that few are ever in memory.

    What a lost worker was at is made again; WorkersLostError where that does not help.
    """
    waiting: dict[Future[Made], Place] = {}
    left, again, lost = iter(places), list[Place](), 0
    try:
        while True:
            while len(waiting) < work.ahead:
                following = again.pop() if again else next(left, None)
                if following is None:
                    break
                waiting[work.submit(*following)] = following
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST)
            for future in sorted(done, key=waiting.__getitem__):
                place = waiting.pop(future)
                if isinstance(future.exception(), BrokenExecutor):
                    again.append(place)
                    continue
                lost = 0
                yield place, future.result()
            lost += bool(again)
            if lost > _MOST_LOST:
                raise WorkersLostError("were killed, again and again")
    finally:
        for future in waiting:
            future.cancel()


def solved_parts(parts: Parts, work: Work) -> Iterator[tuple[Place, Path]]:
    """Make every part that is not there yet and keep it; yield where each one is, once it is.

    OSError where one cannot be kept; the others stay.
    """
    there: list[Place] = []

    def missing() -> Iterator[Place]:
        for place in parts.places():
            if parts.is_whole(*place):
                there.append(place)
            else:
                yield place

    for place, made in as_done(work, missing()):
        parts.write(place[0], made)
        for whole in (*there, place):
            yield whole, parts.path(whole[0])
        there.clear()
    for whole in there:
        yield whole, parts.path(whole[0])


def in_turn(found: Iterable[tuple[Place, _Told]]) -> Iterator[tuple[Place, _Told]]:
    """Yield what is found of parts in the order of their rows, each as soon as it is its turn."""
    early: dict[int, tuple[Place, _Told]] = {}
    following = 0
    for place, told in found:
        early[place[0]] = place, told
        while following in early:
            yield (one := early.pop(following))
            following = one[0][1]
