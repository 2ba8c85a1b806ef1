"""A repository of a stranger runs nothing, and git is started at one place."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import Struct

from helpers.nightly import nightly
from processes.hostile_repositories import WORSE, Trap, git
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.reviewing import git_command, repository
from qps.reviewing.git_command import program, run_git
from qps.reviewing.repository import repository_at, top_of
from robustness.git_trap import POSIX, ROOT, statuses

_BY_DAY = (("worktree", "pre-commit"), ("submodule", "pre-push"))
S = "{script}"


PACKAGES = (
    *("compiler", "editing", "engine", "grammar", "reports"),
    *("reviewing", "simulation", "solver", "specs", "stdlib", "src/qps"),
)


class Option(Struct, frozen=True):
    """Values of a configuration that start the script, and what has git do so; empty for nothing.

    Some need a terminal or a network, or are of newer versions of git.
    """

    values: dict[str, str]
    plain: str = ""


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


@POSIX
def test_git_is_ended_where_it_waits(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(trap.top / "specs" / ".gitignore")
    with pytest.raises(QpsError, match="timed out"):
        run_git(repository_at(trap.top), "ls-files", "--others", "--exclude-standard", longest=0.5)


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
    assert starting - measuring == {"src/qps/supervised_processes.py"}
    for path in measuring | {"src/qps/supervised_processes.py"}:
        assert not re.search(r"[\"']git[\"' ]", (ROOT / path).read_text("utf-8")), path
