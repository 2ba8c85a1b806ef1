"""A repository of a stranger runs nothing, reads nothing elsewhere, and hides no change."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct

from helpers.nightly import nightly
from processes.hostile_repositories import SECRET, SPEC, WORSE, Trap, git
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.reviewing import git_command, repository
from qps.reviewing.git_command import program, run_git
from qps.reviewing.repository import commit_of, repository_at, top_for, top_of

ROOT = Path(__file__).parents[2]
PACKAGES = (
    *("compiler", "editing", "engine", "grammar", "measuring", "observing", "reports"),
    *("reviewing", "simulation", "solver", "specs", "stdlib", "src/qps"),
)
POSIX = pytest.mark.skipif(os.name == "nt", reason="a script with #!, links, pipes")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    return Trap.at(tmp_path_factory.mktemp("trap"))


@pytest.fixture
def trap(made: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """Work in a repository with a change that makes a claim fail."""
    for name in [n for n in os.environ if n.startswith(("GITHUB_", "CI", "PRE_COMMIT_", "GIT_"))]:
        monkeypatch.delenv(name)
    trap = made.copy(tmp_path)
    monkeypatch.chdir(trap.top)
    return trap


_BY_DAY = (("worktree", "pre-commit"), ("submodule", "pre-push"))
COMMANDS = (
    ("ci", "specs", "--base", "HEAD^", "-q"),
    ("review", "HEAD^", "specs", "-q"),
    ("history", "specs/a.qps", "-q"),
    ("diff", "HEAD^:specs/a.qps", "specs/a.qps", "-q"),
    ("report", "specs/a.qps", "-q", "--no-advice", "-o", "../page.html"),
)


def statuses() -> list[int]:
    return [int(main(command) or 0) for command in COMMANDS]


class Option(Struct, frozen=True):
    """Values of a configuration that start the script, and what has git do so; empty for nothing.

    Some need a terminal or a network, or are of newer versions of git.
    """

    values: dict[str, str]
    plain: str = ""


S = "{script}"
SIGNED = {"log.showSignature": "true"}
OPTIONS = [
    Option({"core.fsmonitor": S}, "status"),
    Option({"core.fsmonitor": S, "core.fsmonitorHookVersion": "2"}, "status"),
    Option({"core.fsmonitor": "true"}),
    Option({"core.hooksPath": "{top}/../hooks"}, "checkout -q HEAD~0"),
    Option({"core.pager": S, "pager.log": "true"}),
    Option({"pager.log": S, "pager.diff": S, "pager.ls-files": S, "pager.rev-parse": S}),
    Option({"core.editor": S}, "commit --allow-empty"),
    Option({"sequence.editor": S}, "rebase -i --autostash HEAD^"),
    Option({"core.sshCommand": S}, "ls-remote ssh://nowhere.invalid/x"),
    Option({"core.gitProxy": S}, "ls-remote git://nowhere.invalid/x"),
    Option({"core.askPass": S}),
    Option({"core.alternateRefsCommand": S}),
    Option({"credential.helper": "!" + S}, "credential fill"),
    Option({"diff.external": S}, "diff"),
    Option({"diff.own.command": S}, "diff"),
    Option({"diff.own.textconv": S}, "log -p"),
    Option({"diff.own.textconv": S, "diff.own.cachetextconv": "true"}, "log -p"),
    Option({"filter.own.clean": S}, "diff HEAD"),
    Option({"filter.own.smudge": S}, "checkout -q HEAD -- specs"),
    Option({"filter.own.process": S, "filter.own.required": "true"}, "diff HEAD"),
    Option({"merge.own.driver": S + " %A"}),
    Option({**SIGNED, "gpg.program": S}, "log"),
    Option({**SIGNED, "gpg.openpgp.program": S}, "log"),
    Option({**SIGNED, "gpg.format": "ssh", "gpg.ssh.program": S}),
    Option({**SIGNED, "gpg.format": "x509", "gpg.x509.program": S}),
    Option({"gpg.format": "ssh", "gpg.ssh.defaultKeyCommand": S, "commit.gpgSign": "true"}),
    Option({"format.pretty": "%G?", "gpg.program": S}, "log"),
    Option({"alias.x": "!" + S}, "x"),
    Option({"alias.log": "!" + S, "alias.rev-parse": "!" + S, "alias.ls-tree": "!" + S}),
    Option({"remote.origin.url": "{top}", "remote.origin.uploadpack": S}, "ls-remote origin"),
    Option({"remote.origin.url": "ext::" + S, "protocol.ext.allow": "always"}, "ls-remote origin"),
    Option({"remote.origin.url": "x", "remote.origin.vcs": "ext", "protocol.allow": "always"}),
    Option({"url.ext::sh -c {script} .insteadOf": "https:", "protocol.allow": "always"}),
    Option({"uploadpack.packObjectsHook": S}),
    Option({"submodule.sub.update": "!" + S, "submodule.recurse": "true"}),
    Option({"interactive.diffFilter": S}),
    Option({"trailer.x.command": S, "trailer.x.cmd": S}),
    Option({"tar.x.command": S}),
    Option({"diff.tool": "x", "difftool.x.cmd": S, "merge.tool": "x", "mergetool.x.cmd": S}),
    Option({"gc.recentObjectsHook": S, "gc.auto": "1"}),
    Option({"hook.x.command": S, "hook.x.event": "reference-transaction"}),
    Option({"web.browser": "x", "browser.x.cmd": S, "man.viewer": "x", "man.x.cmd": S}),
    Option({"sendemail.tocmd": S, "sendemail.ccCmd": S, "imap.tunnel": S, "instaweb.httpd": S}),
    Option({"include.path": "{top}/../included"}, "diff"),
    Option({"includeIf.gitdir:/.path": "{top}/../included"}, "diff"),
    Option({"core.attributesFile": "{top}/../attributes", "diff.more.command": S}),
]


def together(options: list[Option]) -> list[Option]:
    """Return as few as can be that have all values of some: each name has one value."""
    found: list[dict[str, str]] = []
    for option in options:
        free = (one for one in found if not one.keys() & option.values.keys())
        if (into := next(free, None)) is None:
            found.append(into := {})
        into.update(option.values)
    return [Option(values) for values in found]


@POSIX
@pytest.mark.parametrize(
    "option",
    [
        *(pytest.param(one, id=f"all, {place}") for place, one in enumerate(together(OPTIONS))),
        *(pytest.param(one, id="+".join(one.values), marks=nightly) for one in OPTIONS[4:]),
        *(pytest.param(one, id="+".join(one.values)) for one in OPTIONS[:4]),
    ],
)
def test_no_option_of_a_repository_runs_a_program(option: Option, trap: Trap) -> None:
    """By day all together, and few alone; at night each alone: without us it does run one."""
    hooks = trap.top.parent / "hooks"
    for folder in (hooks, trap.top / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor"):
            if folder == hooks:
                shutil.copy(trap.script, folder / name)
    included = f'[diff]\n\texternal = "{trap.script}"\n'
    (trap.top.parent / "included").write_text(included, encoding="utf-8")
    (trap.top.parent / "attributes").write_text("* diff=more\n", encoding="utf-8")
    trap.configure(**option.values)
    before = {path: path.read_bytes() for path in trap.top.rglob("*.qps")}
    assert statuses() == [1, 1, 0, 0, 0]
    assert not trap.mark.exists()
    if option.plain:  # the trap is one
        git(trap.top, *option.plain.split(), given="protocol=https\nhost=x\n\n", check=False)
        assert trap.mark.exists()
    for path, content in before.items():
        path.write_bytes(content)


def test_all_options_of_git_that_name_programs_are_tried() -> None:
    """Whatever this version of git has, by the words that its documentation uses for programs."""
    listed = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True)
    words = re.compile(
        r"\.(\w*(program|command|cmd|helper|pager|editor|hook|proxy|external|textconv|clean|smudge"
        r"|process|driver|askpass|fsmonitor|vcs|uploadpack|tunnel|sshcommand|hookspath))$",
        re.IGNORECASE,
    )
    known = {name.split(".")[-1].casefold() for one in OPTIONS for name in one.values}
    harmless = {"proxy", "dbdriver", "ignoredhook", "waitingforeditor"}  # fmt: skip
    named = {
        found[1].casefold()
        for line in listed.stdout.split()
        if (found := words.search(line)) and "<cmd>" not in line
    }
    assert named - known - harmless == set()
    assert {"fsmonitor", "textconv", "clean", "defaultkeycommand"} <= named


VARIABLES = {
    "GIT_EXTERNAL_DIFF": S,
    "GIT_PAGER": S,
    "GIT_EDITOR": S,
    "GIT_SSH_COMMAND": S,
    "GIT_ASKPASS": S,
    "GIT_PROXY_COMMAND": S,
    "GIT_EXEC_PATH": "{top}/..",
    "GIT_TRACE": "{top}/../mark",
    "GIT_TRACE2_EVENT": "{top}/../mark",
    "GIT_TRACE_SETUP": "{top}/../mark",
    "GIT_DIR": "{top}/specs",
    "GIT_WORK_TREE": "{top}/..",
    "GIT_INDEX_FILE": "{top}/../no-index",
    "GIT_COMMON_DIR": "{top}/..",
    "GIT_OBJECT_DIRECTORY": "{top}/..",
    "GIT_NAMESPACE": "other",
    "GIT_CEILING_DIRECTORIES": "{top}",
    "GIT_CONFIG_PARAMETERS": "'core.fsmonitor={script}'",
    "GIT_CONFIG_GLOBAL": "{top}/../global",
    "GIT_CONFIG_SYSTEM": "{top}/../global",
    "HOME": "{top}/../home",
    "XDG_CONFIG_HOME": "{top}/../home",
}


@POSIX
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(list(VARIABLES), id="all"),
        *(pytest.param([name], id=name, marks=nightly) for name in VARIABLES),
    ],
)
def test_no_variable_of_the_environment_changes_what_git_does(
    names: list[str], trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = trap.top.parent
    text = f'[core]\n\tfsmonitor = "{trap.script}"\n[diff]\n\texternal = "{trap.script}"\n'
    (folder / "home" / "git").mkdir(parents=True)
    for file in ("global", "home/.gitconfig", "home/git/config"):
        (folder / file).write_text(text, encoding="utf-8")
    for name in names:
        monkeypatch.setenv(name, VARIABLES[name].format(script=trap.script, top=trap.top))
    assert statuses() == [1, 1, 0, 0, 0]
    assert not trap.mark.exists()


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


@POSIX
def test_git_is_ended_where_it_waits(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(trap.top / "specs" / ".gitignore")
    with pytest.raises(QpsError, match="timed out"):
        run_git(repository_at(trap.top), "ls-files", "--others", "--exclude-standard", longest=0.5)


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


@POSIX
def test_git_is_never_taken_from_where_one_works(
    trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(trap.script, "git")
    shutil.copy(trap.script, "git.exe")
    for path in (".", "", "specs/..", "./"):
        monkeypatch.setenv("PATH", f"{path}{os.pathsep}{os.environ['PATH']}")
        assert Path(program()).is_absolute()
    assert statuses() == [1, 1, 0, 0, 0]  # all of them stand there by now
    assert not trap.mark.exists()
    with pytest.raises(QpsError, match="git is not installed"):
        program({"PATH": os.pathsep.join([".", "", "specs"])})


def test_only_what_is_safe_is_taken_of_the_own_configuration(
    trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretended = "GIT_TEST_ASSUME_DIFFERENT_OWNER"
    monkeypatch.setattr(git_command, "INHERITED", (*git_command.INHERITED, pretended))
    monkeypatch.setenv(pretended, "1")
    home = trap.top.parent / 'home "of" \\ me'
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    own = home / ".gitconfig"

    def is_found() -> bool:
        repository._at.cache_clear()
        try:
            return top_of(trap.top) == trap.top
        except QpsError:
            return False

    assert not is_found()
    for text, found in [
        (f"[safe]\n\tdirectory = {trap.top}\n", True),
        ("[safe]\n\tdirectory = *\n", True),
        ("[safe]\n\tdirectory = *\n\tdirectory =\n", False),
        ("[safe]\n\tdirectory = ~/other\n", False),
        (f'[include]\n\tpath = "{trap.top.parent}/more"\n', True),
        ("not a configuration\n", False),
    ]:
        (trap.top.parent / "more").write_text(f"[safe]\n\tdirectory = {trap.top}\n", "utf-8")
        own.write_text(text, "utf-8")
        assert is_found() is found, text
    own.unlink()
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap.top))
    assert is_found()
    git(trap.top, "config", "safe.directory", "*")
    monkeypatch.delenv("GIT_CONFIG_COUNT")
    assert not is_found()  # a repository cannot call itself safe


@POSIX
@pytest.mark.parametrize(
    ("where", "hook"),
    [
        pytest.param(where, hook, marks=[] if (where, hook) in _BY_DAY else [nightly])
        for where in ("top", "worktree", "submodule")
        for hook in ("pre-commit", "pre-push")
    ],
)
def test_a_hook_reports_the_same_as_the_command(
    where: str, hook: str, trap: Trap, tmp_path: Path
) -> None:
    """Hooks have `GIT_DIR` and `GIT_INDEX_FILE`, those of a commit of some files other ones."""
    if where == "worktree":
        place = tmp_path / "tree"
        git(trap.top, "worktree", "add", "-q", str(place))
        (place / "specs" / "a.qps").write_text(WORSE, encoding="utf-8")
    elif where == "submodule":
        above = tmp_path / "above"
        git(tmp_path, "init", "-q", "above")
        allowed = ("-c", "protocol.file.allow=always")
        git(above, *allowed, "submodule", "add", "-q", str(trap.top), "below")
        place = above / "below"
        (place / "specs" / "a.qps").write_text(WORSE, encoding="utf-8")
    else:
        place = trap.top
    folder = Path(git(place, "rev-parse", "--path-format=absolute", "--git-path", "hooks"))
    folder.mkdir(exist_ok=True)
    result = tmp_path / "told"
    lines = f"#!/bin/sh\n'{sys.executable}' -m qps ci specs --base HEAD^ -q > '{result}' 2>&1\n"
    (folder / hook).write_text(lines + f"echo $? >> '{result}'\nexit 0\n", encoding="utf-8")
    (folder / hook).chmod(0o755)
    git(place, "commit", "-qm", "third", "specs/a.qps")
    if hook == "pre-push":
        git(tmp_path, "init", "-q", "--bare", "remote")
        git(place, "push", "-q", str(tmp_path / "remote"), "HEAD:refs/heads/x")
    assert re.search(r"^FAIL qps: 1 claim fails(.*\n)+1\n$", result.read_text())


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


STARTS = re.compile(
    r"\bsubprocess\.(?!Popen\[|[A-Z]\w*Error|TimeoutExpired|PIPE|STDOUT|DEVNULL)\w+|\bPopen\("
    r"|\bos\.(system|popen|exec[lv]\w*|spawn\w+|posix_spawn\w*|startfile|fork\w*)\b|\bpty\."
    r"|create_subprocess|from subprocess import"
)


def test_git_is_started_at_one_place() -> None:
    """Elsewhere programs are started only that the user names on the command line of `measure`."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    starting = {
        p.relative_to(ROOT).as_posix() for p in paths if STARTS.search(p.read_text("utf-8"))
    }
    measuring = {path for path in starting if path.startswith("compiler/measurement/campaigns/")}
    assert measuring
    assert starting - measuring == {"reviewing/git_command.py"}
    for path in measuring:
        assert not re.search(r"[\"']git[\"' ]", (ROOT / path).read_text("utf-8")), path


def test_an_empty_repository_is_read_for_objects_alone(trap: Trap) -> None:
    top = repository_at(trap.top)
    with pytest.raises(ValueError, match="takes names of objects"):
        run_git(top, "log", "HEAD")
    assert commit_of(trap.top, "HEAD\0") is None
    assert commit_of(trap.top, "--help") is None
    assert stat.S_ISDIR(top.own.stat().st_mode)
