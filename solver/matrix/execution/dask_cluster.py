"""Parts made on a Dask cluster: the same function, so the same bytes.

Workers get the compiled matrix once. It is a task of its own, not data that was sent: should
the last worker that holds it die, the scheduler has it made again. Only workers with this very
qps are given parts: another one would make other rows, and nobody would see it.
"""

from __future__ import annotations

import logging
import pickle
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from threading import Thread, local
from time import monotonic
from typing import Any

from qps.build import build
from qps.compiler.diagnostics.extras import installing
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.execution.local_cluster import cluster_here
from qps.solver.matrix.execution.matrix_run import PartContent, Work, part_bytes
from qps.solver.matrix.row_tables import Tabulator
from qps.worker_processes import START, WorkersLostError, cores

_PATIENCE = 6.0
"""Seconds after which a scheduler that does not answer is given up, and one without workers."""
_SILENT = 20.0
"""Seconds after which what takes the connection, but is no scheduler, is given up."""
_FROZEN = 30.0
"""Seconds after which a scheduler that says nothing, though it is there, is given up."""
_LOOK = 1.0
"""Seconds between two looks at which workers there are."""
_RETRIES = 3

_own = local()
_here: dict[str, CompiledMatrix] = {}
"""What workers that are copies of this process have, without its being sent: by fingerprints."""


class ClusterError(Exception):
    """Raised where there is no Dask, or no scheduler that answers, or no worker that serves."""


@contextmanager
def on_dask(
    compiled: CompiledMatrix,
    fingerprint: str,
    address: str | None,
    workers: int | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> Iterator[Work]:
    """Make parts on a cluster, by the address of its scheduler; a local one where that is None.

    `warn` is called where its workers have other versions of something than this machine.
    """
    try:
        import distributed  # noqa: F401, PLC0415 - an extra, seldom needed
    except ImportError as missing:
        how = installing("dask", "distributed")
        raise ClusterError(f"Dask is not installed: `{how}`") from missing
    if address is None:
        with (
            _inherited(fingerprint, compiled),
            cluster_here(workers or cores()) as here,
            here.endings_reported(),
            on_dask(compiled, fingerprint, here.address) as work,
        ):
            yield work
        return
    with _without_logs():
        try:
            client = _connected(address)
        except (OSError, ValueError) as error:
            raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from error
        except Exception as error:
            raise ClusterError(
                f"the server at {address} is not a Dask scheduler: {type(error).__name__}"
            ) from error
        work = _OnDask(client=client, compiled=compiled, fingerprint=fingerprint)
        try:
            work.look(_FROZEN)
            for difference in _other_versions(client):
                warn(difference)
            yield work
        finally:
            client.close(timeout=_LOOK)  # a scheduler that is gone would be waited for


def _without_logs() -> AbstractContextManager[None]:
    """Let Dask's client write no tracebacks of connections meanwhile: what they mean, we say."""
    from distributed.utils import silence_logging_cmgr  # noqa: PLC0415

    found: AbstractContextManager[None] = silence_logging_cmgr(logging.CRITICAL)
    return found


def _connected(address: str) -> Any:
    """Return a client of a scheduler.

    Whatever takes the connection and says nothing, Dask would wait for without end.
    """
    from distributed import Client  # noqa: PLC0415
    from distributed.versions import VersionMismatchWarning  # noqa: PLC0415

    found: Future[Any] = Future()

    def connect() -> None:
        try:
            found.set_result(Client(address, timeout=_PATIENCE, set_as_default=False))
        except Exception as error:  # noqa: BLE001 - whoever waits gets the error
            found.set_exception(error)

    with warnings.catch_warnings():  # `_other_versions` says what it would
        warnings.simplefilter("ignore", VersionMismatchWarning)
        Thread(target=connect, daemon=True).start()
        done, _ = wait([found], _SILENT)
    if not done:
        raise TimeoutError(f"no answer for {_SILENT:g} s")
    return found.result()


def _other_versions(client: Any) -> Iterator[str]:
    """Yield what workers have in another version than this machine, in words."""
    versions = client.get_versions()
    here = versions["client"]["packages"]
    for name in sorted(here):
        found = {(one or {}).get("packages", {}).get(name) for one in versions["workers"].values()}
        others = ", ".join(sorted(str(one) for one in found - {here[name]}))
        if others:
            own = here[name] or "none"
            yield (f"workers have {name} {others}, this machine has {own}: last digits may differ")


@contextmanager
def _inherited(fingerprint: str, compiled: CompiledMatrix) -> Iterator[None]:
    """Let copies of this process that are made meanwhile have a matrix."""
    _here[fingerprint] = compiled
    try:
        yield
    finally:
        del _here[fingerprint]


@dataclass(kw_only=True)
class _OnDask:
    """Gives parts to workers, and looks now and then which there are."""

    client: Any
    compiled: CompiledMatrix
    fingerprint: str
    _builds: dict[str, str] = field(default_factory=dict)
    _threads: dict[str, int] = field(default_factory=dict)
    _seen: float = field(default_factory=monotonic)
    _last_contact: float = field(default_factory=monotonic)
    _last_check: float = float("-inf")

    @cached_property
    def _executor(self) -> Any:
        return self.client.get_executor(retries=_RETRIES, pure=False)

    @cached_property
    def _model(self) -> Any:
        """The matrix as a task, or nothing where workers are copies that have it."""
        if self.fingerprint in _here and START == "fork":
            return None
        return self.client.submit(_unpacked, self.compiled.packed(), pure=False)

    @property
    def ahead(self) -> int:
        return max(1, sum(self._threads.values())) + 1

    def submit(self, start: int, stop: int) -> Future[PartContent]:
        made: Future[PartContent] = self._executor.submit(
            _part, self._model, self.fingerprint, build(), start, stop
        )
        return made

    def check(self) -> None:
        """Look who is there, not more often than once a second."""
        if monotonic() - self._last_check < _LOOK:
            return
        try:
            self.look()
        except ClusterError as error:
            is_busy = isinstance(error.__cause__, TimeoutError)
            if is_busy and monotonic() - self._last_contact < _FROZEN:
                return
            raise WorkersLostError(str(error)) from error
        if not self._threads and monotonic() - self._seen > _PATIENCE:
            raise WorkersLostError("are all gone: the Dask scheduler has no worker")

    def look(self, patience: float = _PATIENCE / 2) -> None:
        """Find out which workers there are; ClusterError where one has another qps."""
        try:
            self._threads = dict(self.client.ncores(callback_timeout=patience))
            strangers = [worker for worker in self._threads if worker not in self._builds]
            if strangers:
                builds = self.client.run(_build_reader(), workers=strangers, on_error="return")
                # One that does not respond is gone, or is queried again.
                self._builds |= {w: one for w, one in builds.items() if isinstance(one, str)}
        except Exception as error:
            raise ClusterError(f"lost the Dask scheduler: {type(error).__name__}") from error
        self._last_contact = self._last_check = monotonic()
        if self._threads:
            self._seen = self._last_contact
        for worker in self._threads:
            found = self._builds.get(worker, build())
            if found != build():
                raise ClusterError(
                    f"the Dask worker {worker} has {found}, this machine has {build()}"
                )

    def explained(self, error: BaseException) -> BaseException:
        """Return why a part failed: something is wrong with the cluster, or else with us."""
        if _is_lost_in_transit(error):
            return BrokenExecutor("a part was lost with its worker")
        name = type(error).__name__
        if name == "KilledWorker":
            return WorkersLostError("were killed repeatedly")
        if isinstance(error, CancelledError) or "Cancelled" in name:
            return WorkersLostError("are lost: the Dask scheduler gave up on a part")
        try:
            self.look()
        except ClusterError as found:
            return WorkersLostError(str(found))
        return error


def _is_lost_in_transit(error: BaseException) -> bool:
    """Return whether Dask's executor took a part for an error.

    It fetches what a task came to and then looks whether the task is done: where the worker is
    lost in between, it unpacks the part as if that were an error (`distributed.cfexecutor`).
    """
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    within = None if last is None else last.tb_frame.f_globals.get("__name__")
    return isinstance(error, ValueError) and within == "distributed.cfexecutor"


def _build_reader() -> Callable[[], str]:
    """Return a function that says which qps a worker has, sent as it stands: it may have none."""

    def build() -> str:
        try:
            from qps.build import build as own  # noqa: PLC0415 - the worker's

            return own()
        except ImportError:
            pass
        try:
            from qps.version import __version__ as version  # noqa: PLC0415

            return f"qps {version}"
        except ImportError:
            return "no qps"

    return build


class OtherBuildError(Exception):
    """Raised on a worker whose qps is another one."""


def _unpacked(packed: bytes) -> CompiledMatrix:
    compiled = pickle.loads(packed)  # noqa: S301 - our own bytes, from the client that sent them
    assert isinstance(compiled, CompiledMatrix)
    return compiled


def _part(
    compiled: CompiledMatrix | None, fingerprint: str, request: str, start: int, stop: int
) -> bytes:
    """Make a part on a worker, which keeps what rows share."""
    if request != build():
        raise OtherBuildError(f"this is {build()}, not {request}")
    if getattr(_own, "fingerprint", None) != fingerprint:
        _own.fingerprint = fingerprint
        _own.tabulator = Tabulator(_here[fingerprint] if compiled is None else compiled)
    return part_bytes(_own.tabulator, fingerprint, start, stop)
