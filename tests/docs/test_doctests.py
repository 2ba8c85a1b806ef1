"""What docstrings show is what their functions return."""

from __future__ import annotations

import doctest
import os
from importlib import import_module
from pathlib import Path

import pytest

import qps

ROOT = Path(qps.__file__).parent
# The folders of the pipeline are links, which `rglob` does not follow.
_FILES = [Path(at) / name for at, _, names in os.walk(ROOT, followlinks=True) for name in names]
_PYTHON = sorted(path for path in _FILES if path.suffix == ".py")
_SHOWING = [path for path in _PYTHON if ">>> " in path.read_text("utf-8")]


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", [_name(path) for path in _SHOWING])
def test_docstrings_show_what_is_returned(name: str) -> None:
    found = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert found.failed == 0


def test_many_modules_show_what_they_do() -> None:
    assert len(_SHOWING) > 40
