"""What a command leaves for the next one: files in a folder of the user's own, found by keys.

None of it is needed. What cannot be read, or is not what was written there, is as if it were not
there; what cannot be written is not kept. A file is believed only where nobody else can have
written it: folder and file belong to who runs this, nobody else may write them, neither is a link.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import time

from msgspec import Struct

SWITCH = "QPS_CACHE"
"""Set to `off`, nothing is kept and nothing that was kept is read."""
FOLDER = "QPS_CACHE_DIR"
"""The folder itself, in place of `qps` in the user's folder of such files."""

_SEAL = sha256().digest_size
_NAME = r"qps-[0-9a-f]{64}(\.[0-9a-f]{16}\.tmp)?"
_ABANDONED = 600.0
"""Seconds after which a file is taken away whose writing was not ended."""
_OWNER_ONLY = 0o700
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class CacheFiles(Struct, frozen=True, kw_only=True):
    """Files below a folder, so many bytes of one and of all at the most."""

    folder: Path
    largest: int = 32_000_000
    most: int = 128_000_000

    def read(self, key: str) -> bytes | None:
        """Return what was written last under a key, None where there is nothing to be believed."""
        try:
            with self._opened() as folder:
                return _unsealed(key, self._content(_name(key), folder))
        except OSError:
            return None

    def write(self, key: str, data: bytes) -> None:
        """Keep some bytes under a key, unless they are too many or the folder takes none."""
        if len(data) > self.largest:
            return
        with suppress(OSError):
            self.folder.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
            with self._opened() as folder:
                _put(_sealed(key, data), _name(key), folder)
                self._make_room(folder)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Give the folder as a descriptor; what is done by it, is done there and nowhere else."""
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if not _is_own(os.fstat(folder)):
                raise PermissionError(self.folder)
            yield folder
        finally:
            os.close(folder)

    def _content(self, name: str, folder: int) -> bytes:
        # Without waiting: what stands there may be a pipe that nobody writes to.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(name, flags, dir_fd=folder), "rb") as file:  # noqa: PTH123 - below a descriptor
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or not _is_own(about):
                raise PermissionError(name)
            with suppress(OSError):
                os.utime(file.fileno())  # what is used goes last
            return file.read(self.largest + _SEAL)

    def _make_room(self, folder: int) -> None:
        """Remove what was not used for longest, and what was never written to its end."""
        found: list[tuple[float, int, str]] = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if re.fullmatch(_NAME, entry.name):
                    about = entry.stat(follow_symlinks=False)
                    found.append((about.st_mtime, about.st_size, entry.name))
        left = self.most
        for last_used, size, name in sorted(found, reverse=True):
            left -= size
            is_abandoned = name.endswith(".tmp") and time() - last_used > _ABANDONED
            if left < 0 or is_abandoned:
                with suppress(FileNotFoundError):  # another run does the same
                    os.unlink(name, dir_fd=folder)


def cache_files(environment: Mapping[str, str] = os.environ) -> CacheFiles | None:
    """Return where files are kept; None where that is switched off, or no place is known.

    A folder that others could have made is never one: owners are not known everywhere.
    """
    if environment.get(SWITCH, "").lower() == "off" or not hasattr(os, "geteuid"):
        return None
    named = environment.get(FOLDER)
    if named:
        return CacheFiles(folder=Path(named))
    home = environment.get("HOME", "")
    for place in (environment.get("XDG_CACHE_HOME", ""), home and f"{home}/.cache"):
        if Path(place).is_absolute():
            return CacheFiles(folder=Path(place, "qps")) if _is_below_own(Path(place)) else None
    return None


def _is_below_own(place: Path) -> bool:
    """Return whether a folder, or what it would be made in, is one's own.

    With the rights of another (`sudo`) nothing is left behind that its owner could not remove.
    """
    there = next((folder for folder in (place, *place.parents) if folder.exists()), place)
    try:
        return there.stat().st_uid == os.geteuid()
    except OSError:
        return False


def _is_own(about: os.stat_result) -> bool:
    return about.st_uid == os.geteuid() and not about.st_mode & _OTHERS_WRITE


def _name(key: str) -> str:
    return f"qps-{sha256(key.encode()).hexdigest()}"


def _sealed(key: str, data: bytes) -> bytes:
    return sha256(key.encode() + b"\0" + data).digest() + data


def _unsealed(key: str, sealed: bytes) -> bytes | None:
    """Return what was sealed; None where it was changed, cut off or kept under another key."""
    data = sealed[_SEAL:]
    return data if _sealed(key, data)[:_SEAL] == sealed[:_SEAL] else None


def _put(data: bytes, name: str, folder: int) -> None:
    """Write a file whole or not at all, whoever else writes it."""
    own = f"{name}.{os.urandom(8).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        with open(os.open(own, flags, 0o600, dir_fd=folder), "wb") as file:  # noqa: PTH123 - the same
            file.write(data)
        os.replace(own, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(own, dir_fd=folder)
        raise
