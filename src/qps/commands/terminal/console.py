"""What the commands share: where output goes, how specs are found, what an exit status means."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TextIO

from qps.commands.terminal.output import style
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError, Sink
from qps.compiler.diagnostics.render import full, plain, summary
from qps.compiler.project.project_file import Project, project_of
from qps.compiler.project.tree_links import is_in_its_tree

_SKIPPED_FOLDERS = frozenset(["node_modules", "build", "dist", "__pycache__"])


class Exit(IntEnum):
    """Exit statuses: scripts rely on them."""

    YES = 0
    NO = 1
    WRONG = 2
    FAULT = 3


def wants_color(choice: str, stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether to color what goes to a stream."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return bool(environment.get("FORCE_COLOR")) or stream.isatty()


def width_of(stream: TextIO, environment: Mapping[str, str] = os.environ) -> int:
    """Return how many columns to write to a stream: those of the terminal, else 80."""
    columns = environment.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _COLUMNS
    except (OSError, ValueError):
        return _COLUMNS


_COLUMNS = 80


def show(diagnostics: Sequence[Diagnostic], arguments: Namespace) -> None:
    """Print diagnostics to standard error, warnings only where they are wanted."""
    if arguments.quiet:
        diagnostics = [d for d in diagnostics if d.is_error]
    if not diagnostics:
        return
    if arguments.format == "plain":
        sys.stderr.write(plain(diagnostics))
        return
    color = wants_color(arguments.color, sys.stderr)
    more, width = "", None
    if sys.stderr.isatty():  # people read on; programs, and what is written down, need no advice
        from qps.reports.text.words.phrases import phrase  # noqa: PLC0415 - not at each start

        more, width = phrase("command.for_details", id=diagnostics[0].code.id), width_of(sys.stderr)
    style(
        sys.stderr,
        full(diagnostics, color=color, width=width) + f"\n{summary(diagnostics)}{more}\n",
    )


def print_json(value: object) -> None:
    """Print a value as JSON to standard output; infinities are never printed as numbers."""
    print(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def complain(message: str, hint: str | None = None) -> QpsError:
    """Return the error for a wrong argument."""
    return QpsError.single(codes.COMMAND_LINE, None, message, hint=hint)


def outside_range(name: str, at: int, low: int, high: int) -> QpsError:
    """Return the error for a population that the range of a spec lacks."""
    return complain(f"{name} = {at:,} is outside the range {low:,} to {high:,}")


def specs_under(paths: Sequence[Path]) -> list[Path]:
    """Return the `.qps` files that are named or lie in the folders that are, sorted."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            below = specs_below(path)
            if not below:
                raise complain(f"no `.qps` file in `{path}`")
            found |= dict.fromkeys(below)
        elif path.exists():
            found[path] = None
        else:
            raise complain(
                f"`{path}` does not exist", "name a `.qps` file or a folder with `.qps` files"
            )
    return list(found)


def specs_below(folder: Path) -> list[Path]:
    """Return the specs below a folder, sorted; what their project says is ignored is not there.

    QpsError where a project file is wrong, or where a link leads to the folder from another tree.
    """
    sink = Sink()
    if not is_in_its_tree(folder, sink):
        raise QpsError(tuple(sink.found))
    projects: dict[Path, Project | None] = {}
    found = []
    for file in sorted(folder.rglob("*.qps")):
        if is_skipped(file.relative_to(folder)):
            continue
        if file.parent not in projects:
            projects[file.parent] = project_for(file.parent)
        project = projects[file.parent]
        if project is None or not project.ignores(file):
            found.append(file)
    return found


def project_for(folder: Path) -> Project | None:
    """Return the project of a folder; QpsError where its file is wrong."""
    outcome = project_of(folder)
    if outcome.diagnostics:
        raise QpsError(outcome.diagnostics)
    return outcome.value


def is_skipped(relative: Path) -> bool:
    """Return whether a file lies in a folder that holds nothing of a person's own."""
    return any(part in _SKIPPED_FOLDERS or part.startswith(".") for part in relative.parts[:-1])
