"""What commands print about every spec of the repository fits 80 columns where no terminal is.

Messages about a spec on standard error quote its lines and stand in one line each, as compilers
print them; they are not counted.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from qps.cli import main
from qps.commands.arguments.command_table import COMMANDS
from qps.reports.text.layout.table import text_width

ROOT = Path(__file__).parents[2]
SPECS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "specs").rglob("*.qps"))
OF_A_SPEC = [
    ["check", "SPEC"],
    ["solve", "SPEC"],
    ["solve", "SPEC", "--all"],
    ["solve", "SPEC", "--users", "30"],
    ["test", "SPEC", "--no-simulate"],
    ["explain", "--network", "SPEC"],
    ["simulate", "SPEC", "--time-limit", "1s", "--precision", "50 %"],
]


def too_wide(text: str) -> list[str]:
    """Return lines that do not fit, other than a path or an address that stands alone."""
    lines = (line for line in text.splitlines() if text_width(line) > 80)
    return [line for line in lines if " " in line.strip()]


def printed(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with suppress(SystemExit):  # what it prints is looked at, whatever it ends with
        main(command)
    return capsys.readouterr().out


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("command", OF_A_SPEC, ids=" ".join)
def test_a_spec(
    command: list[str],
    spec: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    shown = printed([spec if word == "SPEC" else word for word in command] + ["-q"], capsys)
    assert too_wide(shown) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = printed([command, "--help"], capsys)
    assert f"usage: qps {command}" in shown
    assert too_wide(shown) == []
