"""`qps measure` where programs, clocks and disks misbehave: what is kept is whole, and why is told.

Others of this kind (a command that fails, a count that goes backwards, Ctrl-C) stand in
test_measure.py, beside what they share with runs that go well.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from processes.ports import free_port
from qps.cli import main
from qps.compiler.measurement.campaigns import measured_run, measured_servers
from qps.compiler.measurement.campaigns.control_groups import new_group
from qps.compiler.measurement.campaigns.item_counts import count_of
from qps.compiler.measurement.campaigns.measured_run import RunEnvironment
from qps.compiler.measurement.campaigns.process_table import (
    InterfaceTraffic,
    all_processes,
    is_supported,
)
from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError

pytestmark = pytest.mark.skipif(not is_supported(), reason="qps measure needs Linux")

PROCESSES = Path(__file__).parents[1] / "processes"
ROOT = Path(__file__).parents[2]
PYTHON = shlex.quote(sys.executable)
COUNT = r"requests: (\d+)"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def port() -> int:
    return free_port()


def need_groups() -> None:
    group = new_group("qps-test")
    if isinstance(group, str):
        pytest.skip(group)
    group.removed()


def server(port: int) -> str:
    return f"{PYTHON} {PROCESSES / 'small_server.py'} {port} count.txt"


def generator(port: int) -> list[str]:
    return [sys.executable, str(PROCESSES / "small_generator.py"), str(port), "{rate}", "{seconds}"]


def queried(server: str, *flags: str, generator: list[str]) -> list[str]:
    words = ["measure", "web.csv", "--seconds", "0.2", "--server", server, "--no-check"]
    words += ["--vary", "rate in 50, 100 request/s", "--count", COUNT, "--interface", "none"]
    return [*words, *flags, "--", *generator]


def runs() -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(Path("web.json").read_bytes())["runs"]
    return found


def nobody_runs(word: str) -> bool:
    """Whether no process has a word among its arguments any more."""
    for pid in all_processes():
        try:
            text = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in text.split(b"\0"):
            return False
    return True


def test_a_server_that_forks_away_is_accounted_for(place: Path, port: int) -> None:
    need_groups()
    away = f"sh -c {shlex.quote(f'{server(port)} & sleep 0.1')}"
    assert main(queried(away, "--repeat", "1", generator=generator(port))) == 0
    assert all(run["used"]["cpu"] > 0 for run in runs())  # type: ignore[index]
    assert nobody_runs(str(port))


def test_a_server_that_forks_away_where_no_group_holds_it_is_refused(
    place: Path, port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measured_servers, "new_group", lambda _: "no group can be made here")
    # As a daemon does: a session of its own, and nobody who waits for it.
    away = f"setsid -f sleep 0.{port}"
    assert main(queried(away, generator=generator(port))) == 2
    errors = capsys.readouterr().err
    assert "has ended with status 0" in errors
    assert "start it in the foreground" in errors
    assert list(place.iterdir()) == []


def test_what_a_generator_leaves_behind_is_ended(place: Path, port: int) -> None:
    need_groups()
    leaving = f"setsid -f sleep 6{port}; {shlex.join(generator(port))}"
    command = queried(server(port), "--repeat", "1", generator=["sh", "-c", leaving])
    assert main(command) == 0
    assert nobody_runs(f"6{port}")


def test_a_generator_that_does_not_end_is_ended(
    place: Path, port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measured_run, "_LEAST_PATIENCE", 0.0)
    monkeypatch.setattr(measured_run, "_LONGER", 1.5)
    never = ["sh", "-c", f"sleep 7{port}; echo {{rate}}"]
    assert main(queried(server(port), "--repeat", "2", generator=never)) == 1
    assert "is still running after 0 s" in " ".join(capsys.readouterr().out.split())
    assert nobody_runs(f"7{port}")


def test_a_disk_that_fills_leaves_what_was_measured_so_far(place: Path, port: int) -> None:
    """A file may have no more than so many bytes: writing fails as on a full disk."""
    limit = 6_000
    begun = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "from qps.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    words = queried(server(port), "--repeat", "99", generator=generator(port))
    done = subprocess.run(
        [sys.executable, "-c", begun, *words],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    assert done.returncode == 2
    assert "`web.json` cannot be written: File too large" in done.stderr
    assert "continue with `--resume`" in done.stderr
    count = len(runs())
    assert 1 <= count < 99
    lines = Path("web.csv").read_text().splitlines(keepends=True)
    assert all(line.endswith("\n") and line.count(",") == lines[0].count(",") for line in lines)
    assert list(place.glob("*.tmp")) == []
    assert nobody_runs(str(port))


def test_no_room_for_what_programs_print_is_reported(
    place: Path, port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    assert main(queried(server(port), generator=generator(port))) == 2
    assert "cannot store the output of " in capsys.readouterr().err
    assert list(place.iterdir()) == []


def test_two_do_not_measure_into_one_table(
    place: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = queried(server(port), "--repeat", "99", generator=generator(port))
    begun = "import sys; from qps.cli import main; sys.exit(main(sys.argv[1:]))"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen([sys.executable, "-c", begun, *words], env=environment) as measuring:
        until = time.monotonic() + 60
        while not Path("web.csv").exists() and time.monotonic() < until:
            time.sleep(0.02)
        status, said = main([*words[:2], "--resume", *words[2:]]), capsys.readouterr().err
        # It is ended before anything can fail: else leaving waits for as long as it measures.
        measuring.send_signal(signal.SIGTERM)
        measuring.wait(400)
    assert status == 2
    assert f"another run is writing `web.json`: process {measuring.pid}" in said
    # What was ended so is as whole as after Ctrl-C.
    assert len(runs()) >= 1
    assert nobody_runs(str(port))
    assert list(place.glob("*.lock")) + list(place.glob("*.tmp")) == []


# Clocks and counters


def one_run(port: int) -> measured_run.MeasuredRun:
    with measured_servers.started(shlex.split(server(port))) as found:
        options = RunEnvironment(
            axes=(),
            generator=(*generator(port)[:3], "50", "0.2"),
            counts=(count_of(COUNT, "request"),),
            source=None,
            warm_up=0.0,
            accounts={"cpu": found.account},
            interface=None,
            groups=lambda: None,
        )
        return options.run((), 1, 0.2)


def test_a_clock_on_the_wall_that_is_set_moves_no_number(
    place: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Set(datetime):
        """Each time that it is queried, it is a year earlier."""

        queried = 0

        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            cls.queried += 1
            return datetime.now(UTC) - timedelta(days=365 * cls.queried)

    monkeypatch.setattr(measured_run, "datetime", Set)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 1e6 * real())
    run = one_run(port)
    assert Set.queried > 1
    assert 0.15 < run.elapsed < 60
    assert run.counted == {"request": 10}
    assert run.notes == ()


def test_a_machine_that_slept_is_reported(
    place: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, options = time.clock_gettime, []

    def jumping(clock: int) -> float:
        if clock != time.CLOCK_BOOTTIME:
            return real(clock)
        options.append(clock)
        return real(clock) + 30.0 * (len(options) > 1)

    monkeypatch.setattr(time, "clock_gettime", jumping)
    assert one_run(port).notes == ("the machine slept for 30.0 s",)


def test_counters_of_an_interface_that_go_backwards_are_reported() -> None:
    with pytest.raises(MeasuringError, match="counters of the network interface were reset"):
        measured_run._traffic_of(InterfaceTraffic(10, 1000), InterfaceTraffic(2, 1000))
    assert measured_run._traffic_of(None, InterfaceTraffic(2, 1000)) is None
    assert measured_run._traffic_of(
        InterfaceTraffic(10, 1000), InterfaceTraffic(12, 1000)
    ) == InterfaceTraffic(2, 0)
