"""Commands, flags and percentiles as other tools write them: what is written here is named."""

from __future__ import annotations

import pytest

from helpers.cases.command_lines import run
from qps.commands.arguments.command_table import COMMANDS
from qps.commands.arguments.words_of_other_tools import COMMANDS_ELSEWHERE, flag_here


def test_words_of_other_tools_are_no_commands_and_lead_to_one() -> None:
    assert COMMANDS_ELSEWHERE.keys() & COMMANDS.keys() == set()
    assert set(COMMANDS_ELSEWHERE.values()) <= COMMANDS.keys()


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["capacity", "small.qps"], "`qps solve` does that"),
        (["lint", "small.qps"], "`qps check` does that"),
        (["solve", "small.qps", "--json"], "write `--format json`"),
        (["solve", "small.qps", "-o", "page.html"], "`qps report SPEC -o page.html` writes a file"),
        (["check", "small.qps", "--output", "a"], "it is a flag of `qps incident`"),
        (["solve", "small.qps", "--rps=100"], "--set 'rate = 100 request/s'"),
        (["simulate", "small.qps", "--users", "5"], "write `--at 500`"),
        (["solve", "small.qps", "--verbose"], "write `--all`"),
        (["solve", "small.qps", "--p99"], "qps explain SPEC NAME.p99"),
        (["explain", "small.qps", "p99"], ".p99`"),
        (["explain", "small.qps", "latency.p99"], ".p99`"),
    ],
)
def test_what_is_written_here_is_named(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, reported = run(capsys, *arguments)
    assert status == 2
    assert hint in reported


def test_no_flag_is_named_that_the_command_lacks() -> None:
    assert flag_here("--json", ["--set"]) is None
    assert flag_here("--json", ["--format"]) == "write `--format json`"
