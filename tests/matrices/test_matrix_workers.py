"""Matrices made by processes, and on clusters."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from multiprocessing import active_children
from pathlib import Path

import psutil
import pytest

from helpers.nightly import nightly
from matrices.test_broken_matrix_runs import SLOW, beside, in_a_process
from processes.hostile_servers import KINDS, hostile
from processes.ports import free_port
from qps import worker_processes
from qps.build import build
from qps.cli import main
from qps.commands.terminal.progress import bar
from qps.compiler.pipeline import load
from qps.solver.matrix.execution import dask_cluster as cluster
from qps.solver.matrix.execution import local_processes, matrix_run
from qps.solver.matrix.execution.dask_cluster import on_dask
from qps.solver.matrix.matrix_compiler import compile_matrix

pytestmark = pytest.mark.usefixtures("small_parts")


# -- processes ------------------------------------------------------------------------


def test_any_number_of_processes_makes_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    for start, workers in (("fork", 1), ("fork", 2), ("fork", 9), ("spawn", 2)):
        monkeypatch.setattr(worker_processes, "START", start)
        output = f"{start}{workers}.parquet"
        assert main(["matrix", "shop.qps", "-o", output, "--workers", str(workers)]) == 0
    assert len({path.read_bytes() for path in Path().glob("*.parquet")}) == 1


def test_what_a_killed_process_was_at_is_made_again() -> None:
    spec = load(Path("shop.qps"))
    compiled = compile_matrix(spec.model, spec.model.matrices[0])
    parts = matrix_run.Parts(compiled, "x", Path())
    with local_processes.on_this_machine(compiled, "x", 1) as work:
        expected = dict(matrix_run.as_done(work, parts.places()))
    before = set(active_children())
    found = {}
    with local_processes.on_this_machine(compiled, "x", 2, parts.size) as work:
        for place, made in matrix_run.as_done(work, parts.places()):
            # What goes through the pipe is small: of more, a killed process may leave half.
            assert isinstance(made, Path)
            if not found:
                (set(active_children()) - before).pop().kill()
            found[place] = matrix_run.content_bytes(made)
    assert found == expected
    assert set(active_children()) == before


def test_processes_that_are_always_killed_are_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def killed(*_: object) -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    monkeypatch.setattr(local_processes, "part_bytes", killed)
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--workers", "2"]) == 2
    errors = capsys.readouterr().err
    reason = "were killed repeatedly (the last one ended by SIGKILL)"
    assert f"processes that solve parts of 16 rows: {reason}" in errors
    assert "--workers" in errors


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_one_that_started_them(how: signal.Signals) -> None:
    process = in_a_process(SLOW)
    stored = Path("a.parquet.parts") / "part-0000000000.sealed"
    while not stored.exists():
        assert process.poll() is None
        time.sleep(0.02)
    workers = psutil.Process(process.pid).children()
    assert len(workers) == 2
    process.send_signal(how)
    _, output = process.communicate(timeout=400)
    assert psutil.wait_procs(workers, timeout=400)[1] == []
    assert stored.exists()
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted: 1 of 5 parts are stored in a.parquet.parts" in output
        assert "--resume" in output


# -- clusters -------------------------------------------------------------------------


def test_a_scheduler_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("qps.solver.matrix.execution.dask_cluster._PATIENCE", 1)
    assert main(["matrix", "shop.qps", "--on", "dask://127.0.0.1:1"]) == 2
    errors = capsys.readouterr().err
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in errors
    assert "remove `--on`" in errors


def test_without_dask_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["matrix", "shop.qps", "--on", "dask"]) == 2
    assert 'pip install "distributed>=' in capsys.readouterr().err


@pytest.mark.slow
def test_a_cluster_makes_the_same_bytes_though_a_worker_dies() -> None:
    distributed = pytest.importorskip("distributed")
    spec = load(Path("shop.qps"))
    compiled = compile_matrix(spec.model, spec.model.matrices[0])
    parts = matrix_run.Parts(compiled, "x", Path())
    with local_processes.on_this_machine(compiled, "x") as work:
        expected = dict(matrix_run.as_done(work, parts.places()))
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    )
    with cluster, on_dask(compiled, "x", cluster.scheduler_address) as work:
        found = {}
        for place, data in matrix_run.as_done(work, parts.places()):
            if not found:
                os.kill(next(iter(cluster.workers.values())).process.process.pid, signal.SIGKILL)
            found[place] = data
    assert found == expected


class Gone:
    """A task of Dask's that is done, and lost with its worker as soon as it was fetched."""

    status = "lost"

    def __init__(self, result: object) -> None:
        self._found = result

    async def _result(self, *, raiseit: bool) -> object:
        return self._found


class Dask:
    """A cluster whose first part is lost on its way."""

    ahead = 1

    def __init__(self, made: list[object]) -> None:
        self._made = made

    def submit(self, _start: int, _stop: int) -> Future[matrix_run.PartContent]:
        from distributed.cfexecutor import _cascade_future

        made: Future[matrix_run.PartContent] = Future()
        found = self._made.pop(0)
        if isinstance(found, Gone):

            async def cascade() -> None:
                await _cascade_future(found, made)

            asyncio.run(cascade())
        elif isinstance(found, BaseException):
            made.set_exception(found)
        else:
            made.set_result(b"made")
        return made

    def check(self) -> None:
        """Nobody is lost."""

    def explained(self, error: BaseException) -> BaseException:
        return explained_by_dask(self, error)

    def look(self) -> None:
        """All are there."""


def explained_by_dask(work: Dask, error: BaseException) -> BaseException:
    explained: BaseException = cluster._OnDask.explained(work, error)  # type: ignore[arg-type]
    return explained


@pytest.mark.slow
def test_a_part_that_is_lost_on_its_way_is_made_again() -> None:
    pytest.importorskip("distributed")
    made = list(matrix_run.as_done(Dask([Gone(b"a part"), b"made"]), [(0, 16)]))
    assert made == [((0, 16), b"made")]
    with pytest.raises(matrix_run.WorkersLostError, match="killed repeatedly"):
        list(matrix_run.as_done(Dask([Gone(b"a part")] * 9), [(0, 16)]))
    with pytest.raises(ValueError, match="of ours"):  # a fault of ours is none of Dask's
        list(matrix_run.as_done(Dask([ValueError("of ours"), b"made"]), [(0, 16)]))


OTHER = """
import sys
from qps import build
from qps.solver.matrix.execution import dask_cluster as cluster
other = lambda: "qps 0.0.9"
build.build = cluster.build = other
from distributed.cli.dask_worker import main
main(sys.argv[1:])
"""

WORKER = "import sys; from distributed.cli.dask_worker import main; main(sys.argv[1:])"

SCHEDULER = "import sys; from distributed.cli.dask_scheduler import main; main(sys.argv[1:])"


class Cluster:
    """A scheduler and workers in processes of their own."""

    def __init__(self) -> None:
        self.port = free_port()
        self.started: list[subprocess.Popen[str]] = []
        here = ("--host", "127.0.0.1", "--no-dashboard")
        self.scheduler = self.start(SCHEDULER, *here, "--port", self.port)

    @property
    def address(self) -> str:
        return f"dask://127.0.0.1:{self.port}"

    def start(self, program: str, *arguments: object) -> subprocess.Popen[str]:
        self.started.append(in_a_process(program, *arguments))
        return self.started[-1]

    def worker(self, program: str = WORKER) -> subprocess.Popen[str]:
        """Start a worker, without a nanny that would start it again; wait until it is there."""
        from distributed import Client

        flags = ("--no-nanny", "--no-dashboard", "--nthreads", "1", "--host", "127.0.0.1")
        address = self.address.replace("dask", "tcp")
        started = self.start(program, address, *flags)
        with Client(address, timeout=400) as client:
            client.wait_for_workers(sum(w.poll() is None for w in self.started) - 1, timeout=400)
        return started


@pytest.fixture
def dask_cluster() -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    cluster = Cluster()
    yield cluster
    for process in cluster.started:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_worker_with_another_qps_is_refused(
    dask_cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    other = dask_cluster.worker(OTHER)
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--on", dask_cluster.address]) == 2
    errors = capsys.readouterr().err
    assert f"has qps 0.0.9, this machine has {build()}" in errors
    assert beside("a.parquet") == set()
    other.kill()
    other.wait()
    dask_cluster.worker()
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--on", dask_cluster.address]) == 0
    assert main(["matrix", "shop.qps", "-o", "b.parquet"]) == 0
    assert Path("a.parquet").read_bytes() == Path("b.parquet").read_bytes()


COMMAND = "import sys; from qps.cli import main; sys.exit(main(sys.argv[1:]))"

OLDER = """
import sys
from distributed import versions
real_versions = versions.get_versions
def told(*arguments, **more):
    found = real_versions(*arguments, **more)
    return {**found, "packages": {**found["packages"], "numpy": "1.0.3"}}
versions.get_versions = told
import distributed.worker, distributed.node
distributed.worker.get_versions = distributed.node.get_versions = told
from distributed.cli.dask_worker import main
main(sys.argv[1:])
"""


@pytest.mark.slow
def test_other_versions_on_a_worker_are_reported_in_our_words(dask_cluster: Cluster) -> None:
    dask_cluster.worker(OLDER)
    words = ["matrix", "shop.qps", "-o", "a.parquet", "--on", dask_cluster.address]
    with in_a_process(COMMAND, *words) as one:
        _, output = one.communicate()
    assert one.returncode == 0, output
    here = importlib.metadata.version("numpy")
    assert f"warning: workers have numpy 1.0.3, this machine has {here}: last digits" in output
    assert "Mismatched" not in output
    assert "Warning" not in output


@pytest.mark.slow
def test_what_takes_the_connection_and_says_nothing_is_given_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("qps.solver.matrix.execution.dask_cluster._SILENT", 0.5)
    with hostile(KINDS["says nothing"]) as port:
        assert main(["matrix", "shop.qps", "--on", f"dask://127.0.0.1:{port}"]) == 2
    assert "no answer for 0.5 s" in capsys.readouterr().err


STUCK = """
import sys, time
from qps import build
from qps.solver.matrix.execution import dask_cluster as cluster
cluster.build = lambda own=build.build(): own
build.build = cluster.build
real = cluster.part_bytes
def slowly(tabulator, fingerprint, start, stop):
    if start > 16:  # of the first two any may be made first
        time.sleep(600)
    return real(tabulator, fingerprint, start, stop)
cluster.part_bytes = slowly
from distributed.cli.dask_worker import main
main(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_scheduler_that_goes_is_reported_in_our_words(dask_cluster: Cluster) -> None:
    dask_cluster.worker(STUCK.replace("if start > 16:", "open('begun', 'w').close()\n    if True:"))
    words = ["matrix", "shop.qps", "-o", "a.parquet", "--on", dask_cluster.address]
    with in_a_process(COMMAND, *words) as one:
        until = time.monotonic() + 200
        while not Path("begun").exists() and time.monotonic() < until:
            time.sleep(0.05)
        dask_cluster.scheduler.terminate()
        _, output = one.communicate()
    assert one.returncode == 2
    assert "workers that solve parts" in output
    assert "Traceback" not in output
    assert "distributed" not in output


@pytest.mark.slow
@pytest.mark.parametrize("gone", [pytest.param("worker", marks=nightly), "scheduler"])
def test_that_no_worker_is_left_is_reported_and_finished_parts_remain(
    gone: str, dask_cluster: Cluster
) -> None:
    worker = dask_cluster.worker(STUCK)
    run_on = ("a.parquet", "--on", dask_cluster.address)
    process = in_a_process(ON_CLUSTER, *run_on)
    while not list(Path("a.parquet.parts").glob("part-*.sealed")):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    (worker if gone == "worker" else dask_cluster.scheduler).kill()
    _, output = process.communicate(timeout=400)
    assert process.returncode == 2, output
    assert "gone" in output or "lost" in output
    assert re.search("[12] parts? (is|are) stored, continue with `--resume`", output)
    assert beside("a.parquet") == {"a.parquet.parts"}
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--resume"]) == 0


ON_CLUSTER = """
import sys
from qps.solver.matrix.execution import matrix_run as run
run.Parts.__init__.__defaults__ = (16,)
from qps.cli import main
sys.exit(main(["matrix", "shop.qps", "-q", "-o", *sys.argv[1:]]))
"""


def test_the_bar() -> None:
    assert bar(0, 100, 0.0).startswith("░")
    assert bar(100, 100, 2.0).endswith("0 s left")
    assert "min left" in bar(1, 100_000, 1.0) or "h left" in bar(1, 100_000, 1.0)


def test_configurations_that_do_nothing_are_rows_and_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "idle.qps").write_text(
        "users N in 1..1000\noption o = on\nmachine m { cpu 1 core }\n"
        "component w { cpu 1 ms/request }\ntopology { node x = m }\n"
        "stream st { traffic N * 1 request/s; at x { w if o } }\nmatrix mm { o in [on, off] }\n"
    )
    assert main(["matrix", "idle.qps", "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert "warning[QPS0608]: 1 of 2 configurations have no load and no requirement" in printed.err
    rows = json.loads(printed.out)["rows"]
    assert [row["capacity"] for row in rows] == [1000, 1000]
    assert [row["bottleneck"] for row in rows] == ["x.cpu", None]
