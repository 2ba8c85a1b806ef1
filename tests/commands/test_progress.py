"""How far work is: one line on a terminal, from a second on, and nothing anywhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest

from qps.commands.terminal import progress
from qps.commands.terminal.progress import Progress

pty = pytest.importorskip("pty")
ROOT = Path(__file__).parents[2]
RESET = "\r\x1b[K"


class Terminal(StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def looked_at(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return what errors are written to from now on: a narrow terminal."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)  # not in a fixture: pytest sets its own after that
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    return found


def test_nothing_is_reported_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    now = time.monotonic()
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    with Progress(total=4, _start=now) as work:
        now += 0.999
        work.advance(1)
        assert terminal.getvalue() == ""
        now += 0.002
        work.advance(1)
        assert "50 %" in terminal.getvalue()


def test_a_line_is_drawn_over_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    with Progress(total=4, unit=None, label="a name that is far too long for it") as work:
        work.advance(1)
        work.advance(1, "b")
    first, second, end = terminal.getvalue().split(RESET)[1:]
    assert first.startswith("██████░")
    assert "25 %  a name" in first
    assert second.endswith("50 %  b")
    assert end == ""
    assert max(map(len, (first, second))) < 40


def test_a_step_that_takes_long_is_reported_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 0.01)
    with Progress(total=4, unit=None, label="slow"):
        until = time.monotonic() + 60
        while "0 %  slow" not in terminal.getvalue():
            assert time.monotonic() < until, "no line"


@pytest.mark.parametrize("is_quiet", [True, False])
def test_nothing_is_reported_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, is_quiet: bool
) -> None:
    terminal = looked_at(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    if not is_quiet:
        monkeypatch.setenv("CI", "true")
    with Progress(total=4, quiet=is_quiet) as work:
        work.advance(1)
    assert terminal.getvalue() == ""


PATIENTLY = """
import sys
from qps.commands.terminal import progress
progress._PATIENCE = progress._EVERY = 0.001
from qps.cli import main
sys.exit(main(sys.argv[1:]))
"""


def _all_of(terminal: int) -> str:
    """Return what is written to a terminal, until nobody has it open any more."""
    result = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other end is closed
            more = b""
        if not more:
            return result.decode()
        result += more


@pytest.mark.parametrize("command", ["test", "report", "matrix"])
def test_progress_is_shown_on_a_terminal_alone(command: str, tmp_path: Path) -> None:
    spec = tmp_path / "small.qps"
    spec.write_text(
        "users N in 1..200\nparam job = 10 ms in 1..100 ms\nmachine box { cpu 1 core }\n"
        "component work { cpu job / (1 request) }\ntopology { node host = box }\n"
        "stream jobs { traffic N * 1 request/s; at host { work } }\n"
        "matrix many { job in [5 ms, 20 ms] }\n"
        "expect some { host.cpu.load <= 1 with N = 10; source model }\n"
    )
    arguments = {"report": ["-o", str(tmp_path / "page.html")]}.get(command, [])
    environment = {k: v for k, v in os.environ.items() if k != "CI"}
    environment |= {"PYTHONPATH": str(ROOT / "src")}
    for is_terminal in (True, False):
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-c", PATIENTLY, command, str(spec), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs if is_terminal else subprocess.PIPE,
            env=environment,
        ) as process:
            os.close(theirs)
            output = _all_of(ours) if is_terminal else process.communicate()[1].decode()
            assert process.wait() == 0
        os.close(ours)
        assert ("░" in output) == is_terminal
