"""Supervised processes: how they are started, limited and ended, and how each of them ended.

Every process that QPS starts is one of these, and how it ended is one of five values: an exit
status, a signal, a limit of time, of memory or of output. There are three kinds, since what they
need differs:

- `ExternalProgram` (here): a program such as git, with exactly the environment that it is given,
  limits of time, memory and output, and pipes that close with this process;
- `WorkerProcess` (`qps.worker_processes`): Python that serves this process. It is a copy of it
  where the system bears that, so it has its environment and its data, and a thread of it watches
  for the end of its parent. Matrices, samples, simulations and the language server have them, and
  the workers of a local Dask cluster are some, too: Dask owns what they do and which parts are
  made again, never how they start and end;
- `SupervisedProgram` (`qps.compiler.measurement.campaigns.supervision`): a program that a user
  measures, with all that it starts. A process of its own supervises it, which outlives this one
  and then ends what is left: a server may have left its session and its parent.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import IO, Self, TypeAlias

from msgspec import Struct

_PIECE = 1 << 16
_KILLED = 9
_COUNTERS = Path("/proc/vmstat")
"""Where Linux counts the processes that it has ended to get memory."""
_NO_MEMORY = re.compile(
    rb"(?im)^(?:fatal|error): out of memory|cannot allocate memory$|^MemoryError"
)
"""What programs complain of that end by themselves where they get no memory."""


# -- how a process ended ---------------------------------------------------------------------


class ExitStatus(Struct, frozen=True):
    """It ended by itself, with a status."""

    code: int

    def __str__(self) -> str:
        return f"with status {self.code}"


class EndingSignal(Struct, frozen=True):
    """A signal ended it."""

    number: int

    def __str__(self) -> str:
        names = {one.value: one.name for one in signal.Signals}
        return f"by {names.get(self.number, f'signal {self.number}')}"


class OutOfMemory(Struct, frozen=True):
    """It had no memory left: the system ended it (then by a `number`), or it said so itself."""

    number: int | None = None

    def __str__(self) -> str:
        by = "" if self.number is None else f"{EndingSignal(self.number)}, "
        return f"{by}out of memory"


class Timeout(Struct, frozen=True):
    """It was ended as it took longer than it may."""

    seconds: float

    def __str__(self) -> str:
        return f"after its time limit of {self.seconds:g} s"


class OutputLimit(Struct, frozen=True):
    """It was ended as it printed more than it may."""

    size: int

    def __str__(self) -> str:
        return f"after its output limit of {self.size:,} bytes"


ProcessEnding: TypeAlias = ExitStatus | EndingSignal | OutOfMemory | Timeout | OutputLimit
"""How a process ended, each as its own value; `str` of it follows "ended"."""


def ending_of(code: int, kills_before: int = -1) -> ProcessEnding:
    """Return how a process ended, by its exit status or the negative number of a signal.

    `kills_before` is what `memory_kills` returned when it was started: where the system has ended
    one for memory since, a process that was killed is taken to be that one.
    """
    if code >= 0:
        return ExitStatus(code)
    if code == -_KILLED and 0 <= kills_before < memory_kills():
        return OutOfMemory(_KILLED)
    return EndingSignal(-code)


def memory_kills() -> int:
    """Return how many processes the system has ended to get memory; -1 where it does not say."""
    with suppress(OSError, ValueError):
        for line in _COUNTERS.read_text(encoding="ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return -1


# -- external programs -----------------------------------------------------------------------


class ProgramLimits(Struct, frozen=True, kw_only=True):
    """What a program may use: seconds, bytes of memory of its own, and bytes that it prints.

    Memory is limited on Linux alone, from just after the start, and without the files that it maps.
    """

    seconds: float
    memory: int
    output: int


class ProgramResult(Struct, frozen=True, kw_only=True):
    """How a program ended, what it printed and what it complained of."""

    ending: ProcessEnding
    stdout: bytes
    stderr: bytes


class ExternalProgram:
    """A program at work, which is ended where the block is left; OSError where it cannot start.

    No shell starts it, and it gets no variable but those of `environment`. It reads
    `standard_input`, or what is written to `stdin` where that is None. Should this process be
    killed, both pipes are closed: one that reads or prints ends.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        limits: ProgramLimits,
        standard_input: bytes | None = b"",
    ) -> None:
        self.limits = limits
        self._stopped: ProcessEnding | None = None
        self._kills = memory_kills()
        with ExitStack() as closing:
            self._errors = closing.enter_context(tempfile.TemporaryFile())
            with tempfile.TemporaryFile() as requests:
                requests.write(standard_input or b"")
                requests.seek(0)
                self._process = subprocess.Popen(  # noqa: S603 - no shell
                    list(command),
                    stdin=subprocess.PIPE if standard_input is None else requests,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    cwd=folder,
                    env=dict(environment),
                    process_group=None if os.name == "nt" else 0,
                )
            self._closing = closing.pop_all()
        _limit_memory(self._process.pid, limits.memory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # it has ended before it was sent all
                    pipe.close()
        self._process.wait()
        self._closing.close()

    @property
    def stdin(self) -> IO[bytes]:
        """Where requests are written, where it was started for several."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """What it prints."""
        assert self._process.stdout is not None
        return self._process.stdout

    @contextmanager
    def time_limit(self) -> Iterator[None]:
        """Limit the time of what is done meanwhile: reading ends where the program is ended."""
        timer = Timer(self.limits.seconds, self._stop, [Timeout(self.limits.seconds)])
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def result(self) -> ProgramResult:
        """Wait until it has ended, within its limits, and return how, with what it printed."""
        printed = bytearray()
        with self.time_limit():
            while piece := self.stdout.read(_PIECE):
                printed += piece
                if len(printed) > self.limits.output:
                    self._stop(OutputLimit(self.limits.output))
                    break
            ending = self.ending()
        return ProgramResult(ending=ending, stdout=bytes(printed), stderr=self._complaints())

    def ending(self) -> ProcessEnding:
        """Return how it ended, once it has closed what it prints to."""
        code = self._process.wait()
        if self._stopped is not None:
            return self._stopped
        if code > 0 and _NO_MEMORY.search(self._complaints()):
            return OutOfMemory()
        return ending_of(code, self._kills)

    def _complaints(self) -> bytes:
        self._errors.seek(0)
        return self._errors.read()

    def _stop(self, why: ProcessEnding) -> None:
        self._stopped = self._stopped or why
        self._kill()

    def _kill(self) -> None:
        """End it, with what it has started, unless it has been waited for: its id is free then."""
        if self._process.returncode is not None:
            return
        if os.name == "nt":
            self._process.kill()
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def run_program(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limits: ProgramLimits,
    standard_input: bytes = b"",
) -> ProgramResult:
    """Run a program to its end; OSError where it cannot be started."""
    with ExternalProgram(
        command,
        folder=folder,
        environment=environment,
        limits=limits,
        standard_input=standard_input,
    ) as program:
        return program.result()


def _limit_memory(pid: int, most: int) -> None:
    """Let a process have no more memory than so much: what it allocates, not files that it maps."""
    try:
        import resource  # noqa: PLC0415 - of systems like Linux alone

        resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))
    except (ImportError, AttributeError, OSError):
        return  # there are none here, or it has ended already
