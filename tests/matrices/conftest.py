"""Fixtures of runs and pages of matrices."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.cases.matrix_of_parts import SPEC
from helpers.cases.matrix_pages import SMALL, html_of
from qps.solver.matrix.execution import matrix_run


@pytest.fixture
def small_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of its own, with parts of 16 rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.qps").write_text(SPEC)
    monkeypatch.setattr(matrix_run.Parts.__init__, "__defaults__", (16,))


@pytest.fixture(scope="module")
def small() -> str:
    return html_of(SMALL)
