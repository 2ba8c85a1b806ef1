"""Which qps this is: its version, and a checksum of all that it computes with.

Two processes make the same only where both are the same: a checkout has had its version for many
changes. What one command leaves for the next is made by a part of it: by the modules that are
imported, and by what lies beside them.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from pkgutil import iter_modules
from time import time

from qps.version import __version__

_DATA_SUFFIXES = (".lark", ".json", ".qps")
"""How files end that modules read."""
_ENDINGS = (".py", *_DATA_SUFFIXES)
_SHOWN = 12
_BEGAN = time() - 0.1
"""When this process began to import us; the clock of a file system may be late by a few ms."""


@cache
def build() -> str:
    """Return the version of this qps and the checksum of its files.

    >>> build().startswith(f"qps {__version__}+")
    True
    """
    found = hashlib.sha256(b"".join(_checksum(room) for room in ("", *_rooms())))
    return f"qps {__version__}+{found.hexdigest()[:_SHOWN]}"


def parts_at_work() -> tuple[str, ...]:
    """Return the files of ours that may have taken part in what this process made so far.

    These are all modules that are imported, and what else lies in their folders for them to read.
    """
    found, folders = set(), set()
    for name, module in [*sys.modules.items()]:
        if name != "qps" and not name.startswith("qps."):
            continue
        way = name.split(".")[1:]
        is_folder = hasattr(module, "__path__")
        folders.add("/".join(way if is_folder else way[:-1]))
        # A folder of data alone is a module without a file.
        if getattr(module, "__file__", None) is not None:
            found.add("/".join([*way, "__init__.py"]) if is_folder else f"{'/'.join(way)}.py")
    for folder in folders:
        found |= _data_files(folder)
    return tuple(sorted(found))


def checksum_of(parts: Iterable[str]) -> str | None:
    """Return a checksum of some files of ours, which is another after any of them was written.

    It is of what the file system knows of them, not of what they contain: to read hundreds of files
    takes longer than to check a small spec. Whatever is written to a file, and also what sets back
    the time of its last change, changes the time of the change of its status (`st_ctime`).
    None where one of them is not there, or may be another than the one that this process runs.
    """
    found = []
    if not isinstance(files("qps"), Path):
        return None
    for part in parts:
        if ".." in part or part.startswith("/"):
            return None
        try:
            about = os.stat(f"{_place_of(part)}/{part}")  # noqa: PTH116 - half the time
        except (OSError, ValueError):
            return None
        if about.st_ctime > _BEGAN:
            return None
        found.append((part, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns))
    return hashlib.sha256(repr(found).encode()).hexdigest()


@cache
def _data_files(folder: str) -> frozenset[str]:
    """Return the files in a folder that modules read; none where they are no files."""
    if not isinstance(files("qps"), Path):
        return frozenset()
    names = os.listdir(f"{_place_of(folder)}/{folder}")  # noqa: PTH208 - a tenth of the time
    return frozenset(
        f"{folder}/{name}".lstrip("/") for name in names if name.endswith(_DATA_SUFFIXES)
    )


def _place_of(part: str) -> str:
    """Return the folder in which a file or folder of ours is, by its path from it."""
    return _place_of_room(part.partition("/")[0])


@cache
def _place_of_room(room: str) -> str:
    """Return the folder in which a room of ours is: that of a checkout, where links are files."""
    places = list(import_module("qps").__path__)
    return next((one for one in places if os.path.isdir(f"{one}/{room}")), places[0])  # noqa: PTH112


def _rooms() -> list[str]:
    """Return the names of all folders, wherever they are: those of a checkout can be links."""
    return [module.name for module in iter_modules(import_module("qps").__path__) if module.ispkg]


@cache
def _checksum(room: str) -> bytes:
    """Return the checksum of a folder and of those below it, or of what stands beside them all."""
    found = hashlib.sha256()
    for name, data in _sources(room, files(f"qps.{room}")) if room else _files("", files("qps")):
        found.update(f"{name}:{len(data)}:".encode() + data)
    return found.digest()


def _sources(path: str, folder: Traversable) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder and of those below it, in the order of their names."""
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _sources(f"{path}/{entry.name}", entry)
    yield from _files(path, folder)


def _files(path: str, folder: Traversable) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder that something is computed with, in the order of their names."""
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_file() and entry.name.endswith(_ENDINGS):
            yield f"{path}/{entry.name}", entry.read_bytes()
