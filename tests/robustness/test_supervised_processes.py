"""Programs that fail, hang, print or take too much, or whose parent is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from qps import supervised_processes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.reviewing import git_command
from qps.reviewing.git_command import run_git
from qps.supervised_processes import (
    EndingSignal,
    ExitStatus,
    ExternalProgram,
    OutOfMemory,
    OutputLimit,
    ProcessEnding,
    ProgramLimits,
    ProgramResult,
    Timeout,
    ending_of,
    run_program,
)

ROOT = Path(__file__).parents[2]
LIMITS = ProgramLimits(seconds=100.0, memory=1_000_000_000, output=1_000_000)
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="limits and counters of Linux")


def run(
    script: str, limits: ProgramLimits = LIMITS, standard_input: bytes = b"", **environment: str
) -> ProgramResult:
    return run_program(
        [sys.executable, "-S", "-c", script],
        folder=ROOT,
        environment={**environment, "SYSTEMROOT": os.environ.get("SYSTEMROOT", "")},
        limits=limits,
        standard_input=standard_input,
    )


def test_a_program_gets_its_input_folder_and_environment_and_nothing_else() -> None:
    script = "import os, sys; print(os.getcwd(), os.environ['A'], 'PATH' in os.environ, input())"
    found = run(script, standard_input=b"given\n", A="b")
    assert found.ending == ExitStatus(0)
    assert found.stdout.decode().split() == [str(ROOT), "b", "False", "given"]
    with pytest.raises(FileNotFoundError):
        run_program(["/is/not/there"], folder=ROOT, environment={}, limits=LIMITS)


def test_a_status_is_one() -> None:
    found = run("import sys; print('so far'); sys.exit('why')")
    assert found.ending == ExitStatus(1)
    assert str(found.ending) == "with status 1"
    assert (found.stdout.split(), found.stderr.split()) == ([b"so", b"far"], [b"why"])


@POSIX
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_signal_is_one(number: signal.Signals) -> None:
    ending = run(f"import os; os.kill(os.getpid(), {int(number)})").ending
    assert ending == EndingSignal(number)
    assert str(ending) == f"by {number.name}"


def test_one_that_hangs_is_ended_with_what_it_has_started() -> None:
    script = (
        "import subprocess, sys, time\n"
        "other = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(1e4)'])\n"
        "print(other.pid, flush=True)\n"
        "time.sleep(1e4)\n"
    )
    found = run(script, ProgramLimits(seconds=3.0, memory=LIMITS.memory, output=LIMITS.output))
    assert found.ending == Timeout(3.0)
    assert str(found.ending) == "after its time limit of 3 s"
    if os.name != "nt":
        assert is_gone(int(found.stdout))


def test_one_that_prints_without_end_is_ended() -> None:
    found = run("while True: print('x' * 9999)")
    assert found.ending == OutputLimit(1_000_000)
    assert str(found.ending) == "after its output limit of 1,000,000 bytes"


@LINUX
def test_one_that_takes_too_much_memory_has_none_left() -> None:
    limited = "import resource, time\nwhile resource.getrlimit(resource.RLIMIT_DATA)[0] < 0: "
    found = run(f"{limited}time.sleep(0.01)\nx = bytearray(2_000_000_000); print(len(x))")
    assert found.ending == OutOfMemory()
    assert str(found.ending) == "out of memory"
    assert not found.stdout
    assert run("x = bytearray(200_000_000)").ending == ExitStatus(0)


@pytest.mark.parametrize(
    ("code", "counted", "ending"),
    [
        (-9, "oom_kill 3\n", EndingSignal(9)),
        (-9, "pgfault 77\noom_kill 4\n", OutOfMemory(9)),
        (-9, "", EndingSignal(9)),
        (-11, "oom_kill 4\n", EndingSignal(11)),
        (0, "oom_kill 4\n", ExitStatus(0)),
        (137, "oom_kill 4\n", ExitStatus(137)),
    ],
)
def test_one_that_the_system_ended_for_memory_is_no_other_that_was_killed(
    code: int,
    counted: str,
    ending: ProcessEnding,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervised_processes, "_COUNTERS", tmp_path / "vmstat")
    assert supervised_processes.memory_kills() == -1
    (tmp_path / "vmstat").write_text(counted)
    assert ending_of(code, 3) == ending
    assert str(OutOfMemory(9)) == "by SIGKILL, out of memory"


def test_several_requests_share_a_program_and_each_has_its_time() -> None:
    script = "for line in open(0): print(line.upper(), end='', flush=True)"
    with ExternalProgram(
        [sys.executable, "-S", "-u", "-c", script],
        folder=ROOT,
        environment={},
        limits=ProgramLimits(seconds=3.0, memory=LIMITS.memory, output=LIMITS.output),
        standard_input=None,
    ) as program:
        for word in (b"a\n", b"b\n"):
            with program.time_limit():
                program.stdin.write(word)
                program.stdin.flush()
                assert program.stdout.readline() == word.upper()
        with program.time_limit():
            assert program.stdout.read(1) == b""
            assert program.ending() == Timeout(3.0)


# -- whose parent is killed ----------------------------------------------------------------------

PARENT = """
import sys
from pathlib import Path
from qps.supervised_processes import ExternalProgram, ProgramLimits
limits = ProgramLimits(seconds=1e4, memory=10**9, output=10**12)
given = dict(folder=Path(), environment={}, limits=limits)
with ExternalProgram(
    [sys.executable, "-S", "-c", sys.argv[1]], standard_input=eval(sys.argv[2]), **given
) as program:
    print(program.stdout.readline().decode(), flush=True)
    program.result()
"""
PRINTS = "import os\nprint(os.getpid(), flush=True)\nwhile True: print('x', flush=True)"
READS = "import os\nprint(os.getpid(), flush=True)\ninput()"


@POSIX
@pytest.mark.parametrize(("script", "given"), [(PRINTS, b""), (READS, None)])
def test_one_whose_parent_is_killed_ends(script: str, given: bytes | None) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, script, repr(given)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert not is_gone(pid, seconds=0.0)
        parent.kill()
        assert is_gone(pid)


def is_gone(pid: int, seconds: float = 100.0) -> bool:
    """Return whether a process ends, in some seconds; one that nobody waits for has ended."""
    until = time.monotonic() + seconds
    while True:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(0.02)


# -- git, which fails as what it is --------------------------------------------------------------


@POSIX
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("kill -SEGV $$", "git ended by SIGSEGV"),
        ("echo 'fatal: Out of memory, malloc failed' >&2; exit 128", "git ran out of memory"),
        ("exec sleep 1000", "git timed out"),
        ("while :; do echo 0123456789; done", "git prints more than 1,000 bytes"),
    ],
)
def test_git_that_is_ended_is_no_missing_object(
    script: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(git_command, "_MOST", 1_000)
    with pytest.raises(QpsError, match=message):
        run_git(tmp_path, "rev-parse", "--show-toplevel", longest=2.0)
