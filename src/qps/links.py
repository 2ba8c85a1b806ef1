"""Paths with their links followed; a link may lead to itself, or round in a circle."""

from __future__ import annotations

from pathlib import Path


def real_path(path: Path) -> Path | None:
    """Return a path with its links followed, None where they lead round in a circle.

    What is not there is no mistake: its path is that of the folder where it would be.
    """
    try:
        found = path.resolve()
        return None if found.is_symlink() else found  # newer versions of Python leave such links
    except (OSError, RuntimeError, ValueError):
        return None


def resolved_path(path: Path) -> Path:
    """Return a path with its links followed; where they lead round in a circle, as it is named."""
    return real_path(path) or path.absolute()
