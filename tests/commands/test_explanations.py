"""`qps explain CODE`: each example really gives its code, and the fixed one does not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from documents import explanations
from qps.cli import main
from qps.commands.terminal.output import Screen
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.code_explanations import (
    ExampleFile,
    changed,
    explained,
    page_of,
    read,
)
from qps.compiler.diagnostics.diagnostic import Code

EVERY = pytest.mark.parametrize("code", codes.ALL, ids=lambda code: code.id)
REPORTED = re.compile(r"(?:error|warning)\[(QPS\d+)\]")


@pytest.fixture(autouse=True)
def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)


@EVERY
def test_an_example_prints_what_its_page_says_and_has_no_other_mistake(
    code: Code, tmp_path: Path
) -> None:
    found = explained(code)
    assert found.printed, "run `python tests/documents/docs.py` and look at the change"
    printed = explanations.printed_by(found.files, found.command, tmp_path)
    assert explanations.with_printed(found, printed) == page_of(code)
    others = {codes.UNKNOWN_NAME.id} if code is codes.TOO_MANY else set()
    assert set(REPORTED.findall(printed)) - others == {code.id}


@EVERY
def test_the_fixed_example_has_no_mistake(code: Code, tmp_path: Path) -> None:
    found = explained(code)
    assert (found.fixed_files, found.fixed_command) != (found.files, found.command)
    printed = explanations.printed_by(found.fixed_files, found.fixed_command, tmp_path)
    # Whether the range ends before the system does is no part of the lesson.
    assert set(REPORTED.findall(printed)) <= {codes.RANGE_LIMITS.id} - {code.id}, printed
    assert not re.search(r"exit status [23]", printed)


@EVERY
def test_a_page_says_why_and_how_to_fix_it_in_a_few_lines(code: Code) -> None:
    found = explained(code)
    assert found.why
    assert found.fix
    assert all(len(file.text.splitlines()) <= 16 for file in found.files)


def test_no_page_is_of_no_code() -> None:
    pages = {path.stem for path in explanations.PAGES.iterdir()}
    assert pages == {code.id for code in codes.ALL}


def test_the_list_of_codes_is_made_of_the_pages() -> None:
    now = explanations.LIST.read_text(encoding="utf-8")
    assert explanations.listed() == now, "run `python tests/documents/docs.py`"


def test_a_difference_changes_lines_where_they_stand() -> None:
    files = (ExampleFile("a.qps", "one\ntwo\nthree\n"), ExampleFile("b.csv", "1\n2\n"))
    fixed, command = changed(files, "qps check a.qps", " one\n-two\n+8\n+9\n...\n 2\n+3")
    assert [file.text for file in fixed] == ["one\n8\n9\nthree\n", "1\n2\n3\n"]
    assert command == "qps check a.qps"
    assert changed(files, "qps a", "-$ qps a\n+$ qps b") == (files, "qps b")


@pytest.mark.parametrize("change", ["-four", "+new", "-one\n-three", "-$ qps test a.qps\n+$ qps"])
def test_a_difference_of_lines_that_are_not_there_is_refused(change: str) -> None:
    with pytest.raises(ValueError, match="do not stand in one file"):
        changed((ExampleFile("a.qps", "one\ntwo\nthree\n"),), "qps check a.qps", change)


@pytest.mark.parametrize("page", ["# QPS0301 another-name\n", "# QPS0301 dimension-mismatch\n"])
def test_a_page_that_lacks_a_part_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="QPS0301"):
        read(codes.DIMENSION_MISMATCH, page)


@pytest.mark.parametrize("requested", ["QPS0301", "qps0301", "301", "dimension-mismatch"])
def test_a_code_is_found_by_its_number_and_its_name(
    requested: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", requested]) == 0
    output = capsys.readouterr().out
    assert output.startswith("QPS0301 dimension-mismatch (error)\n")
    page = explained(codes.DIMENSION_MISMATCH)
    for part in (*page.printed.splitlines(), *page.change.splitlines()):
        assert part in output
    assert max(map(len, output.splitlines())) <= 80


@EVERY
def test_sentences_fit_a_terminal_of_80_columns(
    code: Code, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", code.id]) == 0
    output = capsys.readouterr().out
    found = explained(code)
    # Examples, and what they print, stay as they are.
    stored = {
        f"  {line}" for file in (*found.files, *found.fixed_files) for line in file.text.split("\n")
    }
    stored |= {f"  {line}" for line in [*found.printed.splitlines(), *found.change.splitlines()]}
    assert [line for line in output.splitlines() if len(line) > 80 and line not in stored] == []


def test_colors_are_only_added(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "QPS0301"]) == 0
    without = capsys.readouterr().out
    assert main(["explain", "QPS0301", "--color", "always"]) == 0
    colored = capsys.readouterr().out
    assert "\x1b[1;31m" in colored
    assert "\x1b[1;32m" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == without


def test_json_has_both_examples_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "QPS0205", "--format", "json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["schema"] == "qps/code/2"
    assert (output["code"], output["name"], output["severity"]) == (
        "QPS0205",
        "import-cycle",
        "error",
    )
    assert set(output["failing_example"]["files"]) == {"site.qps", "costs.qps", "prices.qps"}
    assert output["failing_example"]["files"] != output["fixed_example"]["files"]
    assert output["failing_example"]["printed"].startswith("error[QPS0205]")


def test_markdown_is_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "QPS0602", "--format", "markdown"]) == 0
    assert capsys.readouterr().out == page_of(codes.NO_ANSWER)


@pytest.mark.parametrize(
    ("requested", "offered"),
    [
        ("QPS0305x", "`qps explain` needs a name or a code"),
        ("QPS0319", "`QPS0312`: invalid list of percentiles"),
        ("QPS9999", "docs/errors.md lists all codes"),
        ("dimension-mismach", "did you mean `dimension-mismatch`?"),
    ],
)
def test_an_unknown_code_is_answered_by_near_ones(
    requested: str, offered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", requested]) == 2
    assert offered in capsys.readouterr().err


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_where_a_code_is_explained(
    is_terminal: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a.qps").write_text("param pace = 2 request/s + 3 ms\n", encoding="utf-8")
    monkeypatch.setattr(Screen, "isatty", lambda _: is_terminal)
    assert main(["check", str(tmp_path / "a.qps")]) == 2
    text = "1 error; for details: `qps explain QPS0301`\n"
    assert (text in capsys.readouterr().err) == is_terminal
