"""A Dask cluster on this machine: its scheduler in this process, its workers copies of it.

Dask itself starts a new Python for each worker, which imports Dask and qps once more: that takes
as long as a million rows. Copies have them. They can only be made by a process without threads,
and a scheduler has some: so one that never has any is started first. It makes the workers, makes
another one where one is killed, and ends with them as soon as this process closes a pipe.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

from qps.worker_processes import START, starting

_MOST_LOST = 8
"""Workers that are replaced: where more are killed, another one would be, too."""
_PATIENCE = 3.0
"""Seconds in which a worker ends by itself, and takes away what it has written."""
_UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1 s",
    "distributed.admin.system-monitor.interval": "10 s",
}
"""Dask watches its processes for a page that nobody sees here: that took a sixth of the time."""
_WITHOUT_A_PAGE = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
"""The port for status queries to a scheduler: at a port of its own, not one for all."""


@contextmanager
def cluster_here(workers: int) -> Iterator[str]:
    """Give the address of a scheduler that has so many workers, each with one thread."""
    from dask import config  # noqa: PLC0415 - an extra, seldom needed
    from distributed import LocalCluster  # noqa: PLC0415
    from distributed.versions import get_versions  # noqa: PLC0415

    get_versions()  # which each of the copies would find out anew
    theirs, own = Pipe()
    made = _process(_make_workers, workers, theirs, own)
    made.start()
    theirs.close()
    try:
        with (
            config.set(_UNWATCHED),
            LocalCluster(
                n_workers=0,
                host="127.0.0.1",
                scheduler_kwargs=_WITHOUT_A_PAGE,
                silence_logs=logging.ERROR,
            ) as cluster,
        ):
            own.send(cluster.scheduler_address)
            try:
                yield cluster.scheduler_address
            finally:
                own.close()
                made.join()
    finally:
        own.close()
        made.join()


def _process(work: Callable[..., None], *arguments: object) -> BaseProcess:
    """Return a process that is a copy of this one, where the system bears that."""
    context: Any = starting(START)
    made: BaseProcess = context.Process(target=work, args=arguments)
    return made


# -- in the process that makes workers -------------------------------------------------------


def _make_workers(count: int, end: Connection, theirs: Connection) -> None:
    """Keep so many workers at work until the other end of a pipe is closed."""
    theirs.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the process that started this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        address = str(end.recv())
    except EOFError:
        return
    for_workers, own = Pipe(duplex=False)

    def started() -> BaseProcess:
        process = _process(_work, address, for_workers, own)
        process.start()
        return process

    at_work, lost = [started() for _ in range(count)], 0
    while at_work:
        done = wait([end, *(process.sentinel for process in at_work)])
        if end in done:
            break
        killed = [process for process in at_work if process.sentinel in done]
        lost += len(killed)
        at_work = [process for process in at_work if process not in killed]
        if lost <= _MOST_LOST:
            at_work += [started() for _ in killed]
    own.close()
    for process in at_work:
        process.join(_PATIENCE)
        process.kill()
        process.join()


# -- in a worker -------------------------------------------------------------------------


def _work(address: str, end: Connection, theirs: Connection) -> None:
    """Work until the other end of a pipe is closed."""
    theirs.close()
    asyncio.run(_serve(address, end))
    os._exit(0)  # a part that nobody waits for any more is not waited for either


async def _serve(address: str, end: Connection) -> None:
    from dask import config  # noqa: PLC0415
    from distributed import Worker  # noqa: PLC0415
    from distributed.utils import silence_logging_cmgr  # noqa: PLC0415

    is_over = asyncio.Event()
    loop = asyncio.get_running_loop()

    def watch() -> None:
        end.poll(None)
        loop.call_soon_threadsafe(is_over.set)

    Thread(target=watch, daemon=True).start()
    with config.set(_UNWATCHED), silence_logging_cmgr(logging.CRITICAL):
        worker = await Worker(
            address, nthreads=1, host="127.0.0.1", dashboard=False, memory_limit=0
        )
        await is_over.wait()
        await worker.close(timeout=1, executor_wait=False)
