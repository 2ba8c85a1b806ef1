"""`qps start`: each choice leads to commands that exist, with a terminal and without."""

from __future__ import annotations

import re

import pytest

from qps.cli import main
from qps.commands.arguments.command_table import COMMANDS
from qps.commands.arguments.writing_arguments import STARTING_POINTS


def test_without_a_terminal_the_choices_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["start"]) == 0
    listed = capsys.readouterr().out
    assert all(re.search(rf"^  \d  {name}\b", listed, re.MULTILINE) for name in STARTING_POINTS)
    assert "qps start --from" in listed


@pytest.mark.parametrize("name", STARTING_POINTS)
def test_steps_are_commands(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["start", "--from", name]) == 0
    lines = capsys.readouterr().out.splitlines()
    commands = [line.split()[1] for line in lines if line.startswith("     qps ")]
    assert len(commands) >= 2
    assert set(commands) <= set(COMMANDS)
    assert max(map(len, lines)) <= 80 + 10


@pytest.mark.parametrize(("answer", "status"), [("2", 0), ("traces", 0), ("9", 2), ("", 2)])
def test_on_a_terminal_it_asks(
    answer: str, status: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    assert main(["start"]) == status
    out, err = capsys.readouterr()
    assert ("qps observe traces" in out) == (status == 0)
    assert ("none of the choices" in err) == (status == 2)
