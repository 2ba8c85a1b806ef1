"""Programs that are started for a measurement: they end with it, and what they print is bounded."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from processes.ports import free_port
from qps.cli import main
from qps.compiler.measurement.campaigns import child_processes, item_counts
from qps.compiler.measurement.campaigns.child_processes import running
from qps.compiler.measurement.campaigns.control_groups import mounted, new_group
from qps.compiler.measurement.campaigns.process_table import all_processes, is_supported
from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError
from qps.supervised_processes import EndingSignal, ExitStatus

pytestmark = pytest.mark.skipif(not is_supported(), reason="qps measure needs Linux")

ROOT = Path(__file__).parents[2]
PYTHON = shlex.quote(sys.executable)
SMALL = 1_000_000
ENDLESS = "import sys\nwhile True: sys.{}.write('x' * 9999 + chr(10))"
LONG = 120.0
"""Seconds that tests wait for what comes at once, where the machine is not busy."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def marker() -> str:
    """Give a word that stands in the arguments of all that a test starts, and nowhere else."""
    return f"qps-test-{os.getpid()}-{time.monotonic_ns()}"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_processes, "_MOST_PRINTED", SMALL)


def processes_of(marker: str) -> list[int]:
    found = []
    for pid, one in all_processes().items():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in words and not one.has_ended:
            found.append(pid)
    return found


def wait_for(marker: str, count: int) -> list[int]:
    until = time.monotonic() + LONG
    while len(found := processes_of(marker)) != count and time.monotonic() < until:
        time.sleep(0.05)
    return found


# -- SIGKILL ------------------------------------------------------------------------------------

STAYING = "import signal, time, sys; {}; time.sleep(1e6)"
AWAY = "(setsid setsid -f {staying} &); exec {staying}"
"""What a shell starts as a server: that, and a program that nobody waits for."""
ALL_SORTS = (
    "{staying} & set -m; {staying} & setsid -f {staying}; (setsid setsid -f {staying} &); "
    "{deaf} & {staying} & kill -STOP $!; exec {staying}"
)
"""With a child, one in a group of its own, in a session, without a parent, deaf, and stopped."""


@contextmanager
def begun(marker: str, script: str, *, groups: bool) -> Iterator[subprocess.Popen[bytes]]:
    """Start `qps measure` with a server; its load generator goes on for long.

    It is ended with all of its session where a test fails: nobody waits for what never ends.
    """
    deaf = "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 13, 15)]"
    words = {
        "staying": f"{PYTHON} -c {shlex.quote(STAYING.format('0'))} {marker}",
        "deaf": f"{PYTHON} -c {shlex.quote(STAYING.format(deaf))} {marker}",
    }
    server = f"sh -c {shlex.quote(script.format(**words))}"
    without = "servers.new_group = lambda _: 'no group can be made here'\n"
    program = (
        "import sys\n"
        "from qps.cli import main\n"
        "from qps.compiler.measurement.campaigns import measured_servers as servers\n"
        f"{'' if groups else without}"
        "servers._READY = 0.1\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    options = ["measure", "web.csv", "--server", server, "--seconds", "1000", "--no-check"]
    options += ["--vary", "rate in 50, 100 request/s", "--count", r"(\d+)", "--interface", "none"]
    generator = [sys.executable, "-c", "import time; time.sleep(1e6)", f"{marker}-load", "{rate}"]
    with subprocess.Popen(
        [sys.executable, "-c", program, *options, "--", *generator],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    ) as measuring:
        try:
            yield measuring
        finally:
            with suppress(ProcessLookupError):
                os.killpg(measuring.pid, signal.SIGKILL)


@pytest.mark.parametrize("groups", [True, False], ids=["in a control group", "in none"])
def test_nothing_is_left_behind_where_it_is_killed(
    place: Path, marker: str, *, groups: bool
) -> None:
    if groups and isinstance(why := new_group("qps-test"), str):
        pytest.skip(why)
    with begun(marker, ALL_SORTS, groups=groups) as measuring:
        until = time.monotonic() + LONG
        while time.monotonic() < until and measuring.poll() is None:
            # `qps measure` itself has the marker in its arguments, too.
            started = started_by(marker, measuring.pid)
            if len(started) >= 8 and any(f"{marker}-load" in words for words in started):
                break
            time.sleep(0.05)
        assert measuring.poll() is None
        assert len(started) >= 8
        os.killpg(measuring.pid, signal.SIGKILL)
        measuring.wait()
    assert wait_for(marker, 0) == []
    until = time.monotonic() + LONG
    while (left := groups_of(measuring.pid)) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == []


def groups_of(measuring: int) -> list[str]:
    """Return the control groups that a process has made and that are there yet."""
    folders = [folder for top in [mounted()] if top for folder, _, _ in os.walk(top)]
    return [folder for folder in folders if folder.endswith(f"-{measuring}")]


def started_by(marker: str, measuring: int) -> list[str]:
    """Return the last words of all processes with a marker but `qps measure` itself."""
    found = []
    for pid in processes_of(marker):
        if pid != measuring:
            text = (
                Path(f"/proc/{pid}/cmdline").read_bytes() if Path(f"/proc/{pid}").exists() else b""
            )
            found.append(text.decode(errors="replace"))
    return found


def test_nothing_is_left_behind_where_it_is_killed_at_once(place: Path, marker: str) -> None:
    for pause in (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6):
        with begun(marker, AWAY, groups=False) as measuring:
            time.sleep(pause)
            measuring.kill()
            measuring.wait()
        assert wait_for(marker, 0) == []


def test_a_supervisor_that_was_killed_is_reported_and_restarted(place: Path, marker: str) -> None:
    command = [sys.executable, "-c", "print(42)", marker]
    with running(command) as child:
        assert child.wait() == ExitStatus(0)
    with running([sys.executable, "-c", "import time; time.sleep(1e6)", marker]) as child:
        parent = all_processes()[child.pid].parent
        os.kill(parent, signal.SIGKILL)
        assert child.wait() == EndingSignal(signal.SIGKILL)
    assert wait_for(marker, 0) == []
    with pytest.raises(MeasuringError, match="the process that starts programs has ended"):
        child_processes.Child(command)
    with running(command) as child:
        assert child.wait() == ExitStatus(0)
        assert child.output() == "42\n"


def test_programs_start_where_and_as_they_would_here(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "import os, signal, sys\n"
        "print(os.getcwd(), os.environ['QPS_TEST'], sys.stdin.read(), os.getsid(0) - os.getpid())\n"
        "print(signal.getsignal(signal.SIGPIPE) == signal.SIG_DFL or 'ignored')\n"
        "print(sorted(os.listdir('/proc/self/fd'), key=int)[:-1])\n"
        "sys.exit(7)\n"
    )
    monkeypatch.setenv("QPS_TEST", "ä" * 300_000)  # longer than a message of a socket
    with pytest.raises(MeasuringError, match="cannot be run: Argument list too long"):
        child_processes.Child([sys.executable, "-c", script])
    monkeypatch.setenv("QPS_TEST", "ä" * 50_000)
    with running([sys.executable, "-c", script]) as child:
        assert child.wait() == ExitStatus(7)
        first, _, files = child.output().splitlines()
        assert child.used_in_all is not None
    assert first.split() == [str(place), "ä" * 50_000, "0"]
    assert files == "['0', '1', '2']"


# -- what is printed ----------------------------------------------------------------------------


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_generator_that_prints_without_end_is_stopped(
    place: Path, small: None, stream: str, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    server = f"{PYTHON} {ROOT / 'tests/processes/small_server.py'} {port} count.txt"
    options = ["measure", "web.csv", "--server", server, "--seconds", "0.2", "--interface", "none"]
    options += ["--vary", "rate in 50, 100 request/s", "--count", r"(\d+)"]
    generator = [sys.executable, "-c", ENDLESS.format(stream), "{rate}"]
    assert main([*options, "--", *generator]) == 2  # as the check finds
    assert "printed more than 1 MB, and was stopped" in capsys.readouterr().err
    assert main([*options, "--no-check", "--", *generator]) == 1
    shown = " ".join(capsys.readouterr().out.split())  # lines end where the paths' lengths say
    assert "printed more than 1 MB, and was stopped" in shown


def test_a_generator_that_has_printed_too_much_and_ended_is_reported(
    place: Path, small: None
) -> None:
    with running([sys.executable, "-c", f"print('x' * {2 * SMALL})"]) as child:
        child.wait()
        with pytest.raises(MeasuringError, match="printed more than 1 MB"):
            child.check()


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_command_that_prints_counts_without_end_is_stopped(
    place: Path, small: None, stream: str
) -> None:
    command = shlex.join([sys.executable, "-c", ENDLESS.format(stream)])
    with pytest.raises(MeasuringError, match="printed more than 1 MB, and was stopped"):
        item_counts.page_or_output(command)


def test_of_a_server_that_prints_for_long_the_end_is_shown(place: Path, small: None) -> None:
    script = (
        f"import os, time\nprint('x' * {3 * SMALL}, flush=True)\n"
        "open('printed', 'w').close()\n"
        "while not os.path.exists('go'): time.sleep(0.01)\n"
        "print('end')\n"
    )
    with running([sys.executable, "-c", script], server=True) as child:
        until = time.monotonic() + LONG
        while not Path("printed").exists() and time.monotonic() < until:
            time.sleep(0.01)
        while child.prints_without_end and time.monotonic() < until:
            time.sleep(0.01)
        Path("go").touch()
        assert child.wait() == ExitStatus(0)
        child.check()
        assert child.last_words() == ": end"


def test_what_a_command_says_besides_is_no_count(place: Path) -> None:
    script = "import sys; print(42); print('hm', file=sys.stderr)"
    command = shlex.join([sys.executable, "-c", script])
    assert item_counts.page_or_output(command) == "42\n"
    assert item_counts.printed(command) == ("42\n", "hm\n")
    with pytest.raises(MeasuringError, match="ended with status 3: oh"):
        item_counts.printed("sh -c 'echo oh >&2; exit 3'")
    for wrong, result in (("", "an empty command"), ("'", "No closing quotation")):
        with pytest.raises(MeasuringError, match=result):
            item_counts.printed(wrong)
