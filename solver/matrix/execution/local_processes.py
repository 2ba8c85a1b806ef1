"""Parts made on the cores of this machine: in processes beside each other.

Threads would not do: Python's lock is handed over between any two operations on a chunk, which
takes longer than the operations do. The processes get the compiled matrix as they start, and put
parts into files: of what is sent through a pipe, one that is killed may leave half.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread

from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.execution.matrix_run import (
    PART,
    Made,
    Work,
    WorkersLostError,
    part_bytes,
    put,
)
from qps.solver.matrix.execution.process_start import START, cores, starting
from qps.solver.matrix.row_tables import Tabulator
from qps.whole_files import scratch, temporary


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
    them into `folder`, or into one that goes away in the end.
    """
    count = min(workers or cores(), -(-compiled.size // part))
    if count <= 1:
        yield _Here(partial(part_bytes, Tabulator(compiled), fingerprint))
        return
    with scratch() if folder is None else nullcontext(folder) as place:
        processes = _Processes(compiled, fingerprint, count, place)
        processes.start()
        try:
            yield processes
        finally:
            processes.stop()


@dataclass(frozen=True)
class _Here:
    """Makes parts in this process, each when it is asked for."""

    make: Callable[[int, int], bytes]
    ahead: int = 1

    def submit(self, start: int, stop: int) -> Future[Made]:
        done: Future[Made] = Future()
        done.set_result(self.make(start, stop))
        return done

    def check(self) -> None:
        """It is here."""

    def explained(self, error: BaseException) -> BaseException:
        """Return the error: nothing else can be why."""
        return error


@dataclass
class _Processes:
    """Makes parts in processes that end with this one, or when it closes its end of a pipe."""

    compiled: CompiledMatrix
    fingerprint: str
    workers: int
    folder: Path
    _executor: ProcessPoolExecutor = field(init=False)
    _ends: tuple[Connection, Connection] = field(init=False)

    @property
    def ahead(self) -> int:
        return self.workers + 1

    def start(self) -> None:
        """Start the processes, before anything here has started a thread.

        WorkersLostError where they cannot be had.
        """
        self._ends = Pipe(duplex=False)
        self._executor = ProcessPoolExecutor(
            self.workers,
            mp_context=starting(START),
            initializer=_begin,
            initargs=(self.compiled, self.fingerprint, *self._ends),
        )
        try:
            self._executor.submit(_idle).result()
        except (BrokenExecutor, OSError) as error:
            self.stop()
            raise WorkersLostError(f"cannot be started: {error}") from error

    def stop(self) -> None:
        """End the processes, whatever they are at."""
        theirs, own = self._ends
        own.close()
        self._executor.shutdown(wait=True, cancel_futures=True)
        theirs.close()

    def submit(self, start: int, stop: int) -> Future[Made]:
        try:
            return self._submit(start, stop)
        except BrokenExecutor:
            self.stop()
            self.start()
            return self._submit(start, stop)

    def check(self) -> None:
        """Whom the system has killed is told by their futures."""

    def explained(self, error: BaseException) -> BaseException:
        """Return the error: nothing else can be why."""
        return error

    def _submit(self, start: int, stop: int) -> Future[Made]:
        path = temporary(self.folder / f"part-{start}")
        return self._executor.submit(_make, start, stop, path)


# -- in a worker -------------------------------------------------------------------------

_part: Callable[[int, int], bytes]


def _begin(compiled: CompiledMatrix, fingerprint: str, end: Connection, theirs: Connection) -> None:
    """Make a worker ready; it leaves Ctrl-C to the process that started it."""
    global _part  # noqa: PLW0603 - what a worker has, all of its calls share
    theirs.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Thread(target=_end_with, args=(end,), daemon=True).start()
    _part = partial(part_bytes, Tabulator(compiled), fingerprint)


def _end_with(end: Connection) -> None:
    """Wait until the other end of a pipe is closed, and end this process."""
    end.poll(None)
    os._exit(1)


def _make(start: int, stop: int, path: Path) -> Path:
    put(_part(start, stop), path)
    return path


def _idle() -> None:
    """Do nothing, but by a worker."""
