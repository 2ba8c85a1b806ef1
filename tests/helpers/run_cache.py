"""What is dear and needed by several tests is made once in a run, by the process that is first."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from qps.atomic_files import LockedError, lock

Made = TypeVar("Made")

folder: Path | None = None
"""Where the processes of a run keep what they made; None outside of tests."""


def once(make: Callable[[], Made], *key: str) -> Made:
    """Return what was made for a key in this run; it is made where nobody has done so yet."""
    if folder is None:
        return make()
    stored = folder / hashlib.sha256("\0".join(key).encode()).hexdigest()
    # Who comes second waits: two at the same work would be done no sooner.
    with ExitStack() as held:
        _wait_for(stored, held)
        if not stored.exists():
            stored.write_bytes(pickle.dumps(make()))
        found: Made = pickle.loads(stored.read_bytes())
    return found


def _wait_for(stored: Path, held: ExitStack) -> None:
    """Hold the lock of a file, however long another takes to make it."""
    while True:
        try:
            held.enter_context(lock(stored))
        except LockedError:
            continue  # it has waited for seconds
        return
