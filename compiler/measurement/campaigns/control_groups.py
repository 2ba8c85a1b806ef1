"""Control groups of Linux (version 2): what all processes of one have used, ended ones too.

No controller is needed for that, only a folder that may be written. Groups that are made here
are below the group that qps itself is in, or at the top where that cannot be.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from qps.supervised_processes import ExitStatus, ProgramLimits, run_program

_MILLION = 10**6
_PATIENCE = 2.0
"""Seconds for processes of a group to end, once they were requested to."""
_TRIAL = ProgramLimits(seconds=10.0, memory=1_000_000_000, output=10_000)
"""What it may use to try whether a process can enter a group: it does nothing else."""
_ENTER = 'echo 0 >"$1" && shift && exec "$@"'
"""What a shell does to start a command within a group: it enters it itself, and becomes it."""


class ControlGroup(Struct, frozen=True):
    """A group by its folder."""

    folder: Path

    def used(self) -> float:
        """Return the seconds of processors that the group has used; OSError where it is gone."""
        for line in (self.folder / "cpu.stat").read_text(encoding="ascii").splitlines():
            if line.startswith("usage_usec "):
                return int(line.split()[1]) / _MILLION
        raise OSError(f"`{self.folder / 'cpu.stat'}` has no usage")

    def processes(self) -> frozenset[int]:
        """Return the processes of the group, and of those within it."""
        found: set[int] = set()
        for folder, _, _ in os.walk(self.folder):
            with suppress(OSError):
                text = Path(folder, "cgroup.procs").read_text(encoding="ascii")
                found.update(int(line) for line in text.split())
        return frozenset(found)

    def allowed_cores(self) -> float | None:
        """Return how many cores the group may use at a time; None where nothing limits it."""
        limits = []
        for folder in (self.folder, *self.folder.parents):
            with suppress(OSError, ValueError):
                quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
                limits.append(int(quota) / int(period))
        return min(limits, default=None)

    def starting(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command that starts another one within the group."""
        return ("sh", "-c", _ENTER, "sh", str(self.folder / "cgroup.procs"), *command)

    def removed(self) -> bool:
        """End what still runs in the group, by its ids, and take the group away."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            for pid in self.processes():
                with suppress(OSError):
                    os.kill(pid, 9)
            with suppress(OSError):
                for folder, _, _ in os.walk(self.folder, topdown=False):
                    Path(folder).rmdir()
                return True
            time.sleep(0.02)
        return False


def mounted() -> Path | None:
    """Return the folder of all groups of version 2; None where there is none."""
    with suppress(OSError):
        text = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
        for line in text.splitlines():
            before, _, after = line.partition(" - ")
            if after.startswith("cgroup2 "):
                return Path(before.split()[4].replace("\\040", " "))
    return None


def group_of(pid: int) -> ControlGroup | None:
    """Return the group that a process is in."""
    top = mounted()
    if top is None:
        return None
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines():
            if line.startswith("0::"):
                return ControlGroup(top / line[3:].lstrip("/"))
    return None


def named_group(name: str) -> ControlGroup | None:
    """Return the group of a name such as `system.slice/nginx.service`, or of its folder."""
    top = mounted()
    places = [Path(name)] if top is None else [Path(name), top / name.lstrip("/")]
    for place in places:
        if (place / "cpu.stat").is_file() and (place / "cgroup.procs").is_file():
            return ControlGroup(place)
    return None


def new_group(name: str) -> ControlGroup | str:
    """Make a group, and try whether a process can enter it; a text that says why there is none."""
    if mounted() is None:
        return "cgroups (version 2) are not mounted"
    why = "no cgroup folder is writable"
    for parent in _places():
        group = ControlGroup(parent / f"{name}-{os.getpid()}")
        with suppress(OSError):
            group.folder.rmdir()  # one that an earlier process of this id has left behind
        try:
            group.folder.mkdir()
        except OSError as error:
            why = f"cannot create a cgroup: {error.strerror}"
            continue
        is_entered = False
        try:
            is_entered = _is_entered(group)
        finally:
            if not is_entered:  # also where Ctrl-C comes in between
                group.removed()
        if is_entered:
            return group
        why = "cannot move a process into a cgroup"
    return why


def new_group_or_none(name: str) -> ControlGroup | None:
    """Make a group, where one can be made."""
    found = new_group(name)
    return None if isinstance(found, str) else found


@contextmanager
def control_group(group: ControlGroup | None) -> Iterator[ControlGroup | None]:
    """Give a group, or none; whatever happens meanwhile, it is taken away at last."""
    try:
        yield group
    finally:
        if group is not None:
            group.removed()


def _is_entered(group: ControlGroup) -> bool:
    try:
        entering = run_program(
            group.starting(("true",)),
            folder=Path.cwd(),
            environment=os.environ,
            limits=_TRIAL,
        )
    except OSError:
        return False
    return entering.ending == ExitStatus(0) and (group.folder / "cpu.stat").is_file()


def _places() -> Iterator[Path]:
    """Yield where a group may be made: below one's own, and at the top."""
    own, top = group_of(os.getpid()), mounted()
    if own is not None:
        yield own.folder
    if top is not None and (own is None or own.folder != top):
        yield top
