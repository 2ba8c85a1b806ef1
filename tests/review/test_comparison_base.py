"""What `qps ci` compares with: the table of pipelines, each in a small repository of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.reviewing.comparison_base import base_of
from qps.reviewing.passed_commits import MOST, passed_commits

SPEC = """\
users N in 1..900
machine box { cpu 1 core }
component work { cpu 1 ms/packet }
topology { node host = box }
stream flow { traffic N * 10 packet/s; at host { work } }
expect most { largest_acceptable >= 90; source "us" }
"""
SLOW = SPEC.replace("cpu 1 ms", "cpu 2 ms")
PUSHED = "origin"
"""The folder of the repository that all others are clones of."""


def git(folder: Path | str, *arguments: str) -> str:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    words = ["git", "-C", str(folder), *own, *arguments]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


class Team:
    """A repository with a history: commits have names, by which tests speak of them.

    `main`: first, second, third, merge (of `merged` from second), last. `work`: from second, with
    work1 and work2; `stacked` goes on from work2; `trial` merges last and work2, as CI does.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.origin = folder / PUSHED
        git(folder, "init", "-q", "-b", "main", PUSHED)
        self.names: dict[str, str] = {}
        self.commit("first")
        self.commit("second")
        git(self.origin, "branch", "work")
        git(self.origin, "checkout", "-q", "-b", "merged")
        self.commit("done")
        git(self.origin, "checkout", "-q", "main")
        self.commit("third")
        self.merge("merge", "merged")
        self.commit("last")
        git(self.origin, "checkout", "-q", "work")
        self.commit("work1")
        self.commit("work2")
        git(self.origin, "checkout", "-q", "-b", "stacked")
        self.commit("top")
        git(self.origin, "checkout", "-q", "--detach", "main")
        self.merge("trial", "work")
        git(self.origin, "update-ref", "refs/pull/7/merge", "HEAD")
        git(self.origin, "checkout", "-q", "main")

    def copied(self, folder: Path) -> Team:
        """Return the same elsewhere."""
        shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
        found = copy(self)
        found.folder, found.origin, found.names = folder, folder / PUSHED, dict(self.names)
        return found

    def commit(self, name: str, folder: Path | None = None) -> str:
        folder = folder or self.origin
        (folder / f"{name}.txt").write_text(name)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", name)
        return self.note(name, folder)

    def merge(self, name: str, branch: str) -> str:
        git(self.origin, "merge", "-q", "--no-ff", "-m", name, branch)
        return self.note(name, self.origin)

    def note(self, name: str, folder: Path) -> str:
        self.names[name] = git(folder, "rev-parse", "HEAD")
        return self.names[name]

    def clone(self, at: str, *, branch: str | None = None, depth: int | None = None) -> Path:
        """Return a clone of all branches, as CI has it: a commit, or a branch, is checked out."""
        folder = self.folder / "clone"
        if depth is None:
            git(self.folder, "clone", "-q", "--no-checkout", PUSHED, "clone")
        else:
            git(self.folder, "init", "-q", "clone")
            git(folder, "remote", "add", "origin", f"file://{self.origin}")
        words = [] if depth is None else [f"--depth={depth}"]
        commit = self.names[at]
        git(self.origin, "config", "uploadpack.allowAnySHA1InWant", "true")
        git(folder, "fetch", "-q", *words, "origin", commit)
        where = ["--detach", commit] if branch is None else ["-B", branch, commit]
        git(folder, "checkout", "-q", *where)
        return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Team:
    return Team(tmp_path_factory.mktemp("team"))


@pytest.fixture
def team(made: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Team:
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI", "PRE_COMMIT_"))]:
        monkeypatch.delenv(name)
    return made.copied(tmp_path)


def github(event: str, ref: str, **others: str) -> dict[str, str]:
    base = {"GITHUB_BASE_REF": others["base"]} if "base" in others else {}
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": event,
        "GITHUB_REF": f"refs/{ref}",
        "GITHUB_EVENT_PATH": "event.json",
        **base,
    }


def gitlab(branch: str | None, **others: str) -> dict[str, str]:
    named = {} if branch is None else {"CI_COMMIT_BRANCH": branch}
    return {"GITLAB_CI": "true", "CI": "true", "CI_DEFAULT_BRANCH": "main", **named, **others}


def request(target: str, base: str) -> dict[str, str]:
    names = ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CI_MERGE_REQUEST_DIFF_BASE_SHA")
    return gitlab(None, **dict(zip(names, (target, base), strict=True)))


TARGET, DEFAULT = "the merge base with origin/main", "its parent"
LAST = "the last commit of main that passed"
PULL = github("pull_request", "pull/7/merge", base="main")
ZEROS = "0" * 40

TABLE: Mapping[str, tuple[Mapping[str, str], str, str | None, Sequence[str], str, str]] = {
    # name: environment, commit checked out, branch, commits that passed, wanted base, its role
    "pull request, merged on trial": (PULL, "trial", None, (), "last", TARGET),
    "pull request, its own head": (PULL, "work2", None, (), "second", TARGET),
    "pull request, stacked": (
        github("pull_request", "pull/8/merge", base="work"),
        *("top", None, (), "work2", "the merge base with origin/work"),
    ),
    "merge request": (request("main", "second"), "work2", None, (), "second", TARGET),
    "merge request, merged on trial": (
        request("main", "second"),
        "trial",
        None,
        (),
        "last",
        TARGET,
    ),
    "merge request of a fork whose main is old": (
        request("old", "last"),
        *("trial", None, (), "last", "the merge base with origin/old"),
    ),
    "merge request, merged since": (request("main", "second"), "done", None, (), "second", TARGET),
    "branch on GitHub": (github("push", "heads/work"), "work2", "work", (), "second", TARGET),
    "branch on GitLab": (gitlab("work"), "work2", None, (), "second", TARGET),
    "branch, the last push is known": (
        gitlab("work", CI_COMMIT_BEFORE_SHA="work1"),
        *("work2", None, ("work1",), "second", TARGET),
    ),
    "branch, new": (
        gitlab("work", CI_COMMIT_BEFORE_SHA=ZEROS),
        *("work2", None, (), "second", TARGET),
    ),
    "branch that was merged, again": (gitlab("merged"), "done", None, (), "second", TARGET),
    "branch without a commit of its own": (
        gitlab("fresh"),
        *("last", None, (), "merge", "its parent: origin/main contains this commit"),
    ),
    "default branch, never recorded": (
        github("push", "heads/main"),
        *("last", "main", (), "merge"),
        f"{DEFAULT}: passed.txt lists no earlier commit that passed",
    ),
    "default branch, recorded": (gitlab("main"), "last", None, ("first", "second"), "second", LAST),
    "default branch, recorded by an old run last": (
        gitlab("main"),
        *("last", None, ("third", "first"), "third", LAST),
    ),
    "default branch, a merge that was recorded": (
        gitlab("main"),
        *("last", None, ("done", "merge"), "merge", LAST),
    ),
    "default branch, an old pipeline again": (
        gitlab("main"),
        *("third", None, ("first", "last"), "first", LAST),
    ),
    "default branch, pushed by force": (
        github("push", "heads/main"),
        *(
            "third",
            "main",
            ("last", "merge"),
            "second",
            f"{DEFAULT}: passed.txt lists no earlier commit",
        ),
    ),
    "default branch, a merge": (gitlab("main"), "merge", None, (), "third", f"{DEFAULT}: passed"),
    "tag": (github("push", "tags/v1"), "last", None, ("third",), "third", LAST),
    "tag on GitLab": (gitlab(None, CI_COMMIT_TAG="v1"), "last", None, (), "merge", DEFAULT),
    "tag of a branch": (github("push", "tags/v2"), "work2", None, ("first",), "second", TARGET),
    "by hand, a branch": ({}, "work2", "work", (), "second", TARGET),
    "by hand, a commit": ({}, "work2", None, (), "second", TARGET),
    "by hand, nothing of its own yet": ({}, "last", "fresh", (), "last", TARGET),
    "a push that is to come": (
        {"PRE_COMMIT_FROM_REF": "work1"},
        *("work2", "work", (), "work1", "the start of this push"),
    ),
    "a push of a new branch": (
        {"PRE_COMMIT_FROM_REF": ZEROS},
        "work2",
        "work",
        (),
        "second",
        TARGET,
    ),
}


def spoken(environment: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return variables with commits in the place of their names."""
    keys = ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_COMMIT_BEFORE_SHA", "PRE_COMMIT_FROM_REF")
    return {
        key: names.get(value, value) if key in keys else value for key, value in environment.items()
    }


@pytest.mark.parametrize("case", TABLE)
def test_each_pipeline_has_the_base_of_what_it_judges(
    case: str, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, at, branch, listed, wanted, role = TABLE[case]
    git(team.origin, "branch", "old", team.names["first"])
    clone = team.clone(at, branch=branch)
    monkeypatch.chdir(team.folder)
    event = {"repository": {"default_branch": "main"}, "before": team.names["work1"]}
    Path("event.json").write_text(json.dumps(event))
    Path("passed.txt").write_text("".join(f"{team.names[one]}\n" for one in listed))
    base = base_of(clone, None, spoken(environment, team.names), Path("passed.txt"))
    by_commit = {commit: name for name, commit in team.names.items()}
    assert (by_commit.get(str(base.commit)), base.role[: len(role)]) == (wanted, role)
    assert base.text.startswith(f"{team.names[wanted][:10]}, {role}")


@pytest.mark.parametrize(
    ("environment", "at", "branch"),
    [
        (PULL, "trial", None),
        (gitlab("work"), "work2", None),
        (gitlab("main"), "last", None),
        (request("main", "second"), "work2", None),
        ({}, "last", "main"),
    ],
)
def test_a_shallow_clone_has_no_base_and_says_how_to_fix_it(
    environment: Mapping[str, str], at: str, branch: str | None, team: Team
) -> None:
    clone = team.clone(at, branch=branch, depth=1)
    base = base_of(clone, None, spoken(environment, team.names))
    assert base.commit is None
    assert not base.is_none_needed
    assert "shallow" in base.why
    assert "GIT_DEPTH: 0" in base.fix


def test_a_record_that_a_shallow_clone_does_not_reach_is_not_taken_for_none(
    team: Team, tmp_path: Path
) -> None:
    clone = team.clone("last", branch="main", depth=3)
    record = tmp_path / "passed.txt"
    record.write_text(f"{team.names['first']}\n")
    base = base_of(clone, None, gitlab("main"), record)
    assert (base.commit, base.fix != "") == (None, True)
    record.write_text(f"{team.names['merge']}\n")
    assert base_of(clone, None, gitlab("main"), record).commit == team.names["merge"]


def test_branches_that_merged_each_other_and_those_without_a_common_history(team: Team) -> None:
    git(team.origin, "checkout", "-q", "work")
    team.merge("back", "main")
    git(team.origin, "checkout", "-q", "main")
    team.merge("forth", team.names["work2"])
    clone = team.clone("back", branch="work")
    assert base_of(clone, None, {}).commit == team.names["last"]
    git(clone, "checkout", "-q", "--orphan", "pages")
    team.commit("page", clone)
    base = base_of(clone, None, {})
    assert (base.commit, "shares no history" in base.role) == (team.names["forth"], True)


def test_the_first_commit_of_all_needs_no_base(team: Team, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk", "alone")
    team.commit("alone", tmp_path / "alone")
    base = base_of(tmp_path / "alone", None, {})
    assert (base.commit, base.is_none_needed, base.is_default) == (None, True, True)
    team.commit("more", tmp_path / "alone")
    assert base_of(tmp_path / "alone", None, {}).commit == team.names["alone"]


@pytest.mark.parametrize(
    ("event", "environment"),
    [
        ("[]", github("push", "heads/work")),
        ("{", github("push", "heads/work")),
        ('{"repository": {"default_branch": ["main"]}}', github("push", "heads/work")),
        ('{"repository": {"default_branch": ""}}', github("push", "heads/work")),
        ("[" * 100_000, github("push", "heads/work")),
    ],
)
def test_without_a_word_of_the_default_branch_it_is_that_of_origin(
    event: str, environment: Mapping[str, str], team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = team.clone("work2")
    monkeypatch.chdir(team.folder)
    Path("event.json").write_text(event)
    assert base_of(clone, None, environment).commit == team.names["second"]
    git(clone, "symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    assert base_of(clone, None, environment).commit == team.names["second"]


def test_a_default_branch_that_git_does_not_know_is_not_taken_for_another(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = team.clone("work2")
    environment = gitlab("work") | {"CI_DEFAULT_BRANCH": "--output=x"}
    base = base_of(clone, None, environment)
    assert (base.commit, base.why) == (None, "git does not find `origin/--output=x`")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"HEAD\n", "line 1 is `HEAD`"),
        (b"--all\n", "line 1 is `--all`"),
        (b"\n", "line 1 is ``"),
        (b"A" * 40 + b"\n", "line 1 is"),
        (b"\xff\x00\n", "line 1 is"),
        (b"a" * 41 + b"\n", "line 1 is"),
        ((b"a" * 64 + b"\n") * (MOST + 1), "it is larger than"),
    ],
)
def test_a_record_that_strangers_wrote_is_refused_with_its_line(
    content: bytes, said: str, tmp_path: Path
) -> None:
    (tmp_path / "passed.txt").write_bytes(content)
    with pytest.raises(QpsError) as raised:
        passed_commits(tmp_path / "passed.txt")
    (diagnostic,) = raised.value.diagnostics
    assert said in diagnostic.message
    with pytest.raises(QpsError):
        passed_commits(tmp_path)


def test_a_record_keeps_the_newest(tmp_path: Path) -> None:
    names = [f"{number:040x}" for number in range(1, MOST + 5)]
    file = tmp_path / "passed.txt"
    for one in [*names, names[-2]]:
        file.write_text(passed_commits(file).text_with(one))
    assert passed_commits(file).commits == (*names[4:-2], names[-1], names[-2])


@pytest.fixture
def pushes(
    team: Team, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Return what commits specs to the clone, and runs `qps ci` there as a pipeline does."""
    clone = team.clone("last", branch="main")
    monkeypatch.chdir(clone)

    def push(branch: str, *words: str, **texts: str) -> tuple[int, str]:
        before = git(clone, "rev-parse", "HEAD")
        if git(clone, "branch", "--show-current") != branch:
            git(clone, "checkout", "-q", "-b", branch)
        for name, text in texts.items():
            Path(f"{name}.qps").write_text(text)
        main(["fmt", "-q", *(f"{name}.qps" for name in texts)])
        git(clone, "add", "-A", "--", "*.qps")
        git(clone, "commit", "-qm", "more", "--allow-empty")
        for name, value in gitlab(branch, CI_COMMIT_BEFORE_SHA=before).items():
            monkeypatch.setenv(name, value)
        capsys.readouterr()
        return main(["ci", "-q", *words]), capsys.readouterr().out

    return push


def test_a_red_branch_stays_red_after_the_next_push(
    pushes: Callable[..., tuple[int, str]],
) -> None:
    assert pushes("feature", web=SLOW)[0] == 1  # 50 users of 90
    for _ in range(2):
        status, out = pushes("feature", other=SPEC)
        assert status == 1
        assert "FAIL  most  web.qps:6" in out
        assert "the merge base with origin/main\n" in out
    assert pushes("feature", web=SPEC)[0] == 0


def test_a_red_default_branch_stays_red_until_it_is_fixed(
    pushes: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    record = tmp_path / "passed.txt"
    passed = f"--passed={record}"
    # Nothing is recorded yet: every spec is looked at, not only those of the last commit.
    assert pushes("main", web=SPEC)[0] == 0
    status, out = pushes("main", passed)
    assert (status, len(record.read_text().splitlines())) == (0, 1)
    text = " ".join(out.split())
    assert "its parent: passed.txt lists no earlier commit that passed" in text
    assert pushes("main", passed, web=SLOW)[0] == 1
    status, out = pushes("main", passed, other=SPEC)
    assert (status, len(record.read_text().splitlines())) == (1, 1)
    assert "the last commit of main that passed\n" in out
    assert pushes("main", passed, web=SPEC)[0] == 0
    assert len(record.read_text().splitlines()) == 2
    Path("web.qps").write_text(SPEC.replace("1 ms", "0.5 ms"))  # not what was committed
    assert main(["ci", "-q", passed]) == 0
    assert len(record.read_text().splitlines()) == 2


def test_a_first_record_is_made_of_every_spec(
    pushes: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    record = tmp_path / "passed.txt"
    pushes("main", web=SLOW)
    assert pushes("main", f"--passed={record}", other=SPEC)[0] == 1
    assert not record.exists()


def test_a_branch_writes_no_record(pushes: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    record = tmp_path / "passed.txt"
    assert pushes("feature", f"--passed={record}", web=SPEC)[0] == 0
    assert not record.exists()
