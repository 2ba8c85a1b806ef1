"""Where a page comes from: the day, the version of qps, the revision that its specs have in git."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from shlex import join

from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.pipeline import Spec
from qps.links import resolved_path
from qps.reports.text.words.phrases import phrase
from qps.reviewing.git_objects import blobs_of
from qps.reviewing.repository import commit_of, git, top_for
from qps.version import __version__

_SHORT = 10
"""Digits of a commit that are reported."""
_LONGEST = 5.0
"""Seconds that git may take: a page does without its revision."""


def origin_line(specs: Sequence[Spec]) -> str:
    """Return when and with what a page was made, and of which revision of its specs.

    The day is that of `SOURCE_DATE_EPOCH` where that is set, for pages that can be made again to
    the letter.
    """
    today = _today()
    parts = [phrase("command.generated", day=today.day, today=today, version=__version__)]
    for spec in specs:
        revision = _revision(spec.files)
        name = f"{Path(spec.model.file).name}: " if len(specs) > 1 else ""
        parts += [f"{name}{revision}"] if revision else []
    return "; ".join(parts)


def command_line(arguments: Namespace) -> str:
    """Return the command that makes a page again; nothing where none made it.

    Where a page is written to, and what is printed meanwhile, is no matter of what is on it.

    >>> command_line(Namespace(argv=("report", "my site.qps", "-q", "-o", "page.html")))
    "qps report 'my site.qps'"
    """
    words = iter(getattr(arguments, "argv", ()))
    shown = []
    for word in words:
        if word in ("-o", "--output"):
            next(words, None)
        elif not word.startswith(_WHERE_TO) and word not in _QUIET:
            shown.append(word)
    return join(["qps", *shown]) if shown else ""


_WHERE_TO, _QUIET = ("-o", "--output="), ("-q", "--quiet")


def _today() -> date:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isascii() and epoch.isdigit() and len(epoch) <= len("253402300799"):
        return datetime.fromtimestamp(min(int(epoch), 253402300799), UTC).date()
    return datetime.now().astimezone().date()


def _revision(files: Iterable[Path]) -> str:
    """Return the revision of a spec and of what it reads; nothing where git does not have it."""
    found = [resolved_path(file) for file in files]
    if not found:
        return ""
    try:
        top = top_for(found[:1])
        commit = None if top is None else commit_of(top, "HEAD")
        if top is None or commit is None:
            return ""
        own = [file.relative_to(top).as_posix() for file in found if file.is_relative_to(top)]
        last = git(top, "rev-list", "-1", commit, "--", *own, longest=_LONGEST)
        known = blobs_of(top, commit, *own)
    except QpsError:  # there is no git, or it takes too long
        return ""
    if not last or PurePosixPath(own[0]) not in known:
        return ""
    blobs = [(top / way, known.get(PurePosixPath(way))) for way in own]
    since = (
        ""
        if all(blob and blob.is_in(file) for file, blob in blobs)
        else phrase("command.changed_since")
    )
    return f"revision {last.decode().strip()[:_SHORT]}{since}"
