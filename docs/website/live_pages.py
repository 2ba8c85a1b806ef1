"""The live page of each spec, made by one process and kept by what it was made of."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from msgspec import Struct

TRIES = ((30, ()), (90, ("--no-advice",)))
"""How many seconds of a processor one page may take, and what is left out of it then.

What takes longer has no page, and that is told.
"""

_MODULE = "QPS0210"
"""What is told of a module: that it has no page of its own is as it should be."""


class _TooLong(BaseException):
    """Raised where a page takes too long; an error would be told by `qps` as a fault of its own."""


class LivePages(Struct, kw_only=True):
    """Makes pages into `kept`, at most `most` new ones; `told` is what could not be made."""

    kept: Path
    most: int | None
    root: Path
    made: int = 0
    linked: int = 0
    told: list[str] = []
    build: str = ""

    def page(self, folder: Path, file: str, name: str | None) -> Path | None:
        """Return the page of a spec in a folder with the files that it reads.

        Where it has none, that is told of `name`; None is a spec that need not have one.
        """
        kept = self.kept / f"{self._key(folder, file)}.html"
        refused = kept.with_suffix(".txt")
        if refused.exists():
            self._tell(name, refused.read_text(encoding="utf-8"))
            return None
        if not kept.exists():
            if self.most is not None and self.made >= self.most:
                return None
            self.made += 1
            self.kept.mkdir(parents=True, exist_ok=True)
            why = self._make(folder, file, kept)
            if why:
                refused.write_text(why, encoding="utf-8")
                self._tell(name, why)
                return None
        return kept

    def _tell(self, name: str | None, why: str) -> None:
        if name is not None and _MODULE not in why:
            self.told.append(f"{name}: {why}")

    def _key(self, folder: Path, file: str) -> str:
        """Return what tells this page from all others: all that could be read for it."""
        from qps.build import build  # noqa: PLC0415 - as below

        self.build = self.build or build()
        found = hashlib.sha256(f"{self.build}:{file}".encode())
        is_own = folder == self.root  # all that specs of ours read is in `build`
        for path in [folder / file] if is_own else _read_for(folder, file):
            found.update(f"{path.relative_to(folder)}:".encode() + path.read_bytes())
        return found.hexdigest()[:20]

    def _make(self, folder: Path, file: str, kept: Path) -> str:
        """Make a page, at worst one without advice; return why there is none."""
        for seconds, less in TRIES:
            with contextlib.suppress(_TooLong):
                return _made(folder, file, kept, seconds, less)
        return f"takes longer than {TRIES[-1][0]} s without advice"


def _made(folder: Path, file: str, kept: Path, seconds: int, less: tuple[str, ...]) -> str:
    """Make a page; return why there is none. Raises what tells that it took too long."""
    from qps.cli import main  # noqa: PLC0415 - qps is found only at run time

    output = io.StringIO()
    with tempfile.TemporaryDirectory() as name:
        target = Path(name) / "page.html"
        asked = ["report", "-q", "--color", "never", *less, file, "-o", str(target)]
        with (
            _at(folder),
            _limited(seconds),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
            contextlib.suppress(SystemExit),
        ):
            main(asked)
        if not target.exists():
            return (output.getvalue().strip().splitlines() or ["no page"])[0]
        shutil.copyfile(target, kept)
    return ""


def _read_for(folder: Path, file: str) -> list[Path]:
    """Return a spec and the files that it names, and what those name."""
    others = {path for path in folder.rglob("*") if path.is_file()}
    found, waiting = [], [folder / file]
    while waiting:
        path = waiting.pop()
        found.append(path)
        others.discard(path)
        if path.suffix == ".qps":
            words = set(re.findall(r"[\w-]+", path.read_text(encoding="utf-8")))
            named = sorted(other for other in others if other.stem in words)
            others -= set(named)
            waiting += named
    return sorted(found)


@contextlib.contextmanager
def _at(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def too_long(_: int, __: FrameType | None) -> None:
        raise _TooLong

    if not hasattr(signal, "setitimer"):  # Windows has none: there, a page takes what it takes
        yield
        return
    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
