"""`qps ci`: what a change touches is found by any name, told to people and machines, escaped."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from qps.cli import main
from qps.compiler import program_check
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Outcome
from qps.compiler.diagnostics.source import Source
from qps.compiler.project.review_rules import Level
from qps.reviewing import git_command
from qps.reviewing.change_review import Review
from qps.reviewing.comment import comment
from qps.reviewing.comparison_base import Base
from qps.reviewing.findings import (
    ANSWER,
    CLAIM,
    FAULT,
    LAYOUT,
    Finding,
    as_github,
    as_gitlab,
    as_sarif,
)
from qps.reviewing.matrix_changes import matrix_changes

ROOT = Path(__file__).parents[2]
HOSTILE = 'a|b `c` "d"\n::error::é.qps'
MODULE = "machine box { cpu 1 core }\nmachine big { cpu 2 core }\nparam each = 1 ms/packet\n"
SPEC = """\
use "../shared/hw.qps" as hw
users N in 1..900
component work { cpu hw.each }
topology { node host = hw.box }
stream flow { traffic N * 10 packet/s; at host { work } }
expect most "[@all](http://e)" { largest_acceptable >= 90; source "us" }
expect few                     { largest_acceptable <= 60; source "us" }
matrix sizes { host in [ hw.box, hw.big ] }
"""


def git(*arguments: str) -> str:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *own, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def commit() -> None:
    git("add", "-A")
    git("commit", "-qm", "some")


@pytest.fixture(autouse=True)
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a repository of a project with two specs that share a module, and one of a table."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI", "PRE_COMMIT_"))]:
        monkeypatch.delenv(name)
    table = 'observe r "t.csv" { users -> N; busy -> host.cpu.load within 5 %; source "us" }\n'
    own = SPEC.partition("expect")[0] + table
    texts = {
        "qps.toml": 'ignore = ["old"]\n',
        "shared/hw.qps": MODULE,
        f"app/{HOSTILE}": SPEC,
        "app/table.qps": own.replace('use "../shared/hw.qps" as hw\n', MODULE).replace("hw.", ""),
        "app/t.csv": "users,busy\n3,0.03\n",
        "old/broken.qps": ")",
    }
    for name, text in texts.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    main(["fmt", "app", "-q"])
    git("init", "-q", "-b", "main")
    commit()


def ci(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["ci", "-q", *words])
    return status, *capsys.readouterr()


def reported(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:  # type: ignore[type-arg]
    status, out, _ = ci(capsys, "--format", "json", *words)
    return status, json.loads(out)


def test_each_spec_is_checked_once_now_and_once_at_the_base(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    labels: list[str] = []
    check = program_check.check_program

    def noted(source: Source, *others: Any) -> Outcome[program_check.CheckedProgram]:
        labels.append(source.label)
        return check(source, *others)

    monkeypatch.setattr(program_check, "check_program", noted)
    Path("shared/hw.qps").write_text(MODULE.replace("1 ms", "2 ms"))
    Path("app/broken.qps").write_text("users N in 1..9\nrequire { nobody.latency <= 1 ms }\n")
    status, _, _ = ci(capsys, "--base", "HEAD")
    assert status == 2
    now = {f"app/{HOSTILE}", "app/broken.qps", "app/table.qps", "shared/hw.qps"}
    assert now <= set(labels)
    assert len(set(labels) - now) == 2  # the base of what is touched
    again = [label for label in labels if labels.count(label) > 1]
    # One with mistakes is asked anew which files it names, to tell whether it is touched.
    assert again == ["app/broken.qps"] * 2


def test_a_change_of_a_module_is_reported_of_each_spec_that_reads_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("shared/hw.qps").write_text(MODULE.replace("1 ms", "2 ms"))
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    files = [f"--{kind}={kind}.out" for kind in ("json", "comment", "sarif", "code-quality")]
    before = git("status", "--porcelain", "-z")
    status, out, _ = ci(capsys, "--base", "HEAD", "--format", "github", *files)
    assert status == 1
    assert all(
        re.match(r"::(error|notice) file=app/a\|b `c` \"d\"%0A", line) for line in out.splitlines()
    )
    view = json.loads(Path("json.out").read_text())
    schema = ROOT / "docs" / "schemas" / "ci.schema.json"
    jsonschema.validate(view, json.loads(schema.read_text(encoding="utf-8")))
    by_file = {one["file"]: one for one in view["changes"]}
    assert by_file.keys() == {f"app/{HOSTILE}", "shared/hw.qps"}
    spec = by_file[f"app/{HOSTILE}"]
    assert (spec["before"]["capacity"], spec["after"]["capacity"]) == (100, 50)
    assert [one["name"] for one in spec["claims"]["now_fail"]] == ["most"]
    assert [one["name"] for one in spec["claims"]["now_hold"]] == ["few"]
    (matrix,) = spec["matrices"]
    assert (matrix["worse"], matrix["better"], matrix["same"]) == (2, 0, 0)
    assert matrix["rows"][0] == {"configuration": "host = hw.big", "before": 200, "after": 100}
    text = Path("comment.out").read_text(encoding="utf-8")
    assert summary.read_text(encoding="utf-8") == text
    assert "| most | capacity &gt;= 90 |" in text
    assert not re.search(r"^::|[^\\]`c|\]\(http|@all", text, re.MULTILINE)
    (run,) = json.loads(Path("sarif.out").read_text())["runs"]
    places = {
        r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]
    }
    assert places == {"app/a%7Cb%20%60c%60%20%22d%22%0A%3A%3Aerror%3A%3A%C3%A9.qps"}
    quality = json.loads(Path("code-quality.out").read_text())
    assert len({one["fingerprint"] for one in quality}) == len(quality) > 0
    for file in ("json.out", "comment.out", "sarif.out", "code-quality.out", "summary.md"):
        Path(file).unlink()
    assert git("status", "--porcelain", "-z") == before


def test_tables_renames_new_and_gone_specs_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    Path("app/t.csv").write_text("users,busy\n3,0.5\n")
    status, view = reported(capsys, "--base", "HEAD")
    assert (status, [one["file"] for one in view["changes"]]) == (1, ["app/table.qps"])
    git("checkout", "-q", ".")
    git("mv", f"app/{HOSTILE}", "app/tabl\t e.qps")
    git("mv", "shared", "hardware")
    text = Path("app/tabl\t e.qps").read_text(encoding="utf-8").replace("shared", "hardware")
    Path("app/tabl\t e.qps").write_text(text, encoding="utf-8")
    Path("app/table.qps").unlink()
    Path("app/new.qps").write_text(text, encoding="utf-8")  # nobody has added it yet
    status, view = reported(capsys, "--base", "HEAD")
    states = {one["file"]: (one["state"], one["was"]) for one in view["changes"]}
    assert status == 1  # 100 are more than 60
    assert states == {
        "app/tabl\t e.qps": ("same", f"app/{HOSTILE}"),
        "app/new.qps": ("new", None),
        "app/table.qps": ("gone", "app/table.qps"),
        "hardware/hw.qps": ("module", "shared/hw.qps"),
    }


def test_a_file_is_the_same_whatever_its_letters(capsys: pytest.CaptureFixture[str]) -> None:
    """On file systems that do not tell `T.csv` from `t.csv` a spec may name either."""
    Path("app/T.csv").hardlink_to("app/t.csv")
    Path(".git/info/exclude").write_text("T.csv\n")
    text = Path("app/table.qps").read_text(encoding="utf-8").replace("t.csv", "T.csv")
    Path("app/table.qps").write_text(text, encoding="utf-8")
    git("commit", "-qam", "named otherwise")
    with Path("app/t.csv").open("a") as table:
        table.write("4,0.04\n")
    _, view = reported(capsys, "--base", "HEAD")
    assert [one["file"] for one in view["changes"]] == ["app/table.qps"]


def test_what_no_change_touches_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("README.md").write_text("new")
    status, view = reported(capsys, "--base", "HEAD")
    assert (status, view["touched"], view["specs"]) == (0, 0, 2)
    status, view = reported(capsys, "--base", "HEAD", "--all")
    assert (status, view["touched"]) == (1, 2)
    Path("qps.toml").write_text("ignore = ['old']  # all specs obey it")
    assert reported(capsys, "--base", "HEAD")[1]["touched"] == 2


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (SPEC + "\n\n\n", 1, "not formatted: run"),
        (SPEC.replace("work }", "wrk }"), 2, "it has errors"),
        (SPEC.replace("10 packet", "11 packet"), 1, "100 -> 90 users"),
        (SPEC.replace("<= 60", ">= 60"), 0, "Newly passing  Expected"),
    ],
)
def test_layout_mistakes_and_answers_are_reported(
    text: str, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(f"app/{HOSTILE}").write_text(text, encoding="utf-8")
    found, out, _ = ci(capsys, "--base", "HEAD")
    assert (found, said in out) == (status, True), out
    assert not re.search("^::", out, re.MULTILINE)


def test_without_a_base_it_says_so_and_how_to_fix_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path(f"app/{HOSTILE}").write_text(SPEC.replace("<= 60", ">= 60"), encoding="utf-8")
    git("commit", "-qam", "second")
    status, view = reported(capsys)
    assert (status, view["touched"], view["base"]["commit"]) == (
        0,
        1,
        git("rev-parse", "HEAD^").strip(),
    )
    clone = tmp_path / "clone"
    git("clone", "-q", "--depth", "1", f"file://{tmp_path}", str(clone))
    monkeypatch.chdir(clone)
    for base, words in ((None, ()), ("main", ()), (None, ("--base", "HEAD~7"))):
        if base:
            monkeypatch.setenv("GITHUB_BASE_REF", "elsewhere")
        status, view = reported(capsys, *words)
        assert status == 2
        assert view["touched"] == 2  # all the same, everything is looked at
        assert "fetch-depth: 0" in view["base"]["fix"]
    git("fetch", "-q", "--unshallow")
    monkeypatch.delenv("GITHUB_BASE_REF")
    assert reported(capsys)[0] == 0
    assert ci(capsys, "--base", "nowhere")[0] == 2
    Path("first").mkdir()
    monkeypatch.chdir("first")
    git("init", "-q")
    Path("a.qps").write_text(MODULE)
    commit()
    status, view = reported(capsys)
    assert (status, view["base"]["why"]) == (0, "there is no earlier commit: everything is new")
    monkeypatch.chdir(os.sep)
    assert main(["ci", "-q"]) == 2
    assert "this folder is not in a git repository" in capsys.readouterr().err


def test_a_repository_of_somebody_else_is_reported_with_what_git_wants(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pretended = "GIT_TEST_ASSUME_DIFFERENT_OWNER"
    monkeypatch.setattr(git_command, "INHERITED", (*git_command.INHERITED, pretended))
    monkeypatch.setenv(pretended, "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    assert main(["ci", "-q"]) == 2
    errors = capsys.readouterr().err
    assert f"--add safe.directory {tmp_path}" in errors
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "own"))
    Path("own").write_text(f"[safe]\n\tdirectory = {tmp_path}\n[log]\n\tshowSignature = true\n")
    assert main(["ci", "-q", "--base", "HEAD"]) == 0


def test_the_base_has_its_own_modules_links_and_attributes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}.qps"
    outside.write_text(MODULE)
    Path("shared/hw.qps").rename("shared/real.qps")
    Path("shared/hw.qps").symlink_to("real.qps")
    Path("shared/out.qps").symlink_to(outside)
    Path(".gitattributes").write_text("*.qps export-ignore\n")
    Path("app/out.qps").write_text(SPEC.replace("hw.qps", "out.qps"), encoding="utf-8")
    commit()
    Path(f"app/{HOSTILE}").write_text(SPEC.replace("10 packet", "5 packet"), encoding="utf-8")
    Path("app/out.qps").write_text(SPEC, encoding="utf-8")
    status, view = reported(capsys, "--base", "HEAD")
    by_file = {one["file"]: one for one in view["changes"]}
    assert status == 1
    assert by_file[f"app/{HOSTILE}"]["after"]["capacity"] == 200
    assert "is outside the folder of the project" in by_file["app/out.qps"]["reason"]


@pytest.mark.parametrize(
    ("form", "expected"), [("sarif-2.1.0-rtm.5", as_sarif), ("gitlab-code-quality", as_gitlab)]
)
def test_reports_are_what_their_readers_ask_for(
    form: str, expected: Callable[[Sequence[Finding]], object]
) -> None:
    schema = json.loads((ROOT / "tests" / "schemas" / f"{form}.json").read_text(encoding="utf-8"))
    kinds = [*codes.ALL, LAYOUT, CLAIM, ANSWER, FAULT]
    findings = [
        Finding(
            level=list(Level)[number % 3],
            code=code if isinstance(code, str) else code.id,
            title="::error::\u202e\udcff",
            message="%\r\n\x07",
            file=HOSTILE + "\udcff",
            line=number + 1,
            end_line=number + 1 + number % 2,
            end_column=1 + number % 3,
            accepted="until Monday" if number % 2 else None,
        )
        for number, code in enumerate(kinds)
    ]
    for some in (findings, findings[:1], []):
        text = json.dumps(expected(some))
        text.encode("ascii")
        validator = jsonschema.validators.validator_for(schema)
        validator(schema, format_checker=validator.FORMAT_CHECKER).validate(json.loads(text))
    if form.startswith("sarif"):
        (run,) = as_sarif(findings)["runs"]  # type: ignore[misc]
        for rule in run["tool"]["driver"]["rules"]:
            assert rule["shortDescription"]["text"]
            assert rule["help"]["markdown"]
        justified = [r["suppressions"][0]["justification"] for r in run["results"][1::2]]
        assert set(justified) == {"until Monday"}
        regions = [r["locations"][0]["physicalLocation"]["region"] for r in run["results"]]
        assert regions[0] == {"startLine": 1, "endLine": 1}  # a line, and not a place in it
        assert regions[2] == {"startLine": 3, "endLine": 3, "startColumn": 1, "endColumn": 3}


def test_what_is_wrong_with_no_place_is_reported_of_its_spec(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("app/table.qps").write_bytes(b"\xff\xfe")
    status, view = reported(capsys, "--base", "HEAD")
    assert status == 2
    assert [one["file"] for one in view["findings"] if one["level"] == "error"] == ["app/table.qps"]


def test_whatever_is_found_a_comment_and_annotations_are_bounded() -> None:
    many = tuple(
        Finding(level=Level.ERROR, code=CLAIM, title="t" * 400, message="m" * 999, file=f"{n}")
        for n in range(2_000)
    )
    base = Base(top=Path(), name="main", commit="c" * 40)
    review = Review(base=base, specs=1, touched=1, findings=many, changes=())
    for most in (65_536, 16_384):
        text = comment(review, most)
        assert len(text) <= most
        assert "1,990 more" in text
    assert len(as_github(many).splitlines()) == 1_001
    assert len(as_gitlab(many)) == 1_000
    assert len(as_sarif(many)["runs"][0]["results"]) == 1_000  # type: ignore[index]


def test_matrices_name_what_is_new_gone_and_too_large() -> None:
    from qps import loads

    text = (MODULE + SPEC.partition("\n")[2]).replace("hw.", "")
    old = loads(text).spec.model
    new = loads(text.replace("[ box, big ]", "[big]").replace("2 core", "3 core")).spec.model
    (found,) = matrix_changes(old, new)
    assert found.text == "2 configurations: 1 gains capacity, 1 was removed"
    assert [(r.configuration, r.before, r.after) for r in found.rows] == [("host = big", 200, 300)]
    other = loads(text.replace("matrix sizes", "matrix others")).spec.model
    assert [(one.name, one.text) for one in matrix_changes(old, other)] == [
        ("others", "is new"),
        ("sizes", "was removed"),
    ]
