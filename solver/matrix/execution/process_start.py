"""How many processes work here, and how they start."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.context import BaseContext, SpawnContext, SpawnProcess
from types import ModuleType

START = "fork" if sys.platform == "linux" else "spawn"
"""How processes start: as copies, at once, where the system's own libraries bear it."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def starting(how: str) -> BaseContext:
    """Return a context whose processes start by `"fork"` or `"spawn"`.

    Spawned ones do not run the user's script again, as Python's own would before they begin: what
    they do stands in modules of ours. So a script needs no `if __name__ == "__main__"` for us.
    """
    return _Spawning() if how == "spawn" else get_context(how)


class _Process(SpawnProcess):
    """A process that knows nothing of the script that started it."""

    def start(self) -> None:
        with _without_script():
            super().start()


class _Spawning(SpawnContext):
    Process = _Process


@contextmanager
def _without_script() -> Iterator[None]:
    """Hide meanwhile which script this is: a process is told of the one that stands there."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
