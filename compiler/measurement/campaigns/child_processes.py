"""Programs that are started here, each in a session of its own, and ended by their ids.

Whatever ends this process, its supervisor ends them. What they print goes into a file, of which
no more is written than is bearable: who prints on is stopped, or has all but the end thrown away.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

from qps.compiler.measurement.campaigns.control_groups import ControlGroup
from qps.compiler.measurement.campaigns.process_table import all_processes, in_session
from qps.compiler.measurement.campaigns.processor_accounts import (
    Account,
    GroupAccount,
    MeasuringError,
    ProcessAccount,
)
from qps.compiler.measurement.campaigns.supervision import SupervisedProgram, start
from qps.supervised_processes import ExitStatus, ProcessEnding

_PATIENCE = 5.0
"""Seconds for a program to end, once it was requested to."""
_LARGEST_OUTPUT = 4_000_000
_MOST_PRINTED = 100_000_000
"""Bytes that a program may print."""
_SHOWN = 300
_STEP = 0.02


class Child:
    """A program that was started here, alone in a control group or not in one.

    One that prints more than 100 MB is stopped; of a `server`, which may print for days, the end is
    kept. What it complains of stands among what it prints, unless that is kept `apart`.
    """

    def __init__(
        self,
        command: Sequence[str],
        group: ControlGroup | None = None,
        *,
        server: bool = False,
        apart: bool = False,
    ) -> None:
        self.command = tuple(command)
        self.group = group
        if shutil.which(self.command[0]) is None:
            raise MeasuringError(
                f"program `{self.command[0]}` not found", "install it, or use its full path"
            )
        self._closing = ExitStack()
        self._output = self._file()
        self._errors = self._file() if apart else self._output
        started = self.command if group is None else group.starting(self.command)
        folder = None if group is None else str(group.folder)
        try:
            self._program: SupervisedProgram = start(
                started, self._output.fileno(), self._errors.fileno(), group=folder
            )
        except BaseException:
            self._closing.close()
            raise
        self.pid = self._program.pid
        self._is_server = server
        self._is_over = threading.Event()
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._watching.start()

    def _file(self) -> IO[bytes]:
        import fcntl  # noqa: PLC0415 - of systems like Linux alone

        try:
            file = self._closing.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
            # Whoever has it open writes at its end, also where that is the beginning again.
            fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
            return file
        except OSError as error:
            self._closing.close()
            raise MeasuringError(
                f"cannot store the output of {self.shown}: {error.strerror or error}",
                "free disk space for temporary files",
            ) from error

    def _watch(self) -> None:
        """Look from time to time how much has been printed, until it is ended."""
        while not self._is_over.wait(_STEP):
            if not self.prints_without_end:
                continue
            if self._is_server:  # it writes at the end, wherever that is
                os.ftruncate(self._output.fileno(), 0)
            else:
                for pid in self.pids():
                    with suppress(OSError):
                        os.kill(pid, signal.SIGKILL)

    @property
    def shown(self) -> str:
        """The command, as messages call it."""
        return f"`{shlex.join(self.command)}`"

    @property
    def ending(self) -> ProcessEnding | None:
        """How it ended, None while it runs."""
        use = self._program.use()
        return None if use is None else use.ending

    @property
    def used_in_all(self) -> float | None:
        """Seconds of processors of the program and its reaped children, once it has ended."""
        use = self._program.use()
        return None if use is None else use.used

    @property
    def prints_without_end(self) -> bool:
        """Whether it has printed more than it may."""
        printed = (os.fstat(file.fileno()).st_size for file in {self._output, self._errors})
        return max(printed) > _MOST_PRINTED

    def wait(self, seconds: float | None = None) -> ProcessEnding | None:
        """Wait until it has ended, and return how; None if it runs for longer."""
        use = self._program.use(seconds)
        return None if use is None else use.ending

    def check(self) -> None:
        """Do nothing, unless it prints without end, or has ended with another status than 0.

        MeasuringError then.
        """
        self.check_size()
        if self.ending not in (None, ExitStatus(0)):
            raise MeasuringError(f"{self.shown} ended {self.ending}{self.last_words()}")

    def check_size(self) -> None:
        """Do nothing, unless it has printed too much: MeasuringError then."""
        if self.prints_without_end and not self._is_server:
            raise MeasuringError(
                f"{self.shown} printed more than {_MOST_PRINTED // 10**6} MB, and was stopped",
                "let it print only its results, or redirect the rest to a file",
            )

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
        return _ending(self._output)

    def complaints(self) -> str:
        """Return what it has said besides, where that is kept apart, of much only the end."""
        return _ending(self._errors)

    def last_words(self) -> str:
        """Return the end of what it has printed, for a message; empty where it said nothing."""
        text = " ".join(self.output().split())[-_SHOWN:]
        return f": {text}" if text else ""

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it, and whatever it has started, by their ids."""
        own: set[tuple[int, int]] = set()
        for sent in (number, signal.SIGKILL):
            now = all_processes()
            own |= {(pid, now[pid].started_at) for pid in self.pids() if pid in now}
            for pid in self._left(own):
                with suppress(OSError):
                    os.kill(pid, sent)
            until = time.monotonic() + _PATIENCE
            while self._left(own) and time.monotonic() < until:
                time.sleep(_STEP)
        self._is_over.set()
        self._watching.join()
        self._program.close()
        self._closing.close()

    def _left(self, own: set[tuple[int, int]]) -> list[int]:
        """Return which of some processes still run."""
        now = all_processes()
        return [
            pid
            for pid, started_at in own
            if pid in now and now[pid].started_at == started_at and not now[pid].has_ended
        ]


def _ending(file: IO[bytes]) -> str:
    size = os.fstat(file.fileno()).st_size
    data = os.pread(file.fileno(), _LARGEST_OUTPUT, max(0, size - _LARGEST_OUTPUT))
    return data.decode(errors="replace")


@contextmanager
def running(
    command: Sequence[str],
    group: ControlGroup | None = None,
    *,
    server: bool = False,
    apart: bool = False,
) -> Iterator[Child]:
    """Start a program; whatever happens meanwhile, it is ended."""
    child = Child(command, group, server=server, apart=apart)
    try:
        yield child
    finally:
        child.end()
