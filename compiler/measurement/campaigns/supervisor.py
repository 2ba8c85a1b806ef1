"""The supervisor: a process that starts programs, and ends them all once it has no client.

It is run as a script of its own (`supervision.py`), with the standard library and nothing else.
Its standard input is a socket. Each request is a length, a JSON text, and three open files: where
the program prints, where its complaints go, and where the supervisor writes a line when it has
been started and another one when it has ended.

The client holds the other end. However that process ends, also by SIGKILL, the kernel closes
the socket: then whatever descends from here is ended. Linux gives a process that loses its parent
to the nearest subreaper, which this one is, so that none is missed that forked away, or has a
process group or a session of its own.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import struct
import time
from contextlib import suppress

LENGTH = struct.Struct("!I")
FILES = 3
READY = b"ready"
PATIENCE = 5.0
"""Seconds for programs to end, once they were requested to."""
_KILLED = 60.0
_STEP = 0.02
_SUBREAPER = 36
"""Which option of a process is set: PR_SET_CHILD_SUBREAPER of Linux."""


class _Gone(Exception):  # noqa: N818 - no error: it is how the work ends
    """Raised where there is no client any more."""


def main() -> None:
    """Start what is requested, report what has ended, until there is no client; then end all."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # what the other process leaves open to others
    with suppress(OSError, AttributeError):  # where there is none, descendants alone are found
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    reports: dict[int, int] = {}
    groups: set[str] = set()
    with socket.socket(fileno=0) as requests:
        requests.sendall(READY)
        waiting = select.poll()
        waiting.register(requests, select.POLLIN)
        waiting.register(woken, select.POLLIN)
        with suppress(_Gone):
            while True:
                for file, _ in waiting.poll():
                    if file == woken:
                        os.read(woken, 4096)
                    else:
                        _start(requests, reports, groups)
                _reap(reports)
    _end_all(reports)
    for folder in groups:
        with suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106 - as little as can be is imported here


def _start(connection: socket.socket, reports: dict[int, int], groups: set[str]) -> None:
    """Start a program, and report its id, or why it cannot be started."""
    try:
        head, files, _, _ = socket.recv_fds(connection, LENGTH.size, FILES)
        if len(head) < LENGTH.size:
            raise _Gone
        request = json.loads(_whole(connection, LENGTH.unpack(head)[0]))
    except OSError:
        raise _Gone from None
    for file in files:  # what is received would be inherited by all programs
        os.set_inheritable(file, False)  # noqa: FBT003 - its name says so
    output, errors, report = files
    if request["group"] is not None:
        groups.add(request["group"])
    try:
        os.chdir(request["folder"])
        pid = os.posix_spawn(
            request["program"],
            request["command"],
            request["environment"],
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, output, 1),
                (os.POSIX_SPAWN_DUP2, errors, 2),
            ],
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGPIPE],  # which Python ignores
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        _send(report, {"error": reason})
        os.close(report)
    else:
        _send(report, {"pid": pid})
        reports[pid] = report
    os.close(output)
    os.close(errors)


def _whole(connection: socket.socket, length: int) -> bytes:
    """Return so many bytes of a request."""
    pieces = []
    while length:
        piece = connection.recv(length)
        if not piece:
            raise _Gone
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _send(report: int, what: dict[str, object]) -> None:
    with suppress(OSError):  # nobody reads it any more
        os.write(report, json.dumps(what).encode() + b"\n")


def _reap(reports: dict[int, int]) -> None:
    """Take leave of children that have ended: those that were requested, and orphans."""
    with suppress(ChildProcessError):
        while True:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if not pid:
                return
            report = reports.pop(pid, None)
            if report is not None:
                code, used = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
                _send(report, {"status": code, "used": used})
                os.close(report)


def _end_all(reports: dict[int, int]) -> None:
    """End all that descend from here: politely, then for certain."""
    for number, patience in ((signal.SIGTERM, PATIENCE), (signal.SIGKILL, _KILLED)):
        until = time.monotonic() + patience
        sent: set[int] = set()
        while time.monotonic() < until:
            _reap(reports)
            left = _descendants()
            if not left:
                return
            for pid in left - sent:
                with suppress(OSError):
                    os.kill(pid, number)
                    os.kill(pid, signal.SIGCONT)  # one that was stopped would never hear of it
            sent |= left if number == signal.SIGTERM else set()
            time.sleep(_STEP)


def _descendants() -> set[int]:
    """Return all processes that descend from this one."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - as above
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                # The name stands in brackets, and may hold some itself.
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found: set[int] = set()
    waiting = list(children.get(os.getpid(), ()))
    while waiting:
        pid = waiting.pop()
        found.add(pid)
        waiting += children.get(pid, ())
    return found


if __name__ == "__main__":
    main()
