"""Commands and what they answer, each asked in a copy of one process: see `goldens.py`."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic, process_time
from typing import TYPE_CHECKING, TypeAlias

from qps.cli import main
from qps.reports.pages.data_packing import data_in

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess  # Windows has none: nothing but `keep` forks

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

TIMEOUT = "timeout"
_MOST_MEMORY = 6 * 2**30


@dataclass(frozen=True)
class Answer:
    """What a command answered: its status, what it told on the way, and what it printed.

    `seconds` are those of the processor. The status is a word where there is no answer.
    """

    command: str
    status: int | str
    reported: str
    answer: Json
    seconds: float

    @property
    def as_line(self) -> str:
        """The same as a line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":")) + "\n"


def read(path: Path) -> dict[str, Answer]:
    """Return the answers that are kept in a file; a line that was broken off is none."""
    stored = {}
    if path.exists():
        # Only a line feed ends a line: texts may hold the other characters that end one.
        for line in path.read_text(encoding="utf-8").split("\n"):
            with contextlib.suppress(ValueError):
                answer = Answer(**json.loads(line))
                stored[answer.command] = answer
    return stored


@dataclass(frozen=True)
class Runner:
    """Runs commands in a folder, some at a time, none of them for more than `limit` seconds."""

    folder: Path
    processes: int
    limit: int

    def answers(self, requested: Sequence[str]) -> Iterator[Answer]:
        """Yield the answers as they come."""
        for verb in sorted({command.partition(" ")[0] for command in requested}):
            import_module(f"qps.commands.{verb}")  # once, not in each copy
        waiting, began, done = iter(requested), monotonic(), 0
        running: dict[Connection, tuple[str, ForkProcess]] = {}
        while True:
            while len(running) < self.processes and (command := next(waiting, None)):
                reader, process = self._started(command)
                running[reader] = command, process
            if not running:
                break
            ready = wait(running)
            for reader in [one for one in running if one in ready]:
                yield _received(reader, *running.pop(reader))
                done += 1
                _show(f"{done:,} of {len(requested):,}, {monotonic() - began:.0f} s")
        _show("")

    def _started(self, command: str) -> tuple[Connection, ForkProcess]:
        reader, writer = Pipe(duplex=False)
        process = get_context("fork").Process(target=self._answer, args=(command, writer))
        process.start()
        writer.close()
        return reader, process

    def _answer(self, command: str, writer: Connection) -> None:
        import resource

        os.chdir(self.folder)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (self.limit, self.limit + 1))
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        writer.send_bytes(answered(command).as_line.encode())


def answered(command: str) -> Answer:
    """Return what the code as it stands answers; of a report, what its page works on."""
    words = shlex.split(command)
    printed, result = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        if words[0] == "report":
            words += ["-o", str(page)]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(result):
            status = main(words)
        is_page = page.exists()
        found = data_in(page.read_text(encoding="utf-8")) if is_page else _value(printed.getvalue())
    return Answer(command, int(status), result.getvalue(), found, round(process_time(), 3))


def _value(text: str) -> Json:
    """Return the value of JSON; of anything else the text itself."""
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value


def _received(reader: Connection, command: str, process: ForkProcess) -> Answer:
    try:
        line = reader.recv_bytes()
    except EOFError:
        process.join()
        is_late = process.exitcode == -signal.SIGXCPU
        return Answer(command, TIMEOUT if is_late else f"ended: {process.exitcode}", "", None, 0.0)
    process.join()
    return Answer(**json.loads(line))


def _show(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
