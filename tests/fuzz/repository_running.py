"""Hostile repositories tried: what went wrong in one, and the few pieces that it takes."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import random
import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from unittest import mock

import msgspec
from msgspec import Struct

from fuzz.repositories import Piece, Repository, drawn_pieces, standing
from processes.hostile_repositories import SECRET
from qps.cli import main
from qps.reviewing import git_command, repository

PIECES = 150
"""Pieces of a repository: each is an input."""
_GIT_WAITS = 10.0
"""Seconds that git may take here; what waits for a pipe takes all of them."""
_LONGEST = 90.0
"""Seconds that a command may take: it asks git more than once."""
_TRIES = 60
_COMMANDS = (
    ("history", "specs/a.qps", "-q"),
    ("diff", "HEAD:specs/a.qps", "specs/a.qps", "-q"),
    ("diff", "HEAD^:specs/a.qps", "specs/a.qps", "-q"),
    ("check", "specs"),
    ("check", "specs", "--changed"),
    ("check", "--readers", "specs/deep/a.qps"),
    ("test", "specs", "-q"),
    ("fmt", "--check", "specs", "-q"),
    ("review", "HEAD^", "specs", "-q"),
    ("report", "specs/a.qps", "-q", "--no-advice", "-o", "../page.html"),
)
_CI = ("ci", "specs", "-q", "--base")
_SAFE = ("GITHUB_", "CI", "PRE_COMMIT_", "GIT_", "PAGER", "EDITOR", "VISUAL", "SSH_")


class RepositoryFinding(Struct, frozen=True, kw_only=True):
    """A repository by its pieces, the command that went wrong in it, and how."""

    pieces: tuple[Piece, ...]
    command: tuple[str, ...]
    where: str
    reported: str

    def keep(self, folder: Path) -> Path:
        """Write it where the tests find it; return where."""
        name = hashlib.sha256(self.where.encode("utf-8", "replace")).hexdigest()[:8]
        path = folder / f"repository_{name}.json"
        made = (self.pieces, self.command)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(_plain(made)), indent=1) + b"\n")
        return path


def _plain(value: object) -> object:
    """Return a value whose texts JSON can hold: names of files may be no text."""
    if isinstance(value, str):
        return value.encode("unicode_escape", "surrogatepass").decode("ascii")
    if isinstance(value, Piece):
        return [value.kind, _plain(value.texts)]
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def retained_repository(file: Path) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """Return what `RepositoryFinding.keep` has written."""
    pieces, command = msgspec.json.decode(file.read_bytes())

    def text(result: str) -> str:
        return result.encode("ascii").decode("unicode_escape")

    return (
        tuple(Piece(kind, tuple(map(text, texts))) for kind, texts in pieces),
        tuple(map(text, command)),
    )


class RepositoryBatch(Struct, frozen=True, kw_only=True):
    """How many pieces of each kind were tried, in how many repositories, and what was found."""

    tried: Counter[str]
    repositories: int
    findings: list[RepositoryFinding]


def run_repositories(seed: int, count: int) -> RepositoryBatch:
    """Make repositories of a seed and try each; of what goes wrong the pieces that it takes."""
    tried: Counter[str] = Counter()
    findings: dict[str, RepositoryFinding] = {}
    for number in range(count):
        draw = random.Random(f"{seed}/{number}")
        pieces = drawn_pieces(draw, PIECES)
        for command in ((*_CI, draw.choice(["HEAD", "HEAD^"])), draw.choice(_COMMANDS)):
            found = wrong(pieces, command, tried if command[0] == "ci" else Counter())
            if found is not None and found.where not in findings:
                findings[found.where] = _smaller(found)
    return RepositoryBatch(tried=tried, repositories=count, findings=list(findings.values()))


def wrong(
    pieces: tuple[Piece, ...], command: tuple[str, ...], tried: Counter[str] | None = None
) -> RepositoryFinding | None:
    """Return what goes wrong with a command in a repository of some pieces, None for nothing.

    The pieces that it has are added to those that were `tried`.
    """
    folder = Path(tempfile.mkdtemp(prefix="fuzz")).resolve()
    try:
        made = standing(folder, pieces)
        if tried is not None:
            tried.update(piece.kind for piece in made.pieces)
        where, result = _tried(made, command)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not where:
        return None
    return RepositoryFinding(pieces=pieces, command=command, where=where, reported=result)


def _tried(made: Repository, command: tuple[str, ...]) -> tuple[str, str]:
    """Return what went wrong, empty for nothing, and what was told."""
    before = Path.cwd()
    printed = io.StringIO()
    began = monotonic()
    try:
        with (
            _at_work(made),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            os.chdir(made.top)
            status = main(command)
    except BaseException as error:  # noqa: BLE001 - whatever it is, that is what is looked for
        return f"{command[0]}: {type(error).__name__}", "".join(traceback.format_exception(error))
    finally:
        os.chdir(before)
    output = printed.getvalue()
    page = made.top.parent / "page.html"
    everything = output + (page.read_text("utf-8", "replace") if page.exists() else "")
    outside = (made.outside / "credentials").read_text(encoding="utf-8")
    faults = {
        "a program ran": made.mark.exists(),
        "what lies outside was quoted": SECRET in everything,
        "what lies outside was changed": outside != f"{SECRET} = (\n",
        "a fault of ours": status not in (0, 1, 2),
        "it ended in silence": status == 2 and not output.strip(),
        "a change was hidden": command[0] == "ci" and status == 0,
        "it took too long": monotonic() - began > _LONGEST,
    }
    found = [fault for fault, is_so in faults.items() if is_so]
    fault = found[0] if found else ""
    last = [line.strip() for line in output.splitlines() if "File " in line and "qps" in line]
    return (f"{command[0]}: {fault} {last[-1] if last else ''}".strip() if fault else ""), output


@contextlib.contextmanager
def _at_work(made: Repository) -> Iterator[None]:
    """Set what the author has of the environment; have git wait less long than it may."""
    own = {name: text for name, text in os.environ.items() if not name.startswith(_SAFE)}
    own |= {"QPS_CACHE": "off", "QPS_TRACEBACK": "1", "HOME": str(made.top.parent)}
    changed = mock.patch.dict(os.environ, {**own, **made.environment}, clear=True)
    waits = [
        mock.patch.object(module, "LONGEST", _GIT_WAITS) for module in (git_command, repository)
    ]
    with changed, waits[0], waits[1]:
        yield


def _smaller(found: RepositoryFinding) -> RepositoryFinding:
    """Return the same fault with as few pieces as are found soon."""
    size, tries = max(1, len(found.pieces) // 2), _TRIES
    while size:
        at = 0
        while at < len(found.pieces) and tries:
            tries -= 1
            again = wrong(found.pieces[:at] + found.pieces[at + size :], found.command)
            if again is not None and again.where == found.where:
                found = again
            else:
                at += size
        size //= 2
    return found
