"""What tests of fits share."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.turn_table import TURN


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own that has the table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turn.csv").write_text(TURN)
    return tmp_path
