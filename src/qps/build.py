"""Which qps this is: its version, and a checksum of all that it computes with.

Two processes make the same only where both are the same: a checkout has had its version for many
changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from qps.version import __version__

_ENDINGS = (".py", ".lark", ".json", ".qps")
_SHOWN = 12


def build(*rooms: str) -> str:
    """Return the version of this qps and the checksum of its files, or of those in some folders.

    >>> build().startswith(f"qps {__version__}+")
    True
    """
    found = hashlib.sha256(b"".join(_checksum(room) for room in rooms or ("",)))
    return f"qps {__version__}+{found.hexdigest()[:_SHOWN]}"


@cache
def _checksum(room: str) -> bytes:
    found = hashlib.sha256()
    for name, data in _sources(room, files("qps") / room):
        found.update(f"{name}:{len(data)}:".encode() + data)
    return found.digest()


def _sources(way: str, folder: Traversable) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder and of those below it, in the order of their names."""
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        name = f"{way}/{entry.name}"
        if entry.is_dir():
            yield from _sources(name, entry)
        elif entry.name.endswith(_ENDINGS):
            yield name, entry.read_bytes()
