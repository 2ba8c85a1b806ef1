"""Specs that are written from what was observed: laid out, and never over an existing file."""

from __future__ import annotations

from pathlib import Path

from qps.commands.terminal.console import complain
from qps.compiler.diagnostics.source import LARGEST_TEXT, Source
from qps.compiler.syntax.format import formatted


def refuse_existing(output: Path | None) -> None:
    """Refuse to write over a spec, which may hold answers."""
    if output is not None and output.exists():
        raise complain(
            f"`{output}` exists, and may hold your answers to questions",
            "choose another file for `-o`; compare both with `qps diff`",
        )


def laid_out(text: str) -> str:
    """Return the text as `qps fmt` leaves it."""
    if len(text) > LARGEST_TEXT:
        raise complain(
            f"the spec would have more than {LARGEST_TEXT:,} characters",
            "select fewer traces or manifests",
        )
    laid_out = formatted(Source(label="system.qps", text=text)).value
    assert laid_out is not None
    return laid_out
