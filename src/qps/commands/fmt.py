"""`qps fmt`: the one canonical layout."""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from qps.commands.console import Exit, complain, show, specs_under
from qps.commands.output import style
from qps.compiler.diagnostics.diagnostic import Diagnostic, Outcome
from qps.compiler.diagnostics.source import Source
from qps.compiler.diagnostics.visible import one_line
from qps.compiler.syntax.format import formatted
from qps.compiler.syntax.importer import read_spec

_STANDARD_INPUT = Path("-")


def run(arguments: Namespace) -> Exit:
    """Lay out every spec that was named; what has syntax errors stays as it is."""
    if _STANDARD_INPUT in arguments.paths:
        return _standard_input(arguments)
    found: list[Diagnostic] = []
    changed = 0
    paths = specs_under(arguments.paths)
    lay_out = _layout(arguments)
    for path in paths:
        source = read_spec(path)
        result = source if source.value is None else lay_out(source.value)
        found += result.diagnostics
        if not isinstance(result.value, str) or _is_laid_out(path, result.value):
            continue
        changed += 1
        if not arguments.check:
            _replace(path, result.value)
        if not arguments.quiet:
            word = "would change" if arguments.check else "changed"
            print(one_line(f"{word} {path}"))
    show(found, arguments)
    if not arguments.quiet:
        count = f"{len(paths)} specs" if len(paths) != 1 else "1 spec"
        verb = "would change" if arguments.check else "changed"
        print(f"{count}, {changed} {verb}", file=sys.stderr)
    if any(diagnostic.is_error for diagnostic in found):
        return Exit.WRONG
    return Exit.NO if arguments.check and changed else Exit.YES


def first_difference(path: Path) -> int | None:
    """Return the first line that would be laid out otherwise; None for none, or no layout."""
    source = read_spec(path)
    text = None if source.value is None else formatted(source.value).value
    if text is None or _is_laid_out(path, text):
        return None
    before = path.read_bytes().split(b"\n")
    pairs = zip(before, text.encode().split(b"\n"), strict=False)
    return next((n for n, (old, new) in enumerate(pairs, 1) if old != new), len(before))


def _standard_input(arguments: Namespace) -> Exit:
    """Lay out standard input to standard output, as editors want it."""
    if arguments.paths != [_STANDARD_INPUT]:
        raise complain("`-` stands for standard input, and alone", "name files, or only `-`")
    try:
        before = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise complain(
            f"standard input is not UTF-8 text (byte {error.start})", "save it as UTF-8"
        ) from error
    text = before.replace("\r\n", "\n").replace("\r", "\n")
    outcome = _layout(arguments)(Source("<standard input>", text))
    show(outcome.diagnostics, arguments)
    if outcome.value is None:
        return Exit.WRONG
    if arguments.check:
        return Exit.YES if outcome.value == before else Exit.NO
    style(sys.stdout, outcome.value)  # what was given comes back, to the character
    return Exit.YES


def _layout(arguments: Namespace) -> Callable[[Source], Outcome[str]]:
    """Return what lays out a text, in the edition that it has or in the newest."""
    if not arguments.upgrade:
        return formatted
    from qps.compiler.upgrading import upgraded  # noqa: PLC0415 - it needs the whole compiler

    return upgraded


def _is_laid_out(path: Path, text: str) -> bool:
    """Return whether a file holds a text to the byte: ends of lines count."""
    return path.read_bytes() == text.encode()


def _replace(path: Path, text: str) -> None:
    """Put a text in the place of a file, whole or not at all; its permissions stay."""
    target = path.resolve()  # a link stays one
    try:
        mode = target.stat().st_mode
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
            Path(temporary).chmod(mode)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise complain(
            f"`{path}` cannot be written: {error.strerror or error}",
            "the file is as it was; see to the permissions, or the room on the disk",
        ) from error
