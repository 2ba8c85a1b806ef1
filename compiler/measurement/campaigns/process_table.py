"""Processes as Linux describes them: who is whose child, and what each of them has used.

The clock of a process counts all of its threads to the nanosecond, for any process that can be
seen; `/proc/PID/stat` counts in ticks of 10 ms, and is used only for the time of children
that have ended, which stands nowhere else.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

_PROC = Path("/proc")
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_SCHEDULED = 2
"""Which clock of a process is meant: that of the scheduler (CPUCLOCK_SCHED in the kernel)."""
_BILLION = 10**9
_LISTENING = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
"""States of sockets that wait for others, as `/proc/PID/net` writes them."""


class Process(Struct, frozen=True, kw_only=True):
    """A process at a moment: `used` are seconds of a processor, `reaped` those of ended children.

    `started_at` distinguishes it from a later one with the same id. What a program starts stays in
    its `session`, whoever its parent is, unless it requests another one. One that `has_ended` is
    there until its parent waits for it.
    """

    pid: int
    parent: int
    session: int
    name: str
    started_at: int
    used: float
    reaped: float
    has_ended: bool = False


Processes = Mapping[int, Process]
Look = Callable[[], Processes]
"""Gives all processes as they are at this moment."""


def is_supported() -> bool:
    """Return whether this system describes processes as Linux does."""
    return sys.platform == "linux" and Path("/proc/self/stat").exists()


def all_processes() -> dict[int, Process]:
    """Return every process that can be seen."""
    found = {}
    for entry in os.scandir(_PROC):
        if entry.name.isdigit():
            one = _process(int(entry.name))
            if one is not None:
                found[one.pid] = one
    return found


def _process(pid: int) -> Process | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        used = time.clock_gettime_ns((~pid << 3) | _SCHEDULED) / _BILLION
    except OSError:
        return None  # it has ended meanwhile
    # The name stands in brackets, and may hold some itself.
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    return Process(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        name=name,
        started_at=int(fields[19]),
        used=used,
        reaped=(int(fields[13]) + int(fields[14])) / _TICK,
        has_ended=fields[0] in "ZX",
    )


def with_descendants(roots: Iterable[int], processes: Processes) -> frozenset[int]:
    """Return the processes that are there of some, and all that descend from them."""
    children: dict[int, list[int]] = {}
    for one in processes.values():
        children.setdefault(one.parent, []).append(one.pid)
    found: set[int] = set()
    waiting = [pid for pid in roots if pid in processes]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, ())
    return frozenset(found)


def in_session(session: int, processes: Processes) -> frozenset[int]:
    """Return the processes of a session, and all that descend from them."""
    own = (pid for pid, one in processes.items() if one.session == session)
    return with_descendants(own, processes)


def named(name: str, processes: Processes) -> frozenset[int]:
    """Return the processes that run a program of a name."""
    return frozenset(pid for pid, one in processes.items() if name in _names(one))


def _names(process: Process) -> Iterator[str]:
    """Yield what a process is called: by the kernel, and by the file that it runs."""
    yield process.name
    with suppress(OSError):
        program = (_PROC / str(process.pid) / "exe").readlink()
        yield program.name.removesuffix(" (deleted)")


def thread_clocks(pids: Iterable[int]) -> dict[tuple[int, int], float]:
    """Return what each thread of some processes has used, in seconds of a processor."""
    found = {}
    for pid in pids:
        with suppress(OSError):
            for entry in os.scandir(_PROC / str(pid) / "task"):
                with suppress(OSError, ValueError):
                    text = Path(entry.path, "schedstat").read_text(encoding="ascii")
                    found[pid, int(entry.name)] = int(text.split()[0]) / _BILLION
    return found


def usable_cores(pids: Iterable[int]) -> int:
    """Return on how many cores at least one of some processes may run."""
    cores: set[int] = set()
    for pid in pids:
        with suppress(OSError):
            cores |= os.sched_getaffinity(pid)
    return len(cores or os.sched_getaffinity(0))


def is_listening(pids: Iterable[int]) -> bool:
    """Return whether one of some processes has a socket that waits for others."""
    for pid in pids:
        own = _sockets(pid)
        if own and not own.isdisjoint(_waiting_sockets(pid)):
            return True
    return False


def _sockets(pid: int) -> frozenset[str]:
    """Return the sockets that a process has open, by their numbers."""
    found = set()
    with suppress(OSError):
        for entry in os.scandir(_PROC / str(pid) / "fd"):
            with suppress(OSError):
                target = str(Path(entry.path).readlink())
                if target.startswith("socket:["):
                    found.add(target[len("socket:[") : -1])
    return frozenset(found)


def _waiting_sockets(pid: int) -> frozenset[str]:
    """Return the numbers of sockets that wait for others, in the network that a process sees."""
    found = set()
    for kind, state in _LISTENING.items():
        with suppress(OSError):
            for line in _net(pid, kind).splitlines()[1:]:
                fields = line.split()
                if fields[3] == state:
                    found.add(fields[9])
    with suppress(OSError):
        accepts = 0x10000
        for line in _net(pid, "unix").splitlines()[1:]:
            fields = line.split()
            if int(fields[3], 16) & accepts:
                found.add(fields[6])
    return frozenset(found)


def _net(pid: int, name: str) -> str:
    return (_PROC / str(pid) / "net" / name).read_text(encoding="utf-8", errors="replace")


def stolen() -> float:
    """Return the seconds of processors that went to other virtual machines so far."""
    with suppress(OSError, ValueError, IndexError):
        first = (_PROC / "stat").read_text(encoding="ascii").splitlines()[0]
        return int(first.split()[8]) / _TICK
    return 0.0


class InterfaceTraffic(Struct, frozen=True):
    """What an interface has carried: packets and bytes, those of both directions."""

    packets: int
    octets: int


def traffic(interface: str, pid: int | None = None) -> InterfaceTraffic | None:
    """Return what an interface has carried, in the network that a process sees; None for none.

    What passes the loopback interface is counted once: all of it is sent and received there.
    """
    with suppress(OSError):
        for line in _net(os.getpid() if pid is None else pid, "dev").splitlines():
            name, _, numbers = line.partition(":")
            if name.strip() == interface:
                fields = [int(field) for field in numbers.split()]
                received, sent = (
                    InterfaceTraffic(fields[1], fields[0]),
                    InterfaceTraffic(fields[9], fields[8]),
                )
                if interface == "lo":
                    return received
                return InterfaceTraffic(
                    received.packets + sent.packets, received.octets + sent.octets
                )
    return None
