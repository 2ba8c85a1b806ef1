"""`qps observe … --into SPEC`: an existing spec gets the numbers that were observed."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from qps.commands.terminal.console import Exit, complain, show, width_of
from qps.commands.terminal.output_files import replace_file, with_ends_of
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import read_spec
from qps.compiler.syntax.parse import parse
from qps.reports.text.systems.updates.spec_update import SpecUpdate
from qps.reports.text.systems.updates.update_text import line_changes, update_text

_MARK = b"\xef\xbb\xbf"


def existing_spec(arguments: Namespace) -> ast.Module | None:
    """Return the spec to bring up to date, None where none is named."""
    path: Path | None = arguments.into
    if path is None:
        refuse_without_spec(arguments)
        return None
    if arguments.output is not None:
        raise complain(
            "`-o` cannot be combined with `--into`", "use `-o` to write a new spec beside it"
        )
    return parsed_spec(path, arguments)


def refuse_without_spec(arguments: Namespace) -> None:
    """Refuse what only means something with a spec to bring up to date."""
    for flag in ("replace", "dry_run"):
        if arguments.into is None and getattr(arguments, flag):
            name = f"--{flag.replace('_', '-')}"
            raise complain(f"`{name}` requires `--into FILE.qps`", "add `--into system.qps`")


def parsed_spec(path: Path, arguments: Namespace) -> ast.Module:
    """Return a spec as it is written; an error where it has any."""
    read = read_spec(path)
    parsed = None if read.value is None else parse(read.value)
    found = read.diagnostics if parsed is None else parsed.diagnostics
    if parsed is None or any(one.is_error for one in found):
        show(found, arguments)
        raise complain(f"`{path}` cannot be read as a spec", "correct its errors first")
    assert parsed.value is not None
    return parsed.value


def replace_spec(path: Path, text: str) -> None:
    """Write a spec in its place; the ends of its lines and its permissions stay."""
    content = path.read_bytes()
    mark = _MARK if content.startswith(_MARK) else b""
    replace_file(path, mark + with_ends_of(content, text))


def update(found: SpecUpdate, arguments: Namespace) -> Exit:
    """Write what changes into the spec, and print it; with `--dry-run`, print it alone."""
    path: Path = arguments.into
    if found.is_changed and not arguments.dry_run:
        replace_spec(path, found.text)
    text = update_text(
        found, str(path), is_written=not arguments.dry_run, width=width_of(sys.stdout)
    )
    if not arguments.quiet or arguments.dry_run:
        sys.stdout.write(text)
    if arguments.dry_run and found.is_changed:
        sys.stdout.write(f"\n{line_changes(found.before, found.text, str(path))}")
        return Exit.NO
    return Exit.YES
