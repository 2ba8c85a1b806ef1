"""Programs that are started here, each in a session of its own, and ended by their ids."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from qps.measuring.accounts import Account, GroupAccount, MeasuringError, ProcessAccount
from qps.measuring.control_groups import ControlGroup
from qps.measuring.running_processes import all_processes, in_session

_PATIENCE = 5.0
"""Seconds for a program to end, once it was told to."""
_LARGEST_OUTPUT = 4_000_000
_SHOWN = 300
_STEP = 0.02


class Child:
    """A program that was started here, alone in a control group or not in one."""

    def __init__(self, command: Sequence[str], group: ControlGroup | None = None) -> None:
        self.command = tuple(command)
        self.group = group
        if shutil.which(self.command[0]) is None:
            raise MeasuringError(
                f"there is no program `{self.command[0]}`", "install it, or give its whole path"
            )
        try:
            self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open until it ends
        except OSError as error:
            raise MeasuringError(
                f"what {self.shown} prints cannot be kept: {error.strerror or error}",
                "make room where temporary files go",
            ) from error
        started = self.command if group is None else group.starting(self.command)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - it stands on the command line
                started,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            self._output.close()
            raise MeasuringError(f"{self.shown} cannot be run: {error.strerror}") from error
        self.pid = self._process.pid
        self.used_in_all: float | None = None
        """Seconds of processors of the program and its reaped children, once it has ended."""

    @property
    def shown(self) -> str:
        """The command, as messages call it."""
        return f"`{shlex.join(self.command)}`"

    @property
    def status(self) -> int | None:
        """The exit status, None while it runs."""
        if self._process.returncode is None:
            try:
                pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            except ChildProcessError:  # where nobody is told of children that end, they just go
                self._process.returncode = 0
                return 0
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self.used_in_all = usage.ru_utime + usage.ru_stime
        return self._process.returncode

    def wait(self) -> int:
        """Wait until it has ended, and return its exit status."""
        while (status := self.status) is None:
            time.sleep(_STEP)
        return status

    def check(self) -> None:
        """Do nothing, unless it has ended with another status than 0: MeasuringError then."""
        if self.status:
            raise MeasuringError(f"{self.shown} ended with status {self.status}{self.last_words()}")

    @property
    def account(self) -> Account:
        """What the program uses, with all that it has started."""
        name = self.command[0]
        if self.group is not None:
            return GroupAccount(self.group, name)
        own = self.pid
        return ProcessAccount(lambda processes: in_session(own, processes), name)

    def pids(self) -> frozenset[int]:
        """Return the processes of the program that are there now."""
        if self.group is not None:
            return self.group.processes()
        return in_session(self.pid, all_processes())

    def output(self) -> str:
        """Return what it has printed so far, of much only the end."""
        size = self._output.seek(0, os.SEEK_END)
        data = os.pread(self._output.fileno(), _LARGEST_OUTPUT, max(0, size - _LARGEST_OUTPUT))
        return data.decode(errors="replace")

    def last_words(self) -> str:
        """Return the end of what it has printed, for a message; empty where it said nothing."""
        text = " ".join(self.output().split())[-_SHOWN:]
        return f": {text}" if text else ""

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it, and whatever it has started, by their ids."""
        own: set[tuple[int, int]] = set()
        for sent in (number, signal.SIGKILL):
            now = all_processes()
            own |= {(pid, now[pid].born) for pid in self.pids() if pid in now}
            for pid in self._left(own):
                with suppress(OSError):
                    os.kill(pid, sent)
            until = time.monotonic() + _PATIENCE
            while self._left(own) and time.monotonic() < until:
                time.sleep(_STEP)
        self._output.close()

    def _left(self, own: set[tuple[int, int]]) -> list[int]:
        """Return which of some processes still run."""
        is_running = self.status is None
        now = all_processes()
        return [
            pid
            for pid, born in own
            if pid in now
            and now[pid].born == born
            and not now[pid].has_ended
            and (pid != self.pid or is_running)
        ]


@contextmanager
def running(command: Sequence[str], group: ControlGroup | None = None) -> Iterator[Child]:
    """Start a program; whatever happens meanwhile, it is ended."""
    child = Child(command, group)
    try:
        yield child
    finally:
        child.end()
