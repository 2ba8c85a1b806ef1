"""Fixtures of several files here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from processes.hostile_repositories import Trap


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    return Trap.at(tmp_path_factory.mktemp("trap"))


@pytest.fixture
def trap(made: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """Work in a repository with a change that makes a claim fail."""
    for name in [n for n in os.environ if n.startswith(("GITHUB_", "CI", "PRE_COMMIT_", "GIT_"))]:
        monkeypatch.delenv(name)
    trap = made.copy(tmp_path)
    monkeypatch.chdir(trap.top)
    return trap
