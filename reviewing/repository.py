"""Repositories: where one is found, which commit a name means there, and what git knows of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from qps.links import resolved_path
from qps.reviewing.git_command import LONGEST, Repository, refused, run_git

_READ = ("HEAD", "commondir", "config", "config.worktree", "gitdir", "index", "packed-refs")
_READ_OF_ALL = ("config", "packed-refs", "shallow")
"""Files that git reads, in the folder of a work tree, and in that of all of them."""


def top_for(paths: Sequence[Path], started: Path | None = None) -> Path | None:
    """Return the top of the repository that is meant, None where there is none.

    It is that of where the command was `started` (the working folder), as long as all `paths` lie
    in it: what lies among specs and looks like a repository is no reason to look there. Else it is
    that of the first path.
    """
    here = top_of(Path.cwd() if started is None else started)
    places = [_place(path) for path in paths]
    if here is not None and all(place.is_relative_to(here) for place in places):
        return here
    return top_of(places[0]) if places else None


def _place(path: Path) -> Path:
    """Return the real folder that is named, or that a file lies in, there or not."""
    folder = path if path.is_dir() else path.parent
    return resolved_path(folder)


def top_of(folder: Path, longest: float = LONGEST) -> Path | None:
    """Return the top of the repository that a path lies in, None where it is in none.

    A bare repository below the top is none: nobody works in it, and a stranger may have put it.
    QpsError where git refuses what is there, or where it leads elsewhere.
    """
    own = resolved_path(folder)
    for place in (own, *own.parents):
        if os.path.lexists(place / ".git") and _at(place, _mark(place), longest) is not None:
            return place
    return None


def repository_at(top: Path) -> Repository:
    """Return the repository of a `top` that was found; QpsError where it is no more."""
    found = _at(top, _mark(top), LONGEST)
    if found is None:
        raise refused(f"git finds no repository at `{top}`", "run `git status` there")
    return found


def git(top: Path, *arguments: str, longest: float = LONGEST) -> bytes | None:
    """Return what git prints of the repository at a `top`, None where it refuses.

    Commits and files are named by the names of their objects, which `commit_of` returns: only the
    commands that request names know branches. QpsError where it takes so many seconds.
    """
    return run_git(repository_at(top), *arguments, longest=longest).stdout


def commit_of(top: Path, revision: str) -> str | None:
    """Return the commit that a revision names, None where git knows none."""
    if "\0" in revision:
        return None
    named = f"{revision}^{{commit}}"
    found = git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", named)
    return None if found is None else found.decode().strip()


def is_shallow(top: Path) -> bool:
    """Return whether a clone has the last commits alone."""
    found = git(top, "rev-parse", "--is-shallow-repository")
    return found is not None and found.strip() == b"true"


def _mark(top: Path) -> tuple[tuple[int, int], ...]:
    """Return what distinguishes a repository from another one that was at the same place."""
    return tuple(_age(top / name) for name in (".git", ".git/config"))


def _age(path: Path) -> tuple[int, int]:
    try:
        about = path.lstat()
    except OSError:
        return (0, 0)
    return (about.st_mtime_ns, about.st_ino)


@lru_cache(maxsize=8)
def _at(top: Path, _: tuple[tuple[int, int], ...], longest: float) -> Repository | None:
    """Return the repository whose top is a folder, None where git finds none there."""
    _refuse_others(top / ".git", _READ)
    output = run_git(top, "rev-parse", "--show-object-format", "--show-toplevel", longest=longest)
    if output.stdout is None:
        if b"not a git repository" in output.errors:
            return None
        raise refused(f"git cannot read the repository at `{top}`", "run `git status` there")
    form, shown = output.stdout.split(b"\n", 1)
    if resolved_path(_path(shown)) != top:
        raise refused(
            f"the repository at `{top}` has another work tree",
            "remove the setting: `git config --unset core.worktree`",
        )
    printed = run_git(top, "rev-parse", "--absolute-git-dir", longest=longest).stdout
    own = resolved_path(_path(printed or b""))
    common = _common(own)
    if common not in (own, own.parent.parent):
        raise refused(
            f"`{own}` leads to `{common}`, which is another repository",
            "clone the repository again",
        )
    _refuse_others(own, _READ)
    _refuse_others(common, _READ_OF_ALL)
    if own != top / ".git":
        _refuse_where_it_names_another(top, own, longest)
    _refuse_other_objects(common)
    return Repository(top=top, own=own, common=common, form=form.decode())


def _path(printed: bytes) -> Path:
    return Path(os.fsdecode(printed.removesuffix(b"\n")))


def _common(own: Path) -> Path:
    """Return the folder that a work tree shares with others of the same repository."""
    try:
        named = (own / "commondir").read_bytes().strip()
    except OSError:
        return own
    return resolved_path(own / os.fsdecode(named))


def _refuse_others(folder: Path, names: Sequence[str]) -> None:
    """Refuse files of git that are none: whoever reads a pipe waits for ever."""
    for name in names:
        try:
            mode = (folder / name).stat().st_mode
        except (OSError, ValueError):
            continue
        if not stat.S_ISREG(mode):
            raise refused(
                f"`{folder / name}` is not a regular file",
                "git expects a regular file: clone the repository again",
            )


def _refuse_where_it_names_another(top: Path, own: Path, longest: float) -> None:
    """Refuse a `.git` that leads to a repository which knows nothing of this work tree."""
    try:
        back = Path(os.fsdecode((own / "gitdir").read_bytes().strip()))
        if resolved_path((own / back).parent) == top:
            return
    except (OSError, ValueError):
        pass  # it is that of no work tree that was added: it may be a submodule's
    command = ("config", "--local", "--no-includes", "-z", "--get", "core.worktree")
    named = run_git(top, *command, longest=longest).stdout
    if named is not None and resolved_path(own / os.fsdecode(named[:-1])) == top:
        return
    raise refused(
        f"`{top / '.git'}` leads to `{own}`, which is the repository of another folder",
        "if this is intended, run `git config core.worktree` with the path of this folder",
    )


def _refuse_other_objects(common: Path) -> None:
    """Refuse a repository that has objects of another one, which may be a private one."""
    objects = common / "objects"
    if (objects / "info" / "alternates").exists():
        raise refused(
            f"the repository at `{common}` uses objects of another one (objects/info/alternates)",
            "copy them: `git repack -a -d`, then remove that file; or `git clone --dissociate`",
        )
    places = [objects, objects / "info", objects / "pack", *_entries(objects)]
    for place in (*places, *_entries(objects / "pack")):
        if place.is_symlink():
            raise refused(
                f"`{place}` is a symbolic link, possibly into another repository",
                "copy its target, or clone the repository again",
            )


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
