"""A Dask cluster on this machine: its scheduler in this process, its workers copies of it.

Dask itself starts a new Python for each worker, which imports Dask and qps once more: that takes
as long as a million rows. Copies have them. They can only be made by a process without threads,
and a scheduler has some: so one that never has any is started first. It makes the workers, makes
another one where one is killed, and ends with them as soon as this process closes a pipe. They are
`WorkerProcess`es as all others; which parts a worker makes, and which are made again, is Dask's.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from threading import Thread

from qps.worker_processes import WorkerProcess, WorkersLostError

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


class ClusterHere:
    """A scheduler in this process, by its address, with workers that another process makes."""

    def __init__(self, address: str, maker: WorkerProcess) -> None:
        self.address = address
        self._maker = maker

    @contextmanager
    def endings_reported(self) -> Iterator[None]:
        """Where workers are lost meanwhile, say also how the last one ended: Dask does not know."""
        try:
            yield
        except WorkersLostError as error:
            ending = error.ending
            with suppress(EOFError, OSError):
                while self._maker.connection.poll():
                    ending = self._maker.connection.recv()
            raise WorkersLostError(error.reason, ending) from error


@contextmanager
def cluster_here(workers: int) -> Iterator[ClusterHere]:
    """Give a scheduler that has so many workers, each with one thread."""
    from dask import config  # noqa: PLC0415 - an extra, seldom needed
    from distributed import LocalCluster  # noqa: PLC0415
    from distributed.versions import get_versions  # noqa: PLC0415

    get_versions()  # which each of the copies would find out anew
    maker = WorkerProcess(_make_workers, workers, has_workers=True)
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
            try:
                maker.connection.send(cluster.scheduler_address)
            except OSError as error:
                raise WorkersLostError("cannot be started", maker.ended().ending) from error
            try:
                yield ClusterHere(cluster.scheduler_address, maker)
            finally:
                maker.end()
    finally:
        maker.end()


# -- in the process that makes workers -------------------------------------------------------


def _make_workers(end: Connection, count: int) -> None:
    """Keep so many workers at work until nothing more is requested; send how lost ones ended."""
    address = end.recv()
    if address is None:
        return
    at_work, lost = [WorkerProcess(_work, address) for _ in range(count)], 0
    while at_work:
        done = wait([end, *(worker.process.sentinel for worker in at_work)])
        if end in done:
            break
        killed = [worker for worker in at_work if worker.process.sentinel in done]
        lost += len(killed)
        at_work = [worker for worker in at_work if worker not in killed]
        for worker in killed:
            end.send(worker.ended().ending)
            worker.stop()
        if lost <= _MOST_LOST:
            at_work += [WorkerProcess(_work, address) for _ in killed]
    for worker in at_work:
        worker.request_end()
    for worker in at_work:
        worker.end(_PATIENCE)


# -- in a worker -------------------------------------------------------------------------


def _work(end: Connection, address: str) -> None:
    """Work until nothing more is requested."""
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
