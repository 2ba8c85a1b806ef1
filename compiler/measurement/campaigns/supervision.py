"""Programs started by a supervisor, which ends them however this process ends (`supervisor.py`)."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import as_file, files

import msgspec
from msgspec import Struct

from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError
from qps.compiler.measurement.campaigns.supervisor import LENGTH, READY
from qps.supervised_processes import EndingSignal, ProcessEnding, ending_of, memory_kills

_PATIENCE = 30.0
"""Seconds for the supervisor to begin, or to start a program."""
_PIECE = 4096
_OF_PYTHON = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH")
"""What the supervisor gets of the environment; of all, which may be too long, programs get it."""


class ProgramUse(Struct, frozen=True):
    """How a program ended, and the seconds of processors that it has used.

    Those of its children that it has waited for are counted, too.
    """

    ending: ProcessEnding
    used: float


class _Word(Struct):
    """What the supervisor says of a program: its id, or why there is none; then how it ended."""

    pid: int | None = None
    error: str = "no response"
    status: int = -signal.SIGKILL
    used: float = 0.0


class SupervisedProgram:
    """A program that the supervisor has started; `pid` is its process, leader of a session."""

    def __init__(self, pid: int, report: int, text: bytes) -> None:
        self.pid = pid
        self._report = report
        self._text = text
        self._kills = memory_kills()
        self._use: ProgramUse | None = None

    def use(self, seconds: float | None = 0.0) -> ProgramUse | None:
        """Return how it ended, None where it still runs after so many seconds (None: ever)."""
        if self._use is None and (line := _line(self._report, self._text, seconds)) is not None:
            # Without a last word the supervisor itself has ended, and all it started with it.
            found = msgspec.json.decode(line[0] or b"{}", type=_Word)
            self._use = ProgramUse(ending_of(found.status, self._kills), found.used)
        return self._use

    def close(self) -> None:
        """Listen no more to how it ends."""
        if self._report >= 0:
            os.close(self._report)
            self._report = -1
            self._use = self._use or ProgramUse(EndingSignal(signal.SIGKILL), 0.0)


def start(
    command: Sequence[str], output: int, errors: int, *, group: str | None = None
) -> SupervisedProgram:
    """Start a program that prints into two open files, in this folder, with this environment.

    `group` is a folder of control groups that is taken away, too, when all is ended. MeasuringError
    where the program cannot be run.
    """
    request = {
        "program": shutil.which(command[0]) or command[0],
        "command": list(command),
        "folder": os.getcwd(),  # noqa: PTH109 - for another process
        "environment": dict(os.environ),
        "group": group,
    }
    body = json.dumps(request).encode()
    report_end, report = os.pipe()
    try:
        try:
            channel = _supervisor()
            socket.send_fds(channel, [LENGTH.pack(len(body))], [output, errors, report])
            channel.sendall(body)
        finally:
            os.close(report)
        line = _line(report_end, b"", _PATIENCE)
    except OSError as error:
        os.close(report_end)
        _supervisor.cache_clear()  # the next program has another one
        raise MeasuringError(
            f"the process that starts programs has ended: {error.strerror or error}", "try again"
        ) from error
    text, rest = line or (b"", b"")
    found = msgspec.json.decode(text or b"{}", type=_Word)
    if found.pid is None:
        os.close(report_end)
        raise MeasuringError(f"`{command[0]}` cannot be run: {found.error}")
    return SupervisedProgram(found.pid, report_end, rest)


def prepare() -> None:
    """Start the supervisor, so that the first program that is started need not wait for it."""
    with suppress(OSError):  # the first program says so
        _supervisor()


@cache
def _supervisor() -> socket.socket:
    """Start the supervisor of this process, and return the channel for requests."""
    here, there = socket.socketpair()
    with as_file(files("qps.compiler.measurement.campaigns") / "supervisor.py") as program, there:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", str(program)],
            {name: os.environ[name] for name in _OF_PYTHON if name in os.environ},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, there.fileno(), 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,  # what ends this process by its group does not end the supervisor
        )
        there.close()
        here.settimeout(_PATIENCE)
        if here.recv(len(READY)) != READY:
            raise BrokenPipeError("it does not start")
    here.settimeout(None)
    return here


def _line(report: int, text: bytes, seconds: float | None) -> tuple[bytes, bytes] | None:
    """Return the next line and what follows it; None where it has not come within some seconds.

    An empty line says that nothing more will come.
    """
    while b"\n" not in text:
        waiting = select.poll()
        waiting.register(report, select.POLLIN)
        if not waiting.poll(None if seconds is None else seconds * 1000):
            return None
        piece = os.read(report, _PIECE)
        if not piece:
            return b"", b""
        text += piece
    line, _, rest = text.partition(b"\n")
    return line, rest
