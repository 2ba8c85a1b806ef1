"""The one door to git: no other module starts it.

A repository may come from anybody, its own configuration too. So git gets an environment and a
configuration of ours, of the user's no more than which folders are safe, and of what a repository
says nothing that could start a program, reach out, or lead elsewhere:

- names of revisions (`_NAME_COMMANDS`) are resolved in the repository itself, by commands that
  start nothing, with every option off that could;
- all else is read in an empty repository of ours, made for each command, that has nothing of
  the other but where its objects and its index are. What its configuration, hooks, attributes,
  replaced objects, grafts and remotes say is not even read there, whatever options git gets yet.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.supervised_processes import (
    EndingSignal,
    ExitStatus,
    ExternalProgram,
    OutOfMemory,
    OutputLimit,
    ProcessEnding,
    ProgramLimits,
    Timeout,
    run_program,
)

LONGEST = 60.0
"""Seconds that git may take."""
_MOST = 100_000_000
"""Bytes that git may print: a few small trees, one in the other, list more than any memory has."""
_MOST_MEMORY = 4_000_000_000
"""Bytes that git may have besides the files that it maps: a small pack can hold a large object."""

INHERITED = (
    "PATH",
    "LD_LIBRARY_PATH",
    "SUDO_UID",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "WINDIR",
)
"""What git gets of the environment: nothing of `GIT_…`, such as hooks have, is among it."""
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # what it refuses is distinguished by its words
}
_SAFE_VARIABLES = (
    "APPDATA",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "PROGRAMDATA",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
)
"""What says where the user's configuration is."""
_CONFIG_VARIABLE = re.compile(r"GIT_CONFIG_(KEY|VALUE)_\d+")

OFF: Mapping[str, str] = {
    "core.alternateRefsCommand": "",
    "core.askPass": "",
    "core.attributesFile": os.devnull,
    "core.commitGraph": "false",
    "core.editor": "",
    "core.excludesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.gitProxy": "",
    "core.hooksPath": os.devnull,
    "core.pager": "",
    "core.sshCommand": "",
    "core.untrackedCache": "false",
    "credential.helper": "",
    "diff.external": "",
    "diff.ignoreSubmodules": "all",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "gpg.openpgp.program": "",
    "gpg.program": "",
    "gpg.ssh.defaultKeyCommand": "",
    "gpg.ssh.program": "",
    "gpg.x509.program": "",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "merge.verifySignatures": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "sequence.editor": "",
    "submodule.recurse": "false",
    "uploadpack.packObjectsHook": "",
}
"""Options that could start a program or reach out, and what they are for us.

Names that a repository makes up (`filter.NAME.clean`, `diff.NAME.textconv`, `merge.NAME.driver`,
`alias.NAME`, `remote.NAME.vcs`) cannot be listed: no command that would look at them is run in a
repository itself.
"""

_NAME_COMMANDS = frozenset({"config", "for-each-ref", "rev-parse", "symbolic-ref"})
_OBJECT = re.compile(r"\^?([0-9a-f]{40}|[0-9a-f]{64})")
_READS_THE_WORK_TREE = frozenset({"ls-files"})


_CONFIGURATION = ".gitconfig"


def refused(message: str, hint: str) -> QpsError:
    """Return the error for what git, or the caller, cannot give."""
    return QpsError.single(codes.COMMAND_LINE, None, message, hint=hint)


class Repository(Struct, frozen=True, kw_only=True):
    """Where a repository is: the `top` of its files, and its folders of git.

    `own` is that of the work tree, `common` that of all work trees of the repository. `form` is
    how its objects are named: `sha1` or `sha256`.
    """

    top: Path
    own: Path
    common: Path
    form: str


class Output(Struct, frozen=True):
    """What git printed, None where it refused, and what it said of that."""

    stdout: bytes | None
    errors: bytes


def program(environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of git; QpsError where there is none.

    It is looked for in folders of `PATH` that are named from the root, never in the folder where
    one works, which may be a stranger's: Windows looks there first, a `.` in `PATH` requests it.
    """
    found = _program(environment.get("PATH", os.defpath))
    if found is None:
        hint = "install git; to compare two files without it: `qps diff OLD NEW`"
        raise refused("git is not installed", hint)
    return found


@lru_cache(maxsize=8)
def _program(path: str) -> str | None:
    name = "git.exe" if os.name == "nt" else "git"
    for folder in _from_the_root(path):
        file = Path(folder) / name
        if file.is_file() and os.access(file, os.X_OK):
            return str(file)
    return None


def _from_the_root(path: str) -> list[str]:
    return [folder for folder in path.split(os.pathsep) if Path(folder).is_absolute()]


def run_git(
    where: Path | Repository,
    *arguments: str,
    longest: float = LONGEST,
    standard_input: bytes = b"",
    scratch: Path | None = None,
) -> Output:
    """Return what git prints of a repository; QpsError where it takes too long, or prints too much.

    `where` is a folder for commands that request names. `standard_input` is its standard input.
    What is written goes to `scratch`, a folder of ours.
    """
    work = _Work(where=where, arguments=arguments, stdin=standard_input, scratch=scratch)
    output = _run(work, longest)
    if _OF_OTHERS in output.errors:
        output = _run(replace(work, safe=tuple(_safe())), longest)
    if _OF_OTHERS in output.errors:
        raise refused(
            "git rejects a repository that belongs to another user",
            f"to trust it: `git config --global --add safe.directory {_top(output.errors)}`",
        )
    return output


_OF_OTHERS = b"dubious ownership"


class _Work(Struct, frozen=True, kw_only=True):
    """What git is to do where; `safe` are folders that may belong to others."""

    where: Path | Repository
    arguments: tuple[str, ...]
    stdin: bytes | None = None
    scratch: Path | None = None
    safe: tuple[bytes, ...] = ()


def _run(work: _Work, longest: float) -> Output:
    with _program_for(work, longest) as running:
        result = running.result()
    if not isinstance(result.ending, ExitStatus):
        raise failure(result.ending)
    return Output(None if result.ending.code else result.stdout, result.stderr)


def failure(ending: ProcessEnding) -> QpsError:
    """Return the error for git that was ended, or ended by itself in the middle of an answer."""
    match ending:
        case Timeout():
            return refused("git timed out", "compare two files instead")
        case OutputLimit(size):
            return refused(
                f"git prints more than {size:,} bytes of this repository",
                "the repository has too many files; compare two files instead",
            )
        case OutOfMemory():
            return refused(
                "git ran out of memory",
                "free some, or find out with `git fsck` which object is too large",
            )
        case EndingSignal() | ExitStatus():
            return refused(f"git ended {ending}", "run `git fsck`")


@contextmanager
def conversation(where: Repository, *arguments: str) -> Iterator[ExternalProgram]:
    """Give a command for several requests; it ends with the context."""
    with _program_for(_Work(where=where, arguments=arguments), LONGEST) as running:
        yield running


@contextmanager
def _program_for(work: _Work, longest: float) -> Iterator[ExternalProgram]:
    """Start git in a folder of its own, and end it with the context."""
    where, arguments = work.where, work.arguments
    command = [program(), "--no-pager", "--no-replace-objects"]
    for name, value in OFF.items():
        command += ["-c", f"{name}={value}"]
    with TemporaryDirectory(prefix="qps-git-") as name:
        place = Path(name)
        environment = _environment(place)
        safe = b"".join(b"[safe]\n\tdirectory = %s\n" % _quoted(one) for one in work.safe)
        (place / _CONFIGURATION).write_bytes(safe)
        if arguments[0] in _NAME_COMMANDS:
            folder = where.top if isinstance(where, Repository) else where
            environment["GIT_CEILING_DIRECTORIES"] = str(folder.parent)
            command += ["-C", str(folder)]
        else:
            assert isinstance(where, Repository)
            _refuse_names(arguments)
            environment |= _stand_in(place, where, work.scratch)
            if arguments[0] in _READS_THE_WORK_TREE:
                environment["GIT_WORK_TREE"] = str(where.top)
                command += ["-C", str(where.top)]
        with ExternalProgram(
            [*command, *arguments],
            folder=place,
            environment=environment,
            limits=_limits(longest),
            standard_input=work.stdin,
        ) as running:
            yield running


def _limits(longest: float) -> ProgramLimits:
    return ProgramLimits(seconds=longest, memory=_MOST_MEMORY, output=_MOST)


def _refuse_names(arguments: tuple[str, ...]) -> None:
    """Raise ValueError for what names no object: an empty repository knows no branches."""
    for one in arguments[1:]:
        if one == "--":
            return
        if not one.startswith("-") and not _OBJECT.fullmatch(one):
            raise ValueError(f"`{arguments[0]}` takes names of objects, such as commit_of returns")


def _inherited() -> dict[str, str]:
    found = {name: os.environ[name] for name in INHERITED if name in os.environ}
    if "PATH" in found:
        found["PATH"] = os.pathsep.join(_from_the_root(found["PATH"]))
    return found


def _environment(place: Path) -> dict[str, str]:
    """Return the environment of git, with a home of ours that has the configuration of ours."""
    home = {"HOME": str(place), "USERPROFILE": str(place), "XDG_CONFIG_HOME": str(place)}
    config = {"GIT_CONFIG_GLOBAL": str(place / _CONFIGURATION)}
    return {**_inherited(), **home, **_ENVIRONMENT, **config}


def _safe() -> Iterator[bytes]:
    """Yield the folders that the user's and the system's configuration calls safe.

    They are read by git, outside of any repository; `git config` starts no program.
    """
    names = (n for n in os.environ if n in _SAFE_VARIABLES or _CONFIG_VARIABLE.fullmatch(n))
    with TemporaryDirectory(prefix="qps-git-") as place:
        own = {name: os.environ[name] for name in names}
        result = run_program(
            [program(), "config", "-z", "--type=path", "--get-all", "safe.directory"],
            folder=Path(place),
            environment={**_inherited(), **own, "GIT_DIR": os.devnull},
            limits=_limits(LONGEST),
        )
    if isinstance(result.ending, Timeout):
        raise refused("git timed out", "check your git configuration")
    if not isinstance(result.ending, ExitStatus):
        raise failure(result.ending)
    yield from result.stdout.split(b"\0")[:-1]


def _quoted(value: bytes) -> bytes:
    """Return a value as a configuration file has it."""
    escaped = value.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'


def _stand_in(place: Path, repository: Repository, scratch: Path | None) -> dict[str, str]:
    """Make an empty repository; return what has git take objects and index of another one."""
    own = place / "stand-in"
    (own / "refs").mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    is_other = repository.form != "sha1"
    (own / "config").write_text(
        f"[core]\n\trepositoryformatversion = {int(is_other)}\n"
        + (f"[extensions]\n\tobjectformat = {repository.form}\n" if is_other else ""),
        encoding="ascii",
    )
    shallow = repository.common / "shallow"
    if shallow.is_file():
        shutil.copyfile(shallow, own / "shallow")
    for shared in repository.own.glob("sharedindex.*"):  # an index may be split in two
        if shared.is_file():
            shutil.copyfile(shared, own / shared.name)
    known = repository.common / "objects"
    if scratch is None:
        index = repository.own / "index"
        return {
            "GIT_DIR": str(own),
            "GIT_OBJECT_DIRECTORY": str(known),
            "GIT_INDEX_FILE": str(index),
        }
    (scratch / "objects").mkdir(exist_ok=True)
    return {
        "GIT_DIR": str(own),
        "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _in_a_list(known),
        "GIT_INDEX_FILE": str(scratch / "index"),
    }


def _in_a_list(folder: Path) -> str:
    """Return a folder as one of a list: in quotes, as its name may hold what parts them."""
    escaped = str(folder).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _top(output: bytes) -> str:
    """Return the folder that git names, as a shell takes it."""
    found = re.search(rb"repository at '(.*)'", output)
    return quote(os.fsdecode(found[1])) if found else "FOLDER"
