"""The commits of the default branch that passed, in a file that CI keeps from run to run.

A commit a line, the newest last. Whoever can write to the cache of a pipeline can write this file:
nothing is taken from it but names of commits, and of these only one that HEAD is or descends from.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.suggest import shortened
from qps.reviewing.git_command import refused
from qps.reviewing.repository import git

MOST = 100
"""Commits that are remembered: an old pipeline that runs again finds the one before its own."""
_LARGEST = MOST * 65
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MOST_COMMITS = 100_000


class PassedCommits(Struct, frozen=True, kw_only=True):
    """What a file lists, the newest last; nothing where there is no file yet."""

    file: Path
    commits: tuple[str, ...]

    def newest_in(self, top: Path, commit: str) -> str | None:
        """Return the newest one in the history of a commit, itself too; None for none."""
        if not self.commits:
            return None
        # Commits come before their parents: what is found first descends from all others.
        words = ("rev-list", "--topo-order", f"--max-count={_MOST_COMMITS}", commit)
        listed = {one.encode() for one in self.commits}
        found = (line for line in (git(top, *words) or b"").split() if line in listed)
        return next((one.decode() for one in found), None)

    def text_with(self, commit: str) -> str:
        """Return the text of the file with one more commit; the oldest go."""
        others = [one for one in self.commits if one != commit]
        return "".join(f"{one}\n" for one in [*others, commit][-MOST:])


def passed_commits(file: Path) -> PassedCommits:
    """Read a file; QpsError where it cannot be read, or is no list of commits."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST + 1)
    except FileNotFoundError:
        return PassedCommits(file=file, commits=())
    except OSError as error:
        reason = error.strerror or str(error)
        raise refused(
            f"`{file}` cannot be read: {reason}", "name a readable file, or a new one"
        ) from error
    if len(content) > _LARGEST:
        raise _no_list(file, f"it is larger than {_LARGEST:,} bytes")
    lines = content.decode("ascii", "replace").splitlines()
    for number, line in enumerate(lines, 1):
        if not _COMMIT.fullmatch(line):
            raise _no_list(file, f"line {number} is `{shortened(line)}`")
    return PassedCommits(file=file, commits=tuple(lines))


def _no_list(file: Path, reason: str) -> QpsError:
    hint = "delete it, or name another file: `qps ci --passed FILE` starts a new one"
    return refused(f"`{file}` is not a list of commits: {reason}", hint)
