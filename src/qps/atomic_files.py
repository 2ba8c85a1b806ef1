"""Files that are there whole or not at all, whoever else writes them and however a run ends.

A file is written under a temporary name of its own beside its place, and then renamed. A run
that makes a file, or a folder of parts of it, holds a lock: a file that the system unlocks when
the process is gone, however it went. What lies beside a place under temporary names while one
holds its lock is what killed runs have left.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from typing import IO

from qps.links import resolved_path

_PATIENCE = 3.0
"""Seconds in which the last processes of a run that was killed are waited for."""
_PAUSE = 0.1
_TEMPORARY = ".tmp"
_SCRATCH = "qps-parts-"
_LONGEST_OWNER = 500
_DAY = 86_400.0


class LockedError(Exception):
    """Raised where another run holds a lock; its text says who."""


def temporary(path: Path) -> Path:
    """Return a temporary name beside a file, which nobody else has."""
    return path.with_name(f"{path.name}.{token_hex(4)}{_TEMPORARY}")


def leftovers(path: Path) -> Iterator[Path]:
    """Yield the temporary files of a place; to be called with its lock held."""
    for own in path.parent.iterdir():
        if own.name.startswith(path.name + ".") and own.name.endswith(_TEMPORARY):
            yield own


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write; it has its name only when all is written, and on the disk.

    A link stays one; what is no ordinary file (`/dev/stdout`) is written as it is.
    """
    path = resolved_path(path)
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    own = temporary(path)
    try:
        with own.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        own.replace(path)
    except BaseException:
        own.unlink(missing_ok=True)
        raise


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file, and clear what killed runs have left of it.

    LockedError where another run holds it; OSError where no lock can be kept there.
    """
    own = path.with_name(path.name + ".lock")
    handle = _locked_file(own)
    try:
        _write_owner(handle)
        for left in leftovers(path):
            left.unlink(missing_ok=True)
        yield
    finally:
        _unlock(own, handle)


def _locked_file(own: Path) -> int:
    """Return a file that is locked and still has its name."""
    end = time.monotonic() + _PATIENCE
    while True:
        handle = os.open(own, os.O_RDWR | os.O_CREAT, 0o644)
        if not _try_lock(handle):
            who, is_passing = _holder(handle)
            os.close(handle)
            if not is_passing or time.monotonic() > end:
                raise LockedError(who)
            time.sleep(_PAUSE)
        elif _is_at(handle, own):
            return handle
        else:
            os.close(handle)  # the last holder has taken the name away in between


def _is_at(handle: int, path: Path) -> bool:
    """Return whether an open file still has its name."""
    try:
        there, here = path.stat(), os.fstat(handle)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


if sys.platform == "win32":
    import msvcrt

    def _unlock(own: Path, handle: int) -> None:
        """Unlock, then take the name away, which no open file loses there."""
        os.close(handle)
        with suppress(OSError):  # another has it open: it takes the name away
            own.unlink(missing_ok=True)

    def _try_lock(handle: int) -> bool:
        """Lock one byte far behind the content, which others may read."""
        os.lseek(handle, 2**20, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _unlock(own: Path, handle: int) -> None:
        """Take the name away, then unlock: whoever has the file open looks whether it has one."""
        own.unlink(missing_ok=True)
        os.close(handle)

    def _try_lock(handle: int) -> bool:
        """Lock a file, together with the processes that are started while it is locked."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # there are no locks there: temporary names of its own still keep it whole
        return True


def _write_owner(handle: int) -> None:
    """Write into a lock who holds it."""
    began = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    about = {"process": os.getpid(), "host": socket.gethostname(), "since": began}
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, json.dumps(about).encode())


def _holder(handle: int) -> tuple[str, bool]:
    """Return who holds a lock, in words, and whether a moment later will show more.

    It will where who has just taken it has not written yet; and where that process is gone, as
    those that a killed run has started end a moment after it.
    """
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        about = json.loads(os.read(handle, _LONGEST_OWNER))
        process, host = int(about["process"]), str(about["host"])
        since = datetime.fromisoformat(about["since"])
    except (ValueError, KeyError, TypeError, OSError):
        return "another process", True
    here = host == socket.gethostname()
    who = f"process {process}{'' if here else f' on {ascii(host)[1:-1]}'}, since {since} "
    return who.strip(), here and not _is_alive(process)


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":
        return True  # there, a signal would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


# -- folders for what is needed only while a run goes on ---------------------------------


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder that goes away; those that killed runs have left go now."""
    for left in Path(gettempdir()).glob(_SCRATCH + "*"):
        _clear(left)
    with ExitStack() as held:
        yield _place(held)


def _place(stack: ExitStack) -> Path:
    """Return a new folder that is locked: one that another locks as it is made is cleared by it.

    It is locked by another still, or gone by now: FileNotFoundError.
    """
    while True:
        place = Path(mkdtemp(prefix=_SCRATCH))
        stack.callback(rmtree, place, ignore_errors=True)
        with suppress(LockedError, FileNotFoundError):
            stack.enter_context(lock(place / "run"))
            return place


def _clear(place: Path) -> None:
    """Remove a folder that nobody works in."""
    with suppress(OSError, LockedError):
        if place.is_symlink() or (hasattr(os, "getuid") and place.stat().st_uid != os.getuid()):
            return
        if not (place / "run.lock").exists() and time.time() - place.stat().st_mtime < _DAY:
            return  # a run that begins has none yet
        with lock(place / "run"):
            rmtree(place, ignore_errors=True)
