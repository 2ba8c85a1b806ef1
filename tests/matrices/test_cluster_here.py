"""`--on dask`: a cluster of this machine, whose workers are copies of the process that asks."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

import qps
from matrices.test_matrices import BASE
from qps.cli import main
from qps.solver.matrix.execution import matrix_run

pytest.importorskip("distributed")

SPEC = BASE + "matrix m { extra in 1..20 by 1; host in [box, big]; size in [100, 900 byte/packet] }"
RUN = """
import os, signal, sys, time
from qps.solver.matrix.execution import dask_cluster as cluster, matrix_run as run
signal.signal(signal.SIGINT, signal.default_int_handler)
run.Parts.__init__.__defaults__ = (16,)
real = cluster.part_bytes
def part(tabulator, fingerprint, start, stop):
    {before}
    return real(tabulator, fingerprint, start, stop)
cluster.part_bytes = part
from qps.cli import main
sys.exit(main(["matrix", "shop.qps", "-o", "a.parquet", "--on", "dask", "--workers", "2"]))
"""


@pytest.fixture(autouse=True)
def where_we_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.qps").write_text(SPEC)
    monkeypatch.setattr(matrix_run.Parts.__init__, "__defaults__", (16,))


def started(before: str = "pass") -> subprocess.Popen[str]:
    """Start a run whose workers do something before each part."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN.replace("{before}", before)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(qps.__file__).parents[1])},
    )


def workers_of(process: subprocess.Popen[str], *killed: int) -> list[int]:
    """Return the workers of a run, once there are two, without those that were killed."""
    while True:
        assert process.poll() is None, process.communicate()
        with suppress(psutil.NoSuchProcess):  # whose end is looked at in between
            nurseries = psutil.Process(process.pid).children()
            found = {worker.pid for nursery in nurseries for worker in nursery.children()}
            if len(found - {*killed}) == 2:
                return sorted(found - {*killed})
        time.sleep(0.02)


def whole() -> bytes:
    assert main(["matrix", "shop.qps", "-o", "whole.parquet", "-q", "--workers", "1"]) == 0
    return Path("whole.parquet").read_bytes()


@pytest.mark.slow
def test_rows_are_the_same_and_nothing_else_is_reported() -> None:
    with socket.socket() as taken:
        with suppress(OSError):  # others have it
            taken.bind(("", 8787))  # where Dask shows its page
            taken.listen()
        process = started()
        out, output = process.communicate(timeout=400)
    assert (process.returncode, out) == (0, "")
    assert output == "80 configurations of m\nwritten to a.parquet\n"
    assert Path("a.parquet").read_bytes() == whole()
    assert not list(Path().glob("*.tmp"))


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced_and_what_it_was_at_made_again() -> None:
    process = started("while start and not os.path.exists('go'): time.sleep(0.02)")
    stored = Path("a.parquet.parts") / "part-0000000000.sealed"
    workers = workers_of(process)
    while not stored.exists():
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(workers[0], signal.SIGKILL)
    assert workers[1] in workers_of(process, workers[0])
    Path("go").touch()
    process.communicate(timeout=400)
    assert process.returncode == 0
    assert Path("a.parquet").read_bytes() == whole()


@pytest.mark.slow
def test_workers_that_are_always_killed_are_reported() -> None:
    process = started("os.kill(os.getpid(), signal.SIGKILL)")
    _, output = process.communicate(timeout=400)
    assert process.returncode == 2
    found = re.search(r"workers that solve parts of 16 rows: (were killed|are all gone).*", output)
    assert found is not None
    assert "(the last one ended by SIGKILL)" in found[0]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_all_end_with_the_one_that_started_them(how: signal.Signals) -> None:
    process = started("time.sleep(600 if start else 0)")
    stored = Path("a.parquet.parts") / "part-0000000000.sealed"
    while not stored.exists():
        assert process.poll() is None
        time.sleep(0.02)
    workers_of(process)  # the other one may be started later than this one has made a part
    family = psutil.Process(process.pid).children(recursive=True)
    assert len(family) == 3
    process.send_signal(how)
    _, output = process.communicate(timeout=400)
    assert psutil.wait_procs(family, timeout=400)[1] == []
    assert stored.exists()
    if how is not signal.SIGKILL:
        assert process.returncode == 128 + how
        assert "interrupted: 1 of 5 parts are stored in a.parquet.parts" in output
