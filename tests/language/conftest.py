"""What tests of instances share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from qps.cli import main
from qps.reports.text.words.labels import PLAIN


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return what writes files here, the last one being the spec that is asked for.

    Places are given by name alone: where the folder's is long, they would be cut.
    """
    monkeypatch.chdir(tmp_path)

    def written(**texts: str) -> Path:
        for name, text in texts.items():
            Path(f"{name}.qps").write_text(text, encoding="utf-8")
        return Path(f"{name}.qps")

    return written


@pytest.fixture
def reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Return what runs a command that must go well, and gives what it prints.

    Answers have identifiers: words of an instance are other ones than those of a long name.
    """
    monkeypatch.setattr("qps.commands.solve.labels_of", lambda _: PLAIN)
    monkeypatch.setenv("COLUMNS", "2000")  # names of several lengths wrap at other words

    def run(*arguments: str | Path) -> str:
        assert main([str(argument) for argument in arguments]) == 0, capsys.readouterr().err
        out = capsys.readouterr().out.replace("\\_", "_")
        return re.sub(r"(?<=\S) {2,}(?=\S)", "  ", out)  # files have names of several lengths

    return run
