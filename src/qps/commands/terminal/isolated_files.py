"""Several files, one after the other: what is wrong with one takes no other away."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from qps.commands.terminal.console import Exit
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.diagnostics.visible_text import one_line

Result = TypeVar("Result")


def each_apart(
    paths: Iterable[Path],
    make: Callable[[Path], Result],
    on_diagnostics: Callable[[Iterable[Diagnostic]], object],
) -> tuple[list[tuple[Path, Result]], Exit]:
    """Return what is made of files, and the worst that became of the others.

    What is wrong with one is reported; so is a fault of ours, with its name.
    """
    found: list[tuple[Path, Result]] = []
    worst = Exit.YES
    for path in paths:
        try:
            found.append((path, make(path)))
        except QpsError as error:
            on_diagnostics(error.diagnostics)
            worst = max(worst, Exit.WRONG)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other files are looked at
            report_fault(path, error)
            worst = Exit.FAULT
    return found, worst


def report_fault(path: Path, error: Exception) -> None:
    """Tell of a fault of ours that a file has met."""
    from qps.reports.text.words.phrases import phrase  # noqa: PLC0415 - not at each start

    message = phrase("command.internal_error", path=path, name=type(error).__name__, error=error)
    print(one_line(message), file=sys.stderr)
    if os.environ.get("QPS_TRACEBACK"):
        traceback.print_exception(error)
