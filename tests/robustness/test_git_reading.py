"""What git reads: the repository that is meant, nothing elsewhere, and every change."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from processes.hostile_repositories import SECRET, SPEC, WORSE, Trap, git
from qps.cli import main
from qps.reviewing import git_command
from qps.reviewing.git_command import run_git
from qps.reviewing.repository import commit_of, repository_at, top_for
from robustness.git_trap import POSIX, statuses


def embed(trap: Trap, *, bare: bool) -> None:
    """Put a repository among the specs in which all is as in the newest commit."""
    specs = trap.top / "specs"
    into = specs if bare else specs / ".git"
    into.mkdir(exist_ok=True)
    other = trap.top.parent / "other"
    shutil.copytree(specs, other)
    git(other, "init", "-q")
    git(other, "add", "a.qps")
    git(other, "commit", "-qm", "as it is")
    for name in ("HEAD", "objects", "refs", "index"):
        own = other / ".git" / name
        shutil.copytree(own, into / name) if own.is_dir() else shutil.copy(own, into / name)
    config = f'bare = false\n\tworktree = "{specs}"\n\tfsmonitor = "{trap.script}"\n'
    (into / "config").write_text(f"[core]\n\trepositoryformatversion = 0\n\t{config}", "utf-8")


@POSIX
@pytest.mark.parametrize("bare", [True, False])
@pytest.mark.parametrize("here", [".", "specs"])
def test_a_repository_among_the_specs_is_none(
    here: str,
    bare: bool,
    trap: Trap,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    embed(trap, bare=bare)
    if here == "specs" and not bare:
        return  # there one works in that repository: it is the user's own step
    monkeypatch.chdir(here)
    specs = "." if here == "specs" else "specs"
    assert main(["ci", specs, "--base", "HEAD"]) == 1
    output = capsys.readouterr().out
    assert "FAIL qps: 1 claim fails" in output
    assert git(trap.top, "rev-parse", "HEAD")[:10] in output
    assert main(["history", str(trap.top / "specs" / "a.qps"), "-q"]) == 0
    assert "second" in capsys.readouterr().out
    assert not trap.mark.exists()


def test_the_repository_is_that_of_where_one_works(trap: Trap, tmp_path: Path) -> None:
    embed(trap, bare=False)
    specs = trap.top / "specs"
    assert top_for([Path("specs/a.qps")]) == trap.top
    assert top_for([Path("specs")], started=specs) == specs
    assert top_for([Path("specs/a.qps")], started=tmp_path) == specs  # none is there
    assert top_for([Path("specs/a.qps"), tmp_path / "x.qps"]) == specs
    assert top_for([tmp_path / "x.qps"]) is None


def secret_of(trap: Trap) -> Path:
    """Make a repository of somebody else that has a secret; return its top."""
    other = trap.top.parent / "private"
    (other / "specs").mkdir(parents=True)
    (other / "specs" / "a.qps").write_text(f"# {SECRET}\nparam {SECRET.replace('-', '_')} = 1\n)")
    git(other, "init", "-q", "-b", "main")
    git(other, "add", ".")
    git(other, "commit", "-qm", SECRET)
    return other


def borrow(trap: Trap, other: Path) -> None:
    own = trap.top / ".git" / "objects" / "info"
    own.mkdir(exist_ok=True)
    (own / "alternates").write_text(f"{other}/.git/objects\n")
    commit = git(other, "rev-parse", "HEAD")
    (trap.top / ".git" / "refs" / "heads" / "main").write_text(commit + "\n")


def link_objects(trap: Trap, other: Path) -> None:
    shutil.rmtree(trap.top / ".git" / "objects")
    (trap.top / ".git" / "objects").symlink_to(other / ".git" / "objects")
    shutil.copy(other / ".git/refs/heads/main", trap.top / ".git/refs/heads/main")


def link_one(trap: Trap, other: Path) -> None:
    for place in (other / ".git" / "objects").iterdir():
        own = trap.top / ".git" / "objects" / place.name
        if not own.exists():
            own.symlink_to(place)
    shutil.copy(other / ".git/refs/heads/main", trap.top / ".git/refs/heads/main")


def work_elsewhere(trap: Trap, other: Path) -> None:
    trap.configure(**{"core.worktree": str(other)})


def lead_away(trap: Trap, other: Path) -> None:
    shutil.rmtree(trap.top / ".git")
    (trap.top / ".git").write_text(f"gitdir: {other}/.git\n")


def link_away(trap: Trap, other: Path) -> None:
    shutil.rmtree(trap.top / ".git")
    (trap.top / ".git").symlink_to(other / ".git")


def share_away(trap: Trap, other: Path) -> None:
    (trap.top / ".git" / "commondir").write_text(f"{other}/.git\n")


WAYS = [borrow, link_objects, link_one, work_elsewhere, lead_away, link_away, share_away]


@POSIX
@pytest.mark.parametrize("way", WAYS)
def test_what_another_repository_has_is_not_read(
    way: Callable[[Trap, Path], None], trap: Trap, capsys: pytest.CaptureFixture[str]
) -> None:
    way(trap, secret_of(trap))
    assert statuses()[:-1] == [2, 2, 2, 2]
    output = capsys.readouterr()
    assert SECRET not in output.out + output.err
    assert "git" in output.err


@POSIX
@pytest.mark.parametrize("name", ["HEAD", "config", "index", "packed-refs", "shallow"])
def test_whoever_reads_a_pipe_waits_for_nobody(
    name: str, trap: Trap, capsys: pytest.CaptureFixture[str]
) -> None:
    (trap.top / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(trap.top / ".git" / name)
    assert statuses()[:-1] == [2, 2, 2, 2]
    assert "is not a regular file" in capsys.readouterr().err


def test_trees_that_list_more_than_memory_holds_are_refused(
    trap: Trap, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = git(trap.top, "hash-object", "-w", "--stdin", given="x")
    kind, mode = "blob", "100644"
    for _ in range(9):
        lines = "".join(f"{mode} {kind} {name}\tf{n}\n" for n in range(10))
        name, kind, mode = git(trap.top, "mktree", given=lines), "tree", "040000"
    commit = git(trap.top, "commit-tree", name, "-m", "a thousand million files")
    git(trap.top, "update-ref", "refs/heads/main", commit)
    monkeypatch.setattr(git_command, "_MOST", 1_000_000)
    assert main(["ci", "specs", "--base", "HEAD"]) == 2
    assert "prints more than 1,000,000 bytes" in capsys.readouterr().err


def replace(trap: Trap) -> None:
    old = git(trap.top, "rev-parse", "HEAD:specs/a.qps")
    new = git(trap.top, "hash-object", "-w", "specs/a.qps")
    git(trap.top, "replace", old, new)


def graft(trap: Trap) -> None:
    head = git(trap.top, "rev-parse", "HEAD")
    (trap.top / ".git" / "info" / "grafts").write_text(f"{head}\n")


def assume(trap: Trap) -> None:
    git(trap.top, "update-index", "--assume-unchanged", "specs/a.qps")


def call_it_clean(trap: Trap) -> None:
    """Have git's own index say that the file was looked at, and is as before."""
    spec = trap.top / "specs" / "a.qps"
    spec.write_text(SPEC.replace("10 packet", "11 packet"), encoding="utf-8")
    git(trap.top, "add", "specs")
    git(trap.top, "config", "core.trustctime", "false")
    git(trap.top, "config", "core.checkStat", "minimal")
    old = spec.stat()
    os.utime(spec, (1_600_000_000, 1_600_000_000))
    git(trap.top, "update-index", "--refresh", check=False)
    spec.write_text(WORSE, encoding="utf-8")
    os.utime(spec, (1_600_000_000, 1_600_000_000))
    assert spec.stat().st_size == old.st_size


def ignore_stat(trap: Trap) -> None:
    trap.configure(**{"core.ignoreStat": "true", "diff.ignoreSubmodules": "all"})


@pytest.mark.parametrize("way", [replace, graft, assume, call_it_clean, ignore_stat])
def test_nothing_hides_a_change(
    way: Callable[[Trap], None], trap: Trap, capsys: pytest.CaptureFixture[str]
) -> None:
    way(trap)
    assert main(["ci", "specs", "--base", "HEAD"]) == 1
    assert "FAIL qps: 1 claim fails" in capsys.readouterr().out
    assert main(["history", "specs/a.qps", "-q"]) == 0
    output = capsys.readouterr().out
    assert "first" in output
    assert re.search(r" 90 .* second", output)


@pytest.mark.parametrize("kind", ["sha256", "split", "shallow", "sparse", "worktree-config"])
def test_repositories_of_every_kind_are_read(
    kind: str,
    trap: Trap,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place, base = trap.top, "HEAD"
    if kind == "sha256":
        place = tmp_path / "long"
        (place / "specs").mkdir(parents=True)
        (place / "specs" / "a.qps").write_text(SPEC, encoding="utf-8")
        git(place, "init", "-q", "--object-format=sha256")
        git(place, "add", ".")
        git(place, "commit", "-qm", "first")
        git(place, "mv", "specs/a.qps", "specs/b.qps")
        (place / "specs" / "b.qps").write_text(WORSE, encoding="utf-8")
    elif kind == "split":
        git(place, "update-index", "--split-index")
    elif kind == "shallow":
        place = tmp_path / "shallow"
        git(tmp_path, "clone", "-q", "--depth", "1", f"file://{trap.top}", str(place))
        (place / "specs" / "a.qps").write_text(WORSE, encoding="utf-8")
    elif kind == "sparse":
        (place / "left.qps").write_text(SPEC, encoding="utf-8")
        git(place, "add", "left.qps")
        git(place, "commit", "-qm", "more", "left.qps")
        git(place, "sparse-checkout", "set", "--no-cone", "/specs/")
    else:
        git(place, "config", "extensions.worktreeConfig", "true")
        (place / ".git" / "config.worktree").write_text("[core]\n\tfsmonitor = true\n")
    monkeypatch.chdir(place)
    assert main(["ci", "specs", "--base", base]) == 1
    output = capsys.readouterr().out
    assert "1 claim fails, 1 capacity decrease" in output
    assert "removed" not in output


def test_what_a_filter_would_have_changed_is_compared_by_its_content(trap: Trap) -> None:
    """As line ends are the user's, they are no change; all else is."""
    (trap.top / "specs" / "a.qps").write_text(
        SPEC.replace("10 packet", "11 packet"), encoding="utf-8", newline="\r\n"
    )
    assert main(["ci", "specs", "--base", "HEAD", "-q"]) == 0


def test_what_is_missing_is_fetched_by_nobody(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = tmp_path / "part"
    git(trap.top, "config", "uploadpack.allowFilter", "true")
    url = f"file://{trap.top}"
    git(tmp_path, "clone", "-q", "--filter=blob:none", url, str(part))
    git(part, "config", "remote.origin.uploadpack", str(trap.script))
    (part / "specs" / "a.qps").write_text(WORSE, encoding="utf-8")
    monkeypatch.chdir(part)
    assert main(["ci", "specs", "--base", "HEAD^", "-q"]) == 1
    assert "is not compared: git has no object" in capsys.readouterr().out
    assert not trap.mark.exists()


def test_an_empty_repository_is_read_for_objects_alone(trap: Trap) -> None:
    top = repository_at(trap.top)
    with pytest.raises(ValueError, match="takes names of objects"):
        run_git(top, "log", "HEAD")
    assert commit_of(trap.top, "HEAD\0") is None
    assert commit_of(trap.top, "--help") is None
    assert stat.S_ISDIR(top.own.stat().st_mode)
