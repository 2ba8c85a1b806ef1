"""Flags of commands: former names, repetition, scenarios and settings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import qps
from helpers.cases.command_lines import SMALL, run
from qps.cli import main
from qps.commands.arguments.answer_arguments import FORMER_FLAGS
from qps.commands.arguments.command_line import parser_of
from qps.commands.arguments.command_table import COMMANDS

UNCERTAIN = ("--set", "pace = 2 packet/s +- 20 %")


def test_scenarios_and_settings_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    def largest(*arguments: str) -> int:
        _, out, _ = run(capsys, "solve", "small.qps", "--format", "json", *arguments)
        return int(json.loads(out)["capacity"])

    assert largest("--scenario", "quick") == 25
    assert largest("--set", "pace = 2 packet/s") == 50
    assert largest("--scenario", "quick", "--set", "pace=10 packet/s") == 10


@pytest.mark.parametrize(
    ("former", "current"),
    [
        (("--carry", "3"), ("--users", "3")),
        (("--carry", "N = 3"), ("--users", "N = 3")),
        (("--for", "pace", "--given", "N = 3"), ("--for", "pace", "--users", "3")),
        (("--sure", "80 %", *UNCERTAIN), ("--confidence", "80 %", *UNCERTAIN)),
    ],
)
def test_former_flags_are_read(
    former: tuple[str, ...], current: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    values = []
    for flags in (former, current):
        assert main(["solve", "-q", "small.qps", *flags]) == 0
        values.append(capsys.readouterr().out)
    assert values[0] == values[1] != ""


def test_former_flags_are_shown_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    shown = parser_of("solve").format_help() + run(capsys, "completion", "bash")[1]
    assert "--users" in shown
    assert [flag for flag in FORMER_FLAGS if flag in shown] == []
    for command, former in (
        ("simulate", "--seconds"),
        ("test", "--seconds"),
        ("history", "--most"),
    ):
        assert former not in parser_of(command).format_help()
        assert parser_of(command).parse_args([command, "a.qps", former, "7"])
    assert "did you mean `--carry`" not in run(capsys, "solve", "small.qps", "--cary", "3")[2]


@pytest.mark.parametrize(
    "command",
    [
        "solve small.qps --for pace --for host.cpu.cores --users N=3",
        "solve small.qps --for pace --users N=3 --users N=4",
        "solve small.qps --users 3 --users 4",
        "solve small.qps --format json --format text",
        "solve small.qps --color never --color always",
        "explain small.qps host.cpu --at 3 --at 4",
        "test small.qps --format json --format text",
        "check small.qps --format json --format text",
        "matrix small.qps -o a.csv --output b.csv",
        "matrix small.qps --on dask --on cores",
        "matrix small.qps --workers 1 --workers 2",
        "report small.qps -o a.html -o b.html",
        "report small.qps --variants 1 --variants 2",
        "fit a.csv --cores 1 --cores 2",
        "fit a.csv --resource cpu --resource disk",
        "diff small.qps good.qps -o a.html -o b.html",
        "trace a.csv --period 20ms --period 30ms",
        "trace a.csv --unit ms --unit s",
    ],
)
def test_of_a_flag_that_is_given_twice_none_is_dropped(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    status, out, err = run(capsys, *command.split())
    assert (status, out) == (2, "")
    assert "is given twice" in err


TWO_SCENARIOS = """users N in 1..100000
param cost = 1 ms/request
option fast = no_cache or cache
machine box { cpu 2 core }
component work { cpu cost }
component hit { cpu cost / 2 }
topology { node api = box }
stream jobs { traffic N * 1 request/s; at api { work if fast == no_cache; hit if fast == cache } }
scenario dear { cost = 20 ms/request }
scenario wide { cost = 10 ms/request; fast = cache }
scenario swift { fast = cache }
scenario both { scenario = dear; fast = cache }
scenario back { scenario = wide; cost = 20 ms/request }
"""


@pytest.mark.parametrize(
    ("several", "one"),
    [(["dear", "swift"], "both"), (["swift", "dear"], "both"), (["wide", "swift"], "wide")],
)
def test_several_scenarios_are_made_together(
    several: list[str], one: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "two.qps"
    spec.write_text(TWO_SCENARIOS, encoding="utf-8")
    flags = [word for name in several for word in ("--scenario", name)]
    listed = ["--set", f"scenario = [{', '.join(several)}]"]
    for command in (
        ["solve", "--all"],
        ["explain", "api.cpu"],
        ["solve", "--set", "cost=4 ms/request"],
    ):
        name, *rest = command
        values = []
        for options in (flags, listed, ["--scenario", one]):
            assert main([name, str(spec), *rest, "--format", "json", *options]) == 0
            values.append(json.loads(capsys.readouterr().out))
        if name == "solve":
            assert values[0]["scenario"] == values[1]["scenario"] == ", ".join(several)
            assert len({one["capacity"] for one in values}) == 1
        else:  # the same value, that another line states
            assert len({one.pop("assumptions")[0]["value"] for one in values}) == 1
            assert values[0] == values[1] == values[2]
    model = qps.load(spec)
    found = model.solve(scenario=several).capacity
    assert found == model.solve(scenario=one).capacity


@pytest.mark.parametrize(("requested", "line"), [(["dear", "wide"], 10), (["wide", "dear"], 9)])
def test_what_two_scenarios_change_otherwise_is_refused_unless_a_setting_decides(
    requested: list[str], line: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "two.qps"
    spec.write_text(TWO_SCENARIOS, encoding="utf-8")
    flags = [word for name in requested for word in ("--scenario", name)]
    for named in (flags, ["--set", f"scenario = [{', '.join(requested)}]"]):
        status, out, err = run(capsys, "solve", "--all", str(spec), *named)
        assert (status, out) == (2, "")
        assert f"scenarios `{requested[0]}` and `{requested[1]}` set " in err
        assert f"two.qps:{line}:" in err
        assert "by `dear`" in err
        assert "by `wide`" in err
    decided = ["--set", "cost = 20 ms/request", "--format", "json"]
    assert main(["solve", "--all", str(spec), *flags, *decided]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["capacity"] == qps.load(spec).solve(scenario="back").capacity


def test_scenarios_that_are_requested_twice_or_unknown_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for last, message in (("quick", "is applied twice"), ("none", "has no scenario named `none`")):
        flags = ["--scenario", "quick", "--scenario", last]
        for command in (["solve"], ["explain", "host.cpu"], ["diff", "good.qps"]):
            status, out, err = run(capsys, *command[:1], "small.qps", *command[1:], *flags)
            assert (status, out) == (2, "")
            assert message in err


def test_every_flag_has_one_value_or_gathers_all() -> None:
    from argparse import ArgumentParser, _SubParsersAction

    from qps.commands.arguments.command_line import _SingleValue

    def commands(parser: ArgumentParser) -> Iterator[ArgumentParser]:
        for action in parser._actions:
            if isinstance(action, _SubParsersAction):
                for command in action.choices.values():
                    yield command
                    yield from commands(command)

    found = list(commands(parser_of(None)))
    assert len(found) > len(COMMANDS)  # some have commands of their own
    for command in found:
        for flag in command._actions:
            name = type(flag).__name__
            is_switch = name in ("_StoreTrueAction", "_StoreFalseAction", "_HelpAction")
            is_several = name in ("_AppendAction", "_SubParsersAction")
            assert is_switch or is_several or isinstance(flag, _SingleValue), flag


@pytest.mark.parametrize("name", ["self", "set", "N", "population"])
def test_a_population_of_any_name_can_be_swept(name: str) -> None:
    text = SMALL.replace("users N", f"users {name}").replace("traffic N", f"traffic {name}")
    table = qps.loads(text).sweep(**{name: range(1, 4)})
    assert table["host.cpu.utilization"].tolist() == pytest.approx([0.01, 0.02, 0.03])


def test_at_sets_the_population(capsys: pytest.CaptureFixture[str]) -> None:
    _, found, _ = run(capsys, "solve", "small.qps", "--format", "json", "--at", "20")
    _, expected, _ = run(capsys, "solve", "small.qps", "--format", "json", "--set", "N=20")
    assert found == expected
    assert json.loads(found)["capacity"] == 20
    shown = run(capsys, "solve", "small.qps", "--at", "23", "--no-advice")[1]
    assert "23 users (the population is set)" in " ".join(shown.split())  # not rounded down
    _, _, err = run(capsys, "solve", "small.qps", "--at", "20", "--users", "30")
    assert "`--at` cannot be combined with `--users`" in err


@pytest.mark.parametrize(
    ("command", "flag", "expected"),
    [
        ("solve", "--fail-on", "it is a flag of `qps diff`, `qps ci`"),
        ("test", "--set", "`expect { … with N = 500 }`"),
        ("solve", "--sett", "did you mean `--set`?"),
        ("solve", "--nothing-like-it", "`qps solve --help` lists the arguments"),
    ],
)
def test_a_flag_of_other_commands_is_known(
    command: str, flag: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "small.qps", flag, "1"]) == 2
    assert expected in capsys.readouterr().err
