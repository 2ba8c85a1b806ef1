"""Where a page comes from: the day, the version of qps, the revision that its specs have in git."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.pipeline import Spec
from qps.reviewing.git_objects import git, top_of
from qps.version import __version__

_SHORT = 10
"""Digits of a commit that are told."""
_LONGEST = 5.0
"""Seconds that git may take: a page does without its revision."""


def made_line(specs: Sequence[Spec]) -> str:
    """Return when and with what a page was made, and of which revision of its specs.

    The day is that of `SOURCE_DATE_EPOCH` where that is set, for pages that can be made again to
    the letter.
    """
    today = _today()
    told = [f"made on {today.day} {today:%B %Y} with qps {__version__}"]
    for spec in specs:
        revision = _revision(spec.files)
        name = f"{Path(spec.model.file).name}: " if len(specs) > 1 else ""
        told += [f"{name}{revision}"] if revision else []
    return "; ".join(told)


def _today() -> date:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isascii() and epoch.isdigit() and len(epoch) <= len("253402300799"):
        return datetime.fromtimestamp(min(int(epoch), 253402300799), UTC).date()
    return datetime.now().astimezone().date()


def _revision(files: Iterable[Path]) -> str:
    """Return the revision of a spec and of what it reads; nothing where git does not have it."""
    found = [file.resolve() for file in files]
    if not found:
        return ""
    try:
        top = top_of(found[0].parent, _LONGEST)
        if top is None:
            return ""
        own = [file.relative_to(top).as_posix() for file in found if file.is_relative_to(top)]
        commit = git(top, *_PLAINLY, "rev-list", "-1", "HEAD", "--", *own, longest=_LONGEST)
        listed = git(top, *_PLAINLY, "ls-tree", "-z", "HEAD", "--", *own, longest=_LONGEST)
    except QpsError:  # there is no git, or it takes too long
        return ""
    known = dict(_blobs(listed or b""))
    if not commit or own[0] not in known:
        return ""
    changed = [way for way in own if not _is(top / way, known.get(way, ""))]
    since = ", changed since" if changed else ""
    return f"revision {commit.decode().strip()[:_SHORT]}{since}"


_PLAINLY = ("--literal-pathspecs", "-c", "core.fsmonitor=false")
"""Names are names. What asks nothing of the files at work runs nothing that a repository names."""


def _blobs(listed: bytes) -> Iterable[tuple[str, str]]:
    """Yield names and checksums of what `git ls-tree -z` lists."""
    for entry in listed.split(b"\0"):
        about, _, name = entry.partition(b"\t")
        if name:
            yield os.fsdecode(name), about.split()[2].decode()


def _is(file: Path, blob: str) -> bool:
    """Tell whether a file is what git has: as it is, or with the line ends that git keeps."""
    try:
        text = file.read_bytes()
    except OSError:
        return False
    kind = hashlib.sha256 if len(blob) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    forms = (text, text.replace(b"\r\n", b"\n"))
    return any(kind(b"blob %d\0" % len(form) + form).hexdigest() == blob for form in forms)
