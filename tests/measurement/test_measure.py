"""`qps measure` on small servers of Python: what is written, kept, refused and ended."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from processes.ports import free_port
from qps.cli import main
from qps.compiler.measurement.campaigns.child_processes import running
from qps.compiler.measurement.campaigns.control_groups import ControlGroup, new_group
from qps.compiler.measurement.campaigns.process_table import all_processes, is_supported
from qps.compiler.measurement.campaigns.processor_accounts import (
    GroupAccount,
    MeasuringError,
    ProcessAccount,
    used_between,
)
from qps.supervised_processes import ExitStatus

pytestmark = pytest.mark.skipif(not is_supported(), reason="qps measure needs Linux")

PROCESSES = Path(__file__).parents[1] / "processes"
ROOT = Path(__file__).parents[2]
GENERATOR = (sys.executable, str(PROCESSES / "small_generator.py"))
COUNT = r"requests: (\d+)"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def port() -> int:
    return free_port()


def server(port: int) -> str:
    return f"{sys.executable} {PROCESSES / 'small_server.py'} {port} count.txt"


def queried(port: int, *flags: str, words: tuple[str, ...] = ()) -> list[str]:
    command = [*GENERATOR, str(port), "{rate}", "{seconds}", *words]
    return ["measure", "web.csv", "--seconds", "0.2", *flags, "--", *command]


def grid(port: int, *flags: str, words: tuple[str, ...] = (), rates: str = "50, 100") -> list[str]:
    own = ["--server", server(port), "--vary", f"rate in {rates} request/s", "--count", COUNT]
    return queried(port, *own, *flags, words=words)


def retained() -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = json.loads(Path("web.json").read_bytes())
    return found


def nobody_is_left(port: int, measuring: int | None = None) -> bool:
    """Whether nobody listens any more, and no control group of a process is left."""
    measuring = measuring or os.getpid()
    group = new_group("qps-test")
    parents: list[Path] = []
    if isinstance(group, ControlGroup):
        parents = [group.folder.parent]
        group.removed()
    own = [one for parent in parents for one in parent.glob(f"qps-*-{measuring}")]
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0 and own == []


def test_a_grid_is_measured_and_fitted(
    place: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(grid(port, "--repeat", "2", "--no-check", "--idle")) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].endswith(" web.csv")
    assert "  Runs         6 of 6\n" in out
    assert "qps fit web.csv" in out
    lines = (place / "web.csv").read_text().splitlines()
    assert lines[0].startswith("cpu in %,request/s,")
    assert len(lines) == 4
    found = retained()
    runs = found["runs"]
    assert {(run["setting"][0] if run["setting"] else "", run["repetition"]) for run in runs} == {  # type: ignore[index]
        (rate, repetition) for rate in ("", "50", "100") for repetition in (1, 2)
    }
    assert {run["counted"]["request"] for run in runs} == {0, 10, 20}  # type: ignore[index]
    assert all(run["packets"] for run in runs if run["setting"])
    conditions = found["conditions"]
    assert {"system", "cores", "date", "accounts"} <= set(conditions)
    assert main(["fit", "web.csv", "--no-fixed"]) == 0
    output = capsys.readouterr().out
    assert "request/s" in output
    assert "columns that were not used" not in output
    assert nobody_is_left(port)


def test_counts_of_a_command_are_those_of_the_window(place: Path, port: int) -> None:
    flags = ("--repeat", "1", "--no-check", "--from", "cat count.txt", "--warm-up", "0.1")
    command = grid(port, *flags, rates="100")
    command[command.index(COUNT)] = r"done (\d+)"
    assert main(command) == 0
    (run,) = retained()["runs"]
    # Of all that the generator does, what is outside of the window is not counted.
    assert 0 < run["counted"]["request"] < 200  # type: ignore[index]
    assert nobody_is_left(port)


def test_what_runs_already_is_measured_by_its_id(
    place: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(server(port).split()) as child:
        until = time.monotonic() + 60
        while not Path("count.txt").exists() and time.monotonic() < until:
            time.sleep(0.02)
        flags = ("--of", f"web={child.pid}", "--vary", "rate in 100 request/s", "--count", COUNT)
        command = queried(port, *flags, "--repeat", "1", "--format", "json")
        assert main(command) == 0
        assert child.ending is None
    output = json.loads(capsys.readouterr().out)
    assert output["accounts"] == {"web": "CPU time of processes and their ended children"}
    (row,) = output["rows"]
    assert row["loads"]["web"] > 0
    assert row["each"] > 0


def test_going_on_after_failures(
    place: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--repeat", "3", "--no-check")
    words = ("fail", "broken")
    Path("broken").touch()
    assert main(grid(port, *flags, words=words)) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "Stopped 3 runs in a row failed" in out
    assert "ended with status 3: something is wrong here" in out
    assert not Path("web.csv").exists()
    Path("broken").unlink()
    assert main(grid(port, *flags, words=words)) == 2  # what was kept is not written over
    assert main(grid(port, *flags, "--resume", words=words, rates="50, 200")) == 2
    assert "vary was" in capsys.readouterr().err
    other = Path("web.json").read_text().replace('"processor": "', '"processor": "another ')
    mine = Path("web.json").read_bytes()
    Path("web.json").write_text(other)
    assert main(grid(port, *flags, "--resume", words=words)) == 2
    assert "was measured on another machine" in capsys.readouterr().err
    Path("web.json").write_bytes(mine)
    assert main(grid(port, *flags, "--resume", words=words)) == 0
    assert (len(retained()["runs"]), retained()["failures"]) == (6, [])
    before = Path("web.csv").read_bytes()
    assert main(grid(port, *flags, "--resume", words=words)) == 0
    assert Path("web.csv").read_bytes() == before


def test_a_check_finds_what_would_fail_later(
    place: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    command = grid(port, "--repeat", "1")
    command[command.index(COUNT)] = r"replies: (\d+)"
    assert main(command) == 2
    assert (
        r"`replies: (\d+)` is not found in the output of the generator" in capsys.readouterr().err
    )
    assert list(place.glob("web.*")) == []
    assert main(grid(port, "--repeat", "1", words=("half",))) == 0
    output = capsys.readouterr()
    assert re.search(r"at rate 100, \d+ % of the rate is reached: ", output.err)
    assert "reached " in " ".join(output.out.split())


def test_a_server_that_ends_ends_it(
    place: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(grid(port, "--no-check", words=("end",))) == 1
    assert "has ended with status 0" in " ".join(capsys.readouterr().out.split())
    command = grid(port, "--resume")
    command[command.index("--server") + 1] = f"{sys.executable} -c 'raise SystemExit(\"no way\")'"
    Path("web.json").unlink()
    assert main(command) == 2
    assert "has ended with status 1: no way" in capsys.readouterr().err


def test_counts_that_go_backwards_are_reported(
    place: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("down").write_text("9")
    script = "from pathlib import Path; p = Path('down'); n = int(p.read_text()); print('done', n)"
    source = f'{sys.executable} -c "{script}; p.write_text(str(n - 1))"'
    command = grid(port, "--no-check", "--from", source, "--repeat", "1", "--warm-up", "0")
    command[command.index(COUNT)] = r"done (\d+)"
    assert main(command) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "the count of `request` decreased by 1" in said


def test_ctrl_c_keeps_what_was_measured_and_ends_what_was_started(place: Path, port: int) -> None:
    # What runs in the background ignores Ctrl-C, and so does all that it starts.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    begun = "import sys; from qps.cli import main; sys.exit(main(sys.argv[1:]))"
    words = grid(port, "--repeat", "99", "--no-check")
    command = [sys.executable, "-c", heard + begun, *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as measuring:
        until = time.monotonic() + 60
        while not Path("web.csv").exists() and time.monotonic() < until:
            time.sleep(0.05)
        measuring.send_signal(signal.SIGINT)
        _, output = measuring.communicate(timeout=400)
    assert measuring.returncode == 128 + signal.SIGINT
    assert "runs are stored in web.json; continue with `--resume`" in output
    assert len(retained()["runs"]) >= 1
    assert Path("web.csv").read_text().endswith("\n")
    assert nobody_is_left(port, measuring.pid)
    assert list(place.glob("*.tmp")) == []


def test_a_network_of_ones_own_has_all_ports_and_nobody_elses_packets(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        words = grid(port, "--repeat", "1", "--own-network", "--format", "json", rates="100")
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            [sys.executable, "-m", "qps", *words],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
    if "cannot create a network namespace" in done.stderr:
        pytest.skip("only root may make a network")
    assert done.returncode == 0, done.stderr
    (run,) = retained()["runs"]
    # Twenty lines, each with its answer and what acknowledges these, and a connection.
    assert 40 <= run["packets"] <= 120  # type: ignore[operator]


def test_nothing_is_run_by_a_dry_run(
    place: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(grid(port, "--repeat", "2", "--dry-run", rates="1, 2, 3")) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "6 runs of 3 settings, about 2 s:"
    assert out[1] == f"  server: {server(port)}"
    generator = " ".join(GENERATOR)
    shown = sorted(f"  {generator} {port} {rate} 0.2" for rate in (1, 1, 2, 2, 3, 3))
    assert sorted(out[2:]) == shown
    assert list(place.iterdir()) == []


WRONG: list[tuple[list[str], str]] = [
    (["x.txt", "--of", "y", "--count", "(1)", "--", "true"], "not a `.csv` file"),
    (["x.csv", "--of", "y", "--count", "(1)"], "the load generator is missing"),
    (["x.csv", "--count", "(1)", "--", "true"], "the server to measure is missing"),
    (["x.csv", "--of", "y", "--", "true"], "the number of completed items is not counted"),
    (["x.csv", "--of", "y", "--count", "1", "--", "true"], "exactly one group"),
    (["x.csv", "--of", "y", "--count", "update=(1)", "--", "true"], "unknown item `update`"),
    (["x.csv", "--of", "y", "--count", "(1)", "--count", "(2)", "--", "true"], "counted twice"),
    (
        ["x.csv", "--of", "no_such_one", "--count", "(1)", "--", "true"],
        "`no_such_one` is not running",
    ),
    (["x.csv", "--of", "999999999", "--count", "(1)", "--", "true"], "no process 999999999"),
    (["x.csv", "--of", "no/such", "--count", "(1)", "--", "true"], "no cgroup"),
    (
        ["x.csv", "--of", "y", "--count", "(1)", "--seconds", "0", "--", "true"],
        "number of seconds, not `0`",
    ),
    (["x.csv", "--of", "y", "--count", "(1)", "--", "true", "{rate}"], "not varied"),
    (["x/y.csv", "--of", "y", "--count", "(1)", "--", "true"], "folder `x` does not exist"),
    (
        ["x.csv", "--server", "no_such_program", "--count", "(1)", "--", "true"],
        "program `no_such_program` not found",
    ),
    (
        ["x.csv", "--of", "y", "--count", "(1)", "--vary", "rate in 1, 2 request/s", "--", "true"],
        "the generator command does not use `rate`",
    ),
    (["x.csv", "--of", "y", "--count", "(1)", "--idle", "--", "true"], "`--idle`"),
    (["x.csv", "--of", "y", "--count", "(1)", "--own-network", "--", "true"], "`--own-network`"),
    (["step"], "the command to measure is missing"),
    (["step", "--", "no_such_program"], "program `no_such_program` not found"),
    (["step", "--of", "y", "--", "true"], "`qps measure step` does not take"),
    (["step", "--vary", "n in 1, 2 packet", "--", "true"], "the command does not use `n`"),
    (["step", "--", sys.executable, "-c", "raise SystemExit('no way')"], "status 1: no way"),
]


@pytest.mark.parametrize(("words", "expected"), WRONG)
def test_what_cannot_be_measured_is_reported(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str], expected: str
) -> None:
    assert main(["measure", *words]) == 2
    assert expected in capsys.readouterr().err
    assert list(place.iterdir()) == []


def test_a_step_is_pasted_into_a_spec(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work = "import sys; n = int(sys.argv[1]); sum(range(n * 2000)); print('did', n)"
    flags = ["--vary", "count in 100, 4000 packet", "--repeat", "2"]
    program = [sys.executable, "-c", work, "{count}"]
    assert main(["measure", "step", *flags, "--count", r"did (\d+)", "--", *program]) == 0
    out = capsys.readouterr().out
    assert "start-up" in out
    pasted = out[out.index("machine tested") :]
    rest = """
users N in 1..9
topology { node n = tested }
stream s { traffic N * 1 packet/s; at n { step } }
"""
    Path("own.qps").write_text(pasted + rest)
    assert main(["check", "own.qps"]) == 0, capsys.readouterr().err


BURN = "sum(range(4_000_000))"
PAUSE = """
import os, time
while not os.path.exists('go'):
    time.sleep(0.05)
"""
FORKS = f"""
import os
for _ in range(4):
    child = os.fork()
    if child == 0:
        {BURN}
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.parametrize("forks", [False, True], ids=["one process", "children that end"])
def test_a_group_and_clocks_of_processes_agree(place: Path, forks: bool) -> None:
    group = new_group("qps-test")
    if isinstance(group, str):
        pytest.skip(group)
    waits = "print('done', flush=True)\nimport time\ntime.sleep(60)"
    work = FORKS if forks else BURN
    script = f"print('begun', flush=True)\n{PAUSE}\n{work}\n{waits}"
    try:
        with running((sys.executable, "-c", script), group) as child:
            both = (
                GroupAccount(group, "it"),
                ProcessAccount(lambda there: frozenset([child.pid]) & there.keys(), "it"),
            )
            until(child.output, "begun")
            before = [one.balance(all_processes()) for one in both]
            Path("go").touch()
            until(child.output, "done")
            after = [one.balance(all_processes()) for one in both]
    finally:
        assert group.removed()
    used = [used_between(a, b, "it") for a, b in zip(before, after, strict=True)]
    # Ticks of 10 ms are all that is told of children that have ended, of each mode one.
    assert used[1] == pytest.approx(used[0], rel=0.01, abs=0.025 if forks else 0.002)
    assert used[0] > 0.01


def until(output: Callable[[], str], word: str) -> None:
    end = time.monotonic() + 100
    while word not in output() and time.monotonic() < end:
        time.sleep(0.01)


BEHIND = "import os, time; os.fork() and os._exit(0); {}print('x' * 9, flush=True); time.sleep(99)"


@pytest.mark.parametrize("own_session", [False, True])
def test_what_forks_away_is_still_counted_or_reported(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    own_session: bool,
) -> None:
    monkeypatch.setattr(
        "qps.compiler.measurement.campaigns.measured_servers.new_group", lambda _: "there are none"
    )
    script = BEHIND.format("os.setsid(); " if own_session else "")
    words = [sys.executable, "-c", script]
    if not own_session:
        with running(words) as child:
            assert child.wait() == ExitStatus(0)
            until(child.output, "xxx")
            (pid,) = child.account.balance(all_processes()).pids
            assert pid != child.pid
        left = all_processes().get(pid)
        assert left is None or left.has_ended
        return
    command = ["measure", "x.csv", "--count", "(1)", "--server", shlex.join(words), "--", "true"]
    before = set(all_processes())
    assert main(command) == 2
    assert "start it in the foreground" in capsys.readouterr().err
    # It has gone where nobody sees it any more: it is this test that ends it.
    for pid in set(all_processes()) - before:
        with suppress(FileNotFoundError, ProcessLookupError):  # of others, it may have ended
            if BEHIND[:20].encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)


def test_a_group_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MeasuringError, match="the cgroup of `web` no longer exists"):
        GroupAccount(ControlGroup(tmp_path / "none"), "web").balance({})
