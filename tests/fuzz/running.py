"""Inputs tried: what is told of them, or what went wrong instead; and such an input made small."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import random
import shlex
import shutil
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from msgspec import Struct
from msgspec.structs import replace

from fuzz.inputs import Input, made, write
from qps.cli import main
from qps.compiler.diagnostics.render import as_json, full, plain
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.compiler.syntax.format import formatted

_COMMAND = "command.txt"
_TRIES = 300
"""How often a finding is tried while it is made small."""
_MAY_TAKE_LONG = ("answer", "matrix")
"""A search has bounds of its own, longer than what is waited for here: that is counted."""


class Finding(Struct, frozen=True, kw_only=True):
    """An input that was not told in words, where that happened, and what was told instead."""

    given: Input
    where: str
    reported: str

    def keep(self, folder: Path) -> Path:
        """Write the input where the tests find it; return where."""
        name = f"{self.given.kind}_{hashlib.sha256(self.where.encode()).hexdigest()[:8]}"
        write(self.given, folder / name)
        (folder / name / _COMMAND).write_text(shlex.join((self.given.kind, *self.given.command)))
        return folder / name


class Batch(Struct, frozen=True, kw_only=True):
    """How many inputs of each kind were tried, and what was found."""

    tried: Counter[str]
    findings: list[Finding]


class TooLongError(Exception):
    """An input took more of a processor than it may."""


def retained(folder: Path) -> Input:
    """Return the input that `Finding.keep` has written."""
    kind, *command = shlex.split((folder / _COMMAND).read_text())
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != _COMMAND
    }
    return Input(kind=kind, files=files, command=tuple(command))


def run_batch(seed: int, inputs: int, seconds: float) -> Batch:
    """Make inputs of a seed and try each; what goes wrong is made small."""
    os.environ |= {"QPS_CACHE": "off", "QPS_TRACEBACK": "1"}
    tried: Counter[str] = Counter()
    findings: dict[str, Finding] = {}
    for number in range(inputs):
        given = made(random.Random(f"{seed}/{number}"))
        tried[given.kind] += 1
        found = fault(given, seconds)
        if found is None or found.where in findings:
            continue
        if found.where == TooLongError.__name__ and given.kind in _MAY_TAKE_LONG:
            tried[f"{given.kind} given up"] += 1
            continue
        findings[found.where] = _small(found, seconds)
    return Batch(tried=tried, findings=list(findings.values()))


def fault(given: Input, seconds: float) -> Finding | None:
    """Return what an input is answered with instead of words, or None."""
    try:
        with _at_most(seconds):
            _ask(given)
    except Exception as error:  # noqa: BLE001 - whatever it is, that is what is looked for
        text = "".join(traceback.format_exception(error))
        return Finding(given=given, where=_where(error), reported=text)
    return None


def _ask(given: Input) -> None:
    """Have an input read; an exception where that is a fault of ours."""
    if not given.command:
        source = Source("main.qps", given.files["main.qps"].decode("utf-8", errors="replace"))
        _check(source)
        if given.kind == "layout":
            _lay_out(source)
        return
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    before = Path.cwd()
    try:
        write(given, folder)
        os.chdir(folder)
        result = io.StringIO()
        with contextlib.redirect_stdout(result), contextlib.redirect_stderr(result):
            status = main(given.command)
        assert status in (0, 1, 2), result.getvalue()
        assert status != 2 or result.getvalue().strip(), "it ended in silence"
    finally:
        os.chdir(before)
        shutil.rmtree(folder)


def _check(source: Source) -> None:
    """Check a text, and render what is told of it."""
    diagnostics = check_source(source).diagnostics
    assert full(diagnostics) or not diagnostics
    plain(diagnostics)
    as_json(diagnostics)
    for diagnostic in diagnostics:
        for label in (diagnostic.primary, *diagnostic.secondary):
            if label is not None:
                assert 0 <= label.span.start <= label.span.end <= len(label.span.source.text)


def _lay_out(source: Source) -> None:
    laid = formatted(source).value
    if laid is not None:
        assert formatted(Source("main.qps", laid)).value == laid, "laid out twice it differs"


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise TooLongError where what is done here takes more of the processor."""

    def end(_: int, __: FrameType | None) -> None:
        raise TooLongError(f"more than {seconds:g} s of a processor")

    old = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)


def _where(error: Exception) -> str:
    """Return what tells one fault from others: the kind of error, and the last place of ours."""
    if isinstance(error, TooLongError):
        return TooLongError.__name__
    lines = (str(error) if isinstance(error, AssertionError) else "").splitlines()
    ours = [line.strip() for line in lines if line.strip().startswith("File ") and "qps" in line]
    last = ours[-1] if ours else str(traceback.extract_tb(error.__traceback__)[-1])
    return f"{type(error).__name__}: {lines[-1] if lines else ''} {last}"


def _small(found: Finding, seconds: float) -> Finding:
    """Return a finding of the same fault with as few lines as can be found soon."""
    tries = iter(range(_TRIES))
    for name in found.given.files:
        size = max(1, len(found.given.files[name].split(b"\n")) // 2)
        while size:
            at = 0
            while at < len(lines := found.given.files[name].split(b"\n")):
                if next(tries, None) is None:
                    return found
                rest = b"\n".join(lines[:at] + lines[at + size :])
                smaller = replace(found.given, files=found.given.files | {name: rest})
                again = fault(smaller, seconds)
                if again is not None and again.where == found.where:
                    found = again
                else:
                    at += size
            size //= 2
    return found
