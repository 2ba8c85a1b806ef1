"""Fixes of diagnostics, made in a text."""

from __future__ import annotations

from qps.compiler.diagnostics.fixits import Fix


def apply_fix(fix: Fix, text: str) -> str:
    """Return a text with the edits of a fix made, all of which stand in it."""
    for edit in sorted(fix.edits, key=lambda edit: -edit.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text
