"""Specs that are links: followed within their project or repository, and never out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers.nightly import nightly
from processes.hostile_repositories import SECRET, SPEC, git
from processes.repositories import made_once, work_in_a_copy
from qps.cli import main

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and pipes")
TEXT = f"{SECRET} = (\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(_make, tmp_path_factory)


@pytest.fixture
def tree(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a repository with one spec; beside it lies what is not its author's."""
    for name in [n for n in os.environ if n.startswith(("GITHUB_", "CI", "PRE_COMMIT_", "GIT_"))]:
        monkeypatch.delenv(name)
    work_in_a_copy(made, tmp_path, monkeypatch)
    monkeypatch.chdir("top")
    return tmp_path / "top"


def _make() -> None:
    Path("outside/folder").mkdir(parents=True)
    for name in ("credentials", "spec.qps", "folder/deep.qps", "qps.toml"):
        Path("outside", name).write_text(TEXT, encoding="utf-8")
    top = Path("top")
    (top / "specs").mkdir(parents=True)
    (top / "specs" / "good.qps").write_text(SPEC, encoding="utf-8")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    git(top, "commit", "-qm", "second", "--allow-empty")


BY_FOLDER = (
    ("check", "specs"),
    ("check", "--readers", "specs/good.qps"),
    ("test", "specs"),
    ("ci", "specs", "--base", "HEAD"),
    ("ci", "specs", "--base", "HEAD", "--all"),
    ("review", "HEAD", "specs"),
    ("fmt", "--check", "specs"),
    ("fmt", "specs"),
)
BY_NAME = (
    ("check", "specs/leak.qps"),
    ("check", "--readers", "specs/leak.qps"),
    ("test", "specs/leak.qps"),
    ("ci", "specs/leak.qps", "--base", "HEAD"),
    ("review", "HEAD", "specs/leak.qps"),
    ("fmt", "specs/leak.qps"),
    ("solve", "specs/leak.qps"),
    ("matrix", "specs/leak.qps", "-o", "../out.csv"),
    ("report", "specs/leak.qps", "-o", "../out.html"),
    ("history", "specs/leak.qps"),
    ("diff", "specs/leak.qps", "specs/good.qps"),
    ("diff", "HEAD:specs/good.qps", "specs/leak.qps"),
    ("explain", "specs/leak.qps", "x"),
    ("simulate", "specs/leak.qps", "--at", "3"),
)


@pytest.mark.parametrize("target", [pytest.param("credentials", marks=nightly), "spec.qps"])
@pytest.mark.parametrize("command", [*BY_FOLDER, *BY_NAME], ids=" ".join)
def test_a_link_out_of_the_tree_is_refused_and_quoted_nowhere(
    command: tuple[str, ...], target: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tree.parent / "outside" / target
    Path("specs/leak.qps").symlink_to(outside)
    git(tree, "add", ".")
    if command[0] == "history":
        git(tree, "commit", "-qm", "a link")
    status = main(command)
    output = capsys.readouterr()
    assert SECRET not in output.out + output.err
    assert outside.read_text(encoding="utf-8") == TEXT
    if command[0] == "history":
        assert "lies outside" in output.out or status in (1, 2)
    elif "--readers" not in command or command in BY_NAME:
        assert status in (2, 1)
        assert "leak.qps` is a symbolic link out of its folder, project or repository" in (
            output.out + output.err
        )


_BY_DAY = {"check specs", "ci specs --base HEAD", "solve specs/leak.qps"}
"""Commands that are tried on all kinds; a pipe, for which one might wait, is tried with each."""


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        pytest.param(
            *(kind, command),
            marks=[] if kind == "pipe" or " ".join(command) in _BY_DAY else [nightly],
            id=f"{kind}-{' '.join(command)}",
        )
        for kind in ("itself", "circle", "dangling", "pipe", "device", "folder")
        for command in (*BY_FOLDER, *BY_NAME)
    ],
)
def test_what_is_no_file_is_an_ordinary_mistake(
    kind: str, command: tuple[str, ...], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leak = Path("specs/leak.qps")
    if kind == "itself":
        leak.symlink_to("leak.qps")
    elif kind == "circle":
        leak.symlink_to("../specs/other")
        Path("specs/other").symlink_to("leak.qps")
    elif kind == "dangling":
        leak.symlink_to("nowhere.qps")
    elif kind == "pipe":
        os.mkfifo(leak)
    elif kind == "device":
        leak.symlink_to("/dev/zero")
    else:
        leak.mkdir()
    assert main(command) in (0, 1, 2)
    output = capsys.readouterr()
    assert "a fault" not in output.err
    is_walked = kind == "folder" and command[0] == "ci"
    if command in BY_NAME and command[0] != "history" and not is_walked:
        assert "leak.qps" in output.err + output.out


@pytest.mark.parametrize("command", [c for c in BY_FOLDER if "--readers" not in c], ids=" ".join)
def test_a_folder_that_is_a_link_out_of_the_tree_is_refused(
    command: tuple[str, ...], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tree, "rm", "-rq", "specs")
    Path("specs").symlink_to(tree.parent / "outside")
    assert main(command) == 2
    output = capsys.readouterr()
    assert "symbolic link" in output.err
    assert SECRET not in output.out + output.err
    assert "deep" not in output.out + output.err
    assert main([command[0], "specs/folder/deep.qps"]) in (1, 2)  # as a shell expands it
    output = capsys.readouterr()
    assert SECRET not in output.out + output.err


@pytest.mark.parametrize("command", BY_FOLDER, ids=" ".join)
def test_a_project_file_that_is_a_link_out_of_the_tree_is_refused(
    command: tuple[str, ...], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("qps.toml").symlink_to(tree.parent / "outside" / "qps.toml")
    assert main(command) in (1, 2)
    output = capsys.readouterr()
    assert (
        "`qps.toml` is a symbolic link out of its folder or repository" in output.err + output.out
    )
    assert SECRET not in output.out + output.err


def test_links_within_a_project_or_repository_are_followed(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("more").mkdir()
    Path("more/same.qps").symlink_to("../specs/good.qps")
    Path("way").symlink_to("specs")
    for path in ("more", "more/same.qps", "way", "way/good.qps"):
        assert main(["check", path]) == 0, path
    elsewhere = tree.parent / "elsewhere"  # no repository and no project
    (elsewhere / "specs").mkdir(parents=True)
    (elsewhere / "specs" / "here.qps").write_text(SPEC, encoding="utf-8")
    (elsewhere / "specs" / "again.qps").symlink_to("here.qps")
    (elsewhere / "specs" / "leak.qps").symlink_to(tree.parent / "outside" / "spec.qps")
    (elsewhere / "own").symlink_to(tree)
    monkeypatch.chdir(elsewhere)
    capsys.readouterr()
    assert main(["check", "specs/here.qps", "specs/again.qps", "own/specs"]) == 0
    assert main(["check", "specs"]) == 2
    errors = capsys.readouterr().err
    assert "`specs/leak.qps` is a symbolic link out" in errors
    assert SECRET not in errors


def test_links_are_followed_at_one_place() -> None:
    """`Path.resolve` raises where a link leads to itself: whoever calls it must know that."""
    root = Path(__file__).parents[2]
    folders = ("compiler", "editing", "reviewing", "reports", "solver", "src/qps/commands")
    found = [
        path.relative_to(root).as_posix()
        for folder in folders
        for path in (root / folder).rglob("*.py")
        if ".resolve()" in path.read_text(encoding="utf-8").replace("Path.cwd().resolve()", "")
    ]
    assert found == []
