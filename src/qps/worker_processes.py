"""Worker processes: started, given tasks, and ended with the process that started them.

A worker makes a function once, and calls it for each task that it is sent. What the function
raises is raised here, too, with the traceback of the worker as its cause; a worker that ends is
a WorkerEndedError, which says at which task, and how. No thread is started in this process, so
that another worker can be made as a copy of it at any time. How one ended is a value of
`qps.supervised_processes`, as of every other process.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext, SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from threading import Thread
from traceback import format_exc
from types import ModuleType
from typing import Any, Self, TypeAlias

from qps.supervised_processes import ProcessEnding, ending_of, memory_kills

START = "fork" if sys.platform == "linux" else "spawn"
"""How processes start: as copies, at once, where the system's own libraries bear it."""
_TICK = 0.5
"""Seconds between two calls of what is called while all wait."""
_PATIENCE = 1.0
"""Seconds in which a process that has closed its pipe ends by itself."""

Task: TypeAlias = tuple[Any, ...]
"""The arguments of one call."""
Maker: TypeAlias = Callable[[], Callable[..., Any]]
"""Makes, in a worker, the function that it calls; can be pickled where processes are spawned."""


class WorkersLostError(Exception):
    """Raised where workers cannot be had, or are lost again and again; its text says which.

    `ending` is how the last one ended, where that is known.
    """

    def __init__(self, reason: str, ending: ProcessEnding | None = None) -> None:
        self.reason, self.ending = reason, ending
        super().__init__(reason + (f" (the last one ended {ending})" if ending else ""))


class WorkerEndedError(BrokenExecutor):
    """Raised where a worker has ended before it answered a task.

    `ending` is how: its exit status, a signal, or no memory that was left.
    """

    def __init__(self, ending: ProcessEnding, task: Task | None = None) -> None:
        self.ending, self.task = ending, task
        super().__init__(f"a worker process ended {ending}" + (f" at {task}" if task else ""))


class WorkerTraceback(Exception):  # noqa: N818 - as the cause of an error it is none itself
    """The traceback of an error in a worker, as text."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# -- one process -----------------------------------------------------------------------------


class WorkerProcess:
    """A process that does `work` with an end of a pipe; `connection` is the other end.

    It leaves Ctrl-C to this process, and ends with it, whatever it is at. One that `has_workers`
    of its own has no thread that watches for that, so that they can be copies of it: it ends where
    its end of the pipe is closed.
    """

    def __init__(
        self,
        work: Callable[..., None],
        *arguments: object,
        start: str | None = None,
        has_workers: bool = False,
    ) -> None:
        how = start or START
        context: Any = starting(how)
        self._kills = memory_kills()
        self.connection, theirs = context.Pipe()
        inherited = self.connection if how == "fork" else None
        self.process: BaseProcess = context.Process(
            target=_begin,
            args=(work, theirs, inherited, has_workers, *arguments),
            daemon=not has_workers,
        )
        self.process.start()
        theirs.close()

    def ended(self, task: Task | None = None) -> WorkerEndedError:
        """Return how it has ended, once its end of the pipe is closed."""
        self.process.join(_PATIENCE)
        self.process.kill()
        self.process.join()
        return WorkerEndedError(self.ending, task)

    @property
    def ending(self) -> ProcessEnding:
        """How it has ended."""
        assert self.process.exitcode is not None
        return ending_of(self.process.exitcode, self._kills)

    def end(self, patience: float | None = None) -> None:
        """Let it end by itself, for so many seconds where they are limited."""
        self.request_end()
        self.process.join(patience)
        self.stop()

    def request_end(self) -> None:
        """Say that nothing more is requested: workers that are copies hold its pipe open."""
        with suppress(OSError):
            self.connection.send(None)

    def stop(self) -> None:
        """End it, whatever it is at."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def _begin(
    work: Callable[..., None],
    end: Connection,
    inherited: Connection | None,
    has_workers: bool,  # noqa: FBT001 - as the arguments of a process
    *arguments: object,
) -> None:
    if inherited is not None:
        inherited.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if not has_workers:
        Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # there is no client any more
        work(end, *arguments)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


# -- many of them ----------------------------------------------------------------------------


class Workers:
    """A worker for each maker, until the block that they are made for is left.

    WorkersLostError where they cannot be started.
    """

    def __init__(self, makers: Sequence[Maker]) -> None:
        self._makers = makers
        self._workers: list[WorkerProcess] = []
        self._queue: deque[tuple[Task, Future[Any]]] = deque()
        self._busy: dict[int, tuple[Task, Future[Any]]] = {}
        try:
            for maker in makers:
                self._workers.append(_started(maker))
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()

    def submit(self, *task: Any) -> Future[Any]:
        """Give a task to the first worker that has none; its future is set by `wait`.

        One that has ended is replaced.
        """
        future = Future[Any]()
        self._queue.append((task, future))
        self._assign()
        return future

    def results(self, tasks: Iterable[Task]) -> list[Any]:
        """Return the results of tasks, in their order; raise the first error."""
        return self._results_of([self.submit(*task) for task in tasks])

    def each(self, *task: Any, tick: Callable[[], None]) -> list[Any]:
        """Return the results of one task in every worker, in their order; raise the first error.

        `tick` is called meanwhile. None that has ended is replaced: what it had would be missing.
        """
        futures = [Future[Any]() for _ in self._workers]
        for number, future in enumerate(futures):
            self._send(number, task, future)
        return self._results_of(futures, tick)

    def wait(self, seconds: float | None = None) -> list[Future[Any]]:
        """Wait until a worker answers or ends, for some seconds at most; return what is done."""
        pipes = {self._workers[number].connection: number for number in self._busy}
        done = []
        for ready in wait(pipes, seconds) if pipes else ():
            worker = self._workers[number := pipes[ready]]
            task, future = self._busy.pop(number)
            try:
                found, text = worker.connection.recv()
            except (EOFError, OSError):
                future.set_exception(worker.ended(task))
            else:
                if text is None:
                    future.set_result(found)
                else:
                    found.__cause__ = WorkerTraceback(f"\n{text}")
                    future.set_exception(found)
            done.append(future)
        self._assign()
        return done

    def _results_of(
        self, futures: Sequence[Future[Any]], tick: Callable[[], None] | None = None
    ) -> list[Any]:
        while self._busy:
            for done in self.wait(_TICK if tick else None):
                done.result()
            if tick:
                tick()
        return [future.result() for future in futures]

    def _assign(self) -> None:
        for number, maker in enumerate(self._makers):
            while self._queue and number not in self._busy:
                task, future = self._queue.popleft()
                if not future.set_running_or_notify_cancel():
                    continue
                if self._workers[number].process.exitcode is not None:
                    self._workers[number].stop()
                    self._workers[number] = _started(maker)
                self._send(number, task, future)

    def _send(self, number: int, task: Task, future: Future[Any]) -> None:
        worker = self._workers[number]
        try:
            worker.connection.send(task)
        except OSError:
            future.set_exception(worker.ended(task))
        else:
            self._busy[number] = task, future


def _started(maker: Maker) -> WorkerProcess:
    try:
        return WorkerProcess(_serve, maker)
    except OSError as error:
        raise WorkersLostError(f"cannot be started: {error}") from error


def _serve(end: Connection, maker: Maker) -> None:
    """Answer tasks until the other end of a pipe is closed."""
    function: Callable[..., Any] | None = None
    while True:
        task = end.recv()
        try:
            function = function or maker()
            answer = ForkingPickler.dumps((function(*task), None))
        except Exception as error:  # noqa: BLE001 - the caller raises it
            text = format_exc()
            try:
                answer = ForkingPickler.dumps((error, text))
                ForkingPickler.loads(answer)
            except Exception:  # noqa: BLE001 - one that cannot be sent is not lost
                as_text = RuntimeError(f"{type(error).__name__}: {error}")
                answer = ForkingPickler.dumps((as_text, text))
        end.send_bytes(answer)


# -- how they start --------------------------------------------------------------------------


def starting(how: str) -> BaseContext:
    """Return a context whose processes start by `"fork"` or `"spawn"`.

    Spawned ones do not run the user's script again, as Python's own would before they begin: what
    they do stands in modules of ours. So a script needs no `if __name__ == "__main__"` for us.
    """
    return _Spawning() if how == "spawn" else get_context(how)


class _Process(SpawnProcess):
    """A process that knows nothing of the script that started it."""

    def start(self) -> None:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            super().start()
        finally:
            sys.modules["__main__"] = script


class _Spawning(SpawnContext):
    Process = _Process
