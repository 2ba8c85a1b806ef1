"""`qps fmt`: the one canonical layout."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qps.commands.terminal.console import Exit, complain, show, specs_under
from qps.commands.terminal.output import style
from qps.commands.terminal.output_files import replace_file, with_ends_of
from qps.compiler.diagnostics.diagnostic import Diagnostic, Outcome
from qps.compiler.diagnostics.source import Source
from qps.compiler.diagnostics.visible_text import one_line
from qps.compiler.syntax.format import formatted
from qps.compiler.syntax.importer import read_spec
from qps.reports.text.words.phrases import phrase

if TYPE_CHECKING:
    from qps.compiler.step_upgrade import RewrittenStep

_STANDARD_INPUT = Path("-")


def run(arguments: Namespace) -> Exit:
    """Lay out every spec that was named; what has syntax errors stays as it is."""
    if arguments.chance and not arguments.upgrade:
        raise complain("`--chance` belongs to `--upgrade`", "add `--upgrade`")
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
        if not isinstance(result.value, str):
            continue
        before = path.read_bytes()
        after = with_ends_of(before, result.value)
        if before == after:
            continue
        changed += 1
        if not arguments.check:
            replace_file(path, after)
        if not arguments.quiet:
            word = phrase("fmt.would_reformat") if arguments.check else "reformatted"
            print(one_line(f"{word} {path}"))
    show(found, arguments)
    if not arguments.quiet:
        count = f"{len(paths)} specs" if len(paths) != 1 else "1 spec"
        verb = phrase("fmt.would_be_reformatted") if arguments.check else "reformatted"
        print(f"{changed} of {count} {verb}", file=sys.stderr)
    if any(diagnostic.is_error for diagnostic in found):
        return Exit.WRONG
    return Exit.NO if arguments.check and changed else Exit.YES


def first_difference(path: Path) -> int | None:
    """Return the first line that would be laid out otherwise; None for none, or no layout."""
    source = read_spec(path)
    text = None if source.value is None else formatted(source.value).value
    if text is None:
        return None
    content = path.read_bytes()
    after = with_ends_of(content, text)
    if content == after:
        return None
    before = content.split(b"\n")
    pairs = zip(before, after.split(b"\n"), strict=False)
    return next((n for n, (old, new) in enumerate(pairs, 1) if old != new), len(before))


def _standard_input(arguments: Namespace) -> Exit:
    """Lay out standard input to standard output, as editors want it."""
    if arguments.paths != [_STANDARD_INPUT]:
        raise complain(
            "`-` (standard input) cannot be combined with files", "name files, or `-` alone"
        )
    try:
        content = sys.stdin.buffer.read()
        before = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise complain(
            f"standard input is not UTF-8 text (byte {error.start})", "save it as UTF-8"
        ) from error
    text = before.replace("\r\n", "\n").replace("\r", "\n")
    outcome = _layout(arguments)(Source("<standard input>", text))
    show(outcome.diagnostics, arguments)
    if outcome.value is None:
        return Exit.WRONG
    after = with_ends_of(content, outcome.value).decode()
    if arguments.check:
        return Exit.YES if after == before else Exit.NO
    style(sys.stdout, after)  # what was given comes back, to the character
    return Exit.YES


def _layout(arguments: Namespace) -> Callable[[Source], Outcome[str]]:
    """Return what lays out a text, in the edition that it has or in the newest.

    With current names of measures, too; but a check concerns the layout alone, so that a name that
    is read for ever fails no build.
    """
    if not arguments.upgrade:
        return formatted if arguments.check else _renamed
    return partial(_upgraded, arguments)


def _upgraded(arguments: Namespace, source: Source) -> Outcome[str]:
    """Return a text in the newest edition, and say which of its steps mean something else now."""
    from qps.compiler.edition_upgrade import upgraded  # noqa: PLC0415 - it needs the whole compiler

    outcome = upgraded(source, by_chance=arguments.chance)
    if outcome.value is None:
        return Outcome(None, outcome.diagnostics)
    said = () if arguments.quiet else map(_what_it_means, outcome.value.steps)
    for line in dict.fromkeys(said):
        print(one_line(f"{source.label}: {line}"), file=sys.stderr)
    return Outcome(outcome.value.text, outcome.diagnostics)


def _what_it_means(step: RewrittenStep) -> str:
    """Return what a step of an older text means now, and how to let it mean something else."""
    key = "fmt.step_by_chance" if step.is_chance else "fmt.average_step"
    return phrase(
        f"{key}.repeated" if step.is_repeated else key,
        written=step.written,
        name=step.component,
        average=step.average,
        chance=step.chance,
    )


def _renamed(source: Source) -> Outcome[str]:
    """Return a text in the canonical layout and with the current names of measures."""
    from qps.compiler.measure_renaming import with_current_names  # noqa: PLC0415 - resolves names

    return formatted(with_current_names(source))
