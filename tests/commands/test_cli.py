"""What people type, and what they get back: output, diagnostics, exit status."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

import qps
from qps.cli import _parted, main
from qps.commands.arguments.answer_arguments import FORMER_FLAGS
from qps.commands.arguments.command_line import parser_of
from qps.commands.arguments.command_table import COMMANDS
from qps.commands.arguments.help_examples import EXAMPLES
from qps.commands.arguments.spec_templates import STARTING_SPECS

SPEAK = str(Path(__file__).parents[2] / "specs" / "audioconference.qps")
SMALL = """
users N in 1..100
machine box { cpu 1 core }
component work { cpu 10 ms/packet }
param pace = 1 packet/s
topology { node host = box }
stream flow { traffic N * pace; at host { work } }
scenario quick { pace = 4 packet/s }
"""
CLAIMS = 'expect a { largest_acceptable == 100; source "arithmetic" }\n'
WRONG_CLAIM = 'expect b { host.cpu.load ~ 20 % within 1 % with N = 10; source "a guess" }\n'


UNCERTAIN = ("--set", "pace = 2 packet/s +- 20 %")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("small.qps").write_text(SMALL)
    Path("good.qps").write_text(SMALL + CLAIMS)
    Path("failing.qps").write_text(SMALL + CLAIMS + WRONG_CLAIM)
    Path("wrong.qps").write_text(SMALL.replace("work }", "wrok }"))
    Path("hopeless.qps").write_text(SMALL + "require { flow.latency <= 1 ms }\n")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Return exit status, standard output and standard error."""
    status = main(arguments)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["check", "small.qps"], 0),
        (["check", "wrong.qps"], 2),
        (["check", "nowhere.qps"], 2),
        (["solve", "small.qps"], 0),
        (["solve", "hopeless.qps"], 1),
        (["solve", "wrong.qps"], 2),
        (["solve", "small.qps", "--scenario", "none"], 2),
        (["solve", "small.qps", "--set", "pace=3"], 2),
        (["solve", "small.qps", "--set", "pace="], 2),
        (["solve", "."], 2),
        (["explain", "small.qps", "host.cpu"], 0),
        (["explain", "small.qps", "host.gpu"], 2),
        (["explain", "small.qps", "host.cpu", "--at", "1000"], 2),
        (["explain", "QPS0301"], 0),
        (["explain", "small.qps"], 2),
        (["test", "good.qps"], 0),
        (["test", "failing.qps"], 1),
        (["test", "small.qps"], 2),
        (["test", "good.qps", "wrong.qps"], 2),
        (["report", "small.qps", "-o", "small.html"], 0),
        (["report", "small.qps", "-o", "small.HTM"], 0),
        (["report", "small.qps", "-o", "small"], 0),
        (["report", "small.qps", "-o", "small.png"], 2),
        (["report", "small.qps", "-o", "small.html.pdf"], 2),
        (["report", "small.qps", "-o", "no/such/folder.html"], 2),
        (["new", "mine"], 0),
        (["new", "small"], 2),
    ],
)
def test_exit_status(capsys: pytest.CaptureFixture[str], arguments: list[str], status: int) -> None:
    assert run(capsys, *arguments)[0] == status


@pytest.mark.parametrize("arguments", [["slove"], ["solve"], ["solve", "x", "--format", "xml"]])
def test_a_wrong_command_line_ends_with_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert "error[QPS0604]: " in err


def test_a_report_is_written_under_no_other_name(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "report", "small.qps", "-o", "shown/small.png")
    assert (status, out) == (2, "")
    page = Path("shown/small.html")
    assert "a report is an HTML page, not a PNG file" in err
    assert f"write `-o {page}`" in err
    assert not Path("shown/small.png").exists()


def test_a_fault_of_qps_ends_with_3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_model: object, _configuration: object) -> object:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("qps.solver.configured_answer.solve_model", broken)
    status, out, err = run(capsys, "solve", "small.qps")
    assert (status, out) == (3, "")
    assert "ZeroDivisionError: planted" in err
    assert "report it" in err


def test_answers_go_to_stdout_and_diagnostics_to_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, err = run(capsys, "solve", "small.qps")
    assert "100 users" in out or "1 to 100" in out
    assert err == ""
    _, out, err = run(capsys, "check", "wrong.qps")
    assert out == ""
    assert "wrok" in err
    assert "\x1b" not in err


def test_solve_prints_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "solve", SPEAK, "--set", "deletion=off", "--format", "json")
    data = json.loads(out)
    assert status == 0
    assert data["schema"] == "qps/solve/5"
    assert data["model"] == "audioconference"
    assert data["scenario"] is None
    assert data["population"] == {"name": "N", "from": 2, "to": 200}
    resource = {r["name"]: r for r in data["resources"]}["station.cpu"]
    assert {"utilization", "utilization_at_limit", "saturates_at", "closed_form", "shares"} <= set(
        resource
    )
    assert resource["closed_form"] is True
    assert data["bottleneck"]["resource"] == "lan"
    assert data["bottleneck"]["saturates_at"] == pytest.approx(13.009996)
    assert {"at", "to"} == set(data["bottleneck"]["changes"][0])
    requirement = data["requirements"][0]
    assert (requirement["measure"], requirement["limit"], requirement["unit"]) == (
        "voice.latency",
        0.23,
        "s",
    )
    assert requirement["met_up_to"] == 7
    assert data["quality"]["metric"] == "euclidean"
    assert data["capacity"] == 6
    assert data["limited_by"] == "quality"
    assert {"parameter", "elasticity"} == set(data["sensitivity"][0])
    assert data["warnings"] == []


def test_never_saturating_and_never_acceptable_are_null(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run(capsys, "solve", SPEAK, "--format", "json")
    resources = {r["name"]: r for r in json.loads(out)["resources"]}
    assert resources["station.cpu"]["saturates_at"] is None
    _, out, _ = run(capsys, "solve", "hopeless.qps", "--format", "json")
    assert json.loads(out)["capacity"] is None


def test_the_range_as_the_limit_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "solve", "small.qps", "--set", "N=1..50", "--format", "json")
    data = json.loads(out)
    assert data["capacity"] == 50
    assert data["limited_by"] is None
    assert [w["code"] for w in data["warnings"]] == ["QPS0605"]


def test_scenarios_and_settings_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    def largest(*arguments: str) -> int:
        _, out, _ = run(capsys, "solve", "small.qps", "--format", "json", *arguments)
        return int(json.loads(out)["capacity"])

    assert largest("--scenario", "quick") == 25
    assert largest("--set", "pace = 2 packet/s") == 50
    assert largest("--scenario", "quick", "--set", "pace=10 packet/s") == 10


def test_test_prints_an_entry_for_each_claim(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", "failing.qps", "--format", "json")
    data = json.loads(out)
    assert (data["schema"], data["passed"], data["failed"]) == ("qps/test/2", 1, 1)
    entry = data["expectations"][1]
    assert entry["name"] == "b"
    assert (entry["claimed"], entry["predicted"]) == (0.2, 0.1)
    assert entry["difference"] == pytest.approx(-0.1)
    assert (entry["within"], entry["holds"], entry["source"]) == ("1 %", False, "a guess")
    assert entry["file"] == "failing.qps"
    assert entry["line"] == 10


def test_quiet_prints_failures_only(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", "failing.qps", "-q")
    assert "FAIL" in out
    assert "ok " not in out
    _, out, err = run(capsys, "check", "small.qps", "-q")
    assert (out, err) == ("", "")


def test_a_folder_stands_for_the_specs_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("deep/er").mkdir(parents=True)
    Path("deep/er/one.qps").write_text(SMALL)
    Path("deep/.hidden").mkdir()
    Path("deep/.hidden/two.qps").write_text("nonsense")
    status, _, err = run(capsys, "check", "deep")
    assert status == 0
    assert "1 spec checked" in err
    Path("empty").mkdir()
    assert run(capsys, "check", "empty")[0] == 2


@pytest.mark.parametrize(
    ("choice", "environment", "coloured"),
    [
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("auto", {"TERM": "dumb", "FORCE_COLOR": "1"}, False),
        ("auto", {}, False),
    ],
)
def test_colour(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    choice: str,
    environment: dict[str, str],
    coloured: bool,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    _, _, err = run(capsys, "check", "wrong.qps", "--color", choice)
    assert ("\x1b[" in err) == coloured


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


def test_the_api_says_what_the_command_line_says(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "solve", "small.qps", "--format", "json")
    data = json.loads(out)
    model = qps.load("small.qps")
    answer = model.solve()
    assert answer.capacity == data["capacity"]
    assert answer.resources[0].utilization == data["resources"][0]["utilization"]
    assert answer.population.to == 100
    assert str(model.load_of("host.cpu")) == data["resources"][0]["utilization"]
    assert model.solve(set={"pace": "2 packet/s"}).capacity == 50
    assert model.solve(scenario="quick").capacity == 25
    table = model.sweep(N=range(1, 4))
    assert table["host.cpu.utilization"].tolist() == pytest.approx([0.01, 0.02, 0.03])
    with pytest.raises(TypeError, match="N="):
        model.sweep(M=range(3))
    with pytest.raises(KeyError):
        model.load_of("nothing")
    assert capsys.readouterr().out == ""


def test_the_api_raises_mistakes_with_their_diagnostics() -> None:
    with pytest.raises(qps.QpsError) as raised:
        qps.load("wrong.qps")
    assert [d.code.id for d in raised.value.diagnostics] == ["QPS0201"]
    with pytest.raises(qps.QpsError):
        qps.loads('users N in 1..2\nuse "small.qps" as s')
    with pytest.raises(qps.QpsError):
        qps.load("small.qps").solve(set={"pace": 3})


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


@pytest.mark.parametrize("form", ["json", "markdown", "page"])
def test_what_the_spec_warns_of_goes_with_the_answer(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer that is passed on alone still says what it rests on."""
    spec = tmp_path / "one.qps"
    spec.write_text(
        "users N in 1..9\nmachine box { cpu 1 core; memory 4 GB }\n"
        "component work { cpu 1 ms/request }\ntopology { node host = box }\n"
        "stream jobs { traffic N * 1 request/s; at host { work } }\n",
        encoding="utf-8",
    )
    if form == "page":
        assert main(["report", "-q", str(spec), "-o", str(tmp_path / "one.html")]) == 0
        output = (tmp_path / "one.html").read_text(encoding="utf-8")
    else:
        assert main(["solve", "-q", str(spec), "--format", form]) == 0
        output = capsys.readouterr().out
    assert "QPS0502" in output
    assert "memory" in output


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


def test_report_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "report", "small.qps")
    assert (status, err) == (0, "")
    assert out == ("small.html: No limit is reached from 1 to 100 users, the full range.\n")
    assert run(capsys, "report", "small.qps", "-q")[1] == ""


def test_a_failure_is_reported_at_a_glance(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    _, bare, _ = run(capsys, "test", "failing.qps")
    _, shown, _ = run(capsys, "test", "failing.qps", "--color", "always")
    assert "\x1b" not in bare
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == bare
    coloured = re.findall(r"\x1b\[1;31m(.*)\x1b\[0m", shown)
    # In the table, once more by itself, and in the count.
    assert [line.split()[0] for line in coloured] == ["FAIL", "FAIL", "1"]
    assert coloured[2].endswith("1 failed")
    _, shown, _ = run(capsys, "test", "good.qps", "--color", "always")
    assert "\x1b[1;31m" not in shown
    assert shown.count("\x1b[1;32m") == 1


def test_what_fails_is_reported_whole_behind_all_claims(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", "failing.qps")
    assert (
        "\n\nFAIL  b  failing.qps:10\n"
        "  Expected     20 % within 1 %\n"
        "  Predicted    10 %\n"
        "  Error        -50 %\n"
        "\n"
    ) in out
    assert out.splitlines()[-1].endswith("1 failed")
    _, quiet, _ = run(capsys, "test", "failing.qps", "-q")
    assert quiet.startswith("FAIL  b  failing.qps:10\n")


@pytest.mark.parametrize("columns", [80, 200])
def test_claims_fit_the_terminal_and_no_program_has_others(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = Path("failing.qps").read_text(encoding="utf-8")
    name = "the_load_of_the_processor_with_two_of_these_users_at_once"
    Path("long.qps").write_text(re.sub("expect b ", f"expect {name} ", spec), encoding="utf-8")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    _, out, _ = run(capsys, "test", "long.qps")
    assert max(map(len, out.splitlines())) <= columns
    assert out.count(name) == (2 if columns == 200 else 1)
    assert f"FAIL  {name}  long.qps:10\n" in out


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
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )  # fmt: skip
    assert output.stdout.splitlines() == ["solve", "--users", "site.qps"], output.stderr
