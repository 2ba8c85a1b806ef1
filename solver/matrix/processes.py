"""How many processes work here, and how they start."""

from __future__ import annotations

import os
import sys

START = "fork" if sys.platform == "linux" else "spawn"
"""How processes start: as copies, at once, where the system's own libraries bear it."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
