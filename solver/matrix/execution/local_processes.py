"""Parts made on the cores of this machine: in processes beside each other.

Threads would not do: Python's lock is handed over between any two operations on a chunk, which
takes longer than the operations do. The processes get the compiled matrix as they start, and put
parts into files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from qps.atomic_files import scratch, temporary
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.execution.matrix_run import PART, PartContent, Work, part_bytes, put
from qps.solver.matrix.row_tables import Tabulator
from qps.worker_processes import Workers, cores


@contextmanager
def on_this_machine(
    compiled: CompiledMatrix,
    fingerprint: str,
    workers: int | None = None,
    part: int = PART,
    folder: Path | None = None,
) -> Iterator[Work]:
    """Make parts on the cores of this machine; in this very process where one is enough.

    `part` are the rows of a part: no more processes are started than there are parts. They put
    them into `folder`, or into one that goes away in the end. WorkersLostError where processes
    cannot be had.
    """
    count = min(workers or cores(), -(-compiled.size // part))
    if count <= 1:
        yield _OwnProcess(partial(part_bytes, Tabulator(compiled), fingerprint))
        return
    with scratch() if folder is None else nullcontext(folder) as place:
        makers = [partial(_writer, compiled, fingerprint)] * count
        with Workers(makers) as processes:
            yield _Processes(processes, place, count + 1)


class _Local:
    """Where a part fails on this machine, its error says why."""

    def explained(self, error: BaseException) -> BaseException:
        """Return the error: nothing else can be why."""
        return error


@dataclass(frozen=True)
class _OwnProcess(_Local):
    """Makes parts in this process, each when it is requested."""

    make: Callable[[int, int], bytes]
    ahead: int = 1

    def submit(self, start: int, stop: int) -> Future[PartContent]:
        done: Future[PartContent] = Future()
        done.set_result(self.make(start, stop))
        return done

    def check(self) -> None:
        """It is here."""


@dataclass(frozen=True)
class _Processes(_Local):
    """Makes parts in processes."""

    workers: Workers
    folder: Path
    ahead: int

    def submit(self, start: int, stop: int) -> Future[PartContent]:
        return self.workers.submit(start, stop, temporary(self.folder / f"part-{start}"))

    def check(self) -> None:
        """Wait until a part is done, or its process has ended, which its future shows."""
        self.workers.wait()


def _writer(compiled: CompiledMatrix, fingerprint: str) -> Callable[[int, int, Path], Path]:
    """Return what makes a part, in a worker, and puts it into a file."""
    part = partial(part_bytes, Tabulator(compiled), fingerprint)

    def write(start: int, stop: int, path: Path) -> Path:
        put(part(start, stop), path)
        return path

    return write
