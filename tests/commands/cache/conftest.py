"""Folders with stored values of commands."""

from __future__ import annotations

import shutil
from pathlib import Path
from time import sleep

import pytest

from helpers.cases.command_caches import ROOT, SOLVE, by_another, put_at_work
from qps.commands.cache import spec_cache
from qps.compiler.pipeline import check_source


@pytest.fixture
def retained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of what is kept; a spec with a module and a table lies where we are."""
    return put_at_work(tmp_path, monkeypatch)


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the labels of all specs that are really checked from now on."""
    found: list[str] = []

    def noting(source: object, importer: object = None) -> object:
        found.append(source.label)  # type: ignore[attr-defined]
        return check_source(source, importer)  # type: ignore[arg-type]

    monkeypatch.setattr(spec_cache, "check_source", noting)
    return found


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a qps of its own."""
    root = tmp_path_factory.mktemp("copied")
    ignored = shutil.ignore_patterns("*.pyc.*", "node_modules", "specs")
    shutil.copytree(ROOT / "src" / "qps", root / "qps", ignore=ignored)
    (root / "qps" / "specs").mkdir()
    return root


@pytest.fixture(scope="module")
def made_warm(copied: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what another process kept, which a third one takes."""
    folder = tmp_path_factory.mktemp("warm")
    with pytest.MonkeyPatch.context() as patch:
        put_at_work(folder, patch)
        sleep(0.2)  # else its files are as new as the process
        by_another(copied, *SOLVE)
        assert by_another(copied, *SOLVE) == "taken, taken"
    return folder


@pytest.fixture
def warm(made_warm: Path, retained: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work there, with a copy of what was kept; return its folder."""
    shutil.copytree(made_warm / "kept", retained)
    monkeypatch.chdir(made_warm / "work")
    return retained
