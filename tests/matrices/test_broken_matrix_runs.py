"""Runs of matrices that are broken off, resumed, killed, or beside others."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

import qps
from helpers.cases.matrix_of_parts import SPEC
from helpers.nightly import nightly
from qps import atomic_files
from qps.build import build
from qps.cli import main
from qps.compiler.pipeline import load
from qps.solver.matrix.execution import local_processes, matrix_run
from qps.solver.matrix.matrix_compiler import compile_matrix

pytestmark = pytest.mark.usefixtures("small_parts")


# -- broken runs ----------------------------------------------------------------------


class _Breaks:
    """Makes some parts and then fails."""

    ahead = 1

    def __init__(self, work: matrix_run.Work, after: int, error: BaseException) -> None:
        self._work, self._left, self._error = work, after, error

    def submit(self, start: int, stop: int) -> Future[bytes]:
        self._left -= 1
        if self._left < 0:
            raise self._error
        return self._work.submit(start, stop)

    def check(self) -> None:
        self._work.check()

    def explained(self, error: BaseException) -> BaseException:
        return self._work.explained(error)


def broken(monkeypatch: pytest.MonkeyPatch, after: int, error: BaseException) -> None:
    from contextlib import contextmanager

    whole = local_processes.on_this_machine

    @contextmanager
    def breaking(*arguments: object) -> Iterator[matrix_run.Work]:
        with whole(*arguments) as work:  # type: ignore[arg-type]
            yield _Breaks(work, after, error)

    monkeypatch.setattr(local_processes, "on_this_machine", breaking)


def test_a_run_that_was_interrupted_is_resumed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", "shop.qps", "-o", "whole.parquet"]) == 0
    with monkeypatch.context() as patch:
        broken(patch, 3, KeyboardInterrupt())
        assert main(["matrix", "shop.qps", "-o", "a.parquet"]) == 130
    errors = capsys.readouterr().err
    stored = sorted(Path("a.parquet.parts").iterdir())
    assert f"interrupted: {len(stored)} of 5 parts are stored in a.parquet.parts" in errors
    assert "--resume" in errors
    assert not Path("a.parquet").exists()
    assert 0 < len(stored) <= 3
    assert main(["matrix", "shop.qps", "-o", "a.parquet"]) == 2
    assert "belongs to an interrupted run: " in capsys.readouterr().err
    made: list[int] = []
    real = matrix_run.part_bytes

    def counting(*arguments: object) -> bytes:
        made.append(int(str(arguments[2])))
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(local_processes, "part_bytes", counting)
    # In this process, where it can be counted.
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--resume", "--workers", "1"]) == 0
    assert len(made) == 5 - len(stored)
    assert Path("a.parquet").read_bytes() == Path("whole.parquet").read_bytes()
    assert not Path("a.parquet.parts").exists()


def test_parts_of_another_matrix_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        broken(patch, 2, KeyboardInterrupt())
        assert main(["matrix", "shop.qps", "-o", "a.parquet"]) == 130
    Path("shop.qps").write_text(SPEC.replace("cpu 1 ms/packet", "cpu 1.5 ms/packet"))
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--resume"]) == 2
    assert "the spec has changed" in capsys.readouterr().err


def test_a_part_that_is_torn_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["matrix", "shop.qps", "-o", "whole.parquet"]) == 0
    with monkeypatch.context() as patch:
        broken(patch, 3, KeyboardInterrupt())
        main(["matrix", "shop.qps", "-o", "a.parquet"])
    first = min(Path("a.parquet.parts").iterdir())
    first.write_bytes(first.read_bytes()[:100])
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--resume"]) == 0
    assert Path("a.parquet").read_bytes() == Path("whole.parquet").read_bytes()


def test_a_part_of_which_three_bytes_were_changed_is_made_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", "shop.qps", "-o", "whole.parquet"]) == 0
    with monkeypatch.context() as patch:
        broken(patch, 3, KeyboardInterrupt())
        main(["matrix", "shop.qps", "-o", "a.parquet"])
    first = min(Path("a.parquet.parts").iterdir())
    before = bytearray(first.read_bytes())
    whole = Path("whole.parquet").read_bytes()
    stored = {path: path.read_bytes() for path in Path("a.parquet.parts").iterdir()}
    for at in range(3, len(before), 97):
        for path, data in stored.items():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        changed = bytearray(before)
        changed[at : at + 3] = bytes(255 - byte for byte in changed[at : at + 3])
        first.write_bytes(changed)
        spec = load(Path("shop.qps"))
        compiled = compile_matrix(spec.model, spec.model.matrices[0])
        fingerprint = f"{build()}:{compiled.fingerprint}"
        parts = matrix_run.Parts(compiled, fingerprint, first.parent)
        assert parts.found(0, 16) is matrix_run.PartState.DAMAGED
        with pytest.raises(matrix_run.DamagedPartError):
            matrix_run.read_part(first)
    capsys.readouterr()
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--resume", "-q"]) == 0
    assert capsys.readouterr().err == f"{first} is damaged and is computed again\n"
    assert Path("a.parquet").read_bytes() == whole


def test_a_fault_of_a_worker_keeps_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, 3, RuntimeError("a fault"))
    assert main(["matrix", "shop.qps", "-o", "a.parquet"]) == 3
    assert list(Path("a.parquet.parts").glob("part-*.sealed"))


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from qps.solver.matrix.execution import local_processes as cores, matrix_run as run
run.Parts.__init__.__defaults__ = (int(sys.argv[2]),)
from qps.cli import main
import qps.commands.matrix, qps.solver.matrix.row_tables, distributed
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(main(["matrix", "shop.qps", "-o", "a.parquet"]))
"""


def in_a_process(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a program of our own, which Ctrl-C ends also where tests run in the background."""
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.Popen(
        [sys.executable, "-c", heard + program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(qps.__file__).parents[1])},
    )


def on_a_full_disk(limit: int, part: int) -> tuple[int, str]:
    """Run the command where no file can grow beyond a limit; return its status and what it says."""
    process = in_a_process(FULL_DISK, limit, part)
    _, output = process.communicate()
    return process.returncode, output


FINGERPRINT = """
from pathlib import Path
from qps.compiler.pipeline import load
from qps.solver.matrix.matrix_compiler import compile_matrix
spec = load(Path("shop.qps"))
print(compile_matrix(spec.model, spec.model.matrices[0]).fingerprint)
"""


def test_every_process_finds_the_same_fingerprint() -> None:
    output = [
        subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ
            | {"PYTHONPATH": str(Path(qps.__file__).parents[1]), "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert len(set(output)) == 1


@pytest.mark.parametrize("part", [16, 1000])
def test_a_full_disk_is_reported(part: int) -> None:
    status, result = on_a_full_disk(500, part)
    assert status == 2, result
    assert "cannot write `a.parquet`: File too large" in result
    assert not Path("a.parquet").exists()
    assert not list(Path().rglob("*.tmp"))


def test_parts_are_stored_where_the_disk_is_too_full_for_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert main(["matrix", "shop.qps", "-o", "whole.parquet"]) == 0
    with monkeypatch.context() as patch:
        broken(patch, 4, KeyboardInterrupt())
        main(["matrix", "shop.qps", "-o", "b.parquet"])
    largest = max(part.stat().st_size for part in Path("b.parquet.parts").iterdir())
    whole = Path("whole.parquet").stat().st_size
    assert largest < whole
    status, result = on_a_full_disk((largest + whole) // 2, 16)
    assert status == 2, result
    stored = len(list(Path("a.parquet.parts").iterdir()))
    assert stored
    assert f"{stored} parts are stored: free disk space, then continue with `--resume`" in result
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--resume"]) == 0
    assert Path("a.parquet").read_bytes() == Path("whole.parquet").read_bytes()


# -- runs at once, and runs that are killed -------------------------------------------


SLOW = """
import sys, time
from qps.solver.matrix.execution import local_processes as cores, matrix_run as run
real = run.part_bytes
def slowly(tabulator, fingerprint, start, stop):
    if start:
        time.sleep(600)
    return real(tabulator, fingerprint, start, stop)
run.Parts.__init__.__defaults__ = (16,)
cores.part_bytes = slowly
from qps.cli import main
sys.exit(main(["matrix", "shop.qps", "-o", "a.parquet", "--workers", "2"]))
"""


def waiting_run(*arguments: str) -> subprocess.Popen[str]:
    """Start a run that makes its first part, and then waits; return it once that part is there."""
    process = in_a_process(SLOW, *arguments)
    stored = Path("a.parquet.parts") / "part-0000000000.sealed"
    while not stored.exists():
        assert process.poll() is None
        time.sleep(0.02)
    return process


def beside(name: str) -> set[str]:
    """Return what lies beside a file under names that begin with its own."""
    return {path.name for path in Path().glob(f"{name}*")} - {name}


def test_one_of_two_runs_wins_and_the_other_reports_which(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = waiting_run()
    try:
        Path("link.parquet").symlink_to("a.parquet")
        for name in ("a.parquet", "./a.parquet", "link.parquet"):
            for flags in ([], ["--resume"]):
                assert main(["matrix", "shop.qps", "-o", name, *flags]) == 2
                errors = capsys.readouterr().err
                assert f"is being written by another run: process {first.pid}, since 20" in errors
        assert main(["matrix", "shop.qps", "-o", "b.parquet"]) == 0
    finally:
        first.kill()
        first.communicate()
    Path("link.parquet").unlink()
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--resume"]) == 0
    assert Path("a.parquet").read_bytes() == Path("b.parquet").read_bytes()
    assert beside("a.parquet") == set()


MANY = """
import sys
from qps.solver.matrix.execution import matrix_run as run
run.Parts.__init__.__defaults__ = (16,)
from qps.cli import main
sys.exit(main(["matrix", "shop.qps", "-o", sys.argv[1], "--workers", "1"]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.parquet", pytest.param("a.html", marks=nightly)])
def test_of_many_runs_at_once_the_file_is_always_whole(name: str) -> None:
    assert main(["matrix", "shop.qps", "-o", f"whole{Path(name).suffix}"]) == 0
    whole = Path(f"whole{Path(name).suffix}").read_bytes()
    running = [in_a_process(MANY, name) for _ in range(4)]
    output = [process.communicate()[1] for process in running]
    assert {process.returncode for process in running} <= {0, 2}, output
    assert any(process.returncode == 0 for process in running)
    for process, text in zip(running, output, strict=True):
        assert (process.returncode == 2) == ("is being written by another run: process" in text)
    assert Path(name).read_bytes() == whole
    assert beside(name) == set()


def test_a_run_that_is_ended_puts_away_what_it_began() -> None:
    process = waiting_run()
    process.send_signal(signal.SIGTERM)
    _, output = process.communicate(timeout=400)
    assert process.returncode == 128 + signal.SIGTERM
    assert "interrupted: 1 of 5 parts are stored in a.parquet.parts" in output
    assert beside("a.parquet") == {"a.parquet.parts"}
    assert [path.name for path in Path("a.parquet.parts").iterdir()] == ["part-0000000000.sealed"]


def test_what_a_killed_run_leaves_is_used_or_cleared(capsys: pytest.CaptureFixture[str]) -> None:
    process = waiting_run()
    process.kill()
    process.communicate()
    assert not Path("a.parquet").exists()
    left = beside("a.parquet")
    assert {"a.parquet.parts", "a.parquet.lock"} < left  # and what was being written
    assert any(name.endswith(".tmp") for name in left)
    (Path("a.parquet.parts") / "part-16.0123.tmp").write_bytes(b"half")
    assert main(["matrix", "shop.qps", "-o", "a.parquet"]) == 2
    assert "1 part is stored" in capsys.readouterr().err
    assert beside("a.parquet") == {"a.parquet.parts"}
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--resume"]) == 0
    assert beside("a.parquet") == set()


def test_a_page_is_there_whole_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    Path("m.html").write_text("before")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert main(["matrix", "shop.qps", "-o", "m.html"]) == 2
        assert "cannot store partial results in" in capsys.readouterr().err
        assert main(["matrix", "shop.qps", "-o", "m.html", "--workers", "1"]) == 2
        assert "cannot write `m.html`: No space left" in capsys.readouterr().err
    assert Path("m.html").read_text() == "before"
    assert beside("m.html") == set()


SCRATCH = """
import sys, time
from qps.atomic_files import scratch
with scratch() as place:
    (place / "large").write_bytes(bytes(1000))
    print(place, flush=True)
    time.sleep(600)
"""


def test_folders_of_killed_runs_are_cleared_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    killed, running = in_a_process(SCRATCH), in_a_process(SCRATCH)
    try:
        assert killed.stdout is not None
        assert running.stdout is not None
        left, used = Path(killed.stdout.readline().strip()), Path(running.stdout.readline().strip())
        killed.kill()
        killed.communicate()
        assert (left / "large").exists()
        (tmp_path / "qps-parts-new").mkdir()  # of a run that begins
        with atomic_files.scratch() as place:
            assert not left.exists()
            assert (used / "large").exists()
            assert place.is_dir()
            assert (tmp_path / "qps-parts-new").exists()
        assert not place.exists()
    finally:
        running.kill()
        running.communicate()


def test_a_folder_that_another_clears_as_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may lock a new folder between the making of its lock and the locking."""
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("TMPDIR", str(own))
    monkeypatch.setattr("tempfile.tempdir", None)
    tries = iter([False, True])

    def another_is_first(handle: int) -> bool:
        if next(tries, True):
            return True
        for folder in own.iterdir():
            shutil.rmtree(folder)
        return False

    monkeypatch.setattr(atomic_files, "_try_lock", another_is_first)
    with atomic_files.scratch() as place:
        assert place.is_dir()
    assert not list(own.iterdir())
