"""Parts made on a Dask cluster: the same function, so the same bytes.

Workers get the compiled matrix once. It is a task of its own, not data that was sent: should
the last worker that holds it die, the scheduler has it made again.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from threading import local
from typing import Any

from qps.solver.matrix.compiling import CompiledMatrix
from qps.solver.matrix.cores import cores
from qps.solver.matrix.run import Made, Work, part_bytes
from qps.solver.matrix.tables import Tabulator

_PATIENCE = 6
"""Seconds after which a scheduler that does not answer is given up."""

_own = local()


class ClusterError(Exception):
    """Raised where there is no Dask, or no scheduler that answers."""


@contextmanager
def on_dask(
    compiled: CompiledMatrix, fingerprint: str, address: str | None, workers: int | None = None
) -> Iterator[Work]:
    """Make parts on a cluster, by the address of its scheduler; a local one where that is None."""
    try:
        from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra, seldom needed
    except ImportError as missing:
        raise ClusterError("Dask is not installed: `pip install 'qps[dask]'`") from missing
    cluster: Any = None
    try:
        if address is None:
            cluster = LocalCluster(
                n_workers=workers or cores(),
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                silence_logs=logging.ERROR,
            )
        client = Client(cluster if cluster is not None else address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from error
    except Exception as error:
        raise ClusterError(
            f"what answers at {address} is no Dask scheduler: {type(error).__name__}"
        ) from error
    try:
        count = max(1, len(client.ncores())) if address is None else sum(client.ncores().values())
        model = client.submit(_unpacked, compiled.packed(), pure=False)
        yield _OnDask(client.get_executor(retries=3, pure=False), model, fingerprint, count + 1)
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


def _unpacked(packed: bytes) -> CompiledMatrix:
    compiled = pickle.loads(packed)  # noqa: S301 - our own bytes, from the client that sent them
    assert isinstance(compiled, CompiledMatrix)
    return compiled


def _part(compiled: CompiledMatrix, fingerprint: str, start: int, stop: int) -> bytes:
    """Make a part on a worker, which keeps what rows share."""
    if getattr(_own, "fingerprint", None) != fingerprint:
        _own.fingerprint, _own.tabulator = fingerprint, Tabulator(compiled)
    return part_bytes(_own.tabulator, fingerprint, start, stop)


@dataclass(frozen=True)
class _OnDask:
    executor: Any
    model: Any
    fingerprint: str
    ahead: int

    def submit(self, start: int, stop: int) -> Future[Made]:
        found: Future[Made] = self.executor.submit(_part, self.model, self.fingerprint, start, stop)
        return found
