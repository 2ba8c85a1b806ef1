"""Help, completion in shells, and the specs that `qps new` writes."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from helpers.cases.command_lines import run
from qps.cli import _parted, main
from qps.commands.arguments.command_line import parser_of
from qps.commands.arguments.command_table import COMMANDS
from qps.commands.arguments.help_examples import EXAMPLES
from qps.commands.arguments.spec_templates import STARTING_SPECS


def test_new_writes_a_spec_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "new", "mine")[0] == 0
    assert run(capsys, "check", "mine.qps", "-q") == (0, "", "")
    status, out, _ = run(capsys, "test", "mine.qps")
    # Nobody published what it claims.
    assert (status, out.splitlines()[-1]) == (0, "  1 passed, 0 failed")


def test_without_arguments_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys)
    assert (status, out) == (2, "")
    assert all(f"    {name} " in err or f"    {name}\n" in err for name in COMMANDS)


def test_new_writes_each_application(capsys: pytest.CaptureFixture[str]) -> None:
    applications = files("qps.specs").joinpath("applications")
    names = {path.name.removesuffix(".qps") for path in applications.iterdir()}
    assert names - {"README.md"} == STARTING_SPECS.keys() - {"web"}
    for name in STARTING_SPECS:
        assert run(capsys, "new", "--example", name)[0] == 0
    assert run(capsys, "check", "-q", *(f"{name}.qps" for name in STARTING_SPECS)) == (0, "", "")
    assert run(capsys, "new", "mine", "--example", "kafka")[0] == 0
    assert Path("mine.qps").read_text() == Path("kafka.qps").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--example", "kafak"], "help: did you mean `kafka`?"),
        (["x", "--example", "nothing"], "`kubernetes`, `llm`"),
        ([], "write `qps new site`"),
    ],
)
def test_new_needs_a_name_and_an_example_that_exists(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, "new", *arguments)
    assert status == 2
    assert said in err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_with_examples_that_the_command_takes(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    head, _, shown = capsys.readouterr().out.partition("\nexamples:\n")
    assert head
    typed = [line.strip().split("  ")[0] for line in shown.splitlines() if "  qps " in line]
    assert typed == [example for example, _ in EXAMPLES[command]]
    for example in typed:
        words = shlex.split(example)[1:]
        before, program = _parted(words)
        found = parser_of(command).parse_args(before)
        assert found.command == command
        assert bool(program) == ("--" in words)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_every_command_and_flag_can_be_completed(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "completion", shell)
    assert (status, err) == (0, "")
    for word in (*COMMANDS, "fail-on", "confidence"):
        assert word in out


@pytest.mark.skipif(sys.platform == "win32", reason="there bash is a system of its own")
def test_bash_completes_commands_flags_and_files(tmp_path: Path) -> None:
    """Asked as bash asks at a TAB: words before, the word so far."""
    (tmp_path / "site.qps").write_text("")
    script = (
        f"source <({sys.executable} -m qps completion bash)\n"
        'ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _shtab_qps; '
        'echo "${COMPREPLY[@]}"; }\nask qps sol\nask qps solve --use\nask qps solve si\n'
    )
    output = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3] / "src")},
    )  # fmt: skip
    assert output.stdout.splitlines() == ["solve", "--users", "site.qps"], output.stderr
