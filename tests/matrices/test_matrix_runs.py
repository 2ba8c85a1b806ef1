"""`qps matrix`: files, parts, broken runs, clusters."""

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
from pyarrow import csv, parquet

import qps
from helpers.nightly import nightly
from matrices.test_matrices import BASE
from processes.hostile_servers import KINDS, hostile
from processes.ports import free_port
from qps import atomic_files, worker_processes
from qps.build import build
from qps.cli import main
from qps.commands.terminal.progress import bar
from qps.compiler import ir
from qps.compiler.pipeline import load
from qps.solver.answers.solution import SolverFault
from qps.solver.matrix import row_ranges as rows
from qps.solver.matrix.compilation import group_compiler
from qps.solver.matrix.compilation.compiled_matrix import CompiledGroup, CompiledMatrix
from qps.solver.matrix.compilation.structures import configured
from qps.solver.matrix.execution import dask_cluster as cluster
from qps.solver.matrix.execution import local_processes, matrix_run
from qps.solver.matrix.execution.dask_cluster import on_dask
from qps.solver.matrix.matrix_claims import Judge
from qps.solver.matrix.matrix_compiler import compile_matrix

SPEC = BASE + "matrix m { extra in 1..20 by 1; host in [box, big]; size in [100, 900 byte/packet] }"
ROWS = 80


@pytest.fixture(autouse=True)
def small_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of its own, with parts of 16 rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.qps").write_text(SPEC)
    monkeypatch.setattr(matrix_run.Parts.__init__, "__defaults__", (16,))


def rows_of(path: str) -> list[dict[str, object]]:
    return list(parquet.read_table(path).to_pylist())


# -- files -------------------------------------------------------------------------------


def test_all_files_hold_the_same_rows() -> None:
    for name in ("a.parquet", "a.csv", "a.json"):
        assert main(["matrix", "shop.qps", "-o", name]) == 0
    found = rows_of("a.parquet")
    told = json.loads(Path("a.json").read_text())
    assert told["schema"] == "qps/matrix/5"
    assert told["units"]["size"] == "bit/packet"
    assert told["rows"] == found
    assert len(found) == ROWS
    from_csv = csv.read_csv("a.csv").to_pylist()
    assert [row["capacity"] for row in from_csv] == [row["capacity"] for row in found]
    assert not list(Path().glob("*.parts"))
    assert not list(Path().glob("*.tmp"))


def test_a_table_shows_the_first_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "shop.qps"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["Matrix", "m", "shop.qps"]
    assert printed[2].startswith("  Result           80 configurations")
    assert printed[-1] == "  30 more rows: write all of them with `-o FILE`."
    start = printed.index("", 3) + 2
    assert len(printed[start : printed.index("", start)]) == 50


@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
def test_other_forms_on_the_screen(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "shop.qps", "--format", form]) == 0
    out = capsys.readouterr().out
    if form == "json":
        assert len(json.loads(out)["rows"]) == ROWS
    elif form == "csv":
        assert len(out.splitlines()) == ROWS + 1
    else:
        assert "| ---" in out


def test_the_status_is_1_where_nobody_is_carried() -> None:
    Path("none.qps").write_text(BASE + "matrix m { extra in [5000, 9000] }")
    assert main(["matrix", "none.qps"]) == 1


def test_settings_change_what_is_no_axis(capsys: pytest.CaptureFixture[str]) -> None:
    for setting, found in (("N=1..3", 3), ("lan=fast", 200)):
        main(["matrix", "shop.qps", "--format", "json", "--set", setting])
        told = json.loads(capsys.readouterr().out)["rows"]
        assert max(row["capacity"] or 0 for row in told) <= found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "extra=3"], "`extra` is an axis of matrix `m`"),
        (["-o", "a.xlsx"], "unknown file type: `a.xlsx`"),
        (["-o", "nowhere/a.csv"], "`nowhere` is not a folder"),
        (["--resume"], "`--resume` requires `-o FILE`"),
        (["--on", "moon"], "unknown value `moon` of `--on`"),
        (["--workers", "0"], "`--workers` must be at least 1"),
        (["other"], "has no matrix named `other`"),
    ],
)
def test_wrong_arguments(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", "shop.qps", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_spec_with_several_matrices_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.qps").write_text(SPEC + "\nmatrix n { zip in [on, off] }\n")
    assert main(["matrix", "two.qps"]) == 2
    assert "choose `m` or `n`" in capsys.readouterr().err
    assert main(["matrix", "two.qps", "n"]) == 0
    Path("no.qps").write_text(BASE)
    assert main(["matrix", "no.qps"]) == 2
    assert "has no matrix" in capsys.readouterr().err


# -- faults of ours -----------------------------------------------------------------------


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every row answered alone; where `extra` is 7 or 8, that is a fault."""
    whole = rows.compile_alone

    def alone(matrix: CompiledMatrix, block: int, index: tuple[int, ...]) -> CompiledGroup:
        axes = matrix.blocks[block].structure.axes
        configuration = configured(matrix.model, matrix.matrix, axes, index)
        extra = configuration.parameters["extra"]
        if isinstance(extra, ir.Constant) and extra.value == 7:
            raise SolverFault("off by 1")
        if isinstance(extra, ir.Constant) and extra.value == 8:
            raise ZeroDivisionError("by nothing")
        return whole(matrix, block, index)

    def by_themselves(*_: object) -> bool:
        return False

    monkeypatch.setattr(rows, "compile_alone", alone)
    monkeypatch.setattr(group_compiler.GroupCompiler, "_is_shared", by_themselves)


FEW = BASE + "matrix m { extra in [6, 7, 8, 9, 5000]; where largest_acceptable >= 5 }"


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize("ending", ["parquet", "csv", "json", "html"])
def test_a_fault_survives_every_filter_and_is_status_3(
    ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("few.qps").write_text(FEW)
    assert main(["matrix", "few.qps", "-o", f"few.{ending}"]) == 3
    told = capsys.readouterr().err
    assert "2 without a result after internal errors of qps, see `reason`" in told
    assert "without capacity" not in told
    if ending == "parquet":
        rows = {row["extra"]: row for row in rows_of("few.parquet")}
        assert rows.keys() == {6, 7, 8, 9}
        assert rows[7]["reason"] == "internal error of qps: off by 1"
        assert rows[8]["reason"] == "internal error of qps: ZeroDivisionError: by nothing"
        assert rows[7]["capacity"] is None
        assert rows[6]["reason"] is None
    if ending == "json":
        counts = json.loads(Path("few.json").read_text())["counts"]
        assert counts == {"rows": 4, "infeasible": 0, "faults": 2, "solved_individually": 5}
    if ending == "html":
        page = Path("few.html").read_text()
        assert "5 configurations; 2 meet the conditions." in page
        assert "2 without a result after internal errors of qps" in page


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize("form", ["text", "markdown", "json", "csv"])
def test_a_fault_is_reported_with_all_other_rows(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("few.qps").write_text(FEW.replace("where largest_acceptable >= 5", ""))
    assert main(["matrix", "few.qps", "--format", form]) == 3
    out, err = capsys.readouterr()
    assert "This" not in err
    assert "Please report it" in err
    assert out.count("internal error of qps") == 2
    if form in ("text", "markdown"):
        assert "5 configurations; 2 feasible, 1 infeasible" in out
        assert "2 without a result after internal errors of qps" in " ".join(out.split())
    if form == "json":
        assert json.loads(out)["counts"] == {
            "rows": 5,
            "infeasible": 1,
            "faults": 2,
            "solved_individually": 5,
        }


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize(
    ("claim", "is_true"),
    [
        ("every configuration: largest_acceptable >= 1", False),  # of 5000 it does not hold
        ("some configuration: largest_acceptable >= 1", True),
        ("no configuration: largest_acceptable >= 1", False),
        ("at least 2 configurations: largest_acceptable >= 1", True),
        ("at least 3 configurations: largest_acceptable >= 1", None),
        ("at least 5 configurations: largest_acceptable >= 1", False),
        ("at most 1 configuration: largest_acceptable >= 1", False),
        ("at most 3 configurations: largest_acceptable >= 1", None),
        ("at most 4 configurations: largest_acceptable >= 1", True),
        ("every configuration where extra < 10: largest_acceptable >= 1", None),
    ],
)
def test_a_claim_that_rests_on_a_fault_is_not_judged(claim: str, is_true: bool | None) -> None:
    text = BASE + "matrix m { extra in [6, 7, 8, 9, 5000] }\n"
    spec = qps.loads(text + f'expect it {{ {claim}; source "us" }}\n').spec
    judge = Judge(spec.model)
    judged = judge.of(spec.model.expectations[0].matrix_claims[0])
    assert judged.faults == 2
    if is_true is None:
        with pytest.raises(SolverFault, match="off by 1, at extra = 7"):
            assert judged.is_true
    else:
        assert judged.is_true is is_true


# -- broken runs -------------------------------------------------------------------------


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
    told = capsys.readouterr().err
    kept = sorted(Path("a.parquet.parts").iterdir())
    assert f"interrupted: {len(kept)} of 5 parts are stored in a.parquet.parts" in told
    assert "--resume" in told
    assert not Path("a.parquet").exists()
    assert 0 < len(kept) <= 3
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
    assert len(made) == 5 - len(kept)
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
    kept = {path: path.read_bytes() for path in Path("a.parquet.parts").iterdir()}
    for at in range(3, len(before), 97):
        for path, data in kept.items():
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
    _, told = process.communicate()
    return process.returncode, told


FINGERPRINT = """
from pathlib import Path
from qps.compiler.pipeline import load
from qps.solver.matrix.matrix_compiler import compile_matrix
spec = load(Path("shop.qps"))
print(compile_matrix(spec.model, spec.model.matrices[0]).fingerprint)
"""


def test_every_process_finds_the_same_fingerprint() -> None:
    told = [
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
    assert len(set(told)) == 1


@pytest.mark.parametrize("part", [16, 1000])
def test_a_full_disk_is_reported(part: int) -> None:
    status, told = on_a_full_disk(500, part)
    assert status == 2, told
    assert "cannot write `a.parquet`: File too large" in told
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
    status, told = on_a_full_disk((largest + whole) // 2, 16)
    assert status == 2, told
    kept = len(list(Path("a.parquet.parts").iterdir()))
    assert kept
    assert f"{kept} parts are stored: free disk space, then continue with `--resume`" in told
    assert main(["matrix", "shop.qps", "-o", "a.parquet", "--resume"]) == 0
    assert Path("a.parquet").read_bytes() == Path("whole.parquet").read_bytes()


# -- runs at once, and runs that are killed ---------------------------------------------


def waiting_run(*arguments: str) -> subprocess.Popen[str]:
    """Start a run that makes its first part, and then waits; return it once that part is there."""
    process = in_a_process(SLOW, *arguments)
    kept = Path("a.parquet.parts") / "part-0000000000.sealed"
    while not kept.exists():
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
                told = capsys.readouterr().err
                assert f"is being written by another run: process {first.pid}, since 20" in told
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
    told = [process.communicate()[1] for process in running]
    assert {process.returncode for process in running} <= {0, 2}, told
    assert any(process.returncode == 0 for process in running)
    for process, text in zip(running, told, strict=True):
        assert (process.returncode == 2) == ("is being written by another run: process" in text)
    assert Path(name).read_bytes() == whole
    assert beside(name) == set()


def test_a_run_that_is_ended_puts_away_what_it_began() -> None:
    process = waiting_run()
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=400)
    assert process.returncode == 128 + signal.SIGTERM
    assert "interrupted: 1 of 5 parts are stored in a.parquet.parts" in told
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


# -- processes -----------------------------------------------------------------------------


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
    told = capsys.readouterr().err
    assert "processes that solve parts of 16 rows: were killed repeatedly" in told
    assert "--workers" in told


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


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_one_that_started_them(how: signal.Signals) -> None:
    process = in_a_process(SLOW)
    kept = Path("a.parquet.parts") / "part-0000000000.sealed"
    while not kept.exists():
        assert process.poll() is None
        time.sleep(0.02)
    workers = psutil.Process(process.pid).children()
    assert len(workers) == 2
    process.send_signal(how)
    _, told = process.communicate(timeout=400)
    assert psutil.wait_procs(workers, timeout=400)[1] == []
    assert kept.exists()
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted: 1 of 5 parts are stored in a.parquet.parts" in told
        assert "--resume" in told


# -- clusters ----------------------------------------------------------------------------


def test_a_scheduler_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("qps.solver.matrix.execution.dask_cluster._PATIENCE", 1)
    assert main(["matrix", "shop.qps", "--on", "dask://127.0.0.1:1"]) == 2
    told = capsys.readouterr().err
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in told
    assert "remove `--on`" in told


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
    told = capsys.readouterr().err
    assert f"has qps 0.0.9, this machine has {build()}" in told
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
        _, told = one.communicate()
    assert one.returncode == 0, told
    here = importlib.metadata.version("numpy")
    assert f"warning: workers have numpy 1.0.3, this machine has {here}: last digits" in told
    assert "Mismatched" not in told
    assert "Warning" not in told


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
        _, told = one.communicate()
    assert one.returncode == 2
    assert "workers that solve parts" in told
    assert "Traceback" not in told
    assert "distributed" not in told


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
    _, told = process.communicate(timeout=400)
    assert process.returncode == 2, told
    assert "gone" in told or "lost" in told
    assert re.search("[12] parts? (is|are) stored, continue with `--resume`", told)
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
