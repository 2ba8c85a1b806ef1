"""The project file: what specs may read, what is ignored, allowed, and accepted until a day."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from qps import load
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_file, check_source
from qps.compiler.project.project_file import matches, project_of

MODULE = "machine box { cpu 1 core }\nparam each = 1 ms/packet\n"
SPEC = """\
use "../shared/hw.qps" as hw
users N in 1..900
param pace = 2 packet/s
component work { cpu hw.each }
topology { node host = hw.box }
stream flow { traffic N * 10 packet/s; at host { work } }
expect most { largest_acceptable >= 150; source "us" }
expect same { largest_acceptable <= 200; source "us" }
"""
LATER, OVER = date.today() + timedelta(days=1), date.today() - timedelta(days=1)  # noqa: DTZ011


def accepting(until: date, claim: str = "most") -> str:
    entry = f'file = "app/site.qps"\nclaim = "{claim}"\nreason = "new server"\nuntil = {until}\n'
    return f"[[accept]]\n{entry}"


def allowing(code: str, text: str = "") -> str:
    said = f'text = "{text}"\n' if text else ""
    return f'[[allow]]\ncode = "{code}"\nfile = "app/site.qps"\n{said}reason = "next year"\n'


@pytest.fixture(autouse=True)
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"shared/hw.qps": MODULE, "app/site.qps": SPEC, "old/a.qps": ")"}.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def reported(path: str = "app/site.qps") -> list[tuple[str, str]]:
    """Return what `qps check` tells of a file: codes, and how grave they are."""
    found = check_file(Path(path)).diagnostics
    return [(one.code.id, one.code.severity.value) for one in found]


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("", "", [("QPS0207", "error")]),
        ("qps.toml", "", [("QPS0502", "warning")]),
        ("pyproject.toml", "[tool.ruff]\nx = 1", [("QPS0207", "error")]),
        ("pyproject.toml", "[tool.qps]\nroot = '.'", [("QPS0502", "warning")]),
        ("pyproject.toml", "[tool]\nqps = {root = '.'}", [("QPS0502", "warning")]),
        ("pyproject.toml", "[tool.qps]\nrot = '.'", [("QPS0212", "error")]),
        ("pyproject.toml", "[tool.qps\n", [("QPS0207", "error")]),
        ("qps.toml", "root = 'app'", [("QPS0207", "error")]),
        ("app/qps.toml", "", [("QPS0207", "error")]),
        ("app/qps.toml", "root = '..'", [("QPS0212", "error")]),
        ("qps.toml", "warnings-are-errors = true", [("QPS0502", "error")]),
        ("qps.toml", allowing("QPS0502"), []),
        ("qps.toml", allowing("unused", "pace"), []),
        ("qps.toml", allowing("QPS0502", "else"), [("QPS0502", "warning"), ("QPS0540", "warning")]),
        ("qps.toml", allowing("QPS0503"), [("QPS0502", "warning"), ("QPS0540", "warning")]),
        ("qps.toml", "a = " + "[" * 5_000, [("QPS0212", "error")]),
        ("qps.toml", "a = " + "9" * 5_000, [("QPS0212", "error")]),
        ("qps.toml", "\0", [("QPS0212", "error")]),
        ("qps.toml", "ignore = ['../x', 3]", [("QPS0212", "error")]),
        ("qps.toml", "allow = 3\naccept = [3]", [("QPS0212", "error")] * 2),
        ("qps.toml", accepting(LATER).replace("app/", "app/\\u0000"), [("QPS0212", "error")]),
    ],
)
def test_a_project_file_is_obeyed(file: str, text: str, expected: list[tuple[str, str]]) -> None:
    if file:
        Path(file).write_text(text, encoding="utf-8")
    assert sorted(reported()) == sorted(expected)


def test_nothing_above_a_project_is_read_and_no_link_leads_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside.qps"
    outside.write_text(MODULE, encoding="utf-8")
    Path("project/app").mkdir(parents=True)
    Path("project/qps.toml").touch()
    Path("project/linked.qps").symlink_to(outside)
    Path("project/folder").symlink_to(tmp_path)
    for way in ("../../outside.qps", "../linked.qps", "../folder/outside.qps", str(outside)):
        spec = Path("project/app/site.qps")
        spec.write_text(SPEC.replace("../shared/hw.qps", way), encoding="utf-8")
        assert reported(str(spec)) == [("QPS0207", "error")], way


def test_a_project_file_is_not_looked_for_above_a_repository_or_where_anybody_writes() -> None:
    Path("qps.toml").touch()
    Path("app/.git").mkdir()
    assert reported() == [("QPS0207", "error")]
    Path("app/.git").rmdir()
    assert reported() == [("QPS0502", "warning")]
    Path().chmod(0o777)
    assert reported() == [("QPS0207", "error")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("param pace = 2 packet/s  # allow QPS0502: next year", []),
        ("# allow QPS0502: next year\n\n# indeed\nparam pace = 2 packet/s", []),
        ("param pace = 2 packet/s  # allow QPS0502 next year", ["QPS0213"]),
        ("param pace = 2 packet/s  # allow QPS0502:", ["QPS0213"]),
        ('"""# allow QPS0502: a text"""\nparam pace = 2 packet/s', ["QPS0502"]),
        ("param pace = 2 packet/s  # allow more than QPS0502", ["QPS0502"]),
        ("# allow QPS0503: this\nparam pace = 2 packet/s", ["QPS0502", "QPS0540"]),
    ],
)
def test_a_comment_allows_a_warning_on_its_line(text: str, expected: list[str]) -> None:
    spec = MODULE + SPEC.partition("\n")[2].replace("hw.", "")
    found = check_source(Source("text", spec.replace("param pace = 2 packet/s", text))).diagnostics
    assert sorted(one.code.id for one in found) == expected


def test_commands_obey_and_see_a_change(capsys: pytest.CaptureFixture[str]) -> None:
    Path("qps.toml").write_text(f'ignore = ["old"]\n{allowing("QPS0502")}', encoding="utf-8")
    assert main(["check", "."]) == 0  # `old` has a mistake
    assert main(["fmt", "--check", "."]) == 0
    assert main(["solve", "--no-advice", "app/site.qps"]) == 0
    assert main(["diff", "app/site.qps", "app/site.qps"]) == 0
    assert "QPS" not in capsys.readouterr().err
    Path("qps.toml").write_text("warnings-are-errors = true", encoding="utf-8")
    assert main(["solve", "--no-advice", "app/site.qps"]) == 2  # though it was kept as it was
    assert "warnings are errors here, set in qps.toml" in capsys.readouterr().err
    Path("qps.toml").write_text(accepting(LATER).replace("site", "gone"), encoding="utf-8")
    main(["check", "."])
    assert "file `gone.qps` does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("", 1, "FAIL      most"),
        (accepting(LATER), 0, "1 accepted failure"),
        (accepting(date.today()), 0, "new server"),  # noqa: DTZ011
        (accepting(OVER), 1, f"was accepted until {OVER} (qps.toml:1): new server"),
        (accepting(OVER) + accepting(LATER), 0, f"accepted until {LATER} (qps.toml:6)"),
        (
            accepting(LATER) + accepting(LATER, "same"),
            0,
            "and holds",
        ),
        (accepting(LATER) + accepting(LATER, "gone"), 0, "not a claim of this spec"),
    ],
)
def test_a_failure_is_accepted_until_its_day(
    text: str, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("qps.toml").write_text(text, encoding="utf-8")
    assert main(["test", "app/site.qps"]) == status
    printed = capsys.readouterr()
    assert " ".join(said.split()) in " ".join((printed.out + printed.err).split())


@pytest.mark.parametrize(
    ("until", "verdict", "said"), [(LATER, "accepted", "accepted"), (OVER, "fails", "was accepted")]
)
def test_each_report_of_claims_has_the_same_accepted_failures(
    until: date, verdict: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("qps.toml").write_text(accepting(until), encoding="utf-8")
    reason = f"{said} until {until} (qps.toml:1): new server"
    found = {one.name: one for one in load("app/site.qps").test()}["most"]
    assert (found.verdict.value, found.excepted, found.fails) == (verdict, reason, until is OVER)
    main(["test", "--format", "json", "app/site.qps"])
    (entry, _) = json.loads(capsys.readouterr().out)["expectations"]
    assert (entry["verdict"], entry["excepted"]) == (verdict, reason)
    main(["report", "-q", "--no-advice", "app/site.qps", "-o", "page.html"])
    page = Path("page.html").read_text(encoding="utf-8")
    assert f">{verdict}</span></td>" in page
    assert f"Fails, {reason}" in page


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a/b/c.qps", "a", True),
        ("a/b/c.qps", "a/b/", True),
        ("a/b/c.qps", "b", False),
        ("a/b/c.qps", "**/c.*", True),
        ("a/b/c.qps", "a/*/c.qps", True),
        ("a/b/c.qps", "a/*.qps", False),
        ("a" * 99, "*a" * 90 + "b", False),
        ("/".join("a" * 60), "**/" * 60 + "b", False),
    ],
)
def test_patterns_name_files_and_folders(path: str, pattern: str, *, fits: bool) -> None:
    assert matches(tuple(path.split("/")), pattern) == fits


def test_a_folder_without_a_project_has_none() -> None:
    assert project_of(None).value is None
    assert project_of(Path("app")).value is None


@pytest.mark.parametrize(
    "key", [".".join("a" * 60), ".".join(["'a.b'"] * 60), "[" + " . ".join(["x-1"] * 60) + "]\nb"]
)
def test_keys_of_very_many_parts_are_reported_before_they_are_read(key: str) -> None:
    Path("qps.toml").write_text(f"{key} = 1\n", encoding="utf-8")
    (found,) = project_of(Path()).diagnostics
    assert found.message == "invalid TOML: a key has more than 50 parts"
