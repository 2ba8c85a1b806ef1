"""Servers of a laboratory, started in a folder of their own, and ended by their ids."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from qps.compiler.measurement.campaigns.child_processes import Child, running
from qps.compiler.measurement.campaigns.control_groups import control_group, new_group_or_none
from qps.compiler.measurement.campaigns.process_table import is_listening
from servers import Bench, Laboratory, free_ports

_READY = 10.0


class NotStartedError(Exception):
    """Raised where a server ends at once, or never listens."""


@dataclass(frozen=True)
class Started:
    """A laboratory at its bench, and its servers by their columns of the load."""

    laboratory: Laboratory
    bench: Bench
    servers: dict[str, Child]

    def named(self) -> list[str]:
        """Return the words by which `qps measure` finds them: a group, or else a process."""
        return [
            f"--of={column}={child.pid if child.group is None else child.group.folder}"
            for column, child in self.servers.items()
        ]


@contextmanager
def started(one: Laboratory) -> Iterator[Started]:
    """Start the servers of a laboratory, those behind first; whatever happens, they are ended."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"qps-{one.name}-")))
        port, second = free_ports(2)
        bench = Bench(place, port, second)
        for command in one.prepare(bench):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = {}
        for column, command in reversed(one.servers(bench).items()):
            own = stack.enter_context(control_group(new_group_or_none(f"qps-{one.name}-{column}")))
            found[column] = stack.enter_context(running(command, own, server=True))
            _wait(found[column])
        if one.ready is not None:
            _answers(one.ready(bench))
        yield Started(one, bench, dict(reversed(found.items())))


def _wait(child: Child) -> None:
    until = time.monotonic() + _READY
    while not is_listening(child.pids()):
        if child.ending is not None or time.monotonic() > until:
            raise NotStartedError(f"{child.shown} does not listen{child.last_words()}")
        time.sleep(0.05)


def _answers(command: list[str]) -> None:
    """Wait until a command succeeds."""
    until = time.monotonic() + _READY
    while subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode:
        if time.monotonic() > until:
            raise NotStartedError(f"{shlex.join(command)} does not succeed")
        time.sleep(0.05)
