"""Repositories of git that many tests begin with: made once for a module, and copied for each."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(make: Callable[[], object], places: pytest.TempPathFactory) -> Path:
    """Return a folder with what is made while one works in it."""
    folder = places.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        make()
    return folder


def work_in_a_copy(made: Path, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Fill a folder with the same, and work there."""
    shutil.copytree(made, folder, symlinks=True, dirs_exist_ok=True)
    patch.chdir(folder)
