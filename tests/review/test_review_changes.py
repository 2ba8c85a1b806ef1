"""Whole changes under the rules of a review: files, project files, levels, places, formats."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from documents import review_rules
from helpers.nightly import nightly
from qps.cli import main
from qps.compiler.project.review_rules import BY_NAME, EXAMPLE, RULES, ReviewRule

SITE = EXAMPLE["site.qps"]
MODULE = "machine pod { cpu 2 core }\nparam fewest = 900\n"
CLAIMS = 'param share = 50 %\nexpect halves { share <= 50 %; source "handbook" }\n'
READER = 'use "hw.qps" as hw\n' + SITE.replace("machine server { cpu 4 core }\n", "").replace(
    "= server", "= hw.pod"
).replace("~ 20 %", "~ 40 %")


def git(*arguments: str) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *arguments], check=True, capture_output=True)


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


def edit(name: str, before: str, after: str) -> None:
    text = Path(name).read_text(encoding="utf-8")
    assert before in text
    write(name, text.replace(before, after))


@pytest.fixture(autouse=True)
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a repository with specs that pass, a module, and a project file."""
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_", "PRE_COMMIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    write(
        "qps.toml",
        'ignore = ["old"]\n[[accept]]\nfile = "specs/reader.qps"\nclaim = "gone"\n'
        'reason = "x"\nuntil = 2099-01-01\n',
    )
    write("specs/site.qps", SITE)
    write("specs/reader.qps", READER)
    write("specs/hw.qps", MODULE)
    write("specs/bound.qps", READER.replace(">= contracted", ">= hw.fewest"))
    write("specs/claims.qps", CLAIMS)
    write("old/unread.qps", SITE)
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "before")


def found(capsys: pytest.CaptureFixture[str], *paths: str) -> tuple[int, list[dict[str, object]]]:
    """Return the exit status of `qps ci`, and what its rules report."""
    capsys.readouterr()
    status = main(["ci", "-q", "--base", "HEAD", "--format", "json", *(paths or (".",))])
    view = json.loads(capsys.readouterr().out)
    return status, [one for one in view["findings"] if one["code"] in BY_NAME]


def delete_spec() -> None:
    git("rm", "-q", "specs/site.qps")


def delete_all() -> None:
    git("rm", "-q", "-r", "specs")


def delete_module() -> None:
    for name in ("reader", "bound"):
        edit(f"specs/{name}.qps", 'use "hw.qps" as hw\n', MODULE)
        edit(f"specs/{name}.qps", "hw.", "")
    git("rm", "-q", "specs/hw.qps")


def rename() -> None:
    git("mv", "specs/site.qps", "specs/shop.qps")


def rewrite_elsewhere() -> None:
    git("rm", "-q", "specs/site.qps")
    text = SITE.replace("machine server", "# another one\nmachine server")
    write("specs/new/shop.qps", f"# {'x' * 3000}\n" * 3 + text)


def move_a_claim() -> None:
    claim = next(line for line in SITE.splitlines() if line.startswith("expect measured"))
    edit("specs/site.qps", f"{claim}\n", "")
    shorter = SITE.replace("expect contract", "expect other")
    write("specs/second.qps", shorter)


def ignore_by_pattern() -> None:
    edit("qps.toml", '"old"', '"old", "specs/s*.qps"')


def ignore_everything() -> None:
    edit("qps.toml", '"old"', '"**"')


def move_to_what_is_ignored() -> None:
    git("mv", "specs/site.qps", "old/site.qps")


def another_ending() -> None:
    git("mv", "specs/site.qps", "specs/site.qps.bak")


def another_ending_and_edited() -> None:
    git("mv", "specs/site.qps", "specs/site.txt")
    edit("specs/site.txt", "contracted = 1500", "contracted = 15")


def move_out_of_the_paths() -> None:
    git("mv", "specs/site.qps", "site.qps")


def hide() -> None:
    write("specs/.hidden/x", "")
    git("mv", "specs/site.qps", "specs/.hidden/site.qps")


def accept() -> None:
    with Path("qps.toml").open("a", encoding="utf-8") as file:
        file.write('[[accept]]\nfile = "specs/site.qps"\nclaim = "contract"\n')
        file.write('reason = "r"\nuntil = 2099-01-01\n')


def accept_longer() -> None:
    edit("qps.toml", "2099-01-01", "2099-06-01")


def accept_shorter() -> None:
    edit("qps.toml", "2099-01-01", "2098-06-01")


def accept_in_a_nearer_file() -> None:
    write(
        "specs/qps.toml",
        '[[accept]]\nfile = "site.qps"\nclaim = "contract"\nreason = "r"\nuntil = 2099-01-01\n',
    )


def accept_in_a_new_folder() -> None:
    write("new/more.qps", SITE)
    write(
        "new/qps.toml",
        '[[accept]]\nfile = "more.qps"\nclaim = "contract"\nreason = "r"\nuntil = 2099-01-01\n',
    )


def rename_and_loosen() -> None:
    rename()
    edit("specs/shop.qps", "contracted = 1500", "contracted = 15")


def loosen_by_a_module() -> None:
    edit("specs/hw.qps", "fewest = 900", "fewest = 9")


def accept_as_before_in_pyproject() -> None:
    text = Path("qps.toml").read_text(encoding="utf-8")
    git("rm", "-q", "-f", "qps.toml")
    text = text.replace("[[accept]]", "[[tool.qps.accept]]")
    write("pyproject.toml", f"[tool.qps]\n{text}")


def accept_of_a_renamed_spec() -> None:
    git("mv", "specs/reader.qps", "specs/shop.qps")
    edit("qps.toml", "specs/reader.qps", "specs/shop.qps")


def allow_in_a_comment() -> None:
    edit("specs/site.qps", "option cache = off", "option cache = off # allow QPS0502: later")


def laxer_module_claim() -> None:
    edit("specs/claims.qps", "share <= 50 %", "share <= 90 %")


def module_source() -> None:
    edit("specs/hw.qps", "cpu 2 core }", "cpu 2 core }\n# only a comment")


def lower_a_level() -> None:
    with Path("qps.toml").open("a", encoding="utf-8") as file:
        file.write('[review]\nclaim-loosened = "note"\n')
    edit("specs/site.qps", "contracted = 1500", "contracted = 15")


CHANGES: dict[Callable[[], None], list[tuple[str, str]]] = {
    delete_spec: [("spec-deleted", "specs/site.qps")],
    delete_all: [
        ("spec-deleted", "specs/bound.qps"),
        ("spec-deleted", "specs/claims.qps"),
        ("spec-deleted", "specs/reader.qps"),
        ("spec-deleted", "specs/site.qps"),
    ],
    delete_module: [],
    rename: [],
    rewrite_elsewhere: [],
    move_a_claim: [],
    ignore_by_pattern: [("spec-ignored", "qps.toml")],
    ignore_everything: [("spec-ignored", "qps.toml")] * 5,
    move_to_what_is_ignored: [("spec-ignored", "qps.toml")],
    another_ending: [("spec-ignored", "specs/site.qps.bak")],
    another_ending_and_edited: [("spec-ignored", "specs/site.txt")],
    hide: [("spec-ignored", "specs/.hidden/site.qps")],
    accept: [("accepted-added", "qps.toml")],
    accept_longer: [("accepted-added", "qps.toml")],
    accept_shorter: [],
    accept_in_a_nearer_file: [("accepted-added", "specs/qps.toml")],
    accept_in_a_new_folder: [("accepted-added", "new/qps.toml")],
    rename_and_loosen: [("claim-loosened", "specs/shop.qps")],
    loosen_by_a_module: [("claim-loosened", "specs/bound.qps")],
    accept_as_before_in_pyproject: [],
    accept_of_a_renamed_spec: [],
    allow_in_a_comment: [("warning-allowed", "specs/site.qps")],
    laxer_module_claim: [("claim-loosened", "specs/claims.qps")],
    module_source: [],
    lower_a_level: [("claim-loosened", "specs/site.qps"), ("rule-relaxed", "qps.toml")],
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_a_change_of_files_makes_weaker_is_found(
    change: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    change()
    _, reported = found(capsys)
    assert sorted((one["code"], one["file"]) for one in reported) == sorted(CHANGES[change])
    for one in reported:
        file = Path(str(one["file"]))
        if file.is_file():
            assert 1 <= int(str(one["line"])) <= len(file.read_text().splitlines())


def test_a_spec_that_leaves_the_paths_is_no_longer_checked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    move_out_of_the_paths()
    status, (one,) = found(capsys, "specs")
    assert (status, one["code"]) == (1, "spec-ignored")
    assert found(capsys) == (0, [])


def test_the_stricter_level_of_both_project_files_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lower_a_level()
    status, reported = found(capsys)
    levels = {one["code"]: one["level"] for one in reported}
    assert (status, levels) == (1, {"claim-loosened": "error", "rule-relaxed": "error"})
    git("commit", "-qam", "approved")
    edit("specs/site.qps", "contracted = 15", "contracted = 1")
    status, (one,) = found(capsys)
    assert (status, one["level"]) == (0, "note")
    edit("qps.toml", '"note"', '"warning"')
    status, (one,) = found(capsys)
    assert (status, one["level"]) == (0, "warning")
    edit("qps.toml", '"warning"', '"off"')
    assert [one["code"] for one in found(capsys)[1]] == ["rule-relaxed", "claim-loosened"]
    git("commit", "-qam", "off")
    edit("specs/site.qps", "contracted = 1\n", "contracted = 0\n")
    assert found(capsys) == (0, [])


def accepted(rule: str, claim: str = "", until: str = "2099-01-01") -> str:
    """Return an entry of a project file that accepts what a rule reports."""
    return (
        f'\n[[accept]]\nfile = "specs/site.qps"\nrule = "{rule}"\n{claim}'
        f'reason = "agreed with sales"\nuntil = {until}\n'
    )


@pytest.mark.parametrize(
    ("rule", "claim", "until", "level"),
    [
        ("claim-loosened", 'claim = "contract"\n', "2099-01-01", "note"),
        pytest.param("claim-loosened", "", "2099-01-01", "note", marks=nightly),
        ("claim-loosened", 'claim = "measured"\n', "2099-01-01", "error"),
        ("claim-loosened", "", "2020-01-01", "error"),
        ("claim-changed", "", "2099-01-01", "error"),
    ],
)
def test_what_is_meant_is_accepted_until_a_day_and_that_is_reported(
    rule: str, claim: str, until: str, level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edit("specs/site.qps", "contracted = 1500", "contracted = 15")
    with Path("qps.toml").open("a", encoding="utf-8") as file:
        file.write(accepted(rule, claim, until))
    status, reported = found(capsys)
    levels = {one["code"]: one["level"] for one in reported}
    assert levels == {"claim-loosened": level, "accepted-added": "warning"}
    assert status == (1 if level == "error" else 0)
    result = next(one for one in reported if one["code"] == "claim-loosened")
    reason = f"accepted until {until}: agreed with sales"
    assert result["accepted"] == (None if level == "error" else reason)
    for flags in ((), ("--format", "github"), ("--format", "markdown")):
        main(["ci", "--base", "HEAD", *flags])
        out = capsys.readouterr().out.replace("\n  ", " ")
        lines = [line for line in out.splitlines() if "was weakened: " in line]
        assert {line.count(reason) for line in lines} == {0 if level == "error" else 1}
    git("commit", "-qam", "as agreed")
    assert found(capsys) == (0, [])
    assert main(["check", "-q", "."]) == 0
    assert "QPS0540" not in capsys.readouterr().err


def test_a_deleted_and_an_ignored_spec_are_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    ignore_by_pattern()
    with Path("qps.toml").open("a", encoding="utf-8") as file:
        file.writelines(accepted(rule) for rule in ("spec-ignored", "spec-deleted"))
    status, reported = found(capsys)
    assert (status, len(reported)) == (0, 3)
    edit("qps.toml", ', "specs/s*.qps"', "")
    delete_spec()
    status, reported = found(capsys)
    assert (status, [one["level"] for one in reported]) == (0, ["warning", "warning", "note"])


def test_what_is_gone_stands_where_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    lines = SITE.splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if line.startswith("mode busy"))
    new = ["# a comment\n", *lines[:at], *lines[at + 1 :]]
    write("specs/site.qps", "".join(new))
    _, (one,) = found(capsys)
    assert (one["code"], one["file"], one["line"]) == ("mode-removed", "specs/site.qps", at + 2)
    assert f"(was at specs/site.qps:{at + 1})" in str(one["message"])


def test_what_became_weaker_is_in_every_report(capsys: pytest.CaptureFixture[str]) -> None:
    delete_spec()
    files = [f"--{kind}=../{kind}.out" for kind in ("comment", "sarif", "code-quality")]
    capsys.readouterr()
    assert main(["ci", "-q", "--base", "HEAD", "--format", "github", *files, "."]) == 1
    said = "spec specs/site.qps was removed, along with 2 claims"
    assert f"title=spec-deleted::{said}" in capsys.readouterr().out
    assert f"| specs/site.qps:1 | spec-deleted | {said} |" in Path("../comment.out").read_text()
    (run,) = json.loads(Path("../sarif.out").read_text())["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "spec-deleted"
    assert rule["help"]["markdown"].startswith("# spec-deleted\n")
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("spec-deleted", "error")
    (issue,) = json.loads(Path("../code-quality.out").read_text())
    assert (issue["check_name"], issue["severity"]) == ("spec-deleted", "major")
    assert main(["ci", "-q", "--base", "HEAD", "."]) == 1
    out = capsys.readouterr().out.replace("\n  with", " with")
    assert f"error[spec-deleted] specs/site.qps:1: {said}" in out
    assert "FAIL qps: 1 check is weaker\n\n  Changed      0 of 2 specs, 1 removed\n" in out


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        (
            '[review]\nclaim-losened = "error"\n',
            2,
            "unknown rule `claim-losened`",
            "`claim-loosened`",
        ),
        ('[review]\nclaim-loosened = "eror"\n', 2, "unknown level `eror`", "`error`"),
        ("[review]\nclaim-loosened = true\n", 2, "must be a string", "levels are error, warning"),
        ("review = 3\n", 1, "`review` must be a table", "[review]"),
        (
            accepted("claim-losened"),
            4,
            "unknown rule",
            "loosened",
        ),
        (
            accepted("rule-relaxed"),
            4,
            "cannot be",
            "rules are",
        ),
    ],
)
def test_a_rule_or_level_that_is_none_is_reported_at_its_line(
    text: str, line: int, message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("qps.toml", text)
    capsys.readouterr()
    assert main(["check", "specs/site.qps"]) == 2
    err = capsys.readouterr().err
    assert "QPS0212" in err
    assert f"qps.toml:{line}:" in err
    assert message in err
    assert hint in err


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_an_example_is_found_by_its_rule_alone(rule: ReviewRule, tmp_path: Path) -> None:
    folder = tmp_path / "example"
    folder.mkdir()
    codes = [one["code"] for one in review_rules.found_by(rule, folder)]
    assert codes == [rule.name]


def test_the_documents_have_the_rules_as_they_are() -> None:
    text = review_rules.LIST.read_text(encoding="utf-8")
    assert review_rules.with_list(text) == text


def test_the_page_of_rules_has_what_their_examples_print() -> None:
    assert review_rules.PAGE.read_text(encoding="utf-8") == review_rules.page()


def test_a_rule_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "claim-loosened"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("claim-loosened (error)\n")
    assert "  +param contracted = 150\n" in out
    assert max(map(len, out.splitlines())) <= 80
    assert main(["explain", "spec-deletd"]) == 2
    assert "did you mean `spec-deleted`?" in capsys.readouterr().err
