"""A whole matrix solved: part by part, on all cores or on a cluster, to be resumed where broken.

A part is a stretch of rows as the bytes of a Parquet file, made by the same function wherever it
runs, so that the results are the same bytes. Parts are written under a temporary name and then
renamed: one that is there is whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED as FIRST
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from threading import local
from typing import Protocol

import pyarrow as pa
from pyarrow import parquet

from qps.solver.matrix.compiling import CompiledMatrix
from qps.solver.matrix.tables import Tabulator, layout_of

PART = 262_144
"""Rows of a part, before any is left out."""

_FINGERPRINT = b"qps:fingerprint"


class Work(Protocol):
    """Where parts are made: `submit` starts one and returns its future."""

    @property
    def workers(self) -> int:
        """How many parts are made at a time."""

    def submit(self, start: int, stop: int) -> Future[bytes]:
        """Start the part of some rows."""


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


def read_part(data: bytes | Path) -> pa.Table:
    """Return the rows of a part."""
    source = BytesIO(data) if isinstance(data, bytes) else data
    return parquet.read_table(source)


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

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the rows of each part."""
        total = self.compiled.size
        return ((start, min(total, start + self.size)) for start in range(0, total, self.size))

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

    def write(self, start: int, data: bytes) -> None:
        """Keep a part; it is there under its name only when it is whole."""
        path = self.path(start)
        temporary = path.with_suffix(".tmp")
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


class ForeignPartError(Exception):
    """Raised for a part that belongs to another matrix, or to another version of this one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(str(path))


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def on_this_machine(
    compiled: CompiledMatrix, fingerprint: str, workers: int | None = None
) -> Iterator[Work]:
    """Make parts on the cores of this machine, numpy's work in threads beside each other."""
    count = workers or cores()
    own = local()

    def make(start: int, stop: int) -> bytes:
        if not hasattr(own, "tabulator"):
            own.tabulator = Tabulator(compiled)
        return part_bytes(own.tabulator, fingerprint, start, stop)

    executor = ThreadPoolExecutor(count)
    try:
        yield _Submitted(executor, make, count)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True)
class _Submitted:
    executor: Executor
    make: Callable[[int, int], bytes]
    workers: int

    def submit(self, start: int, stop: int) -> Future[bytes]:
        return self.executor.submit(self.make, start, stop)


def as_done(
    work: Work, ranges: Iterable[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], bytes]]:
    """Yield parts as they are done; few are started ahead, so that few are ever in memory."""
    waiting: dict[Future[bytes], tuple[int, int]] = {}
    left = iter(ranges)
    try:
        while True:
            while len(waiting) <= work.workers and (following := next(left, None)) is not None:
                waiting[work.submit(*following)] = following
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST)
            for future in sorted(done, key=lambda f: waiting[f]):
                yield waiting.pop(future), future.result()
    finally:
        for future in waiting:
            future.cancel()


def solved_parts(parts: Parts, work: Work) -> Iterator[int]:
    """Make every part that is not there yet and keep it; yield how many rows each stands for.

    OSError where one cannot be kept; the others stay.
    """
    parts.folder.mkdir(parents=True, exist_ok=True)
    there = 0

    def missing() -> Iterator[tuple[int, int]]:
        nonlocal there
        for start, stop in parts.ranges():
            if parts.is_whole(start, stop):
                there += stop - start
            else:
                yield start, stop

    for (start, stop), data in as_done(work, missing()):
        parts.write(start, data)
        yield stop - start + there
        there = 0
    yield there
