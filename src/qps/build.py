"""Which qps this is: its version, and a checksum of all that it computes with.

Two processes make the same only where both are the same: a checkout has had its version for many
changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pkgutil import iter_modules

from qps.version import __version__

_ENDINGS = (".py", ".lark", ".json", ".qps")
_SHOWN = 12


def build(*rooms: str) -> str:
    """Return the version of this qps and the checksum of its files, or of those in some folders.

    >>> build().startswith(f"qps {__version__}+")
    True
    """
    found = hashlib.sha256(b"".join(_checksum(room) for room in rooms or ("", *_rooms())))
    return f"qps {__version__}+{found.hexdigest()[:_SHOWN]}"


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


def _sources(way: str, folder: Traversable) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder and of those below it, in the order of their names."""
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _sources(f"{way}/{entry.name}", entry)
    yield from _files(way, folder)


def _files(way: str, folder: Traversable) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder that something is computed with, in the order of their names."""
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_file() and entry.name.endswith(_ENDINGS):
            yield f"{way}/{entry.name}", entry.read_bytes()
