"""A folder with small specs, in which each command runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.cases.command_lines import CLAIMS, SMALL, WRONG_CLAIM


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("small.qps").write_text(SMALL)
    Path("good.qps").write_text(SMALL + CLAIMS)
    Path("failing.qps").write_text(SMALL + CLAIMS + WRONG_CLAIM)
    Path("wrong.qps").write_text(SMALL.replace("work }", "wrok }"))
    Path("hopeless.qps").write_text(SMALL + "require { flow.latency <= 1 ms }\n")
    return tmp_path
